//! Values that are missing from a slot, or in a wrong one.

use cyclotron_isa::StreamOp;
use cyclotron_isa::testing::TestRng;

use cyclotron_machine::testing::{Life, Memory, Site};

use super::{Kind, Subject};
use crate::draft::Draft;

pub(super) const KINDS: &[Kind] = &[
    Kind::new(
        "load dropped",
        "the bank's slot is read, and keeps what it held before",
        |subject, site, _| match subject.op(site) {
            StreamOp::Load { .. } => without_transfer(subject, site),
            _ => None,
        },
    ),
    Kind::new(
        "store dropped",
        "the output, or the spilled value, does not reach its off-chip slot",
        |subject, site, _| match subject.op(site) {
            StreamOp::Store { .. } => without_transfer(subject, site),
            _ => None,
        },
    ),
    Kind::new(
        "transfer on chip dropped",
        "the receiver's slot is read, and keeps what it held before",
        |subject, site, _| match subject.op(site) {
            StreamOp::Route { .. } => without_transfer(subject, site),
            _ => None,
        },
    ),
    Kind::new(
        "instruction dropped",
        "its result's slot is read, and keeps what it held before",
        |subject, site, _| {
            subject.missed_life(site)?;
            (!subject.is_transfer(site)).then_some(())?;
            let mut draft = subject.draft();
            draft.drop(site);
            Some(draft)
        },
    ),
    Kind::new(
        "two values in one register slot",
        "the later one is written before the other's last read",
        |subject, site, rng| aliased(subject, site, rng, |m| matches!(m, Memory::RegFile(_))),
    ),
    Kind::new(
        "two values in one scratchpad slot",
        "the later one is written before the other's last read",
        |subject, site, rng| aliased(subject, site, rng, |m| matches!(m, Memory::Bank(_))),
    ),
    Kind::new(
        "register file over capacity",
        "the value gets a slot after the last",
        |subject, site, rng| beyond(subject, site, rng, |m| matches!(m, Memory::RegFile(_))),
    ),
    Kind::new(
        "scratchpad bank over capacity",
        "the value gets a slot after the last",
        |subject, site, rng| beyond(subject, site, rng, |m| matches!(m, Memory::Bank(_))),
    ),
    Kind::new(
        "operand replaced by a live value",
        "the slot holds the value of another instruction or input",
        |subject, site, rng| other_operand(subject, site, rng, false),
    ),
    Kind::new(
        "operand replaced by a dead value",
        "the slot holds a value that was last read before",
        |subject, site, rng| other_operand(subject, site, rng, true),
    ),
    Kind::new(
        "result in another slot",
        "its readers find what their slot held before",
        |subject, site, rng| {
            let StreamOp::Compute { dst, .. } = subject.op(site) else {
                return None;
            };
            subject.missed_life(site)?;
            let slots = u64::from(subject.machine.regfile.slots);
            let other = (u64::from(dst) + 1 + rng.below(slots.checked_sub(1)?.max(1))) % slots;
            (other != u64::from(dst)).then_some(())?;
            let mut draft = subject.draft();
            if let StreamOp::Compute { dst, .. } = draft.op(site) {
                *dst = other as u16;
            }
            Some(draft)
        },
    ),
];

/// Drops a transfer. Where several receive, only one of them, with its port.
fn without_transfer(subject: &Subject<'_>, site: Site) -> Option<Draft> {
    let family = subject.index.family(site);
    let routed = |part: &&Site| matches!(subject.op(**part), StreamOp::Route { .. });
    let mut draft = subject.draft();
    if family.iter().filter(routed).count() < 2 {
        let arrives = |part: &Site| subject.missed_life(*part).is_some();
        let stored = |part: &Site| matches!(subject.op(*part), StreamOp::Store { .. });
        let needed = family.iter().any(|part| arrives(part) || stored(part));
        needed.then_some(())?;
        family.into_iter().for_each(|part| draft.drop(part));
        return Some(draft);
    }
    let write = subject.receiver(site)?;
    subject.missed_life(write)?;
    draft.drop(site);
    draft.drop(write);
    Some(draft)
}

/// Gives all accesses of a life another slot.
fn rename(draft: &mut Draft, life: &Life, to: u16) {
    match draft.op(life.write.site) {
        StreamOp::Compute { dst: slot, .. } | StreamOp::Write { slot, .. } => *slot = to,
        _ => {}
    }
    for read in &life.reads {
        match draft.op(read.site) {
            StreamOp::Compute { src, .. } => src[read.field] = to,
            StreamOp::Read { slot, .. } => *slot = to,
            _ => {}
        }
    }
}

fn aliased(
    subject: &Subject<'_>,
    site: Site,
    rng: &mut TestRng,
    wanted: fn(Memory) -> bool,
) -> Option<Draft> {
    let &number = subject.index.begun.get(&site)?;
    let lives = &subject.index.lives;
    let life = &lives[number];
    (wanted(life.memory) && !life.reads.is_empty()).then_some(())?;
    // Another value of the memory that was there before, and is read afterwards.
    let victims = (0..lives.len()).filter(|&victim| {
        let other = &lives[victim];
        let last = other.reads.last().map_or(0, |read| read.start);
        let overlap = other.write.start < life.write.start && life.write.start < last;
        other.memory == life.memory && overlap && subject.differ(victim, number)
    });
    let victims: Vec<usize> = victims.collect();
    (!victims.is_empty()).then_some(())?;
    let slot = lives[rng.pick(&victims)].slot;
    let mut draft = subject.draft();
    rename(&mut draft, life, slot as u16);
    Some(draft)
}

fn beyond(
    subject: &Subject<'_>,
    site: Site,
    rng: &mut TestRng,
    wanted: fn(Memory) -> bool,
) -> Option<Draft> {
    let life = &subject.index.lives[*subject.index.begun.get(&site)?];
    wanted(life.memory).then_some(())?;
    let slots = match life.memory {
        Memory::RegFile(_) => subject.machine.regfile.slots,
        Memory::Bank(bank) => subject.machine.banks[usize::from(bank)].slots,
        Memory::OffChip => return None,
    };
    let mut draft = subject.draft();
    rename(&mut draft, life, slots + rng.below(4) as u16);
    Some(draft)
}

fn other_operand(
    subject: &Subject<'_>,
    site: Site,
    rng: &mut TestRng,
    dead: bool,
) -> Option<Draft> {
    let StreamOp::Compute { src, .. } = subject.op(site) else {
        return None;
    };
    let reads: Vec<_> = subject.reads(site).collect();
    let (right, read) = rng.pick(&reads);
    let lives = &subject.index.lives;
    let others = (0..lives.len()).filter(|&other| {
        let life = &lives[other];
        let there = life.write.start <= read.start && life.write.end <= read.end;
        let next = life.after.map_or(u64::MAX, |next| lives[next].write.start);
        let last = life.reads.last().map_or(0, |read| read.start);
        let state = if dead {
            last < read.start
        } else {
            last > read.start
        };
        life.memory == lives[right].memory && there && read.start < next && state
    });
    let others: Vec<usize> = others
        .filter(|&other| !src.contains(&(lives[other].slot as u16)) && subject.differ(right, other))
        .collect();
    (!others.is_empty()).then_some(())?;
    let slot = lives[rng.pick(&others)].slot;
    let mut draft = subject.draft();
    if let StreamOp::Compute { src, .. } = draft.op(site) {
        src[read.field] = slot as u16;
    }
    Some(draft)
}
