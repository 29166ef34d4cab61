//! Transfers to clusters.

use cyclotron_isa::{Link, NONE, StreamOp};

use super::engine::Engine;
use super::records::Draft;
use crate::placement::path::Path;
use crate::placement::residents::{NO_BANK, Sent};

/// A transfer to a cluster that was found possible.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transfer {
    at: u64,
    xbar: u16,
    path: Path,
    from: u16,
    /// The copy that is sent, or [`NONE`] if a bank sends.
    copy: u32,
    joined: bool,
}

impl Transfer {
    /// First cycle of the write into the register file.
    pub fn arrives(&self) -> u64 {
        self.at + self.path.delay
    }
}

impl Engine<'_> {
    /// The transfer that arrives first, but not before `from`; `None` if no
    /// network leads to the cluster from where the value is.
    pub(super) fn find_transfer(&self, cluster: u16, stay: u32, from: u64) -> Option<Transfer> {
        let place = self.stays.get(stay);
        let mut best: Option<(u64, Transfer)> = None;
        let mut offer = |transfer: Transfer| {
            let cost = transfer.arrives() * 2 + u64::from(!transfer.joined);
            if best.as_ref().is_none_or(|&(before, _)| cost < before) {
                best = Some((cost, transfer));
            }
        };
        for sent in place.sent.iter().flatten() {
            if let Some(transfer) = self.join(cluster, stay, sent)
                && transfer.arrives() >= from.max(self.now)
                && transfer.path.can_join(&self.calendars, transfer.at)
            {
                offer(transfer);
            }
        }
        let mut try_path = |readable: u64, (xbar, path): (u16, Path), from_port, copy| {
            let first = readable.max(self.now).max(from.saturating_sub(path.delay));
            offer(Transfer {
                at: path.earliest(&self.calendars, first),
                xbar,
                path,
                from: from_port,
                copy,
                joined: false,
            });
        };
        if place.bank != NO_BANK {
            let found = self.network.bank_to_cluster(place.bank, cluster);
            let last = place.written_end.saturating_sub(found.1.span);
            try_path(place.written.max(last), found, place.bank, NONE);
        }
        let mut copy = place.copies;
        while copy != NONE {
            let state = self.copies.get(copy);
            if let Some(found) = self.network.cluster_to_cluster(state.cluster, cluster) {
                try_path(state.readable(found.1.span), found, state.cluster, copy);
            }
            copy = state.next;
        }
        best.map(|(_, transfer)| transfer)
    }

    /// When a value can be in a cluster where it is not.
    pub(super) fn arrival(&self, cluster: u16, stay: u32) -> u64 {
        match self.find_transfer(cluster, stay, self.now) {
            Some(transfer) => transfer.arrives(),
            None => {
                let first = self.copies.of(self.stays.get(stay).copies).next();
                let copy = first.expect("a value on the chip is somewhere");
                copy.written.max(self.now) + self.network.detour(copy.cluster)
            }
        }
    }

    /// A further receiver of a stream that is sent anyway.
    fn join(&self, cluster: u16, stay: u32, sent: &Sent) -> Option<Transfer> {
        let (copy, (xbar, path)) = if sent.bank {
            (NONE, self.network.bank_to_cluster(sent.from, cluster))
        } else {
            let copy = self.copies.find(self.stays.get(stay).copies, sent.from)?;
            (copy, self.network.cluster_to_cluster(sent.from, cluster)?)
        };
        Some(Transfer {
            at: sent.at,
            xbar,
            path,
            from: sent.from,
            copy,
            joined: true,
        })
    }

    /// Reserves a transfer; returns the new copy.
    pub(super) fn commit_transfer(&mut self, cluster: u16, stay: u32, transfer: Transfer) -> u32 {
        let Transfer {
            at,
            xbar,
            path,
            from,
            copy,
            joined,
        } = transfer;
        let bank = copy == NONE;
        if joined {
            path.join(&mut self.calendars, at);
        } else {
            path.reserve(&mut self.calendars, at);
            let to = Link::Xbar(xbar);
            let free_from = self.scratchpad.free_after(at, path.span);
            let place = self.stays.get_mut(stay);
            place.sent = [Some(Sent { at, from, bank }), place.sent[0]];
            if bank {
                place.free_from = place.free_from.max(free_from);
                let op = StreamOp::Read {
                    slot: place.slot,
                    to,
                };
                self.recorder.bank(from, at, op, at + path.span);
            } else {
                self.drafts.push(at, Draft::Read { copy, to });
                self.copies.read(copy, at, path.span);
            }
        }
        let routed = at + path.route;
        let route = StreamOp::Route { from };
        self.recorder
            .xbar_port((xbar, cluster), routed, route, routed + path.span);
        let copy = self.open_copy(cluster, stay, (transfer.arrives(), path.span));
        let from = Link::Xbar(xbar);
        self.drafts
            .push(transfer.arrives(), Draft::Write { copy, from });
        self.stats.fetches += 1;
        self.stats.shared_reads += u64::from(joined);
        copy
    }

    /// Adds a copy that is written over `(start, span)`.
    pub(super) fn open_copy(&mut self, cluster: u16, stay: u32, written: (u64, u64)) -> u32 {
        let place = self.stays.get_mut(stay);
        let copy = self.copies.add(cluster, stay, place.copies, written);
        place.copies = copy;
        self.occupancy[usize::from(cluster)].change(written.0, 1);
        self.open[usize::from(cluster)].push(copy);
        copy
    }
}
