//! Streams on links: what appears where and when.

use cyclotron_isa::Link;

use crate::graph::NodeId;
use crate::violation::ViolationKind;

/// Where a stream appears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// On this link's input port of the sender.
    Link(Link),
    /// At this bank, from a channel.
    Bank(u16),
    /// At the component that hangs on a crossbar's output port.
    Output,
}

#[derive(Debug, Clone, Copy)]
struct Sent {
    appears: u64,
    target: Target,
    node: NodeId,
}

/// All that a component ever sends, in the order of appearance.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sender {
    sent: Vec<Sent>,
}

impl Sender {
    /// Calls come in the order of their cycles.
    pub(crate) fn send(&mut self, appears: u64, target: Target, node: NodeId) {
        self.sent.push(Sent {
            appears,
            target,
            node,
        });
    }

    /// The stream that appears in exactly this cycle.
    pub(crate) fn at(&self, cycle: u64, target: Target) -> Result<NodeId, ViolationKind> {
        let from = self.sent.partition_point(|s| s.appears < cycle);
        let mut found = self.sent[from..]
            .iter()
            .take_while(|s| s.appears == cycle)
            .filter(|s| s.target == target);
        match (found.next(), found.next()) {
            (Some(sent), None) => Ok(sent.node),
            (Some(_), Some(_)) => Err(ViolationKind::TwoArrive),
            (None, _) => Err(ViolationKind::NothingArrives),
        }
    }
}

/// Equal ports of one component: when each is free again.
#[derive(Debug, Clone)]
pub(crate) struct Busy {
    free_at: Vec<u64>,
}

impl Busy {
    pub(crate) fn new(ports: u16) -> Self {
        Self {
            free_at: vec![0; usize::from(ports)],
        }
    }

    /// Starts an entry; false if every port is busy, and then none is taken.
    /// What takes no time needs no port.
    pub(crate) fn start(&mut self, cycle: u64, span: u32) -> bool {
        if span == 0 {
            return true;
        }
        match self.free_at.iter_mut().find(|free| **free <= cycle) {
            Some(free) => {
                *free = cycle + u64::from(span);
                true
            }
            None => false,
        }
    }
}
