//! A small symbolic replay of schedules: every location holds a value, every
//! read must see a complete one, every component does one thing at a time.

use std::collections::{BTreeMap, HashMap};

use cyclotron_isa::{Component, DramContent, FlatProgram, Link, NONE, Schedule, StreamOp};
use cyclotron_machine::Resolved;

/// Where a vector lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Place {
    Reg(u16, u16),
    Bank(u16, u16),
    Dram(u32),
}

/// A stream on a link: sender and link, or crossbar and output port, or channel and bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Wire {
    FromReg(u16, Link),
    FromBank(u16, Link),
    Out(u16, u16),
    FromChannel(u16, u16),
}

type InstKey = (u8, u16, u32, [u32; 3]);

struct Replay<'a> {
    flat: &'a FlatProgram,
    machine: &'a Resolved,
    schedule: &'a Schedule,
    insts: HashMap<InstKey, Vec<u32>>,
    /// Writes into a place by start: (end, value).
    writes: HashMap<Place, BTreeMap<u64, (u64, u32)>>,
    reads: HashMap<Place, Vec<(u64, u64)>>,
    wires: HashMap<(Wire, u64), (u32, bool)>,
    cycles: u64,
    /// Canonical value of equal instructions.
    canon: Vec<u32>,
}

/// Replays a schedule; the error says what is wrong.
pub fn replay(flat: &FlatProgram, schedule: &Schedule, machine: &Resolved) -> Result<(), String> {
    let mut replay = Replay {
        flat,
        machine,
        schedule,
        insts: HashMap::new(),
        writes: HashMap::new(),
        reads: HashMap::new(),
        wires: HashMap::new(),
        cycles: 0,
        canon: (0..flat.value_count() as u32).collect(),
    };
    replay.number_values();
    replay.fill_dram();
    replay.check_ports()?;
    let mut events: Vec<(u64, u8, Component, StreamOp)> = Vec::new();
    for stream in &schedule.streams {
        for (at, &op) in stream.timed() {
            // At one cycle: streams appear, are taken, and then slots are read.
            let order = match op {
                StreamOp::Load { .. } => 0,
                StreamOp::Route { .. } | StreamOp::Store { .. } | StreamOp::Write { .. } => 1,
                StreamOp::Read { .. } | StreamOp::Compute { .. } => 2,
            };
            events.push((at, order, stream.component, op));
        }
    }
    events.sort_by_key(|e| (e.0, e.1));
    for (at, _, component, op) in events {
        replay
            .step(at, component, op)
            .map_err(|why| format!("@{at} {component:?} {op:?}: {why}"))?;
    }
    replay.check_overwrites()?;
    replay.check_outputs()?;
    if let Some((wire, _)) = replay.wires.iter().find(|(_, v)| !v.1) {
        return Err(format!("stream {wire:?} is not taken"));
    }
    if replay.cycles != schedule.cycles {
        return Err(format!(
            "cycles {} but the schedule says {}",
            replay.cycles, schedule.cycles
        ));
    }
    Ok(())
}

impl Replay<'_> {
    fn number_values(&mut self) {
        for inst in 0..self.flat.len() {
            let key = self.key(inst);
            let list = self.insts.entry(key).or_default();
            let value = self.flat.result(inst);
            if let Some(&first) = list.first() {
                self.canon[value as usize] = first;
            }
            list.push(value);
        }
    }

    fn key(&self, inst: usize) -> InstKey {
        let op = self.flat.op[inst];
        let src = self.flat.src[inst].map(|s| {
            if s == NONE {
                NONE
            } else {
                self.canon[s as usize]
            }
        });
        (op as u8, self.flat.modulus[inst], self.flat.imm[inst], src)
    }

    fn fill_dram(&mut self) {
        for (k, slot) in (0u32..).zip(&self.schedule.dram) {
            if let DramContent::Input(value) = slot.content {
                self.writes
                    .entry(Place::Dram(k))
                    .or_default()
                    .insert(0, (0, value));
            }
        }
    }

    fn look(&mut self, place: Place, at: u64, span: u64) -> Result<u32, String> {
        let writes = self
            .writes
            .get(&place)
            .ok_or(format!("{place:?} was never written"))?;
        let (&start, &(end, value)) = writes
            .range(..=at)
            .next_back()
            .ok_or(format!("{place:?} is not yet written"))?;
        if at < start || at + span < end {
            return Err(format!(
                "{place:?} read over {at}+{span} before its write ends at {end}"
            ));
        }
        self.reads.entry(place).or_default().push((at, span));
        Ok(value)
    }

    fn put(&mut self, place: Place, at: u64, span: u64, value: u32) {
        self.writes
            .entry(place)
            .or_default()
            .insert(at, (at + span, value));
    }

    fn take(&mut self, wire: Wire, at: u64) -> Result<u32, String> {
        let entry = self
            .wires
            .get_mut(&(wire, at))
            .ok_or(format!("nothing on {wire:?}"))?;
        entry.1 = true;
        Ok(entry.0)
    }

    fn send(&mut self, wire: Wire, at: u64, value: u32) -> Result<(), String> {
        match self.wires.insert((wire, at), (value, false)) {
            None => Ok(()),
            Some(_) => Err(format!("two streams on {wire:?}")),
        }
    }

    fn link_span(&self, link: Link) -> u64 {
        match link {
            Link::Xbar(x) => u64::from(self.machine.xbars[x as usize].span),
            Link::Channel(c) => u64::from(self.machine.channels[c as usize].span),
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each kind of entry")]
    fn step(&mut self, at: u64, component: Component, op: StreamOp) -> Result<(), String> {
        let m = self.machine;
        let end = match (component, op) {
            (
                Component::Unit { cluster, .. },
                StreamOp::Compute {
                    op,
                    modulus,
                    dst,
                    src,
                    imm,
                },
            ) => {
                let t = m.timing(op).ok_or("no such unit")?;
                let span = u64::from(t.occupancy);
                let mut values = [NONE; 3];
                for (value, slot) in values.iter_mut().zip(src) {
                    if slot != u16::MAX {
                        *value = self.look(Place::Reg(cluster, slot), at, span)?;
                        *value = self.canon[*value as usize];
                    }
                }
                let key = (op as u8, modulus, imm, values);
                let value = self
                    .insts
                    .get(&key)
                    .ok_or(format!("no instruction {key:?}"))?[0];
                let passes = if t.multipass { span } else { 0 };
                let w = at + passes + u64::from(t.latency) + u64::from(m.regfile.latency);
                if dst >= m.regfile.slots {
                    return Err("slot out of range".into());
                }
                self.put(Place::Reg(cluster, dst), w, span, value);
                w + span
            }
            (Component::RegFile { cluster }, StreamOp::Read { slot, to }) => {
                let span = self.link_span(to);
                let value = self.look(Place::Reg(cluster, slot), at, span)?;
                self.send(
                    Wire::FromReg(cluster, to),
                    at + u64::from(m.regfile.latency),
                    value,
                )?;
                at + span
            }
            (
                Component::RegFile { cluster },
                StreamOp::Write {
                    slot,
                    from: Link::Xbar(x),
                },
            ) => {
                let value = self.take(Wire::Out(x, cluster), at)?;
                let span = self.link_span(Link::Xbar(x));
                self.put(Place::Reg(cluster, slot), at, span, value);
                at + span
            }
            (Component::Bank { bank }, StreamOp::Read { slot, to }) => {
                let span = self.link_span(to);
                let value = self.look(Place::Bank(bank, slot), at, span)?;
                let latency = u64::from(m.banks[bank as usize].latency);
                self.send(Wire::FromBank(bank, to), at + latency, value)?;
                at + span
            }
            (Component::Bank { bank }, StreamOp::Write { slot, from }) => {
                let wire = match from {
                    Link::Xbar(x) => Wire::Out(x, bank),
                    Link::Channel(c) => Wire::FromChannel(c, bank),
                };
                let value = self.take(wire, at)?;
                if slot >= m.banks[bank as usize].slots {
                    return Err("slot out of range".into());
                }
                let span = self.link_span(from);
                self.put(Place::Bank(bank, slot), at, span, value);
                at + span
            }
            (Component::XbarPort { xbar, port }, StreamOp::Route { from }) => {
                let x = &m.xbars[xbar as usize];
                let wire = match x.kind {
                    cyclotron_machine::XbarKind::BankToCluster => {
                        Wire::FromBank(from, Link::Xbar(xbar))
                    }
                    _ => Wire::FromReg(from, Link::Xbar(xbar)),
                };
                let value = self.take(wire, at)?;
                self.send(Wire::Out(xbar, port), at + u64::from(x.latency), value)?;
                at + u64::from(x.span)
            }
            (Component::Channel { channel }, StreamOp::Load { address, bank }) => {
                self.home(address, channel)?;
                let c = &m.channels[channel as usize];
                let value = self.look(Place::Dram(address), at, 1 << 40)?;
                self.send(
                    Wire::FromChannel(channel, bank),
                    at + u64::from(c.latency),
                    value,
                )?;
                at + u64::from(c.span)
            }
            (Component::Channel { channel }, StreamOp::Store { address, bank }) => {
                self.home(address, channel)?;
                let c = &m.channels[channel as usize];
                let value = self.take(Wire::FromBank(bank, Link::Channel(channel)), at)?;
                let done = at + u64::from(c.span) + u64::from(c.latency);
                self.put(Place::Dram(address), done, 0, value);
                done
            }
            _ => return Err("this component cannot do that".into()),
        };
        self.cycles = self.cycles.max(end);
        Ok(())
    }

    fn home(&self, address: u32, channel: u16) -> Result<(), String> {
        let slot = self
            .schedule
            .dram
            .get(address as usize)
            .ok_or("no such address")?;
        if slot.channel == channel {
            Ok(())
        } else {
            Err("another channel's address".into())
        }
    }

    /// No write may overtake an earlier read or write of the same place.
    fn check_overwrites(&self) -> Result<(), String> {
        for (place, writes) in &self.writes {
            if matches!(place, Place::Dram(_)) {
                continue;
            }
            let mut before: Option<(u64, u64)> = None;
            for (&start, &(end, _)) in writes {
                if before.is_some_and(|(s, e)| start <= s || end <= e) {
                    return Err(format!("writes of {place:?} cross at {start}"));
                }
                before = Some((start, end));
            }
            for &(at, span) in self.reads.get(place).map_or(&[][..], |r| r) {
                if let Some((start, (end, _))) = writes.range(at + 1..).next()
                    && *end <= at + span
                {
                    return Err(format!(
                        "{place:?} overwritten from {start} while read from {at}"
                    ));
                }
            }
        }
        Ok(())
    }

    fn check_outputs(&self) -> Result<(), String> {
        for (k, &value) in (0u32..).zip(&self.flat.outputs) {
            let content = DramContent::Output(k);
            let slots: Vec<usize> = (0..self.schedule.dram.len())
                .filter(|&s| self.schedule.dram[s].content == content)
                .collect();
            let [slot] = slots[..] else {
                return Err(format!("output {k} has {} slots", slots.len()));
            };
            let writes = self
                .writes
                .get(&Place::Dram(slot as u32))
                .ok_or(format!("output {k} is missing"))?;
            let (_, &(_, found)) = writes.last_key_value().ok_or("no write")?;
            if self.canon[found as usize] != self.canon[value as usize] {
                return Err(format!("output {k} is %{found}, not %{value}"));
            }
        }
        Ok(())
    }

    /// Every port does one thing at a time.
    fn check_ports(&self) -> Result<(), String> {
        let m = self.machine;
        let mut busy: HashMap<(Component, u8), Vec<(u64, u64)>> = HashMap::new();
        for stream in &self.schedule.streams {
            let component = stream.component;
            for (at, &op) in stream.timed() {
                let (port, span) = match op {
                    StreamOp::Compute { op, .. } => {
                        (0, u64::from(m.timing(op).ok_or("no such unit")?.occupancy))
                    }
                    StreamOp::Read { to, .. } => (0, self.link_span(to)),
                    StreamOp::Write { from, .. } => (1, self.link_span(from)),
                    StreamOp::Route { .. } => {
                        let Component::XbarPort { xbar, .. } = component else {
                            return Err("route".into());
                        };
                        (0, u64::from(m.xbars[xbar as usize].span))
                    }
                    StreamOp::Load { .. } | StreamOp::Store { .. } => {
                        let Component::Channel { channel } = component else {
                            return Err("load".into());
                        };
                        (0, u64::from(m.channels[channel as usize].span))
                    }
                };
                let single = matches!(component, Component::Bank { bank } if m.banks[bank as usize].single_port);
                busy.entry((component, if single { 0 } else { port }))
                    .or_default()
                    .push((at, at + span));
            }
        }
        for ((component, port), mut spans) in busy {
            let ports = match (component, port) {
                (Component::RegFile { .. }, 0) => m.regfile.net_reads,
                (Component::RegFile { .. }, _) => m.regfile.net_writes,
                (Component::Bank { bank }, 0) => m.banks[bank as usize].reads,
                (Component::Bank { bank }, _) => m.banks[bank as usize].writes,
                _ => 1,
            };
            spans.sort_unstable();
            let mut free = vec![0u64; usize::from(ports)];
            for (start, end) in spans {
                let first = free.iter_mut().min().ok_or("no ports")?;
                if *first > start {
                    return Err(format!("{component:?} port kind {port} is busy at {start}"));
                }
                *first = end;
            }
        }
        Ok(())
    }
}
