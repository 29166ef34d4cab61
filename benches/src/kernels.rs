//! The suite of kernels: transforms, and what else key switches are made of.

use cyclotron_ring::{Ring, Simd, Word, primes};
use serde_json::json;

use crate::case::{Case, Description, Facts, Suite};
use crate::error::DriverError;
use crate::limbwise::{Accumulate, Add, Convert, Dots, LIMBS, Limbwise, Multiply, Permute};
use crate::transforms::{Direction, Transform};

/// Classes of primes: the largest below 2^bits.
const BITS: [u32; 5] = [30, 31, 32, 50, 60];

const OTHERS: [&str; 8] = [
    "bconv8",
    "bconv8to16",
    "dot8",
    "hints3",
    "aut",
    "mul",
    "mac",
    "add",
];

/// The suite of kernels.
pub struct Kernels {
    log_n: Vec<u32>,
}

impl Kernels {
    /// The kernels at N = 2^14 and 2^16, or at every N from 2^10 to 2^17.
    #[must_use]
    pub fn new(all: bool) -> Self {
        let log_n = if all {
            (10..=17).collect()
        } else {
            vec![14, 16]
        };
        Self { log_n }
    }
}

/// The largest primes of a class that a ring of this degree has.
pub(crate) fn largest(bits: u32, log_n: u32, count: usize) -> Vec<u64> {
    primes::ntt_primes(1 << bits, 2 << log_n, count)
}

fn facts(log_n: u32, bits: u32) -> Facts {
    let mut facts = Facts::new();
    facts.insert("log_n".into(), json!(log_n));
    if let Some(prime) = largest(bits, log_n, 1).first() {
        facts.insert("prime".into(), json!(prime));
    }
    facts
}

impl Suite for Kernels {
    fn cases(&self) -> Vec<Description> {
        let mut cases = Vec::new();
        for &log_n in &self.log_n {
            for bits in BITS {
                let mut add = |kernel: &str| {
                    cases.push(Description {
                        case: format!("{kernel}/{bits}bit/n{log_n}"),
                        parameters: facts(log_n, bits),
                    });
                };
                add("ntt/forward");
                add("ntt/inverse");
                // The other kernels serve all 32-bit primes alike.
                if bits >= 32 {
                    OTHERS.into_iter().for_each(&mut add);
                }
            }
        }
        cases
    }

    fn prepare(&mut self, name: &str) -> Result<Box<dyn Case>, DriverError> {
        let unknown = || DriverError::UnknownCase(name.to_owned());
        if !self.cases().iter().any(|known| known.case == name) {
            return Err(unknown());
        }
        let mut words = name.rsplit('/');
        let mut number = |trimmed: fn(&str) -> Option<&str>| {
            let digits = words.next().and_then(trimmed);
            digits.and_then(|digits| digits.parse::<u32>().ok())
        };
        let log_n = number(|word| word.strip_prefix('n')).ok_or_else(unknown)?;
        let bits = number(|word| word.strip_suffix("bit")).ok_or_else(unknown)?;
        let kernel = words.next().ok_or_else(unknown)?;
        if bits <= 32 {
            ready::<u32>(kernel, bits, log_n)
        } else {
            ready::<u64>(kernel, bits, log_n)
        }
    }

    fn release(&mut self, _: &str) {}
}

fn ready<W: Word>(kernel: &str, bits: u32, log_n: u32) -> Result<Box<dyn Case>, DriverError> {
    let ring = |primes| -> Result<Ring<W>, DriverError> {
        let moduli = largest(bits, log_n, primes);
        Ok(Ring::new(log_n, &moduli, Simd::detect()?)?)
    };
    Ok(match kernel {
        "forward" => Box::new(Transform::new(ring(1)?, Direction::Forward)),
        "inverse" => Box::new(Transform::new(ring(1)?, Direction::Inverse)),
        "bconv8" => Box::new(Limbwise::<W, Convert<LIMBS>>::new(ring(2 * LIMBS)?)),
        "bconv8to16" => Box::new(Limbwise::<W, Convert<16>>::new(ring(LIMBS + 16)?)),
        "dot8" => Box::new(Limbwise::<W, Dots<8, 1>>::new(ring(1)?)),
        "hints3" => Box::new(Limbwise::<W, Dots<3, 2>>::new(ring(1)?)),
        "aut" => Box::new(Limbwise::<W, Permute>::new(ring(1)?)),
        "mul" => Box::new(Limbwise::<W, Multiply>::new(ring(1)?)),
        "mac" => Box::new(Limbwise::<W, Accumulate>::new(ring(1)?)),
        _ => Box::new(Limbwise::<W, Add>::new(ring(1)?)),
    })
}
