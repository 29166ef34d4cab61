//! Bank conflicts in element-partitioned register files.

use cyclotron_machine::{Resolved, Turns};

use crate::error::Fault;

/// The accesses to one register file that may still overlap with others, by
/// the residue of their start: see "Turns" in [`cyclotron_machine::Resolved`].
#[derive(Debug, Clone, Default)]
pub(crate) struct BankTurns {
    turns: Option<Turns>,
    /// By residue: starts of the accesses, in any order.
    starts: Vec<Vec<u64>>,
}

impl BankTurns {
    pub(crate) fn new(machine: &Resolved) -> Self {
        let turns = machine.regfile.turns;
        let residues = turns.map_or(0, |turns| usize::from(turns.banks));
        Self {
            turns,
            starts: vec![Vec::new(); residues],
        }
    }

    /// `count` accesses over `[start, end)`. `now` is the replay's cycle: no
    /// access that is yet to come starts before it.
    ///
    /// All accesses that take turns are equally long. So at most `accesses`
    /// overlap at any time if no more of them start within less than one length,
    /// and it suffices to look at the windows of that length that begin where an
    /// access starts and contain this one.
    pub(crate) fn access(
        &mut self,
        now: u64,
        (start, end): (u64, u64),
        count: usize,
    ) -> Result<(), Fault> {
        let Some(turns) = self.turns else {
            return Ok(());
        };
        let length = u64::from(turns.chunks);
        if end - start != length || count == 0 {
            return Ok(());
        }
        let residue = start % u64::from(turns.banks);
        let starts = &mut self.starts[residue as usize];
        starts.retain(|&other| other + length > now);
        starts.extend(std::iter::repeat_n(start, count));
        let begins = |first: &u64| *first <= start && start < first + length;
        for &first in starts.iter().filter(|first| begins(first)) {
            let window = first..first + length;
            let overlapping = starts.iter().filter(|other| window.contains(other));
            let found = overlapping.count();
            if found > usize::from(turns.accesses) {
                return Err(Fault::BankConflict {
                    start,
                    found,
                    most: turns.accesses,
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn banks() -> BankTurns {
        let turns = Turns {
            banks: 8,
            accesses: 2,
            chunks: 16,
        };
        BankTurns {
            turns: Some(turns),
            starts: vec![Vec::new(); 8],
        }
    }

    #[test]
    fn two_accesses_of_a_residue_overlap_and_a_third_does_not() {
        // One access from 8 and one from 16: where may a third start?
        for (start, legal) in [
            (0, true),
            (1, true),
            (8, false),
            (15, true),
            (16, false),
            (17, true),
            (24, true),
            (32, true),
        ] {
            let mut banks = banks();
            assert_eq!(banks.access(0, (8, 24), 1), Ok(()));
            assert_eq!(banks.access(0, (16, 32), 1), Ok(()));
            let third = banks.access(0, (start, start + 16), 1);
            assert_eq!(third.is_ok(), legal, "{start}: {third:?}");
        }
    }

    #[test]
    fn operands_count_each_and_other_lengths_do_not() {
        let mut banks = banks();
        assert_eq!(banks.access(0, (3, 19), 2), Ok(()));
        assert!(banks.access(3, (11, 27), 1).is_err());
        assert_eq!(banks.access(3, (11, 28), 1), Ok(()), "not in turns");
    }
}
