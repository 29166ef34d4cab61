//! Slots to coefficients and back with 106 bits, for coefficients that 53 do not hold.
//!
//! The formulas of [`super::canonical_embedding`] over [`DoubleDouble`], one
//! layer of the transform at a time.
//!
//! # Errors
//!
//! In units of u^2 = 2^-106, with the bounds of [`super::double_double`]. A power
//! of zeta is a product of two numbers that err by 226 each (160 a part), and a
//! complex product adds 21: 473, and a butterfly's product errs by 494 of its
//! operand's magnitude; with both sums 520. If all numbers are at most M before
//! the first of L layers, they are at most 2^l M after l, and their errors
//! satisfy `e_(l+1) <= 2 e_l + 520 2^l M`, so `e_L <= 260 L 2^L M`. With
//! L <= 16 and the twist that is below 4700 2^L M.
//!
//! Slots to coefficients (which divides by 2^L): below 2^-93 of the largest slot
//! times the scale. Coefficients to slots: below 2^-93 of N/2 times the largest
//! coefficient. Errors that do not conspire are some 2^-99.

use cyclotron_ring::{Kernel, Simd, run_wide};

use super::double_double::DoubleDouble;
use super::wide_complex::{Blocks, LANES, WideComplex};

/// The tables for one ring degree.
#[derive(Debug)]
pub(super) struct WideEmbedding {
    /// `zeta^k`, k < N/2.
    twist: Blocks,
    /// For each half-length m = 1, 2, .. the roots `exp(2 pi i j / 2m)`, j < m.
    roots: Vec<Blocks>,
}

impl WideEmbedding {
    /// Tables for degree N, a power of two of at least 4.
    pub(super) fn new(n: usize) -> Self {
        let twist = powers_of_zeta(n);
        let root = |k: usize| match k.checked_sub(n / 2) {
            None => twist[k],
            // zeta^(N/2) = i
            Some(k) => WideComplex {
                re: twist[k].im.neg(),
                im: twist[k].re,
            },
        };
        let roots = (0..(n / 2).ilog2())
            .map(|log_m| {
                let roots: Vec<_> = (0..1 << log_m).map(|j| root(j * (n >> log_m))).collect();
                Blocks::collect(&roots)
            })
            .collect();
        Self {
            twist: Blocks::collect(&twist),
            roots,
        }
    }

    /// The coefficients of the polynomial with these slots times `factor`, to
    /// the nearest integers, halves away from zero: the sums of the two vectors'
    /// whole numbers. Slot j belongs to index `places[j]` in bit-reversed order.
    pub(super) fn coefficients(
        &self,
        simd: Simd,
        slots: &[WideComplex],
        places: &[u32],
        factor: f64,
    ) -> (Vec<f64>, Vec<f64>) {
        let h = places.len();
        let mut x = Blocks::zeroed(h);
        for (&z, &place) in slots.iter().zip(places) {
            x.set(place as usize, z);
        }
        for (log_m, roots) in self.roots.iter().enumerate() {
            let (x, m) = (&mut x, 1 << log_m);
            run_wide(simd, Layer::<true> { roots, x, m, h });
        }
        let (mut whole, mut low) = (vec![0.0; 2 * h], vec![0.0; 2 * h]);
        for k in 0..h {
            let z = x.get(k).mul_conjugate(self.twist.get(k));
            for (at, part) in [(k, z.re), (k + h, z.im)] {
                // A power of two divides exactly.
                (whole[at], low[at]) = part.scale(factor / h as f64).round();
            }
        }
        (whole, low)
    }

    /// The slots of the polynomial with these coefficients over `scale`; `places`
    /// as in [`Self::coefficients`].
    pub(super) fn slots_of(
        &self,
        simd: Simd,
        coefficients: &[DoubleDouble],
        places: &[u32],
        scale: f64,
    ) -> Vec<WideComplex> {
        let h = places.len();
        let mut x = Blocks::zeroed(h);
        let (low, high) = coefficients.split_at(h);
        for (k, (&re, &im)) in low.iter().zip(high).enumerate() {
            x.set(k, WideComplex { re, im }.mul(self.twist.get(k)));
        }
        for (log_m, roots) in self.roots.iter().enumerate().rev() {
            let (x, m) = (&mut x, 1 << log_m);
            run_wide(simd, Layer::<false> { roots, x, m, h });
        }
        let slot = |&place: &u32| {
            let WideComplex { re, im } = x.get(place as usize);
            let (re, im) = (re.div(scale), im.div(scale));
            WideComplex { re, im }
        };
        places.iter().map(slot).collect()
    }
}

/// `zeta^k`, k < N/2, `zeta = exp(i pi / N)`: products of few powers that come
/// from the series, up to the diagonal; beyond it mirrored.
fn powers_of_zeta(n: usize) -> Vec<WideComplex> {
    let fine = 1 << (n.ilog2() / 2);
    let power = |k: usize| {
        let (re, im) = DoubleDouble::cos_sin_pi(k as f64 / n as f64);
        WideComplex { re, im }
    };
    let small: Vec<WideComplex> = (0..fine).map(power).collect();
    let large: Vec<WideComplex> = (0..=n / 4 / fine).map(|i| power(i * fine)).collect();
    let mut powers: Vec<WideComplex> = (0..=n / 4)
        .map(|k| large[k / fine].mul(small[k % fine]))
        .collect();
    for k in n / 4 + 1..n / 2 {
        let mirrored = powers[n / 2 - k];
        powers.push(WideComplex {
            re: mirrored.im,
            im: mirrored.re,
        });
    }
    powers.truncate(n / 2);
    powers
}

/// A layer of half-length `m` over h numbers: in time
/// `(a, b) -> (a + b conj(w), a - b conj(w))`, in frequency `(a, b) -> (a + b, (a - b) w)`.
struct Layer<'a, const TIME: bool> {
    roots: &'a Blocks,
    x: &'a mut Blocks,
    m: usize,
    h: usize,
}

#[inline(always)]
fn butterfly<const TIME: bool>(
    a: WideComplex,
    b: WideComplex,
    w: WideComplex,
) -> (WideComplex, WideComplex) {
    if TIME {
        let t = b.mul_conjugate(w);
        (a.add(t), a.sub(t))
    } else {
        (a.add(b), a.sub(b).mul(w))
    }
}

impl<const TIME: bool> Kernel for Layer<'_, TIME> {
    #[inline(always)]
    fn run(self) {
        let Self { roots, x, m, h } = self;
        if m < LANES {
            for at in (0..h).filter(|at| at & m == 0) {
                let (a, b) = butterfly::<TIME>(x.get(at), x.get(at + m), roots.get(at % m));
                x.set(at, a);
                x.set(at + m, b);
            }
            return;
        }
        let half = m / LANES;
        for pair in x.0.chunks_exact_mut(2 * half) {
            let (a, b) = pair.split_at_mut(half);
            for ((a, b), w) in a.iter_mut().zip(b).zip(&roots.0) {
                let (mut first, mut second) = (*a, *b);
                for lane in 0..LANES {
                    let numbers = butterfly::<TIME>(a.get(lane), b.get(lane), w.get(lane));
                    first.set(lane, numbers.0);
                    second.set(lane, numbers.1);
                }
                (*a, *b) = (first, second);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{CanonicalEmbedding, Complex};

    fn values(n: usize) -> Vec<Complex> {
        (0..n)
            .map(|i| Complex::new((i as f64 * 0.7).sin(), (i as f64 * 1.3).cos()))
            .collect()
    }

    fn widened(slots: &[Complex]) -> Vec<WideComplex> {
        slots.iter().map(|&z| z.into()).collect()
    }

    /// At a scale where both hold everything, the two embeddings agree to the
    /// precision of f64, at every degree.
    #[test]
    fn agrees_with_the_embedding_in_f64() {
        for log_n in 2..=12 {
            let embedding = CanonicalEmbedding::new(log_n);
            let slots = values(embedding.slots());
            let scale = 40f64.exp2();
            let expected = embedding.coefficients(&slots, scale);
            let (whole, low) = embedding.wide_coefficients(&widened(&slots), scale);
            for ((whole, low), expected) in whole.iter().zip(&low).zip(&expected) {
                assert_eq!((whole.fract(), low.fract()), (0.0, 0.0));
                assert!((whole + low - expected).abs() <= 0.51);
            }
            let coefficients: Vec<_> = expected.iter().map(|&c| c.into()).collect();
            let back = embedding.wide_slots_of(&coefficients, scale);
            for (z, expected) in back.iter().zip(&slots) {
                let error = z.narrow();
                let (re, im) = (error.re - expected.re, error.im - expected.im);
                assert!(re.abs().max(im.abs()) < 1e-13);
            }
        }
    }

    /// All slots 1/3 (rounded to f64) at scale 2^95: the sums of the transform leave no trace.
    #[test]
    fn constants_are_exact_to_the_last_bit() {
        let embedding = CanonicalEmbedding::new(10);
        let third = 1.0 / 3.0;
        let slots = vec![Complex::from(third).into(); embedding.slots()];
        let (whole, low) = embedding.wide_coefficients(&slots, 95f64.exp2());
        assert_eq!((whole[0], low[0]), (third * 95f64.exp2(), 0.0));
        assert!(whole[1..].iter().chain(&low).all(|&c| c.abs() <= 1.0));
    }

    /// Integers of 93 bits survive the way to the slots and back, at any scale.
    #[test]
    fn integers_come_back() {
        for log_n in [2, 5, 12, 16] {
            let embedding = CanonicalEmbedding::new(log_n);
            let mut state = 1u128;
            let integers: Vec<i128> = (0..embedding.n())
                .map(|_| {
                    state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645) + 1;
                    state.cast_signed() >> 36
                })
                .collect();
            let split = |&c: &i128| {
                let hi = c as f64;
                let lo = (c - hi as i128) as f64;
                DoubleDouble { hi, lo }
            };
            let coefficients: Vec<DoubleDouble> = integers.iter().map(split).collect();
            let scale = 3.7e27;
            let slots = embedding.wide_slots_of(&coefficients, scale);
            let (whole, low) = embedding.wide_coefficients(&slots, scale);
            for ((whole, low), expected) in whole.iter().zip(&low).zip(&integers) {
                assert_eq!(*whole as i128 + *low as i128, *expected, "N = 2^{log_n}");
            }
        }
    }

    #[test]
    fn paths_agree_bit_for_bit() {
        let wide = WideEmbedding::new(256);
        let places: Vec<u32> = (0..128).rev().collect();
        let slots: Vec<WideComplex> = (0..128)
            .map(|i| Complex::new(f64::from(i).sqrt(), 1.0 / f64::from(i + 1)).into())
            .collect();
        let coefficients: Vec<DoubleDouble> = slots.iter().flat_map(|z| [z.re, z.im]).collect();
        let both = |simd| {
            let there = wide.coefficients(simd, &slots, &places, 1e30);
            (there, wide.slots_of(simd, &coefficients, &places, 3.0))
        };
        let expected = both(Simd::Scalar);
        for simd in Simd::available() {
            assert_eq!(both(simd), expected);
        }
    }
}
