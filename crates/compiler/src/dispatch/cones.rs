//! Instructions that stay together: fan-out-free cones.
//!
//! An instruction whose result has one reader belongs to the cone of that
//! reader, as long as the cone does not become too much work for one cluster
//! and has no second operation on a unit with a long pipeline. All instructions
//! of a cone are issued at once on one cluster, so only what enters cones is transferred.
//!
//! Cones that read the same computed values are joined, like tiles of a matrix product:
//! each value is then brought once for all of them. They have to be equally deep in the
//! dataflow, so that none waits for another, and there must be enough of them for all
//! clusters.

use cyclotron_isa::{FlatProgram, NONE};
use cyclotron_machine::{OpTiming, Resolved};

use super::inner::Place;
use super::policy::Policy;
use super::tasks::{STORE, Tasks};
use crate::placement::placer::result_delay;

/// The cones of a program.
#[derive(Debug)]
pub(super) struct Cones {
    /// Cone of every instruction; [`NONE`] if it is not executed.
    pub of: Vec<u32>,
    /// Members of cone c, in order: `members[start[c]..start[c + 1]]`.
    start: Vec<u32>,
    members: Vec<u32>,
    /// Cycles of work by cone and kind of unit.
    pub(super) work: Vec<u32>,
    pub(super) kinds: usize,
    /// The longest way from a member to the end.
    pub way: Vec<u32>,
    /// Least rank of a member.
    pub rank: Vec<u32>,
    /// Place of an instruction in the order of its cone's members.
    pub inner: Vec<u32>,
}

impl Cones {
    pub fn new(
        flat: &FlatProgram,
        machine: &Resolved,
        timing: &[OpTiming],
        tasks: &Tasks,
        policy: &Policy,
    ) -> Self {
        let mut cones = Self {
            of: vec![NONE; flat.len()],
            start: vec![0],
            members: Vec::new(),
            work: Vec::new(),
            kinds: machine.units.len(),
            way: Vec::new(),
            rank: Vec::new(),
            inner: vec![0; flat.len()],
        };
        for inst in (0..flat.len())
            .rev()
            .filter(|&inst| tasks.is_executed(inst))
        {
            cones.join(
                inst,
                timing[flat.op[inst] as usize],
                machine,
                (tasks, policy),
            );
        }
        cones.list_members();
        let producer = producers(tasks);
        let delay = |inst: u32| result_delay(timing[flat.op[inst as usize] as usize], machine);
        let places = cones.find_places(tasks, &producer, policy.deep, delay);
        if policy.gang > 1 {
            cones.form_gangs(tasks, &producer, policy, usize::from(machine.clusters));
        }
        cones.order_members(&places);
        cones
    }

    /// Puts the members of every cone in the order in which they are issued.
    fn order_members(&mut self, places: &[Place]) {
        for cone in 0..self.count() {
            let range = self.start[cone] as usize..self.start[cone + 1] as usize;
            self.members[range.clone()].sort_by_key(|&inst| places[inst as usize]);
            for (k, &member) in (0u32..).zip(&self.members[range]) {
                self.inner[member as usize] = k;
            }
        }
    }

    /// How often the members of each cone read what no member makes.
    pub fn external_operands(&self, tasks: &Tasks) -> Vec<u32> {
        let mut producer = vec![NONE; tasks.stays];
        for (inst, &stay) in tasks.result.iter().enumerate() {
            if stay != NONE {
                producer[stay as usize] = self.of[inst];
            }
        }
        let mut count = vec![0; self.count()];
        for (inst, &cone) in (0u32..).zip(&self.of) {
            if cone != NONE {
                let outside = tasks.operands(inst).iter();
                let outside = outside.filter(|&&stay| producer[stay as usize] != cone);
                count[cone as usize] += outside.count() as u32;
            }
        }
        count
    }

    pub fn count(&self) -> usize {
        self.way.len()
    }

    /// The instructions of a cone.
    pub fn members(&self, cone: u32) -> &[u32] {
        let range = self.start[cone as usize] as usize..self.start[cone as usize + 1] as usize;
        &self.members[range]
    }

    /// Cycles of work by kind of unit.
    pub fn work(&self, cone: u32) -> &[u32] {
        &self.work[cone as usize * self.kinds..][..self.kinds]
    }

    /// Puts an instruction into its reader's cone, or into a new one.
    fn join(
        &mut self,
        inst: usize,
        timing: OpTiming,
        machine: &Resolved,
        (tasks, policy): (&Tasks, &Policy),
    ) {
        let kind = usize::from(timing.unit);
        let units = u32::from(machine.units[kind].count.max(1));
        let most = if timing.latency >= timing.occupancy {
            timing.occupancy
        } else {
            policy.work * units * timing.occupancy
        };
        let cone = match tasks.users.of(tasks.result[inst]) {
            &[user] if user & STORE == 0 => {
                let cone = self.of[user as usize];
                (self.work(cone)[kind] + timing.occupancy <= most).then_some(cone)
            }
            _ => None,
        };
        let cone = cone.unwrap_or_else(|| {
            self.work.resize(self.work.len() + self.kinds, 0);
            self.way.push(0);
            self.rank.push(u32::MAX);
            self.way.len() as u32 - 1
        });
        self.of[inst] = cone;
        let index = cone as usize;
        self.work[index * self.kinds + kind] += timing.occupancy;
        self.way[index] = self.way[index].max(tasks.way[inst]);
        self.rank[index] = self.rank[index].min(tasks.rank[inst]);
    }

    /// Finds the members of every cone.
    pub(super) fn list_members(&mut self) {
        let count = self.count();
        self.start = vec![0; count + 1];
        let executed = || self.of.iter().filter(|&&cone| cone != NONE);
        executed().for_each(|&cone| self.start[cone as usize + 1] += 1);
        for cone in 0..count {
            self.start[cone + 1] += self.start[cone];
        }
        let mut next = self.start.clone();
        self.members = vec![0; self.start[count] as usize];
        for (inst, &cone) in (0u32..).zip(&self.of) {
            if cone != NONE {
                let at = &mut next[cone as usize];
                self.members[*at as usize] = inst;
                *at += 1;
            }
        }
    }
}

/// The instruction that makes each value, or [`NONE`] for what is loaded.
fn producers(tasks: &Tasks) -> Vec<u32> {
    let mut producer = vec![NONE; tasks.stays];
    for (inst, &stay) in (0u32..).zip(&tasks.result) {
        if stay != NONE {
            producer[stay as usize] = inst;
        }
    }
    producer
}
