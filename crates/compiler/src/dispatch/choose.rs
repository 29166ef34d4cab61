//! Which cluster gets a cone.

use super::engine::Engine;
use crate::placement::residents::NO_BANK;
use cyclotron_isa::NONE;

/// Values entering a cone that are taken into account.
const ENTERING: usize = 32;

impl Engine<'_> {
    /// The cluster where a cone costs least, and when it would start there.
    pub(super) fn choose(&self, cone: u32) -> (u16, u64) {
        let mut entering = [NONE; ENTERING];
        let entering = self.entering(cone, &mut entering);
        let mut best = (u64::MAX, 0, 0);
        for cluster in 0..self.machine.clusters {
            let (start, moves) = self.start_on(cone, entering, cluster);
            let cost = start + moves * self.policy.transfer * self.beat / 8;
            if cost < best.0 {
                best = (cost, cluster, start);
            }
        }
        (best.1, best.2)
    }

    /// When a cone could start on a cluster if nothing was in the way of its
    /// operands, and how many values must be brought.
    fn start_on(&self, cone: u32, entering: &[u32], cluster: u16) -> (u64, u64) {
        let mut ready = self
            .now
            .max(self.network.banks_done(&self.calendars, cluster));
        let mut moves = 0;
        for &stay in entering {
            let place = self.stays.get(stay);
            if let Some(copy) = self.copies.find(place.copies, cluster) {
                ready = ready.max(self.copies.get(copy).written);
                continue;
            }
            moves += 1;
            ready = ready.max(self.first_readable(stay));
        }
        let kinds = self.machine.units.len();
        for (kind, &work) in self.cones.work(cone).iter().enumerate() {
            if work > 0 {
                let units = self.network.units[usize::from(cluster) * kinds + kind];
                ready = ready.max(self.calendars.free_from(units));
            }
        }
        (ready, moves)
    }

    /// The values that enter a cone.
    fn entering<'l>(&self, cone: u32, list: &'l mut [u32; ENTERING]) -> &'l [u32] {
        let mut count = 0;
        for &member in self.cones.members(cone) {
            for &stay in self.tasks.operands(member) {
                let known = self.stays.get(stay).exists;
                if known && count < ENTERING && !list[..count].contains(&stay) {
                    list[count] = stay;
                    count += 1;
                }
            }
        }
        &list[..count]
    }

    /// First cycle at which a value can be read somewhere.
    pub(super) fn first_readable(&self, stay: u32) -> u64 {
        let place = self.stays.get(stay);
        let in_bank = (place.bank != NO_BANK).then_some(place.written);
        let copies = self.copies.of(place.copies).map(|copy| copy.written);
        copies.chain(in_bank).min().unwrap_or(0)
    }
}
