//! Schedules that are being edited: entries with absolute cycles, at fixed places.

use cyclotron_isa::{DramSlot, Entry, Schedule, Stream, StreamOp};
use cyclotron_machine::testing::Site;

/// A copy of a schedule. Sites are those of the original until it is finished.
pub(crate) struct Draft {
    streams: Vec<Vec<(u64, StreamOp)>>,
    dropped: Vec<Site>,
    /// Entries that get into another stream.
    moved: Vec<(Site, usize)>,
    /// Further entries, with their streams.
    added: Vec<(usize, (u64, StreamOp))>,
    pub(crate) dram: Vec<DramSlot>,
    pub(crate) cycles: u64,
}

impl Draft {
    pub(crate) fn new(schedule: &Schedule) -> Self {
        let timed = |stream: &Stream| stream.timed().collect();
        Self {
            streams: schedule.streams.iter().map(timed).collect(),
            dropped: Vec::new(),
            moved: Vec::new(),
            added: Vec::new(),
            dram: schedule.dram.clone(),
            cycles: schedule.cycles,
        }
    }

    pub(crate) fn op(&mut self, site: Site) -> &mut StreamOp {
        &mut self.streams[site.stream][site.entry].1
    }

    /// Moves entries in time; `None` if one would start before cycle 0.
    pub(crate) fn shift(&mut self, sites: &[Site], by: i64) -> Option<()> {
        for site in sites {
            let cycle = &mut self.streams[site.stream][site.entry].0;
            *cycle = cycle.checked_add_signed(by)?;
        }
        Some(())
    }

    pub(crate) fn drop(&mut self, site: Site) {
        self.dropped.push(site);
    }

    /// Adds an entry some cycles after another of its component.
    pub(crate) fn add(&mut self, beside: Site, later: u64, op: StreamOp) {
        let cycle = self.streams[beside.stream][beside.entry].0 + later;
        self.added.push((beside.stream, (cycle, op)));
    }

    /// Gives an entry to another component, in the same cycle.
    pub(crate) fn relocate(&mut self, site: Site, stream: usize) {
        self.moved.push((site, stream));
    }

    /// Exchanges what two entries do; each keeps the other's cycle.
    pub(crate) fn swap(&mut self, a: Site, b: Site) {
        let op = *self.op(a);
        *self.op(a) = *self.op(b);
        *self.op(b) = op;
    }

    /// The edited schedule, each stream in the order of its cycles.
    pub(crate) fn finish(mut self, original: &Schedule) -> Schedule {
        let mut arrivals = std::mem::take(&mut self.added);
        for &(site, stream) in &self.moved {
            arrivals.push((stream, self.streams[site.stream][site.entry]));
        }
        let leaving = self.moved.iter().map(|&(site, _)| site);
        let mut leaving: Vec<Site> = leaving.chain(self.dropped).collect();
        // From the back, so that the others keep their places.
        leaving.sort_unstable_by(|a, b| b.cmp(a));
        for site in leaving {
            self.streams[site.stream].remove(site.entry);
        }
        for (stream, entry) in arrivals {
            self.streams[stream].push(entry);
        }
        let streams = self.streams.into_iter().zip(&original.streams);
        Schedule {
            machine: original.machine.clone(),
            machine_hash: original.machine_hash.clone(),
            log_n: original.log_n,
            streams: streams
                .map(|(entries, stream)| Stream {
                    component: stream.component,
                    entries: with_waits(entries).into(),
                })
                .collect(),
            dram: self.dram,
            cycles: self.cycles,
        }
    }
}

fn with_waits(mut timed: Vec<(u64, StreamOp)>) -> Vec<Entry> {
    timed.sort_by_key(|&(cycle, _)| cycle);
    let mut before = 0;
    let entries = timed.into_iter().map(|(cycle, op)| {
        let wait = cycle - std::mem::replace(&mut before, cycle);
        Entry {
            wait: u32::try_from(wait).expect("a short schedule"),
            op,
        }
    });
    entries.collect()
}
