//! Numbers of 106 bits as unevaluated sums of two f64.
//!
//! Sums and products are those of Dekker and Knuth, without fused multiply-add,
//! so that every host gives the same bits. Magnitudes must stay below 2^996, or
//! results are not finite.
//!
//! # Errors
//!
//! A rounding to f64 errs by at most u = 2^-53 of its result, and `|lo| <= u |hi|`.
//! With |a|, |b| the magnitudes of the operands, underflow aside:
//!
//! - A sum errs by less than 6 u^2 (|a| + |b|). That of the high parts is exact;
//!   the sums of low parts are at most u (|a| + |b|) and 2u (|a| + |b|) and err by
//!   u of that. Where the terms cancel it is more of the *sum* than u^2.
//! - A product errs by less than 9 u^2 |a b|. That of the high parts is exact; the
//!   product of low parts, left out, and the errors of both cross products are u^2
//!   each, of their sum 2 u^2, of the sum with the low part 3 u^2.
//! - A quotient by an f64 errs by less than 18 u^2 of itself: the rest `a - q b`
//!   by 12 u^2 |a| and, being at most 3u |a|, rounding and dividing it by 3 u^2 each.
//! - A sine or cosine errs by less than 160 u^2. The k-th term of the series has
//!   k products and quotients behind it and errs by less than 37 k u^2 of
//!   itself, so all by less than 37 u^2 x e^x < 64 u^2; 15 sums of at most 1 add
//!   95 u^2. The terms left out are below 2^-118.

use std::f64::consts::PI;

/// The number `hi + lo`; `hi` is the f64 nearest to it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DoubleDouble {
    /// The number rounded to f64.
    pub hi: f64,
    /// What rounding left: at most half a unit in the last place of `hi`.
    pub lo: f64,
}

/// pi less the f64 nearest to it.
const PI_REST: f64 = 1.224_646_799_147_353_2e-16;

/// 2^27 + 1 splits 53 bits into 26 and 27.
const SPLITTER: f64 = 134_217_729.0;

/// `a + b` for `|a| >= |b|`.
#[inline(always)]
fn quick_two_sum(a: f64, b: f64) -> DoubleDouble {
    let hi = a + b;
    DoubleDouble {
        hi,
        lo: b - (hi - a),
    }
}

/// `a + b`, exactly.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> DoubleDouble {
    let hi = a + b;
    let b_seen = hi - a;
    DoubleDouble {
        hi,
        lo: (a - (hi - b_seen)) + (b - b_seen),
    }
}

#[inline(always)]
fn split(a: f64) -> (f64, f64) {
    let t = SPLITTER * a;
    let high = t - (t - a);
    (high, a - high)
}

/// `a b`, exactly.
#[inline(always)]
fn two_product(a: f64, b: f64) -> DoubleDouble {
    let hi = a * b;
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    DoubleDouble {
        hi,
        lo: ((ah * bh - hi) + ah * bl + al * bh) + al * bl,
    }
}

impl DoubleDouble {
    /// The sum.
    #[inline(always)]
    pub(super) fn add(self, other: Self) -> Self {
        let sum = two_sum(self.hi, other.hi);
        quick_two_sum(sum.hi, sum.lo + (self.lo + other.lo))
    }

    /// The negative.
    #[inline(always)]
    pub(super) fn neg(self) -> Self {
        Self {
            hi: -self.hi,
            lo: -self.lo,
        }
    }

    /// The difference.
    #[inline(always)]
    pub(super) fn sub(self, other: Self) -> Self {
        self.add(other.neg())
    }

    /// The product.
    #[inline(always)]
    pub(super) fn mul(self, other: Self) -> Self {
        let product = two_product(self.hi, other.hi);
        let cross = self.hi * other.lo + self.lo * other.hi;
        quick_two_sum(product.hi, product.lo + cross)
    }

    /// The product with an f64.
    #[inline(always)]
    pub(super) fn scale(self, factor: f64) -> Self {
        self.mul(factor.into())
    }

    /// The quotient by an f64.
    #[inline(always)]
    pub(super) fn div(self, divisor: f64) -> Self {
        let quotient = self.hi / divisor;
        let rest = self.sub(two_product(quotient, divisor));
        quick_two_sum(quotient, (rest.hi + rest.lo) / divisor)
    }

    /// The nearest integer, halves away from zero, as the sum of two whole numbers:
    /// the high part rounded, and what is missing.
    pub(super) fn round(self) -> (f64, f64) {
        let whole = self.hi.round();
        let rest = two_sum(self.hi - whole, self.lo);
        let low = rest.hi.round();
        if (rest.hi - low).abs() != 0.5 {
            return (whole, low);
        }
        // Half an integer, but for less than f64 shows: that decides, or else the sign.
        let outward = if rest.lo == 0.0 { self.hi } else { rest.lo };
        let low = if outward > 0.0 {
            rest.hi.ceil()
        } else {
            rest.hi.floor()
        };
        (whole, low)
    }

    /// Whether it is a number.
    pub(super) fn is_finite(self) -> bool {
        self.hi.is_finite() && self.lo.is_finite()
    }

    /// `cos` and `sin` of `pi fraction`, for fractions in `[0, 1/4]`: Taylor series.
    pub(super) fn cos_sin_pi(fraction: f64) -> (Self, Self) {
        let pi = Self {
            hi: PI,
            lo: PI_REST,
        };
        let x = pi.scale(fraction);
        let (mut cos, mut sin) = (Self::from(0.0), Self::from(0.0));
        // The terms x^k / k!, with signs + + - -.
        let mut term = Self::from(1.0);
        for k in 0..30 {
            let sum = if k % 2 == 0 { &mut cos } else { &mut sin };
            *sum = if k / 2 % 2 == 0 {
                sum.add(term)
            } else {
                sum.sub(term)
            };
            term = term.mul(x).div(f64::from(k + 1));
        }
        (cos, sin)
    }
}

impl From<f64> for DoubleDouble {
    #[inline(always)]
    fn from(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }
}

/// Exact for integers up to 2^62.
impl From<u64> for DoubleDouble {
    #[inline(always)]
    fn from(integer: u64) -> Self {
        let hi = integer as i64 as f64;
        let lo = (integer as i64 - hi as i64) as f64;
        Self { hi, lo }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: DoubleDouble, b: DoubleDouble) -> bool {
        let difference = a.sub(b);
        difference.hi.abs() < 1e-30
    }

    #[test]
    fn products_and_sums_are_exact_where_they_fit() {
        let (a, b) = ((1u64 << 52) as f64 + 1.0, (1u64 << 51) as f64 + 3.0);
        let product = DoubleDouble::from(a).mul(b.into());
        let exact = ((1i128 << 52) + 1) * ((1i128 << 51) + 3);
        assert_eq!(product.hi as i128 + product.lo as i128, exact);
        let sum = DoubleDouble::from(1e20).add(1.0.into()).sub(1e20.into());
        assert_eq!((sum.hi, sum.lo), (1.0, 0.0));
    }

    #[test]
    fn integers_and_their_quotients_are_exact() {
        for integer in [0, 1, (1 << 53) + 1, (1 << 61) - 1, 1 << 62] {
            let wide = DoubleDouble::from(integer);
            assert_eq!(wide.hi as i128 + wide.lo as i128, i128::from(integer));
            let sevenfold = wide.mul(7.0.into()).div(7.0);
            assert_eq!((sevenfold.hi, sevenfold.lo), (wide.hi, wide.lo));
        }
    }

    #[test]
    fn halves_round_away_from_zero() {
        let big = 2f64.powi(60);
        let cases = [
            ((2.5, 0.0), 3),
            ((-2.5, 0.0), -3),
            ((2.5, -1e-17), 2),
            ((-3.5, 1e-17), -3),
            ((0.49, 0.0), 0),
            ((big, -0.5), 1 << 60),
            ((-big, 0.5), -(1 << 60)),
            ((big, -1.5), (1 << 60) - 1),
            ((big, 17.5), (1 << 60) + 18),
            ((big, -0.75), (1 << 60) - 1),
            ((big, -0.25), 1 << 60),
        ];
        for ((hi, lo), expected) in cases {
            let (whole, low) = DoubleDouble { hi, lo }.round();
            assert_eq!(whole as i128 + low as i128, expected, "{hi} + {lo}");
        }
    }

    #[test]
    fn cosines_and_sines_lie_on_the_circle_and_double() {
        for k in 0..=64 {
            let fraction = f64::from(k) / 256.0;
            let (c, s) = DoubleDouble::cos_sin_pi(fraction);
            assert!(close(c.mul(c).add(s.mul(s)), 1.0.into()), "{fraction}");
            let (c2, s2) = DoubleDouble::cos_sin_pi(fraction / 2.0);
            assert!(close(s2.mul(c2).scale(2.0), s), "{fraction}");
            assert!(close(c2.mul(c2).sub(s2.mul(s2)), c), "{fraction}");
            assert!((c.hi - (PI * fraction).cos()).abs() < 1e-15);
        }
        // 2 sin^2(pi/8) + cos(pi/4) = 1.
        let (_, s) = DoubleDouble::cos_sin_pi(1.0 / 8.0);
        let half = s.mul(s).scale(2.0);
        let (c, _) = DoubleDouble::cos_sin_pi(1.0 / 4.0);
        assert!(close(half.add(c), 1.0.into()));
    }
}
