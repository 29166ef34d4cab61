//! Occupancy of units, ports and channels.

use crate::error::Fault;

/// Ports of one kind at one place; each does one thing at a time.
#[derive(Debug, Clone)]
pub(crate) struct Ports {
    what: &'static str,
    free_at: Vec<u64>,
}

impl Ports {
    pub(crate) fn new(what: &'static str, count: u16) -> Self {
        Self {
            what,
            free_at: vec![0; usize::from(count)],
        }
    }

    /// Occupies a port from `cycle` to `end`. Calls come in the order of their
    /// cycles, so taking any free port is optimal. A transfer at unlimited
    /// bandwidth takes no time and occupies nothing.
    pub(crate) fn occupy(&mut self, cycle: u64, end: u64) -> Result<(), Fault> {
        if end == cycle {
            return Ok(());
        }
        if let Some(free_at) = self.free_at.iter_mut().find(|free_at| **free_at <= cycle) {
            *free_at = end;
            return Ok(());
        }
        let until = self.free_at.iter().min().copied().unwrap_or(u64::MAX);
        Err(Fault::Busy {
            what: self.what,
            until,
        })
    }
}
