//! What placement and noise analysis know of a modulus chain.

use crate::graph::Scheme;

/// A key-switch variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeySwitch {
    /// F1's Listing 1: one uncentred digit a limb, no special prime.
    Listing1,
    /// Hybrid: digits of several limbs, special primes, centred digits.
    Hybrid,
}

impl KeySwitch {
    /// The variant's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            KeySwitch::Listing1 => "listing1",
            KeySwitch::Hybrid => "hybrid",
        }
    }
}

/// A modulus chain and the distributions that noise depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainSpec {
    /// The scheme.
    pub scheme: Scheme,
    /// log2 of the ring degree.
    pub log_n: u32,
    /// Data primes; the last is dropped first.
    pub moduli: Vec<u64>,
    /// Special primes.
    pub special: Vec<u64>,
    /// Data limbs a hybrid digit.
    pub digit_limbs: usize,
    /// Canonical scale of level l at index l - 1 (CKKS; all 1 for BGV).
    pub scales: Vec<f64>,
    /// Standard deviation of fresh errors.
    pub sigma: f64,
    /// Variance of a coefficient of the secret: 2/3 for dense ternary, h/N for sparse.
    pub secret_variance: f64,
    /// CKKS where Listing 1 alone switches keys: bits by which a value's scale
    /// exceeds the noise of a key switch, for which it is scaled up before, at the
    /// cost of levels. None: values are switched at the scale that they have.
    pub listing1_margin_bits: Option<f64>,
}

impl ChainSpec {
    /// Number of data limbs, the top level.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.moduli.len()
    }

    /// The ring degree N.
    #[must_use]
    pub fn n(&self) -> usize {
        1 << self.log_n
    }

    /// log2 of the modulus at a level.
    #[must_use]
    pub fn log_q(&self, level: usize) -> f64 {
        self.moduli[..level].iter().map(|&q| log2(q)).sum()
    }

    /// log2 of the product of the special primes.
    #[must_use]
    pub fn log_p(&self) -> f64 {
        self.special.iter().map(|&p| log2(p)).sum()
    }

    /// The canonical scale of a level.
    #[must_use]
    pub fn scale(&self, level: usize) -> f64 {
        self.scales[level - 1]
    }

    /// The prime that goes when a ciphertext leaves `level`.
    #[must_use]
    pub fn dropped(&self, level: usize) -> u64 {
        self.moduli[level - 1]
    }
}

/// log2 of a prime.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "53 bits are plenty for a logarithm"
)]
pub fn log2(q: u64) -> f64 {
    (q as f64).log2()
}
