//! The checks that parameters pass before anything is made for them, their
//! hash, and their description in words.

use cyclotron_ring::primes::is_prime;

use crate::error::ParameterError;
use crate::params::{Parameters, ParamsHash, SIGMA};
use crate::scheme::{Scheme, SecretKind};
use crate::security;

/// Smallest and largest supported log2 N. Rings below 2^10 are for tests and unrated.
const LOG_N: std::ops::RangeInclusive<u32> = 4..=17;

/// Most primes that a chain may have.
pub(crate) const MAX_PRIMES: usize = 256;

/// Given primes may let the scale of a level drift by a factor of two.
const MAX_GIVEN_DRIFT: f64 = 1.0;

/// Longest reason that is kept, in bytes.
const MAX_REASON: usize = 1000;

pub(crate) fn check_ring(log_n: u32) -> Result<(), ParameterError> {
    if LOG_N.contains(&log_n) {
        return Ok(());
    }
    Err(ParameterError::RingDegree {
        log_n,
        min: *LOG_N.start(),
        max: *LOG_N.end(),
    })
}

/// Scales outside this range have no primes or no precision.
pub(crate) fn check_scale_bits(bits: f64) -> Result<(), ParameterError> {
    if (10.0..=60.0).contains(&bits) {
        return Ok(());
    }
    field("scale_bits", format!("{bits} is not between 10 and 60"))
}

fn field<T>(field: &'static str, why: impl Into<String>) -> Result<T, ParameterError> {
    Err(ParameterError::Field {
        field,
        why: why.into(),
    })
}

impl Parameters {
    /// Checks every rule that parameters obey, security included.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn validate(&self) -> Result<(), ParameterError> {
        check_ring(self.log_n)?;
        if self.word_bits != 32 && self.word_bits != 64 {
            return Err(ParameterError::WordBits {
                word_bits: self.word_bits,
            });
        }
        self.check_primes()?;
        self.check_shape()?;
        match self.scheme {
            Scheme::Ckks => self.check_scale()?,
            Scheme::Bgv => self.check_plaintext_modulus()?,
        }
        self.check_secret()?;
        let modulus = if self.special.is_empty() { "Q" } else { "QP" };
        self.check_security(modulus, self.log_qp())
    }

    fn check_primes(&self) -> Result<(), ParameterError> {
        if self.moduli.is_empty() {
            return field("moduli", "there must be at least one data prime");
        }
        let extended = self.extended();
        if extended.len() > MAX_PRIMES {
            return field(
                "moduli",
                format!("at most {MAX_PRIMES} primes, not {}", extended.len()),
            );
        }
        let two_n = 2 * self.n() as u64;
        let max_bits = crate::chain::max_prime_bits(self.word_bits);
        for (position, &q) in extended.iter().enumerate() {
            let bad = |why: String| Err(ParameterError::Modulus { q, position, why });
            if q >> max_bits != 0 {
                return bad(format!(
                    "has more than {max_bits} bits, the most for {}-bit words",
                    self.word_bits
                ));
            }
            if q % two_n != 1 {
                return bad(format!("is not 1 mod 2N = {two_n}, so it has no NTT"));
            }
            if !is_prime(q) {
                return bad("is not prime".to_owned());
            }
            if extended[..position].contains(&q) {
                return bad("occurs twice: all primes must be distinct".to_owned());
            }
        }
        Ok(())
    }

    fn check_shape(&self) -> Result<(), ParameterError> {
        let levels = self.levels();
        if !(1..=levels).contains(&self.base_limbs) {
            return field(
                "base_limbs",
                format!("{} is not between 1 and {levels}", self.base_limbs),
            );
        }
        if !(1..=levels).contains(&self.digit_limbs) {
            return field(
                "digit_limbs",
                format!("{} is not between 1 and {levels}", self.digit_limbs),
            );
        }
        if self.special.is_empty() {
            return Ok(());
        }
        let log_p = self.log_p();
        let widest = self
            .moduli
            .chunks(self.digit_limbs)
            .map(|digit| digit.iter().map(|&q| libm::log2(q as f64)).sum::<f64>())
            .fold(0.0, f64::max);
        if widest > log_p {
            return field(
                "log_p",
                format!(
                    "the special primes have {log_p:.2} bits together, but a digit of {} data primes has \
                     {widest:.2}: add or widen a special prime, or lower digit_limbs",
                    self.digit_limbs
                ),
            );
        }
        Ok(())
    }

    fn check_scale(&self) -> Result<(), ParameterError> {
        check_scale_bits(self.scale_bits)?;
        if self.plaintext_modulus != 0 {
            return field("plaintext_modulus", "CKKS has none: leave it out");
        }
        let base_bits = self.log_q_at(self.base_limbs);
        if base_bits < self.scale_bits + 1.0 {
            return field(
                "base_limbs",
                format!(
                    "the {} prime(s) that remain at the lowest level have {base_bits:.1} bits, too few for \
                     the scale 2^{}: widen the bottom prime or keep more of them",
                    self.base_limbs, self.scale_bits
                ),
            );
        }
        let drift = self.scale_deviation();
        if drift > MAX_GIVEN_DRIFT {
            return Err(ParameterError::ScaleDrift {
                scale_bits: self.scale_bits,
                levels: self.levels() - self.base_limbs,
                step: 2 * self.n() as u64,
                deviation: drift,
                limit: MAX_GIVEN_DRIFT,
            });
        }
        Ok(())
    }

    /// Largest relative deviation of a level's scale from the nominal one, over
    /// the levels from `base_limbs` up.
    #[must_use]
    pub fn scale_deviation(&self) -> f64 {
        let nominal = libm::exp2(self.scale_bits);
        self.canonical_scales()[self.base_limbs..]
            .iter()
            .map(|scale| (scale / nominal).max(nominal / scale) - 1.0)
            .fold(0.0, f64::max)
    }

    fn check_plaintext_modulus(&self) -> Result<(), ParameterError> {
        let t = self.plaintext_modulus;
        let bad = |why: &str| {
            Err(ParameterError::PlaintextModulus {
                t,
                why: why.to_owned(),
            })
        };
        if self.scale_bits != 0.0 {
            return field("scale_bits", "BGV has no scale: leave it out");
        }
        if t < 3 || !is_prime(t) {
            return bad(
                "it must be an odd prime, for example 65537 (all slots up to N = 2^15) or 257",
            );
        }
        if self.extended().contains(&t) {
            return bad("it is also a modulus of the chain: choose another");
        }
        if self.moduli.iter().any(|&q| q <= t) {
            return bad("it is not smaller than every data prime: use wider primes or a smaller t");
        }
        Ok(())
    }

    fn check_secret(&self) -> Result<(), ParameterError> {
        if self.sigma != SIGMA {
            return field(
                "sigma",
                format!("errors have standard deviation {SIGMA}, not {}", self.sigma),
            );
        }
        if let SecretKind::Sparse(weight) = self.secret
            && !(1..=self.n()).contains(&(weight as usize))
        {
            return field(
                "secret",
                format!("weight {weight} is not between 1 and N = {}", self.n()),
            );
        }
        security::check_level(self.wished_security)?;
        match &self.insecure {
            Some(reason) if reason.trim().is_empty() => field(
                "allow_insecure",
                "the reason is empty: say why these parameters are acceptable",
            ),
            Some(reason) if reason.len() > MAX_REASON => field(
                "allow_insecure",
                format!("the reason is longer than {MAX_REASON} bytes"),
            ),
            _ => Ok(()),
        }
    }

    /// The hash that names these parameters in every derived object.
    ///
    /// BLAKE3 over a fixed little-endian form of everything that keys and
    /// ciphertexts depend on, and whether the parameters are insecure. Not part
    /// of it: the wished security level and the words of the reason.
    #[must_use]
    pub fn hash(&self) -> ParamsHash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"cyclotron parameters 1\0");
        let secret = match self.secret {
            SecretKind::Dense => 0,
            SecretKind::Sparse(weight) => 1 + u64::from(weight),
        };
        let numbers = [
            self.scheme as u64,
            u64::from(self.log_n),
            u64::from(self.word_bits),
            self.base_limbs as u64,
            self.digit_limbs as u64,
            self.scale_bits.to_bits(),
            self.plaintext_modulus,
            secret,
            self.sigma.to_bits(),
            u64::from(self.insecure.is_some()),
            self.moduli.len() as u64,
            self.special.len() as u64,
        ];
        for number in numbers.iter().chain(&self.moduli).chain(&self.special) {
            hasher.update(&number.to_le_bytes());
        }
        ParamsHash(hasher.finalize().into())
    }

    /// The parameters in a few lines of words: sizes, scale or plaintext modulus,
    /// security and where the number comes from, hash.
    #[must_use]
    pub fn describe(&self) -> String {
        let plain = match self.scheme {
            Scheme::Ckks => format!("scale 2^{}", self.scale_bits),
            Scheme::Bgv => format!("plaintext modulus {}", self.plaintext_modulus),
        };
        let security = self.security();
        let mut text = format!(
            "{}, N = 2^{}, {} slots, {plain}, {} secret, {}-bit words\n\
             data primes, bits from the bottom: {} (log2 Q = {:.1}, {} kept at the lowest level)\n",
            self.scheme.name().to_uppercase(),
            self.log_n,
            self.slots(),
            self.secret,
            self.word_bits,
            sizes(&self.moduli),
            self.log_q(),
            self.base_limbs,
        );
        if !self.special.is_empty() {
            text += &format!(
                "special primes: {} (log2 QP = {:.1}, {} data primes a digit)\n",
                sizes(&self.special),
                self.log_qp(),
                self.digit_limbs
            );
        }
        text += &format!("{security} [{}]\n", security.method);
        if let Some(reason) = &self.insecure {
            text += &format!("INSECURE, allowed because: {reason}\n");
        }
        text + &format!("hash {}", self.hash())
    }
}

/// Bits of primes, runs of equal ones shortened: `47.0, 40.0 x 12`.
fn sizes(primes: &[u64]) -> String {
    let bits: Vec<String> = primes
        .iter()
        .map(|&q| format!("{:.1}", libm::log2(q as f64)))
        .collect();
    let runs: Vec<String> = bits
        .chunk_by(|a, b| a == b)
        .map(|run| match run.len() {
            1 => run[0].clone(),
            count => format!("{} x {count}", run[0]),
        })
        .collect();
    runs.join(", ")
}
