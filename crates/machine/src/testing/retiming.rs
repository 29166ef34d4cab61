//! The same schedule on another machine, as early as possible.
//!
//! A schedule is an assignment (which unit, port, slot, in which order) and times.
//! Re-timing keeps the assignment and finds the least times that the contract of
//! [`crate::Resolved`] allows. Entries that move together (a transfer) have one
//! unknown, their start, and every rule has one of two forms:
//!
//! - one entry starts at least c cycles after another, where c may be negative;
//! - an entry starts when at most p - 1 of the earlier entries of its p ports are
//!   busy, that is after the p-th latest of their ends, and not before them.
//!
//! Right sides grow with the starts that they depend on, so there is a least
//! solution, and iterating from 0 finds it if there is any.
//!
//! (Turns at register files have neither; such machines are refused.)
//!
//! A machine whose constants c and spans are nowhere larger, and whose numbers of
//! ports are nowhere smaller, thus never takes longer. That holds for
//! - more units of a kind, or more ports;
//! - all units and links wider by one factor, without multipass operations;
//! - faster off-chip channels that remain the slowest of all links and units.
//!
//! It does *not* hold for any one link alone: entries move vectors at one rate, so a
//! fast link behind a slow producer must start late, and so must what comes after it.

use std::collections::{BTreeMap, HashMap};

use cyclotron_isa::{Component, Entry, Link, Schedule, Stream, StreamOp};

use super::index::{Access, ScheduleIndex, Site, accesses, busy, entries, ports};
use crate::Resolved;

/// Re-times a schedule that is legal on `from` for `to`, which has at least the same
/// components, slots and links. Units of a kind in a cluster share their instructions,
/// which keep their order.
///
/// # Panics
/// If there is no such schedule, `schedule` is not legal, or `to` has turns.
#[must_use]
pub fn retime(schedule: &Schedule, from: &Resolved, to: &Resolved) -> Schedule {
    assert!(to.regfile.turns.is_none(), "turns are not re-timed");
    let index = ScheduleIndex::new(schedule, from);
    let mut system = System::new(schedule, to, &index);
    system.order_sends(schedule);
    system.order_accesses(schedule, &index);
    system.share_ports(schedule, from);
    system.solve();
    system.rebuild(schedule, from)
}

/// `start of .1 >= start of .0 + .2`.
type Rule = (usize, usize, i64);

/// An entry at a port: its family, its cycles after the family's start, its span.
type User = (usize, u64, u64);

struct System<'a> {
    to: &'a Resolved,
    /// Family of every entry, and its cycles after the family's start.
    place: HashMap<Site, (usize, u64)>,
    starts: Vec<u64>,
    rules: Vec<Rule>,
    /// Entries that share so many ports, in their order.
    queues: Vec<(Vec<User>, usize)>,
}

impl<'a> System<'a> {
    fn new(schedule: &Schedule, to: &'a Resolved, index: &ScheduleIndex) -> Self {
        let mut place = HashMap::new();
        let mut families = 0;
        for (site, ..) in entries(schedule) {
            let family = index.family(site);
            if family[0] != site {
                continue;
            }
            let offsets = offsets(schedule, to, &family);
            for (part, offset) in family.into_iter().zip(offsets) {
                place.insert(part, (families, offset));
            }
            families += 1;
        }
        System {
            to,
            place,
            starts: vec![0; families],
            rules: Vec::new(),
            queues: Vec::new(),
        }
    }

    fn rule(&mut self, first: (usize, u64), second: (usize, u64), cycles: i64) {
        let constant = first.1 as i64 + cycles - second.1 as i64;
        if first.0 != second.0 {
            self.rules.push((first.0, second.0, constant));
        }
    }

    /// No two streams of a sender appear at once where they go.
    fn order_sends(&mut self, schedule: &Schedule) {
        let mut last: HashMap<(Component, Option<Link>, Option<u16>), Site> = HashMap::new();
        for (site, component, _, op) in entries(schedule) {
            let way = match op {
                StreamOp::Read { to, .. } => (component, Some(to), None),
                StreamOp::Load { bank, .. } => (component, None, Some(bank)),
                _ => continue,
            };
            if let Some(before) = last.insert(way, site) {
                self.rule(self.place[&before], self.place[&site], 1);
            }
        }
    }

    /// No chunk is read before it is written, or overwritten before it is read.
    fn order_accesses(&mut self, schedule: &Schedule, index: &ScheduleIndex) {
        for life in &index.lives {
            let (write, written) = self.access(schedule, &life.write, true);
            let next = life.after.map(|after| &index.lives[after].write);
            let next = next.map(|next| self.access(schedule, next, true));
            if let Some((next, span)) = next {
                self.rule(write, next, (1 + written - span).max(1));
            }
            for read in &life.reads {
                let (read, taken) = self.access(schedule, read, false);
                self.rule(write, read, (written - taken).max(0));
                if let Some((next, span)) = next {
                    self.rule(read, next, (1 + taken - span).max(1));
                }
            }
        }
    }

    /// Where an access begins on the new machine, and its span.
    fn access(&self, schedule: &Schedule, access: &Access, write: bool) -> ((usize, u64), i64) {
        let Site { stream, entry } = access.site;
        let stream = &schedule.streams[stream];
        let entry = stream.entries.get(entry).expect("a site is an entry");
        let all = accesses(self.to, stream.component, &entry.op);
        let found = all.iter().find(|a| a.0 == access.field && a.4 == write);
        let &(_, _, delay, span, _) = found.expect("indexed");
        let (family, offset) = self.place[&access.site];
        ((family, offset + delay), span as i64)
    }

    fn share_ports(&mut self, schedule: &Schedule, from: &Resolved) {
        let mut queues: BTreeMap<_, (Vec<(u64, User)>, usize)> = BTreeMap::new();
        for (site, component, cycle, op) in entries(schedule) {
            let (kind, mut count) = ports(self.to, component, &op);
            let mut group = component;
            if let Component::Unit { cluster, unit } = component {
                let kind = unit_kind(from, unit);
                group = Component::Unit {
                    cluster,
                    unit: kind as u16,
                };
                count = self.to.units[kind].count;
            }
            let (family, offset) = self.place[&site];
            let user = (family, offset, busy(self.to, component, &op));
            if user.2 > 0 {
                let queue = queues.entry((group, kind)).or_default();
                queue.0.push((cycle, user));
                queue.1 = usize::from(count);
            }
        }
        for (mut users, count) in queues.into_values() {
            users.sort_by_key(|&(cycle, _)| cycle);
            let users = users.into_iter().map(|(_, user)| user);
            self.queues.push((users.collect(), count));
        }
    }

    /// Iterates to the least solution.
    fn solve(&mut self) {
        for _ in 0..MOST_ROUNDS {
            let mut moved = false;
            for &(first, second, cycles) in &self.rules {
                let least = self.starts[first].saturating_add_signed(cycles);
                moved |= raise(&mut self.starts[second], least);
            }
            for (users, count) in &self.queues {
                // Ends of the last to end, in descending order.
                let mut ends: Vec<u64> = Vec::new();
                let mut last = 0;
                for &(family, offset, span) in users {
                    let free = if ends.len() < *count {
                        0
                    } else {
                        ends[*count - 1]
                    };
                    let least = free.max(last).saturating_sub(offset);
                    moved |= raise(&mut self.starts[family], least);
                    last = self.starts[family] + offset;
                    let at = ends.partition_point(|&end| end > last + span);
                    ends.insert(at, last + span);
                    ends.truncate(*count);
                }
            }
            if !moved {
                return;
            }
        }
        panic!("the schedule fits no times on {}", self.to.name);
    }

    fn rebuild(&self, schedule: &Schedule, from: &Resolved) -> Schedule {
        let mut timed: Vec<(u64, Component, StreamOp)> = entries(schedule)
            .map(|(site, component, _, op)| {
                let (family, offset) = self.place[&site];
                (self.starts[family] + offset, component, op)
            })
            .collect();
        timed.sort_by_key(|&(cycle, ..)| cycle);
        let mut cycles = 0;
        let mut free_at: HashMap<(u16, u16), u64> = HashMap::new();
        let mut streams: BTreeMap<Component, (u64, Vec<Entry>)> = BTreeMap::new();
        for (cycle, mut component, op) in timed {
            let span = busy(self.to, component, &op);
            if let Component::Unit { cluster, unit } = component {
                let kind = &self.to.units[unit_kind(from, unit)];
                let mut units = kind.first..kind.first + kind.count;
                let is_free =
                    |unit: &u16| free_at.get(&(cluster, *unit)).is_none_or(|&at| at <= cycle);
                let unit = units.find(is_free).expect("no more than units");
                free_at.insert((cluster, unit), cycle + span);
                component = Component::Unit { cluster, unit };
            }
            let ends = accesses(self.to, component, &op);
            let end = ends.iter().map(|a| a.2 + a.3).max().unwrap_or(0);
            cycles = cycles.max(cycle + end.max(span));
            let (last, entries) = streams.entry(component).or_default();
            let wait = u32::try_from(cycle - *last).expect("a short schedule");
            *last = cycle;
            entries.push(Entry { wait, op });
        }
        let streams = streams.into_iter();
        Schedule {
            machine: self.to.name.clone(),
            machine_hash: self.to.hash.clone(),
            log_n: self.to.log_n,
            dram: schedule.dram.clone(),
            streams: streams
                .map(|(component, (_, entries))| Stream {
                    component,
                    entries: entries.into(),
                })
                .collect(),
            cycles,
        }
    }
}

/// Far more than a chain of corrections takes.
const MOST_ROUNDS: usize = 100_000;

fn raise(start: &mut u64, least: u64) -> bool {
    let raised = least > *start;
    *start = least.max(*start);
    raised
}

fn unit_kind(machine: &Resolved, unit: u16) -> usize {
    let mut kinds = machine.units.iter();
    let kind = kinds.position(|kind| (kind.first..kind.first + kind.count).contains(&unit));
    kind.expect("a unit of the machine")
}

/// Cycles from the start of a transfer to each of its entries.
fn offsets(schedule: &Schedule, machine: &Resolved, family: &[Site]) -> Vec<u64> {
    let component = |site: Site| schedule.streams[site.stream].component;
    let sent = match component(family[0]) {
        Component::RegFile { .. } => machine.regfile.latency,
        Component::Bank { bank } => machine.banks[usize::from(bank)].latency,
        Component::Channel { channel } => machine.channels[usize::from(channel)].latency,
        Component::Unit { .. } | Component::XbarPort { .. } => 0,
    };
    let offset = |&site: &Site| {
        let entry = schedule.streams[site.stream].entries.get(site.entry);
        let entry = entry.expect("a site is an entry").op;
        let crossed = match entry {
            _ if site == family[0] => return 0,
            StreamOp::Write {
                from: Link::Xbar(x),
                ..
            } => machine.xbars[usize::from(x)].latency,
            _ => 0,
        };
        u64::from(sent + crossed)
    };
    family.iter().map(offset).collect()
}
