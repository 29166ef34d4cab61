//! Tables of roots of unity.

use crate::limb_buf::LimbBuf;
use crate::modulus::Modulus;
use crate::primes::least_primitive_root;
use crate::word::Word;

/// The twiddle factors of one prime: entry j holds `psi^brv(j)`, brv the
/// reversal of log2 N bits, psi the least primitive 2N-th root of unity.
///
/// The stage with m groups uses the entries m..2m. One table serves both
/// directions (see [`crate::arch::scalar::ntt`]): 2 N words with the companions.
#[derive(Debug, Clone)]
pub struct Twiddles<W: Word> {
    factors: LimbBuf<W>,
    companions: LimbBuf<W>,
    n_inverse: u64,
}

impl<W: Word> Twiddles<W> {
    /// The table for degree 2^`log_n`; `companion` gives what the back end
    /// multiplies with beside each factor.
    pub fn new(modulus: &Modulus, log_n: u32, companion: impl Fn(u64) -> W) -> Self {
        let n = 1usize << log_n;
        let psi = least_primitive_root(modulus, 2 * n as u64);
        let mut factors = LimbBuf::<W>::zeroed(n);
        let mut companions = LimbBuf::<W>::zeroed(n);
        let mut power = 1;
        for exponent in 0..n {
            let j = reverse_bits(exponent, log_n);
            factors[j] = W::from_u64(power);
            companions[j] = companion(power);
            power = modulus.mul(power, psi);
        }
        Self {
            factors,
            companions,
            n_inverse: modulus.inv(n as u64),
        }
    }

    /// Twiddle `j` and its companion.
    #[inline(always)]
    pub fn get(&self, j: usize) -> (W, W) {
        (self.factors[j], self.companions[j])
    }

    /// `N^-1 mod q`.
    pub fn n_inverse(&self) -> u64 {
        self.n_inverse
    }
}

/// The reversal of the lower `bits` bits of `x < 2^bits`.
#[inline]
pub fn reverse_bits(x: usize, bits: u32) -> usize {
    // Two shifts, so that 0 bits are possible.
    (x.reverse_bits() >> 1) >> (usize::BITS - 1 - bits)
}
