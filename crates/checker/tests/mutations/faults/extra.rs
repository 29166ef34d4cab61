//! Entries too many, which change no value that anybody needs.

use cyclotron_isa::testing::TestRng;
use cyclotron_isa::{Component, StreamOp};
use cyclotron_machine::testing::{Life, Memory, Site, ports};

use super::{Kind, Subject};
use crate::draft::Draft;

pub(super) const KINDS: &[Kind] = &[
    Kind::new(
        "vector sent to nobody",
        "a stream that no port, register file, bank or channel takes",
        sent_to_nobody,
    )
    .sparing_values(),
    Kind::new(
        "two vectors of a sender at once",
        "streams are told apart by where and when they appear",
        |subject, site, _| match subject.op(site) {
            read @ StreamOp::Read { .. } => {
                let mut draft = subject.draft();
                draft.add(site, 0, read);
                Some(draft)
            }
            _ => None,
        },
    )
    .sparing_values(),
    Kind::new(
        "vector written twice at once",
        "the other slot is free, but there is one port",
        written_twice,
    )
    .sparing_values(),
    Kind::new(
        "instruction issued twice at once",
        "its unit is busy; the second result goes to a free slot",
        issued_twice,
    )
    .sparing_values(),
];

/// The same read again, after it has ended.
fn sent_to_nobody(subject: &Subject<'_>, site: Site, _: &mut TestRng) -> Option<Draft> {
    let read @ StreamOp::Read { .. } = subject.op(site) else {
        return None;
    };
    let (_, access) = subject.reads(site).next()?;
    let mut draft = subject.draft();
    draft.add(site, access.end - access.start, read);
    Some(draft)
}

fn written_twice(subject: &Subject<'_>, site: Site, rng: &mut TestRng) -> Option<Draft> {
    let write @ StreamOp::Write { from, .. } = subject.op(site) else {
        return None;
    };
    let component = subject.component(site);
    let memory = match component {
        Component::RegFile { cluster } => Memory::RegFile(cluster),
        Component::Bank { bank } => Memory::Bank(bank),
        _ => return None,
    };
    (ports(subject.machine, component, &write).1 == 1).then_some(())?;
    let life = &subject.index.lives[*subject.index.begun.get(&site)?];
    let free = free_slots(subject, memory, life.write.start);
    (!free.is_empty()).then_some(())?;
    let slot = rng.pick(&free) as u16;
    let mut draft = subject.draft();
    draft.add(site, 0, StreamOp::Write { slot, from });
    Some(draft)
}

/// The instruction again while its unit is busy with it, into a free slot.
fn issued_twice(subject: &Subject<'_>, site: Site, rng: &mut TestRng) -> Option<Draft> {
    let mut again = subject.op(site);
    let StreamOp::Compute { dst, .. } = &mut again else {
        return None;
    };
    let life = &subject.index.lives[*subject.index.begun.get(&site)?];
    let free = free_slots(subject, life.memory, life.write.start);
    let occupancy = life.write.end - life.write.start;
    (!free.is_empty() && occupancy > 1).then_some(())?;
    *dst = rng.pick(&free) as u16;
    let mut draft = subject.draft();
    draft.add(site, 1 + rng.below(occupancy - 1), again);
    Some(draft)
}

/// Slots that nothing uses from a cycle on.
fn free_slots(subject: &Subject<'_>, memory: Memory, cycle: u64) -> Vec<u32> {
    let done = |life: &&Life| {
        let last = life.reads.iter().map(|read| read.end).max();
        let last = last.unwrap_or(0).max(life.write.end);
        life.memory == memory && life.after.is_none() && last <= cycle
    };
    let lives = subject.index.lives.iter();
    lives.filter(done).map(|life| life.slot).collect()
}
