//! Tables of roots of unity.

use crate::limb_buf::LimbBuf;
use crate::modulus::Modulus;
use crate::primes::least_primitive_root;
use crate::word::Word;

/// The length of a transform and its root of unity modulo one prime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Root {
    /// log2 N.
    pub log_n: u32,
    /// A primitive 2N-th root of unity.
    pub psi: u64,
}

impl Root {
    /// The root with which polynomials of 2^`log_n` coefficients are evaluated.
    pub fn least(modulus: &Modulus, log_n: u32) -> Self {
        Self {
            log_n,
            psi: least_primitive_root(modulus, 2 << log_n),
        }
    }
}

/// The twiddle factors of one prime: entry j holds `psi^brv(j)`, brv the
/// reversal of log2 N bits, psi the primitive 2N-th root of unity of the ring, in
/// the form of a back end (two words).
///
/// The stage with m groups uses the entries m..2m. One table serves both
/// directions (see [`crate::arch::scalar::ntt`]): 2 N words with the companions.
#[derive(Debug, Clone)]
pub struct Twiddles<W: Word> {
    factors: LimbBuf<W>,
    companions: LimbBuf<W>,
    n_inverse: u64,
    last_inverse: u64,
}

impl<W: Word> Twiddles<W> {
    /// The table for a root; `form` gives the two words with which the back end
    /// multiplies by a factor.
    pub fn new(modulus: &Modulus, root: Root, form: impl Fn(u64) -> (W, W)) -> Self {
        let Root { log_n, psi } = root;
        let n = 1usize << log_n;
        let mut factors = LimbBuf::<W>::zeroed(n);
        let mut companions = LimbBuf::<W>::zeroed(n);
        let mut power = 1;
        for exponent in 0..n {
            let j = reverse_bits(exponent, log_n);
            (factors[j], companions[j]) = form(power);
            power = modulus.mul(power, psi);
        }
        let n_inverse = modulus.inv(n as u64);
        Self {
            factors,
            companions,
            n_inverse,
            last_inverse: modulus.mul(modulus.pow(psi, n as u64 / 2), n_inverse),
        }
    }

    /// Twiddle `j` and its companion.
    #[inline(always)]
    pub fn get(&self, j: usize) -> (W, W) {
        (self.factors[j], self.companions[j])
    }

    /// The first words of all twiddles.
    #[inline(always)]
    pub fn factors(&self) -> &[W] {
        &self.factors
    }

    /// The second words of all twiddles.
    #[inline(always)]
    pub fn companions(&self) -> &[W] {
        &self.companions
    }

    /// `N^-1 mod q`, as an integer.
    pub fn n_inverse(&self) -> u64 {
        self.n_inverse
    }

    /// Twiddle 1 divided by N, as an integer: the factor of the inverse's last
    /// stage with the division folded in.
    pub fn last_inverse(&self) -> u64 {
        self.last_inverse
    }
}

/// The reversal of the lower `bits` bits of `x < 2^bits`.
#[inline]
pub fn reverse_bits(x: usize, bits: u32) -> usize {
    // Two shifts, so that 0 bits are possible.
    (x.reverse_bits() >> 1) >> (usize::BITS - 1 - bits)
}
