//! Transforms modulo any prime below 2^32 in 32-bit limbs, with 52-bit
//! multiply-add.
//!
//! Between passes a value has a lane of 64 bits. The room above the prime makes
//! all reductions within the transform unnecessary, so that this is faster than
//! twice as many lanes of half the width.
//!
//! # Multiplication by a factor
//! As in [`super::ifma52`]: for `x < 2^52` the rest `r = x w - T q` is below
//! `(1 + x / 2^52) q`, and computed modulo 2^52. Values are kept modulo 2^52:
//! what is in the upper 12 bits does not matter.
//!
//! # Ranges
//! Forward: a word is below 2^32, and a canonical constant may be added. In each
//! of at most 17 stages `x + r` and `x - r + 2q` exceed x by less than 2q, so
//! that values stay below `2^32 (2 + 2 * 17) < 2^38`. They leave by one more
//! estimate, with `floor(2^52 / q)` for w' (w = 1): the rest is below
//! `(1 + 2^-14) q`. A canonical minuend less x, plus a multiple of q between
//! 2^38 and `2^38 + q`, is in `(0, 2^39)`.
//!
//! Inverse: values after s stages are below `2^max(s, 1) q`, as sums double and
//! r is below 2q. `K = 2^17 q < 2^49` is not less than any value that is
//! subtracted. In a pass values carry multiples of K, known for each place, so
//! that x carries -K and y carries some multiple from 0 to 3K: their difference
//! is in `(0, 4K + K)`, and `5K < 2^52`.
//!
//! A product carries what the sum in it starts from, for nothing. So the results
//! of a group carry D K, with D = -1 if it is the left one in the next stage, else
//! one more than what the next stage's group carries, as then the sum of both
//! carries just that. D = 0 at the end of a pass, so D is at most the number of
//! stages that follow, 3. Only in the first stage of a pass y carries nothing, and
//! sums that should not carry -K get (D + 1) K. The last stage of all finds -K and K.

use crate::arch::vector::ifma52::{Factor52, form, mul_wrapped, repeat_factors, splat_factor};
use crate::arch::vector::lanes::{Ifma, Widening};
use crate::arch::vector::storage::Widened;
use crate::arch::vector::transform::{Place, Transform};
use crate::modulus::Modulus;

/// Transforms modulo a prime below 2^32.
#[derive(Clone, Copy)]
pub struct Wide32<L: Ifma + Widening> {
    isa: L,
    q: L::V,
    two_q: L::V,
    /// `2^52 - q`
    minus_q: L::V,
    /// `2^52 - 1`
    mask: L::V,
    two: L::V,
    /// `floor(2^52 / q)`
    per_2_52: L::V,
    /// The least multiple of q from 2^38 on.
    multiple: L::V,
    /// K, 2K, 3K, 4K and -K, `K = 2^17 q`
    biases: [L::V; 4],
    minus_bias: L::V,
}

impl<L: Ifma + Widening> Wide32<L> {
    /// The prime's constants in registers.
    pub fn new(isa: L, modulus: &Modulus) -> Self {
        let q = modulus.value();
        Self {
            isa,
            q: isa.splat(q),
            two_q: isa.splat(2 * q),
            minus_q: isa.splat((1 << 52) - q),
            mask: isa.splat((1 << 52) - 1),
            two: isa.splat(2),
            per_2_52: isa.splat((1 << 52) / q),
            multiple: isa.splat((1u64 << 38).div_ceil(q) * q),
            biases: [1, 2, 3, 4].map(|k| isa.splat(k * (q << 17))),
            minus_bias: isa.splat((q << 17).wrapping_neg()),
        }
    }

    /// `acc + x w mod q`, right modulo 2^52, for x below 2^52.
    #[inline(always)]
    fn mul_wrapped(self, acc: L::V, x: L::V, w: Factor52<L::V>) -> L::V {
        mul_wrapped(self.isa, self.minus_q, acc, x, w)
    }

    /// From `[0, 2q)` modulo 2^52 to `[0, q)`.
    #[inline(always)]
    fn correct(self, x: L::V) -> L::V {
        self.isa.sub_if_ge(self.isa.and(x, self.mask), self.q)
    }

    /// `x w mod q`, canonical, for x below 2^52.
    #[inline(always)]
    fn mul_by(self, x: L::V, w: Factor52<L::V>) -> L::V {
        self.correct(self.mul_wrapped(self.isa.zero(), x, w))
    }
}

/// The multiple of K that the results of a group carry.
#[inline(always)]
fn carried(place: Place) -> i32 {
    // Groups whose last bits are 1 follow each other until one is a left partner.
    let right = place.group.trailing_ones();
    if right == place.stage {
        right as i32
    } else {
        right as i32 - 1
    }
}

impl<L: Ifma + Widening> Transform for Wide32<L> {
    type S = Widened<L>;
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
    fn accepts(self, _or: L::V) -> bool {
        true
    }

    #[inline(always)]
    fn enter(self, x: L::V) -> L::V {
        x
    }

    #[inline(always)]
    fn enter_add(self, x: L::V, c: L::V) -> L::V {
        self.isa.add(x, c)
    }

    #[inline(always)]
    fn forward(self, x: L::V, y: L::V, w: Self::F) -> (L::V, L::V) {
        let isa = self.isa;
        let sum = self.mul_wrapped(x, y, w);
        let twice = isa.madd_low(self.two_q, x, self.two);
        (sum, isa.sub(twice, sum))
    }

    #[inline(always)]
    fn leave(self, x: L::V) -> L::V {
        let isa = self.isa;
        let quotient = isa.madd_high(isa.zero(), x, self.per_2_52);
        self.correct(isa.madd_low(x, quotient, self.minus_q))
    }

    #[inline(always)]
    fn leave_sub_mul(self, x: L::V, minuend: L::V, c: Self::F) -> L::V {
        let isa = self.isa;
        self.mul_by(isa.sub(isa.add(minuend, self.multiple), x), c)
    }

    #[inline(always)]
    fn to_left(self, x: L::V) -> L::V {
        self.isa.add(x, self.minus_bias)
    }

    #[inline(always)]
    fn inverse(self, x: L::V, y: L::V, w: Self::F, place: Place) -> (L::V, L::V) {
        let isa = self.isa;
        let carried = carried(place);
        let (sum, difference) = (isa.add(x, y), isa.sub(y, x));
        let sum = match usize::try_from(carried) {
            Ok(carried) if place.first => isa.add(sum, self.biases[carried]),
            _ => sum,
        };
        let start = match carried {
            -1 => self.minus_bias,
            0 => isa.zero(),
            more => self.biases[more as usize - 1],
        };
        (sum, self.mul_wrapped(start, difference, w))
    }

    #[inline(always)]
    fn inverse_plain(self, x: L::V, y: L::V, w: Self::F) -> (L::V, L::V) {
        let isa = self.isa;
        let difference = isa.sub(isa.add(y, self.biases[0]), x);
        (isa.add(x, y), self.mul_wrapped(isa.zero(), difference, w))
    }

    #[inline(always)]
    fn finish(self, x: L::V, y: L::V, w: [Self::F; 2]) -> (L::V, L::V) {
        let isa = self.isa;
        // What both carry adds up to nothing.
        (
            self.mul_by(isa.add(x, y), w[0]),
            self.mul_by(isa.sub(y, x), w[1]),
        )
    }

    #[inline(always)]
    fn finish_add(self, x: L::V, c: L::V) -> L::V {
        self.isa.sub_if_ge(self.isa.add(x, c), self.q)
    }
}
