//! The suite of kernels: transforms, and what else key switches are made of.

use std::marker::PhantomData;

use cyclotron_ring::{LimbBuf, Ring, Simd, Word, primes};
use serde_json::json;

use crate::case::{Case, Checked, Description, Facts, Suite};
use crate::error::DriverError;
use crate::transforms::{Direction, Transform};
use crate::work::{Classes, Work};

/// Classes of primes: the largest below 2^bits.
const BITS: [u32; 5] = [30, 31, 32, 50, 60];

/// Limbs of each side of base conversions and inner products.
const LIMBS: usize = 8;

const OTHERS: [&str; 5] = ["bconv8", "dot8", "mul", "mac", "add"];

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
    let direction = match kernel {
        "forward" => Some(Direction::Forward),
        "inverse" => Some(Direction::Inverse),
        _ => None,
    };
    let count = if direction.is_some() { 1 } else { 2 * LIMBS };
    let ring = Ring::<W>::new(log_n, &largest(bits, log_n, count), Simd::detect()?)?;
    Ok(match (direction, kernel) {
        (Some(direction), _) => Box::new(Transform::new(ring, direction)),
        (None, "bconv8") => Box::new(Limbwise::<W, Convert>::new(ring)),
        (None, "dot8") => Box::new(Limbwise::<W, Dot>::new(ring)),
        (None, "mul") => Box::new(Limbwise::<W, Multiply>::new(ring)),
        (None, "mac") => Box::new(Limbwise::<W, Accumulate>::new(ring)),
        _ => Box::new(Limbwise::<W, Add>::new(ring)),
    })
}

/// A kernel on whole limbs.
trait Kernel<W: Word> {
    /// Destination limbs.
    const OUTPUTS: usize;
    /// Source limbs.
    const INPUTS: usize;

    fn call(ring: &Ring<W>, dst: &mut [LimbBuf<W>], src: &[LimbBuf<W>]);

    /// Destination `j` at one index, from the sources there.
    fn expected(j: usize, src: &[u64], primes: &[u64]) -> u64;

    fn count(work: &mut Work, classes: &Classes);
}

/// A kernel with its operands: limb i is modulo prime i.
struct Limbwise<W: Word, K> {
    ring: Ring<W>,
    dst: Vec<LimbBuf<W>>,
    src: Vec<LimbBuf<W>>,
    kernel: PhantomData<K>,
}

impl<W: Word, K: Kernel<W>> Limbwise<W, K> {
    fn new(ring: Ring<W>) -> Self {
        let limb = |i: usize| {
            let q = ring.modulus(i % ring.moduli_count());
            let words = (0..ring.n() as u64).map(|x| W::from_u64((x * x + 1 + i as u64) % q));
            LimbBuf::from_slice(&words.collect::<Vec<_>>())
        };
        Self {
            src: (0..K::INPUTS).map(limb).collect(),
            dst: (0..K::OUTPUTS).map(limb).collect(),
            ring,
            kernel: PhantomData,
        }
    }
}

impl<W: Word, K: Kernel<W>> Case for Limbwise<W, K> {
    fn run(&mut self) -> Result<Option<f64>, DriverError> {
        K::call(&self.ring, std::hint::black_box(&mut self.dst), &self.src);
        Ok(None)
    }

    fn check(&mut self) -> Result<Checked, DriverError> {
        K::call(&self.ring, &mut self.dst, &self.src);
        let primes: Vec<u64> = (0..self.ring.moduli_count())
            .map(|m| self.ring.modulus(m))
            .collect();
        let (mut values, mut expected) = (Vec::new(), Vec::new());
        for i in 0..8 {
            let j = i % K::OUTPUTS;
            let at = self.ring.n() - 1 - 37 * i;
            let src: Vec<u64> = self.src.iter().map(|limb| limb[at].to_u64()).collect();
            values.push(self.dst[j][at].to_u64());
            expected.push(K::expected(j, &src, &primes));
        }
        Ok(Checked::new(&values, &expected))
    }

    fn work(&self) -> Option<Work> {
        let limb = (self.ring.n() * size_of::<W>()) as f64;
        let mut work = Work {
            bytes_read: limb * K::INPUTS as f64,
            bytes_written: limb * K::OUTPUTS as f64,
            ..Work::default()
        };
        K::count(&mut work, &Classes::new(&self.ring));
        Some(work)
    }
}

/// Modulo prime 0, of products of any words.
fn reduced(sum: u128, q: u64) -> u64 {
    (sum % u128::from(q)) as u64
}

/// 8 limbs to 8 other primes, by one constant for all.
struct Convert;

const ENTRY: u64 = 0x1234_5678_9abc;

impl<W: Word> Kernel<W> for Convert {
    const OUTPUTS: usize = LIMBS;
    const INPUTS: usize = LIMBS;

    fn call(ring: &Ring<W>, dst: &mut [LimbBuf<W>], src: &[LimbBuf<W>]) {
        let primes: Vec<usize> = (LIMBS..2 * LIMBS).collect();
        let mut dsts: Vec<&mut [W]> = dst.iter_mut().map(|limb| &mut limb[..]).collect();
        let srcs: Vec<&[W]> = src.iter().map(|limb| &limb[..]).collect();
        ring.bconv(&primes, &mut dsts, &srcs, &[ENTRY; LIMBS * LIMBS]);
    }

    fn expected(j: usize, src: &[u64], primes: &[u64]) -> u64 {
        let sum: u128 = src.iter().map(|&x| u128::from(x)).sum();
        let q = primes[LIMBS + j];
        reduced(u128::from(reduced(sum, q)) * u128::from(ENTRY), q)
    }

    fn count(work: &mut Work, classes: &Classes) {
        (LIMBS..2 * LIMBS).for_each(|m| work.sum(classes, m, LIMBS as f64));
    }
}

/// The inner product of 8 limbs with 8 others.
struct Dot;

impl<W: Word> Kernel<W> for Dot {
    const OUTPUTS: usize = 1;
    const INPUTS: usize = 2 * LIMBS;

    fn call(ring: &Ring<W>, dst: &mut [LimbBuf<W>], src: &[LimbBuf<W>]) {
        let (a, b) = src.split_at(LIMBS);
        let pairs: Vec<_> = a.iter().zip(b).map(|(a, b)| (&a[..], &b[..])).collect();
        ring.dot(0, &mut dst[0], &pairs);
    }

    fn expected(_: usize, src: &[u64], primes: &[u64]) -> u64 {
        let product = |i: usize| u128::from(src[i]) * u128::from(src[i + LIMBS]);
        let q = u128::from(primes[0]);
        reduced((0..LIMBS).map(|i| product(i) % q).sum(), primes[0])
    }

    fn count(work: &mut Work, classes: &Classes) {
        work.sum(classes, 0, LIMBS as f64);
    }
}

/// A product of two limbs.
struct Multiply;

impl<W: Word> Kernel<W> for Multiply {
    const OUTPUTS: usize = 1;
    const INPUTS: usize = 2;

    fn call(ring: &Ring<W>, dst: &mut [LimbBuf<W>], src: &[LimbBuf<W>]) {
        ring.mul(0, &mut dst[0], &src[0], &src[1]);
    }

    fn expected(_: usize, src: &[u64], primes: &[u64]) -> u64 {
        reduced(u128::from(src[0]) * u128::from(src[1]), primes[0])
    }

    fn count(work: &mut Work, classes: &Classes) {
        work.products(classes, 0, 1.0);
    }
}

/// A product added to a limb.
struct Accumulate;

impl<W: Word> Kernel<W> for Accumulate {
    const OUTPUTS: usize = 1;
    const INPUTS: usize = 3;

    fn call(ring: &Ring<W>, dst: &mut [LimbBuf<W>], src: &[LimbBuf<W>]) {
        ring.mac(0, &mut dst[0], &src[0], &src[1], &src[2]);
    }

    fn expected(_: usize, src: &[u64], primes: &[u64]) -> u64 {
        let product = u128::from(src[1]) * u128::from(src[2]);
        reduced(product + u128::from(src[0]), primes[0])
    }

    fn count(work: &mut Work, classes: &Classes) {
        work.products(classes, 0, 1.0);
    }
}

/// A sum of two limbs.
struct Add;

impl<W: Word> Kernel<W> for Add {
    const OUTPUTS: usize = 1;
    const INPUTS: usize = 2;

    fn call(ring: &Ring<W>, dst: &mut [LimbBuf<W>], src: &[LimbBuf<W>]) {
        ring.add(0, &mut dst[0], &src[0], &src[1]);
    }

    fn expected(_: usize, src: &[u64], primes: &[u64]) -> u64 {
        reduced(u128::from(src[0]) + u128::from(src[1]), primes[0])
    }

    fn count(_: &mut Work, _: &Classes) {}
}
