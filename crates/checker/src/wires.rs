//! Streams on links: who takes what appears in which cycle.

use std::collections::VecDeque;

use cyclotron_isa::Link;

use crate::classes::Class;
use crate::error::{CheckError, Fault, Place};

/// Where a stream appears: at the far end of a link, or at one bank of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// From a register file or bank: the link that it was sent to.
    Link(Link),
    /// From a channel: the bank that it loads.
    Bank(u16),
    /// From an output port of a crossbar: whatever hangs on it.
    Port,
}

impl Target {
    fn describe(self) -> String {
        match self {
            Target::Link(link) => link.to_string(),
            Target::Bank(bank) => format!("bank {bank}"),
            Target::Port => "the output port".to_owned(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Arrival {
    cycle: u64,
    target: Target,
    class: Class,
    taken: bool,
    sender: Place,
}

/// The streams that one component has sent and that have not passed yet. A
/// component delays all its streams alike, so they appear in the order of sending.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wire {
    arrivals: VecDeque<Arrival>,
}

impl Wire {
    /// A stream that appears in `cycle`.
    pub(crate) fn send(
        &mut self,
        sender: Place,
        cycle: u64,
        target: Target,
        class: Class,
    ) -> Result<(), CheckError> {
        let same_cycle = self.arrivals.iter().rev().take_while(|a| a.cycle == cycle);
        if same_cycle.into_iter().any(|a| a.target == target) {
            let to = target.describe();
            return Err(CheckError::Entry {
                place: sender,
                fault: Fault::Ambiguous { to, cycle },
            });
        }
        self.arrivals.push_back(Arrival {
            cycle,
            target,
            class,
            taken: false,
            sender,
        });
        Ok(())
    }

    /// Takes the stream that appears for `target` in exactly this cycle. It may
    /// be taken again. Earlier ones must have been taken by now.
    pub(crate) fn take(
        &mut self,
        taker: Place,
        target: Target,
        from: impl Fn() -> String,
    ) -> Result<Class, CheckError> {
        self.pass(taker.cycle)?;
        let arrived = self
            .arrivals
            .iter_mut()
            .take_while(|a| a.cycle == taker.cycle)
            .find(|a| a.target == target);
        if let Some(arrival) = arrived {
            arrival.taken = true;
            return Ok(arrival.class);
        }
        let next = self.arrivals.iter().find(|a| a.target == target);
        let found = next.map_or_else(
            || "none under way".to_owned(),
            |a| format!("the next in cycle {}", a.cycle),
        );
        Err(CheckError::Entry {
            place: taker,
            fault: Fault::NothingArrives {
                from: from(),
                found,
            },
        })
    }

    /// Forgets the streams that appeared before `cycle`.
    pub(crate) fn pass(&mut self, cycle: u64) -> Result<(), CheckError> {
        while let Some(arrival) = self.arrivals.front().filter(|a| a.cycle < cycle) {
            if !arrival.taken {
                return Err(CheckError::Entry {
                    place: arrival.sender,
                    fault: Fault::NotTaken {
                        to: arrival.target.describe(),
                        cycle: arrival.cycle,
                    },
                });
            }
            self.arrivals.pop_front();
        }
        Ok(())
    }
}
