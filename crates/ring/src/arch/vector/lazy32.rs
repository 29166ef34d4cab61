//! Transforms modulo primes below 2^30 in 32-bit words, lazily reduced.
//!
//! # Multiplication by a factor
//! A factor w has the companion `w' = floor(w 2^32 / q)`. For any 32-bit x the
//! estimate `T = floor(x w' / 2^32)` of `x w / q` is too small by less than
//! `1 + x / 2^32 < 2`, so `x w - T q` is in `[0, 2q)`; both products are needed
//! modulo 2^32 only.
//!
//! # Ranges
//! Forward: values in `[0, 4q)`, and `4q < 2^32`. Words enter below 3q, so that
//! a canonical constant may be added. x is brought to `[0, 2q)`, then `x + r`
//! and `x - r + 2q` are in `[0, 4q)`. A canonical minuend less x, plus 2q, is in
//! `(0, 3q)`. Inverse: values in `[0, 2q)`; the sum, below 4q, is brought to
//! `[0, 2q)`, and `y - x + 2q` is in `(0, 4q)`.
//!
//! # References
//! Harvey, "Faster arithmetic for number-theoretic transforms", J. Symb.
//! Comput. 60 (2014).

use crate::arch::vector::lanes::Lanes32;
use crate::arch::vector::storage::InPlace;
use crate::arch::vector::transform::{Place, Transform};
use crate::modulus::Modulus;

/// A vector of factors: the factor, and the companion for even and odd lanes.
#[derive(Clone, Copy)]
pub struct FactorLazy32<V> {
    w: V,
    companion: [V; 2],
}

/// Transforms modulo a prime below 2^30.
#[derive(Clone, Copy)]
pub struct Lazy32<L: Lanes32> {
    isa: L,
    q: L::V,
    two_q: L::V,
    /// The highest bit of 3q and all above: words without them are below 3q.
    above: L::V,
    one: FactorLazy32<L::V>,
}

/// The two words of a factor.
pub fn form(modulus: &Modulus, w: u64) -> (u32, u32) {
    (w as u32, modulus.companion(w, 32) as u32)
}

impl<L: Lanes32> Lazy32<L> {
    /// Primes are below this.
    pub const BELOW: u64 = 1 << 30;

    /// The prime's constants in registers.
    pub fn new(isa: L, modulus: &Modulus) -> Self {
        let q = modulus.value() as u32;
        let factor = |w| splat_factor(isa, form(modulus, w));
        Self {
            isa,
            q: isa.splat(q),
            two_q: isa.splat(2 * q),
            above: isa.splat(u32::MAX << (3 * q).ilog2()),
            one: factor(1),
        }
    }

    /// `x w mod q` in `[0, 2q)`, for any word x.
    #[inline(always)]
    fn mul_lazy(self, x: L::V, w: FactorLazy32<L::V>) -> L::V {
        let isa = self.isa;
        let quotient = isa.upper(
            isa.mul_low32(x, w.companion[0]),
            isa.mul_low32(isa.high32(x), w.companion[1]),
        );
        isa.sub(isa.mul_low(x, w.w), isa.mul_low(quotient, self.q))
    }

    /// From `[0, 2q)` to `[0, q)`.
    #[inline(always)]
    fn correct(self, x: L::V) -> L::V {
        self.isa.sub_if_ge(x, self.q)
    }
}

#[inline(always)]
fn splat_factor<L: Lanes32>(isa: L, (w, companion): (u32, u32)) -> FactorLazy32<L::V> {
    FactorLazy32 {
        w: isa.splat(w),
        companion: [isa.splat(companion); 2],
    }
}

impl<L: Lanes32> Transform for Lazy32<L> {
    type S = InPlace<u32, L>;
    type F = FactorLazy32<L::V>;

    #[inline(always)]
    fn isa(self) -> L {
        self.isa
    }

    fn form(modulus: &Modulus, w: u64) -> (u32, u32) {
        form(modulus, w)
    }

    #[inline(always)]
    fn broadcast(self, factor: (u32, u32)) -> Self::F {
        splat_factor(self.isa, factor)
    }

    #[inline(always)]
    fn repeat<const S: u32>(self, [w, companion]: [&[u32]; 2], group: usize) -> Self::F {
        let companion = self.isa.repeat::<S>(companion, group);
        FactorLazy32 {
            w: self.isa.repeat::<S>(w, group),
            companion: [companion, self.isa.high32(companion)],
        }
    }

    #[inline(always)]
    fn accepts(self, or: L::V) -> bool {
        !self.isa.any_bit(or, self.above)
    }

    #[inline(always)]
    fn enter(self, x: L::V) -> L::V {
        self.mul_lazy(x, self.one)
    }

    #[inline(always)]
    fn enter_add(self, x: L::V, c: L::V) -> L::V {
        self.isa.add(x, c)
    }

    #[inline(always)]
    fn forward(self, x: L::V, y: L::V, w: Self::F) -> (L::V, L::V) {
        let isa = self.isa;
        let x = isa.sub_if_ge(x, self.two_q);
        let product = self.mul_lazy(y, w);
        (
            isa.add(x, product),
            isa.sub(isa.add(x, self.two_q), product),
        )
    }

    #[inline(always)]
    fn leave(self, x: L::V) -> L::V {
        self.correct(self.isa.sub_if_ge(x, self.two_q))
    }

    #[inline(always)]
    fn leave_sub_mul(self, x: L::V, minuend: L::V, c: Self::F) -> L::V {
        let isa = self.isa;
        let x = isa.sub_if_ge(x, self.two_q);
        let difference = isa.sub(isa.add(minuend, self.two_q), x);
        self.correct(self.mul_lazy(difference, c))
    }

    #[inline(always)]
    fn inverse(self, x: L::V, y: L::V, w: Self::F, _place: Place) -> (L::V, L::V) {
        let isa = self.isa;
        let sum = isa.sub_if_ge(isa.add(x, y), self.two_q);
        let difference = isa.sub(isa.add(y, self.two_q), x);
        (sum, self.mul_lazy(difference, w))
    }

    #[inline(always)]
    fn finish(self, x: L::V, y: L::V, w: [Self::F; 2]) -> (L::V, L::V) {
        let isa = self.isa;
        let difference = isa.sub(isa.add(y, self.two_q), x);
        (
            self.correct(self.mul_lazy(isa.add(x, y), w[0])),
            self.correct(self.mul_lazy(difference, w[1])),
        )
    }
    #[inline(always)]
    fn finish_add(self, x: L::V, c: L::V) -> L::V {
        self.isa.sub_if_ge(self.isa.add(x, c), self.q)
    }
}
