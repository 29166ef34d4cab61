//! The state of the simplified machine and the scheduling loop.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use cyclotron_isa::{FlatProgram, MovementPlan};
use cyclotron_machine::{OpTiming, Resolved};

use super::check_capacity;
use super::ledger::Ledger;
use super::loads::LoadQueue;
use super::victims::{NEVER, Victims, cheaper};
use crate::error::CompileError;
use crate::topology::{Topology, latency_in_instructions, op_timings};
use crate::uses::{UseLists, distinct_sources, live_instructions};

/// The value has a place in the scratchpad.
const RESIDENT: u8 = 1;
/// Its contents are there.
const ARRIVED: u8 = 2;
/// Off-chip memory has a copy.
const OFF_CHIP: u8 = 4;
/// It was loaded before.
const LOADED: u8 = 8;
/// It is an output that was not stored yet.
const UNSTORED: u8 = 16;

/// A channel's share in the model.
#[derive(Debug, Clone, Copy)]
struct ChannelModel {
    span: u64,
    latency: u64,
}

pub(super) struct Mover<'a> {
    flat: &'a FlatProgram,
    timing: Vec<OpTiming>,
    regfile_latency: u64,
    uses: UseLists,
    live: Vec<bool>,
    capacity: usize,
    resident: usize,
    state: Vec<u8>,
    /// First reader that may be unissued, as a position of `uses`.
    cursor: Vec<u32>,
    /// Operands of an instruction in the window that are not there.
    missing: Vec<u8>,
    issued: Vec<bool>,
    /// First live instruction that is not issued.
    oldest: usize,
    /// Instructions before this one are considered.
    window_end: usize,
    window: usize,
    /// How many instructions ahead the memory's latency reaches.
    horizon: usize,
    /// Places that far-ahead loads and instructions leave free.
    headroom: usize,
    now: u64,
    ready: Vec<BinaryHeap<Reverse<u32>>>,
    units: Vec<BinaryHeap<Reverse<u64>>>,
    channels: BinaryHeap<Reverse<(u64, u32)>>,
    channel_models: Vec<ChannelModel>,
    arrivals: BinaryHeap<Reverse<(u64, u32)>>,
    loads: LoadQueue,
    victims: Victims,
    /// How many output limbs a value is, where it is one.
    output_count: HashMap<u32, u32>,
    unstored: VecDeque<u32>,
    ledger: Ledger,
}

impl<'a> Mover<'a> {
    pub fn new(
        flat: &'a FlatProgram,
        machine: &Resolved,
        topology: &Topology,
    ) -> Result<Self, CompileError> {
        let live = live_instructions(flat);
        let uses = UseLists::collect(flat.value_count(), |add| {
            for inst in (0..flat.len()).filter(|&inst| live[inst]) {
                let (sources, count) = distinct_sources(flat, inst);
                sources[..count].iter().for_each(|&s| add(s, inst as u32));
            }
        });
        let timing = op_timings(flat, machine)?;
        let horizon = latency_in_instructions(machine, topology);
        let capacity = usize::try_from(topology.capacity).expect("a scratchpad fits memory");
        let mut mover = Self {
            flat,
            timing,
            regfile_latency: u64::from(machine.regfile.latency),
            cursor: (0..flat.value_count() as u32)
                .map(|v| uses.start(v))
                .collect(),
            uses,
            live,
            capacity,
            resident: 0,
            state: vec![0; flat.value_count()],
            missing: vec![0; flat.len()],
            issued: vec![false; flat.len()],
            oldest: 0,
            window_end: 0,
            window: (4 * horizon).max(1 << 14),
            horizon,
            headroom: capacity / 8,
            now: 0,
            ready: vec![BinaryHeap::new(); machine.units.len()],
            units: machine
                .units
                .iter()
                .map(|kind| {
                    let count = usize::from(kind.count) * usize::from(machine.clusters);
                    std::iter::repeat_n(Reverse(0), count).collect()
                })
                .collect(),
            channels: (0..topology.channels.len() as u32)
                .map(|c| Reverse((0, c)))
                .collect(),
            channel_models: topology
                .channels
                .iter()
                .map(|&c| {
                    let channel = &machine.channels[usize::from(c)];
                    ChannelModel {
                        span: u64::from(channel.span),
                        latency: u64::from(channel.latency),
                    }
                })
                .collect(),
            arrivals: BinaryHeap::new(),
            loads: LoadQueue::default(),
            victims: Victims::default(),
            output_count: HashMap::new(),
            unstored: VecDeque::new(),
            ledger: Ledger::new(capacity, flat.len()),
        };
        check_capacity(flat, &mover.live, capacity)?;
        mover.prepare();
        Ok(mover)
    }

    /// Marks outputs, queues the loads of all inputs, opens the window.
    fn prepare(&mut self) {
        for &output in &self.flat.outputs {
            *self.output_count.entry(output).or_insert(0) += 1;
            self.state[output as usize] |= UNSTORED;
        }
        let mut inputs = Vec::with_capacity(self.flat.inputs.len());
        for value in 0..self.flat.inputs.len() as u32 {
            self.state[value as usize] |= OFF_CHIP;
            let first = self.next_use(value);
            if first != NEVER || self.has(value, UNSTORED) {
                inputs.push((first, value));
            }
        }
        self.loads = LoadQueue::new(inputs);
        self.advance_oldest();
    }

    pub fn run(mut self, progress: &mut dyn FnMut(f64)) -> Result<MovementPlan, CompileError> {
        let mut reported = 0;
        loop {
            self.arrive();
            let mut wake = self.issue_loads();
            wake = wake.min(self.issue_instructions());
            wake = wake.min(self.store_outputs());
            if let Some(&Reverse((time, _))) = self.arrivals.peek() {
                wake = wake.min(time);
            }
            if wake == u64::MAX {
                break;
            }
            self.now = wake;
            if self.oldest >= reported + (1 << 16) {
                reported = self.oldest;
                progress(self.oldest as f64 / self.flat.len() as f64);
            }
        }
        assert!(
            self.oldest == self.flat.len() && self.unstored.is_empty() && self.loads.is_empty(),
            "the oldest instruction can always proceed"
        );
        progress(1.0);
        Ok(self.ledger.finish())
    }

    fn has(&self, value: u32, flag: u8) -> bool {
        self.state[value as usize] & flag != 0
    }

    /// The first unissued reader.
    fn next_use(&mut self, value: u32) -> u32 {
        let end = self.uses.end(value);
        let cursor = &mut self.cursor[value as usize];
        while *cursor < end && self.issued[self.uses.at(*cursor) as usize] {
            *cursor += 1;
        }
        if *cursor < end {
            self.uses.at(*cursor)
        } else {
            NEVER
        }
    }

    /// Marks what has arrived by now and wakes its readers.
    fn arrive(&mut self) {
        while let Some(&Reverse((time, value))) = self.arrivals.peek() {
            if time > self.now {
                break;
            }
            self.arrivals.pop();
            self.state[value as usize] |= ARRIVED;
            let next = self.next_use(value);
            if self.has(value, UNSTORED) {
                self.unstored.push_back(value);
            }
            if next == NEVER && !self.has(value, UNSTORED) {
                self.drop_place(value);
                continue;
            }
            self.victims.push(!self.has(value, OFF_CHIP), next, value);
            self.for_each_waiting(value, |mover, reader| {
                mover.missing[reader] -= 1;
                if mover.missing[reader] == 0 {
                    mover.make_ready(reader);
                }
            });
        }
    }

    /// Calls `f` with every unissued reader in the window.
    fn for_each_waiting(&mut self, value: u32, mut f: impl FnMut(&mut Self, usize)) {
        for position in self.cursor[value as usize]..self.uses.end(value) {
            let reader = self.uses.at(position) as usize;
            if reader >= self.window_end {
                break;
            }
            if !self.issued[reader] {
                f(self, reader);
            }
        }
    }

    fn make_ready(&mut self, inst: usize) {
        let kind = usize::from(self.timing[self.flat.op[inst] as usize].unit);
        self.ready[kind].push(Reverse(inst as u32));
    }

    /// Moves past issued and dead instructions and extends the window.
    fn advance_oldest(&mut self) {
        let count = self.flat.len();
        while self.oldest < count && (self.issued[self.oldest] || !self.live[self.oldest]) {
            self.oldest += 1;
        }
        let end = (self.oldest + self.window).min(count);
        for inst in self.window_end..end {
            if self.live[inst] {
                let (sources, n) = distinct_sources(self.flat, inst);
                let missing = sources[..n]
                    .iter()
                    .filter(|&&s| !self.has(s, ARRIVED))
                    .count();
                self.missing[inst] = missing as u8;
                if missing == 0 {
                    self.make_ready(inst);
                }
            }
        }
        self.window_end = end;
    }

    /// Issues loads while a channel is free; returns when to look again.
    fn issue_loads(&mut self) -> u64 {
        while let Some((next, value)) = self.loads.peek() {
            let free_at = self.channel_free();
            if free_at > self.now {
                return free_at;
            }
            // The last place is for a result.
            let urgent = next as usize <= self.oldest + self.horizon;
            let keep = if urgent { 1 } else { 1 + self.headroom };
            if self.resident + keep >= self.capacity && !(urgent && self.evict_for(next)) {
                return u64::MAX;
            }
            self.loads.pop();
            let model = self.use_channel();
            self.arrivals
                .push(Reverse((self.now + model.latency + model.span, value)));
            let first = !self.has(value, LOADED);
            self.state[value as usize] |= LOADED;
            self.ledger.load(self.flat, value, first);
            self.place(value);
        }
        u64::MAX
    }

    fn channel_free(&self) -> u64 {
        self.channels
            .peek()
            .map_or(u64::MAX, |&Reverse((free, _))| free)
    }

    /// Occupies the first free channel for one vector.
    fn use_channel(&mut self) -> ChannelModel {
        let Some(mut first) = self.channels.peek_mut() else {
            unreachable!("a topology has a channel");
        };
        let Reverse((free, channel)) = *first;
        let model = self.channel_models[channel as usize];
        *first = Reverse((free.max(self.now) + model.span, channel));
        model
    }

    fn place(&mut self, value: u32) {
        self.state[value as usize] |= RESIDENT;
        self.resident += 1;
        debug_assert!(self.resident <= self.capacity, "over capacity");
    }

    fn drop_place(&mut self, value: u32) {
        self.state[value as usize] &= !(RESIDENT | ARRIVED);
        self.resident -= 1;
        self.ledger.evict(value);
    }

    /// Evicts the value with the furthest next use, if that is after `needed`.
    fn evict_for(&mut self, needed: u32) -> bool {
        let (state, cursor, uses, issued) =
            (&self.state, &mut self.cursor, &self.uses, &self.issued);
        let mut furthest = |dirty: bool| {
            self.victims.peek(dirty, |next, value| {
                let flags = state[value as usize];
                flags & ARRIVED != 0
                    && (flags & OFF_CHIP == 0) == dirty
                    && next == first_unissued(uses, issued, &mut cursor[value as usize], value)
            })
        };
        let victim = cheaper(furthest(false), furthest(true), self.oldest as u32);
        match victim {
            Some((next, value)) if next > needed => {
                self.evict(next, value);
                true
            }
            _ => false,
        }
    }

    fn evict(&mut self, next: u32, value: u32) {
        if self.has(value, UNSTORED) || !self.has(value, OFF_CHIP) {
            self.store(value);
        }
        self.drop_place(value);
        if next != NEVER {
            self.loads.push(next, value);
            self.for_each_waiting(value, |mover, reader| mover.missing[reader] += 1);
        }
    }

    /// Stores a value, to all its output limbs if it is an output.
    fn store(&mut self, value: u32) {
        let outputs = if self.has(value, UNSTORED) {
            self.output_count[&value]
        } else {
            0
        };
        for _ in 0..outputs.max(1) {
            self.use_channel();
        }
        self.ledger.store(value, outputs);
        self.state[value as usize] |= OFF_CHIP;
        self.state[value as usize] &= !UNSTORED;
    }

    /// Stores outputs while a channel is idle; returns when to look again.
    fn store_outputs(&mut self) -> u64 {
        let mut freed = false;
        while let Some(&value) = self.unstored.front() {
            if self.has(value, UNSTORED) {
                let free_at = self.channel_free();
                if free_at > self.now {
                    return free_at;
                }
                self.store(value);
                self.release_or_requeue(value);
                freed = true;
            }
            self.unstored.pop_front();
        }
        if freed && !self.loads.is_empty() {
            self.now
        } else {
            u64::MAX
        }
    }

    /// After a use or store: frees a dead value, or notes its new next use.
    fn release_or_requeue(&mut self, value: u32) {
        if !self.has(value, ARRIVED) {
            return;
        }
        let next = self.next_use(value);
        if next == NEVER && !self.has(value, UNSTORED) {
            self.drop_place(value);
        } else {
            self.victims.push(!self.has(value, OFF_CHIP), next, value);
        }
    }

    /// Issues ready instructions to free units; returns when to look again.
    fn issue_instructions(&mut self) -> u64 {
        let mut wake = u64::MAX;
        for kind in 0..self.ready.len() {
            while let Some(&Reverse(inst)) = self.ready[kind].peek() {
                let inst = inst as usize;
                if self.issued[inst] || self.missing[inst] != 0 {
                    self.ready[kind].pop();
                    continue;
                }
                let Some(&Reverse(free_at)) = self.units[kind].peek() else {
                    break;
                };
                if free_at > self.now {
                    wake = wake.min(free_at);
                    break;
                }
                if !self.room_for_result(inst) {
                    break;
                }
                self.ready[kind].pop();
                self.issue(inst);
            }
        }
        wake
    }

    /// Makes sure that an instruction's result has a place, if it may have one now.
    fn room_for_result(&mut self, inst: usize) -> bool {
        let result = self.flat.result(inst);
        let first_use = self.uses.of(result).first().copied().unwrap_or(NEVER);
        if self.resident == self.capacity {
            let needed = if inst == self.oldest {
                inst as u32
            } else {
                first_use
            };
            return self.evict_for(needed);
        }
        let far_ahead = inst > self.oldest + self.horizon;
        if far_ahead && self.resident + self.headroom >= self.capacity {
            let (sources, n) = distinct_sources(self.flat, inst);
            return sources[..n].iter().any(|&s| self.dies_with(s, inst));
        }
        true
    }

    /// Whether the instruction is the last reader of a value that need not be stored.
    fn dies_with(&self, value: u32, inst: usize) -> bool {
        let open = self.cursor[value as usize]..self.uses.end(value);
        !self.has(value, UNSTORED)
            && open.into_iter().all(|position| {
                let reader = self.uses.at(position) as usize;
                reader == inst || self.issued[reader]
            })
    }

    fn issue(&mut self, inst: usize) {
        let timing = self.timing[self.flat.op[inst] as usize];
        let busy = u64::from(timing.occupancy);
        let passes = if timing.multipass { busy } else { 0 };
        let written = self.now + passes + u64::from(timing.latency) + self.regfile_latency;
        if let Some(mut unit) = self.units[usize::from(timing.unit)].peek_mut() {
            *unit = Reverse(self.now + busy);
        }
        self.issued[inst] = true;
        self.ledger.compute(inst);
        let result = self.flat.result(inst);
        self.place(result);
        self.arrivals.push(Reverse((written, result)));
        let (sources, n) = distinct_sources(self.flat, inst);
        for &source in &sources[..n] {
            self.release_or_requeue(source);
        }
        self.prune_victims();
        self.advance_oldest();
    }

    fn prune_victims(&mut self) {
        let (state, cursor, uses, issued) =
            (&self.state, &mut self.cursor, &self.uses, &self.issued);
        self.victims.prune(self.resident, |dirty, next, value| {
            let flags = state[value as usize];
            flags & ARRIVED != 0
                && (flags & OFF_CHIP == 0) == dirty
                && next == first_unissued(uses, issued, &mut cursor[value as usize], value)
        });
    }
}

/// The first unissued reader of a value; advances its cursor.
fn first_unissued(uses: &UseLists, issued: &[bool], cursor: &mut u32, value: u32) -> u32 {
    let end = uses.end(value);
    while *cursor < end && issued[uses.at(*cursor) as usize] {
        *cursor += 1;
    }
    if *cursor < end {
        uses.at(*cursor)
    } else {
        NEVER
    }
}
