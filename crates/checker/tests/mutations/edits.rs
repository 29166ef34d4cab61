//! Edits of schedules.

use cyclotron_isa::testing::TestRng;
use cyclotron_isa::{Entry, NO_SLOT, Op, Schedule, StreamOp};

use crate::case::Case;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mutation {
    Earlier,
    Later,
    Drop,
    Slot,
    Operand,
    SwapOperands,
    SwapSlots,
    Operation,
    Modulus,
    Immediate,
    Route,
    Address,
    Bank,
    SwapEntries,
    DramContent,
    Cycles,
}

pub(crate) const MUTATIONS: [Mutation; 16] = [
    Mutation::Earlier,
    Mutation::Later,
    Mutation::Drop,
    Mutation::Slot,
    Mutation::Operand,
    Mutation::SwapOperands,
    Mutation::SwapSlots,
    Mutation::Operation,
    Mutation::Modulus,
    Mutation::Immediate,
    Mutation::Route,
    Mutation::Address,
    Mutation::Bank,
    Mutation::SwapEntries,
    Mutation::DramContent,
    Mutation::Cycles,
];

/// Another number below `bound`, or none.
fn other(rng: &mut TestRng, old: u64, bound: u64) -> Option<u64> {
    (bound > 1).then(|| (old + 1 + rng.below(bound - 1)) % bound)
}

/// Moves one entry in time; the later ones stay where they are.
fn shift(entries: &mut [Entry], at: usize, later: bool) -> Option<()> {
    let after = entries.get(at + 1).map_or(u32::MAX, |e| e.wait);
    let entry = &mut entries[at];
    if later {
        (after > 0).then_some(())?;
        entry.wait += 1;
    } else {
        entry.wait = entry.wait.checked_sub(1)?;
    }
    if let Some(next) = entries.get_mut(at + 1) {
        next.wait = if later { next.wait - 1 } else { next.wait + 1 };
    }
    Some(())
}

pub(crate) fn mutate(rng: &mut TestRng, case: &Case, mutation: Mutation) -> Option<Schedule> {
    let mut schedule = case.schedule.clone();
    let stream = rng.index(schedule.streams.len());
    let entries = &mut schedule.streams[stream].entries;
    if entries.is_empty() {
        return None;
    }
    let at = rng.index(entries.len());
    match mutation {
        Mutation::Earlier | Mutation::Later => {
            shift(entries, at, mutation == Mutation::Later)?;
        }
        Mutation::Drop => {
            let dropped = entries.remove(at);
            if let Some(next) = entries.get_mut(at) {
                next.wait += dropped.wait;
            }
        }
        Mutation::SwapEntries => {
            let next = entries.get(at + 1).map(|e| e.op)?;
            if entries[at].op == next {
                return None;
            }
            entries[at + 1].op = entries[at].op;
            entries[at].op = next;
        }
        Mutation::DramContent => {
            let count = schedule.dram.len();
            let (i, j) = (rng.index(count), rng.index(count));
            if schedule.dram[i] == schedule.dram[j] {
                return None;
            }
            let content = schedule.dram[i].content;
            schedule.dram[i].content = schedule.dram[j].content;
            schedule.dram[j].content = content;
        }
        Mutation::Cycles => schedule.cycles = schedule.cycles + rng.below(2) * 2 - 1,
        _ => mutate_entry(rng, case, mutation, &mut entries[at].op)?,
    }
    Some(schedule)
}

fn mutate_entry(
    rng: &mut TestRng,
    case: &Case,
    mutation: Mutation,
    entry: &mut StreamOp,
) -> Option<()> {
    let machine = &case.machine;
    match (mutation, entry) {
        (Mutation::Slot, StreamOp::Read { slot, .. } | StreamOp::Write { slot, .. }) => {
            *slot = other(rng, u64::from(*slot), 12)? as u16;
        }
        (Mutation::Slot, StreamOp::Compute { dst, .. }) => {
            *dst = other(rng, u64::from(*dst), u64::from(machine.regfile.slots))? as u16;
        }
        (Mutation::Operand, StreamOp::Compute { src, op, .. }) => {
            let k = rng.index(op.field_sources());
            src[k] = other(rng, u64::from(src[k]), u64::from(machine.regfile.slots))? as u16;
        }
        (Mutation::SwapOperands, StreamOp::Compute { src, .. }) => {
            if src[1] == NO_SLOT || src[0] == src[1] {
                return None;
            }
            src.swap(0, 1);
        }
        (Mutation::SwapSlots, StreamOp::Compute { dst, src, .. }) => {
            if src[0] == *dst {
                return None;
            }
            std::mem::swap(dst, &mut src[0]);
        }
        (Mutation::Operation, StreamOp::Compute { op, .. }) => {
            let pairs = [
                (Op::Ntt, Op::Intt),
                (Op::Add, Op::Sub),
                (Op::Mul, Op::Add),
                (Op::AddC, Op::MulC),
                (Op::AutEval, Op::AutCoeff),
            ];
            let swap = |&(a, b): &(Op, Op)| match *op {
                found if found == a => Some(b),
                found if found == b => Some(a),
                _ => None,
            };
            *op = pairs.iter().find_map(swap)?;
        }
        // An automorphism of values permutes them, whatever the prime is.
        (Mutation::Modulus, StreamOp::Compute { op, modulus, .. }) if *op != Op::AutEval => {
            *modulus = other(rng, u64::from(*modulus), 3)? as u16;
        }
        (Mutation::Immediate, StreamOp::Compute { op, imm, .. }) => {
            let constants = case.flat.constants.len() as u64;
            *imm = match op {
                Op::AutEval | Op::AutCoeff => *imm ^ 2,
                _ if op.has_constant() => other(rng, u64::from(*imm), constants)? as u32,
                _ => 1,
            };
        }
        (Mutation::Route, StreamOp::Route { from }) => {
            *from = other(rng, u64::from(*from), u64::from(machine.clusters).max(4))? as u16;
        }
        (Mutation::Address, StreamOp::Load { address, .. } | StreamOp::Store { address, .. }) => {
            let slots = case.schedule.dram.len() as u64;
            *address = other(rng, u64::from(*address), slots)? as u32;
        }
        (Mutation::Bank, StreamOp::Load { bank, .. } | StreamOp::Store { bank, .. }) => {
            *bank = other(rng, u64::from(*bank), machine.banks.len() as u64)? as u16;
        }
        _ => return None,
    }
    Some(())
}

/// Puts numbers at the edge of their range into one entry.
pub(crate) fn edge_of_range(rng: &mut TestRng, schedule: &mut Schedule) {
    let stream = rng.index(schedule.streams.len());
    let entries = &mut schedule.streams[stream].entries;
    if entries.is_empty() {
        return;
    }
    let at = rng.index(entries.len());
    entries[at].wait = u32::MAX;
    match &mut entries[at].op {
        StreamOp::Compute {
            src, imm, modulus, ..
        } => match rng.below(3) {
            0 => *src = [NO_SLOT; 3],
            1 => *imm = u32::MAX,
            _ => *modulus = u16::MAX,
        },
        StreamOp::Read { slot, .. } | StreamOp::Write { slot, .. } => *slot = u16::MAX,
        StreamOp::Route { from } => *from = u16::MAX,
        StreamOp::Load { address, .. } => *address = u32::MAX,
        StreamOp::Store { bank, .. } => *bank = u16::MAX,
    }
}
