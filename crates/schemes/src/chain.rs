//! Prime chains.
//!
//! CKKS rescale primes decide the scale of every level: a product at level l,
//! of scale `Delta_l^2`, divided by `q_(l-1)` has scale `Delta_(l-1)`. Taken all
//! nearest to the nominal scale Delta, their deviations would double at each
//! level; so `q_(l-1)` is taken nearest to `Delta_l^2 / Delta`, from the top
//! down, which undoes the deviation so far and leaves only its own. Where that
//! uses up the primes nearby (a scale of 2^30, primes 1 mod 2^16: one in ten
//! candidates is prime, 2^-12 of the scale apart), a beam search over the same
//! recurrence looks for the chain whose worst level deviates least.
//!
//! Special primes are the largest of their size, so that their product exceeds
//! every digit; base primes and BGV's data primes come next. All are distinct.

use cyclotron_ring::primes;

use crate::error::ParameterError;
use crate::scheme::Scheme;

/// A chain whose scales deviate less than this from the nominal one is good enough.
pub const GOOD_SCALE_DEVIATION: f64 = 1.0 / 1024.0;

/// Largest relative deviation of a level's scale from the nominal one. Scales
/// are exact whatever they are; a deviation costs so much room.
pub const MAX_SCALE_DEVIATION: f64 = 1.0 / 16.0;

/// Partial chains that the search keeps, and how many primes it tries for each.
const BEAM_WIDTH: usize = 64;
const BEAM_CANDIDATES: usize = 12;

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

/// Bits of the widest prime in words of so many bits.
pub(crate) fn max_prime_bits(word_bits: u32) -> u32 {
    if word_bits == 32 {
        32
    } else {
        MAX_PRIME_BITS_64
    }
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
    let near = primes_near_scale(request, bits.len(), taken);
    if near.len() < bits.len() {
        return Err(exhausted(request, request.scale_bits.round() as u32, taken));
    }
    let nominal = libm::exp2(request.scale_bits);
    let greedy = greedy(&near, nominal, bits.len());
    let best = if greedy.worst <= GOOD_SCALE_DEVIATION {
        greedy
    } else {
        search(&near, nominal, bits.len())
    };
    if best.worst > MAX_SCALE_DEVIATION {
        return Err(ParameterError::ScaleDrift {
            scale_bits: request.scale_bits,
            levels: bits.len(),
            step: request.step,
            deviation: best.worst,
            limit: MAX_SCALE_DEVIATION,
        });
    }
    let mut found: Vec<u64> = best.chosen.iter().map(|&i| near[i]).collect();
    taken.extend(&found);
    found.reverse();
    Ok(found)
}

/// The primes nearest to the scale, at least three times as many as `levels`
/// if there are so many, ascending.
fn primes_near_scale(request: &ChainRequest, levels: usize, taken: &[u64]) -> Vec<u64> {
    let nominal = libm::exp2(request.scale_bits);
    let below = 1_u64 << max_prime_bits(request.word_bits);
    let count = 3 * levels + 8;
    let mut excluded = taken.to_vec();
    let mut near = Vec::with_capacity(count);
    while near.len() < count {
        let Some(prime) = primes::nearest_prime(nominal, request.step, below, &excluded) else {
            break;
        };
        if prime < 1 << (request.step.ilog2() + 1) || (prime as f64 / nominal - 1.0).abs() > 0.5 {
            break;
        }
        excluded.push(prime);
        near.push(prime);
    }
    near.sort_unstable();
    near
}

/// A partial chain: which of the near primes, from the top, and what it does to the scale.
#[derive(Debug, Clone)]
struct Partial {
    chosen: Vec<usize>,
    scale: f64,
    worst: f64,
}

impl Partial {
    fn start(nominal: f64) -> Self {
        Self {
            chosen: Vec::new(),
            scale: nominal,
            worst: 0.0,
        }
    }

    /// The chain with one prime more; the scale as [`Parameters::canonical_scales`] computes it.
    ///
    /// [`Parameters::canonical_scales`]: crate::Parameters::canonical_scales
    fn with(&self, near: &[u64], index: usize, nominal: f64) -> Self {
        let scale = (self.scale / near[index] as f64) * self.scale;
        let mut chosen = self.chosen.clone();
        chosen.push(index);
        Self {
            chosen,
            scale,
            worst: self.worst.max((scale / nominal - 1.0).abs()),
        }
    }

    /// The unused primes nearest to what brings the scale back to nominal, nearest first.
    fn candidates(&self, near: &[u64], nominal: f64, count: usize) -> Vec<usize> {
        let target = self.scale / nominal * self.scale;
        let mut free: Vec<usize> = (0..near.len())
            .filter(|i| !self.chosen.contains(i))
            .collect();
        free.sort_by(|&a, &b| {
            let distance = |i: usize| (near[i] as f64 - target).abs();
            distance(a).total_cmp(&distance(b))
        });
        free.truncate(count);
        free
    }
}

fn greedy(near: &[u64], nominal: f64, levels: usize) -> Partial {
    let mut chain = Partial::start(nominal);
    for _ in 0..levels {
        let nearest = chain.candidates(near, nominal, 1)[0];
        chain = chain.with(near, nearest, nominal);
    }
    chain
}

/// Beam search for the chain whose worst deviation is smallest.
fn search(near: &[u64], nominal: f64, levels: usize) -> Partial {
    let mut beam = vec![Partial::start(nominal)];
    for _ in 0..levels {
        let mut next: Vec<Partial> = beam
            .iter()
            .flat_map(|chain| {
                let candidates = chain.candidates(near, nominal, BEAM_CANDIDATES);
                candidates.into_iter().map(|i| chain.with(near, i, nominal))
            })
            .collect();
        let now = |chain: &Partial| (chain.scale / nominal - 1.0).abs();
        next.sort_by(|a, b| a.worst.total_cmp(&b.worst).then(now(a).total_cmp(&now(b))));
        next.truncate(BEAM_WIDTH);
        beam = next;
    }
    beam.swap_remove(0)
}

fn exhausted(request: &ChainRequest, bits: u32, taken: &[u64]) -> ParameterError {
    ParameterError::PrimesExhausted {
        bits,
        step: request.step,
        used: taken.iter().filter(|q| q.ilog2() + 1 == bits).count(),
    }
}
