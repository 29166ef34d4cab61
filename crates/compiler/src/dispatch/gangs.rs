//! Cones that read the same values are joined.

use std::collections::HashMap;

use cyclotron_isa::NONE;

use super::cones::Cones;
use super::policy::Policy;
use super::tasks::Tasks;

impl Cones {
    /// Joins up to so many equally deep cones that read the same computed values.
    pub(super) fn form_gangs(
        &mut self,
        tasks: &Tasks,
        producer: &[u32],
        policy: &Policy,
        clusters: usize,
    ) {
        let count = self.count();
        let mut entering: Vec<Vec<u32>> = (0..count as u32)
            .map(|cone| self.entering(cone, tasks, producer))
            .collect();
        // How many cones read each computed value from outside.
        let mut readers = vec![0; tasks.stays];
        entering
            .iter()
            .flatten()
            .for_each(|&stay| readers[stay as usize] += 1);
        let level = self.levels(tasks, producer);
        let deepest = level.iter().max().map_or(0, |&level| level as usize);
        let mut width = vec![0; deepest + 1];
        level.iter().for_each(|&level| width[level as usize] += 1);
        let mut open: HashMap<(u32, Vec<u32>), (u32, usize)> = HashMap::new();
        let mut gang_of = vec![NONE; count];
        let mut gangs = 0u32;
        for cone in (0..count as u32).rev() {
            let mut key = std::mem::take(&mut entering[cone as usize]);
            if !policy.alike {
                let read_by = |stay: &u32| readers[*stay as usize];
                let most = key.iter().map(read_by).max();
                key.retain(|stay| Some(read_by(stay)) == most);
            }
            // Where there is little to do at once, every cluster is better off with little.
            let most = policy
                .gang
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

    /// The computed values that a cone reads from outside, each once.
    fn entering(&self, cone: u32, tasks: &Tasks, producer: &[u32]) -> Vec<u32> {
        let members = self.members(cone).iter();
        let read = members.flat_map(|&member| tasks.operands(member)).copied();
        let mut entering: Vec<u32> = read
            .filter(|&stay| {
                let from = producer[stay as usize];
                from != NONE && self.of[from as usize] != cone
            })
            .collect();
        entering.sort_unstable();
        entering.dedup();
        entering
    }

    /// How many computed values are between each cone and what is loaded, at most.
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

    /// Makes cones of the gangs.
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
        }
        for cone in &mut self.of {
            if *cone != NONE {
                *cone = gang_of[*cone as usize];
            }
        }
        (self.work, self.way, self.rank) = (work, way, rank);
        self.list_members();
    }
}
