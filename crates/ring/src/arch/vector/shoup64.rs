//! Primes below 2^61 in 64-bit words, without a 64-bit upper product.
//!
//! # Multiplication by a factor
//! A factor w has the companion `w' = floor(w 2^64 / q)`. In halves,
//! `x = x1 2^32 + x0` and `w' = c1 2^32 + c0`, the quotient is estimated as
//! `T = x1 c1 + (x1 c0 >> 32) + (x0 c1 >> 32)`, three 32-bit products.
//! It is too small by less than
//! - 2 for the two shifts, 1 for the missing `x0 c0 / 2^64`, and
//! - `x / 2^64 < 1` for the rounding of w',
//!
//! so `x w - T q` is in `[0, 4q)` for every word x. It is computed modulo 2^64,
//! and `4q < 2^63`.
//!
//! # Ranges
//! Transforms, forward: values in `[0, 8q)`. Words enter below 7q, so that a
//! canonical constant may be added. x is brought to `[0, 4q)`, then `x + r` and
//! `x - r + 4q` are below `8q < 2^64`. A canonical minuend less x, plus 4q, is
//! in `(0, 5q)`. Inverse: values in `[0, 4q)`; the sum, below 8q, is brought to
//! `[0, 4q)`, and `y - x + 4q` is in `(0, 8q)`.
//!
//! # Products of two vectors, and their sums
//! The 128-bit product of two words is exact: four 32-bit products and their
//! carries. Sums are kept as four digits of base 2^32, each in 64 bits: a
//! product adds at most three terms below 2^32 to a digit, so 2^30 products
//! fit. The 64-bit words of the result are multiplied by 1, 2^64 and 2^128 as
//! factors; two such lazy products are below 8q.

use crate::arch::vector::lanes::Lanes64;
use crate::arch::vector::pointwise::Pointwise;
use crate::arch::vector::storage::InPlace;
use crate::arch::vector::transform::{Place, Transform};
use crate::modulus::Modulus;

/// A vector of factors: the factor, its companion, and the companion's upper half.
#[derive(Clone, Copy)]
pub struct Factor64<V> {
    w: V,
    companion: V,
    companion_high: V,
}

/// Arithmetic modulo a prime below 2^61.
#[derive(Clone, Copy)]
pub struct Shoup64<L: Lanes64> {
    isa: L,
    q: L::V,
    /// 2q and 4q
    multiples: [L::V; 2],
    /// The highest bit of 7q and all above: words without them are below 7q.
    above: L::V,
    /// 1, 2^64 and 2^128 as factors.
    powers: [Factor64<L::V>; 3],
}

/// The two words of a factor.
pub fn form(modulus: &Modulus, w: u64) -> (u64, u64) {
    (w, modulus.companion(w, 64))
}

impl<L: Lanes64> Shoup64<L> {
    /// The prime's constants in registers.
    pub fn new(isa: L, modulus: &Modulus) -> Self {
        let q = modulus.value();
        let factor = |w| splat_factor(isa, form(modulus, w));
        Self {
            isa,
            q: isa.splat(q),
            multiples: [isa.splat(2 * q), isa.splat(4 * q)],
            above: isa.splat(u64::MAX << (7 * q).ilog2()),
            powers: [
                factor(1),
                factor(modulus.reduce_wide(1 << 64)),
                factor(modulus.pow(2, 128)),
            ],
        }
    }

    /// `x w mod q` in `[0, 4q)`, for any word x.
    #[inline(always)]
    pub fn mul_lazy(self, x: L::V, w: Factor64<L::V>) -> L::V {
        let isa = self.isa;
        let x_high = isa.high32(x);
        let cross = isa.add(
            isa.high32(isa.mul_low32(x_high, w.companion)),
            isa.high32(isa.mul_low32(x, w.companion_high)),
        );
        let quotient = isa.add(isa.mul_low32(x_high, w.companion_high), cross);
        isa.sub(isa.mul_low(x, w.w), isa.mul_low(quotient, self.q))
    }

    /// From `[0, 4q)` to `[0, q)`.
    #[inline(always)]
    fn correct(self, x: L::V) -> L::V {
        let isa = self.isa;
        isa.sub_if_ge(isa.sub_if_ge(x, self.multiples[0]), self.q)
    }

    /// `low + high 2^64 mod q` in `[0, 8q)`, for any words.
    #[inline(always)]
    fn reduce_lazy(self, low: L::V, high: L::V) -> L::V {
        let high = self.mul_lazy(high, self.powers[1]);
        self.isa.add(self.mul_lazy(low, self.powers[0]), high)
    }

    /// `x w mod q`, canonical, for any word x.
    #[inline(always)]
    fn mul_by(self, x: L::V, w: Factor64<L::V>) -> L::V {
        self.correct(self.mul_lazy(x, w))
    }
}

#[inline(always)]
fn splat_factor<L: Lanes64>(isa: L, (w, companion): (u64, u64)) -> Factor64<L::V> {
    lanes_factor(isa, isa.splat(w), isa.splat(companion))
}

#[inline(always)]
fn lanes_factor<L: Lanes64>(isa: L, w: L::V, companion: L::V) -> Factor64<L::V> {
    Factor64 {
        w,
        companion,
        companion_high: isa.high32(companion),
    }
}

impl<L: Lanes64> Transform for Shoup64<L> {
    type S = InPlace<u64, L>;
    type F = Factor64<L::V>;

    #[inline(always)]
    fn isa(self) -> L {
        self.isa
    }

    fn form(modulus: &Modulus, w: u64) -> (u64, u64) {
        form(modulus, w)
    }

    #[inline(always)]
    fn broadcast(self, factor: (u64, u64)) -> Self::F {
        splat_factor(self.isa, factor)
    }

    #[inline(always)]
    fn repeat<const S: u32>(self, [w, companion]: [&[u64]; 2], group: usize) -> Self::F {
        let w = self.isa.repeat::<S>(w, group);
        lanes_factor(self.isa, w, self.isa.repeat::<S>(companion, group))
    }

    #[inline(always)]
    fn accepts(self, or: L::V) -> bool {
        !self.isa.any_bit(or, self.above)
    }

    #[inline(always)]
    fn enter(self, x: L::V) -> L::V {
        self.mul_lazy(x, self.powers[0])
    }

    #[inline(always)]
    fn enter_add(self, x: L::V, c: L::V) -> L::V {
        self.isa.add(x, c)
    }

    #[inline(always)]
    fn forward(self, x: L::V, y: L::V, w: Self::F) -> (L::V, L::V) {
        let isa = self.isa;
        let x = isa.sub_if_ge(x, self.multiples[1]);
        let product = self.mul_lazy(y, w);
        (
            isa.add(x, product),
            isa.add(x, isa.sub(self.multiples[1], product)),
        )
    }

    #[inline(always)]
    fn leave(self, x: L::V) -> L::V {
        self.correct(self.isa.sub_if_ge(x, self.multiples[1]))
    }

    #[inline(always)]
    fn leave_sub_mul(self, x: L::V, minuend: L::V, c: Self::F) -> L::V {
        let isa = self.isa;
        let x = isa.sub_if_ge(x, self.multiples[1]);
        self.mul_by(isa.add(minuend, isa.sub(self.multiples[1], x)), c)
    }

    #[inline(always)]
    fn inverse(self, x: L::V, y: L::V, w: Self::F, _place: Place) -> (L::V, L::V) {
        let isa = self.isa;
        let sum = isa.sub_if_ge(isa.add(x, y), self.multiples[1]);
        let difference = isa.add(y, isa.sub(self.multiples[1], x));
        (sum, self.mul_lazy(difference, w))
    }

    #[inline(always)]
    fn finish(self, x: L::V, y: L::V, w: [Self::F; 2]) -> (L::V, L::V) {
        let isa = self.isa;
        let difference = isa.add(y, isa.sub(self.multiples[1], x));
        (
            self.mul_by(isa.add(x, y), w[0]),
            self.mul_by(difference, w[1]),
        )
    }
    #[inline(always)]
    fn finish_add(self, x: L::V, c: L::V) -> L::V {
        self.isa.sub_if_ge(self.isa.add(x, c), self.q)
    }
}

/// Sums of digits of base 2^32, least first.
#[derive(Clone, Copy)]
pub struct Sum64<V>([V; 4]);

impl<L: Lanes64> Pointwise for Shoup64<L> {
    type W = u64;
    type L = L;
    type F = Factor64<L::V>;
    type Sum = Sum64<L::V>;
    type Constant = L::V;

    const PRODUCTS: bool = L::PRODUCTS;
    const TERMS_MAX: usize = 1 << 30;
    const ANY_TERM: bool = true;
    const SUMS: usize = if L::LOG_LANES == 3 { 4 } else { 2 };

    #[inline(always)]
    fn isa(self) -> L {
        self.isa
    }

    #[inline(always)]
    fn factor(self, modulus: &Modulus, c: u64) -> Self::F {
        splat_factor(self.isa, form(modulus, c))
    }

    #[inline(always)]
    fn add(self, a: L::V, b: L::V) -> L::V {
        self.isa.sub_if_ge(self.isa.add(a, b), self.q)
    }

    #[inline(always)]
    fn sub(self, a: L::V, b: L::V) -> L::V {
        self.isa.sub_mod(a, b, self.q)
    }

    #[inline(always)]
    fn mul_factor(self, a: L::V, c: Self::F) -> L::V {
        self.mul_by(a, c)
    }

    #[inline(always)]
    fn mul(self, a: L::V, b: L::V) -> L::V {
        let isa = self.isa;
        let (a_high, b_high) = (isa.high32(a), isa.high32(b));
        let (low, top) = (isa.mul_low32(a, b), isa.mul_low32(a_high, b_high));
        let (left, right) = (isa.mul_low32(a_high, b), isa.mul_low32(a, b_high));
        let middle = isa.add(isa.high32(low), isa.add(isa.low32(left), isa.low32(right)));
        let carried = isa.add(isa.high32(left), isa.high32(right));
        let high = isa.add(isa.add(top, isa.high32(middle)), carried);
        let low = isa.add(isa.low32(low), isa.up32(middle));
        Transform::leave(self, self.reduce_lazy(low, high))
    }

    #[inline(always)]
    fn empty(self) -> Self::Sum {
        Sum64([self.isa.zero(); 4])
    }

    #[inline(always)]
    fn accumulate(self, Sum64([s0, s1, s2, s3]): Self::Sum, a: L::V, b: L::V) -> Self::Sum {
        let isa = self.isa;
        let (a_high, b_high) = (isa.high32(a), isa.high32(b));
        let (low, top) = (isa.mul_low32(a, b), isa.mul_low32(a_high, b_high));
        let (left, right) = (isa.mul_low32(a_high, b), isa.mul_low32(a, b_high));
        let middle_low = isa.add(isa.low32(left), isa.low32(right));
        let middle_high = isa.add(isa.high32(left), isa.high32(right));
        Sum64([
            isa.add(s0, isa.low32(low)),
            isa.add(s1, isa.add(isa.high32(low), middle_low)),
            isa.add(s2, isa.add(isa.low32(top), middle_high)),
            isa.add(s3, isa.high32(top)),
        ])
    }

    #[inline(always)]
    fn finish_products(self, Sum64([s0, s1, s2, s3]): Self::Sum) -> L::V {
        let isa = self.isa;
        let s1 = isa.add(s1, isa.high32(s0));
        let s2 = isa.add(s2, isa.high32(s1));
        let s3 = isa.add(s3, isa.high32(s2));
        let low = isa.add(isa.low32(s0), isa.up32(s1));
        let high = isa.add(isa.low32(s2), isa.up32(s3));
        let rest = isa.sub_if_ge(self.reduce_lazy(low, high), self.multiples[1]);
        let top = self.mul_lazy(isa.high32(s3), self.powers[2]);
        Transform::leave(self, isa.add(rest, top))
    }

    fn prepare(modulus: &Modulus, c: u64) -> u64 {
        modulus.reduce(c)
    }

    #[inline(always)]
    fn constant(self, c: u64) -> L::V {
        self.isa.splat(c)
    }

    #[inline(always)]
    fn accumulate_constant(self, sum: Self::Sum, a: L::V, c: L::V) -> Self::Sum {
        self.accumulate(sum, a, c)
    }

    #[inline(always)]
    fn finish_constants(self, sum: Self::Sum) -> L::V {
        self.finish_products(sum)
    }
}
