//! Instructions that compute something else.

use cyclotron_isa::testing::TestRng;
use cyclotron_isa::{Op, OpShape, StreamOp};

use cyclotron_machine::testing::Site;

use super::{Kind, Subject};
use crate::draft::Draft;
use crate::edits::{other, other_operation};

pub(super) const KINDS: &[Kind] = &[
    Kind::new(
        "another operation",
        "ADD for SUB, NTT for INTT and the like",
        |subject, site, rng| {
            changed(subject, site, rng, |entry, _, _| match entry {
                StreamOp::Compute { op, .. } => {
                    *op = other_operation(*op)?;
                    Some(())
                }
                _ => None,
            })
        },
    ),
    Kind::new(
        "wrong modulus",
        "the residue is another; automorphisms of values, which only permute, are left out",
        |subject, site, rng| {
            changed(subject, site, rng, |entry, subject, rng| match entry {
                StreamOp::Compute { op, modulus, .. } if *op != Op::AutEval => {
                    let moduli = subject.flat.moduli.len() as u64;
                    *modulus = other(rng, u64::from(*modulus), moduli)? as u16;
                    Some(())
                }
                _ => None,
            })
        },
    ),
    Kind::new(
        "wrong automorphism",
        "another odd exponent below 2N permutes differently",
        |subject, site, rng| {
            changed(subject, site, rng, |entry, subject, rng| match entry {
                StreamOp::Compute { op, imm, .. } if op.shape() == OpShape::Automorphism => {
                    let exponents = 1 << subject.flat.log_n;
                    *imm = 2 * other(rng, u64::from(*imm) / 2, exponents)? as u32 + 1;
                    Some(())
                }
                _ => None,
            })
        },
    ),
    Kind::new(
        "wrong constant",
        "another number of the table, with another value modulo the prime",
        |subject, site, rng| {
            changed(subject, site, rng, |entry, subject, rng| match entry {
                StreamOp::Compute {
                    op, imm, modulus, ..
                } if op.has_constant() => {
                    let constants = &subject.flat.constants;
                    let q = subject.flat.moduli[usize::from(*modulus)];
                    let wrong = rng.index(constants.len());
                    let differs = constants[wrong] % q != constants[*imm as usize] % q;
                    *imm = wrong as u32;
                    differs.then_some(())
                }
                _ => None,
            })
        },
    ),
    Kind::new(
        "operands of a difference exchanged",
        "b - a is not a - b; sums and products commute and are left out",
        |subject, site, rng| {
            changed(subject, site, rng, |entry, _, _| match entry {
                StreamOp::Compute {
                    op: Op::Sub | Op::SubMulC,
                    src,
                    ..
                } if src[0] != src[1] => {
                    src.swap(0, 1);
                    Some(())
                }
                _ => None,
            })
        },
    ),
];

fn changed(
    subject: &Subject<'_>,
    site: Site,
    rng: &mut TestRng,
    change: fn(&mut StreamOp, &Subject<'_>, &mut TestRng) -> Option<()>,
) -> Option<Draft> {
    let mut entry = subject.op(site);
    change(&mut entry, subject, rng)?;
    let mut draft = subject.draft();
    *draft.op(site) = entry;
    Some(draft)
}
