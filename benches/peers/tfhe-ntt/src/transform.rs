//! One negacyclic transform, in words of 32 or of 64 bits.

use std::hint::black_box;

use tfhe_ntt::prime::largest_prime_in_arithmetic_progression64;
use tfhe_ntt::{prime32, prime64};

/// Coefficients that a check compares.
const CHECKED: usize = 8;

/// What is measured.
#[derive(Clone, Copy)]
pub enum Direction {
    Forward,
    /// Without the division by N.
    Inverse,
    InverseNormalized,
}

impl Direction {
    /// The parts of a case's name: what it is, and the end of a variant's name.
    pub fn name(self) -> (&'static str, &'static str) {
        match self {
            Direction::Forward => ("forward", ""),
            Direction::Inverse => ("inverse", ""),
            Direction::InverseNormalized => ("inverse", "/normalized"),
        }
    }
}

/// The largest prime below 2^bits that is 1 modulo 2N.
pub fn prime_below(bits: u32, log_n: u32) -> Option<u64> {
    let least = 1u64 << (bits - 1);
    largest_prime_in_arithmetic_progression64(2 << log_n, 1, least, 2 * least - 1)
}

/// A plan, and words that it transforms in place.
pub enum Transform {
    Narrow(Box<prime32::Plan>, Vec<u32>),
    Wide(Box<prime64::Plan>, Vec<u64>),
}

impl Transform {
    /// A transform of n words; `None` if the crate has no plan for the prime.
    pub fn new(n: usize, prime: u64) -> Option<Self> {
        if let Ok(narrow) = u32::try_from(prime) {
            let words = coefficients(n, prime).map(|x| x as u32).collect();
            return Some(Self::Narrow(
                Box::new(prime32::Plan::try_new(n, narrow)?),
                words,
            ));
        }
        let words = coefficients(n, prime).collect();
        Some(Self::Wide(
            Box::new(prime64::Plan::try_new(n, prime)?),
            words,
        ))
    }

    /// Transforms the words in place.
    pub fn apply(&mut self, direction: Direction) {
        match self {
            Self::Narrow(plan, words) => {
                let words = black_box(words);
                match direction {
                    Direction::Forward => plan.fwd(words),
                    Direction::Inverse => plan.inv(words),
                    Direction::InverseNormalized => {
                        plan.inv(words);
                        plan.normalize(words);
                    }
                }
                black_box(words);
            }
            Self::Wide(plan, words) => {
                let words = black_box(words);
                match direction {
                    Direction::Forward => plan.fwd(words),
                    Direction::Inverse => plan.inv(words),
                    Direction::InverseNormalized => {
                        plan.inv(words);
                        plan.normalize(words);
                    }
                }
                black_box(words);
            }
        }
    }

    /// The first coefficients of x x modulo X^N + 1: by the transform, and by the definition.
    pub fn square(&self) -> Result<(Vec<u64>, Vec<u64>), String> {
        let (prime, n) = match self {
            Self::Narrow(plan, words) => (u64::from(plan.modulus()), words.len()),
            Self::Wide(plan, words) => (plan.modulus(), words.len()),
        };
        let x: Vec<u64> = coefficients(n, prime).collect();
        let (back, product) = match self {
            Self::Narrow(plan, _) => {
                let mut words: Vec<u32> = x.iter().map(|&x| x as u32).collect();
                plan.fwd(&mut words);
                let mut product = words.clone();
                plan.mul_assign_normalize(&mut product, &words);
                plan.inv(&mut product);
                plan.inv(&mut words);
                plan.normalize(&mut words);
                let widen = |words: Vec<u32>| words.into_iter().map(u64::from).collect::<Vec<_>>();
                (widen(words), widen(product))
            }
            Self::Wide(plan, _) => {
                let mut words = x.clone();
                plan.fwd(&mut words);
                let mut product = words.clone();
                plan.mul_assign_normalize(&mut product, &words);
                plan.inv(&mut product);
                plan.inv(&mut words);
                plan.normalize(&mut words);
                (words, product)
            }
        };
        if back != x {
            return Err(format!(
                "the inverse of the forward transform differs modulo {prime}"
            ));
        }
        let expected = (0..CHECKED).map(|k| square_coefficient(&x, k, prime));
        Ok((product[..CHECKED].to_vec(), expected.collect()))
    }
}

/// x_i = (i i + 1) mod q.
fn coefficients(n: usize, prime: u64) -> impl Iterator<Item = u64> {
    (0..n as u64).map(move |i| (i * i + 1) % prime)
}

/// Coefficient k of x x modulo X^N + 1, by the definition.
fn square_coefficient(x: &[u64], k: usize, prime: u64) -> u64 {
    let q = u128::from(prime);
    let mut sum = 0u128;
    for (i, &a) in x.iter().enumerate() {
        let (j, wraps) = if i <= k {
            (k - i, false)
        } else {
            (k + x.len() - i, true)
        };
        let product = u128::from(a) * u128::from(x[j]) % q;
        sum += if wraps { q - product } else { product };
    }
    (sum % q) as u64
}
