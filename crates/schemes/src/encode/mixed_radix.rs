//! From residues to centred integers (Garner's mixed-radix form).
//!
//! A value v in `[0, Q)` is `d_0 + q_0 (d_1 + q_1 (d_2 + ..))` with digits
//! `d_i < q_i`. Since every q is odd, `(Q - 1) / 2` has the digits
//! `(q_i - 1) / 2`, so the sign of the centred value is found by comparing
//! digits from the top, exactly. The digits are computed limb by limb with the
//! ring's kernels: `d_i = ((v_i - d_0) / q_0 - d_1) / q_1 - ..  mod q_i`.

use std::sync::Arc;

use cyclotron_ring::Modulus;
use cyclotron_ring::{LimbBuf, Ring};

use crate::limbs::ClientWord;

/// The mixed-radix digits of N values modulo the first primes of a ring.
pub(crate) struct MixedRadix<W: ClientWord> {
    digits: Vec<LimbBuf<W>>,
    moduli: Vec<u64>,
}

impl<W: ClientWord> MixedRadix<W> {
    /// The digits of values given by their residues, limb i modulo prime i,
    /// coefficient domain.
    pub(crate) fn new(ring: &Ring<W>, residues: &[Arc<LimbBuf<W>>]) -> Self {
        let n = ring.n();
        let moduli: Vec<u64> = (0..residues.len()).map(|i| ring.modulus(i)).collect();
        let mut digits: Vec<LimbBuf<W>> = Vec::with_capacity(residues.len());
        let (mut reduced, mut next) = (LimbBuf::zeroed(n), LimbBuf::zeroed(n));
        for (i, residue) in residues.iter().enumerate() {
            let modulus = Modulus::new(moduli[i]);
            let mut current = LimbBuf::from_slice(residue);
            for (digit, &q) in digits.iter().zip(&moduli) {
                let inverse = modulus.inv(modulus.reduce(q));
                ring.mul_c(i, &mut reduced, digit, 1);
                ring.sub_mul_c(i, &mut next, &current, &reduced, inverse);
                std::mem::swap(&mut current, &mut next);
            }
            digits.push(current);
        }
        Self { digits, moduli }
    }

    fn n(&self) -> usize {
        self.digits.first().map_or(0, |digit| digit.len())
    }

    /// Whether value number `at` is above `(Q - 1) / 2`.
    fn is_negative(&self, at: usize) -> bool {
        for (digit, &q) in self.digits.iter().zip(&self.moduli).rev() {
            let (d, half) = (digit[at].to_u64(), (q - 1) / 2);
            if d != half {
                return d > half;
            }
        }
        false
    }

    /// The centred values, in `(-Q/2, Q/2)`, rounded to f64; exact below 2^53.
    /// Infinite where they exceed the range of f64.
    pub(crate) fn centred_f64(&self) -> Vec<f64> {
        (0..self.n())
            .map(|at| {
                let negative = self.is_negative(at);
                let mut value = 0.0;
                for (digit, &q) in self.digits.iter().zip(&self.moduli).rev() {
                    let d = digit[at].to_u64();
                    let d = if negative { q - 1 - d } else { d };
                    value = value * q as f64 + d as f64;
                }
                if negative { -(value + 1.0) } else { value }
            })
            .collect()
    }

    /// The centred values modulo t, in `[0, t)`.
    pub(crate) fn centred_mod(&self, t: u64) -> Vec<u64> {
        let modulus = Modulus::new(t);
        let reduced: Vec<u64> = self.moduli.iter().map(|&q| modulus.reduce(q)).collect();
        let product = reduced
            .iter()
            .fold(1, |product, &q| modulus.mul(product, q));
        (0..self.n())
            .map(|at| {
                let value = self
                    .digits
                    .iter()
                    .zip(&reduced)
                    .rev()
                    .fold(0, |value, (digit, &q)| {
                        modulus.add(modulus.mul(value, q), modulus.reduce(digit[at].to_u64()))
                    });
                if self.is_negative(at) {
                    modulus.sub(value, product)
                } else {
                    value
                }
            })
            .collect()
    }
}
