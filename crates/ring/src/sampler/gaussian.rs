//! The discrete Gaussian over the integers.
//!
//! Inversion from a table of the cumulative distribution of |X|,
//! `T_k = floor(2^64 P(|X| <= k))`: with u uniform in 64 bits,
//! `|X| = #{k : u >= T_k}`; a further bit gives the sign. The table ends where
//! `P(|X| > k) < 2^-64` (after 29 for sigma = 3.19), so that every probability is
//! exact to 2^-64. The table is always read to its end and nothing branches on
//! a sample, so the time tells nothing about it.
//!
//! The table is computed in fixed point with 118 fractional bits, without
//! floating point, so it is the same everywhere: `rho(k) = c^(k^2)` with
//! `c = exp(-1 / (2 sigma^2))` from its Taylor series. Each step truncates by
//! less than 2^-117, and there are less than 2^11 of them: probabilities are
//! right to 2^-100 before they are rounded.

use zeroize::{Zeroize, Zeroizing};

use crate::arch::{Kernel, run_wide};
use crate::error::RingError;
use crate::prf::Prf;
use crate::simd::Simd;

/// Fractional bits of the fixed-point numbers.
const FRACTION: u32 = 118;
const ONE: u128 = 1 << FRACTION;

/// Samples that share a word of signs.
const CHUNK: usize = 64;

/// A discrete Gaussian: `P(x)` proportional to `exp(-x^2 / (2 sigma^2))`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gaussian {
    /// `floor(2^64 P(|X| <= k))`, k = 0, 1, ...
    thresholds: Vec<u64>,
}

impl Gaussian {
    /// The least standard deviation.
    pub const SIGMA_MIN: f64 = 1.0;
    /// The greatest standard deviation.
    pub const SIGMA_MAX: f64 = 32.0;
    /// The standard deviation of errors in this project.
    pub const SIGMA: f64 = 3.19;

    /// The distribution with parameter `sigma`.
    ///
    /// # Errors
    /// [`RingError::SigmaOutOfRange`] outside `[SIGMA_MIN, SIGMA_MAX]`.
    pub fn new(sigma: f64) -> Result<Self, RingError> {
        if !(Self::SIGMA_MIN..=Self::SIGMA_MAX).contains(&sigma) {
            return Err(RingError::SigmaOutOfRange {
                sigma,
                min: Self::SIGMA_MIN,
                max: Self::SIGMA_MAX,
            });
        }
        let weights = weights(exp_minus(half_over_square(sigma)));
        // Both signs of each magnitude but 0.
        let masses = weights
            .iter()
            .enumerate()
            .map(|(k, &rho)| if k == 0 { rho } else { 2 * rho });
        let total: u128 = masses.clone().sum();
        let mut thresholds = Vec::new();
        let mut below = 0;
        for mass in masses {
            below += mass;
            if ratio_bits(total - below, total) == 0 {
                break;
            }
            thresholds.push(ratio_bits(below, total));
        }
        Ok(Self { thresholds })
    }

    /// The greatest magnitude that is ever drawn.
    #[must_use]
    pub fn bound(&self) -> u64 {
        self.thresholds.len() as u64
    }

    /// Draws `n` samples: 8 bytes of the stream for each, and 8 more of signs
    /// after every 64 and at the end.
    pub fn sample(&self, prf: &mut Prf, n: usize) -> Zeroizing<Vec<i64>> {
        let mut samples = Zeroizing::new(vec![0i64; n]);
        // Which instructions count does not change what is counted.
        let simd = Simd::detect().unwrap_or(Simd::Scalar);
        let (gaussian, dst) = (self, &mut samples[..]);
        run_wide(simd, Sampling { gaussian, prf, dst });
        samples
    }

    #[inline(always)]
    fn fill(&self, prf: &mut Prf, samples: &mut [i64]) {
        let mut bytes = [0u8; 8 * CHUNK + 8];
        let mut uniform = [0u64; CHUNK];
        let mut magnitudes = [0u64; CHUNK];
        for chunk in samples.chunks_mut(CHUNK) {
            let bytes = &mut bytes[..8 * chunk.len() + 8];
            prf.fill(bytes);
            let (words, _) = bytes.as_chunks::<8>();
            for (u, word) in uniform.iter_mut().zip(words) {
                *u = u64::from_le_bytes(*word);
            }
            self.count_thresholds(&uniform, &mut magnitudes);
            let signs = u64::from_le_bytes(words[chunk.len()]);
            for (i, (x, &magnitude)) in chunk.iter_mut().zip(&magnitudes).enumerate() {
                let negative = (signs >> i & 1) as i64;
                *x = (magnitude as i64 ^ -negative) + negative;
            }
        }
        bytes.zeroize();
        uniform.zeroize();
        magnitudes.zeroize();
    }

    /// `counts[i] = #{k : uniform[i] >= T_k}`, in time that depends on the table only.
    #[inline(always)]
    fn count_thresholds(&self, uniform: &[u64; CHUNK], counts: &mut [u64; CHUNK]) {
        counts.fill(0);
        for &threshold in &self.thresholds {
            for (count, &u) in counts.iter_mut().zip(uniform) {
                *count += u64::from(u >= threshold);
            }
        }
    }
}

/// Sampling as a kernel, to be compiled for wide vectors.
struct Sampling<'a> {
    gaussian: &'a Gaussian,
    prf: &'a mut Prf,
    dst: &'a mut [i64],
}

impl Kernel for Sampling<'_> {
    #[inline(always)]
    fn run(self) {
        self.gaussian.fill(self.prf, self.dst);
    }
}

/// Draws `n` samples with parameter `sigma`; see [`Gaussian`].
///
/// # Errors
/// [`RingError::SigmaOutOfRange`] outside `[1, 32]`.
pub fn gaussian(prf: &mut Prf, n: usize, sigma: f64) -> Result<Zeroizing<Vec<i64>>, RingError> {
    Ok(Gaussian::new(sigma)?.sample(prf, n))
}

/// `1 / (2 sigma^2)` in fixed point, rounded down.
fn half_over_square(sigma: f64) -> u128 {
    // sigma = mantissa 2^exponent, exactly.
    let bits = sigma.to_bits();
    let mantissa = (bits & ((1 << 52) - 1)) | 1 << 52;
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1075;
    let divisor = u128::from(mantissa) * u128::from(mantissa);
    // 2^(FRACTION - 1 - 2 exponent) / divisor by long division.
    let (mut quotient, mut rest) = (0u128, 1u128);
    for _ in 0..FRACTION as i32 - 1 - 2 * exponent {
        (quotient, rest) = (quotient << 1, rest << 1);
        if rest >= divisor {
            (quotient, rest) = (quotient | 1, rest - divisor);
        }
    }
    quotient
}

/// `exp(-z)` for `0 <= z < 1` in fixed point.
fn exp_minus(z: u128) -> u128 {
    let (mut sum, mut term, mut index) = (ONE, ONE, 0u128);
    while term > 0 {
        index += 1;
        term = fixed_mul(term, z) / index;
        if index % 2 == 1 {
            sum -= term;
        } else {
            sum += term;
        }
    }
    sum
}

/// `c^(k^2)` for k = 0, 1, ... as long as they are not zero.
fn weights(c: u128) -> Vec<u128> {
    let square = fixed_mul(c, c);
    let (mut rho, mut factor) = (ONE, c);
    let mut weights = Vec::new();
    while rho > 0 {
        weights.push(rho);
        rho = fixed_mul(rho, factor);
        factor = fixed_mul(factor, square);
    }
    weights
}

/// `floor(2^64 a / b)` for `a < b < 2^127`, saturating at 2^64 - 1.
fn ratio_bits(a: u128, b: u128) -> u64 {
    if a >= b {
        return u64::MAX;
    }
    let (mut quotient, mut rest) = (0u64, a);
    for _ in 0..64 {
        (quotient, rest) = (quotient << 1, rest << 1);
        if rest >= b {
            (quotient, rest) = (quotient | 1, rest - b);
        }
    }
    quotient
}

/// Product of two fixed-point numbers up to 1, rounded down.
fn fixed_mul(a: u128, b: u128) -> u128 {
    // a = a1 2^59 + a0: the parts are below 2^60, their products below 2^120.
    const HALF: u32 = FRACTION / 2;
    let split = |x: u128| (x >> HALF, x & ((1 << HALF) - 1));
    let ((a1, a0), (b1, b0)) = (split(a), split(b));
    a1 * b1 + ((a1 * b0 + a0 * b1 + ((a0 * b0) >> HALF)) >> HALF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prf::{Seed, stream};

    /// `exp(-x)` of a rational as a big fraction of 2^192, by a different
    /// route than the table: no recurrence, Taylor series for every k.
    fn exp_minus_big(k: u64, sigma: f64) -> num_bigint::BigUint {
        use num_bigint::{BigInt, BigUint};
        let scale: BigInt = BigInt::from(1) << 400u32;
        let bits = sigma.to_bits();
        let mantissa = BigInt::from((bits & ((1 << 52) - 1)) | 1 << 52);
        let shift = 1075 - (bits >> 52 & 0x7ff) as i64;
        // x = k^2 / (2 sigma^2) = k^2 2^(2 shift - 1) / mantissa^2
        let numerator = BigInt::from(k * k) << (2 * shift - 1) as usize;
        let x = (numerator * &scale) / (&mantissa * &mantissa);
        let (mut sum, mut term, mut i) = (scale.clone(), scale.clone(), 0i64);
        while term != BigInt::ZERO {
            i += 1;
            term = -(term * &x) / (&scale * i);
            sum += &term;
        }
        BigUint::try_from(sum).expect("positive") >> 208u32
    }

    #[test]
    fn table_matches_big_integers() {
        for sigma in [Gaussian::SIGMA, 1.0, 2.5, 8.0, 32.0] {
            let gaussian = Gaussian::new(sigma).expect("in range");
            let tail = (sigma * 14.0) as u64;
            let masses: Vec<_> = (0..tail)
                .map(|k| exp_minus_big(k, sigma) * if k == 0 { 1u32 } else { 2 })
                .collect();
            let total: num_bigint::BigUint = masses.iter().sum();
            let mut below = num_bigint::BigUint::ZERO;
            for (k, mass) in masses.iter().enumerate() {
                below += mass;
                let expected: num_bigint::BigUint = (&below << 64u32) / &total;
                match gaussian.thresholds.get(k) {
                    Some(&threshold) => {
                        assert_eq!(expected, threshold.into(), "sigma {sigma}, {k}");
                    }
                    None => assert!(expected >= u64::MAX.into(), "cut at {k}, sigma {sigma}"),
                }
            }
        }
    }

    #[test]
    fn standard_table_ends_where_documented() {
        let gaussian = Gaussian::new(Gaussian::SIGMA).expect("in range");
        assert_eq!(gaussian.bound(), 29);
    }

    #[test]
    fn moments_and_tail_are_right() {
        const N: usize = 1 << 17;
        let mut prf = stream(&Seed::for_test(1), "gaussian", &[]);
        let samples = gaussian(&mut prf, N, Gaussian::SIGMA).expect("in range");
        let n = N as f64;
        let moment = |p: i32| samples.iter().map(|&x| (x as f64).powi(p)).sum::<f64>() / n;
        let sigma = Gaussian::SIGMA;
        // Deviations of the estimates: sigma/sqrt(n), sigma^2 sqrt(2/n), sigma^4 sqrt(96/n).
        assert!(moment(1).abs() < 5.0 * sigma / n.sqrt());
        assert!((moment(2) - sigma.powi(2)).abs() < 5.0 * sigma.powi(2) * (2.0 / n).sqrt());
        assert!((moment(4) - 3.0 * sigma.powi(4)).abs() < 5.0 * sigma.powi(4) * (96.0 / n).sqrt());
        // P(|X| > 12) = 8.9e-5: 11.6 expected, deviation 3.4. P(|X| > 24) = 1.6e-14.
        let beyond = |t: i64| samples.iter().filter(|&&x| x.abs() > t).count();
        assert!((1..30).contains(&beyond(12)), "{}", beyond(12));
        assert_eq!(beyond(24), 0);
    }

    #[test]
    fn magnitudes_follow_the_table_chi_square() {
        const N: usize = 1 << 16;
        let distribution = Gaussian::new(2.0).expect("in range");
        let mut prf = stream(&Seed::for_test(2), "gaussian", &[]);
        let mut counts = [0f64; 9];
        for &x in distribution.sample(&mut prf, N).iter() {
            if x.abs() <= 4 {
                counts[(x + 4) as usize] += 1.0;
            }
        }
        let total: f64 = (-40..=40).map(|x| (-f64::from(x * x) / 8.0).exp()).sum();
        let chi: f64 = (-4i32..=4)
            .zip(counts)
            .map(|(x, count)| {
                let expected = (-f64::from(x * x) / 8.0).exp() / total * N as f64;
                (count - expected).powi(2) / expected
            })
            .sum();
        // 9 cells of 10: exceeds 37 with probability below 3e-5.
        assert!(chi < 37.0, "chi-square {chi}");
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        for sigma in [0.0, 0.99, 32.5, f64::NAN, f64::INFINITY, -3.0] {
            assert!(matches!(
                Gaussian::new(sigma),
                Err(RingError::SigmaOutOfRange { .. })
            ));
        }
    }

    #[test]
    fn samples_do_not_depend_on_the_path() {
        let gaussian = &Gaussian::new(Gaussian::SIGMA).expect("in range");
        let draw = |simd| {
            let mut dst = vec![0i64; 1000];
            let prf = &mut stream(&Seed::for_test(4), "gaussian", &[]);
            let dst_slice = &mut dst[..];
            run_wide(
                simd,
                Sampling {
                    gaussian,
                    prf,
                    dst: dst_slice,
                },
            );
            dst
        };
        let paths: Vec<_> = Simd::available().into_iter().map(draw).collect();
        assert!(paths.iter().all(|path| *path == paths[0]));
    }

    #[test]
    fn samples_have_any_length() {
        let distribution = Gaussian::new(Gaussian::SIGMA).expect("in range");
        for n in [0usize, 1, 63, 64, 65] {
            let mut prf = stream(&Seed::for_test(3), "gaussian", &[]);
            assert_eq!(distribution.sample(&mut prf, n).len(), n);
        }
    }
}
