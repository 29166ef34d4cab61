//! Products and their sums modulo primes between 2^50 and 2^61, with 52-bit
//! multiply-add. Transforms and products by a factor are those of
//! [`super::shoup64`].
//!
//! # Sums of products
//! A word is `x0 + x1 2^52`, `x1 < 2^12`. The product of two has four parts,
//! `x0 y0` at 2^0, `x0 y1` and `x1 y0` at 2^52 and `x1 y1` at 2^104; halves of 52
//! bits of each are added to the digit of base 2^52 that they belong to. A
//! product adds less than 2^52 to the lowest digit, less than `3 2^52` to the
//! middle one and less than 2^25 to the highest, so k <= 2^9 products leave all
//! below 2^63. The total T is below `k 2^128`.
//!
//! Two steps of Montgomery's reduction divide T by 2^104, with `n = -q^-1 mod 2^52`
//! and `q = q0 + q1 2^52`. A step takes `t = d n mod 2^52` for the lowest digit d
//! and adds `t q`: `d + lo(t q0)` is a multiple of 2^52 and carries into the next
//! digit, as do `hi(t q0) + lo(t q1)`; `hi(t q1)` belongs to the one after that.
//! What is left is a single word, `r = (T + (t + t' 2^52) q) / 2^104`, so
//! `r < k 2^24 + q < 2^33 + q < 2q` and below 2^62: one subtraction makes it
//! canonical. The factor 2^104 is restored by a constant that takes it along.
//!
//! # Products of two vectors, and their sums
//! In a single product one operand is multiplied by 2^104 beforehand, lazily,
//! which leaves any word as one. A sum is multiplied afterwards.
//!
//! # References
//! Montgomery, "Modular multiplication without trial division", Math. Comp. 44
//! (1985).

use crate::arch::vector::ifma52::{Ifma52, inverse_mod_2_52};
use crate::arch::vector::lanes::{Ifma, Lanes64};
use crate::arch::vector::pointwise::Pointwise;
use crate::arch::vector::shoup64::{Factor64, Shoup64};
use crate::modulus::Modulus;

/// Arithmetic modulo a prime in `ABOVE..BELOW`.
#[derive(Clone, Copy)]
pub struct Ifma61<L: Ifma + Lanes64> {
    isa: L,
    shoup: Shoup64<L>,
    q: L::V,
    /// `floor(q / 2^52)`
    q_high: L::V,
    /// `-q^-1 mod 2^52`
    minus_inverse: L::V,
    /// 2^104 as a factor.
    restoring: Factor64<L::V>,
}

impl<L: Ifma + Lanes64> Ifma61<L> {
    /// Primes are above this.
    pub const ABOVE: u64 = 1 << 50;
    /// Primes are below this.
    pub const BELOW: u64 = 1 << 61;

    /// The prime's constants in registers.
    pub fn new(isa: L, modulus: &Modulus) -> Self {
        let q = modulus.value();
        let shoup = Shoup64::new(isa, modulus);
        Self {
            isa,
            shoup,
            q: isa.splat(q),
            q_high: isa.splat(q >> 52),
            minus_inverse: isa.splat((1 << 52) - inverse_mod_2_52(q)),
            restoring: shoup.factor(modulus, modulus.reduce_wide(1 << 104)),
        }
    }

    #[inline(always)]
    fn add_product(
        self,
        sum: Sum61<L::V>,
        [a, a_high]: [L::V; 2],
        [b, b_high]: [L::V; 2],
    ) -> Sum61<L::V> {
        let isa = self.isa;
        let middle = isa.madd_high(sum.middle, a, b);
        let middle = isa.madd_low(middle, a, b_high);
        let high = isa.madd_high(sum.high, a, b_high);
        let high = isa.madd_high(high, a_high, b);
        Sum61 {
            low: isa.madd_low(sum.low, a, b),
            middle: isa.madd_low(middle, a_high, b),
            high: isa.madd_low(high, a_high, b_high),
        }
    }

    /// A word and what is above its lower 52 bits.
    #[inline(always)]
    fn parts(self, x: L::V) -> [L::V; 2] {
        [x, self.isa.shift_right::<52>(x)]
    }

    /// The sum over 2^104, in `[0, 2q)`.
    #[inline(always)]
    fn divide_lazy(self, Sum61 { low, middle, high }: Sum61<L::V>) -> L::V {
        let isa = self.isa;
        let zero = isa.zero();
        let t = isa.madd_low(zero, low, self.minus_inverse);
        let carry = isa.shift_right::<52>(isa.madd_low(low, t, self.q));
        let middle = isa.madd_low(isa.madd_high(middle, t, self.q), t, self.q_high);
        let middle = isa.add(middle, carry);
        let high = isa.madd_high(high, t, self.q_high);
        let t = isa.madd_low(zero, middle, self.minus_inverse);
        let carry = isa.shift_right::<52>(isa.madd_low(middle, t, self.q));
        let high = isa.madd_low(isa.madd_high(high, t, self.q), t, self.q_high);
        let top = isa.shift_left::<52>(isa.madd_high(zero, t, self.q_high));
        isa.add(isa.add(high, carry), top)
    }
}

/// Sums of digits of base 2^52.
#[derive(Clone, Copy)]
pub struct Sum61<V> {
    low: V,
    middle: V,
    high: V,
}

impl<L: Ifma + Lanes64> Pointwise for Ifma61<L> {
    type W = u64;
    type L = L;
    type F = Factor64<L::V>;
    type Sum = Sum61<L::V>;
    type Constant = [L::V; 2];

    const TERMS_MAX: usize = 1 << 9;
    const ANY_TERM: bool = true;
    const SUMS: usize = 8;

    #[inline(always)]
    fn isa(self) -> L {
        self.isa
    }

    #[inline(always)]
    fn factor(self, modulus: &Modulus, c: u64) -> Self::F {
        self.shoup.factor(modulus, c)
    }

    #[inline(always)]
    fn add(self, a: L::V, b: L::V) -> L::V {
        self.shoup.add(a, b)
    }

    #[inline(always)]
    fn sub(self, a: L::V, b: L::V) -> L::V {
        self.shoup.sub(a, b)
    }

    #[inline(always)]
    fn mul_factor(self, a: L::V, c: Self::F) -> L::V {
        self.shoup.mul_factor(a, c)
    }

    #[inline(always)]
    fn mul(self, a: L::V, b: L::V) -> L::V {
        let b = self.shoup.mul_lazy(b, self.restoring);
        self.finish_constants(self.accumulate(self.empty(), a, b))
    }

    #[inline(always)]
    fn empty(self) -> Self::Sum {
        let zero = self.isa.zero();
        Sum61 {
            low: zero,
            middle: zero,
            high: zero,
        }
    }

    #[inline(always)]
    fn accumulate(self, sum: Self::Sum, a: L::V, b: L::V) -> Self::Sum {
        self.add_product(sum, self.parts(a), self.parts(b))
    }

    #[inline(always)]
    fn finish_products(self, sum: Self::Sum) -> L::V {
        self.shoup.mul_factor(self.divide_lazy(sum), self.restoring)
    }

    fn prepare(modulus: &Modulus, c: u64) -> u64 {
        Ifma52::<L>::prepare(modulus, c)
    }

    #[inline(always)]
    fn constant(self, c: u64) -> Self::Constant {
        self.parts(self.isa.splat(c))
    }

    #[inline(always)]
    fn accumulate_constant(self, sum: Self::Sum, a: L::V, c: Self::Constant) -> Self::Sum {
        self.add_product(sum, self.parts(a), c)
    }

    #[inline(always)]
    fn finish_constants(self, sum: Self::Sum) -> L::V {
        self.isa.sub_if_ge(self.divide_lazy(sum), self.q)
    }
}
