//! Primes below 2^30 in 32-bit words; values lazily reduced in transforms.
//!
//! With `(h, u)` the halves of [`Full32`], `h - u` is `x w mod q` in
//! `(-q, q)`, and no borrow is repaired:
//!
//! - forward: values in `[0, 4q)`. x is brought to `[0, 2q)`; with `a = x + q`
//!   in `[q, 3q)`, `a + (h - u)` and `a - (h - u)` are in `(0, 4q)`, and `4q <
//!   2^32`. (Both carry the same extra q, which vanishes modulo q.)
//! - inverse: values in `[0, 2q)`. The sum is brought from `[0, 4q)` to
//!   `[0, 2q)`; the difference `y - x + 2q` in `(0, 4q)` is a word, and
//!   `h - u + q` is in `(0, 2q)`.
//!
//! # References
//! Harvey, "Faster arithmetic for number-theoretic transforms", J. Symb.
//! Comput. 60 (2014), for the ranges.

use crate::arch::vector::full32::{Factor32, Full32, broadcast, spread, spread_reversed};
use crate::arch::vector::lanes::Lanes32;
use crate::arch::vector::transform::Transform;
use crate::modulus::Modulus;
use crate::twiddles::Twiddles;

/// Transforms modulo an odd prime below 2^30.
#[derive(Clone, Copy)]
pub struct Lazy32<L: Lanes32> {
    full: Full32<L>,
    two_q: L::V,
}

impl<L: Lanes32> Lazy32<L> {
    /// Primes are below this.
    pub const BELOW: u64 = 1 << 30;

    /// The prime's constants in registers.
    pub fn new(isa: L, modulus: &Modulus, twiddles: &Twiddles<u32>) -> Self {
        Self {
            full: Full32::new(isa, modulus, twiddles),
            two_q: isa.splat(2 * modulus.value() as u32),
        }
    }

    /// `x w mod q` in `(0, 2q)`, for any word x.
    #[inline(always)]
    fn mul_lazy(self, x: L::V, w: Factor32<L::V>) -> L::V {
        let (high, quotient) = self.full.mul_halves(x, w);
        let isa = self.full.isa;
        isa.add(isa.sub(high, quotient), self.full.q)
    }
}

impl<L: Lanes32> Transform for Lazy32<L> {
    type W = u32;
    type L = L;
    type F = Factor32<L::V>;

    #[inline(always)]
    fn isa(self) -> L {
        self.full.isa
    }

    #[inline(always)]
    fn broadcast(self, twiddles: &Twiddles<u32>, j: usize) -> Self::F {
        broadcast(self.full.isa, twiddles, j)
    }

    #[inline(always)]
    fn spread<const S: u32>(self, twiddles: &Twiddles<u32>, j: usize) -> Self::F {
        spread::<L, S>(self.full.isa, twiddles, j)
    }

    #[inline(always)]
    fn spread_reversed<const S: u32>(self, twiddles: &Twiddles<u32>, j: usize) -> Self::F {
        spread_reversed::<L, S>(self.full.isa, twiddles, j)
    }

    #[inline(always)]
    fn enter(self, x: L::V) -> L::V {
        self.full.reduce(x)
    }

    #[inline(always)]
    fn forward(self, x: L::V, y: L::V, w: Self::F) -> (L::V, L::V) {
        let isa = self.full.isa;
        let a = isa.add(isa.sub_if_ge(x, self.two_q), self.full.q);
        let (high, quotient) = self.full.mul_halves(y, w);
        let product = isa.sub(high, quotient);
        (isa.add(a, product), isa.sub(a, product))
    }

    #[inline(always)]
    fn leave(self, x: L::V) -> L::V {
        let isa = self.full.isa;
        isa.sub_if_ge(isa.sub_if_ge(x, self.two_q), self.full.q)
    }

    #[inline(always)]
    fn inverse(self, x: L::V, y: L::V, w: Self::F) -> (L::V, L::V) {
        let isa = self.full.isa;
        let sum = isa.sub_if_ge(isa.add(x, y), self.two_q);
        let difference = isa.add(isa.sub(y, x), self.two_q);
        (sum, self.mul_lazy(difference, w))
    }

    #[inline(always)]
    fn finish(self, x: L::V, y: L::V) -> (L::V, L::V) {
        let isa = self.full.isa;
        let (sum, difference) = (isa.add(x, y), isa.add(isa.sub(y, x), self.two_q));
        let [n_inverse, last] = self.full.last;
        (
            isa.sub_if_ge(self.mul_lazy(sum, n_inverse), self.full.q),
            isa.sub_if_ge(self.mul_lazy(difference, last), self.full.q),
        )
    }
}
