//! Decryption: `m = c0 + c1 s (+ c2 s^2)`, centred, then decoded.

use std::sync::Arc;

use cyclotron_ring::{LimbBuf, Ring, wipe_scratch};
use zeroize::Zeroizing;

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::encode::centred_values::CentredValues;
use crate::encode::{Complex, Plaintext, WideComplex};
use crate::error::SchemeError;
use crate::keys::SecretKey;
use crate::limbs::{ClientWord, with_ring};
use crate::params::{inverse_mod, mul_mod};
use crate::scheme::Scheme;

/// Decrypts and decodes a CKKS ciphertext: all N/2 slots.
///
/// # Security
/// The result contains the noise of the ciphertext. Whoever sees enough raw
/// decryptions of known computations recovers the secret key (Li and
/// Micciancio, eprint 2020/1533): share rounded results only.
///
/// # Errors
/// A key or ciphertext of other parameters, a malformed ciphertext, BGV parameters.
pub fn decrypt_complex(
    context: &Context,
    secret: &SecretKey,
    ciphertext: &Ciphertext,
) -> Result<Vec<Complex>, SchemeError> {
    let embedding = context.embedding()?;
    let coefficients = decrypt_coefficients(context, secret, ciphertext)?;
    Ok(embedding.slots_of(&coefficients, 1.0 / ciphertext.scale))
}

/// Decrypts and decodes a CKKS ciphertext with 106 bits instead of the 53 of
/// [`decrypt_complex`], whose warning holds: all N/2 slots.
///
/// # Errors
/// The same; also for coefficients or slots beyond 2^995.
pub fn decrypt_wide(
    context: &Context,
    secret: &SecretKey,
    ciphertext: &Ciphertext,
) -> Result<Vec<WideComplex>, SchemeError> {
    let embedding = context.embedding()?;
    let coefficients = with_ring!(context.ring(), ring => {
        phase(context, ring, secret, ciphertext, None)?.to_wide()
    });
    let slots = embedding.wide_slots_of(&coefficients, ciphertext.scale);
    if slots.iter().all(|z| z.is_finite()) {
        return Ok(slots);
    }
    Err(too_large(995))
}

/// The real parts of [`decrypt_complex`].
///
/// # Errors
/// The same.
pub fn decrypt_real(
    context: &Context,
    secret: &SecretKey,
    ciphertext: &Ciphertext,
) -> Result<Vec<f64>, SchemeError> {
    let slots = decrypt_complex(context, secret, ciphertext)?;
    Ok(slots.into_iter().map(|z| z.re).collect())
}

/// Decrypts and decodes a BGV ciphertext: all slots, in `[0, t)`.
///
/// # Errors
/// A key or ciphertext of other parameters, a malformed ciphertext, CKKS parameters.
pub fn decrypt_integers(
    context: &Context,
    secret: &SecretKey,
    ciphertext: &Ciphertext,
) -> Result<Vec<u64>, SchemeError> {
    let codec = context.slot_codec()?;
    let t = context.params().plaintext_modulus;
    let coefficients = with_ring!(context.ring(), ring => {
        phase(context, ring, secret, ciphertext, None)?.modulo(t)
    });
    Ok(codec.slots_of(&coefficients, inverse_mod(ciphertext.factor, t)))
}

/// The representatives in `(-t/2, t/2]` of residues in `[0, t)`.
#[must_use]
pub fn centred(values: &[u64], t: u64) -> Vec<i64> {
    values
        .iter()
        .map(|&v| {
            if v > t / 2 {
                v as i64 - t as i64
            } else {
                v as i64
            }
        })
        .collect()
}

/// The centred coefficients of `c0 + c1 s (+ c2 s^2)`, unscaled, rounded to f64.
fn decrypt_coefficients(
    context: &Context,
    secret: &SecretKey,
    ciphertext: &Ciphertext,
) -> Result<Vec<f64>, SchemeError> {
    finite(with_ring!(context.ring(), ring => {
        phase(context, ring, secret, ciphertext, None)?.to_f64()
    }))
}

fn finite(coefficients: Vec<f64>) -> Result<Vec<f64>, SchemeError> {
    if coefficients.iter().all(|c| c.is_finite()) {
        return Ok(coefficients);
    }
    Err(too_large(1023))
}

fn too_large(bits: u32) -> SchemeError {
    SchemeError::Malformed {
        what: "ciphertext",
        why: format!(
            "it decrypts to coefficients beyond 2^{bits}: the secret key is another one, or the \
             program lost its precision"
        ),
    }
}

/// What the noise of a ciphertext is, seen with the secret key.
#[derive(Debug, Clone, PartialEq)]
pub struct NoiseMeasure {
    /// The noise of every coefficient: CKKS the difference from the expected
    /// plaintext, BGV the multiple of t that was added to it.
    pub coefficients: Vec<f64>,
    /// log2 of the largest magnitude; negative infinity if there is no noise.
    pub max_bits: f64,
    /// Root of the mean square.
    pub std_dev: f64,
    /// log2 of how many times larger the noise (BGV: t times it) could be
    /// before it would wrap around the modulus.
    pub room_bits: f64,
}

/// Measures the noise of a ciphertext whose plaintext is known. For tests: the
/// result depends on the secret key and must not be published.
///
/// # Errors
/// A key, ciphertext or plaintext of other parameters, or a plaintext of
/// another level or correction factor than the ciphertext's.
pub fn measure_noise(
    context: &Context,
    secret: &SecretKey,
    ciphertext: &Ciphertext,
    expected: &Plaintext,
) -> Result<NoiseMeasure, SchemeError> {
    expected.check(context)?;
    if expected.level() != ciphertext.level || expected.factor() != ciphertext.factor {
        return Err(SchemeError::Malformed {
            what: "plaintext",
            why: "its level or correction factor is not the ciphertext's".to_owned(),
        });
    }
    let total = with_ring!(context.ring(), ring => {
        phase(context, ring, secret, ciphertext, Some(expected))?.to_f64()
    });
    let total = finite(total)?;
    let unit = match context.params().scheme {
        Scheme::Ckks => 1.0,
        Scheme::Bgv => context.params().plaintext_modulus as f64,
    };
    let coefficients: Vec<f64> = total.iter().map(|c| c / unit).collect();
    let largest = coefficients
        .iter()
        .fold(0.0, |max: f64, c| max.max(c.abs()));
    let square = coefficients.iter().map(|c| c * c).sum::<f64>() / coefficients.len() as f64;
    let half_bits = context.params().log_q_at(ciphertext.level) - 1.0;
    Ok(NoiseMeasure {
        max_bits: libm::log2(largest),
        std_dev: libm::sqrt(square),
        room_bits: half_bits - libm::log2(largest * unit),
        coefficients,
    })
}

/// `c0 + c1 s (+ c2 s^2)`, less an expected plaintext, centred.
fn phase<W: ClientWord>(
    context: &Context,
    ring: &Ring<W>,
    secret: &SecretKey,
    ciphertext: &Ciphertext,
    expected: Option<&Plaintext>,
) -> Result<CentredValues<W>, SchemeError> {
    context.check_hash("secret key", secret.params())?;
    ciphertext.check_shape(context)?;
    let wrong_width = SchemeError::Malformed {
        what: "ciphertext",
        why: "its words have another width than the parameters'".to_owned(),
    };
    let polys: Vec<&[Arc<LimbBuf<W>>]> = ciphertext
        .polys
        .iter()
        .map(|poly| W::view(poly).ok_or(wrong_width.clone()))
        .collect::<Result<_, _>>()?;
    CentredValues::new(ring, ciphertext.level, |m| {
        ciphertext.check_limb(context, m)?;
        let limbs: Vec<&LimbBuf<W>> = polys.iter().map(|poly| &*poly[m]).collect();
        let value = phase_limb(ring, m, &limbs, secret.limb(m)?);
        let Some(expected) = expected else {
            return Ok(value);
        };
        let mut plain = Zeroizing::new(LimbBuf::unspecified(ring.n()));
        expected.residues(ring, m, &mut plain);
        let mut rest = LimbBuf::unspecified(ring.n());
        ring.sub(m, &mut rest, &value, &plain);
        Ok(rest)
    })
}

/// `c0 + c1 s (+ c2 s^2)` modulo prime `m`, coefficient domain.
fn phase_limb<W: ClientWord>(
    ring: &Ring<W>,
    m: usize,
    polys: &[&LimbBuf<W>],
    s: &LimbBuf<W>,
) -> LimbBuf<W> {
    let mut value = LimbBuf::unspecified(ring.n());
    match polys {
        [c0, c1] => ring.mac(m, &mut value, c0, c1, s),
        [c0, c1, c2] => {
            let mut inner = LimbBuf::unspecified(ring.n());
            ring.mac(m, &mut inner, c1, c2, s);
            ring.mac(m, &mut value, c0, &inner, s);
        }
        _ => value.fill(W::default()),
    }
    ring.intt_in_place(m, &mut value);
    wipe_scratch();
    value
}

/// The factor that takes a BGV value with correction factor `from` to `to`: `to / from mod t`.
#[must_use]
pub fn factor_ratio(from: u64, to: u64, t: u64) -> u64 {
    mul_mod(to, inverse_mod(from, t), t)
}
