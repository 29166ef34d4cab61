//! From residues to centred integers (Garner's mixed-radix form).
//!
//! A value v in `[0, Q)` is `d_0 + q_0 (d_1 + q_1 (d_2 + ..))` with digits
//! `d_i < q_i`. Since every q is odd, `(Q - 1) / 2` has the digits
//! `(q_i - 1) / 2`, so the sign of the centred value is found by comparing
//! digits from the top, exactly. With `P_i = q_0 .. q_(i-1)` the digits are
//! `d_i = (v_i - sum_(j<i) d_j P_j) / P_i mod q_i`: a base conversion each.
//!
//! What decrypts rightly is far smaller than Q. So the digits modulo the first
//! few primes are computed and the centred value that they name is compared
//! with the residues modulo *all* other primes: if it agrees everywhere, it is
//! the centred value modulo Q, since that is unique. Otherwise more primes are
//! taken, in the end all.

use cyclotron_ring::{Kernel, LimbBuf, Modulus, Ring, Simd, run_wide};
use rayon::prelude::*;

use super::double_double::DoubleDouble;
use super::plaintext_residues::Residues;
use crate::error::SchemeError;
use crate::limbs::ClientWord;

/// Values that are handled together.
const CHUNK: usize = 256;

/// Bits of the primes that the first attempt takes.
const FIRST_BITS: u32 = 90;

/// N centred values, by mixed-radix digits modulo the first primes of a ring.
pub(crate) struct CentredValues<W: ClientWord> {
    digits: Vec<LimbBuf<W>>,
    moduli: Vec<u64>,
    /// 1 where the value is negative, else 0.
    signs: LimbBuf<W>,
    simd: Simd,
}

impl<W: ClientWord> CentredValues<W> {
    /// The values given by their residues: `residue(m)` modulo prime m below
    /// `limbs`, coefficient domain. It may be called more than once for a prime.
    ///
    /// # Errors
    /// The first error of `residue`.
    pub(crate) fn new(
        ring: &Ring<W>,
        limbs: usize,
        residue: impl Fn(usize) -> Result<LimbBuf<W>, SchemeError> + Sync,
    ) -> Result<Self, SchemeError> {
        let mut values = Self {
            digits: Vec::with_capacity(limbs),
            moduli: Vec::with_capacity(limbs),
            signs: LimbBuf::zeroed(ring.n()),
            simd: ring.simd(),
        };
        let mut count = first_attempt(ring, limbs);
        loop {
            let more = values.digits.len()..count;
            let residues: Result<Vec<_>, _> = more.clone().into_par_iter().map(&residue).collect();
            for (m, residue) in more.zip(residues?) {
                values.push_digit(ring, m, &residue);
            }
            values.find_signs();
            // Each residue is compared while it is in the cache, and dropped.
            let agrees = |m: usize| -> Result<bool, SchemeError> {
                Ok(values.agrees(ring, m, &residue(m)?))
            };
            // The first comparison alone finds nearly every disagreement.
            if count == limbs
                || agrees(count)?
                    && (count + 1..limbs)
                        .into_par_iter()
                        .map(agrees)
                        .try_reduce(|| true, |a, b| Ok(a && b))?
            {
                return Ok(values);
            }
            count = (2 * count).min(limbs);
        }
    }

    fn push_digit(&mut self, ring: &Ring<W>, m: usize, residue: &LimbBuf<W>) {
        let modulus = ring.arithmetic(m);
        let (places, product) = places(&self.moduli, modulus);
        let mut digit = LimbBuf::unspecified(ring.n());
        if m == 0 {
            digit.copy_from_slice(residue);
        } else {
            let mut known = LimbBuf::unspecified(ring.n());
            let sources: Vec<&[W]> = self.digits.iter().map(|digit| &digit[..]).collect();
            ring.bconv(&[m], &mut [&mut known], &sources, &places);
            ring.sub_mul_c(m, &mut digit, residue, &known, modulus.inv(product));
        }
        self.digits.push(digit);
        self.moduli.push(modulus.value());
    }

    /// Whether the values, as the present digits tell them, have this residue modulo prime `m`.
    fn agrees(&self, ring: &Ring<W>, m: usize, residue: &LimbBuf<W>) -> bool {
        let modulus = ring.arithmetic(m);
        let (mut places, product) = places(&self.moduli, modulus);
        places.push(modulus.neg(product));
        let sources = self.digits.iter().chain([&self.signs]);
        let sources: Vec<&[W]> = sources.map(|limb| &limb[..]).collect();
        let mut converted = LimbBuf::unspecified(ring.n());
        ring.bconv(&[m], &mut [&mut converted], &sources, &places);
        converted[..] == residue[..]
    }

    fn find_signs(&mut self) {
        run_wide(
            self.simd,
            FindSigns {
                digits: &self.digits,
                moduli: &self.moduli,
                signs: &mut self.signs,
            },
        );
    }

    /// The values, in `(-Q/2, Q/2)`, rounded to f64; exact below 2^53.
    /// Infinite where they exceed the range of f64.
    pub(crate) fn to_f64(&self) -> Vec<f64> {
        let mut values = vec![0.0; self.signs.len()];
        run_wide(
            self.simd,
            ToFloat {
                digits: &self.digits,
                moduli: &self.moduli,
                signs: &self.signs,
                values: &mut values,
            },
        );
        values
    }

    /// The values, in `(-Q/2, Q/2)`, rounded to 106 bits; not finite where they
    /// exceed 2^995. Relative errors are below 2^-98 for up to 16 digits.
    pub(crate) fn to_wide(&self) -> Vec<DoubleDouble> {
        let one = DoubleDouble::from(1.0);
        (0..self.signs.len())
            .map(|at| {
                let negative = self.signs[at] != W::from_u64(0);
                let places = self.digits.iter().zip(&self.moduli).rev();
                let value = places.fold(DoubleDouble::default(), |value, (digit, &q)| {
                    let d = digit[at].to_u64();
                    // The digits of -1 - v are q - 1 - d.
                    let d = if negative { q - 1 - d } else { d };
                    value.mul(q.into()).add(d.into())
                });
                if negative {
                    value.add(one).neg()
                } else {
                    value
                }
            })
            .collect()
    }

    /// The values modulo t, in `[0, t)`.
    pub(crate) fn modulo(&self, t: u64) -> Vec<u64> {
        let modulus = Modulus::new(t);
        let (places, product) = places(&self.moduli, &modulus);
        let residues = Residues {
            digits: &self.digits,
            places: &places,
            signs: &self.signs,
            product,
            modulus,
        };
        residues.compute(self.simd)
    }
}

/// How many primes the first attempt takes: such that their product has
/// [`FIRST_BITS`], or all.
fn first_attempt<W: ClientWord>(ring: &Ring<W>, limbs: usize) -> usize {
    let mut bits = 0;
    (0..limbs)
        .take_while(|&m| {
            let more = bits < FIRST_BITS;
            bits += ring.modulus(m).ilog2();
            more
        })
        .count()
}

/// `P_0, P_1, .. P_(k-1)` and `P_k` modulo another prime.
fn places(moduli: &[u64], modulus: &Modulus) -> (Vec<u64>, u64) {
    let mut place = modulus.reduce(1);
    let mut places = Vec::with_capacity(moduli.len());
    for &q in moduli {
        places.push(place);
        place = modulus.mul(place, modulus.reduce(q));
    }
    (places, place)
}

/// Compares with the digits of `(Q - 1) / 2`.
struct FindSigns<'a, W: ClientWord> {
    digits: &'a [LimbBuf<W>],
    moduli: &'a [u64],
    signs: &'a mut [W],
}

impl<W: ClientWord> Kernel for FindSigns<'_, W> {
    #[inline(always)]
    fn run(self) {
        let (zero, one) = (W::from_u64(0), W::from_u64(1));
        for (number, signs) in self.signs.chunks_mut(CHUNK).enumerate() {
            signs.fill(zero);
            // From the bottom: every digit that differs overrules those below.
            for (digit, &q) in self.digits.iter().zip(self.moduli) {
                let half = W::from_u64((q - 1) / 2);
                let digit = &digit[number * CHUNK..][..signs.len()];
                for (sign, &d) in signs.iter_mut().zip(digit) {
                    let above = if d > half { one } else { zero };
                    *sign = if d == half { *sign } else { above };
                }
            }
        }
    }
}

/// Evaluates the digits from the top.
struct ToFloat<'a, W: ClientWord> {
    digits: &'a [LimbBuf<W>],
    moduli: &'a [u64],
    signs: &'a [W],
    values: &'a mut [f64],
}

impl<W: ClientWord> Kernel for ToFloat<'_, W> {
    #[inline(always)]
    fn run(self) {
        for (number, values) in self.values.chunks_mut(CHUNK).enumerate() {
            let at = number * CHUNK..number * CHUNK + values.len();
            let signs = &self.signs[at.clone()];
            for (digit, &q) in self.digits.iter().zip(self.moduli).rev() {
                for ((value, &d), &sign) in values.iter_mut().zip(&digit[at.clone()]).zip(signs) {
                    // The digits of -1 - v are q - 1 - d.
                    let (d, top) = (d.to_u64() as i64, (q - 1) as i64);
                    let d = if sign == W::from_u64(0) { d } else { top - d };
                    *value = *value * q as f64 + d as f64;
                }
            }
            for (value, &sign) in values.iter_mut().zip(signs) {
                let positive = sign == W::from_u64(0);
                *value = if positive { *value } else { -(*value + 1.0) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclotron_ring::primes::ntt_primes;

    /// Residues of integers.
    fn residues<W: ClientWord>(ring: &Ring<W>, values: &[i128]) -> Vec<LimbBuf<W>> {
        let residue = |m: usize| {
            let q = i128::from(ring.modulus(m));
            let words = values.iter().map(|v| W::from_u64(v.rem_euclid(q) as u64));
            words.collect()
        };
        (0..ring.moduli_count()).map(residue).collect()
    }

    fn centred<W: ClientWord>(ring: &Ring<W>, limbs: &[LimbBuf<W>]) -> CentredValues<W> {
        CentredValues::new(ring, limbs.len(), |m| Ok(limbs[m].clone())).expect("no error")
    }

    /// Values around 0, around the halves of the partial products at which
    /// attempts end, and at the edges of the range.
    fn edges(moduli: &[u64], n: usize) -> Vec<i128> {
        let mut edges = vec![0, 1, -1, 1 << 40, -(1 << 40)];
        let mut product = 1i128;
        for &q in moduli {
            product *= i128::from(q);
            let half = (product - 1) / 2;
            edges.extend([half, -half, half - 1, 1 - half, half / 3]);
        }
        // Nothing beyond the last half.
        edges.into_iter().cycle().take(n).collect()
    }

    fn values_come_back<W: ClientWord>(top: u64, count: usize) {
        for simd in Simd::available() {
            let moduli = ntt_primes(top, 2 << 8, count);
            let ring = Ring::<W>::new(8, &moduli, simd).expect("valid primes");
            let values = edges(&moduli, ring.n());
            let found = centred(&ring, &residues(&ring, &values));
            for t in [2, 3, 65537, (1 << 61) - 1] {
                let expected: Vec<u64> = values
                    .iter()
                    .map(|v| v.rem_euclid(i128::from(t)) as u64)
                    .collect();
                assert_eq!(found.modulo(t), expected, "{simd} mod {t}");
            }
            for (got, &want) in found.to_f64().iter().zip(&values) {
                let error = (got - want as f64).abs();
                assert!(error <= want.abs() as f64 * 1e-15, "{simd}: {got} {want}");
                assert!(want.abs() >= 1 << 53 || error == 0.0, "{got} {want}");
            }
            for (got, &want) in found.to_wide().iter().zip(&values) {
                let error = (got.hi as i128 + got.lo as i128 - want).abs();
                assert!(error <= want.abs() >> 98, "{simd}: {got:?} {want}");
            }
        }
    }

    #[test]
    fn large_values_come_back_from_all_residues() {
        values_come_back::<u32>(1 << 20, 6);
        values_come_back::<u64>(1 << 24, 5);
        values_come_back::<u64>(1 << 61, 2);
    }

    #[test]
    fn small_values_need_few_digits() {
        let moduli = ntt_primes(1 << 40, 2 << 8, 12);
        let ring = Ring::<u64>::new(8, &moduli, Simd::Scalar).expect("valid primes");
        let small: Vec<i128> = (0..256).map(|i| (i - 128) << 70).collect();
        assert_eq!(centred(&ring, &residues(&ring, &small)).digits.len(), 3);
        // One value beyond the first attempt, seen only modulo the last prime, takes more.
        let mut limbs = residues(&ring, &small);
        limbs[11][200] ^= 1;
        let found = centred(&ring, &limbs);
        assert_eq!(found.digits.len(), 12);
        assert_eq!(found.to_f64()[0], small[0] as f64);
        assert!(found.to_f64()[200].abs() > 2f64.powi(400));
    }
}
