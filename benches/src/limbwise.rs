//! Kernels on whole limbs, with the definitions that they are checked with.

use std::marker::PhantomData;

use cyclotron_ring::{LimbBuf, Ring, Word};

use crate::case::{Case, Checked};
use crate::error::DriverError;
use crate::work::{Classes, Work};

/// Source limbs of base conversions.
pub(crate) const LIMBS: usize = 8;

/// A kernel on whole limbs.
pub(crate) trait Kernel<W: Word> {
    /// Destination limbs.
    const OUTPUTS: usize;
    /// Source limbs.
    const INPUTS: usize;

    fn call(ring: &Ring<W>, dst: &mut [LimbBuf<W>], src: &[LimbBuf<W>]);

    /// Destination `j` at one index, from the sources there.
    fn expected(j: usize, src: &[u64], primes: &[u64]) -> u64;

    /// The index at which the sources of index `at` lie.
    fn source_of(_n: usize, at: usize) -> usize {
        at
    }

    fn count(work: &mut Work, classes: &Classes);
}

/// A kernel with its operands: limb i is modulo prime i.
pub(crate) struct Limbwise<W: Word, K> {
    ring: Ring<W>,
    dst: Vec<LimbBuf<W>>,
    src: Vec<LimbBuf<W>>,
    kernel: PhantomData<K>,
}

impl<W: Word, K: Kernel<W>> Limbwise<W, K> {
    /// With operands for a ring whose primes are those that the kernel uses.
    pub(crate) fn new(ring: Ring<W>) -> Self {
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
            let j = 3 * i % K::OUTPUTS;
            let at = self.ring.n() - 1 - 37 * i;
            let from = K::source_of(self.ring.n(), at);
            let src: Vec<u64> = self.src.iter().map(|limb| limb[from].to_u64()).collect();
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

/// A sum that fits 128 bits.
fn reduced(sum: u128, q: u64) -> u64 {
    (sum % u128::from(q)) as u64
}

/// 8 limbs to so many other primes.
pub(crate) struct Convert<const TO: usize>;

/// The matrix.
fn entry(i: usize, j: usize) -> u64 {
    0x1234_5678_9abc + (977 * i + j) as u64
}

impl<W: Word, const TO: usize> Kernel<W> for Convert<TO> {
    const OUTPUTS: usize = TO;
    const INPUTS: usize = LIMBS;

    fn call(ring: &Ring<W>, dst: &mut [LimbBuf<W>], src: &[LimbBuf<W>]) {
        let primes: Vec<usize> = (LIMBS..LIMBS + TO).collect();
        let mut dsts: Vec<&mut [W]> = dst.iter_mut().map(|limb| &mut limb[..]).collect();
        let srcs: Vec<&[W]> = src.iter().map(|limb| &limb[..]).collect();
        let row = |i| (0..TO).map(move |j| entry(i, j));
        let matrix: Vec<u64> = (0..LIMBS).flat_map(row).collect();
        ring.bconv(&primes, &mut dsts, &srcs, &matrix);
    }

    fn expected(j: usize, src: &[u64], primes: &[u64]) -> u64 {
        let q = primes[LIMBS + j];
        let product = |(i, &x): (usize, &u64)| u128::from(x) * u128::from(entry(i, j));
        let products = src.iter().enumerate().map(product);
        reduced(products.map(|x| x % u128::from(q)).sum(), q)
    }

    fn count(work: &mut Work, classes: &Classes) {
        (LIMBS..LIMBS + TO).for_each(|m| work.sum(classes, m, LIMBS as f64));
    }
}

/// Inner products of so many limbs with others, such as digits with the polynomials
/// of a key-switch hint: the limbs come first, then for each result the others.
pub(crate) struct Dots<const TERMS: usize, const RESULTS: usize>;

impl<W: Word, const TERMS: usize, const RESULTS: usize> Kernel<W> for Dots<TERMS, RESULTS> {
    const OUTPUTS: usize = RESULTS;
    const INPUTS: usize = (1 + RESULTS) * TERMS;

    fn call(ring: &Ring<W>, dst: &mut [LimbBuf<W>], src: &[LimbBuf<W>]) {
        let (limbs, others) = src.split_at(TERMS);
        for (dst, others) in dst.iter_mut().zip(others.chunks(TERMS)) {
            let pairs = limbs.iter().zip(others);
            let pairs: Vec<_> = pairs.map(|(a, b)| (&a[..], &b[..])).collect();
            ring.dot(0, dst, &pairs);
        }
    }

    fn expected(j: usize, src: &[u64], primes: &[u64]) -> u64 {
        let product = |i: usize| u128::from(src[i]) * u128::from(src[(j + 1) * TERMS + i]);
        let q = u128::from(primes[0]);
        reduced((0..TERMS).map(|i| product(i) % q).sum(), primes[0])
    }

    fn count(work: &mut Work, classes: &Classes) {
        (0..RESULTS).for_each(|_| work.sum(classes, 0, TERMS as f64));
    }
}

/// The automorphism x -> x^5, in evaluation domain.
pub(crate) struct Permute;

impl<W: Word> Kernel<W> for Permute {
    const OUTPUTS: usize = 1;
    const INPUTS: usize = 1;

    fn call(ring: &Ring<W>, dst: &mut [LimbBuf<W>], src: &[LimbBuf<W>]) {
        ring.aut_eval(5, &mut dst[0], &src[0]);
    }

    fn expected(_: usize, src: &[u64], _: &[u64]) -> u64 {
        src[0]
    }

    /// Index i holds the value at the root's power 2 brv(i) + 1.
    fn source_of(n: usize, at: usize) -> usize {
        let reversed = |i: usize| i.reverse_bits() >> (usize::BITS - n.ilog2());
        let power = 5 * (2 * reversed(at) + 1) % (2 * n);
        reversed(power / 2)
    }

    fn count(_: &mut Work, _: &Classes) {}
}

/// A product of two limbs.
pub(crate) struct Multiply;

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
pub(crate) struct Accumulate;

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
pub(crate) struct Add;

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
