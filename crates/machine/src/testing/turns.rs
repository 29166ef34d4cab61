//! When the banks of register files have room for another access.

use std::collections::HashMap;

use crate::Resolved;

/// An access to a cluster's register file over a stretch of cycles.
pub(super) type Access = (u16, u64, u64);

/// All accesses that take turns, by cluster and residue of their start.
#[derive(Debug, Default)]
pub(super) struct TurnBook {
    taken: HashMap<(u16, u64), Vec<(u64, u64)>>,
}

impl TurnBook {
    /// Whether accesses are possible together with all that are noted.
    pub(super) fn fits(&mut self, machine: &Resolved, accesses: &[Access]) -> bool {
        let mut fits = true;
        for &access in accesses {
            fits &= self.fits_one(machine, access);
            self.note_one(machine, access);
        }
        for &access in accesses {
            self.forget(machine, access);
        }
        fits
    }

    /// Notes accesses.
    pub(super) fn note(&mut self, machine: &Resolved, accesses: &[Access]) {
        for &access in accesses {
            self.note_one(machine, access);
        }
    }

    fn list(
        &mut self,
        machine: &Resolved,
        (cluster, start, end): Access,
    ) -> Option<(&mut Vec<(u64, u64)>, usize)> {
        let turns = machine.regfile.turns_of((end - start) as u32)?;
        let residue = start % u64::from(turns.banks);
        let list = self.taken.entry((cluster, residue)).or_default();
        Some((list, usize::from(turns.accesses)))
    }

    /// Accesses that take turns are equally long, so the most that overlap at
    /// once do so where this one or a later one starts.
    fn fits_one(&mut self, machine: &Resolved, access: Access) -> bool {
        let Some((list, most)) = self.list(machine, access) else {
            return true;
        };
        let (_, start, end) = access;
        let at = |cycle: u64| list.iter().filter(|a| a.0 <= cycle && cycle < a.1).count();
        let later = list
            .iter()
            .map(|a| a.0)
            .filter(|s| (start..end).contains(s));
        later.chain([start]).all(|cycle| at(cycle) < most)
    }

    fn note_one(&mut self, machine: &Resolved, access: Access) {
        if let Some((list, _)) = self.list(machine, access) {
            list.push((access.1, access.2));
        }
    }

    fn forget(&mut self, machine: &Resolved, access: Access) {
        if let Some((list, _)) = self.list(machine, access) {
            let (_, start, end) = access;
            if let Some(k) = list.iter().rposition(|a| *a == (start, end)) {
                list.remove(k);
            }
        }
    }
}
