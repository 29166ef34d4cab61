//! Any odd prime below 2^32 in 32-bit words.
//!
//! # Multiplication by a factor
//! A factor w is kept as `w1 = w 2^32 mod q` and `w2 = w1 q^-1 mod 2^32`
//! (Montgomery's form, with the quotient's constant multiplied in). For any
//! 32-bit x let `t = x w2 mod 2^32`. Then `t q = x w1 mod 2^32`, so the lower
//! halves of `x w1` and `t q` agree and
//! `(x w1 - t q) / 2^32 = hi(x w1) - hi(t q)`, which is `x w mod q`. Both upper
//! halves are below q (as `x < 2^32, w1 < q` and `t < 2^32`), so the
//! difference is in `(-q, q)`; q is added where it borrows.
//!
//! # Ranges
//! Transforms, forward: values are any words. The product p is canonical;
//! where `x + p` carries, q is subtracted (`2^32 <= x + p < 2^32 + q`), where
//! `x - p` borrows, q is added (`-q < x - p < 0`): words again. Inverse:
//! canonical values.
//!
//! # Product of two vectors
//! For any 32-bit a and b, `z = hi(ab) - hi(t q)` with `t = ab q^-1 mod 2^32`
//! is `ab 2^-32 mod q` and, after adding q where it borrows, in `[0, 2^32)`:
//! a word that the factor 2^32 takes to `ab mod q`.
//!
//! # Sums of products
//! The halves of the 64-bit products are summed apart. With the sums H of upper
//! and L of lower halves (L's carry added to H) the total is `H 2^32 + L`, and
//! `H < k 2^32` for k products. Two steps of Montgomery's reduction divide it by
//! 2^64: with `t = L q^-1 mod 2^32`, `H' = H - hi(t q)` in `(-q, k 2^32)`; with
//! `t' = H' q^-1 mod 2^32`, `r = floor(H' / 2^32) - hi(t' q)` in `[-q, k)`.
//! `r mod 2^32` plus q carries exactly where r is negative, because
//! `k + q <= 2^32`: `q <= 2^32 - 255` (q = 1 mod 2N, N >= 128) and `k <= 128`.
//! And `k <= q`, so the result is canonical. The factor 2^64 is restored by a
//! multiplication or, where one operand is a constant, by that constant.
//!
//! # References
//! Montgomery, "Modular multiplication without trial division", Math. Comp. 44
//! (1985); Seiler, "Faster AVX2 optimized NTT multiplication for Ring-LWE
//! lattice cryptography", ePrint 2018/039.

use crate::arch::vector::lanes::{HalfSums, Lanes32};
use crate::arch::vector::pointwise::Pointwise;
use crate::arch::vector::storage::InPlace;
use crate::arch::vector::transform::{Place, Transform};
use crate::modulus::Modulus;

/// A vector of factors: both words for the even lanes and for the odd lanes.
#[derive(Clone, Copy)]
pub struct Factor32<V> {
    even: [V; 2],
    odd: [V; 2],
}

/// Arithmetic modulo a prime below 2^32.
#[derive(Clone, Copy)]
pub struct Full32<L: Lanes32> {
    isa: L,
    q: L::V,
    /// `q^-1 mod 2^32`
    q_inverse: L::V,
    /// 1, 2^32 and 2^64 as factors.
    powers: [Factor32<L::V>; 3],
    /// `q > 2^31`: a word is below 2q.
    near_top: bool,
}

/// `q^-1 mod 2^32` for odd q, by Newton's iteration: each step doubles the
/// correct bits, and q itself is right to 3.
fn inverse_mod_word(q: u32) -> u32 {
    (0..4).fold(q, |x, _| {
        x.wrapping_mul(2u32.wrapping_sub(q.wrapping_mul(x)))
    })
}

/// The two words of a factor.
pub fn form(modulus: &Modulus, w: u64) -> (u32, u32) {
    let q = modulus.value() as u32;
    let shifted = modulus.reduce_wide(u128::from(w) << 32) as u32;
    (shifted, shifted.wrapping_mul(inverse_mod_word(q)))
}

impl<L: Lanes32> Full32<L> {
    /// The prime's constants in registers.
    pub fn new(isa: L, modulus: &Modulus) -> Self {
        let q = modulus.value() as u32;
        let factor = |w| splat_factor(isa, form(modulus, w));
        Self {
            isa,
            q: isa.splat(q),
            q_inverse: isa.splat(inverse_mod_word(q)),
            powers: [
                factor(modulus.reduce(1)),
                factor(modulus.reduce(1 << 32)),
                factor(modulus.reduce_wide(1 << 64)),
            ],
            near_top: q > 1 << 31,
        }
    }

    /// `hi(x w1)` and `hi(t q)`: their difference is `x w mod q`.
    #[inline(always)]
    fn mul_halves(self, x: L::V, w: Factor32<L::V>) -> (L::V, L::V) {
        let isa = self.isa;
        let x_odd = isa.high32(x);
        let (even, odd) = (isa.mul_low32(x, w.even[0]), isa.mul_low32(x_odd, w.odd[0]));
        let t_even = isa.mul_low32_low(x, w.even[1]);
        let t_odd = isa.mul_low32_low(x_odd, w.odd[1]);
        self.halves(even, odd, t_even, t_odd)
    }

    /// The upper halves of the products given and of t q.
    #[inline(always)]
    fn halves(self, even: L::V, odd: L::V, t_even: L::V, t_odd: L::V) -> (L::V, L::V) {
        let isa = self.isa;
        (
            isa.upper(even, odd),
            isa.upper(isa.mul_low32(t_even, self.q), isa.mul_low32(t_odd, self.q)),
        )
    }

    /// `a + b mod q` as `a - (q - b)`: `a + b` may not fit a word.
    #[inline(always)]
    fn add_mod(self, a: L::V, b: L::V) -> L::V {
        self.isa.sub_mod(a, self.isa.sub(self.q, b), self.q)
    }

    /// `x w mod q`, for any word x.
    #[inline(always)]
    fn mul_by(self, x: L::V, w: Factor32<L::V>) -> L::V {
        let (high, quotient) = self.mul_halves(x, w);
        self.isa.sub_mod(high, quotient, self.q)
    }

    /// `r` of the module's documentation in the upper half of each pair.
    #[inline(always)]
    fn divide_by_2_64(self, upper: L::V, lower: L::V) -> L::V {
        let isa = self.isa;
        let lower = if L::LOWER_SHIFT == 20 {
            isa.shift_right::<20>(lower)
        } else {
            lower
        };
        let t = isa.mul_low32_low(lower, self.q_inverse);
        let carried = isa.add64(upper, isa.high32(lower));
        let rest = isa.sub64(carried, isa.high32(isa.mul_low32(t, self.q)));
        let t = isa.mul_low32_low(rest, self.q_inverse);
        isa.sub64(rest, isa.mul_low32(t, self.q))
    }

    /// `x mod q`, for any word x.
    #[inline(always)]
    fn reduce(self, x: L::V) -> L::V {
        if self.near_top {
            self.isa.sub_if_ge(x, self.q)
        } else {
            self.mul_by(x, self.powers[0])
        }
    }
}

#[inline(always)]
fn splat_factor<L: Lanes32>(isa: L, (w1, w2): (u32, u32)) -> Factor32<L::V> {
    let words = [isa.splat(w1), isa.splat(w2)];
    Factor32 {
        even: words,
        odd: words,
    }
}

impl<L: Lanes32> Transform for Full32<L> {
    type S = InPlace<u32, L>;
    type F = Factor32<L::V>;

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
    fn repeat<const S: u32>(self, [w1, w2]: [&[u32]; 2], group: usize) -> Self::F {
        let isa = self.isa;
        let even = [isa.repeat::<S>(w1, group), isa.repeat::<S>(w2, group)];
        Factor32 {
            even,
            odd: even.map(|w| isa.high32(w)),
        }
    }

    #[inline(always)]
    fn accepts(self, _or: L::V) -> bool {
        true
    }

    #[inline(always)]
    fn enter(self, x: L::V) -> L::V {
        x
    }

    #[inline(always)]
    fn enter_add(self, x: L::V, c: L::V) -> L::V {
        self.isa.add_carry_mod(x, c, self.q)
    }

    #[inline(always)]
    fn forward(self, x: L::V, y: L::V, w: Self::F) -> (L::V, L::V) {
        let product = self.mul_by(y, w);
        (
            self.isa.add_carry_mod(x, product, self.q),
            self.isa.sub_mod(x, product, self.q),
        )
    }

    #[inline(always)]
    fn leave(self, x: L::V) -> L::V {
        self.reduce(x)
    }

    #[inline(always)]
    fn leave_sub_mul(self, x: L::V, minuend: L::V, c: Self::F) -> L::V {
        let difference = self.isa.sub_mod(minuend, self.reduce(x), self.q);
        self.mul_by(difference, c)
    }

    #[inline(always)]
    fn inverse(self, x: L::V, y: L::V, w: Self::F, _place: Place) -> (L::V, L::V) {
        let difference = self.isa.sub_mod(y, x, self.q);
        (self.add_mod(x, y), self.mul_by(difference, w))
    }

    #[inline(always)]
    fn finish(self, x: L::V, y: L::V, w: [Self::F; 2]) -> (L::V, L::V) {
        let (sum, difference) = (self.add_mod(x, y), self.isa.sub_mod(y, x, self.q));
        (self.mul_by(sum, w[0]), self.mul_by(difference, w[1]))
    }
    #[inline(always)]
    fn finish_add(self, x: L::V, c: L::V) -> L::V {
        self.add_mod(x, c)
    }
}

impl<L: Lanes32> Pointwise for Full32<L> {
    type W = u32;
    type L = L;
    type F = Factor32<L::V>;
    type Sum = HalfSums<L::V>;
    type Constant = L::V;

    const TERMS_MAX: usize = 128;
    const ANY_TERM: bool = true;
    const SUMS: usize = if L::LOG_LANES == 4 { 4 } else { 2 };

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
        self.add_mod(a, b)
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
        let even = isa.mul_low32(a, b);
        let odd = isa.mul_low32(isa.high32(a), isa.high32(b));
        let t_even = isa.mul_low32_low(even, self.q_inverse);
        let t_odd = isa.mul_low32_low(odd, self.q_inverse);
        let (high, quotient) = self.halves(even, odd, t_even, t_odd);
        let z = isa.sub_mod(high, quotient, self.q);
        self.mul_by(z, self.powers[1])
    }

    #[inline(always)]
    fn empty(self) -> Self::Sum {
        let zero = self.isa.zero();
        HalfSums {
            upper: [zero; 2],
            lower: [zero; 2],
        }
    }

    #[inline(always)]
    fn accumulate(self, sum: Self::Sum, a: L::V, b: L::V) -> Self::Sum {
        self.isa.accumulate(sum, a, b)
    }

    #[inline(always)]
    fn finish_products(self, sum: Self::Sum) -> L::V {
        self.mul_by(self.finish_constants(sum), self.powers[2])
    }

    fn prepare(modulus: &Modulus, c: u64) -> u64 {
        modulus.reduce_wide(u128::from(modulus.reduce(c)) << 64) << L::LOWER_SHIFT
    }

    #[inline(always)]
    fn constant(self, c: u64) -> L::V {
        self.isa.splat64(c)
    }

    #[inline(always)]
    fn accumulate_constant(self, sum: Self::Sum, a: L::V, c: L::V) -> Self::Sum {
        self.isa.accumulate_constant(sum, a, c)
    }

    #[inline(always)]
    fn finish_constants(self, sum: Self::Sum) -> L::V {
        let isa = self.isa;
        let even = self.divide_by_2_64(sum.upper[0], sum.lower[0]);
        let odd = self.divide_by_2_64(sum.upper[1], sum.lower[1]);
        let r = isa.upper(even, odd);
        isa.sub_if_ge(isa.add(r, self.q), self.q)
    }
}
