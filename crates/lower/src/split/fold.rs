//! Products by constants that others take along.
//!
//! The first step of a transform multiplies the upper half of the parts by r. Where the
//! polynomial has no other reader, what makes it can do that: a `MULC` has another constant
//! there, a `BCONV` another matrix, an `ADDC` of such a value another summand. And the last
//! step of an inverse transform leaves its products to a `MULC` that is the only reader.

use cyclotron_isa::{Op, Procedure};

/// What is folded, by old value.
pub(super) struct Folds {
    /// The only reader wants the upper half of the parts times r.
    pub(super) wanted: Vec<bool>,
    /// An inverse transform whose only reader multiplies by a constant: the products of
    /// the last step are left to it.
    pub(super) left: Vec<bool>,
}

impl Folds {
    pub(super) fn new(procedure: &Procedure) -> Self {
        let count = procedure.types.len();
        let mut readers = vec![0u32; count];
        for inst in &procedure.insts {
            procedure.for_each_source(inst, |value| readers[value as usize] += 1);
        }
        for &result in &procedure.results {
            readers[result as usize] += 1;
        }
        let mut folds = Self {
            wanted: vec![false; count],
            left: vec![false; count],
        };
        for inst in procedure.insts.iter().rev() {
            let source = inst.a as usize;
            let wants = match inst.op {
                Op::Ntt => true,
                Op::AddC => folds.wanted[inst.dst as usize],
                Op::MulC => false,
                _ => continue,
            };
            let same_prime = procedure.types[source].modulus == inst.modulus;
            let alone = same_prime && readers[source] == 1;
            // Nothing here makes a parameter.
            folds.wanted[source] = wants && alone && inst.a >= procedure.params;
            folds.left[source] = inst.op == Op::MulC && alone;
        }
        // What is left over must come from an inverse transform.
        let mut inverse = vec![false; count];
        for inst in procedure.insts.iter().filter(|inst| inst.op == Op::Intt) {
            inverse[inst.dst as usize] = true;
        }
        for (left, inverse) in folds.left.iter_mut().zip(inverse) {
            *left &= inverse;
        }
        folds
    }
}
