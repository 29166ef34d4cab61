//! Entries at wrong times.

use cyclotron_isa::testing::TestRng;
use cyclotron_isa::{Component, Op, StreamOp};

use cyclotron_machine::testing::{Access, Memory, Site, busy, ports};

use super::{Kind, Subject};
use crate::draft::Draft;

pub(super) const KINDS: &[Kind] = &[
    Kind::new(
        "part of a transfer one cycle early",
        "sender, port and receiver are joined by their cycles alone, and the others stay",
        |subject, site, _| {
            let mut draft = subject.draft();
            subject.is_transfer(site).then_some(())?;
            draft.shift(&[site], -1)?;
            Some(draft)
        },
    ),
    Kind::new(
        "part of a transfer one cycle late",
        "as one cycle early",
        |subject, site, _| {
            let mut draft = subject.draft();
            subject.is_transfer(site).then_some(())?;
            draft.shift(&[site], 1)?;
            Some(draft)
        },
    ),
    Kind::new(
        "instruction one cycle before its operand",
        "its first or last chunk is read a cycle before it is written",
        |subject, site, _| (!subject.is_transfer(site)).then(|| too_early(subject, site))?,
    ),
    Kind::new(
        "transfer one cycle before its value",
        "as an instruction before its operand; the whole transfer moves",
        |subject, site, _| {
            subject
                .is_transfer(site)
                .then(|| too_early(subject, site))?
        },
    ),
    Kind::new(
        "two instructions of a unit swapped",
        "the later one's operand is written after the earlier one's start; equal ones are left out",
        swapped_instructions,
    ),
    Kind::new(
        "two vectors of a sender swapped",
        "each goes to the other's cluster or bank, which has no use for it",
        swapped_vectors,
    ),
    Kind::new(
        "value overwritten before its last read",
        "the write starts, or ends, with the last read of the value before, not after it",
        overwritten_early,
    ),
    Kind::new(
        "value read after its eviction",
        "the read starts with the write of the next value of the slot",
        read_late,
    ),
    Kind::new(
        "unit used twice",
        "the instruction starts in the last cycle in which the unit is busy",
        |subject, site, _| match subject.component(site) {
            Component::Unit { .. } => crowded(subject, site),
            _ => None,
        },
    ),
    Kind::new(
        "two vectors in a crossbar port",
        "the transfer meets the one before in the port's last busy cycle",
        |subject, site, _| match subject.component(site) {
            Component::XbarPort { .. } => crowded(subject, site),
            _ => None,
        },
    ),
    Kind::new(
        "two vectors in a bank port",
        "as in a crossbar port",
        |subject, site, _| match subject.component(site) {
            Component::Bank { .. } => crowded(subject, site),
            _ => None,
        },
    ),
    Kind::new(
        "too many vectors at a register file",
        "the transfer starts in the last cycle in which all ports are busy",
        |subject, site, _| match subject.component(site) {
            Component::RegFile { .. } => crowded(subject, site),
            _ => None,
        },
    ),
    Kind::new(
        "too many accesses to a register bank",
        "two instructions are in the same banks in every cycle, with more operands than a bank serves",
        out_of_turn,
    ),
    Kind::new(
        "two vectors in a memory channel",
        "as in a crossbar port",
        |subject, site, _| match subject.component(site) {
            Component::Channel { .. } => crowded(subject, site),
            _ => None,
        },
    ),
];

/// The entry, with its transfer, one cycle before it may read one of its values.
fn too_early(subject: &Subject<'_>, site: Site) -> Option<Draft> {
    let by = |(life, read): (usize, Access)| {
        let write = subject.index.lives[life].write;
        let span = read.end - read.start;
        let ready = write.start.max(write.end.saturating_sub(span));
        (ready as i64 - 1 - read.start as i64, life)
    };
    subject.is_needed(site).then_some(())?;
    // The last operand that is there, so that one cycle is missing and no more.
    let (by, life) = subject.reads(site).map(by).max()?;
    let before = subject.index.lives[life].before;
    let missed = before.is_none_or(|before| subject.differ(before, life));
    missed.then(|| subject.shifted(site, by))?
}

fn swapped_instructions(subject: &Subject<'_>, site: Site, rng: &mut TestRng) -> Option<Draft> {
    let (_, read) = subject.reads(site).next()?;
    (!subject.is_transfer(site)).then_some(())?;
    let ready = |(life, _): (usize, Access)| subject.index.lives[life].write.start;
    let ready = subject.reads(site).map(ready).max()?;
    let instruction = commuted(subject.op(site));
    let stream = &subject.schedule.streams[site.stream];
    let earlier = stream.timed().take(site.entry).enumerate();
    let before: Vec<usize> = earlier
        .filter(|&(_, (cycle, op))| {
            cycle < ready && cycle < read.start && commuted(op) != instruction
        })
        .map(|(entry, _)| entry)
        .collect();
    (!before.is_empty()).then_some(())?;
    let entry = rng.pick(&before);
    let mut draft = subject.draft();
    draft.swap(site, Site { entry, ..site });
    Some(draft)
}

/// The entry with operands that commute in ascending order.
fn commuted(mut entry: StreamOp) -> StreamOp {
    if let StreamOp::Compute {
        op: Op::Add | Op::Mul,
        src,
        ..
    } = &mut entry
    {
        src[..2].sort_unstable();
    }
    entry
}

fn swapped_vectors(subject: &Subject<'_>, site: Site, rng: &mut TestRng) -> Option<Draft> {
    let StreamOp::Read { slot, to } = subject.op(site) else {
        return None;
    };
    let entries = &subject.schedule.streams[site.stream].entries;
    let receivers = |site: Site| {
        let family = subject.index.family(site);
        let mut streams: Vec<usize> = family[1..].iter().map(|part| part.stream).collect();
        streams.sort_unstable();
        streams
    };
    let entry = rng.index(entries.len());
    let other = Site { entry, ..site };
    (subject.is_needed(site) && subject.is_needed(other)).then_some(())?;
    match entries.get(entry)?.op {
        StreamOp::Read {
            slot: second,
            to: link,
        } if link == to && second != slot && receivers(other) != receivers(site) => {}
        _ => return None,
    }
    let (a, b) = (subject.reads(site).next()?, subject.reads(other).next()?);
    subject.differ(a.0, b.0).then_some(())?;
    let mut draft = subject.draft();
    draft.swap(site, other);
    Some(draft)
}

fn overwritten_early(subject: &Subject<'_>, site: Site, _: &mut TestRng) -> Option<Draft> {
    let &life = subject.index.begun.get(&site)?;
    let write = subject.index.lives[life].write;
    let before = subject.index.lives[life].before?;
    let last = subject.index.lives[before].reads.last()?;
    let moves_along = subject.index.family(site).contains(&last.site);
    (!moves_along && subject.differ(life, before)).then_some(())?;
    // One cycle later it would follow the read chunk by chunk.
    let slower = (last.end - last.start).saturating_sub(write.end - write.start);
    subject.shifted(site, (last.start + slower) as i64 - write.start as i64)
}

fn read_late(subject: &Subject<'_>, site: Site, rng: &mut TestRng) -> Option<Draft> {
    let reads: Vec<_> = subject.reads(site).collect();
    (!reads.is_empty() && subject.is_needed(site)).then_some(())?;
    let (life, read) = rng.pick(&reads);
    let after = subject.index.lives[life].after?;
    let write = subject.index.lives[after].write;
    let moves_along = subject.index.family(site).contains(&write.site);
    (!moves_along && subject.differ(life, after)).then_some(())?;
    subject.shifted(site, write.start as i64 - read.start as i64)
}

/// The entry, with its transfer, in the last cycle in which its component, or
/// every port of it, is busy with the entries before.
fn crowded(subject: &Subject<'_>, site: Site) -> Option<Draft> {
    let (component, op) = (subject.component(site), subject.op(site));
    let (kind, count) = ports(subject.machine, component, &op);
    let mut free_at = vec![0; usize::from(count)];
    let mut last = 0;
    let stream = &subject.schedule.streams[site.stream];
    let mut cycle = 0;
    for (entry, (start, op)) in stream.timed().enumerate() {
        if entry == site.entry {
            cycle = start;
            break;
        }
        let span = busy(subject.machine, component, &op);
        if ports(subject.machine, component, &op).0 == kind && span > 0 {
            let port = free_at.iter_mut().min()?;
            *port = start + span;
            last = start;
        }
    }
    let full = free_at.into_iter().min()?.checked_sub(1)?;
    let fits = busy(subject.machine, component, &op) > 0 && last <= full && full < cycle;
    fits.then(|| subject.shifted(site, full as i64 - cycle as i64))?
}

/// The instruction some cycles later, where it meets another one of its cluster in
/// the banks of the register file.
fn out_of_turn(subject: &Subject<'_>, site: Site, rng: &mut TestRng) -> Option<Draft> {
    let turns = subject.machine.regfile.turns?;
    let length = u64::from(turns.chunks);
    let cluster_of = |site| match subject.component(site) {
        Component::Unit { cluster, .. } => Some(cluster),
        _ => None,
    };
    let cluster = cluster_of(site)?;
    let start_of = |site: Site| {
        let mut reads = subject.reads(site).map(|(_, read)| read);
        let read = reads
            .next()
            .filter(|read| read.end - read.start == length)?;
        Some((read.start, 1 + reads.count()))
    };
    let (start, operands) = start_of(site)?;
    let lives = subject.index.lives.iter();
    let here = lives.filter(|life| life.memory == Memory::RegFile(cluster));
    let others = here.flat_map(|life| &life.reads).filter_map(|read| {
        let (other, more) = start_of(read.site).filter(|_| cluster_of(read.site).is_some())?;
        let by = (other as i64 - start as i64).rem_euclid(turns.banks.into());
        let overlap = other.abs_diff(start + by as u64) < length;
        let crowd = read.site != site && operands + more > usize::from(turns.accesses);
        (by > 0 && overlap && crowd).then_some(by)
    });
    let others: Vec<i64> = others.collect();
    (!others.is_empty()).then_some(())?;
    subject.shifted(site, rng.pick(&others))
}
