//! Faults: edits of a legal schedule that make it illegal or wrong, whatever the
//! values are.

mod extra;
mod meaning;
mod places;
mod slots;
mod times;

use std::collections::HashSet;

use cyclotron_isa::testing::TestRng;
use cyclotron_isa::{Component, FlatProgram, Link, Schedule, StreamOp};
use cyclotron_machine::Resolved;
use cyclotron_machine::testing::{Access, Life, ScheduleIndex, Site, port_of};

use crate::draft::Draft;

/// A legal schedule to be spoilt.
pub(crate) struct Subject<'a> {
    pub(crate) flat: &'a FlatProgram,
    pub(crate) machine: &'a Resolved,
    pub(crate) schedule: &'a Schedule,
    index: ScheduleIndex,
    /// Entries in the streams before each.
    before: Vec<usize>,
    entries: usize,
}

/// A kind of fault.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Why no such edit leaves the schedule legal and the program equal.
    pub(crate) why: &'static str,
    /// Whether it breaks a rule of the hardware and no value, so that a simulation
    /// may not tell.
    pub(crate) spares_values: bool,
    /// The edit at a site, if the site allows one.
    make: fn(&Subject<'_>, Site, &mut TestRng) -> Option<Draft>,
}

/// Every kind.
pub(crate) fn kinds() -> Vec<&'static Kind> {
    let kinds = [
        extra::KINDS,
        times::KINDS,
        slots::KINDS,
        places::KINDS,
        meaning::KINDS,
    ];
    kinds.into_iter().flatten().collect()
}

impl Kind {
    const fn new(
        name: &'static str,
        why: &'static str,
        make: fn(&Subject<'_>, Site, &mut TestRng) -> Option<Draft>,
    ) -> Self {
        Kind {
            name,
            why,
            spares_values: false,
            make,
        }
    }

    const fn sparing_values(mut self) -> Self {
        self.spares_values = true;
        self
    }

    /// The fault at a site that is drawn uniformly from those that allow it and
    /// are not in `used`; `None` if none is found.
    pub(crate) fn apply(
        &self,
        subject: &Subject<'_>,
        used: &mut HashSet<Site>,
        rng: &mut TestRng,
    ) -> Option<(Site, Schedule)> {
        for _ in 0..TRIES {
            let site = subject.site(rng.index(subject.entries));
            if used.contains(&site) {
                continue;
            }
            if let Some(draft) = (self.make)(subject, site, rng) {
                used.insert(site);
                return Some((site, draft.finish(subject.schedule)));
            }
        }
        None
    }
}

/// Sites that are tried for one fault.
const TRIES: usize = 100_000;

impl<'a> Subject<'a> {
    pub(crate) fn new(
        flat: &'a FlatProgram,
        machine: &'a Resolved,
        schedule: &'a Schedule,
    ) -> Self {
        let mut entries = 0;
        let lengths = schedule.streams.iter().map(|stream| stream.entries.len());
        let before = lengths.map(|length| {
            entries += length;
            entries - length
        });
        Subject {
            before: before.collect(),
            entries,
            index: ScheduleIndex::new(schedule, machine),
            flat,
            machine,
            schedule,
        }
    }

    fn site(&self, number: usize) -> Site {
        let stream = self.before.partition_point(|&before| before <= number) - 1;
        let entry = number - self.before[stream];
        Site { stream, entry }
    }

    fn draft(&self) -> Draft {
        Draft::new(self.schedule)
    }

    fn op(&self, site: Site) -> StreamOp {
        let entry = self.schedule.streams[site.stream].entries.get(site.entry);
        entry.expect("a site is an entry").op
    }

    fn component(&self, site: Site) -> Component {
        self.schedule.streams[site.stream].component
    }

    fn is_transfer(&self, site: Site) -> bool {
        !matches!(self.op(site), StreamOp::Compute { .. })
    }

    /// What an entry reads from slots: lives, and its accesses to them.
    fn reads(&self, site: Site) -> impl Iterator<Item = (usize, Access)> + '_ {
        let lives = self.index.read.get(&site).map_or(&[][..], Vec::as_slice);
        lives.iter().map(move |&(life, field)| {
            let mut accesses = self.index.lives[life].reads.iter();
            let access = accesses.find(|read| read.site == site && read.field == field);
            (life, *access.expect("indexed"))
        })
    }

    /// The life that an entry begins, if something else is read where it is missing.
    fn missed_life(&self, site: Site) -> Option<usize> {
        let &life = self.index.begun.get(&site)?;
        let Life { reads, before, .. } = &self.index.lives[life];
        let replaced = before.is_none_or(|before| self.differ(before, life));
        (!reads.is_empty() && replaced).then_some(life)
    }

    /// Whether anything depends on what an entry, with its transfer, does.
    fn is_needed(&self, site: Site) -> bool {
        let stored = |part| matches!(self.op(part), StreamOp::Store { .. });
        let mut family = self.index.family(site).into_iter();
        family.any(|part| stored(part) || self.missed_life(part).is_some())
    }

    /// The write that takes what a route delivers.
    fn receiver(&self, route: Site) -> Option<Site> {
        let Component::XbarPort { xbar, port } = self.component(route) else {
            return None;
        };
        let mut family = self.index.family(route).into_iter();
        family.find(|&part| {
            let from_here =
                matches!(self.op(part), StreamOp::Write { from, .. } if from == Link::Xbar(xbar));
            from_here && port_of(self.component(part)) == port
        })
    }

    /// Whether two lives hold values that come from different places.
    fn differ(&self, a: usize, b: usize) -> bool {
        self.index.origin(a, self.schedule) != self.index.origin(b, self.schedule)
    }

    /// A draft in which the entry's whole transfer starts earlier or later.
    fn shifted(&self, site: Site, by: i64) -> Option<Draft> {
        let mut draft = self.draft();
        draft.shift(&self.index.family(site), by)?;
        Some(draft)
    }
}
