//! Integer coefficients that are larger than the primes.
//!
//! A coefficient is the sum of two whole numbers in floating point, each of
//! which is written with signed digits of B bits, `sum_i d_i 2^(B i)`,
//! `|d_i| < 2^B`. The sum of both digits is stored plus 2^(B+1): a word above 0
//! and below 2^(B+2). So the residues modulo every prime are one base conversion from
//! the digits, less a constant. B is 49 for 64-bit words (products of words
//! below 2^52 are fastest) and 29 for 32-bit words.
//!
//! Digits come from the floating-point number by truncation from the top;
//! scaling by powers of two, truncation and the differences are all exact.

use std::sync::Arc;

use cyclotron_ring::{Kernel, LimbBuf, Ring, run_wide};

use crate::limbs::{ClientWord, Limbs};

/// Coefficients that are digitised together.
const CHUNK: usize = 256;

/// 2^52: adding it to a whole number below puts that into the lowest bits.
const MAGIC: f64 = 4_503_599_627_370_496.0;

/// Integers as sums of two whole numbers in floating point, with their digits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WideCoefficients {
    whole: Vec<f64>,
    low: Vec<f64>,
    digits: Limbs,
}

/// Bits of a digit.
fn digit_bits<W: ClientWord>() -> u32 {
    if W::BITS == 32 { 29 } else { 49 }
}

impl WideCoefficients {
    /// The digits of finite integers `whole + low`, each part up to `largest`.
    pub(crate) fn new<W: ClientWord>(
        ring: &Ring<W>,
        whole: Vec<f64>,
        low: Vec<f64>,
        largest: f64,
    ) -> Self {
        let bits = digit_bits::<W>();
        // |c| < 2^(exponent + 1).
        let exponent = (largest.to_bits() >> 52) as i64 - 1023;
        let count = (exponent.max(0) as u32 + 1).div_ceil(bits);
        let mut digits: Vec<LimbBuf<W>> = (0..count)
            .map(|_| LimbBuf::unspecified(whole.len()))
            .collect();
        run_wide(
            ring.simd(),
            Digitise {
                whole: &whole,
                low: &low,
                digits: &mut digits,
                bits,
            },
        );
        Self {
            whole,
            low,
            digits: W::wrap(digits.into_iter().map(Arc::new).collect()),
        }
    }

    /// The larger parts of the coefficients.
    pub(crate) fn whole(&self) -> &[f64] {
        &self.whole
    }

    /// The smaller parts of the coefficients.
    pub(crate) fn low(&self) -> &[f64] {
        &self.low
    }

    /// Bytes of the coefficients and their digits.
    pub(crate) fn size_bytes(&self) -> usize {
        let word_bytes = self.digits.word_bits() as usize / 8;
        self.whole.len() * (16 + self.digits.len() * word_bytes)
    }

    /// The coefficients modulo prime `m` of a ring of words as wide as those that
    /// the digits were made for.
    pub(crate) fn residues<W: ClientWord>(&self, ring: &Ring<W>, m: usize, dst: &mut LimbBuf<W>) {
        let digits = W::view(&self.digits).unwrap_or_default();
        let (bits, modulus) = (u64::from(digit_bits::<W>()), ring.arithmetic(m));
        let powers: Vec<u64> = (0..digits.len() as u64)
            .map(|i| modulus.pow(2, bits * i))
            .collect();
        let sum = powers.iter().fold(0, |sum, &p| modulus.add(sum, p));
        let offset = modulus.mul(sum, modulus.pow(2, bits + 1));
        let sources: Vec<&[W]> = digits.iter().map(|digit| &digit[..]).collect();
        let mut shifted = LimbBuf::unspecified(ring.n());
        ring.bconv(&[m], &mut [&mut shifted], &sources, &powers);
        ring.add_c(m, dst, &shifted, modulus.neg(offset));
    }
}

/// Splits numbers into digits.
struct Digitise<'a, W: ClientWord> {
    whole: &'a [f64],
    low: &'a [f64],
    digits: &'a mut [LimbBuf<W>],
    bits: u32,
}

impl<W: ClientWord> Kernel for Digitise<'_, W> {
    #[inline(always)]
    fn run(self) {
        let (mut rest, mut rest_low) = ([0.0; CHUNK], [0.0; CHUNK]);
        let offset = MAGIC + power_of_two(self.bits + 1);
        let chunks = self.whole.chunks(CHUNK).zip(self.low.chunks(CHUNK));
        for (number, (whole, low)) in chunks.enumerate() {
            let (rest, rest_low) = (&mut rest[..whole.len()], &mut rest_low[..whole.len()]);
            rest.copy_from_slice(whole);
            rest_low.copy_from_slice(low);
            for (i, digit) in self.digits.iter_mut().enumerate().rev() {
                let up = power_of_two(self.bits * i as u32);
                let down = 1.0 / up;
                let digit = &mut digit[number * CHUNK..][..whole.len()];
                let rests = rest.iter_mut().zip(rest_low.iter_mut());
                for (word, (rest, low)) in digit.iter_mut().zip(rests) {
                    let (d, d_low) = ((*rest * down).trunc(), (*low * down).trunc());
                    *rest -= d * up;
                    *low -= d_low * up;
                    *word = W::from_u64((d + d_low + offset).to_bits() & LOW);
                }
            }
        }
    }
}

/// The bits below the exponent of [`MAGIC`].
const LOW: u64 = (1 << 52) - 1;

/// 2^`exponent`, exponent below 1024.
fn power_of_two(exponent: u32) -> f64 {
    f64::from_bits((1023 + u64::from(exponent)) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclotron_ring::Simd;
    use cyclotron_ring::primes::ntt_primes;

    /// `c mod q` for a whole number in floating point, from its mantissa and exponent.
    fn reduce(c: f64, q: u64) -> u64 {
        let bits = c.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as i64 - 1075;
        let mantissa = i128::from(bits & LOW | 1 << 52) * if c < 0.0 { -1 } else { 1 };
        let q = i128::from(q);
        let residue = if exponent < 0 {
            (c as i128).rem_euclid(q)
        } else {
            (0..exponent).fold(mantissa.rem_euclid(q), |x, _| 2 * x % q)
        };
        residue as u64
    }

    fn agrees_with_mantissas<W: ClientWord>(top: u64) {
        let edges = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            3e9,
            -5e8,
            536_870_911.0,
            536_870_912.0,
            -536_870_913.0,
            562_949_953_421_311.0,
            -562_949_953_421_312.0,
            9.007_199_254_740_993e15,
            -9.3e18,
            1.5e30,
            -1.267_650_600_228_229_6e30,
            1e300,
            -8e307,
        ];
        for largest in [600.0, 1e12, 1e31, 9e307] {
            let fitting = edges.iter().copied().filter(|c: &f64| c.abs() <= largest);
            let whole: Vec<f64> = fitting.cycle().take(64).collect();
            for simd in Simd::available() {
                let moduli = ntt_primes(top, 2 << 6, 2);
                let ring = Ring::<W>::new(6, &moduli, simd).expect("valid primes");
                let low: Vec<f64> = whole.iter().rev().copied().collect();
                let wide = WideCoefficients::new(&ring, whole.clone(), low.clone(), largest);
                let mut limb = LimbBuf::unspecified(64);
                for (m, &q) in moduli.iter().enumerate() {
                    wide.residues(&ring, m, &mut limb);
                    for ((word, &c), &low) in limb.iter().zip(&whole).zip(&low) {
                        let expected = (reduce(c, q) + reduce(low, q)) % q;
                        assert_eq!(word.to_u64(), expected, "{c} + {low} mod {q}, {simd}");
                    }
                }
            }
        }
    }

    #[test]
    fn residues_match_mantissas_and_exponents() {
        agrees_with_mantissas::<u32>(1 << 28);
        agrees_with_mantissas::<u32>(1 << 32);
        agrees_with_mantissas::<u64>(1 << 50);
        agrees_with_mantissas::<u64>(1 << 61);
    }

    #[test]
    fn digits_are_as_many_as_needed() {
        let moduli = ntt_primes(1 << 50, 2 << 6, 1);
        let ring = Ring::<u64>::new(6, &moduli, Simd::Scalar).expect("valid primes");
        let count = |largest: f64| {
            WideCoefficients::new(&ring, vec![largest; 64], vec![0.0; 64], largest)
                .digits
                .len()
        };
        let limit = 49f64.exp2();
        assert_eq!([count(1.0), count(limit - 1.0), count(limit)], [1, 1, 2]);
        assert_eq!([count(98f64.exp2() * 0.99), count(98f64.exp2())], [2, 3]);
    }
}
