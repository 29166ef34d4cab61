//! Transfers: what moves a vector between two memories is written once.
//!
//! A transfer is a read, a crossbar port's route and a write; a load or store, the
//! channel's entry and the bank's. Their cycles differ by what the link takes, so the
//! port's or channel's entry brings along the slots at both ends, and the memories'
//! streams keep only what no transfer explains.

use std::collections::BTreeMap;

use crate::encoding::EncodingError;
use crate::encoding::bits::{BitReader, BitWriter};
use crate::encoding::form::{read_link, write_link};
use crate::encoding::memories::{Access, Memories};
use crate::schedule::{Component, Link, Stream, StreamOp};

/// Entries of a stream that the links' cycles are found from.
const SAMPLE: usize = 64;
const CYCLES_ORDER: u32 = 2;

/// A kind of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Place {
    #[default]
    Bank,
    RegFile,
}

impl Place {
    fn at(self, index: u16) -> Component {
        match self {
            Place::Bank => Component::Bank { bank: index },
            Place::RegFile => Component::RegFile { cluster: index },
        }
    }
}

/// The link that a component's transfers take.
fn link_of(component: Component) -> Option<Link> {
    match component {
        Component::XbarPort { xbar, .. } => Some(Link::Xbar(xbar)),
        Component::Channel { channel } => Some(Link::Channel(channel)),
        _ => None,
    }
}

/// Where a link's transfers begin and end, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Ends {
    source: Place,
    destination: Place,
    /// Cycles from the read to the entry.
    lead: u32,
    /// Cycles from the entry to the write.
    lag: u32,
}

impl Ends {
    /// Where the entry's vector is read.
    fn source(&self, op: &StreamOp) -> Option<Component> {
        match *op {
            StreamOp::Route { from } => Some(self.source.at(from)),
            StreamOp::Store { bank, .. } => Some(Component::Bank { bank }),
            _ => None,
        }
    }

    /// Where the entry's vector is written.
    fn destination(&self, component: Component, op: &StreamOp) -> Option<Component> {
        match (component, *op) {
            (Component::XbarPort { port, .. }, StreamOp::Route { .. }) => {
                Some(self.destination.at(port))
            }
            (_, StreamOp::Load { bank, .. }) => Some(Component::Bank { bank }),
            _ => None,
        }
    }
}

/// The ends of all links that have entries.
#[derive(Debug, Default)]
pub(super) struct Links(BTreeMap<Link, Ends>);

impl Links {
    /// The read of an entry that starts at a cycle, and its write.
    pub(super) fn accesses(
        &self,
        component: Component,
        cycle: u64,
        op: &StreamOp,
    ) -> (Option<Access>, Option<Access>) {
        let Some(link) = link_of(component) else {
            return (None, None);
        };
        let Some(ends) = self.0.get(&link) else {
            return (None, None);
        };
        let read = StreamOp::Read { slot: 0, to: link };
        let write = StreamOp::Write {
            slot: 0,
            from: link,
        };
        let source = ends.source(op).zip(cycle.checked_sub(ends.lead.into()));
        let written = cycle.checked_add(ends.lag.into());
        let destination = ends.destination(component, op).zip(written);
        (
            source.map(|(at, cycle)| (at, cycle, read)),
            destination.map(|(at, cycle)| (at, cycle, write)),
        )
    }

    /// Finds the ends that explain most of a sample.
    pub(super) fn of(streams: &[Stream], memories: &Memories) -> Self {
        // By link: how often each place and number of cycles fits.
        type Votes = BTreeMap<(Place, u32), u32>;
        let mut votes: BTreeMap<Link, (Votes, Votes)> = BTreeMap::new();
        for stream in streams {
            let Some(link) = link_of(stream.component) else {
                continue;
            };
            let (sources, destinations) = votes.entry(link).or_default();
            for (cycle, op) in stream.timed().take(SAMPLE) {
                for place in [Place::Bank, Place::RegFile] {
                    let ends = Ends {
                        source: place,
                        destination: place,
                        ..Ends::default()
                    };
                    let lead = ends
                        .source(&op)
                        .and_then(|at| memories.lead(at, cycle, link));
                    if let Some(lead) = lead {
                        *sources.entry((place, lead)).or_default() += 1;
                    }
                    let destination = ends.destination(stream.component, &op);
                    let lag = destination.and_then(|at| memories.lag(at, cycle, link));
                    if let Some(lag) = lag {
                        *destinations.entry((place, lag)).or_default() += 1;
                    }
                }
            }
        }
        let most = |votes: Votes| {
            let first = votes.into_iter().rev().max_by_key(|&(_, count)| count);
            first.map_or((Place::Bank, 0), |(choice, _)| choice)
        };
        let links = votes.into_iter().map(|(link, (sources, destinations))| {
            let ((source, lead), (destination, lag)) = (most(sources), most(destinations));
            let ends = Ends {
                source,
                destination,
                lead,
                lag,
            };
            (link, ends)
        });
        Links(links.collect())
    }

    /// Writes the links.
    pub(super) fn write(&self, out: &mut BitWriter) {
        out.number(self.0.len() as u32, CYCLES_ORDER);
        for (&link, ends) in &self.0 {
            write_link(link, out);
            for (place, cycles) in [(ends.source, ends.lead), (ends.destination, ends.lag)] {
                out.put(u64::from(place == Place::RegFile), 1);
                out.number(cycles, CYCLES_ORDER);
            }
        }
    }

    /// Reads what [`Self::write`] wrote.
    pub(super) fn read(reader: &mut BitReader<'_>) -> Result<Self, EncodingError> {
        let mut links = BTreeMap::new();
        let end = |reader: &mut BitReader<'_>| {
            let place = match reader.get(1, "kind of memory")? {
                0 => Place::Bank,
                _ => Place::RegFile,
            };
            Ok::<_, EncodingError>((place, reader.number(CYCLES_ORDER, "cycles of a link")?))
        };
        for _ in 0..reader.number(CYCLES_ORDER, "number of links")? {
            let link = read_link(reader)?;
            let (source, lead) = end(reader)?;
            let (destination, lag) = end(reader)?;
            let ends = Ends {
                source,
                destination,
                lead,
                lag,
            };
            links.insert(link, ends);
        }
        Ok(Links(links))
    }
}
