//! The clock of dispatch: what is issued when.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use cyclotron_isa::{DramContent, FlatProgram, MovementPlan, Schedule};
use cyclotron_machine::{OpTiming, Resolved};

use super::cones::Cones;
use super::copies::Copies;
use super::occupancy::Occupancy;
use super::policy::Policy;
use super::records::Drafts;
use super::stays::Stays;
use super::tasks::{STORE, Tasks};
use crate::calendar::Calendars;
use crate::error::CompileError;
use crate::placement::network::{Issue, Network};
use crate::placement::placer::{Home, result_delay};
use crate::placement::residents::NO_BANK;
use crate::placement::scratchpad::Scratchpad;
use crate::placement::streams::Recorder;
use crate::stats::PlacementStats;
use crate::topology::{Topology, op_timings};

/// A cone that is nowhere yet.
pub(super) const NO_HOME: u16 = u16::MAX;
/// Candidates of a kind of unit that are looked at in a round.
const TRIES: usize = 200;
/// Rounds without anything to do after which dispatch is stuck.
const IDLE_ROUNDS: u32 = 256;

/// The state of dispatch.
pub(super) struct Engine<'a> {
    pub flat: &'a FlatProgram,
    pub machine: &'a Resolved,
    pub policy: Policy,
    pub topology: Topology,
    pub timing: Vec<OpTiming>,
    pub calendars: Calendars,
    pub network: Network,
    pub scratchpad: Scratchpad,
    pub tasks: Tasks,
    pub cones: Cones,
    /// Cluster of every cone, or [`NO_HOME`].
    pub home: Vec<u16>,
    /// Work of begun cones that is not issued, by cluster and kind of unit.
    pub load: Vec<u64>,
    pub stays: Stays,
    pub copies: Copies,
    pub occupancy: Vec<Occupancy>,
    /// Open copies by cluster.
    pub open: Vec<Vec<u32>>,
    pub recorder: Recorder,
    pub drafts: Drafts,
    pub stats: PlacementStats,
    pub now: u64,
    /// Cycles that one vector takes.
    pub beat: u64,
    /// Cycles before their start in which instructions are issued.
    pub lookahead: u64,
    pub homes: HashMap<u32, Home>,
    /// Output limbs of a value that are not stored yet.
    pub outputs: HashMap<u32, VecDeque<u32>>,
    pub issued: Vec<bool>,
    /// Operands of an instruction that are not on the chip yet.
    pub missing: Vec<u8>,
    /// Instructions whose operands will be there, by when.
    pending: BinaryHeap<Reverse<(u64, u32)>>,
    /// Instructions to look at, by kind of unit, most urgent first.
    pool: Vec<Vec<(u64, u32)>>,
    /// Stores whose value exists, by when it does.
    pub stores: BinaryHeap<Reverse<(u64, u32)>>,
    pub next_load: usize,
    /// Values on the chip: each may come to need a slot in a bank.
    pub alive: u64,
    /// Instructions that are not issued.
    pub left: usize,
    /// Work that waits for a cluster's unit in this round.
    pub backlog: Vec<u64>,
    /// First cycle at which something that waits may go on, as far as is known.
    pub wake: u64,
    /// Nothing can be pushed out of a register file or written to a bank.
    pub stuck: bool,
}

impl<'a> Engine<'a> {
    pub fn new(
        flat: &'a FlatProgram,
        plan: &MovementPlan,
        machine: &'a Resolved,
        policy: Policy,
    ) -> Result<Self, CompileError> {
        let topology = Topology::new(machine)?;
        let timing = op_timings(flat, machine)?;
        let mut calendars = Calendars::default();
        let network = Network::new(machine, &topology, &mut calendars);
        let delay = |inst: usize| result_delay(timing[flat.op[inst] as usize], machine);
        let mut tasks = Tasks::new(flat, plan, delay);
        if policy.loads_by_way {
            tasks.order_loads(flat);
        }
        let cones = Cones::new(flat, machine, &timing, &tasks);
        let clusters = usize::from(machine.clusters);
        let mut outputs: HashMap<u32, VecDeque<u32>> = HashMap::new();
        for (k, &value) in (0u32..).zip(&flat.outputs) {
            outputs.entry(value).or_default().push_back(k);
        }
        let occupancies = machine.ops.iter().flatten().map(|t| u64::from(t.occupancy));
        let shortest = occupancies.min().unwrap_or(0);
        let beat = shortest.max(network.shortest_transfer).max(1);
        let missing = |inst: usize| tasks.operands(inst as u32).len() as u8;
        Ok(Self {
            flat,
            machine,
            policy,
            calendars,
            scratchpad: Scratchpad::new(machine, &topology),
            topology,
            home: vec![NO_HOME; cones.count()],
            load: vec![0; clusters * machine.units.len()],
            stays: Stays::new(&tasks),
            copies: Copies::new(shortest.min(network.shortest_transfer)),
            occupancy: vec![Occupancy::default(); clusters],
            open: vec![Vec::new(); clusters],
            recorder: Recorder::new(machine),
            drafts: Drafts::default(),
            stats: PlacementStats::default(),
            now: 0,
            beat,
            lookahead: policy.lookahead * beat,
            homes: HashMap::new(),
            outputs,
            issued: vec![false; flat.len()],
            missing: (0..flat.len()).map(missing).collect(),
            pending: BinaryHeap::new(),
            pool: vec![Vec::new(); machine.units.len()],
            stores: BinaryHeap::new(),
            next_load: 0,
            alive: 0,
            left: (0..flat.len()).filter(|&i| tasks.is_executed(i)).count(),
            backlog: vec![0; clusters],
            timing,
            network,
            tasks,
            cones,
            wake: 0,
            stuck: false,
        })
    }

    /// Runs the clock until everything is issued. `None` if it got stuck.
    pub fn run(
        mut self,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Option<(Schedule, PlacementStats)>, CompileError> {
        let total = self.left.max(1);
        let (mut reported, mut idle) = (self.left, 0);
        loop {
            let before = (self.next_load, self.left, self.stores.len());
            self.wake = u64::MAX - self.lookahead;
            self.issue_loads();
            self.issue_stores();
            self.admit();
            while self.dispatch() {
                self.admit();
            }
            let loaded = self.next_load == self.tasks.loads.len();
            if self.left == 0 && self.stores.is_empty() && loaded {
                break;
            }
            let after = (self.next_load, self.left, self.stores.len());
            let empty = self.pool.iter().all(Vec::is_empty) && self.pending.is_empty();
            idle = if empty && before == after {
                idle + 1
            } else {
                0
            };
            if self.stuck || idle > IDLE_ROUNDS {
                return Ok(None);
            }
            if reported - self.left >= 1 << 16 {
                reported = self.left;
                progress(1.0 - self.left as f64 / total as f64);
            }
            self.step();
        }
        self.place_unread_inputs();
        self.count_busy();
        let (recorder, drafts) = (self.recorder, self.drafts);
        let schedule = drafts.finish(recorder, &self.copies, self.flat, self.machine)?;
        Ok(Some((schedule, self.stats)))
    }

    /// Moves the clock to where something may go on.
    fn step(&mut self) {
        let first = |heap: &BinaryHeap<Reverse<(u64, u32)>>| {
            let soonest = heap.peek().map_or(u64::MAX, |&Reverse((at, _))| at);
            soonest.saturating_sub(self.lookahead)
        };
        let next = self.now + self.policy.quantum * self.beat;
        let wake = self.wake.min(first(&self.pending)).min(first(&self.stores));
        let known = wake < u64::MAX - self.lookahead;
        self.now = if known { next.max(wake) } else { next };
        for occupancy in &mut self.occupancy {
            occupancy.advance(self.now);
        }
    }

    /// Makes candidates of what is ready soon.
    fn admit(&mut self) {
        while let Some(&Reverse((at, inst))) = self.pending.peek() {
            if at > self.now + self.lookahead {
                break;
            }
            self.pending.pop();
            let kind = usize::from(self.timing[self.flat.op[inst as usize] as usize].unit);
            let candidate = (self.priority(inst), inst);
            let pool = &mut self.pool[kind];
            let place = pool.partition_point(|other| *other < candidate);
            pool.insert(place, candidate);
        }
    }

    /// Lower goes first: what has begun, then whole cones by urgency.
    fn priority(&self, inst: u32) -> u64 {
        let cone = self.cones.of[inst as usize] as usize;
        let waits = u64::from(self.home[cone] == NO_HOME);
        let urgency = if self.policy.by_way {
            u32::MAX - self.cones.way[cone]
        } else {
            self.cones.rank[cone]
        };
        let rank = u64::from(self.tasks.rank[inst as usize]);
        waits << 63 | u64::from(urgency) << 31 | rank
    }

    /// A value can be read from `at` on: wakes its users.
    pub(super) fn announce(&mut self, stay: u32, at: u64) {
        for position in self.tasks.users.start(stay)..self.tasks.users.end(stay) {
            let user = self.tasks.users.at(position);
            if user & STORE != 0 {
                self.stores.push(Reverse((at, user & !STORE)));
                continue;
            }
            let missing = &mut self.missing[user as usize];
            *missing -= 1;
            if *missing == 0 {
                let operands = self.tasks.operands(user).iter();
                let ready = operands.map(|&stay| self.first_readable(stay)).max();
                self.pending
                    .push(Reverse((ready.unwrap_or(0).max(at), user)));
            }
        }
    }

    /// First cycle at which a value can be read somewhere.
    fn first_readable(&self, stay: u32) -> u64 {
        let place = self.stays.get(stay);
        let in_bank = (place.bank != NO_BANK).then_some(place.written);
        let copies = self.copies.of(place.copies).map(|copy| copy.written);
        copies.chain(in_bank).min().unwrap_or(0)
    }

    /// What an instruction needs on a cluster.
    pub(super) fn needs(&self, inst: u32, cluster: u16) -> Issue {
        let op = self.flat.op[inst as usize];
        let timing = self.timing[op as usize];
        self.network.issue(self.machine, cluster, op, timing)
    }

    /// Issues what can start soon; returns whether there was anything.
    fn dispatch(&mut self) -> bool {
        let before = self.left;
        for kind in 0..self.pool.len() {
            self.backlog.fill(0);
            let count = u64::from(self.machine.units[kind].count.max(1));
            let mut pool = std::mem::take(&mut self.pool[kind]);
            let mut tried = 0;
            pool.retain(|&(_, inst)| {
                tried += 1;
                if tried > TRIES || self.stuck {
                    return true;
                }
                let (cluster, start) = self.choose(inst);
                let later = start > self.now + self.lookahead;
                if later {
                    self.wake = self.wake.min(start - self.lookahead);
                    let timing = self.timing[self.flat.op[inst as usize] as usize];
                    self.backlog[usize::from(cluster)] += u64::from(timing.occupancy) / count;
                } else {
                    self.issue(inst, cluster);
                }
                later
            });
            self.pool[kind] = pool;
        }
        self.left < before
    }

    /// Gives inputs that nothing reads an off-chip slot all the same.
    fn place_unread_inputs(&mut self) {
        for value in 0..self.flat.inputs.len() as u32 {
            if !self.homes.contains_key(&value) {
                let channel = self.topology.channels[0];
                self.recorder.dram_slot(channel, DramContent::Input(value));
            }
        }
    }

    fn count_busy(&mut self) {
        let calendars = &self.calendars;
        self.stats
            .count_busy(self.machine, &self.network, |ports| calendars.busy(ports));
    }
}
