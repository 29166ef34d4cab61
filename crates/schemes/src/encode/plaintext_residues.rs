//! Residues modulo the plaintext modulus t of numbers in mixed radix.
//!
//! For t < 2^30 with vectors: a digit `d < 2^61` is `d0 + d1 2^32`, so with the
//! residue r so far and a place P, `x = r + d0 (P mod t) + d1 (2^32 P mod t)` is
//! below `2^30 + 2^62 + 2^59 < 2^63` and below `2^33 t`. The quotient is estimated
//! in f64: the reciprocal of t, x and their product are each right but for
//! 2^-53 of themselves, so the estimate is off by less than `2^33 2^-51`, and T,
//! the nearest integer, leaves `|x - T t| < (1/2 + 2^-17) t < t`: t is added where
//! that is negative. Whole numbers become floating point, and back, by their
//! place in the lowest bits of numbers around 2^52, since not every instruction
//! set converts 64-bit integers.

use cyclotron_ring::{Kernel, LimbBuf, Modulus, Simd, run_wide};

use crate::limbs::ClientWord;

/// Values that are handled together.
const CHUNK: usize = 256;

/// Moduli below this are reduced in vectors.
const SMALL: u64 = 1 << 30;

/// 2^52.
const MAGIC: f64 = 4_503_599_627_370_496.0;

/// The bits below the exponent of [`MAGIC`].
const LOW: u64 = (1 << 52) - 1;

/// `sum_i digits[i] places[i] - signs product mod t`, number by number; places
/// and the product are residues, signs 0 or 1.
pub(crate) struct Residues<'a, W: ClientWord> {
    pub digits: &'a [LimbBuf<W>],
    pub places: &'a [u64],
    pub signs: &'a [W],
    pub product: u64,
    pub modulus: Modulus,
}

impl<W: ClientWord> Residues<'_, W> {
    /// The residues, in `[0, t)`.
    pub(crate) fn compute(&self, simd: Simd) -> Vec<u64> {
        let mut values = vec![0; self.signs.len()];
        if self.modulus.value() < SMALL {
            let values = &mut values[..];
            run_wide(simd, Small { of: self, values });
        } else {
            for (at, value) in values.iter_mut().enumerate() {
                *value = self.one(at);
            }
        }
        values
    }

    /// Number `at`.
    fn one(&self, at: usize) -> u64 {
        let modulus = &self.modulus;
        let terms = self.digits.iter().zip(self.places);
        let sum = terms.fold(0, |sum, (digit, &place)| {
            modulus.add(sum, modulus.mul(digit[at].to_u64(), place))
        });
        let negative = 0u64.wrapping_sub(self.signs[at].to_u64());
        modulus.sub(sum, self.product & negative)
    }
}

/// All of them, t below [`SMALL`].
struct Small<'a, W: ClientWord> {
    of: &'a Residues<'a, W>,
    values: &'a mut [u64],
}

impl<W: ClientWord> Kernel for Small<'_, W> {
    #[inline(always)]
    fn run(self) {
        let Residues {
            digits,
            places,
            signs,
            product,
            modulus,
        } = self.of;
        let t = modulus.value();
        let reciprocal = 1.0 / t as f64;
        for (number, values) in self.values.chunks_mut(CHUNK).enumerate() {
            let at = number * CHUNK..number * CHUNK + values.len();
            for (digit, &place) in digits.iter().zip(*places) {
                let upper = modulus.mul(place, 1 << 32);
                for (value, digit) in values.iter_mut().zip(&digit[at.clone()]) {
                    let (d0, d1) = halves(digit.to_u64());
                    let x = *value + d0 * place + d1 * upper;
                    let (x0, x1) = halves(x);
                    let nearest = (whole(x1) * 4_294_967_296.0 + whole(x0)) * reciprocal + MAGIC;
                    let rest = x.wrapping_sub((nearest.to_bits() & LOW).wrapping_mul(t));
                    *value = lift(rest, t);
                }
            }
            for (value, sign) in values.iter_mut().zip(&signs[at]) {
                let negative = 0u64.wrapping_sub(sign.to_u64());
                *value = lift(value.wrapping_sub(product & negative), t);
            }
        }
    }
}

/// The lower and the upper 32 bits.
#[inline(always)]
fn halves(x: u64) -> (u64, u64) {
    (x & u64::from(u32::MAX), x >> 32)
}

/// A whole number below 2^52.
#[inline(always)]
fn whole(x: u64) -> f64 {
    f64::from_bits(MAGIC.to_bits() | x) - MAGIC
}

/// From `(-t, t)` to `[0, t)`.
#[inline(always)]
fn lift(x: u64, t: u64) -> u64 {
    x.wrapping_add(t & 0u64.wrapping_sub(x >> 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digits at the edges of their range and of rounding, all moduli that differ.
    #[test]
    fn vectors_agree_with_single_numbers() {
        let top = (1u64 << 61) - 1;
        let moduli = [
            2,
            3,
            4,
            97,
            257,
            65_537,
            (1 << 27) + 29,
            SMALL - 35,
            SMALL - 1,
        ];
        for t in moduli {
            let modulus = Modulus::new(t);
            let near = |k: u64| {
                [
                    k * t / 2,
                    k * t,
                    k * t + t / 2,
                    k * t + t / 2 + 1,
                    k * t + t - 1,
                ]
            };
            let mut edges = vec![0, 1, top, top - 1, u64::from(u32::MAX), 1 << 32, top / 3];
            for k in [1, 2, (1 << 30) / t, (1 << 44) / t, top / t - 1] {
                edges.extend(near(k));
            }
            let n = 320;
            let limb = |shift: usize| -> LimbBuf<u64> {
                let words = edges.iter().cycle().skip(shift).step_by(shift + 1);
                words.copied().take(n).collect()
            };
            let digits = [limb(0), limb(1), limb(6), limb(10)];
            let signs: LimbBuf<u64> = (0..n as u64).map(|i| i / 3 % 2).collect();
            for places in [[t - 1; 4], [1, t / 2, t - 1, t / 3]] {
                let residues = Residues {
                    digits: &digits,
                    places: &places,
                    signs: &signs,
                    product: t - 1,
                    modulus,
                };
                let expected: Vec<u64> = (0..n).map(|at| residues.one(at)).collect();
                for simd in Simd::available() {
                    assert_eq!(residues.compute(simd), expected, "{simd} mod {t}");
                }
            }
        }
    }
}
