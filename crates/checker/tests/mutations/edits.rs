//! Changes of one number, for faults and for arbitrary edits.

use cyclotron_isa::Op;
use cyclotron_isa::testing::TestRng;

/// Another number below `bound`, or none.
pub(crate) fn other(rng: &mut TestRng, old: u64, bound: u64) -> Option<u64> {
    (bound > 1).then(|| (old + 1 + rng.below(bound - 1)) % bound)
}

/// An operation with the same operands that computes something else.
pub(crate) fn other_operation(op: Op) -> Option<Op> {
    let pairs = [
        (Op::Ntt, Op::Intt),
        (Op::Add, Op::Sub),
        (Op::Mul, Op::Add),
        (Op::AddC, Op::MulC),
        (Op::AutEval, Op::AutCoeff),
    ];
    let found = |&(a, b): &(Op, Op)| match op {
        op if op == a => Some(b),
        op if op == b => Some(a),
        _ => None,
    };
    pairs.iter().find_map(found)
}
