//! Prime chains.
//!
//! CKKS rescale primes decide the scale of every level: a product at level l,
//! of scale `Delta_l^2`, divided by `q_(l-1)` has scale `Delta_(l-1)`. Taken all
//! nearest to the nominal scale Delta, their deviations would double at each
//! level; so `q_(l-1)` is taken nearest to `Delta_l^2 / Delta`, from the top
//! down, which undoes the deviation so far and leaves only its own.
//!
//! Special primes are the largest of their size, so that their product exceeds
//! every digit; base primes and BGV's data primes come next. All are distinct.

use cyclotron_ring::primes;

use crate::error::ParameterError;
use crate::scheme::Scheme;

/// Largest relative deviation of a level's scale from the nominal one.
pub const MAX_SCALE_DEVIATION: f64 = 1.0 / 1024.0;

/// Bits of the widest prime that limbs of 64-bit words hold.
pub const MAX_PRIME_BITS_64: u32 = 60;

/// What a chain must satisfy.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainRequest {
    /// CKKS chains follow the scale, BGV chains do not.
    pub scheme: Scheme,
    /// All primes are 1 modulo this.
    pub step: u64,
    /// log2 of the nominal scale (CKKS).
    pub scale_bits: f64,
    /// Data primes at the bottom that are never rescaled away.
    pub base_limbs: usize,
    /// 32 or 64.
    pub word_bits: u32,
    /// Primes not to use.
    pub taken: Vec<u64>,
}

/// The primes of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chain {
    /// Data primes, bottom first.
    pub moduli: Vec<u64>,
    /// Special primes.
    pub special: Vec<u64>,
}

/// Finds primes of the asked bits: `log_q` for the data primes, bottom first,
/// `log_p` for the special primes; a part that is not asked for is left empty.
///
/// # Errors
/// If there are not enough primes, a width is out of range, or the scale
/// cannot be kept within [`MAX_SCALE_DEVIATION`].
pub fn find(
    request: &ChainRequest,
    log_q: Option<&[u32]>,
    log_p: Option<&[u32]>,
) -> Result<Chain, ParameterError> {
    let (log_q, log_p) = (log_q.unwrap_or(&[]), log_p.unwrap_or(&[]));
    for (&bits, field) in log_q
        .iter()
        .map(|b| (b, "log_q"))
        .chain(log_p.iter().map(|b| (b, "log_p")))
    {
        check_bits(request, bits, field)?;
    }
    let mut taken = request.taken.clone();
    let base = match request.scheme {
        Scheme::Ckks => request.base_limbs.min(log_q.len()),
        Scheme::Bgv => log_q.len(),
    };
    let rescale = rescale_primes(request, &log_q[base..], &mut taken)?;
    let special = largest_primes(request, log_p, &mut taken)?;
    let mut moduli = largest_primes(request, &log_q[..base], &mut taken)?;
    moduli.extend(rescale);
    Ok(Chain { moduli, special })
}

fn check_bits(
    request: &ChainRequest,
    bits: u32,
    field: &'static str,
) -> Result<(), ParameterError> {
    let max = if request.word_bits == 32 {
        32
    } else {
        MAX_PRIME_BITS_64
    };
    let min = request.step.ilog2() + 1;
    if (min..=max).contains(&bits) {
        return Ok(());
    }
    Err(ParameterError::Field {
        field,
        why: format!(
            "{bits}-bit primes are not possible: primes that are 1 mod {} in {}-bit words have {min} to {max} bits",
            request.step, request.word_bits
        ),
    })
}

/// For each entry the largest prime of so many bits that is not taken.
fn largest_primes(
    request: &ChainRequest,
    bits: &[u32],
    taken: &mut Vec<u64>,
) -> Result<Vec<u64>, ParameterError> {
    bits.iter()
        .map(|&bits| {
            let below = 1_u64 << bits;
            let prime = primes::nearest_prime(below as f64, request.step, below, taken)
                .filter(|&q| q >> (bits - 1) == 1)
                .ok_or_else(|| exhausted(request, bits, taken))?;
            taken.push(prime);
            Ok(prime)
        })
        .collect()
}

/// The rescale primes, bottom first.
fn rescale_primes(
    request: &ChainRequest,
    bits: &[u32],
    taken: &mut Vec<u64>,
) -> Result<Vec<u64>, ParameterError> {
    let nominal = libm::exp2(request.scale_bits);
    for &b in bits {
        if (f64::from(b) - request.scale_bits).abs() > 1.0 {
            return Err(ParameterError::Field {
                field: "log_q",
                why: format!(
                    "a {b}-bit rescale prime cannot keep the scale 2^{}: primes above the first \
                     {} (base_limbs) must have the scale's size",
                    request.scale_bits, request.base_limbs
                ),
            });
        }
    }
    let below = if request.word_bits == 32 {
        1 << 32
    } else {
        1 << MAX_PRIME_BITS_64
    };
    let mut found = Vec::with_capacity(bits.len());
    let mut scale = nominal;
    let mut worst = 0.0_f64;
    for &b in bits {
        let target = scale / nominal * scale;
        let prime = primes::nearest_prime(target, request.step, below, taken)
            .ok_or_else(|| exhausted(request, b, taken))?;
        taken.push(prime);
        found.push(prime);
        scale = (scale / prime as f64) * scale;
        worst = worst.max((scale / nominal - 1.0).abs());
        if worst > 0.5 {
            break;
        }
    }
    if worst > MAX_SCALE_DEVIATION {
        return Err(ParameterError::ScaleDrift {
            scale_bits: request.scale_bits,
            levels: bits.len(),
            step: request.step,
            deviation: worst,
            limit: MAX_SCALE_DEVIATION,
        });
    }
    found.reverse();
    Ok(found)
}

fn exhausted(request: &ChainRequest, bits: u32, taken: &[u64]) -> ParameterError {
    let found = taken.iter().filter(|q| q.ilog2() + 1 == bits).count();
    ParameterError::PrimesExhausted {
        bits,
        step: request.step,
        wanted: found + 1,
        found,
    }
}
