//! The clock of dispatch: what is issued when.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use cyclotron_isa::{FlatProgram, MovementPlan, Schedule};
use cyclotron_machine::{OpTiming, Resolved};

use super::cones::Cones;
use super::copies::Copies;
use super::occupancy::Occupancy;
use super::policy::Policy;
use super::records::Drafts;
use super::stays::Stays;
use super::tasks::{STORE, Tasks};
use crate::calendar::Calendars;
use crate::error::{CompileError, proceed};
use crate::placement::network::{Issue, Network};
use crate::placement::placer::result_delay;
use crate::placement::scratchpad::Scratchpad;
use crate::placement::streams::{Home, Recorder};
use crate::stats::PlacementStats;
use crate::topology::{Topology, op_timings};

/// Candidates of a kind of unit that are looked at in a round.
const TRIES: usize = 64;
/// The part of a period, from its start, in which transfers may arrive.
const SLACK: u64 = 17;
/// Beats for which register files are remembered.
const HISTORY: u64 = 64;
/// Part of the scratchpad, in 1/64, that must be free for results that need more room.
const CROWDED: u64 = 3;
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
    pub stays: Stays,
    pub copies: Copies,
    pub occupancy: Vec<Occupancy>,
    /// Copies that only the cone at hand reads, by cluster.
    pub open: Vec<Vec<u32>>,
    pub recorder: Recorder,
    pub drafts: Drafts,
    pub stats: PlacementStats,
    pub now: u64,
    /// Cycles that one vector takes.
    pub beat: u64,
    /// Transfers to clusters arrive at multiples of so many cycles, or fewer than `slack` cycles
    /// after. So what is free between them, on all ports of a way, is time for whole vectors.
    pub period: u64,
    pub slack: u64,
    /// Cycles before their start in which instructions are issued.
    pub lookahead: u64,
    pub homes: HashMap<u32, Home>,
    /// Output limbs of a value that are not stored yet.
    pub outputs: HashMap<u32, VecDeque<u32>>,
    /// Values that a cone reads from outside, once a reader, and that do not exist yet.
    missing: Vec<u32>,
    /// Cones whose operands will be there, by when.
    pending: BinaryHeap<Reverse<(u64, u32)>>,
    /// Cones to look at, most urgent first.
    pool: Vec<(u64, u32)>,
    /// Stores whose value exists, by when it does.
    pub stores: BinaryHeap<Reverse<(u64, u32)>>,
    pub next_load: usize,
    /// Values on the chip: each may come to need a slot in a bank.
    pub alive: u64,
    /// Instructions that are not issued.
    pub left: usize,
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
        let cones = Cones::new(flat, machine, &timing, &tasks, &policy);
        let clusters = usize::from(machine.clusters);
        let mut outputs: HashMap<u32, VecDeque<u32>> = HashMap::new();
        for (k, &value) in (0u32..).zip(&flat.outputs) {
            outputs.entry(value).or_default().push_back(k);
        }
        let occupancies = machine.ops.iter().flatten().map(|t| u64::from(t.occupancy));
        let shortest = occupancies.min().unwrap_or(0);
        let beat = shortest.max(network.shortest_transfer).max(1);
        let transfer = network.shortest_transfer.max(1);
        let period = transfer + (transfer * policy.period).div_ceil(128);
        let missing = cones.external_operands(&tasks);
        Ok(Self {
            flat,
            machine,
            policy,
            calendars,
            scratchpad: Scratchpad::new(machine, &topology),
            topology,
            stays: Stays::new(&tasks),
            copies: Copies::new(shortest.min(network.shortest_transfer)),
            occupancy: vec![Occupancy::default(); clusters],
            open: vec![Vec::new(); clusters],
            recorder: Recorder::new(machine),
            drafts: Drafts::default(),
            stats: PlacementStats::default(),
            now: 0,
            beat,
            period,
            slack: if policy.period > 0 {
                period.div_ceil(SLACK)
            } else {
                period
            },
            lookahead: policy.lookahead * beat,
            homes: HashMap::new(),
            outputs,
            missing,
            pending: BinaryHeap::new(),
            pool: Vec::new(),
            stores: BinaryHeap::new(),
            next_load: 0,
            alive: 0,
            left: (0..flat.len()).filter(|&i| tasks.is_executed(i)).count(),
            timing,
            network,
            tasks,
            cones,
            wake: 0,
            stuck: false,
        })
    }

    /// Runs the clock until everything is issued. `None` if it got stuck, or if something
    /// is not issued within `most` cycles.
    pub fn run(
        mut self,
        most: &AtomicU64,
        progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
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
            let empty = self.pool.is_empty() && self.pending.is_empty();
            idle = if empty && before == after {
                idle + 1
            } else {
                0
            };
            let late = self.now > most.load(Ordering::Relaxed);
            if self.stuck || idle > IDLE_ROUNDS || late {
                return Ok(None);
            }
            if reported - self.left >= 1 << 10 {
                reported = self.left;
                proceed(progress(1.0 - self.left as f64 / total as f64))?;
            }
            self.step();
        }
        self.recorder.name_unread_inputs(
            self.flat.inputs.len() as u32,
            &self.homes,
            self.topology.channels[0],
        );
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
        let next = self.now + self.beat;
        let wake = self.wake.min(first(&self.pending)).min(first(&self.stores));
        let known = wake < u64::MAX - self.lookahead;
        self.now = if known { next.max(wake) } else { next };
        let known = self.known_from();
        for occupancy in &mut self.occupancy {
            occupancy.advance(known);
        }
    }

    /// First cycle at which it is known how full register files were.
    pub(super) fn known_from(&self) -> u64 {
        self.now.saturating_sub(HISTORY * self.beat)
    }

    /// Makes candidates of what is ready soon.
    fn admit(&mut self) {
        while let Some(&Reverse((at, cone))) = self.pending.peek() {
            if at > self.now + self.lookahead {
                break;
            }
            self.pending.pop();
            let candidate = (self.priority(cone), cone);
            let place = self.pool.partition_point(|other| *other < candidate);
            self.pool.insert(place, candidate);
        }
    }

    /// Lower goes first.
    fn priority(&self, cone: u32) -> u64 {
        let cone = cone as usize;
        let rank = u64::from(self.cones.rank[cone]);
        let shake = self.policy.shake(cone as u32);
        if self.policy.by_way {
            let way = u64::from(u32::MAX - self.cones.way[cone]) + shake;
            way.min(u64::from(u32::MAX)) << 32 | rank
        } else {
            rank + shake
        }
    }

    /// A value can be read from `at` on: wakes its users outside the cone that makes it.
    pub(super) fn announce(&mut self, stay: u32, at: u64, from: u32) {
        for position in self.tasks.users.start(stay)..self.tasks.users.end(stay) {
            let user = self.tasks.users.at(position);
            if user & STORE != 0 {
                self.stores.push(Reverse((at, user & !STORE)));
                continue;
            }
            let cone = self.cones.of[user as usize];
            if cone == from {
                continue;
            }
            let missing = &mut self.missing[cone as usize];
            *missing -= 1;
            if *missing == 0 {
                let ready = self.cone_ready(cone).max(at);
                self.pending.push(Reverse((ready, cone)));
            }
        }
    }

    /// First cycle at which everything that a cone reads from outside can be read.
    fn cone_ready(&self, cone: u32) -> u64 {
        let members = self.cones.members(cone).iter();
        let stays = members.flat_map(|&member| self.tasks.operands(member));
        let outside = stays.filter(|&&stay| self.stays.get(stay).exists);
        outside
            .map(|&stay| self.first_readable(stay))
            .max()
            .unwrap_or(0)
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
        let mut pool = std::mem::take(&mut self.pool);
        let mut tried = 0;
        let oldest = pool
            .iter()
            .map(|&(_, cone)| self.cones.rank[cone as usize])
            .min();
        pool.retain(|&(_, cone)| {
            tried += 1;
            if tried > TRIES || self.stuck {
                return true;
            }
            let first = Some(self.cones.rank[cone as usize]) == oldest;
            if self.is_crowded() && !first && self.growth(cone) > 0 {
                tried -= 1;
                return true;
            }
            let (cluster, start) = self.choose(cone);
            if start > self.now + self.lookahead {
                self.wake = self.wake.min(start - self.lookahead);
                return true;
            }
            for k in 0..self.cones.members(cone).len() {
                let inst = self.cones.members(cone)[k];
                if !self.stuck && !self.issue(inst, cluster) {
                    self.stuck = true;
                }
            }
            false
        });
        self.pool = pool;
        self.left < before
    }

    /// Whether results should only take the places of what they are made from.
    fn is_crowded(&self) -> bool {
        self.alive + self.topology.capacity * CROWDED / 64 >= self.topology.capacity
    }

    /// By how many values on the chip the execution of a cone changes their number.
    fn growth(&self, cone: u32) -> i64 {
        let mut growth = 0;
        let mut read: Vec<(u32, u32)> = Vec::new();
        for &member in self.cones.members(cone) {
            let users = self.tasks.users.of(self.tasks.result[member as usize]);
            let outside = |&user: &u32| user & STORE != 0 || self.cones.of[user as usize] != cone;
            growth += i64::from(users.iter().any(outside));
            for &stay in self.tasks.operands(member) {
                match read.iter_mut().find(|(other, _)| *other == stay) {
                    Some((_, count)) => *count += 1,
                    None => read.push((stay, 1)),
                }
            }
        }
        let place = |stay: u32| self.stays.get(stay);
        let freed = read
            .iter()
            .filter(|&&(stay, count)| place(stay).exists && place(stay).left == count);
        growth - freed.count() as i64
    }

    /// Whether there is nothing to execute.
    pub(super) fn is_starved(&self) -> bool {
        self.pool.is_empty() && self.pending.is_empty()
    }

    fn count_busy(&mut self) {
        let calendars = &self.calendars;
        self.stats
            .count_busy(self.machine, &self.network, |ports| calendars.busy(ports));
    }
}
