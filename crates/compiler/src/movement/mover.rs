//! The state of the simplified machine and the scheduling loop.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::ops::ControlFlow;

use cyclotron_isa::{FlatProgram, MovementPlan};
use cyclotron_machine::{OpTiming, Resolved};

use super::ledger::Ledger;
use super::loads::LoadQueue;
use super::victims::{NEVER, Victims};
use super::{Watch, check_capacity};
use crate::error::{CompileError, proceed};
use crate::topology::{Topology, latency_in_instructions, op_timings};
use crate::uses::{UseLists, distinct_sources, live_instructions};

/// The value has a place in the scratchpad.
const RESIDENT: u8 = 1;
/// Its contents are there.
pub(super) const ARRIVED: u8 = 2;
/// Off-chip memory has a copy.
pub(super) const OFF_CHIP: u8 = 4;
/// It was loaded before.
const LOADED: u8 = 8;
/// It is an output that was not stored yet.
pub(super) const UNSTORED: u8 = 16;

/// A channel's share in the model.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChannelModel {
    span: u64,
    latency: u64,
}

pub(super) struct Mover<'a> {
    pub(super) flat: &'a FlatProgram,
    pub(super) timing: Vec<OpTiming>,
    pub(super) regfile_latency: u64,
    pub(super) uses: UseLists,
    pub(super) live: Vec<bool>,
    pub(super) capacity: usize,
    pub(super) resident: usize,
    pub(super) state: Vec<u8>,
    /// First reader that may be unissued, as a position of `uses`.
    pub(super) cursor: Vec<u32>,
    /// Operands of an instruction in the window that are not there.
    pub(super) missing: Vec<u8>,
    pub(super) issued: Vec<bool>,
    /// First live instruction that is not issued.
    pub(super) oldest: usize,
    /// Instructions before this one are considered.
    pub(super) window_end: usize,
    pub(super) window: usize,
    /// How many instructions ahead the memory's latency reaches.
    pub(super) horizon: usize,
    /// Places that far-ahead loads and instructions leave free.
    pub(super) headroom: usize,
    pub(super) now: u64,
    pub(super) ready: Vec<BinaryHeap<Reverse<u32>>>,
    pub(super) units: Vec<BinaryHeap<Reverse<u64>>>,
    pub(super) channels: BinaryHeap<Reverse<(u64, u32)>>,
    pub(super) channel_models: Vec<ChannelModel>,
    pub(super) arrivals: BinaryHeap<Reverse<(u64, u32)>>,
    pub(super) loads: LoadQueue,
    pub(super) victims: Victims,
    /// How many output limbs a value is, where it is one.
    pub(super) output_count: HashMap<u32, u32>,
    pub(super) unstored: VecDeque<u32>,
    pub(super) ledger: Ledger,
}

impl<'a> Mover<'a> {
    pub fn new(
        flat: &'a FlatProgram,
        machine: &Resolved,
        topology: &Topology,
        progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Self, CompileError> {
        proceed(progress(0.0))?;
        let live = live_instructions(flat);
        proceed(progress(0.0))?;
        let uses = UseLists::collect(flat.value_count(), |add| {
            for inst in (0..flat.len()).filter(|&inst| live[inst]) {
                let (sources, count) = distinct_sources(flat, inst);
                sources[..count].iter().for_each(|&s| add(s, inst as u32));
            }
        });
        proceed(progress(0.0))?;
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

    pub fn run(mut self, watch: &mut Watch<'_>) -> Result<MovementPlan, CompileError> {
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
            if self.oldest >= reported + (1 << 12) {
                reported = self.oldest;
                let part = self.oldest as f64 / self.flat.len() as f64;
                proceed(watch(self.ledger.steps(), part))?;
            }
        }
        assert!(
            self.oldest == self.flat.len() && self.unstored.is_empty() && self.loads.is_empty(),
            "the oldest instruction can always proceed"
        );
        proceed(watch(self.ledger.steps(), 1.0))?;
        Ok(self.ledger.finish())
    }

    pub(super) fn has(&self, value: u32, flag: u8) -> bool {
        self.state[value as usize] & flag != 0
    }

    /// The first unissued reader.
    pub(super) fn next_use(&mut self, value: u32) -> u32 {
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
    pub(super) fn for_each_waiting(&mut self, value: u32, mut f: impl FnMut(&mut Self, usize)) {
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
    pub(super) fn advance_oldest(&mut self) {
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

    pub(super) fn channel_free(&self) -> u64 {
        self.channels
            .peek()
            .map_or(u64::MAX, |&Reverse((free, _))| free)
    }

    /// Occupies the first free channel for one vector.
    pub(super) fn use_channel(&mut self) -> ChannelModel {
        let Some(mut first) = self.channels.peek_mut() else {
            unreachable!("a topology has a channel");
        };
        let Reverse((free, channel)) = *first;
        let model = self.channel_models[channel as usize];
        *first = Reverse((free.max(self.now) + model.span, channel));
        model
    }

    pub(super) fn place(&mut self, value: u32) {
        self.state[value as usize] |= RESIDENT;
        self.resident += 1;
        debug_assert!(self.resident <= self.capacity, "over capacity");
    }

    pub(super) fn drop_place(&mut self, value: u32) {
        self.state[value as usize] &= !(RESIDENT | ARRIVED);
        self.resident -= 1;
        self.ledger.evict(value);
    }
}
