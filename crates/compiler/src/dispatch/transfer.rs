//! Transfers to clusters.

use std::cmp::Reverse;

use cyclotron_isa::{Link, NONE, StreamOp};

use super::engine::Engine;
use super::records::Draft;
use crate::placement::path::Path;
use crate::placement::residents::{NO_BANK, Sent};

/// Beats that a transfer may arrive before others if it shares a stream with another one.
const JOINING: u64 = 2;

/// Periods that are looked at for a transfer.
const PERIODS: u32 = 64;

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

    /// First start of a read over `span` cycles that sees the whole vector.
    pub fn in_time(&self, span: u64) -> u64 {
        self.arrives() + self.path.slower_than(span)
    }
}

impl Engine<'_> {
    /// The transfer that arrives first, but not before `from`; `None` if no
    /// network leads to the cluster from where the value is.
    pub(super) fn find_transfer(&self, cluster: u16, stay: u32, from: u64) -> Option<Transfer> {
        let from = from.max(self.now);
        let joined = self.joinable(cluster, stay);
        let joined = joined.filter(|transfer| transfer.arrives() >= from);
        let sent = self.sources(cluster, stay).filter_map(|source| {
            let first = source.at.max(from.saturating_sub(source.path.delay));
            self.sent_at(source, self.earliest_arrival(&source.path, first))
        });
        joined
            .chain(sent)
            .min_by_key(|transfer| (transfer.arrives(), !transfer.joined))
    }

    /// A transfer that arrives from `from` on, and in time for a read over `[at, at + span)`,
    /// as late as possible: until it is read it takes a slot. One that joins a stream may
    /// arrive a little earlier than others.
    pub(super) fn find_late_transfer(
        &self,
        cluster: u16,
        stay: u32,
        from: u64,
        (at, span): (u64, u64),
    ) -> Option<Transfer> {
        let from = from.max(self.now);
        // A stream that is slower than the read has to begin earlier.
        let until = |path: &Path| at.saturating_sub(path.slower_than(span));
        let joined = self
            .joinable(cluster, stay)
            .filter(|transfer| (from..=until(&transfer.path)).contains(&transfer.arrives()));
        let sent = self.sources(cluster, stay).filter_map(|source| {
            let path = source.path;
            let first = source.at.max(from.saturating_sub(path.delay));
            let last = until(&path)
                .checked_sub(path.delay)
                .filter(|&last| last >= first)?;
            let latest = self.latest_arrival(&path, first, last);
            latest.and_then(|at| self.sent_at(source, at)).or_else(|| {
                let earliest = self.earliest_arrival(&path, first);
                self.sent_at(source, earliest).filter(|_| earliest <= last)
            })
        });
        let gain = |transfer: &Transfer| {
            let worth = if transfer.joined {
                JOINING * self.beat
            } else {
                0
            };
            (transfer.arrives() + worth, Reverse(transfer.from))
        };
        joined.chain(sent).max_by_key(gain)
    }

    /// The streams of a value that are sent to other clusters anyway and that this
    /// one can receive too.
    fn joinable(&self, cluster: u16, stay: u32) -> impl Iterator<Item = Transfer> + '_ {
        let sent = self.stays.get(stay).sent.into_iter().flatten();
        sent.filter_map(move |sent| self.join(cluster, stay, &sent))
            .filter(|transfer| transfer.path.can_join(&self.calendars, transfer.at))
    }

    /// From where a value can be sent to a cluster, and from which cycle on.
    fn sources(&self, cluster: u16, stay: u32) -> impl Iterator<Item = Transfer> + '_ {
        let place = self.stays.get(stay);
        let source = |readable: u64, (xbar, path), from, copy| Transfer {
            at: readable.max(self.now),
            xbar,
            path,
            from,
            copy,
            joined: false,
        };
        let bank = (place.bank != NO_BANK).then(|| {
            let found = *self.network.bank_to_cluster(place.bank, cluster);
            let last = place.written_end.saturating_sub(found.1.span);
            source(place.written.max(last), found, place.bank, NONE)
        });
        let copies = self.copies.numbers(place.copies).filter_map(move |copy| {
            let state = self.copies.get(copy);
            let found = *self.network.cluster_to_cluster(state.cluster, cluster)?;
            Some(source(
                state.readable(found.1.span),
                found,
                state.cluster,
                copy,
            ))
        });
        bank.into_iter().chain(copies)
    }

    /// A transfer at a cycle, if its source is there until then.
    fn sent_at(&self, source: Transfer, at: u64) -> Option<Transfer> {
        let there = source.copy == NONE || self.can_extend(source.copy, at, source.path.span);
        there.then_some(Transfer { at, ..source })
    }

    /// The first start of a transfer from `first` on that arrives where it may in a period.
    fn earliest_arrival(&self, path: &Path, first: u64) -> u64 {
        let mut at = path.earliest(&self.calendars, first);
        for _ in 0..PERIODS {
            if self.phase(at + path.delay) < self.slack {
                break;
            }
            let next = (at + path.delay).next_multiple_of(self.period);
            at = path.earliest(&self.calendars, next - path.delay);
        }
        at
    }

    /// The last start of a transfer in `[first, last]` that arrives where it may in a period.
    fn latest_arrival(&self, path: &Path, first: u64, last: u64) -> Option<u64> {
        let mut at = path.latest(&self.calendars, first, last)?;
        for _ in 0..PERIODS {
            let phase = self.phase(at + path.delay);
            if phase < self.slack {
                return Some(at);
            }
            let last = (at + self.slack - 1).checked_sub(phase)?;
            if last < first {
                return None;
            }
            at = path.latest(&self.calendars, first, last)?;
        }
        None
    }

    /// Cycles since the start of the period.
    fn phase(&self, cycle: u64) -> u64 {
        cycle % self.period
    }

    /// A further receiver of a stream that is sent anyway.
    fn join(&self, cluster: u16, stay: u32, sent: &Sent) -> Option<Transfer> {
        let (copy, (xbar, path)) = if sent.bank {
            (NONE, *self.network.bank_to_cluster(sent.from, cluster))
        } else {
            let copy = self.copies.find(self.stays.get(stay).copies, sent.from)?;
            (copy, *self.network.cluster_to_cluster(sent.from, cluster)?)
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
                self.extend(copy, at, path.span);
            }
        }
        let routed = at + path.route;
        let route = StreamOp::Route { from };
        self.recorder
            .xbar_port((xbar, cluster), routed, route, routed + path.span);
        let copy = self.open_copy(cluster, stay, (transfer.arrives(), path.span));
        self.close(copy);
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
        place.exists = true;
        self.occupancy[usize::from(cluster)].change(written.0, 1);
        copy
    }
}
