//! BGV slots: integers modulo t to coefficients and back.
//!
//! With t = 1 mod 2m, m a power of two not above N, plaintexts live in the
//! subring of polynomials in `x^(N/m)`, which modulo t splits into m slots. Let
//! psi be the least primitive 2m-th root of unity modulo t. Slot j < m/2 is
//! the value at `psi^(5^j)` (row 0), slot m/2 + j the value at `psi^(-5^j)`
//! (row 1). The automorphism `x -> x^(5^k mod 2N)` rotates both rows left by
//! k, `x -> x^(2N - 1)` swaps them.
//!
//! From 16 slots on the transform is an NTT modulo t; fewer are evaluated directly.

use cyclotron_ring::Modulus;
use cyclotron_ring::primes::least_primitive_root;
use cyclotron_ring::{Ring, Simd};

use crate::error::{ParameterError, SchemeError};
use crate::params::Parameters;

/// log2 of the smallest degree that a ring supports.
const MIN_RING_LOG: u32 = 4;

/// The transform between slots and coefficients for one t and N.
#[derive(Debug)]
pub struct SlotCodec {
    t: u64,
    n: usize,
    slots: usize,
    transform: Transform,
}

#[derive(Debug)]
enum Transform {
    /// Evaluation index of each slot in the ring's order.
    Ntt { ring: Ring<u64>, index: Vec<u32> },
    /// The root that belongs to each slot.
    Direct { modulus: Modulus, roots: Vec<u64> },
}

impl SlotCodec {
    /// Tables for the parameters' t and N.
    ///
    /// # Errors
    /// If the ring refuses t.
    pub fn new(params: &Parameters) -> Result<Self, ParameterError> {
        let (t, slots) = (params.plaintext_modulus, params.slots());
        let log_m = slots.ilog2();
        let exponents = slot_exponents(slots);
        let transform = if log_m >= MIN_RING_LOG {
            let ring = Simd::detect()
                .and_then(|simd| Ring::new(log_m, &[t], simd))
                .map_err(|error| ParameterError::Ring(error.to_string()))?;
            let index = exponents
                .iter()
                .map(|&e| (((e - 1) / 2) as u32).reverse_bits() >> (32 - log_m))
                .collect();
            Transform::Ntt { ring, index }
        } else {
            let modulus = Modulus::new(t);
            let psi = least_primitive_root(&modulus, 2 * slots as u64);
            let roots = exponents
                .iter()
                .map(|&e| modulus.pow(psi, e as u64))
                .collect();
            Transform::Direct { modulus, roots }
        };
        Ok(Self {
            t,
            n: params.n(),
            slots,
            transform,
        })
    }

    /// Number of slots m.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The coefficients, in `(-t/2, t/2]`, of the polynomial with these slots,
    /// each taken modulo t and multiplied by `factor`; missing slots are 0.
    ///
    /// # Errors
    /// [`SchemeError::TooManySlots`].
    pub fn coefficients(&self, values: &[i64], factor: u64) -> Result<Vec<i64>, SchemeError> {
        if values.len() > self.slots {
            return Err(SchemeError::TooManySlots {
                values: values.len(),
                slots: self.slots,
                hint: if self.slots < self.n {
                    format!(
                        " (plaintext modulus {} has {} slots; one that is 1 mod {} has {})",
                        self.t,
                        self.slots,
                        2 * self.n,
                        self.n
                    )
                } else {
                    String::new()
                },
            });
        }
        let modulus = Modulus::new(self.t);
        let dense = self.interpolate(values, factor, &modulus);
        let mut coefficients = vec![0; self.n];
        let stride = self.n / self.slots;
        for (c, &r) in coefficients.iter_mut().step_by(stride).zip(&dense) {
            *c = modulus.centered(r);
        }
        Ok(coefficients)
    }

    /// The slots, in `[0, t)`, of the polynomial with these N coefficients in
    /// `[0, t)`, multiplied by `factor`. Coefficients outside the subring are ignored.
    #[must_use]
    pub fn slots_of(&self, coefficients: &[u64], factor: u64) -> Vec<u64> {
        let stride = self.n / self.slots;
        let dense: Vec<u64> = coefficients.iter().step_by(stride).copied().collect();
        match &self.transform {
            Transform::Ntt { ring, index } => {
                let (mut evaluated, mut scaled) = (dense, vec![0; self.slots]);
                ring.ntt_in_place(0, &mut evaluated);
                ring.mul_c(0, &mut scaled, &evaluated, factor);
                index.iter().map(|&i| scaled[i as usize]).collect()
            }
            Transform::Direct { modulus, roots } => {
                let value = |&root: &u64| {
                    let terms = dense.iter().rev();
                    let sum = terms.fold(0, |sum, &c| modulus.add(modulus.mul(sum, root), c));
                    modulus.mul(sum, factor)
                };
                roots.iter().map(value).collect()
            }
        }
    }

    /// Coefficients in `[0, t)` of the polynomial in `x^(N/m)` with these slots,
    /// times `factor`.
    fn interpolate(&self, values: &[i64], factor: u64, modulus: &Modulus) -> Vec<u64> {
        match &self.transform {
            Transform::Ntt { ring, index } => {
                let mut padded = values.to_vec();
                padded.resize(self.slots, 0);
                let (mut reduced, mut scaled) = (vec![0; self.slots], vec![0; self.slots]);
                ring.reduce_signed(0, &mut reduced, &padded);
                ring.mul_c(0, &mut scaled, &reduced, factor);
                let mut evaluated = reduced;
                for (&i, &r) in index.iter().zip(&scaled) {
                    evaluated[i as usize] = r;
                }
                ring.intt_in_place(0, &mut evaluated);
                evaluated
            }
            // The roots are those of y^m + 1, so the inverse of the evaluation
            // matrix is its transpose with inverted roots, divided by m.
            Transform::Direct { roots, .. } => {
                let m = self.slots as u64;
                let scale = modulus.mul(modulus.inv(m % self.t), factor);
                let residues: Vec<u64> = values.iter().map(|&v| modulus.from_signed(v)).collect();
                (0..m)
                    .map(|k| {
                        let sum = residues.iter().zip(roots).fold(0, |sum, (&r, &root)| {
                            let inverse = modulus.inv(modulus.pow(root, k));
                            modulus.add(sum, modulus.mul(r, inverse))
                        });
                        modulus.mul(sum, scale)
                    })
                    .collect()
            }
        }
    }
}

/// The odd exponent, modulo 2m, of the root of each slot.
fn slot_exponents(slots: usize) -> Vec<usize> {
    let order = 2 * slots;
    let row = (slots / 2).max(1);
    let mut powers = Vec::with_capacity(slots);
    let mut power = 1 % order;
    for _ in 0..row {
        powers.push(power);
        power = power * 5 % order;
    }
    if slots > 1 {
        powers.extend_from_within(..);
        for power in &mut powers[row..] {
            *power = order - *power;
        }
    }
    powers
}
