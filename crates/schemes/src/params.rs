//! Parameters: what both sides must agree on.
//!
//! A [`ParametersLiteral`](crate::ParametersLiteral) is what a person writes;
//! [`Parameters`] is what it becomes once every prime is fixed and everything
//! was checked. The *extended chain* is the data primes followed by the
//! special primes; a limb's position in it is its modulus index everywhere.
//!
//! The level of a ciphertext is its number of data limbs: at level l it is
//! defined modulo `moduli[0..l]`, and rescaling or switching drops
//! `moduli[l - 1]`.

use std::fmt;

use crate::scheme::{Scheme, SecretKind};

/// Standard deviation of the error distribution.
pub const SIGMA: f64 = 3.19;

/// Largest absolute value of an error coefficient (the samplers cut the tail there or before).
pub const ERROR_BOUND: f64 = 32.0;

/// Validated parameters. Made by [`Parameters::from_literal`] or
/// [`choose`](crate::choose); a changed copy must pass [`Parameters::validate`]
/// again before keys are made for it, and key generation sees to that.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Parameters {
    /// The scheme.
    pub scheme: Scheme,
    /// log2 of the ring degree N.
    pub log_n: u32,
    /// Data primes, index 0 at the bottom; levels drop from the top.
    pub moduli: Vec<u64>,
    /// Special primes of hybrid key switching; empty if only Listing 1 is used.
    pub special: Vec<u64>,
    /// Data primes at the bottom that are never rescaled away: the lowest level, at least 1.
    pub base_limbs: usize,
    /// Data limbs per digit of hybrid key switching (alpha), at least 1.
    pub digit_limbs: usize,
    /// CKKS: log2 of the nominal scale, which a fresh ciphertext has. BGV: 0.
    pub scale_bits: f64,
    /// BGV: the plaintext modulus t, an odd prime. CKKS: 0.
    pub plaintext_modulus: u64,
    /// Distribution of the secret.
    pub secret: SecretKind,
    /// Standard deviation of the errors: [`SIGMA`].
    pub sigma: f64,
    /// Limbs are stored in words of so many bits: 32 or 64.
    pub word_bits: u32,
    /// The security level that was asked for: 128, 192 or 256.
    pub wished_security: u32,
    /// Why parameters below the wished security are used; none if they reach it.
    pub insecure: Option<String>,
}

/// BLAKE3 hash of the canonical form of parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamsHash(pub [u8; 32]);

impl ParamsHash {
    /// The first 8 bytes in hexadecimal, for messages.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string()[..16].to_owned()
    }
}

impl fmt::Display for ParamsHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ParamsHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParamsHash({})", self.short())
    }
}

impl Parameters {
    /// The ring degree N.
    #[must_use]
    pub fn n(&self) -> usize {
        1 << self.log_n
    }

    /// Number of data primes: the level of a fresh ciphertext.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.moduli.len()
    }

    /// Data primes, then special primes.
    #[must_use]
    pub fn extended(&self) -> Vec<u64> {
        self.moduli.iter().chain(&self.special).copied().collect()
    }

    /// Number of slots: N/2 for CKKS; for BGV the largest power of two m <= N
    /// with t = 1 mod 2m.
    #[must_use]
    pub fn slots(&self) -> usize {
        match self.scheme {
            Scheme::Ckks => self.n() / 2,
            Scheme::Bgv => {
                let two_adic = (self.plaintext_modulus - 1).trailing_zeros();
                1 << self.log_n.min(two_adic.saturating_sub(1))
            }
        }
    }

    /// log2 of the product of the data primes `0..level`.
    #[must_use]
    pub fn log_q_at(&self, level: usize) -> f64 {
        self.moduli[..level]
            .iter()
            .map(|&q| (q as f64).log2())
            .sum()
    }

    /// log2 of the product of all data primes.
    #[must_use]
    pub fn log_q(&self) -> f64 {
        self.log_q_at(self.levels())
    }

    /// log2 of the product of the special primes, 0 without any.
    #[must_use]
    pub fn log_p(&self) -> f64 {
        self.special.iter().map(|&p| (p as f64).log2()).sum()
    }

    /// log2 of the product of all primes.
    #[must_use]
    pub fn log_qp(&self) -> f64 {
        self.log_q() + self.log_p()
    }

    /// The exact scale of every level, index l for level l (CKKS). The top
    /// level has the nominal scale, and `scale[l - 1] = scale[l]^2 / moduli[l - 1]`,
    /// what a product rescaled from level l to level l - 1 has. Index 0 is what
    /// follows formally from level 1; no ciphertext has it.
    ///
    /// The order of the two floating-point operations is fixed, so that every
    /// host computes the same values.
    #[must_use]
    pub fn canonical_scales(&self) -> Vec<f64> {
        let mut scales = vec![0.0; self.levels() + 1];
        scales[self.levels()] = libm::exp2(self.scale_bits);
        for level in (1..=self.levels()).rev() {
            let scale: f64 = scales[level];
            scales[level - 1] = (scale / self.moduli[level - 1] as f64) * scale;
        }
        scales
    }

    /// The correction factor modulo t of every level, index l for level l (BGV).
    /// A ciphertext with factor f decrypts to f times its plaintext. The top
    /// level has factor 1, and `f[l - 1] = f[l]^2 / moduli[l - 1] mod t`, what a
    /// product switched from level l to level l - 1 has.
    #[must_use]
    pub fn correction_factors(&self) -> Vec<u64> {
        let t = self.plaintext_modulus;
        let mut factors = vec![1 % t.max(1); self.levels() + 1];
        for level in (1..=self.levels()).rev() {
            let square = mul_mod(factors[level], factors[level], t);
            factors[level - 1] = mul_mod(square, inverse_mod(self.moduli[level - 1] % t, t), t);
        }
        factors
    }
}

/// `a b mod m`, 0 for m = 0.
pub(crate) fn mul_mod(a: u64, b: u64, m: u64) -> u64 {
    if m == 0 {
        return 0;
    }
    (u128::from(a) * u128::from(b) % u128::from(m)) as u64
}

/// `a^e mod m`, m > 0.
pub(crate) fn pow_mod(mut a: u64, mut e: u64, m: u64) -> u64 {
    let mut power = 1 % m;
    a %= m;
    while e > 0 {
        if e & 1 == 1 {
            power = mul_mod(power, a, m);
        }
        a = mul_mod(a, a, m);
        e >>= 1;
    }
    power
}

/// The inverse of `a` modulo the prime `p`; 0 where there is none.
pub(crate) fn inverse_mod(a: u64, p: u64) -> u64 {
    if p < 2 { 0 } else { pow_mod(a, p - 2, p) }
}
