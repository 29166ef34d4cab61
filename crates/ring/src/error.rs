//! What can be wrong with a ring.

use crate::simd::Simd;

/// Why a ring, a sampler or a SIMD choice is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RingError {
    /// The ring degree is out of range.
    #[error("log2 of the ring degree is {log_n}; choose {min} to {max}")]
    LogNOutOfRange {
        /// What was asked for.
        log_n: u32,
        /// The least that is supported.
        min: u32,
        /// The greatest that is supported.
        max: u32,
    },
    /// A modulus does not fit the storage word.
    #[error(
        "modulus {modulus} does not fit {word_bits}-bit words; choose primes below 2^{max_bits}"
    )]
    ModulusTooLarge {
        /// The modulus.
        modulus: u64,
        /// Bits of the storage word.
        word_bits: u32,
        /// Bits that a modulus may have.
        max_bits: u32,
    },
    /// A modulus is not prime.
    #[error("modulus {modulus} is not prime")]
    NotPrime {
        /// The modulus.
        modulus: u64,
    },
    /// The prime has no primitive 2N-th root of unity.
    #[error(
        "prime {modulus} has no primitive {order}-th root of unity; choose primes = 1 mod {order}"
    )]
    NoRootOfUnity {
        /// The prime.
        modulus: u64,
        /// 2N.
        order: u64,
    },
    /// A prime occurs twice.
    #[error("prime {modulus} occurs twice; the primes of a chain must be distinct")]
    DuplicateModulus {
        /// The prime.
        modulus: u64,
    },
    /// The processor lacks the instructions that were asked for.
    #[error("SIMD path {simd} is not available on this processor; choose one of: {available}")]
    SimdUnavailable {
        /// What was asked for.
        simd: Simd,
        /// What there is, separated by commas.
        available: String,
    },
    /// No SIMD path has this name.
    #[error("unknown SIMD path {name:?}; choose scalar, avx2 or avx512")]
    UnknownSimd {
        /// The name.
        name: String,
    },
    /// The standard deviation of a discrete Gaussian is out of range.
    #[error("standard deviation {sigma} is out of range; choose {min} to {max}")]
    SigmaOutOfRange {
        /// What was asked for.
        sigma: f64,
        /// The least that is supported.
        min: f64,
        /// The greatest that is supported.
        max: f64,
    },
    /// A sparse secret cannot have so many nonzero coefficients.
    #[error("a secret of {n} coefficients cannot have {weight} that are not zero")]
    WeightTooLarge {
        /// Nonzero coefficients asked for.
        weight: usize,
        /// Number of coefficients.
        n: usize,
    },
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness: {why}")]
    NoRandomness {
        /// Its own words.
        why: String,
    },
}
