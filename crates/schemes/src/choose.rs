//! Parameters from a request: depth, precision, word class, security.
//!
//! The chain has `rescales` primes of the scale's size above base primes that
//! hold scale and output; hybrid key switching adds special primes just large
//! enough for a digit. The smallest ring that is secure for the result (and has
//! the slots) is taken, unless the ring is given. What the noise of a program
//! needs is not decided here: the caller analyses its program on the result
//! and asks again with other sizes.

use crate::error::ParameterError;
use crate::key_spec::KeyVariant;
use crate::literal::ParametersLiteral;
use crate::params::Parameters;
use crate::scheme::{Scheme, SecretKind};

/// The words of a machine and the primes that it computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordClass {
    /// Limbs are stored in words of so many bits: 32 or 64.
    pub word_bits: u32,
    /// Widest prime, in bits.
    pub prime_bits: u32,
    /// Primes are 1 modulo this power of two; 2N if that is larger.
    pub congruence: u64,
}

impl WordClass {
    /// 32-bit words with primes of up to 31 bits.
    pub const WORD_32: Self = Self {
        word_bits: 32,
        prime_bits: 31,
        congruence: 1,
    };

    /// 64-bit words with primes of up to 50 bits, which 52-bit multipliers handle.
    pub const WORD_64_IFMA: Self = Self {
        word_bits: 64,
        prime_bits: 50,
        congruence: 1,
    };

    /// 64-bit words with primes of up to 60 bits.
    pub const WORD_64: Self = Self {
        word_bits: 64,
        prime_bits: 60,
        congruence: 1,
    };
}

/// What parameters are asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct ChoiceRequest {
    /// The scheme.
    pub scheme: Scheme,
    /// log2 of the ring degree; none: the smallest that is secure.
    pub log_n: Option<u32>,
    /// Slots that a program needs; 0 for no wish.
    pub min_slots: usize,
    /// Rescales (CKKS) or switched-away primes (BGV) on the longest path.
    pub rescales: usize,
    /// CKKS: log2 of the scale. BGV: ignored.
    pub scale_bits: f64,
    /// CKKS: log2 of the largest value at the lowest level. BGV: bits beyond
    /// one prime that the lowest level needs, usually 0.
    pub output_bits: f64,
    /// BGV: the plaintext modulus. CKKS: 0.
    pub plaintext_modulus: u64,
    /// BGV: bits of each data prime; none: the widest that the words hold.
    pub level_bits: Option<u32>,
    /// Hybrid adds special primes.
    pub key_switch: KeyVariant,
    /// Data limbs per digit of hybrid key switching; at least 1.
    pub digit_limbs: usize,
    /// The words.
    pub words: WordClass,
    /// Distribution of the secret.
    pub secret: SecretKind,
    /// The security level asked for.
    pub security: u32,
    /// Why less is acceptable, if it is.
    pub allow_insecure: Option<String>,
}

impl ChoiceRequest {
    /// CKKS with `rescales` levels at `scale_bits`, hybrid key switching with one limb a digit.
    #[must_use]
    pub fn ckks(rescales: usize, scale_bits: f64, words: WordClass) -> Self {
        Self {
            scheme: Scheme::Ckks,
            log_n: None,
            min_slots: 0,
            rescales,
            scale_bits,
            output_bits: 0.0,
            plaintext_modulus: 0,
            level_bits: None,
            key_switch: KeyVariant::Hybrid,
            digit_limbs: 1,
            words,
            secret: SecretKind::Dense,
            security: 128,
            allow_insecure: None,
        }
    }

    /// BGV modulo `t` with `rescales` primes above the base.
    #[must_use]
    pub fn bgv(rescales: usize, t: u64, words: WordClass) -> Self {
        Self {
            scheme: Scheme::Bgv,
            scale_bits: 0.0,
            plaintext_modulus: t,
            ..Self::ckks(rescales, 0.0, words)
        }
    }

    fn literal(&self, log_n: u32) -> ParametersLiteral {
        let base = self.base_bits();
        let level = self.level_prime_bits();
        let mut log_q = base.clone();
        log_q.extend(std::iter::repeat_n(level, self.rescales));
        let hybrid = self.key_switch == KeyVariant::Hybrid;
        let log_p = if hybrid {
            self.special_bits(&log_q)
        } else {
            Vec::new()
        };
        let ckks = self.scheme == Scheme::Ckks;
        ParametersLiteral {
            log_q: Some(log_q.clone()),
            log_p: Some(log_p),
            scale_bits: ckks.then_some(self.scale_bits),
            plaintext_modulus: (!ckks).then_some(self.plaintext_modulus),
            base_limbs: Some(base.len()),
            digit_limbs: Some(self.digit_limbs.clamp(1, log_q.len())),
            secret: self.secret,
            word_bits: Some(self.words.word_bits),
            congruence: Some(self.words.congruence.max(2 << log_n)),
            security: Some(self.security),
            allow_insecure: self.allow_insecure.clone(),
            ..ParametersLiteral::new(self.scheme, log_n)
        }
    }

    /// Bits of the primes that dropping a level drops.
    fn level_prime_bits(&self) -> u32 {
        match self.scheme {
            Scheme::Ckks => self.scale_bits.round() as u32,
            Scheme::Bgv => self.level_bits.unwrap_or(self.words.prime_bits),
        }
    }

    /// Bits of the base primes: enough for the scale, the output, its sign and one bit of room.
    fn base_bits(&self) -> Vec<u32> {
        let level = f64::from(self.level_prime_bits());
        let needed = match self.scheme {
            Scheme::Ckks => (self.scale_bits + self.output_bits.max(0.0) + 2.0).ceil(),
            Scheme::Bgv => level + self.output_bits.max(0.0).ceil(),
        };
        split_bits(
            needed as u32,
            self.words.prime_bits,
            self.least_prime_bits(),
        )
    }

    /// Primes of fewer bits are too rare among those that are 1 modulo the congruence.
    fn least_prime_bits(&self) -> u32 {
        let step = self.words.congruence.max(2 << self.log_n.unwrap_or(12));
        (step.ilog2() + 9).min(self.words.prime_bits)
    }

    /// Bits of the special primes: together more than the widest digit.
    fn special_bits(&self, log_q: &[u32]) -> Vec<u32> {
        // A rescale prime may lie just above a power of two.
        let bits = |i: usize, q: u32| match self.scheme {
            Scheme::Ckks if i >= self.base_bits().len() => (self.scale_bits + 0.01).ceil() as u32,
            _ => q,
        };
        let widths: Vec<u32> = log_q.iter().enumerate().map(|(i, &q)| bits(i, q)).collect();
        let alpha = self.digit_limbs.clamp(1, log_q.len());
        let needed = widths
            .chunks(alpha)
            .map(|digit| digit.iter().sum::<u32>())
            .max();
        let needed = needed.unwrap_or(1);
        // The largest primes of b bits have b bits but for a sliver; one bit
        // more together keeps several of them above the digit.
        let max = self.words.prime_bits;
        let needed = if alpha > 1 {
            (needed + 1).min(max * alpha as u32)
        } else {
            needed
        };
        split_bits(needed, max, self.least_prime_bits())
    }
}

/// Sizes of the fewest primes of at most `max` bits with `needed` bits together,
/// as even as possible and none below `least`.
fn split_bits(needed: u32, max: u32, least: u32) -> Vec<u32> {
    let count = needed.div_ceil(max).max(1);
    (0..count)
        .map(|i| (needed / count + u32::from(i < needed % count)).max(least))
        .collect()
}

/// Chooses parameters.
///
/// # Errors
/// What stands in the way: too large a modulus for any secure ring, too few
/// primes, a scale that the words cannot hold.
pub fn choose(request: &ChoiceRequest) -> Result<Parameters, ParameterError> {
    if request.scheme == Scheme::Ckks && request.scale_bits > f64::from(request.words.prime_bits) {
        return Err(ParameterError::NoChoice {
            why: format!(
                "a scale of 2^{} needs primes wider than the {} bits of these words: lower the precision \
                 or use wider words",
                request.scale_bits, request.words.prime_bits
            ),
        });
    }
    if let Some(log_n) = request.log_n {
        return choose_at(request, log_n);
    }
    // Without a given ring a secure one is looked for, whatever reason is given.
    let secure = ChoiceRequest {
        allow_insecure: None,
        ..request.clone()
    };
    let mut refused = None;
    for log_n in 10..=17 {
        match choose_at(&secure, log_n) {
            Ok(params) => return Ok(params),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.unwrap_or(ParameterError::NoChoice {
        why: "no ring was tried".to_owned(),
    }))
}

fn choose_at(request: &ChoiceRequest, log_n: u32) -> Result<Parameters, ParameterError> {
    crate::validate::check_ring(log_n)?;
    let at = ChoiceRequest {
        log_n: Some(log_n),
        ..request.clone()
    };
    let params = Parameters::from_literal(&at.literal(log_n))?;
    if params.slots() < request.min_slots {
        return Err(ParameterError::NoChoice {
            why: format!(
                "{} slots are needed, N = 2^{log_n} has {}: use a larger ring{}",
                request.min_slots,
                params.slots(),
                match request.scheme {
                    Scheme::Ckks => "",
                    Scheme::Bgv => " or a plaintext modulus that is 1 mod 2N",
                }
            ),
        });
    }
    Ok(params)
}
