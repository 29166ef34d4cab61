//! The least that work needs of a machine: bytes moved and multiplications.
//!
//! # What is counted
//! *Bytes*: every input limb is read once and every output limb written once;
//! what happens between them may stay in caches. *Multiplications*: vector (or
//! scalar) multiply instructions of the kernels' class, whatever else a kernel
//! does. A modular product by a known constant is three of them on a vector of
//! words as wide as the multiplier: the quotient's estimate, the lower half of
//! the product, and that of the quotient times the modulus.
//!
//! | class | words a vector | butterfly, by a constant | product | pair of a sum | reduction of a sum |
//! | --- | --- | --- | --- | --- | --- |
//! | `ifma52` | 8 of 64 bits | 3 | 4 | 2 | 4 |
//! | 32-bit | 16 of 32 bits, two multiplications for all | 6 | 6 | 2 | 4 |
//! | 64-bit, from 32-bit halves | 8 of 64 bits | 10 | 11 | 4 | 11 |
//!
//! With 256-bit vectors there are half as many words, without vectors one and
//! the counts of the first row. Additions, comparisons and shuffles are not
//! counted: the bound is optimistic, and no implementation reaches it.

use cyclotron_isa::{InstView, LimbProgram, Op, Procedure};
use cyclotron_ring::{Ring, Simd, Word};
use cyclotron_schemes::AnyRing;
use serde::Serialize;

/// Which multiplier a kernel keeps busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Multiplier {
    /// 52-bit products in 512-bit vectors.
    Ifma,
    /// 32-bit products in vectors.
    Vector32,
    /// 64-bit products of single words.
    Scalar,
}

/// The least that a piece of work needs.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Work {
    /// Bytes of the inputs.
    pub bytes_read: f64,
    /// Bytes of the outputs.
    pub bytes_written: f64,
    /// Vector multiplications of 52-bit words.
    pub ifma: f64,
    /// Vector multiplications of 32-bit words.
    pub vector32: f64,
    /// Scalar multiplications.
    pub scalar: f64,
}

/// Multiply instructions per word, by what is computed.
#[derive(Debug, Clone, Copy)]
struct Costs {
    multiplier: Multiplier,
    by_constant: f64,
    product: f64,
    pair: f64,
    reduction: f64,
}

impl Costs {
    /// Of the kernels with this name in vectors of `simd`.
    fn of(kernels: &str, simd: Simd, word_bits: u32) -> Self {
        let (multiplier, counts, words) = match kernels {
            "ifma52" => (Multiplier::Ifma, [3.0, 4.0, 2.0, 4.0], 8.0),
            "scalar" => (Multiplier::Scalar, [3.0, 4.0, 1.0, 3.0], 1.0),
            _ if word_bits == 32 => (Multiplier::Vector32, [6.0, 6.0, 2.0, 4.0], 16.0),
            _ => (Multiplier::Vector32, [10.0, 11.0, 4.0, 11.0], 8.0),
        };
        let halved = multiplier == Multiplier::Vector32 && simd == Simd::Avx2;
        let words = if halved { words / 2.0 } else { words };
        let [by_constant, product, pair, reduction] = counts.map(|count: f64| count / words);
        Self {
            multiplier,
            by_constant,
            product,
            pair,
            reduction,
        }
    }
}

/// The primes of a ring as work sees them.
pub(crate) struct Classes {
    n: f64,
    log_n: f64,
    costs: Vec<Costs>,
}

impl Classes {
    pub(crate) fn new<W: Word>(ring: &Ring<W>) -> Self {
        let costs = |m| Costs::of(ring.kernels(m), ring.simd(), W::BITS);
        Self {
            n: ring.n() as f64,
            log_n: f64::from(ring.log_n()),
            costs: (0..ring.moduli_count()).map(costs).collect(),
        }
    }

    fn any(ring: &AnyRing) -> Self {
        match ring {
            AnyRing::W32(ring) => Self::new(ring),
            AnyRing::W64(ring) => Self::new(ring),
        }
    }
}

impl Work {
    /// Adds `count` transforms modulo prime `m`.
    pub(crate) fn transforms(&mut self, classes: &Classes, m: usize, count: f64) {
        let butterflies = classes.n / 2.0 * classes.log_n;
        self.words(classes, m, |c| c.by_constant, count * butterflies);
    }

    /// Adds `count` element-wise products of limbs.
    pub(crate) fn products(&mut self, classes: &Classes, m: usize, count: f64) {
        self.words(classes, m, |c| c.product, count * classes.n);
    }

    /// Adds a limb that is a sum of so many products, reduced once.
    pub(crate) fn sum(&mut self, classes: &Classes, m: usize, pairs: f64) {
        self.words(classes, m, |c| pairs * c.pair + c.reduction, classes.n);
    }

    fn words(&mut self, classes: &Classes, m: usize, each: impl Fn(&Costs) -> f64, words: f64) {
        let costs = &classes.costs[m];
        let multiplications = each(costs) * words;
        match costs.multiplier {
            Multiplier::Ifma => self.ifma += multiplications,
            Multiplier::Vector32 => self.vector32 += multiplications,
            Multiplier::Scalar => self.scalar += multiplications,
        }
    }

    fn procedure(&mut self, classes: &Classes, procedure: &Procedure, times: f64) {
        let mut once = Work::default();
        for inst in &procedure.insts {
            let m = usize::from(inst.modulus);
            let mut fields = [0; 3];
            match (inst.op, procedure.view(inst, &mut fields)) {
                (_, InstView::Pairs(list)) => once.sum(classes, m, (list.len() / 2) as f64),
                (_, InstView::Matrix { srcs, dst_moduli }) => {
                    for &dst in dst_moduli {
                        once.sum(classes, dst as usize, srcs.len() as f64);
                    }
                }
                (Op::Ntt | Op::Intt, _) => once.transforms(classes, m, 1.0),
                (Op::Mul | Op::Mac, _) => once.products(classes, m, 1.0),
                (Op::MulC | Op::SubMulC, _) => {
                    once.words(classes, m, |c| c.by_constant, classes.n);
                }
                _ => {}
            }
        }
        self.ifma += times * once.ifma;
        self.vector32 += times * once.vector32;
        self.scalar += times * once.scalar;
    }

    /// Of one run of a limb program, whatever its number of threads.
    #[must_use]
    pub fn of_program(program: &LimbProgram, ring: &AnyRing) -> Self {
        let classes = Classes::any(ring);
        let limb_bytes = (program.n() as u64 * u64::from(program.word_bits / 8)) as f64;
        let mut work = Work {
            bytes_read: program.inputs.len() as f64 * limb_bytes,
            bytes_written: program.outputs.len() as f64 * limb_bytes,
            ..Work::default()
        };
        let mut calls = vec![0u32; program.procedures.len()];
        for call in &program.calls {
            calls[call.procedure as usize] += 1;
        }
        for (procedure, &times) in program.procedures.iter().zip(&calls) {
            work.procedure(&classes, procedure, f64::from(times));
        }
        work
    }

    /// The share of one of so many results.
    #[must_use]
    pub fn divided(self, results: u32) -> Self {
        let each = |total: f64| total / f64::from(results.max(1));
        Self {
            bytes_read: each(self.bytes_read),
            bytes_written: each(self.bytes_written),
            ifma: each(self.ifma),
            vector32: each(self.vector32),
            scalar: each(self.scalar),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclotron_ring::primes::ntt_primes;

    #[test]
    fn scalar_transform_counts_butterflies() {
        let q = ntt_primes(1 << 50, 2 << 10, 1)[0];
        let ring = Ring::<u64>::new(10, &[q], Simd::Scalar).unwrap();
        let classes = Classes::new(&ring);
        let mut work = Work::default();
        work.transforms(&classes, 0, 2.0);
        assert_eq!(work.scalar, 2.0 * 512.0 * 10.0 * 3.0);
        work.sum(&classes, 0, 8.0);
        assert_eq!(work.scalar, 30_720.0 + 1024.0 * 11.0);
        assert_eq!(work.divided(2).scalar, work.scalar / 2.0);
    }
}
