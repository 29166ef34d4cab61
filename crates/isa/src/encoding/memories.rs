//! Entries of memories: which of them belong to a transfer, and which stay.

use std::collections::HashMap;

use crate::schedule::{Component, Entry, Link, Stream, StreamOp};

/// Accesses before or after an entry among which its own is looked for.
const NEAR: usize = 16;

/// A read or write that belongs to a transfer: the memory, the cycle, and what it is
/// but for its slot.
pub(super) type Access = (Component, u64, StreamOp);

/// Whether a component's entries may be written with the transfers'.
pub(super) fn is_memory(component: Component) -> bool {
    matches!(
        component,
        Component::Bank { .. } | Component::RegFile { .. }
    )
}

/// Places in the order of the streams, of components that have one stream.
pub(super) fn places(components: impl Iterator<Item = Component>) -> HashMap<Component, usize> {
    let mut found: HashMap<Component, Option<usize>> = HashMap::new();
    for (place, component) in components.enumerate() {
        let once = found.insert(component, Some(place)).is_none();
        if !once {
            found.insert(component, None);
        }
    }
    let once = found
        .into_iter()
        .filter(|&(component, _)| is_memory(component));
    once.filter_map(|(component, place)| Some((component, place?)))
        .collect()
}

/// The order of a memory's entries in one cycle.
fn rank(op: &StreamOp) -> Option<(u8, Link, u16)> {
    match *op {
        StreamOp::Write { slot, from } => Some((0, from, slot)),
        StreamOp::Read { slot, to } => Some((1, to, slot)),
        _ => None,
    }
}

/// The entries of the memories, and which of them the transfers' entries bring along.
pub(super) struct Memories {
    places: HashMap<Component, usize>,
    memories: Vec<Memory>,
}

#[derive(Default)]
struct Memory {
    entries: Vec<Entry>,
    cycles: Vec<u64>,
    /// Entries that the memory's own stream has to keep.
    kept: Vec<bool>,
    claimed: Vec<bool>,
}

impl Memory {
    fn of(stream: &Stream) -> Self {
        let cycles: Vec<u64> = stream.timed().map(|(cycle, _)| cycle).collect();
        let entries: Vec<Entry> = stream.entries.iter().collect();
        let mut kept = vec![false; entries.len()];
        // What is read back is ordered within a cycle.
        let mut from = 0;
        for group in cycles.chunk_by(|a, b| a == b) {
            let range = from..from + group.len();
            let ranks = entries[range.clone()].iter().map(|entry| rank(&entry.op));
            let ranks: Vec<_> = ranks.collect();
            let ordered = ranks.is_sorted() && ranks.iter().all(Option::is_some);
            kept[range].fill(!ordered);
            from += group.len();
        }
        // The waits between kept entries must be numbers of 32 bits.
        let mut last = 0;
        for place in 0..entries.len() {
            let next = cycles.get(place + 1).copied().unwrap_or(0);
            kept[place] |= next.saturating_sub(last) > u64::from(u32::MAX);
            if kept[place] {
                last = cycles[place];
            }
        }
        Memory {
            entries,
            cycles,
            claimed: vec![false; kept.len()],
            kept,
        }
    }

    /// Entries that use the link as the access does; nearest first, of the entries in the range.
    fn nearest(&self, mut range: impl Iterator<Item = usize>, like: &StreamOp) -> Option<usize> {
        range.find(|&place| slot_of(&self.entries[place].op, like).is_some())
    }
}

/// The slot of an entry that reads to, or writes from, the same link as `like`.
fn slot_of(op: &StreamOp, like: &StreamOp) -> Option<u16> {
    match (*op, *like) {
        (StreamOp::Read { slot, to }, StreamOp::Read { to: link, .. }) if to == link => Some(slot),
        (StreamOp::Write { slot, from }, StreamOp::Write { from: link, .. }) if from == link => {
            Some(slot)
        }
        _ => None,
    }
}

impl Memories {
    pub(super) fn of(streams: &[Stream]) -> Self {
        let places = places(streams.iter().map(|stream| stream.component));
        let memory = |(place, stream): (usize, &Stream)| {
            if places.get(&stream.component) == Some(&place) {
                Memory::of(stream)
            } else {
                Memory::default()
            }
        };
        let memories = streams.iter().enumerate().map(memory).collect();
        Self { places, memories }
    }

    /// Takes the claims back.
    pub(super) fn release(&mut self) {
        for memory in &mut self.memories {
            memory.claimed.fill(false);
        }
    }

    fn get(&self, component: Component) -> Option<&Memory> {
        Some(&self.memories[*self.places.get(&component)?])
    }

    /// Cycles since the last read to a link.
    pub(super) fn lead(&self, component: Component, cycle: u64, link: Link) -> Option<u32> {
        let memory = self.get(component)?;
        let end = memory.cycles.partition_point(|&at| at <= cycle);
        let range = (end.saturating_sub(NEAR)..end).rev();
        let place = memory.nearest(range, &StreamOp::Read { slot: 0, to: link })?;
        u32::try_from(cycle - memory.cycles[place]).ok()
    }

    /// Cycles until the next write from a link.
    pub(super) fn lag(&self, component: Component, cycle: u64, link: Link) -> Option<u32> {
        let memory = self.get(component)?;
        let start = memory.cycles.partition_point(|&at| at < cycle);
        let range = start..memory.cycles.len().min(start + NEAR);
        let place = memory.nearest(
            range,
            &StreamOp::Write {
                slot: 0,
                from: link,
            },
        )?;
        u32::try_from(memory.cycles[place] - cycle).ok()
    }

    /// Claims an access for a transfer: 1 and its slot, or 0 if there is none left.
    pub(super) fn claim(&mut self, access: Option<Access>) -> u32 {
        let Some((component, cycle, like)) = access else {
            return 0;
        };
        let Some(&place) = self.places.get(&component) else {
            return 0;
        };
        let memory = &mut self.memories[place];
        let start = memory.cycles.partition_point(|&at| at < cycle);
        for place in start..memory.cycles.len() {
            if memory.cycles[place] != cycle {
                break;
            }
            if memory.kept[place] || memory.claimed[place] {
                continue;
            }
            if let Some(slot) = slot_of(&memory.entries[place].op, &like) {
                memory.claimed[place] = true;
                return u32::from(slot) + 1;
            }
        }
        0
    }

    /// What is left of a stream, with its waits.
    pub(super) fn left(&self, place: usize, stream: &Stream) -> Vec<Entry> {
        let claimed = &self.memories[place].claimed;
        let mut before = 0;
        let left = stream.timed().enumerate().filter(|&(k, _)| {
            let claimed = claimed.get(k).is_some_and(|&claimed| claimed);
            !claimed
        });
        let entry = |(_, (cycle, op)): (usize, (u64, StreamOp))| {
            // `kept` bounds them.
            let wait = (cycle - before) as u32;
            before = cycle;
            Entry { wait, op }
        };
        left.map(entry).collect()
    }
}

/// The access at a slot.
pub(super) fn with_slot(access: StreamOp, slot: u16) -> StreamOp {
    match access {
        StreamOp::Read { to, .. } => StreamOp::Read { slot, to },
        StreamOp::Write { from, .. } => StreamOp::Write { slot, from },
        other => other,
    }
}

/// Merges a memory's own entries with those that transfers brought, which may come in
/// any order; `None` if a wait has more than 32 bits.
pub(super) fn merge(own: Vec<Entry>, brought: Vec<(u64, StreamOp)>) -> Option<Vec<Entry>> {
    if brought.is_empty() {
        return Some(own);
    }
    let mut cycle = 0;
    let mut all: Vec<(u64, bool, StreamOp)> = Vec::with_capacity(own.len() + brought.len());
    all.extend(own.iter().map(|entry| {
        cycle += u64::from(entry.wait);
        (cycle, false, entry.op)
    }));
    drop(own);
    all.extend(brought.into_iter().map(|(cycle, op)| (cycle, true, op)));
    all.sort_by_key(|&(cycle, _, _)| cycle);
    for group in all.chunk_by_mut(|a, b| a.0 == b.0) {
        if group.iter().any(|&(_, brought, _)| brought) {
            group.sort_by_key(|(_, _, op)| rank(op));
        }
    }
    let mut before = 0;
    let mut entries = Vec::with_capacity(all.len());
    for (cycle, _, op) in all {
        let wait = u32::try_from(cycle - before).ok()?;
        entries.push(Entry { wait, op });
        before = cycle;
    }
    Some(entries)
}
