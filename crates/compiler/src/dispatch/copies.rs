//! Copies of values in register files, and their slots.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cyclotron_isa::NONE;

use crate::placement::register_file::free_after;

/// A vector in a register file, from its write to its last read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copy {
    pub cluster: u16,
    pub stay: u32,
    /// Next copy of the same stay.
    pub next: u32,
    /// First cycle of the write and its end.
    pub written: u64,
    pub written_end: u64,
    /// Latest start of a read or write, and latest end.
    pub used: u64,
    pub used_end: u64,
    /// When it leaves is not known yet.
    pub open: bool,
}

impl Copy {
    /// First start of a read over `span` cycles that sees the whole vector.
    pub fn readable(&self, span: u64) -> u64 {
        self.written.max(self.written_end.saturating_sub(span))
    }
}

/// All copies that there ever were.
#[derive(Debug)]
pub(super) struct Copies {
    list: Vec<Copy>,
    shortest_write: u64,
}

impl Copies {
    /// No copies; every write takes `shortest_write` cycles or more.
    pub fn new(shortest_write: u64) -> Self {
        Self {
            list: Vec::new(),
            shortest_write,
        }
    }

    /// A copy by its number.
    pub fn get(&self, copy: u32) -> &Copy {
        &self.list[copy as usize]
    }

    /// Adds a copy that is written over `[at, at + span)`.
    pub fn add(&mut self, cluster: u16, stay: u32, next: u32, (at, span): (u64, u64)) -> u32 {
        self.list.push(Copy {
            cluster,
            stay,
            next,
            written: at,
            written_end: at + span,
            used: at,
            used_end: at + span,
            open: true,
        });
        self.list.len() as u32 - 1
    }

    /// Says that a copy leaves after its last known read.
    pub fn close(&mut self, copy: u32) {
        self.list[copy as usize].open = false;
    }

    /// Notes a read over `[at, at + span)`.
    pub fn read(&mut self, copy: u32, at: u64, span: u64) {
        let copy = &mut self.list[copy as usize];
        copy.used = copy.used.max(at);
        copy.used_end = copy.used_end.max(at + span);
    }

    /// First cycle at which the copy's slot may be written again.
    pub fn free_from(&self, copy: u32) -> u64 {
        let copy = self.get(copy);
        free_after(copy.used, copy.used_end, self.shortest_write)
    }

    /// The same if it were also read over `[at, at + span)`.
    pub fn free_from_after(&self, copy: u32, at: u64, span: u64) -> u64 {
        let copy = self.get(copy);
        let (used, end) = (copy.used.max(at), copy.used_end.max(at + span));
        free_after(used, end, self.shortest_write)
    }

    /// Takes a copy out of the list that starts at `first`; returns where it starts then.
    pub fn unlink(&mut self, first: u32, copy: u32) -> u32 {
        let next = self.get(copy).next;
        if first == copy {
            return next;
        }
        let mut before = first;
        while self.get(before).next != copy {
            before = self.get(before).next;
        }
        self.list[before as usize].next = next;
        first
    }

    /// The copies of a list, by number.
    pub fn numbers(&self, mut first: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::from_fn(move || {
            let copy = (first != NONE).then_some(first)?;
            first = self.get(copy).next;
            Some(copy)
        })
    }

    /// The copies of a list.
    pub fn of(&self, first: u32) -> impl Iterator<Item = &Copy> + '_ {
        self.numbers(first).map(|copy| self.get(copy))
    }

    /// The copy in a cluster, of the list that starts at `first`.
    pub fn find(&self, first: u32, cluster: u16) -> Option<u32> {
        let mut list = self.numbers(first);
        list.find(|&copy| self.get(copy).cluster == cluster)
    }

    /// First cycle at which a slot may be written again after a read over `[at, at + span)`.
    pub fn free_after(&self, at: u64, span: u64) -> u64 {
        free_after(at, at + span, self.shortest_write)
    }

    /// A slot for every copy. In each cluster the copies are taken in the order
    /// of their writes and get any slot that is free then.
    pub fn slots(&self, clusters: u16, per_cluster: u16) -> Vec<u16> {
        let mut order: Vec<u32> = (0..self.list.len() as u32).collect();
        order.sort_by_key(|&copy| self.get(copy).written);
        let mut free: Vec<BinaryHeap<Reverse<(u64, u16)>>> = (0..clusters)
            .map(|_| (0..per_cluster).map(|slot| Reverse((0, slot))).collect())
            .collect();
        let mut slots = vec![0; self.list.len()];
        for copy in order {
            let here = &mut free[usize::from(self.get(copy).cluster)];
            let Reverse((from, slot)) = here.pop().expect("a register file has slots");
            assert!(from <= self.get(copy).written, "more copies than slots");
            slots[copy as usize] = slot;
            here.push(Reverse((self.free_from(copy), slot)));
        }
        slots
    }
}
