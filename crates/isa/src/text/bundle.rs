//! Bundles: a schedule with the machine and the program that it is for.

use std::collections::BTreeMap;

use super::line::{Line, Lines, quote};
use super::parse::parse_lines;
use super::print::print;
use super::schedule::{parse_schedule_lines, print_schedule};
use crate::error::IsaError;
use crate::program::LimbProgram;
use crate::schedule::Schedule;

/// The version of the format that is written; older ones are read.
pub const BUNDLE_VERSION: u32 = 1;

/// A schedule with everything that is needed to check and to simulate it.
///
/// ```text
/// cyclotron_bundle 1
/// meta "seed" "7"
/// == machine
/// | [machine]
/// | name = "f1"
/// == program
/// limb_program "sum"
/// ...
/// == schedule
/// schedule "f1"
/// ...
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bundle {
    /// Free-form notes: program name, seed, options.
    pub meta: BTreeMap<String, String>,
    /// The description of the machine, as a TOML text.
    pub machine_toml: String,
    /// The program that the schedule executes, legalized.
    pub program: LimbProgram,
    /// The streams.
    pub schedule: Schedule,
}

impl Bundle {
    /// The text form; [`Bundle::parse`] reads back an equal bundle.
    #[must_use]
    pub fn print(&self) -> String {
        let mut text = format!("cyclotron_bundle {BUNDLE_VERSION}\n");
        for (key, value) in &self.meta {
            text.push_str(&format!("meta {} {}\n", quote(key), quote(value)));
        }
        text.push_str("== machine\n");
        for line in self.machine_toml.split('\n') {
            text.push_str("| ");
            text.push_str(line);
            text.push('\n');
        }
        text.push_str("== program\n");
        text.push_str(&print(&self.program));
        text.push_str("== schedule\n");
        text.push_str(&print_schedule(&self.schedule));
        text
    }

    /// Reads a bundle. The program is verified; the machine is not read, and
    /// whether the schedule is legal is for the checker to say.
    ///
    /// # Errors
    /// [`IsaError::Parse`] with the line.
    pub fn parse(text: &str) -> Result<Self, IsaError> {
        let mut lines = Lines::new(text);
        let mut line = need(&mut lines, "cyclotron_bundle")?;
        line.expect("cyclotron_bundle")?;
        let version: u32 = line.number_of("a version")?;
        line.end()?;
        if version == 0 || version > BUNDLE_VERSION {
            return line.fail(format!(
                "this is a bundle of version {version}, but versions up to {BUNDLE_VERSION} are \
                 understood: use a newer release"
            ));
        }
        let mut bundle = Bundle::default();
        loop {
            let mut line = need(&mut lines, "== machine")?;
            if !line.accept("meta") {
                section(&mut line, "machine")?;
                break;
            }
            let key = line.quoted()?;
            let value = line.quoted()?;
            line.end()?;
            if bundle.meta.insert(key, value).is_some() {
                return line.fail("this note is given twice");
            }
        }
        bundle.machine_toml = machine_lines(&mut lines)?;
        let (program, stop) = parse_lines(&mut lines, "==")?;
        bundle.program = program;
        match stop {
            Some(mut line) => section(&mut line, "schedule")?,
            None => {
                return Line::new("", lines.number()).fail("the bundle lacks its `== schedule`");
            }
        }
        bundle.schedule = parse_schedule_lines(&mut lines)?;
        Ok(bundle)
    }
}

fn need<'a>(lines: &mut Lines<'a>, what: &str) -> Result<Line<'a>, IsaError> {
    lines.next_line().ok_or_else(|| IsaError::Parse {
        line: lines.number(),
        why: format!("the bundle lacks its `{what}`"),
    })
}

fn section(line: &mut Line<'_>, name: &str) -> Result<(), IsaError> {
    line.accept("==");
    line.expect(name)?;
    line.end()
}

/// Reads the machine's lines up to the next section's header.
fn machine_lines(lines: &mut Lines<'_>) -> Result<String, IsaError> {
    let mut text: Option<String> = None;
    while let Some(raw) = lines.raw() {
        let Some(content) = raw.strip_prefix('|') else {
            let mut line = Line::new(raw, lines.number());
            if line.peek().is_none() {
                continue;
            }
            section(&mut line, "program")?;
            return Ok(text.unwrap_or_default());
        };
        let content = content.strip_prefix(' ').unwrap_or(content);
        match &mut text {
            None => text = Some(content.to_owned()),
            Some(text) => {
                text.push('\n');
                text.push_str(content);
            }
        }
    }
    Line::new("", lines.number()).fail("the bundle lacks its `== program`")
}
