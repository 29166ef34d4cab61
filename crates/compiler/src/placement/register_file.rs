//! Register-file slots over time.

use super::residents::NO_RECORD;

/// One slot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    /// The resident that it holds, or [`NO_RECORD`].
    pub record: u32,
    /// First cycle of the write that put it there.
    pub written: u64,
    /// End of that write.
    pub written_end: u64,
    /// Latest start of a read or write of the slot.
    pub used: u64,
    /// Latest end of one.
    pub used_end: u64,
}

impl Slot {
    /// First start of a write of `span` cycles that overtakes nothing.
    pub fn free_from(&self, span: u64) -> u64 {
        free_after(self.used, self.used_end, span)
    }
}

/// First start of a write of `span` cycles after a use over `[used, used_end)`.
pub(crate) fn free_after(used: u64, used_end: u64, span: u64) -> u64 {
    (used + 1).max((used_end + 1).saturating_sub(span))
}

/// All slots of all clusters.
#[derive(Debug)]
pub(crate) struct RegisterFiles {
    slots: Vec<Slot>,
    per_cluster: usize,
    occupied: Vec<u16>,
}

impl RegisterFiles {
    pub fn new(clusters: u16, per_cluster: u16) -> Self {
        let empty = Slot {
            record: NO_RECORD,
            written: 0,
            written_end: 0,
            used: 0,
            used_end: 0,
        };
        let per_cluster = usize::from(per_cluster);
        Self {
            slots: vec![empty; usize::from(clusters) * per_cluster],
            per_cluster,
            occupied: vec![0; usize::from(clusters)],
        }
    }

    fn index(&self, cluster: u16, slot: u16) -> usize {
        usize::from(cluster) * self.per_cluster + usize::from(slot)
    }

    /// The slots of a cluster.
    pub fn of(&self, cluster: u16) -> &[Slot] {
        &self.slots[usize::from(cluster) * self.per_cluster..][..self.per_cluster]
    }

    pub fn slot(&self, cluster: u16, slot: u16) -> &Slot {
        &self.slots[self.index(cluster, slot)]
    }

    /// Slots of a cluster that hold nothing needed.
    pub fn free_count(&self, cluster: u16) -> usize {
        self.per_cluster - usize::from(self.occupied[usize::from(cluster)])
    }

    /// First start of a read of `span` cycles that sees the slot's contents.
    pub fn readable(&self, cluster: u16, slot: u16, span: u64) -> u64 {
        let slot = self.slot(cluster, slot);
        slot.written.max(slot.written_end.saturating_sub(span))
    }

    /// Notes a read over `[at, at + span)`.
    pub fn read(&mut self, cluster: u16, slot: u16, at: u64, span: u64) {
        let index = self.index(cluster, slot);
        let slot = &mut self.slots[index];
        slot.used = slot.used.max(at);
        slot.used_end = slot.used_end.max(at + span);
    }

    /// Puts a resident into a slot, written over `[at, at + span)`.
    pub fn occupy(&mut self, cluster: u16, slot: u16, record: u32, at: u64, span: u64) {
        let index = self.index(cluster, slot);
        let slot = &mut self.slots[index];
        debug_assert!(
            slot.record == NO_RECORD && slot.free_from(span) <= at,
            "slot in use"
        );
        *slot = Slot {
            record,
            written: at,
            written_end: at + span,
            used: at,
            used_end: at + span,
        };
        self.occupied[usize::from(cluster)] += 1;
    }

    /// Frees a slot; its contents stay until it is written.
    pub fn release(&mut self, cluster: u16, slot: u16) {
        let index = self.index(cluster, slot);
        self.slots[index].record = NO_RECORD;
        self.occupied[usize::from(cluster)] -= 1;
    }
}
