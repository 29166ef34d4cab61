//! Primes between 2^13 and 2^50 in 64-bit words, with 52-bit multiply-add.
//!
//! # Multiplication by a factor
//! A factor w has the companion `w' = floor(w 2^52 / q)`. For `x < 2^52` the
//! estimate `T = floor(x w' / 2^52)` is too small by less than
//! `1 + x / 2^52 < 2`, so `r = x w - T q` is in `[0, 2q)`, and below 2^51. It is
//! computed modulo 2^52, as the lower 52 bits of `x w` plus those of
//! `T (2^52 - q)`.
//!
//! # Ranges
//! Values of transforms are kept modulo 2^52: what is in the upper 12 bits does
//! not matter, as neither a product nor bit 51 depends on it.
//!
//! Forward: values in `[0, 2^52)`. Where x has bit 51, 2q is subtracted; as
//! `2q < 2^51`, x is then below `2^52 - 2q`, so `x + r` and
//! `x - r + 2q = (2x + 2q) - (x + r)` are in `[0, 2^52)` again. Words enter
//! below 2^51, or reduced below 3q, so that a canonical constant may be added.
//! They leave by one more estimate: with `floor(2^52 / q)` for w' (w = 1, and
//! 2^52 is no multiple of q) the rest is in `[0, 2q)`. The greatest multiple of
//! q up to `2^52 - q` is above `2^52 - 2q`: with it, a canonical minuend less x
//! (below `2^52 - 2q` as before) is in `(0, 2^52)`.
//!
//! Inverse: values in `[0, 2q)`, but those that will be subtracted in the next
//! stage in `[-2q, 0)`, which costs nothing: then y - x is in `(0, 4q)`, and
//! x + y in `[-2q, 2q)` is negative exactly where it has bit 51. There 2q is
//! added, or elsewhere subtracted. A product starts from 0 or from -2q.
//! Canonical x and y need no such care: x + y is in `[0, 2q)`, `y - x + q` in
//! `(0, 2q)`.
//!
//! # Any word
//! With `mu = floor(2^64 / q) < 2^52` (as `q > 2^12`) the estimate
//! `T = floor(floor(x / 2^12) mu / 2^52)` of `x / q` is too small by less than
//! 3 (`2^12 / q < 1` for the lost bits, 1 each for the two roundings), so
//! `x - T q` is in `[0, 3q)`, and below 2^52. Kernels that take any word look
//! whether a vector exceeds 52 bits, which no residue of these primes does,
//! and reduce it only then.
//!
//! # Products of two vectors
//! A product is `H 2^52 + L` with 52-bit H and L. L times 1 and H times 2^52,
//! as factors, are below 2q each, so their sum is below `4q < 2^52` and may
//! also be computed modulo 2^52.
//!
//! # Sums of products
//! H and L are summed apart in 64 bits (L's carry is added to H at the end);
//! `H < k 2^52` for k products. Two steps of Montgomery's reduction divide the
//! total by 2^104: with `t = L q^-1 mod 2^52`, `H' = H - hi(t q)` in
//! `(-q, k 2^52)`, hi the upper 52 bits; with `t' = H' q^-1 mod 2^52`,
//! `r = floor(H' / 2^52) - hi(t' q)` in `[-q, k)`; q is added where r is
//! negative. `k <= 2^10` keeps all below 2^63 and k below q. The factor 2^104
//! is restored by a multiplication or, where one operand is a constant, by
//! that constant.
//!
//! # References
//! Montgomery, "Modular multiplication without trial division", Math. Comp. 44
//! (1985).

use crate::arch::vector::lanes::Ifma;
use crate::arch::vector::pointwise::Pointwise;
use crate::arch::vector::storage::InPlace;
use crate::arch::vector::transform::{Place, Side, Transform};
use crate::modulus::Modulus;

/// A vector of factors: the factor and its companion.
#[derive(Clone, Copy)]
pub struct Factor52<V> {
    /// The factor.
    pub w: V,
    /// Its companion.
    pub companion: V,
}

/// Arithmetic modulo a prime in `ABOVE..BELOW`.
#[derive(Clone, Copy)]
pub struct Ifma52<L: Ifma> {
    isa: L,
    q: L::V,
    two_q: L::V,
    minus_two_q: L::V,
    /// `2^52 - q`
    minus_q: L::V,
    /// `2^52 - 1` and its complement
    mask: L::V,
    above: L::V,
    /// `2^51`, and all bits from there.
    half: L::V,
    from_half: L::V,
    /// The greatest multiple of q up to `2^52 - q`.
    multiple: L::V,
    two: L::V,
    /// `floor(2^52 / q)` and `floor(2^64 / q)`
    per_2_52: L::V,
    mu: L::V,
    /// `q^-1 mod 2^52`
    q_inverse: L::V,
    /// 1, 2^52 and 2^104 as factors.
    powers: [Factor52<L::V>; 3],
}

/// The two words of a factor.
pub fn form(modulus: &Modulus, w: u64) -> (u64, u64) {
    (w, modulus.companion(w, 52))
}

impl<L: Ifma> Ifma52<L> {
    /// Primes are above this.
    pub const ABOVE: u64 = 1 << 13;
    /// Primes are below this.
    pub const BELOW: u64 = 1 << 50;

    /// The prime's constants in registers.
    pub fn new(isa: L, modulus: &Modulus) -> Self {
        let q = modulus.value();
        let factor = |w| splat_factor(isa, form(modulus, w));
        Self {
            isa,
            q: isa.splat(q),
            two_q: isa.splat(2 * q),
            minus_two_q: isa.splat((2 * q).wrapping_neg()),
            minus_q: isa.splat((1 << 52) - q),
            mask: isa.splat((1 << 52) - 1),
            above: isa.splat(u64::MAX << 52),
            half: isa.splat(1 << 51),
            from_half: isa.splat(u64::MAX << 51),
            multiple: isa.splat(((1 << 52) / q - 1) * q),
            two: isa.splat(2),
            per_2_52: isa.splat((1 << 52) / q),
            mu: isa.splat(((1u128 << 64) / u128::from(q)) as u64),
            q_inverse: isa.splat(inverse_mod_2_52(q)),
            powers: [
                factor(1),
                factor(modulus.reduce(1 << 52)),
                factor(modulus.reduce_wide(1 << 104)),
            ],
        }
    }

    /// `x w mod q` in `[0, 2q)`, for x below 2^52.
    #[inline(always)]
    fn mul_lazy(self, x: L::V, w: Factor52<L::V>) -> L::V {
        self.isa
            .and(self.mul_wrapped(self.isa.zero(), x, w), self.mask)
    }

    /// `acc + x w mod q`, right modulo 2^52, for x below 2^52.
    #[inline(always)]
    fn mul_wrapped(self, acc: L::V, x: L::V, w: Factor52<L::V>) -> L::V {
        mul_wrapped(self.isa, self.minus_q, acc, x, w)
    }

    /// `x mod q` in `[0, 2q)` modulo 2^52, for x below 2^52 modulo 2^52.
    #[inline(always)]
    fn reduce_wrapped(self, x: L::V) -> L::V {
        let isa = self.isa;
        let quotient = isa.madd_high(isa.zero(), x, self.per_2_52);
        isa.madd_low(x, quotient, self.minus_q)
    }

    /// `x mod q` in `[0, 3q)`, for any word x.
    #[inline(always)]
    fn reduce_lazy(self, x: L::V) -> L::V {
        let isa = self.isa;
        let quotient = isa.madd_high(self.isa.zero(), isa.shift_right::<12>(x), self.mu);
        isa.and(isa.madd_low(x, quotient, self.minus_q), self.mask)
    }

    /// Words below 2^52 with the residues of a and b.
    #[inline(always)]
    fn narrow_both(self, a: L::V, b: L::V) -> (L::V, L::V) {
        if self.isa.any_bit(self.isa.or(a, b), self.above) {
            (self.reduce_lazy(a), self.reduce_lazy(b))
        } else {
            (a, b)
        }
    }

    /// `low + high 2^52 mod q` in `[0, 4q)`, for words below 2^52.
    #[inline(always)]
    fn fold(self, low: L::V, high: L::V) -> L::V {
        let low = self.mul_wrapped(self.isa.zero(), low, self.powers[0]);
        let both = self.mul_wrapped(low, high, self.powers[1]);
        self.isa.and(both, self.mask)
    }

    /// From `[0, 4q)` to `[0, q)`.
    #[inline(always)]
    fn correct_4q(self, x: L::V) -> L::V {
        self.correct(self.isa.sub_if_ge(x, self.two_q))
    }

    /// From `[0, 2q)` to `[0, q)`.
    #[inline(always)]
    fn correct(self, x: L::V) -> L::V {
        self.isa.sub_if_ge(x, self.q)
    }
}

/// The factor, given by its two words, in all lanes.
#[inline(always)]
pub fn splat_factor<L: Ifma>(isa: L, (w, companion): (u64, u64)) -> Factor52<L::V> {
    Factor52 {
        w: isa.splat(w),
        companion: isa.splat(companion),
    }
}

/// The 2^S factors of `group`, given by both words of all, see
/// [`Lanes::repeat`](crate::arch::vector::lanes::Lanes::repeat).
#[inline(always)]
pub fn repeat_factors<L: Ifma, const S: u32>(
    isa: L,
    [w, companion]: [&[u64]; 2],
    group: usize,
) -> Factor52<L::V> {
    Factor52 {
        w: isa.repeat::<S>(w, group),
        companion: isa.repeat::<S>(companion, group),
    }
}

/// `acc + x w mod q`, the product in `[0, 2q)`, right modulo 2^52, for x below
/// 2^52; `minus_q` is `2^52 - q`.
#[inline(always)]
pub fn mul_wrapped<L: Ifma>(isa: L, minus_q: L::V, acc: L::V, x: L::V, w: Factor52<L::V>) -> L::V {
    let quotient = isa.madd_high(isa.zero(), x, w.companion);
    isa.madd_low(isa.madd_low(acc, x, w.w), quotient, minus_q)
}

impl<L: Ifma> Transform for Ifma52<L> {
    type S = InPlace<u64, L>;
    type F = Factor52<L::V>;

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
    fn repeat<const S: u32>(self, words: [&[u64]; 2], group: usize) -> Self::F {
        repeat_factors::<L, S>(self.isa, words, group)
    }

    #[inline(always)]
    fn accepts(self, or: L::V) -> bool {
        !self.isa.any_bit(or, self.from_half)
    }

    #[inline(always)]
    fn enter(self, x: L::V) -> L::V {
        self.reduce_lazy(x)
    }

    #[inline(always)]
    fn enter_add(self, x: L::V, c: L::V) -> L::V {
        self.isa.add(x, c)
    }

    #[inline(always)]
    fn forward(self, x: L::V, y: L::V, w: Self::F) -> (L::V, L::V) {
        let isa = self.isa;
        let x = isa.sub_if_bit(x, self.half, self.two_q);
        let sum = self.mul_wrapped(x, y, w);
        // x - r + 2q as 2x + 2q less x + r: one instruction fewer.
        let twice = isa.madd_low(self.two_q, x, self.two);
        (sum, isa.sub(twice, sum))
    }

    #[inline(always)]
    fn leave(self, x: L::V) -> L::V {
        self.correct(self.isa.and(self.reduce_wrapped(x), self.mask))
    }

    #[inline(always)]
    fn leave_sub_mul(self, x: L::V, minuend: L::V, c: Self::F) -> L::V {
        let isa = self.isa;
        let x = isa.sub_if_bit(x, self.half, self.two_q);
        let difference = isa.sub(isa.add(minuend, self.multiple), x);
        self.correct(self.mul_lazy(difference, c))
    }

    #[inline(always)]
    fn to_left(self, x: L::V) -> L::V {
        self.isa.sub(x, self.two_q)
    }

    #[inline(always)]
    fn inverse(self, x: L::V, y: L::V, w: Self::F, place: Place) -> (L::V, L::V) {
        let isa = self.isa;
        let (sum, difference) = (isa.add(x, y), isa.sub(y, x));
        match place.side() {
            Side::Left => (
                isa.sub_unless_bit(sum, self.half, self.two_q),
                self.mul_wrapped(self.minus_two_q, difference, w),
            ),
            Side::Right => (
                isa.add_if_bit(sum, self.half, self.two_q),
                self.mul_wrapped(isa.zero(), difference, w),
            ),
        }
    }

    #[inline(always)]
    fn inverse_canonical(self, x: L::V, y: L::V, w: Self::F) -> (L::V, L::V) {
        let isa = self.isa;
        let difference = isa.sub(isa.add(y, self.q), x);
        (isa.add(x, y), self.mul_wrapped(isa.zero(), difference, w))
    }

    #[inline(always)]
    fn finish(self, x: L::V, y: L::V, w: [Self::F; 2]) -> (L::V, L::V) {
        let isa = self.isa;
        let sum = isa.add(isa.add(x, y), self.two_q);
        (
            self.correct(self.mul_lazy(sum, w[0])),
            self.correct(self.mul_lazy(isa.sub(y, x), w[1])),
        )
    }

    #[inline(always)]
    fn finish_add(self, x: L::V, c: L::V) -> L::V {
        self.isa.sub_if_ge(self.isa.add(x, c), self.q)
    }
}

/// Sums of the lower and of the upper 52 bits of products.
#[derive(Clone, Copy)]
pub struct Sum52<V> {
    low: V,
    high: V,
}

impl<L: Ifma> Pointwise for Ifma52<L> {
    type W = u64;
    type L = L;
    type F = Factor52<L::V>;
    type Sum = Sum52<L::V>;
    type Constant = L::V;

    const TERMS_MAX: usize = 1 << 10;
    const ANY_TERM: bool = false;
    const SUMS: usize = 8;

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
        self.correct(self.isa.add(a, b))
    }

    #[inline(always)]
    fn sub(self, a: L::V, b: L::V) -> L::V {
        self.isa.sub_mod(a, b, self.q)
    }

    #[inline(always)]
    fn mul_factor(self, a: L::V, c: Self::F) -> L::V {
        let (a, _) = self.narrow_both(a, a);
        self.correct(self.mul_lazy(a, c))
    }

    #[inline(always)]
    fn mul(self, a: L::V, b: L::V) -> L::V {
        let (a, b) = self.narrow_both(a, b);
        let low = self.isa.madd_low(self.isa.zero(), a, b);
        let high = self.isa.madd_high(self.isa.zero(), a, b);
        self.correct_4q(self.fold(low, high))
    }

    #[inline(always)]
    fn accepts(self, or: L::V) -> bool {
        !self.isa.any_bit(or, self.above)
    }

    #[inline(always)]
    fn narrow(self, x: L::V) -> L::V {
        self.reduce_lazy(x)
    }

    #[inline(always)]
    fn empty(self) -> Self::Sum {
        let zero = self.isa.zero();
        Sum52 {
            low: zero,
            high: zero,
        }
    }

    #[inline(always)]
    fn accumulate(self, sum: Self::Sum, a: L::V, b: L::V) -> Self::Sum {
        Sum52 {
            low: self.isa.madd_low(sum.low, a, b),
            high: self.isa.madd_high(sum.high, a, b),
        }
    }

    #[inline(always)]
    fn finish_products(self, sum: Self::Sum) -> L::V {
        self.correct(self.mul_lazy(self.finish_constants(sum), self.powers[2]))
    }

    fn prepare(modulus: &Modulus, c: u64) -> u64 {
        modulus.mul(modulus.reduce(c), modulus.reduce_wide(1 << 104))
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
        let isa = self.isa;
        let zero = isa.zero();
        let t = isa.madd_low(zero, sum.low, self.q_inverse);
        let carried = isa.add(sum.high, isa.shift_right::<52>(sum.low));
        let rest = isa.sub(carried, isa.madd_high(zero, t, self.q));
        let t = isa.madd_low(zero, rest, self.q_inverse);
        let floor = isa.shift_right_signed::<52>(rest);
        let r = isa.sub(floor, isa.madd_high(zero, t, self.q));
        isa.sub_if_ge(isa.add(r, self.q), self.q)
    }
}

/// `q^-1 mod 2^52` for odd q, by Newton's iteration: each step doubles the
/// correct bits, and q itself is right to 3.
pub fn inverse_mod_2_52(q: u64) -> u64 {
    let inverse = (0..5).fold(q, |x, _| {
        x.wrapping_mul(2u64.wrapping_sub(q.wrapping_mul(x)))
    });
    inverse & ((1 << 52) - 1)
}
