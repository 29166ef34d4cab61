//! Loads, stores and write-backs.

use std::cmp::Reverse;
use std::collections::VecDeque;

use cyclotron_isa::{DramContent, Link, NONE, StreamOp};

use super::engine::Engine;
use super::records::Draft;
use super::tasks::Crossing;
use crate::placement::residents::NO_BANK;
use crate::placement::streams::Home;

impl Engine<'_> {
    /// Issues the loads whose turn it is.
    pub(super) fn issue_loads(&mut self) {
        // What is there may not be enough for anything.
        let least = self.topology.capacity / 16;
        let reserve = if self.is_starved() {
            least
        } else {
            self.reserve()
        };
        while let Some(&load) = self.tasks.loads.get(self.next_load) {
            let input = (load.value as usize) < self.flat.inputs.len();
            let home = self.homes.get(&load.value).copied();
            if (home.is_none() && !input) || self.alive + reserve >= self.topology.capacity {
                return;
            }
            let (at, channel, bank) = self.find_load(home);
            if at > self.now + self.load_ahead() {
                self.wake = self.wake.min(at - self.load_ahead());
                return;
            }
            self.next_load += 1;
            self.load(load, home, (at, channel, bank));
        }
    }

    /// Values on the chip, wherever they are, for which loads leave slots.
    fn reserve(&self) -> u64 {
        self.topology.capacity * self.policy.reserve / 8
    }

    /// How far ahead of the clock loads are issued. Stores get their turn between them.
    fn load_ahead(&self) -> u64 {
        let channels = self.topology.channels.iter();
        let latencies = channels.map(|&c| {
            let channel = &self.machine.channels[usize::from(c)];
            u64::from(channel.latency) + u64::from(channel.span)
        });
        self.lookahead + 4 * latencies.max().unwrap_or(0)
    }

    fn load(&mut self, load: Crossing, home: Option<Home>, (at, channel, bank): (u64, u16, u16)) {
        let home = home.unwrap_or_else(|| {
            let content = DramContent::Input(load.value);
            Home {
                address: self.recorder.dram_slot(channel, content),
                channel,
                ready: 0,
            }
        });
        self.homes.insert(load.value, home);
        self.alive += 1;
        let path = self.network.load(channel, bank);
        path.reserve(&mut self.calendars, at);
        let slot = self.scratchpad.take(bank);
        let from = (channel, home.address);
        let written = self.recorder.load(&path, from, (bank, slot), at);
        self.enter_bank(load.stay, (bank, slot), (written, path.span));
        let end = (written + path.span).saturating_sub(self.network.shortest_transfer);
        self.stays.get_mut(load.stay).exists = true;
        self.announce(load.stay, written.max(end), NONE);
        if self.stays.get(load.stay).left == 0 {
            self.leave(load.stay);
        }
    }

    /// The first free channel and bank.
    fn find_load(&mut self, home: Option<Home>) -> (u64, u16, u16) {
        let mut best = (u64::MAX, 0, 0);
        let candidates: Vec<(u16, u64)> = self.scratchpad.candidates().collect();
        for &channel in &self.topology.channels {
            if home.is_some_and(|home| home.channel != channel) {
                continue;
            }
            let from = home.map_or(0, |home| home.ready);
            let span = u64::from(self.machine.channels[usize::from(channel)].span).max(1);
            let ports = self.network.channel(channel);
            let free = self.calendars.earliest(ports, from, span).0;
            for &(bank, free_from) in &candidates {
                let path = self.network.load(channel, bank);
                let start = free.max(free_from.saturating_sub(path.delay));
                if start >= best.0 {
                    continue;
                }
                let at = path.earliest(&self.calendars, start);
                if at < best.0 {
                    best = (at, channel, bank);
                }
                if at == free {
                    break;
                }
            }
        }
        best
    }

    fn enter_bank(&mut self, stay: u32, (bank, slot): (u16, u16), (at, span): (u64, u64)) {
        let free_from = self.scratchpad.free_after(at, span);
        let stay = self.stays.get_mut(stay);
        (stay.bank, stay.slot) = (bank, slot);
        (stay.written, stay.written_end) = (at, at + span);
        stay.free_from = free_from;
    }

    /// Stores what exists.
    pub(super) fn issue_stores(&mut self) {
        while let Some(&Reverse((at, index))) = self.stores.peek() {
            if at > self.now + self.lookahead {
                break;
            }
            self.stores.pop();
            let store = self.tasks.stores[index as usize];
            if self.stays.get(store.stay).bank == NO_BANK && !self.write_back(store.stay) {
                self.stuck = true;
                return;
            }
            self.store(store.stay, store.value);
            self.used(store.stay);
        }
    }

    fn store(&mut self, stay: u32, value: u32) {
        let place = *self.stays.get(stay);
        let output = self.outputs.get_mut(&value).and_then(VecDeque::pop_front);
        let mut best = (u64::MAX, 0);
        for &channel in &self.topology.channels {
            let path = self.network.store(place.bank, channel);
            let from = place
                .written
                .max(place.written_end.saturating_sub(path.span));
            let at = path.earliest(&self.calendars, from.max(self.now));
            best = best.min((at, channel));
        }
        let (at, channel) = best;
        let path = self.network.store(place.bank, channel);
        path.reserve(&mut self.calendars, at);
        let content = output.map_or(DramContent::Spill, DramContent::Output);
        let address = self.recorder.dram_slot(channel, content);
        let ready = at + path.delay + path.span;
        let op = StreamOp::Read {
            slot: place.slot,
            to: Link::Channel(channel),
        };
        self.recorder.bank(place.bank, at, op, at + path.span);
        let bank = place.bank;
        let op = StreamOp::Store { address, bank };
        self.recorder.channel(channel, at + path.route, op, ready);
        let free_from = self.scratchpad.free_after(at, path.span);
        let place = self.stays.get_mut(stay);
        place.free_from = place.free_from.max(free_from);
        let home = Home {
            address,
            channel,
            ready,
        };
        self.homes.entry(value).or_insert(home);
    }

    /// Copies a value from a register file to a bank; false if all are full.
    pub(super) fn write_back(&mut self, stay: u32) -> bool {
        let source = self.stays.get(stay).copies;
        let cluster = self.copies.get(source).cluster;
        let mut best = (u64::MAX, 0);
        let candidates: Vec<(u16, u64)> = self.scratchpad.candidates().collect();
        for (bank, free_from) in candidates {
            let (_, path) = self.network.cluster_to_bank(cluster, bank);
            let readable = self.copies.get(source).readable(path.span).max(self.now);
            let first = readable.max(free_from.saturating_sub(path.delay));
            if first >= best.0 {
                continue;
            }
            best = best.min((path.earliest(&self.calendars, first), bank));
            if best.0 == readable {
                break;
            }
        }
        let (at, bank) = best;
        if at == u64::MAX {
            return false;
        }
        let (xbar, path) = self.network.cluster_to_bank(cluster, bank);
        path.reserve(&mut self.calendars, at);
        let slot = self.scratchpad.take(bank);
        let to = Link::Xbar(xbar);
        self.drafts.push(at, Draft::Read { copy: source, to });
        let kept = self.extend(source, at, path.span);
        debug_assert!(kept, "an open copy stays");
        let route = StreamOp::Route { from: cluster };
        let routed = at + path.route;
        self.recorder
            .xbar_port((xbar, bank), routed, route, routed + path.span);
        let written = at + path.delay;
        let from = Link::Xbar(xbar);
        let op = StreamOp::Write { slot, from };
        self.recorder.bank(bank, written, op, written + path.span);
        self.enter_bank(stay, (bank, slot), (written, path.span));
        self.stats.write_backs += 1;
        true
    }

    /// One user less; the last one ends the stay.
    pub(super) fn used(&mut self, stay: u32) {
        let place = self.stays.get_mut(stay);
        place.left -= 1;
        if place.left == 0 {
            self.leave(stay);
        }
    }

    /// Frees all places of a value.
    pub(super) fn leave(&mut self, stay: u32) {
        let mut copy = self.stays.get(stay).copies;
        while copy != NONE {
            let state = *self.copies.get(copy);
            if state.open {
                self.open[usize::from(state.cluster)].retain(|&other| other != copy);
                self.close(copy);
            }
            copy = state.next;
        }
        self.alive -= 1;
        let place = self.stays.get_mut(stay);
        place.copies = NONE;
        if place.bank != NO_BANK {
            let (bank, slot, free_from) = (place.bank, place.slot, place.free_from);
            place.bank = NO_BANK;
            self.scratchpad.give(bank, slot, free_from);
        }
    }

    /// From now on a copy leaves after its last known read.
    pub(super) fn close(&mut self, copy: u32) {
        let cluster = usize::from(self.copies.get(copy).cluster);
        self.occupancy[cluster].change(self.copies.free_from(copy), -1);
        self.copies.close(copy);
    }
}
