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

use std::collections::HashMap;

use cyclotron_isa::{FlatProgram, NONE};
use cyclotron_machine::{OpTiming, Resolved};

use super::policy::Policy;
use super::tasks::{STORE, Tasks};

/// The cones of a program.
#[derive(Debug)]
pub(super) struct Cones {
    /// Cone of every instruction; [`NONE`] if it is not executed.
    pub of: Vec<u32>,
    /// Members of cone c, in order: `members[start[c]..start[c + 1]]`.
    start: Vec<u32>,
    members: Vec<u32>,
    /// Cycles of work by cone and kind of unit.
    work: Vec<u32>,
    kinds: usize,
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
        if policy.gang > 1 {
            cones.form_gangs(tasks, policy.gang, usize::from(machine.clusters));
        }
        cones.order_members();
        cones
    }

    /// Joins up to `most` cones that read the same computed values.
    fn form_gangs(&mut self, tasks: &Tasks, gang: usize, clusters: usize) {
        let mut producer = vec![NONE; tasks.stays];
        for (inst, &stay) in (0u32..).zip(&tasks.result) {
            if stay != NONE {
                producer[stay as usize] = inst;
            }
        }
        let level = self.levels(tasks, &producer);
        let deepest = level.iter().max().map_or(0, |&level| level as usize);
        let mut width = vec![0; deepest + 1];
        level.iter().for_each(|&level| width[level as usize] += 1);
        let mut open: HashMap<(u32, Vec<u32>), (u32, usize)> = HashMap::new();
        let count = self.count();
        let mut gang_of = vec![NONE; count];
        let mut gangs = 0u32;
        for cone in (0..count as u32).rev() {
            let mut key = Vec::new();
            for &member in self.members(cone) {
                for &stay in tasks.operands(member) {
                    let from = producer[stay as usize];
                    if from != NONE && self.of[from as usize] != cone {
                        key.push(stay);
                    }
                }
            }
            key.sort_unstable();
            key.dedup();
            // Where there is little to do at once, every cluster is better off with little.
            let most = gang
                .min(width[level[cone as usize] as usize] / clusters)
                .max(1);
            let place = if key.is_empty() {
                None
            } else {
                Some(
                    open.entry((level[cone as usize], key))
                        .or_insert((NONE, most)),
                )
            };
            gang_of[cone as usize] = match place {
                Some((gang, size)) if *gang != NONE && *size < most => {
                    *size += 1;
                    *gang
                }
                place => {
                    gangs += 1;
                    if let Some(place) = place {
                        *place = (gangs - 1, 1);
                    }
                    gangs - 1
                }
            };
        }
        self.relabel(&gang_of, gangs as usize);
    }

    fn levels(&self, tasks: &Tasks, producer: &[u32]) -> Vec<u32> {
        let mut level = vec![0; self.count()];
        for inst in (0..self.of.len() as u32).filter(|&inst| tasks.is_executed(inst as usize)) {
            let cone = self.of[inst as usize];
            for &stay in tasks.operands(inst) {
                let from = producer[stay as usize];
                if from != NONE && self.of[from as usize] != cone {
                    let before = level[self.of[from as usize] as usize];
                    level[cone as usize] = level[cone as usize].max(before + 1);
                }
            }
        }
        level
    }

    fn relabel(&mut self, gang_of: &[u32], gangs: usize) {
        let mut work = vec![0; gangs * self.kinds];
        let (mut way, mut rank) = (vec![0; gangs], vec![u32::MAX; gangs]);
        for (cone, &gang) in gang_of.iter().enumerate() {
            let gang = gang as usize;
            for kind in 0..self.kinds {
                work[gang * self.kinds + kind] += self.work[cone * self.kinds + kind];
            }
            way[gang] = way[gang].max(self.way[cone]);
            rank[gang] = rank[gang].min(self.rank[cone]);
            for (k, member) in (0u32..).zip(self.members(cone as u32).to_vec()) {
                self.inner[member as usize] = k;
            }
        }
        for cone in &mut self.of {
            if *cone != NONE {
                *cone = gang_of[*cone as usize];
            }
        }
        (self.work, self.way, self.rank) = (work, way, rank);
        self.list_members();
    }

    /// Puts the members of every gang in the order in which they are issued.
    fn order_members(&mut self) {
        for cone in 0..self.count() {
            let range = self.start[cone] as usize..self.start[cone + 1] as usize;
            let inner = &self.inner;
            self.members[range.clone()].sort_by_key(|&inst| (inner[inst as usize], inst));
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

    fn list_members(&mut self) {
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
