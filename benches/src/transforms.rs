//! The transforms.

use cyclotron_ring::{LimbBuf, Ring, Word};
use serde_json::Value;

use crate::case::{Case, Checked};
use crate::error::DriverError;
use crate::work::{Classes, Work};

/// Which transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Coefficients to values.
    Forward,
    /// Values to coefficients, divided by N.
    Inverse,
}

/// One limb, transformed in place.
pub(crate) struct Transform<W: Word> {
    ring: Ring<W>,
    data: LimbBuf<W>,
    direction: Direction,
}

impl<W: Word> Transform<W> {
    /// Of a ring with one prime.
    pub(crate) fn new(ring: Ring<W>, direction: Direction) -> Self {
        let data = LimbBuf::from_slice(&residues(&ring));
        Self {
            ring,
            data,
            direction,
        }
    }
}

/// The coefficients `x_i = (i i + 1) mod q`.
fn residues<W: Word>(ring: &Ring<W>) -> Vec<W> {
    let q = ring.modulus(0);
    (0..ring.n() as u64)
        .map(|i| W::from_u64((i * i + 1) % q))
        .collect()
}

/// Coefficient `k` of `x x` modulo `X^N + 1`, from the definition.
fn square_coefficient(x: &[u64], k: usize, q: u64) -> u64 {
    let n = x.len();
    let (mut sum, q) = (0, u128::from(q));
    for (i, &a) in x.iter().enumerate() {
        let product = u128::from(a) * u128::from(x[(n + k - i) % n]) % q;
        sum += if i <= k { product } else { q - product };
    }
    (sum % q) as u64
}

impl<W: Word> Case for Transform<W> {
    fn run(&mut self) -> Result<Option<f64>, DriverError> {
        let data = std::hint::black_box(&mut self.data);
        match self.direction {
            Direction::Forward => self.ring.ntt_in_place(0, data),
            Direction::Inverse => self.ring.intt_in_place(0, data),
        }
        Ok(None)
    }

    fn check(&mut self) -> Result<Checked, DriverError> {
        let x = residues(&self.ring);
        let mut values = LimbBuf::from_slice(&x);
        self.ring.ntt_in_place(0, &mut values);
        let mut square = LimbBuf::zeroed(self.ring.n());
        self.ring.mul(0, &mut square, &values, &values);
        self.ring.intt_in_place(0, &mut square);
        let x: Vec<u64> = x.iter().map(|word| word.to_u64()).collect();
        let q = self.ring.modulus(0);
        let expected = (0..8).map(|k| Value::from(square_coefficient(&x, k, q)));
        let found = square.iter().take(8).map(|word| Value::from(word.to_u64()));
        Ok(Checked {
            values: found.collect(),
            expected: expected.collect(),
        })
    }

    fn work(&self) -> Option<Work> {
        let bytes = (self.ring.n() * size_of::<W>()) as f64;
        let mut work = Work {
            bytes_read: bytes,
            bytes_written: bytes,
            ..Work::default()
        };
        work.transforms(&Classes::new(&self.ring), 0, 1.0);
        Some(work)
    }
}
