//! A schedule as a trace for <https://ui.perfetto.dev>: a track for each component.
//!
//! A slice is an entry of the component's stream, as long as the component is
//! busy with it. Times are nanoseconds of the machine's clock. A memory with
//! several ports has several entries under way: its track then has one below it
//! for each entry that overlaps, because slices of a track must not cross.

use std::collections::HashMap;
use std::io::{self, Write};

use cyclotron_isa::{
    Component, DramContent, FlatProgram, Link, Schedule, Stream, StreamOp, TrafficClass,
};
use cyclotron_machine::{Resolved, XbarKind};
use prost::Message;

use crate::activity::extent;
use crate::perfetto_format::{
    DebugAnnotation, EXPLICIT_ORDER, INSTANT, InternedData, InternedString, NEEDS_STATE,
    SLICE_BEGIN, SLICE_END, STATE_CLEARED, Trace, TracePacket, TrackDescriptor, TrackEvent,
};

/// The sequence that all packets belong to.
const SEQUENCE: u32 = 1;

/// Writes a schedule as a Perfetto trace (protobuf). Entries that make no sense
/// have length 0.
///
/// # Errors
/// What `out` reports.
///
/// # Cost
/// Linear in the entries; two packets, some 40 bytes, each.
pub fn perfetto_trace(
    program: &FlatProgram,
    schedule: &Schedule,
    machine: &Resolved,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut writer = Writer {
        program,
        schedule,
        machine,
        out,
        names: HashMap::new(),
        annotations: HashMap::new(),
        tracks: 0,
    };
    writer.packet(TracePacket {
        sequence_flags: Some(STATE_CLEARED),
        ..TracePacket::default()
    })?;
    let mut groups: HashMap<String, u64> = HashMap::new();
    for stream in &schedule.streams {
        let (group, name) = writer.describe(stream.component);
        let parent = match groups.get(&group) {
            Some(&parent) => parent,
            None => {
                let parent = writer.track(&group, None)?;
                groups.insert(group, parent);
                parent
            }
        };
        writer.stream(stream, &name, parent)?;
    }
    Ok(())
}

struct Writer<'a, W> {
    program: &'a FlatProgram,
    schedule: &'a Schedule,
    machine: &'a Resolved,
    out: &'a mut W,
    /// Numbers of the names of slices that are written.
    names: HashMap<String, u64>,
    /// Numbers of the names of their facts.
    annotations: HashMap<&'static str, u64>,
    tracks: u64,
}

/// What is shown of an entry.
struct Slice {
    name: String,
    fact: Option<(&'static str, u64)>,
}

impl<W: Write> Writer<'_, W> {
    /// The entries of one component: its track, and more if entries overlap.
    fn stream(&mut self, stream: &Stream, name: &str, parent: u64) -> io::Result<()> {
        let own = self.track(name, Some(parent))?;
        // When each track is free again.
        let mut lanes = vec![(own, 0)];
        for (cycle, op) in stream.timed() {
            let busy = extent(self.machine, stream.component, &op).0;
            let lane = match lanes.iter_mut().find(|(_, free)| *free <= cycle) {
                Some(lane) => lane,
                None => {
                    let more = format!("{name}, port {}", lanes.len() + 1);
                    lanes.push((self.track(&more, Some(own))?, 0));
                    lanes.last_mut().expect("just added")
                }
            };
            lane.1 = cycle + busy;
            let track = lane.0;
            let slice = self.slice(stream.component, &op);
            self.event(track, cycle, busy, slice)?;
        }
        Ok(())
    }

    fn event(&mut self, track: u64, cycle: u64, busy: u64, slice: Slice) -> io::Result<()> {
        let (name_iid, annotations, interned_data) = self.intern(slice);
        let packet = |cycle, kind| TracePacket {
            timestamp: Some(cycle),
            track_event: Some(TrackEvent {
                r#type: Some(kind),
                track_uuid: Some(track),
                ..TrackEvent::default()
            }),
            ..TracePacket::default()
        };
        let kind = if busy == 0 { INSTANT } else { SLICE_BEGIN };
        let mut begin = packet(self.nanoseconds(cycle), kind);
        begin.sequence_flags = Some(NEEDS_STATE);
        begin.interned_data = interned_data;
        if let Some(event) = &mut begin.track_event {
            event.name_iid = Some(name_iid);
            event.debug_annotations = annotations;
        }
        self.packet(begin)?;
        if busy > 0 {
            self.packet(packet(self.nanoseconds(cycle + busy), SLICE_END))?;
        }
        Ok(())
    }

    fn nanoseconds(&self, cycle: u64) -> u64 {
        (cycle as f64 * 1e3 / self.machine.clock_mhz).round() as u64
    }

    /// Numbers for the strings of a slice, and those that are new.
    fn intern(&mut self, slice: Slice) -> (u64, Vec<DebugAnnotation>, Option<InternedData>) {
        let mut new = InternedData::default();
        let string = |iid, name: &str| InternedString {
            iid: Some(iid),
            name: Some(name.to_owned()),
        };
        let next = self.names.len() as u64 + 1;
        let name = *self.names.entry(slice.name).or_insert_with_key(|name| {
            new.event_names.push(string(next, name));
            next
        });
        let mut annotations = Vec::new();
        if let Some((fact, value)) = slice.fact {
            let next = self.annotations.len() as u64 + 1;
            let iid = *self.annotations.entry(fact).or_insert_with(|| {
                new.debug_annotation_names.push(string(next, fact));
                next
            });
            annotations.push(DebugAnnotation {
                name_iid: Some(iid),
                uint_value: Some(value),
            });
        }
        let new = (new != InternedData::default()).then_some(new);
        (name, annotations, new)
    }

    fn track(&mut self, name: &str, parent: Option<u64>) -> io::Result<u64> {
        self.tracks += 1;
        let uuid = self.tracks;
        self.packet(TracePacket {
            track_descriptor: Some(TrackDescriptor {
                uuid: Some(uuid),
                name: Some(name.to_owned()),
                parent_uuid: parent,
                child_ordering: Some(EXPLICIT_ORDER),
                sibling_order_rank: i32::try_from(uuid).ok(),
            }),
            ..TracePacket::default()
        })?;
        Ok(uuid)
    }

    fn packet(&mut self, mut packet: TracePacket) -> io::Result<()> {
        packet.trusted_packet_sequence_id = Some(SEQUENCE);
        // A trace is a repeated field, so one packet after the other is a trace.
        let trace = Trace {
            packet: vec![packet],
        };
        self.out.write_all(&trace.encode_to_vec())
    }

    /// The group that a component is shown in, and its name.
    fn describe(&self, component: Component) -> (String, String) {
        let machine = self.machine;
        match component {
            Component::Unit { cluster, unit } => {
                let within = |first: u16, count: u16| unit >= first && unit - first < count;
                let kind = machine.units.iter().find(|k| within(k.first, k.count));
                let name = match kind {
                    Some(kind) if kind.count == 1 => kind.name.clone(),
                    Some(kind) => format!("{} {}", kind.name, unit - kind.first),
                    None => format!("unit {unit}"),
                };
                (format!("cluster {cluster}"), name)
            }
            Component::RegFile { cluster } => {
                (format!("cluster {cluster}"), "register file".to_owned())
            }
            Component::XbarPort { xbar, port } => {
                let found = machine.xbars.get(usize::from(xbar));
                let end = match found.map(|x| x.kind) {
                    Some(XbarKind::ClusterToBank) => "bank",
                    _ => "cluster",
                };
                (
                    format!("crossbar {}", self.link(Link::Xbar(xbar))),
                    format!("to {end} {port}"),
                )
            }
            Component::Bank { bank } => {
                let group = machine.banks.get(usize::from(bank)).map(|b| b.group);
                let group = group.and_then(|g| machine.groups.get(usize::from(g)));
                let group = group.map_or("scratchpad", String::as_str);
                (group.to_owned(), format!("bank {bank}"))
            }
            Component::Channel { channel } => {
                ("off-chip memory".to_owned(), format!("channel {channel}"))
            }
        }
    }

    fn link(&self, link: Link) -> String {
        match link {
            Link::Xbar(xbar) => match self.machine.xbars.get(usize::from(xbar)) {
                Some(xbar) => xbar.name.clone(),
                None => link.to_string(),
            },
            Link::Channel(channel) => format!("channel {channel}"),
        }
    }

    fn slice(&self, component: Component, op: &StreamOp) -> Slice {
        let (name, fact) = match *op {
            StreamOp::Compute {
                op, modulus, dst, ..
            } => (format!("{op} m{modulus}"), ("slot", u64::from(dst))),
            StreamOp::Read { slot, to } => {
                let name = format!("read to {}", self.link(to));
                (name, ("slot", u64::from(slot)))
            }
            StreamOp::Write { slot, from } => {
                let name = format!("write from {}", self.link(from));
                (name, ("slot", u64::from(slot)))
            }
            StreamOp::Route { from } => {
                let name = format!("from {} {from}", self.sender(component));
                return Slice { name, fact: None };
            }
            StreamOp::Load { address, .. } => {
                let name = format!("load {}", self.content(address));
                (name, ("address", u64::from(address)))
            }
            StreamOp::Store { address, .. } => {
                let name = format!("store {}", self.content(address));
                (name, ("address", u64::from(address)))
            }
        };
        Slice {
            name,
            fact: Some(fact),
        }
    }

    /// What the input ports of a crossbar are.
    fn sender(&self, component: Component) -> &'static str {
        let Component::XbarPort { xbar, .. } = component else {
            return "port";
        };
        match self.machine.xbars.get(usize::from(xbar)).map(|x| x.kind) {
            Some(XbarKind::BankToCluster) => "bank",
            _ => "cluster",
        }
    }

    /// What an off-chip slot holds.
    fn content(&self, address: u32) -> &'static str {
        let slot = self.schedule.dram.get(address as usize);
        match slot.map(|slot| slot.content) {
            Some(DramContent::Input(input)) => {
                let input = self.program.inputs.get(input as usize);
                match input.map(|input| input.source.traffic_class()) {
                    Some(TrafficClass::Hints) => "hint",
                    _ => "input",
                }
            }
            Some(DramContent::Output(_)) => "output",
            Some(DramContent::Spill) => "intermediate",
            None => "nothing",
        }
    }
}
