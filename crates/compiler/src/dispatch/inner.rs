//! In which order the instructions of a cone are issued.
//!
//! Either the program's order, or depth first: the operand that takes longest before the
//! others, and each instruction as soon as its operands have been issued. Then the fewest
//! values wait in the register file. In joined cones, what reads something from outside
//! alternates between them, and what can follow it right away does.

use std::cmp::Reverse;

use cyclotron_isa::NONE;

use super::cones::Cones;
use super::tasks::Tasks;

/// Where an instruction stands in the order of its cone, before that is joined with others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Instructions so far that read something from outside.
    stage: u32,
    cone: u32,
    index: u32,
}

impl Cones {
    /// Finds the place of every instruction; `deep` says which order. `delay` is what an
    /// instruction takes to its result.
    pub(super) fn find_places(
        &self,
        tasks: &Tasks,
        producer: &[u32],
        deep: bool,
        delay: impl Fn(u32) -> u64,
    ) -> Vec<Place> {
        let mut places = vec![Place::default(); self.of.len()];
        let mut height = vec![0; self.of.len()];
        for cone in 0..self.count() as u32 {
            let inside = |inst: u32| {
                let read = tasks.operands(inst).iter();
                let from = read.map(|&stay| producer[stay as usize]);
                from.filter(|&from| from != NONE && self.of[from as usize] == cone)
            };
            let members = self.members(cone);
            for &member in members {
                let below = inside(member).map(|from| height[from as usize]).max();
                height[member as usize] = below.unwrap_or(0) + delay(member);
            }
            let order = match members.last() {
                Some(&root) if deep => depth_first(root, |inst| {
                    let mut below: Vec<u32> = inside(inst).collect();
                    below.sort_by_key(|&from| (height[from as usize], Reverse(from)));
                    below
                }),
                _ => members.to_vec(),
            };
            let mut stage = 0;
            for (index, inst) in (0u32..).zip(order) {
                stage += u32::from(inside(inst).count() < tasks.operands(inst).len());
                let stage = if deep { stage } else { index };
                places[inst as usize] = Place { stage, cone, index };
            }
        }
        places
    }
}

/// What a tree consists of, each after its operands, of which `below` gives the first last.
fn depth_first(root: u32, below: impl Fn(u32) -> Vec<u32>) -> Vec<u32> {
    let mut order = Vec::new();
    let mut todo = vec![(root, false)];
    while let Some((inst, seen)) = todo.pop() {
        if seen {
            order.push(inst);
        } else {
            todo.push((inst, true));
            todo.extend(below(inst).into_iter().map(|from| (from, false)));
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_come_before_their_readers_and_the_deepest_first() {
        let below = |inst| match inst {
            9 => vec![1, 8],
            8 => vec![2, 7],
            _ => Vec::new(),
        };
        assert_eq!(depth_first(9, below), [7, 2, 8, 1, 9]);
    }
}
