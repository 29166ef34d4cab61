//! The text form of schedules.
//!
//! See [`parse_schedule`].

use super::line::{Line, Lines, quote};
use crate::entries::Entries;
use crate::error::IsaError;
use crate::op::{Op, OpShape};
use crate::schedule::{
    Component, DramContent, DramSlot, Entry, Link, NO_SLOT, Schedule, Stream, StreamOp,
};

/// Prints any schedule; [`parse_schedule`] reads back an equal one.
#[must_use]
pub fn print_schedule(schedule: &Schedule) -> String {
    let entries: usize = schedule.streams.iter().map(|s| s.entries.len()).sum();
    let mut out = Printer(String::with_capacity(
        28 * entries + 32 * schedule.dram.len() + 200,
    ));
    out.text("schedule ").text(&quote(&schedule.machine)).line();
    out.text("machine_hash ")
        .text(&quote(&schedule.machine_hash))
        .line();
    out.text("log_n ").number(schedule.log_n).line();
    out.text("cycles ").number(schedule.cycles).line();
    for (i, slot) in schedule.dram.iter().enumerate() {
        out.text("dram d").number(i as u64);
        out.text(" channel ").number(slot.channel);
        match slot.content {
            DramContent::Input(k) => out.text(" input ").number(k).line(),
            DramContent::Output(k) => out.text(" output ").number(k).line(),
            DramContent::Spill => out.text(" spill").line(),
        };
    }
    for stream in &schedule.streams {
        out.text("stream ")
            .text(&stream.component.to_string())
            .line();
        for (cycle, op) in stream.timed() {
            out.text("@").number(cycle).text(" ");
            out.entry(&op).line();
        }
    }
    out.0
}

struct Printer(String);

impl Printer {
    fn text(&mut self, text: &str) -> &mut Self {
        self.0.push_str(text);
        self
    }

    fn line(&mut self) -> &mut Self {
        self.text("\n")
    }

    fn number(&mut self, value: impl Into<u64>) -> &mut Self {
        let mut value = value.into();
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (value % 10) as u8;
            value /= 10;
            if value == 0 {
                break;
            }
        }
        let digits = digits[at..].iter().map(|&digit| char::from(digit));
        self.0.extend(digits);
        self
    }

    fn link(&mut self, link: Link) -> &mut Self {
        match link {
            Link::Xbar(xbar) => self.text("xbar").number(xbar),
            Link::Channel(channel) => self.text("channel").number(channel),
        }
    }

    fn entry(&mut self, op: &StreamOp) -> &mut Self {
        match *op {
            StreamOp::Compute {
                op,
                modulus,
                dst,
                src,
                imm,
            } => {
                self.text(op.name()).text(" m").number(modulus);
                self.text(" r").number(dst).text(" <-");
                let used = src.iter().rposition(|&s| s != NO_SLOT).map_or(0, |k| k + 1);
                for &slot in &src[..used] {
                    match slot {
                        NO_SLOT => self.text(" -"),
                        slot => self.text(" r").number(slot),
                    };
                }
                match immediate_prefix(op) {
                    "i" if imm == 0 => self,
                    prefix => self.text(" ").text(prefix).number(imm),
                }
            }
            StreamOp::Read { slot, to } => self.text("read s").number(slot).text(" -> ").link(to),
            StreamOp::Write { slot, from } => {
                self.text("write s").number(slot).text(" <- ").link(from)
            }
            StreamOp::Route { from } => self.text("route <- ").number(from),
            StreamOp::Load { address, bank } => self
                .text("load d")
                .number(address)
                .text(" -> bank")
                .number(bank),
            StreamOp::Store { address, bank } => self
                .text("store d")
                .number(address)
                .text(" <- bank")
                .number(bank),
        }
    }
}

/// What an operation's immediate is called.
fn immediate_prefix(op: Op) -> &'static str {
    match op.shape() {
        OpShape::UnaryConst | OpShape::BinaryConst | OpShape::Matrix => "c",
        OpShape::Automorphism => "k",
        _ => "i",
    }
}

/// Reads a schedule.
///
/// ```text
/// schedule "f1"
/// machine_hash "9f2c"
/// log_n 14
/// cycles 1530
/// dram d0 channel 1 input 5
/// dram d1 channel 0 output 0
/// dram d2 channel 0 spill
/// stream unit 0 3
/// @1203 mul m2 r3 <- r1 r5
/// +128 mulc m2 r4 <- r3 c17
/// @1500 aut m2 r4 <- r4 k25
/// stream regfile 0
/// @1190 write s1 <- xbar0
/// stream bank 7
/// @1185 read s60 -> xbar0
/// stream xbar 0 0
/// @1187 route <- 7
/// stream channel 1
/// @3 load d0 -> bank7
/// ```
///
/// `@` gives an entry's absolute cycle, `+` the cycles since the previous entry
/// of its stream; printed schedules use `@`, so that a line can be moved, changed
/// or deleted without a change to others. Entries are in the order of their
/// cycles. An immediate that an operation does not use prints as `i5`, an
/// operand that is missing before others as `-`.
///
/// # Errors
/// [`IsaError::Parse`] with the line. Whether the schedule is legal is for the
/// checker to say.
pub fn parse_schedule(text: &str) -> Result<Schedule, IsaError> {
    parse_schedule_lines(&mut Lines::new(text))
}

/// Reads a schedule from the remaining lines.
pub(crate) fn parse_schedule_lines(lines: &mut Lines<'_>) -> Result<Schedule, IsaError> {
    let mut schedule = Schedule::default();
    let mut seen = [false; 4];
    let mut cycle = 0;
    while let Some(mut line) = lines.next_line() {
        if matches!(line.first_byte(), Some(b'@' | b'+')) {
            let Some(stream) = schedule.streams.last_mut() else {
                return line.fail("an entry needs a `stream` before it");
            };
            stream.entries.push(entry(&mut line, &mut cycle)?);
            line.end()?;
            continue;
        }
        match line.word().unwrap_or_default() {
            "schedule" => {
                once(&mut seen[0], &line)?;
                schedule.machine = line.quoted()?;
            }
            "machine_hash" => {
                once(&mut seen[1], &line)?;
                schedule.machine_hash = line.quoted()?;
            }
            "log_n" => {
                once(&mut seen[2], &line)?;
                schedule.log_n = line.number_of("a number")?;
            }
            "cycles" => {
                once(&mut seen[3], &line)?;
                schedule.cycles = line.number_of("a number of cycles")?;
            }
            "dram" => {
                line.index("d", "off-chip slot", schedule.dram.len())?;
                schedule.dram.push(dram_slot(&mut line)?);
            }
            "stream" => {
                cycle = 0;
                schedule.streams.push(Stream {
                    component: component(&mut line)?,
                    entries: Entries::new(),
                });
            }
            other => return line.fail(format!("unknown statement `{other}` in a schedule")),
        }
        line.end()?;
    }
    let names = ["schedule", "machine_hash", "log_n", "cycles"];
    match (0..4).find(|&i| !seen[i]) {
        Some(missing) => Err(IsaError::Parse {
            line: lines.number(),
            why: format!("the schedule lacks its `{}`", names[missing]),
        }),
        None => Ok(schedule),
    }
}

fn once(seen: &mut bool, line: &Line<'_>) -> Result<(), IsaError> {
    if std::mem::replace(seen, true) {
        return line.fail("this is given twice");
    }
    Ok(())
}

fn dram_slot(line: &mut Line<'_>) -> Result<DramSlot, IsaError> {
    let channel = line.field("channel")?;
    let content = match line.word().unwrap_or_default() {
        "input" => DramContent::Input(line.number_of("an input limb")?),
        "output" => DramContent::Output(line.number_of("an output limb")?),
        "spill" => DramContent::Spill,
        other => {
            return line.fail(format!(
                "expected `input`, `output` or `spill`, found `{other}`"
            ));
        }
    };
    Ok(DramSlot { channel, content })
}

fn component(line: &mut Line<'_>) -> Result<Component, IsaError> {
    match line.word().unwrap_or_default() {
        "unit" => Ok(Component::Unit {
            cluster: line.number_of("a cluster")?,
            unit: line.number_of("a unit")?,
        }),
        "regfile" => Ok(Component::RegFile {
            cluster: line.number_of("a cluster")?,
        }),
        "xbar" => Ok(Component::XbarPort {
            xbar: line.number_of("a crossbar")?,
            port: line.number_of("an output port")?,
        }),
        "bank" => Ok(Component::Bank {
            bank: line.number_of("a bank")?,
        }),
        "channel" => Ok(Component::Channel {
            channel: line.number_of("a channel")?,
        }),
        other => line.fail(format!(
            "expected `unit`, `regfile`, `xbar`, `bank` or `channel`, found `{other}`"
        )),
    }
}

/// Reads an entry; `cycle` is that of the previous one and becomes its own.
fn entry(line: &mut Line<'_>, cycle: &mut u64) -> Result<Entry, IsaError> {
    let wait = match line.accept_prefixed::<u64>("@", "a cycle")? {
        None => line.prefixed("+", "a number of cycles")?,
        Some(at) => match at.checked_sub(*cycle) {
            Some(wait) => wait,
            None => {
                return line.fail(format!(
                    "cycle {at} comes before the previous entry's, {cycle}"
                ));
            }
        },
    };
    let next = cycle.checked_add(wait).filter(|&next| next < 1 << 60);
    let (Some(next), Ok(wait)) = (next, u32::try_from(wait)) else {
        return line.fail("an entry is at most 2^32 - 1 cycles after the previous one");
    };
    *cycle = next;
    let op = stream_op(line)?;
    Ok(Entry { wait, op })
}

fn stream_op(line: &mut Line<'_>) -> Result<StreamOp, IsaError> {
    let mnemonic = line.word().unwrap_or_default();
    if let Some(op) = Op::from_name(mnemonic) {
        return compute(line, op);
    }
    match mnemonic {
        "read" => {
            let slot = line.prefixed("s", "a slot")?;
            line.expect("->")?;
            let to = link(line)?;
            Ok(StreamOp::Read { slot, to })
        }
        "write" => {
            let slot = line.prefixed("s", "a slot")?;
            line.expect("<-")?;
            let from = link(line)?;
            Ok(StreamOp::Write { slot, from })
        }
        "route" => {
            line.expect("<-")?;
            let from = line.number_of("an input port")?;
            Ok(StreamOp::Route { from })
        }
        "load" => {
            let address = line.prefixed("d", "an off-chip slot")?;
            line.expect("->")?;
            let bank = line.prefixed("bank", "a bank")?;
            Ok(StreamOp::Load { address, bank })
        }
        "store" => {
            let address = line.prefixed("d", "an off-chip slot")?;
            line.expect("<-")?;
            let bank = line.prefixed("bank", "a bank")?;
            Ok(StreamOp::Store { address, bank })
        }
        other => line.fail(format!("unknown entry `{other}`")),
    }
}

fn compute(line: &mut Line<'_>, op: Op) -> Result<StreamOp, IsaError> {
    let modulus = line.prefixed("m", "a modulus")?;
    let dst = line.prefixed("r", "a slot")?;
    line.expect("<-")?;
    let mut src = [NO_SLOT; 3];
    for slot in &mut src {
        if line.accept("-") {
            continue;
        }
        match line.accept_prefixed("r", "a slot")? {
            Some(found) => *slot = found,
            None => break,
        }
    }
    let prefix = immediate_prefix(op);
    let imm = match line.accept_prefixed(prefix, "an immediate")? {
        Some(imm) => imm,
        None if prefix == "i" => 0,
        None => line.prefixed(prefix, "an immediate")?,
    };
    Ok(StreamOp::Compute {
        op,
        modulus,
        dst,
        src,
        imm,
    })
}

fn link(line: &mut Line<'_>) -> Result<Link, IsaError> {
    if let Some(xbar) = line.accept_prefixed("xbar", "a crossbar")? {
        return Ok(Link::Xbar(xbar));
    }
    line.prefixed("channel", "a link").map(Link::Channel)
}
