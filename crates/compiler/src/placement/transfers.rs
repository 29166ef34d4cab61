//! Bringing operands to a cluster, making room in register files, writing back.

use cyclotron_isa::{Link, StreamOp};

use super::network::Issue;
use super::path::Path;
use super::placer::Placer;
use super::register_file::free_after;
use super::residents::{NO_BANK, NO_RECORD, Sent};
use super::segment::Place;

/// Copies in other clusters that are tried as the source of a transfer.
const SOURCES: usize = 3;

/// A slot to write, and the first cycle at which that may start.
#[derive(Debug, Clone, Copy)]
struct Room {
    slot: u16,
    from: u64,
}

/// A transfer to a cluster that was found possible.
#[derive(Debug, Clone, Copy)]
struct Transfer {
    at: u64,
    from: u16,
    bank: bool,
    joined: bool,
}

impl Placer<'_> {
    /// Brings the operands to a cluster; returns their slots.
    pub(super) fn gather(&mut self, sources: &[u32], issue: &Issue) -> [u16; 3] {
        let (cluster, span) = (issue.cluster, issue.span);
        let mut slots = [u16::MAX; 3];
        let mut ready = 0;
        for (slot, &source) in slots.iter_mut().zip(sources) {
            let record = self.residents.of(source);
            if let Some(copy) = self.residents.copy_in(record, cluster) {
                *slot = copy;
                ready = ready.max(self.regfiles.readable(cluster, copy, span));
            }
        }
        for k in 0..sources.len() {
            if slots[k] == u16::MAX {
                // About when: turns at the register file move that by a few cycles.
                let wanted = self.calendars.earliest(issue.units, ready, span.max(1)).0;
                let record = self.residents.of(sources[k]);
                slots[k] = self.fetch(cluster, record, (wanted, span), &slots);
                ready = ready.max(self.regfiles.readable(cluster, slots[k], span));
            }
        }
        slots
    }

    /// Chooses the cycle of an instruction whose operands are in `slots`, and
    /// the slot of its result, which is free from then on once the operands
    /// that die are released.
    pub(super) fn time_compute(
        &mut self,
        sources: &[u32],
        slots: &[u16],
        issue: &Issue,
    ) -> (u64, u16) {
        let &Issue {
            cluster,
            span,
            delay,
            ..
        } = issue;
        let readable = slots
            .iter()
            .map(|&slot| self.regfiles.readable(cluster, slot, span));
        let mut from = readable.max().unwrap_or(0);
        loop {
            let at = self.network.earliest_issue(&self.calendars, issue, from);
            let sent = self.stats.write_backs;
            let room = self.room_for_result(cluster, sources, slots, (at, span, at + delay));
            // Making room may have sent a value away, which takes turns too.
            let served = match self.stats.write_backs == sent {
                true => at,
                false => self.network.earliest_issue(&self.calendars, issue, at),
            };
            if room.from <= at + delay && served == at {
                return (at, room.slot);
            }
            from = served.max(room.from.saturating_sub(delay));
        }
    }

    /// The best slot for a result written from `written` on.
    fn room_for_result(
        &mut self,
        cluster: u16,
        sources: &[u32],
        slots: &[u16],
        (at, span, written): (u64, u64, u64),
    ) -> Room {
        // An operand that dies leaves its slot to the result for nothing.
        let dying = sources.iter().zip(slots).find(|&(&source, &slot)| {
            let free_from = self.free_after_read(cluster, slot, at, span);
            free_from <= written && self.uses.upcoming::<2>(source).count() < 2
        });
        let free = self.best_room(cluster, written, span, slots);
        match (dying, free) {
            (Some((_, &slot)), Some((_, cost))) if cost > 0 => Room {
                slot,
                from: written,
            },
            (Some((_, &slot)), None) => Room {
                slot,
                from: written,
            },
            (_, Some((room, _))) => self.clear(cluster, room, span),
            (None, None) => self.room_among_operands(cluster, sources, slots, (at, span)),
        }
    }

    /// Room for a result where the register file holds nothing but operands.
    fn room_among_operands(
        &mut self,
        cluster: u16,
        sources: &[u32],
        slots: &[u16],
        (at, span): (u64, u64),
    ) -> Room {
        let dying = sources
            .iter()
            .position(|&s| self.uses.upcoming::<2>(s).count() < 2);
        let slot = slots[dying.unwrap_or(0)];
        if dying.is_none() {
            self.back_up(cluster, slot);
        }
        let free_from = self.free_after_read(cluster, slot, at, span);
        Room {
            slot,
            from: free_from,
        }
    }

    /// When an instruction's result may overwrite an operand that it reads from `at` on.
    fn free_after_read(&self, cluster: u16, slot: u16, at: u64, span: u64) -> u64 {
        let slot = self.regfiles.slot(cluster, slot);
        free_after(slot.used.max(at), slot.used_end.max(at + span), span)
    }

    /// The slot that costs least to write over `span` cycles from `at` on or
    /// later, except `pinned` ones, and its cost. Of slots that cost the same, the one
    /// used last.
    fn best_room(&self, cluster: u16, at: u64, span: u64, pinned: &[u16]) -> Option<(Room, u64)> {
        let slots = self.regfiles.of(cluster);
        let mut operands = [u16::MAX; 3];
        operands[..pinned.len()].copy_from_slice(pinned);
        let [a, b, c] = operands;
        // What each slot costs at least: pushing out what it holds costs something always.
        // A free slot that wins so wins in any case.
        let mut best = (u128::MAX, u16::MAX, false);
        for (slot, state) in (0u16..).zip(slots) {
            let (used, held) = (state.used, state.record != NO_RECORD);
            let least = state.free_from(span).max(at) - at + u64::from(held);
            let key = u128::from(least) << 64 | u128::from(u64::MAX - used);
            let taken = slot == a || slot == b || slot == c;
            let key = if taken { u128::MAX } else { key };
            best = if key < best.0 {
                (key, slot, held)
            } else {
                best
            };
        }
        if best.1 == u16::MAX {
            return None;
        }
        if best.2 {
            best.0 = u128::MAX;
            for (slot, state) in (0u16..).zip(slots) {
                let late = state.free_from(span).max(at) - at;
                let least = u128::from(late + u64::from(state.record != NO_RECORD));
                if slot == a || slot == b || slot == c || least > best.0 >> 64 {
                    continue;
                }
                let push_out = match state.record {
                    NO_RECORD => 0,
                    record => self.eviction_cost(record),
                };
                let key = u128::from(late + push_out) << 64 | u128::from(u64::MAX - state.used);
                best = if key < best.0 {
                    (key, slot, true)
                } else {
                    best
                };
            }
        }
        let (key, slot, _) = best;
        let from = slots[usize::from(slot)].free_from(span).max(at);
        Some((Room { slot, from }, (key >> 64) as u64))
    }

    /// Frees the slot of a room that was chosen; its start may move.
    fn clear(&mut self, cluster: u16, room: Room, span: u64) -> Room {
        if self.regfiles.slot(cluster, room.slot).record != NO_RECORD {
            self.push_out(cluster, room.slot);
        }
        let from = self.regfiles.slot(cluster, room.slot).free_from(span);
        Room {
            from: from.max(room.from),
            ..room
        }
    }

    /// Drops a copy from a register file; the only copy of a value is written back first.
    pub(super) fn push_out(&mut self, cluster: u16, slot: u16) {
        self.back_up(cluster, slot);
        let record = self.regfiles.slot(cluster, slot).record;
        self.residents.drop_copy(record, cluster);
        self.regfiles.release(cluster, slot);
        self.stats.evictions += 1;
    }

    /// Makes sure that a value has another copy than this one.
    fn back_up(&mut self, cluster: u16, slot: u16) {
        let record = self.regfiles.slot(cluster, slot).record;
        let resident = self.residents.get(record);
        let alone = resident.bank == NO_BANK && resident.copies.len() == 1;
        debug_assert!(
            resident.copies.contains(&(cluster, slot)),
            "slot and resident agree"
        );
        if alone {
            self.write_back(record);
        }
    }

    /// Brings a value to a cluster where it is not, by cycle `wanted` if
    /// possible; returns its slot. `pinned` slots stay.
    fn fetch(
        &mut self,
        cluster: u16,
        record: u32,
        (wanted, span): (u64, u64),
        pinned: &[u16],
    ) -> u16 {
        let only_far = self.residents.get(record).bank == NO_BANK;
        if only_far && self.site.topology.among_clusters.is_none() {
            self.write_back(record);
        }
        let soonest = self.arrival(record).max(wanted);
        let write = self.network.shortest_transfer;
        let (room, _) = self
            .best_room(cluster, soonest, write, pinned)
            .expect("a register file holds an instruction's operands");
        let room = self.clear(cluster, room, write);
        let free_from = self.regfiles.slot(cluster, room.slot).free_from(write);
        let transfer = self.find_transfer(cluster, record, free_from, (wanted, span));
        self.commit_transfer(cluster, record, room.slot, transfer);
        room.slot
    }

    /// About the first cycle at which a value can arrive at another cluster.
    pub(super) fn arrival(&self, record: u32) -> u64 {
        let resident = self.residents.get(record);
        let mut first = u64::MAX;
        if resident.bank != NO_BANK {
            first = resident.written + self.network.bank_to_cluster(resident.bank, 0).1.delay;
        }
        for &(cluster, slot) in resident.copies.iter().take(SOURCES) {
            let written = self.regfiles.slot(cluster, slot).written;
            let delay = match self.network.cluster_to_cluster(cluster, 0) {
                Some((_, path)) => path.delay,
                None => self.network.detour(cluster),
            };
            first = first.min(written + delay);
        }
        first
    }

    /// The crossbar and the path from a bank or a cluster to a cluster.
    fn way(&self, from: u16, bank: bool, cluster: u16) -> Option<&(u16, Path)> {
        match bank {
            true => Some(self.network.bank_to_cluster(from, cluster)),
            false => self.network.cluster_to_cluster(from, cluster),
        }
    }

    /// The transfer that arrives last among those that arrive in time for a
    /// read over `span` cycles from `wanted`, or else first; never before `from`.
    fn find_transfer(
        &self,
        cluster: u16,
        record: u32,
        from: u64,
        (wanted, span): (u64, u64),
    ) -> Transfer {
        let resident = self.residents.get(record);
        let mut best: (u64, Option<Transfer>) = (u64::MAX, None);
        let cost = |arrives: u64, path: &Path, joined: bool| {
            let late = arrives.max((arrives + path.span).saturating_sub(span));
            late.saturating_sub(wanted) * 4 + u64::from(!joined)
        };
        for sent in resident.sent.iter().flatten() {
            let Some((_, path)) = self.way(sent.from, sent.bank, cluster) else {
                continue;
            };
            let at = sent.at;
            let cost = cost(at + path.delay, path, true);
            if at + path.delay >= from && cost < best.0 && path.can_join(&self.calendars, at) {
                let transfer = Transfer {
                    at,
                    from: sent.from,
                    bank: sent.bank,
                    joined: true,
                };
                best = (cost, Some(transfer));
            }
        }
        let mut try_path = |readable: u64, path: &Path, sender: u16, bank: bool| {
            let first = readable.max(from.saturating_sub(path.delay));
            if cost(first + path.delay, path, false) >= best.0 {
                return;
            }
            let deadline = wanted.min((wanted + span).saturating_sub(path.span));
            let until = deadline.saturating_sub(path.delay);
            let late = if until >= first && deadline >= path.delay {
                path.latest(&self.calendars, first, until)
            } else {
                None
            };
            let at = late.unwrap_or_else(|| path.earliest(&self.calendars, first));
            let cost = cost(at + path.delay, path, false);
            if cost < best.0 {
                let transfer = Transfer {
                    at,
                    from: sender,
                    bank,
                    joined: false,
                };
                best = (cost, Some(transfer));
            }
        };
        if resident.bank != NO_BANK {
            let (_, path) = self.network.bank_to_cluster(resident.bank, cluster);
            let readable = resident
                .written
                .max(resident.written_end.saturating_sub(path.span));
            try_path(readable, path, resident.bank, true);
        }
        for &(sender, slot) in resident.copies.iter().rev().take(SOURCES) {
            if let Some((_, path)) = self.network.cluster_to_cluster(sender, cluster) {
                let readable = self.regfiles.readable(sender, slot, path.span);
                try_path(readable, path, sender, false);
            }
        }
        best.1.expect("a resident is somewhere")
    }

    fn commit_transfer(&mut self, cluster: u16, record: u32, slot: u16, transfer: Transfer) {
        let Transfer {
            at,
            from,
            bank,
            joined,
        } = transfer;
        let way = self.way(from, bank, cluster);
        let &(xbar, path) = way.expect("a transfer was found");
        let end = at + path.span;
        if joined {
            path.join(&mut self.calendars, at);
        } else {
            path.reserve(&mut self.calendars, at);
            if bank {
                let slot = self.residents.get(record).slot;
                let op = StreamOp::Read {
                    slot,
                    to: Link::Xbar(xbar),
                };
                self.recorder.bank(from, at, op, end);
            } else {
                let slot = self.residents.copy_in(record, from);
                let slot = slot.expect("a cluster sends what it holds");
                let op = StreamOp::Read {
                    slot,
                    to: Link::Xbar(xbar),
                };
                self.recorder.regfile(from, at, op, end);
                self.regfiles.read(from, slot, at, path.span);
            }
            let free_from = self.places.free_after(at, path.span);
            let resident = self.residents.get_mut(record);
            if bank {
                resident.free_from = resident.free_from.max(free_from);
            }
            resident.sent = [Some(Sent { at, from, bank }), resident.sent[0]];
        }
        let route = StreamOp::Route { from };
        self.recorder
            .xbar_port((xbar, cluster), at + path.route, route, end + path.route);
        let written = at + path.delay;
        let op = StreamOp::Write {
            slot,
            from: Link::Xbar(xbar),
        };
        self.recorder
            .regfile(cluster, written, op, written + path.span);
        self.regfiles
            .occupy(cluster, slot, record, written, path.span);
        self.residents.add_copy(record, cluster, slot);
        self.stats.fetches += 1;
        self.stats.shared_reads += u64::from(joined);
    }

    /// Copies a value from a register file to its place.
    pub(super) fn write_back(&mut self, record: u32) {
        let resident = self.residents.get(record);
        let (cluster, source) = resident.copies[0];
        let place = self.segment.places[resident.value as usize];
        let Place { bank, slot } = place;
        let (xbar, path) = self.network.cluster_to_bank(cluster, bank);
        let readable = self.regfiles.readable(cluster, source, path.span);
        let free_from = self.places.free_from(place);
        let from = readable.max(free_from.saturating_sub(path.delay));
        let at = path.earliest(&self.calendars, from);
        path.reserve(&mut self.calendars, at);
        let end = at + path.span;
        let op = StreamOp::Read {
            slot: source,
            to: Link::Xbar(xbar),
        };
        self.recorder.regfile(cluster, at, op, end);
        self.regfiles.read(cluster, source, at, path.span);
        let route = StreamOp::Route { from: cluster };
        self.recorder
            .xbar_port((xbar, bank), at + path.route, route, end + path.route);
        let written = at + path.delay;
        let op = StreamOp::Write {
            slot,
            from: Link::Xbar(xbar),
        };
        self.recorder.bank(bank, written, op, written + path.span);
        self.note_written(record, (written, path.span));
        self.stats.write_backs += 1;
    }
}
