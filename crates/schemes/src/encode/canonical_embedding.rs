//! The canonical embedding of CKKS: slots to coefficients and back, in f64.
//!
//! Slot j of a real polynomial p of degree below N is `p(zeta^(5^j))` with
//! `zeta = exp(i pi / N)`, j in 0..N/2. The powers 5^j are the residues
//! 4u + 1 modulo 2N, and `zeta^((4u + 1) N / 2) = i`, so with h = N/2
//!
//! ```text
//! p(zeta^(4u+1)) = sum_{k<h} (p_k + i p_{k+h}) zeta^k w^(u k),   w = exp(2 pi i / h)
//! ```
//!
//! which is a twist by zeta^k and a plain cyclic DFT of length h whose output u
//! belongs to slot j, 5^j = 4u + 1. The DFT leaves its outputs in bit-reversed
//! order, its inverse takes them so: the permutation is part of the slots'.
//!
//! Every host computes the same bits: the order of operations is fixed, nothing
//! is contracted to a fused multiply-add, sine and cosine are those of `libm`
//! on arguments in `[0, pi/4]`.

use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::sync::OnceLock;

use cyclotron_ring::{Kernel, Simd, run_wide};

use super::cyclic_dft::{FromReversed, Split, ToReversed};
use super::double_double::DoubleDouble;
use super::wide_complex::WideComplex;
use super::wide_embedding::WideEmbedding;

/// A complex number.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Complex {
    /// `re + i im`.
    #[must_use]
    pub fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }
}

impl From<f64> for Complex {
    fn from(re: f64) -> Self {
        Self { re, im: 0.0 }
    }
}

/// `exp(2 pi i k / order)`, `order` a multiple of 8.
fn root_of_unity(k: usize, order: usize) -> Complex {
    let eighth = order / 8;
    let (octant, rest) = (k % order / eighth, k % eighth);
    // In odd octants measure the angle back from the next axis or diagonal.
    let steps = if octant % 2 == 0 { rest } else { eighth - rest };
    let angle = 2.0 * PI * steps as f64 / order as f64;
    let (c, s) = if steps == eighth {
        (FRAC_1_SQRT_2, FRAC_1_SQRT_2)
    } else {
        (libm::cos(angle), libm::sin(angle))
    };
    let (re, im) = match octant {
        0 => (c, s),
        1 => (s, c),
        2 => (-s, c),
        3 => (-c, s),
        4 => (-c, -s),
        5 => (-s, -c),
        6 => (s, -c),
        _ => (c, -s),
    };
    Complex { re, im }
}

/// The tables of the embedding for one ring degree.
#[derive(Debug)]
pub struct CanonicalEmbedding {
    n: usize,
    /// `zeta^k`, k < N/2.
    twist: Split,
    /// For each half-length m = 1, 2, .. h/2 the roots `exp(2 pi i j / 2m)`,
    /// j < m, at offset m - 1.
    roots: Split,
    /// DFT index u of slot j, bits reversed.
    slot_index: Vec<u32>,
    simd: Simd,
    /// Made when a scale first needs it.
    wide: OnceLock<WideEmbedding>,
}

impl CanonicalEmbedding {
    /// Tables for N = 2^log_n, `log_n >= 2`.
    ///
    /// # Panics
    /// If `log_n < 2` or `log_n > 30`.
    #[must_use]
    pub fn new(log_n: u32) -> Self {
        assert!(
            (2..=30).contains(&log_n),
            "the embedding needs 4 <= N <= 2^30"
        );
        let n = 1_usize << log_n;
        let h = n / 2;
        let halves = (0..log_n - 1).map(|s| 1_usize << s);
        let roots = Split::collect(halves.flat_map(|m| {
            // Order 8 at least, so that every root falls on the octants.
            (0..m).map(move |j| root_of_unity(8 * j, 16 * m))
        }));
        let mut power = 1_usize;
        let bits = log_n - 1;
        let slot_index = (0..h)
            .map(|_| {
                let index = (power - 1) / 4;
                power = power * 5 % (2 * n);
                (index as u32).reverse_bits() >> (32 - bits)
            })
            .collect();
        Self {
            n,
            twist: Split::collect((0..h).map(|k| root_of_unity(k, 2 * n))),
            roots,
            slot_index,
            // Which instructions count does not change what is computed.
            simd: Simd::detect().unwrap_or(Simd::Scalar),
            wide: OnceLock::new(),
        }
    }

    /// The ring degree N.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of slots, N/2.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.n / 2
    }

    /// The real coefficients of the polynomial with these slots, times `factor`;
    /// missing slots are 0.
    ///
    /// # Panics
    /// If there are more values than slots.
    #[must_use]
    pub fn coefficients(&self, slots: &[Complex], factor: f64) -> Vec<f64> {
        let h = self.slots();
        assert!(slots.len() <= h, "more values than slots");
        let mut x = Split::zeroed(h);
        for (&z, &u) in slots.iter().zip(&self.slot_index) {
            x.re[u as usize] = z.re;
            x.im[u as usize] = z.im;
        }
        let roots = &self.roots;
        run_wide(self.simd, FromReversed { roots, x: &mut x });
        let mut coefficients = vec![0.0; self.n];
        let untwist = Untwist {
            twist: &self.twist,
            x: &x,
            // A power of two divides exactly.
            scale: factor / h as f64,
            coefficients: &mut coefficients,
        };
        run_wide(self.simd, untwist);
        coefficients
    }

    /// The coefficients of [`Self::coefficients`] computed with 106 bits and
    /// rounded to integers: the sum of two whole numbers each.
    pub(super) fn wide_coefficients(
        &self,
        slots: &[WideComplex],
        factor: f64,
    ) -> (Vec<f64>, Vec<f64>) {
        self.wide()
            .coefficients(self.simd, slots, &self.slot_index, factor)
    }

    /// The slots of the polynomial with these N coefficients, over `scale`.
    pub(crate) fn wide_slots_of(
        &self,
        coefficients: &[DoubleDouble],
        scale: f64,
    ) -> Vec<WideComplex> {
        self.wide()
            .slots_of(self.simd, coefficients, &self.slot_index, scale)
    }

    fn wide(&self) -> &WideEmbedding {
        self.wide.get_or_init(|| WideEmbedding::new(self.n))
    }

    /// The slots of the polynomial with these coefficients, times `factor`.
    ///
    /// # Panics
    /// If there are not N coefficients.
    #[must_use]
    pub fn slots_of(&self, coefficients: &[f64], factor: f64) -> Vec<Complex> {
        assert_eq!(coefficients.len(), self.n, "one coefficient per power of x");
        let h = self.slots();
        let mut x = Split::zeroed(h);
        let twist = Twist {
            twist: &self.twist,
            coefficients,
            x: &mut x,
        };
        run_wide(self.simd, twist);
        let roots = &self.roots;
        run_wide(self.simd, ToReversed { roots, x: &mut x });
        self.slot_index
            .iter()
            .map(|&u| Complex::new(x.re[u as usize] * factor, x.im[u as usize] * factor))
            .collect()
    }
}

/// `p_k + i p_(k+h) = conj(zeta^k) x_k`, scaled.
struct Untwist<'a> {
    twist: &'a Split,
    x: &'a Split,
    scale: f64,
    coefficients: &'a mut [f64],
}

impl Kernel for Untwist<'_> {
    #[inline(always)]
    fn run(self) {
        let (low, high) = self.coefficients.split_at_mut(self.x.re.len());
        let coefficients = low.iter_mut().zip(high);
        let x = self.x.re.iter().zip(&self.x.im);
        let twist = self.twist.re.iter().zip(&self.twist.im);
        for (((low, high), (re, im)), (wr, wi)) in coefficients.zip(x).zip(twist) {
            *low = (re * wr + im * wi) * self.scale;
            *high = (im * wr - re * wi) * self.scale;
        }
    }
}

/// `x_k = (p_k + i p_(k+h)) zeta^k`
struct Twist<'a> {
    twist: &'a Split,
    coefficients: &'a [f64],
    x: &'a mut Split,
}

impl Kernel for Twist<'_> {
    #[inline(always)]
    fn run(self) {
        let (low, high) = self.coefficients.split_at(self.x.re.len());
        let coefficients = low.iter().zip(high);
        let x = self.x.re.iter_mut().zip(&mut self.x.im);
        let twist = self.twist.re.iter().zip(&self.twist.im);
        for (((re, im), (low, high)), (wr, wi)) in x.zip(coefficients).zip(twist) {
            *re = low * wr - high * wi;
            *im = low * wi + high * wr;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_values(n: usize) -> Vec<Complex> {
        (0..n)
            .map(|i| {
                let x = i as f64;
                Complex::new((x * 0.7).sin() * 3.0, (x * 1.3 + 0.2).cos())
            })
            .collect()
    }

    /// Evaluates the polynomial at zeta^(5^j) term by term.
    fn slots_by_definition(coefficients: &[f64]) -> Vec<Complex> {
        let n = coefficients.len();
        let mut power = 1_usize;
        (0..n / 2)
            .map(|_| {
                let mut sum = Complex::default();
                for (k, c) in coefficients.iter().enumerate() {
                    let angle = PI * (power * k % (2 * n)) as f64 / n as f64;
                    sum.re += c * angle.cos();
                    sum.im += c * angle.sin();
                }
                power = power * 5 % (2 * n);
                sum
            })
            .collect()
    }

    #[test]
    fn slots_match_evaluation_at_the_roots() {
        for log_n in 2..=8 {
            let embedding = CanonicalEmbedding::new(log_n);
            let coefficients: Vec<f64> = (0..1 << log_n)
                .map(|i| f64::from(i * i % 37) - 9.0)
                .collect();
            let slots = embedding.slots_of(&coefficients, 1.0);
            for (got, want) in slots.iter().zip(slots_by_definition(&coefficients)) {
                assert!((got.re - want.re).abs() < 1e-9 && (got.im - want.im).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn encoding_inverts_decoding() {
        for log_n in [2, 3, 7, 12] {
            let embedding = CanonicalEmbedding::new(log_n);
            let slots = test_values(embedding.slots());
            let coefficients = embedding.coefficients(&slots, 1024.0);
            let back = embedding.slots_of(&coefficients, 1.0 / 1024.0);
            for (got, want) in back.iter().zip(&slots) {
                assert!((got.re - want.re).abs() < 1e-13 && (got.im - want.im).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn roots_are_accurate_and_symmetric() {
        let order = 64;
        for k in 0..order {
            let z = root_of_unity(k, order);
            let angle = 2.0 * PI * k as f64 / order as f64;
            assert!((z.re - angle.cos()).abs() < 1e-15 && (z.im - angle.sin()).abs() < 1e-15);
            let conjugate = root_of_unity(order - k, order);
            assert_eq!((z.re, z.im), (conjugate.re, -conjugate.im));
        }
        assert_eq!(root_of_unity(16, 64), Complex::new(0.0, 1.0));
    }

    /// Every path rounds alike.
    #[test]
    fn paths_agree_bit_for_bit() {
        for log_n in [4, 6, 7, 8, 11, 12] {
            let both = |simd| {
                let mut embedding = CanonicalEmbedding::new(log_n);
                embedding.simd = simd;
                let slots = test_values(embedding.slots());
                let coefficients = embedding.coefficients(&slots, 1e9);
                let back = embedding.slots_of(&coefficients, 1.0);
                let bits = back.iter().flat_map(|z| [z.re.to_bits(), z.im.to_bits()]);
                let bits: Vec<u64> = bits.collect();
                (coefficients, bits)
            };
            let expected = both(Simd::Scalar);
            for simd in Simd::available() {
                assert_eq!(both(simd), expected, "{simd}, N = 2^{log_n}");
            }
        }
    }

    #[test]
    fn a_constant_has_one_coefficient() {
        let embedding = CanonicalEmbedding::new(6);
        let coefficients = embedding.coefficients(&[Complex::from(2.5); 32], 4.0);
        assert!((coefficients[0] - 10.0).abs() < 1e-14);
        assert!(coefficients[1..].iter().all(|c| c.abs() < 1e-14));
    }
}
