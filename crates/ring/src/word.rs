//! Storage words of limbs.

use std::fmt::{Debug, Display};
use std::hash::Hash;

use zeroize::DefaultIsZeroes;

use crate::arch::Backend;
use crate::modulus::Modulus;
use crate::simd::Simd;
use crate::twiddles::Root;

/// A word in which residues are stored: `u32` or `u64`.
///
/// Limbs of primes below 2^32 are stored in 32-bit words, others (below 2^61)
/// in 64-bit words. The trait is sealed.
pub trait Word:
    sealed::Sealed
    + Copy
    + Default
    + Eq
    + Ord
    + Hash
    + Debug
    + Display
    + Send
    + Sync
    + DefaultIsZeroes
    + 'static
{
    /// Bits of the word.
    const BITS: u32;

    /// Primes are below 2^`MODULUS_BITS`: 32 for `u32`, 61 for `u64`.
    const MODULUS_BITS: u32;

    /// The word as an integer.
    fn to_u64(self) -> u64;

    /// The word that holds `value < 2^BITS`; higher bits are dropped.
    fn from_u64(value: u64) -> Self;
}

pub(crate) mod sealed {
    use super::{Backend, Modulus, Root, Simd};

    /// What the crate needs of a word beyond its public face.
    pub trait Sealed: Sized {
        /// The upper half of the double-width product.
        fn mul_hi(self, other: Self) -> Self;

        /// The fastest back end that `simd` allows for this prime, with its tables.
        fn backend(simd: Simd, modulus: Modulus, root: Root) -> Box<dyn Backend<Self>>;
    }
}

impl Word for u32 {
    const BITS: u32 = 32;
    const MODULUS_BITS: u32 = 32;

    #[inline(always)]
    fn to_u64(self) -> u64 {
        u64::from(self)
    }

    #[inline(always)]
    fn from_u64(value: u64) -> Self {
        value as u32
    }
}

impl sealed::Sealed for u32 {
    #[inline(always)]
    fn mul_hi(self, other: Self) -> Self {
        ((u64::from(self) * u64::from(other)) >> 32) as u32
    }

    fn backend(simd: Simd, modulus: Modulus, root: Root) -> Box<dyn Backend<Self>> {
        crate::arch::backend_u32(simd, modulus, root)
    }
}

impl Word for u64 {
    const BITS: u32 = 64;
    const MODULUS_BITS: u32 = 61;

    #[inline(always)]
    fn to_u64(self) -> u64 {
        self
    }

    #[inline(always)]
    fn from_u64(value: u64) -> Self {
        value
    }
}

impl sealed::Sealed for u64 {
    #[inline(always)]
    fn mul_hi(self, other: Self) -> Self {
        ((u128::from(self) * u128::from(other)) >> 64) as u64
    }

    fn backend(simd: Simd, modulus: Modulus, root: Root) -> Box<dyn Backend<Self>> {
        crate::arch::backend_u64(simd, modulus, root)
    }
}
