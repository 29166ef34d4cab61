//! Rings and limbs of either word width behind one type.
//!
//! Callers hold an [`AnyRing`] and [`Limbs`] and need not be generic; code
//! inside this crate is written once over [`ClientWord`] and entered through
//! `with_ring!`. The runtime and the simulator, which are generic, get
//! their typed view back from [`ClientWord`].

use std::sync::Arc;

use cyclotron_ring::{LimbBuf, Ring, Simd, Word};

use crate::error::ParameterError;
use crate::params::Parameters;

/// A ring over 32-bit or 64-bit words.
#[derive(Debug, Clone)]
pub enum AnyRing {
    /// Limbs of 32-bit words.
    W32(Arc<Ring<u32>>),
    /// Limbs of 64-bit words.
    W64(Arc<Ring<u64>>),
}

impl AnyRing {
    /// The ring over the extended chain of the parameters, with the SIMD path `simd`.
    ///
    /// # Errors
    /// [`ParameterError::Ring`] if the ring refuses the primes.
    pub fn new(params: &Parameters, simd: Simd) -> Result<Self, ParameterError> {
        Self::of_parts(params, 0, simd)
    }

    /// The ring of the 2^`log_parts` parts that polynomials of the parameters are split
    /// into ([`cyclotron_ring::parts`]).
    ///
    /// # Errors
    /// As [`Self::new`], also if parts would be too short.
    pub fn of_parts(
        params: &Parameters,
        log_parts: u32,
        simd: Simd,
    ) -> Result<Self, ParameterError> {
        let ring_error = |error: cyclotron_ring::RingError| ParameterError::Ring(error.to_string());
        let primes = params.extended();
        let log_n = params.log_n.saturating_sub(log_parts);
        if params.word_bits == 32 {
            let ring = Ring::of_parts(log_n, log_parts, &primes, simd).map_err(ring_error)?;
            Ok(AnyRing::W32(Arc::new(ring)))
        } else {
            let ring = Ring::of_parts(log_n, log_parts, &primes, simd).map_err(ring_error)?;
            Ok(AnyRing::W64(Arc::new(ring)))
        }
    }

    /// The SIMD path of its kernels.
    pub(crate) fn simd(&self) -> Simd {
        match self {
            AnyRing::W32(ring) => ring.simd(),
            AnyRing::W64(ring) => ring.simd(),
        }
    }
}

/// One limb of either width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnyLimb {
    /// 32-bit words.
    W32(Arc<LimbBuf<u32>>),
    /// 64-bit words.
    W64(Arc<LimbBuf<u64>>),
}

impl AnyLimb {
    /// The words as 64-bit integers.
    #[must_use]
    pub fn to_u64(&self) -> Vec<u64> {
        match self {
            AnyLimb::W32(limb) => limb.iter().map(|w| u64::from(*w)).collect(),
            AnyLimb::W64(limb) => limb.to_vec(),
        }
    }
}

/// The limbs of one polynomial, by position in a chain, shared and immutable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Limbs {
    /// 32-bit words.
    W32(Vec<Arc<LimbBuf<u32>>>),
    /// 64-bit words.
    W64(Vec<Arc<LimbBuf<u64>>>),
}

impl Limbs {
    /// Number of limbs.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Limbs::W32(limbs) => limbs.len(),
            Limbs::W64(limbs) => limbs.len(),
        }
    }

    /// Whether there is no limb.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bits of the words: 32 or 64.
    #[must_use]
    pub fn word_bits(&self) -> u32 {
        match self {
            Limbs::W32(_) => 32,
            Limbs::W64(_) => 64,
        }
    }

    /// One limb.
    #[must_use]
    pub fn limb(&self, index: usize) -> Option<AnyLimb> {
        match self {
            Limbs::W32(limbs) => limbs.get(index).cloned().map(AnyLimb::W32),
            Limbs::W64(limbs) => limbs.get(index).cloned().map(AnyLimb::W64),
        }
    }

    /// The first limb and index whose word is not below its modulus, if there is one;
    /// also a limb of another length than `n`, reported at index `n`.
    #[must_use]
    pub fn first_fault(&self, moduli: &[u64], n: usize) -> Option<(usize, usize)> {
        let mut limbs = moduli.iter().take(self.len()).enumerate();
        limbs.find_map(|(i, &q)| self.fault_in(i, q, n).map(|at| (i, at)))
    }

    /// The first index of limb `limb` whose word is not below `q`, or `n` if it
    /// has another length or does not exist.
    pub(crate) fn fault_in(&self, limb: usize, q: u64, n: usize) -> Option<usize> {
        match self {
            Limbs::W32(limbs) => limbs.get(limb).map_or(Some(n), |limb| fault(limb, q, n)),
            Limbs::W64(limbs) => limbs.get(limb).map_or(Some(n), |limb| fault(limb, q, n)),
        }
    }
}

/// The first index whose word is not below `q`, or `n` for another length.
fn fault<W: Word>(limb: &[W], q: u64, n: usize) -> Option<usize> {
    if limb.len() != n {
        return Some(n);
    }
    let top = q.wrapping_sub(1);
    for (number, chunk) in limb.chunks(FAULT_CHUNK).enumerate() {
        // The top bit is set where a word has it or is above q - 1: no branch.
        let above = chunk.iter().fold(0, |above, word| {
            above | top.wrapping_sub(word.to_u64()) | word.to_u64()
        });
        if above >> 63 != 0 {
            let at = chunk.iter().position(|word| word.to_u64() >= q)?;
            return Some(number * FAULT_CHUNK + at);
        }
    }
    None
}

/// Words that are checked together.
const FAULT_CHUNK: usize = 512;

/// A word with its view of [`AnyRing`], [`AnyLimb`] and [`Limbs`]; `u32` and `u64`.
pub trait ClientWord: Word {
    /// The ring, if it is of this width.
    fn ring(any: &AnyRing) -> Option<&Arc<Ring<Self>>>;
    /// The limbs, if they are of this width.
    fn view(limbs: &Limbs) -> Option<&[Arc<LimbBuf<Self>>]>;
    /// Limbs of this width as [`Limbs`].
    fn wrap(limbs: Vec<Arc<LimbBuf<Self>>>) -> Limbs;
    /// The limb, if it is of this width.
    fn view_limb(limb: &AnyLimb) -> Option<&Arc<LimbBuf<Self>>>;
    /// A limb of this width as [`AnyLimb`].
    fn wrap_limb(limb: Arc<LimbBuf<Self>>) -> AnyLimb;
}

macro_rules! client_word {
    ($word:ty, $variant:ident) => {
        impl ClientWord for $word {
            fn ring(any: &AnyRing) -> Option<&Arc<Ring<Self>>> {
                match any {
                    AnyRing::$variant(ring) => Some(ring),
                    _ => None,
                }
            }

            fn view(limbs: &Limbs) -> Option<&[Arc<LimbBuf<Self>>]> {
                match limbs {
                    Limbs::$variant(limbs) => Some(limbs),
                    _ => None,
                }
            }

            fn wrap(limbs: Vec<Arc<LimbBuf<Self>>>) -> Limbs {
                Limbs::$variant(limbs)
            }

            fn view_limb(limb: &AnyLimb) -> Option<&Arc<LimbBuf<Self>>> {
                match limb {
                    AnyLimb::$variant(limb) => Some(limb),
                    _ => None,
                }
            }

            fn wrap_limb(limb: Arc<LimbBuf<Self>>) -> AnyLimb {
                AnyLimb::$variant(limb)
            }
        }
    };
}

client_word!(u32, W32);
client_word!(u64, W64);

/// Evaluates an expression with `$ring` bound to the typed ring.
macro_rules! with_ring {
    ($any:expr, $ring:ident => $body:expr) => {
        match $any {
            $crate::limbs::AnyRing::W32($ring) => $body,
            $crate::limbs::AnyRing::W64($ring) => $body,
        }
    };
}
pub(crate) use with_ring;
