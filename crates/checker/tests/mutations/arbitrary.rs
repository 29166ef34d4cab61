//! Edits of one entry, be they faults or not.

use cyclotron_isa::testing::TestRng;
use cyclotron_isa::{Entry, NO_SLOT, Op, Schedule, StreamOp};

use cyclotron_machine::testing::Site;

use crate::case::Case;
use crate::draft::Draft;
use crate::edits::{other, other_operation};

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

/// An edit, and the entry at which it was made.
pub(crate) fn mutate(
    rng: &mut TestRng,
    case: &Case,
    mutation: Mutation,
) -> Option<(Schedule, Site)> {
    let stream = rng.index(case.schedule.streams.len());
    let entries = &case.schedule.streams[stream].entries;
    if entries.is_empty() {
        return None;
    }
    let entry = rng.index(entries.len());
    let site = Site { stream, entry };
    let mut draft = Draft::new(&case.schedule);
    match mutation {
        Mutation::Earlier => draft.shift(&[site], -1)?,
        Mutation::Later => draft.shift(&[site], 1)?,
        Mutation::Drop => draft.drop(site),
        Mutation::SwapEntries => {
            let next = entries.get(entry + 1)?;
            if entries.get(entry)?.op == next.op {
                return None;
            }
            let next = Site {
                entry: entry + 1,
                ..site
            };
            draft.swap(site, next);
        }
        Mutation::DramContent => {
            let count = draft.dram.len();
            let (i, j) = (rng.index(count), rng.index(count));
            if draft.dram[i] == draft.dram[j] {
                return None;
            }
            let content = draft.dram[i].content;
            draft.dram[i].content = draft.dram[j].content;
            draft.dram[j].content = content;
        }
        Mutation::Cycles => draft.cycles = draft.cycles + rng.below(2) * 2 - 1,
        _ => mutate_entry(rng, case, mutation, draft.op(site))?,
    }
    Some((draft.finish(&case.schedule), site))
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
            *op = other_operation(*op)?;
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
    let choice = rng.below(3);
    entries.edit(|entries| put_edges(&mut entries[at], choice));
}

fn put_edges(entry: &mut Entry, choice: u64) {
    entry.wait = u32::MAX;
    match &mut entry.op {
        StreamOp::Compute {
            src, imm, modulus, ..
        } => match choice {
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
