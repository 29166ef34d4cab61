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
    /// The values given by their residues, limb i modulo prime i, coefficient domain.
    pub(crate) fn new(ring: &Ring<W>, residues: &[LimbBuf<W>]) -> Self {
        let mut values = Self {
            digits: Vec::with_capacity(residues.len()),
            moduli: Vec::with_capacity(residues.len()),
            signs: LimbBuf::zeroed(ring.n()),
            simd: ring.simd(),
        };
        let mut count = first_attempt(ring, residues.len());
        loop {
            for (m, residue) in residues
                .iter()
                .enumerate()
                .take(count)
                .skip(values.digits.len())
            {
                values.push_digit(ring, m, residue);
            }
            values.find_signs();
            let agrees = |m: usize| values.agrees(ring, m, &residues[m]);
            // The first comparison alone finds nearly every disagreement.
            if count == residues.len()
                || agrees(count) && (count + 1..residues.len()).into_par_iter().all(agrees)
            {
                return values;
            }
            count = (2 * count).min(residues.len());
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

    /// The values modulo t, in `[0, t)`.
    pub(crate) fn modulo(&self, t: u64) -> Vec<u64> {
        let modulus = Modulus::new(t);
        let (places, product) = places(&self.moduli, &modulus);
        let mut values = vec![0; self.signs.len()];
        for (at, value) in values.iter_mut().enumerate() {
            let terms = self.digits.iter().zip(&places);
            let sum = terms.fold(0, |sum, (digit, &place)| {
                modulus.add(sum, modulus.mul(digit[at].to_u64(), place))
            });
            let negative = 0u64.wrapping_sub(self.signs[at].to_u64());
            *value = modulus.sub(sum, product & negative);
        }
        values
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
