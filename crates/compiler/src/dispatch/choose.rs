//! Which cluster gets a cone.

use cyclotron_isa::NONE;

use super::engine::{Engine, NO_HOME};

/// Values entering a cone that are taken into account.
const ENTERING: usize = 24;
/// Cost of pushing something out of a register file, in 1/8 beats.
const EVICTION: u64 = 8;
/// Slots that a cone needs besides those of what enters it.
const INNER_SLOTS: i32 = 2;

impl Engine<'_> {
    /// The cluster of an instruction's cone, or the one where it costs least,
    /// and when the instruction would start there.
    pub(super) fn choose(&self, inst: u32) -> (u16, u64) {
        let cone = self.cones.of[inst as usize];
        let home = self.home[cone as usize];
        if home != NO_HOME {
            return (home, self.start_on(inst, home));
        }
        let mut entering = [NONE; ENTERING];
        let entering = self.entering(cone, &mut entering);
        let mut best = (u64::MAX, 0, 0);
        for cluster in 0..self.machine.clusters {
            let extra = self.extra_cost(cone, entering, cluster);
            if self.now + extra >= best.0 {
                continue;
            }
            let start = self.start_on(inst, cluster);
            if start + extra < best.0 {
                best = (start + extra, cluster, start);
            }
        }
        (best.1, best.2)
    }

    /// What a cone costs on a cluster besides waiting, in cycles.
    fn extra_cost(&self, cone: u32, entering: &[u32], cluster: u16) -> u64 {
        let here = usize::from(cluster);
        let kinds = self.machine.units.len();
        let waiting = |kind: usize| {
            let units = u64::from(self.machine.units[kind].count.max(1));
            self.load[here * kinds + kind] / units
        };
        let work = (0..kinds).zip(self.cones.work(cone));
        let needed = work.filter(|&(_, &work)| work > 0);
        let load = needed.map(|(kind, _)| waiting(kind)).max().unwrap_or(0);
        let moves = entering
            .iter()
            .filter(|&&stay| {
                let first = self.stays.get(stay).copies;
                self.copies.find(first, cluster).is_none()
            })
            .count();
        let open = self.occupancy[here].last();
        let slots = i32::from(self.machine.regfile.slots);
        let pushed = (open + moves as i32 + INNER_SLOTS - slots).max(0) as u64;
        let eighths = moves as u64 * self.policy.transfer + pushed * EVICTION;
        load + self.beat * eighths / 8
    }

    /// The values in register files that enter a cone, as far as they are known.
    fn entering<'l>(&self, cone: u32, list: &'l mut [u32; ENTERING]) -> &'l [u32] {
        let mut count = 0;
        for &member in self.cones.members(cone) {
            for &stay in self.tasks.operands(member) {
                let known = self.stays.get(stay).copies != NONE;
                if known && count < ENTERING && !list[..count].contains(&stay) {
                    list[count] = stay;
                    count += 1;
                }
            }
        }
        &list[..count]
    }

    /// When an instruction could start on a cluster.
    pub(super) fn start_on(&self, inst: u32, cluster: u16) -> u64 {
        let issue = self.needs(inst, cluster);
        let span = issue.span;
        let mut ready = self.now;
        for &stay in self.tasks.operands(inst) {
            let first = self.stays.get(stay).copies;
            ready = ready.max(match self.copies.find(first, cluster) {
                Some(copy) => self.copies.get(copy).readable(span),
                None => self.arrival(cluster, stay),
            });
        }
        let start = self.network.earliest_issue(&self.calendars, &issue, ready);
        start + self.backlog[usize::from(cluster)]
    }

    /// Notes where a cone is, and that one of its instructions is issued.
    pub(super) fn begin(&mut self, inst: u32, cluster: u16) {
        let cone = self.cones.of[inst as usize];
        let kinds = self.machine.units.len();
        let load = &mut self.load[usize::from(cluster) * kinds..][..kinds];
        if self.home[cone as usize] == NO_HOME {
            self.home[cone as usize] = cluster;
            for (load, &work) in load.iter_mut().zip(self.cones.work(cone)) {
                *load += u64::from(work);
            }
        }
        let timing = self.timing[self.flat.op[inst as usize] as usize];
        load[usize::from(timing.unit)] -= u64::from(timing.occupancy);
    }
}
