//! Schedules in files.
//!
//! A bundle ([`cyclotron_isa::text::Bundle`]) holds machine, limb program and
//! streams as text that can be edited by hand. What is needed to run them on
//! ciphertexts goes into its notes, under names that start with `cyclotron.`:
//! the parameters and the HE program with its constants (as in the files of
//! these, in hexadecimal), and how inputs and outputs are encoded:
//!
//! ```text
//! input LEVEL SCALE             of the limb program's ciphertexts, in order
//! plain INDEX LEVEL scale SCALE     of its plaintext operands
//! plain INDEX LEVEL factor FACTOR
//! output LEVEL SCALE FACTOR     of its outputs
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use cyclotron_isa::text::Bundle;
use cyclotron_isa::{FlatProgram, LimbProgram, Schedule};
use cyclotron_lower::{InputUse, OutputUse, PlainEncoding, PlainUse};
use cyclotron_machine::Machine;
use cyclotron_program::Graph;
use cyclotron_schemes::Parameters;
use cyclotron_wire::{decode_parameters, decode_program, encode_parameters, encode_program};

use crate::error::SessionError;
use crate::interface::Interface;
use crate::schedule::MachineSchedule;

const OWN: &str = "cyclotron.";
const PARAMETERS: &str = "cyclotron.parameters";
const PROGRAM: &str = "cyclotron.program";
const INTERFACE: &str = "cyclotron.interface";

/// So many instructions are expanded however short the schedule is.
const UNQUESTIONED_INSTRUCTIONS: u64 = 1 << 24;

/// Notes of the user: names and texts.
pub type Notes = BTreeMap<String, String>;

impl MachineSchedule {
    /// The text of a file that holds the schedule, with the user's notes.
    #[must_use]
    pub fn to_text(&self, notes: &Notes) -> String {
        let mut meta = notes.clone();
        meta.retain(|name, _| !name.starts_with(OWN));
        meta.insert(PARAMETERS.to_owned(), hex(&encode_parameters(&self.params)));
        meta.insert(
            PROGRAM.to_owned(),
            hex(&encode_program(&self.interface.graph)),
        );
        meta.insert(INTERFACE.to_owned(), print_interface(&self.interface));
        let bundle = Bundle {
            meta,
            machine_toml: self.machine.to_toml(),
            program: self.program.clone(),
            schedule: self.schedule.clone(),
        };
        bundle.print()
    }

    /// Reads the text of a file, and the user's notes. Whether the schedule is
    /// legal is for [`Self::check`] to say.
    ///
    /// # Errors
    /// [`SessionError::Bundle`] if the text is no bundle or lacks a note, what
    /// the machine and the parameters report.
    pub fn from_text(text: &str) -> Result<(Self, Notes), SessionError> {
        let Bundle {
            mut meta,
            machine_toml,
            program,
            schedule,
        } = Bundle::parse(text).map_err(|error| bundle(error.to_string()))?;
        let machine = Machine::from_toml(&machine_toml, "machine of the schedule")?;
        let resolved = machine.resolve(program.log_n)?;
        check_size(&program, &schedule)?;
        let flat = FlatProgram::new(&program)?;
        let mut note = |name: &str| {
            let missing = || bundle(format!("the note `{name}` is missing; compile it again"));
            meta.remove(name).ok_or_else(missing)
        };
        let params = decode_parameters(&unhex(&note(PARAMETERS)?)?)?;
        let graph = decode_program(&unhex(&note(PROGRAM)?)?)?;
        let interface = parse_interface(&note(INTERFACE)?, graph, &program, &params)?;
        check_fit(&params, &program)?;
        meta.retain(|name, _| !name.starts_with(OWN));
        let loaded = MachineSchedule {
            params: Arc::new(params),
            interface,
            machine,
            resolved,
            program,
            flat,
            schedule,
            bound: OnceLock::new(),
        };
        Ok((loaded, meta))
    }
}

fn bundle(why: String) -> SessionError {
    SessionError::Bundle { why }
}

/// A short text can call procedures so often that their instructions fill the
/// memory. A schedule has an entry, and more, for each that it executes.
fn check_size(program: &LimbProgram, schedule: &Schedule) -> Result<(), SessionError> {
    let entries: usize = schedule
        .streams
        .iter()
        .map(|stream| stream.entries.len())
        .sum();
    let instructions = program.instruction_count();
    if instructions <= UNQUESTIONED_INSTRUCTIONS.max(4 * entries as u64) {
        return Ok(());
    }
    let why = format!("its {entries} entries cannot execute {instructions} instructions");
    Err(bundle(why))
}

/// The limb program must be over the parameters' ring and primes.
fn check_fit(params: &Parameters, program: &LimbProgram) -> Result<(), SessionError> {
    let same = params.extended() == program.moduli
        && params.log_n == program.log_n.saturating_add(program.log_parts)
        && params.word_bits == program.word_bits;
    if same {
        return Ok(());
    }
    Err(bundle(
        "the limb program is not over the primes of the parameters".to_owned(),
    ))
}

fn print_interface(interface: &Interface) -> String {
    let mut text = String::new();
    for input in &interface.inputs {
        let _ = writeln!(text, "input {} {:?}", input.level, input.scale);
    }
    for plain in &interface.plains {
        let _ = match plain.encoding {
            PlainEncoding::Scale(scale) => {
                writeln!(
                    text,
                    "plain {} {} scale {scale:?}",
                    plain.plain, plain.level
                )
            }
            PlainEncoding::Factor(factor) => {
                writeln!(
                    text,
                    "plain {} {} factor {factor}",
                    plain.plain, plain.level
                )
            }
        };
    }
    for output in &interface.outputs {
        let _ = writeln!(
            text,
            "output {} {:?} {}",
            output.level, output.scale, output.factor
        );
    }
    text
}

fn parse_interface(
    text: &str,
    graph: Graph,
    program: &LimbProgram,
    params: &Parameters,
) -> Result<Interface, SessionError> {
    let (mut inputs, mut plains, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
    let mut names = program.ciphertexts.iter();
    let mut results = program.outputs_named.iter();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let extra = || bundle(format!("the limb program has no place for `{line}`"));
        match words[..] {
            ["input", level, scale] => inputs.push(InputUse {
                name: names.next().ok_or_else(extra)?.clone(),
                level: level_of(level, params)?,
                scale: scale_of(scale)?,
            }),
            ["plain", index, level, kind, value] => plains.push(PlainUse {
                plain: index_of(index, graph.plains.len())?,
                level: level_of(level, params)?,
                encoding: match kind {
                    "scale" => PlainEncoding::Scale(scale_of(value)?),
                    "factor" => PlainEncoding::Factor(number(value)?),
                    _ => return Err(bundle(format!("`{line}` is no encoding"))),
                },
            }),
            ["output", level, scale, factor] => outputs.push(OutputUse {
                name: results.next().ok_or_else(extra)?.clone(),
                level: level_of(level, params)?,
                scale: scale_of(scale)?,
                factor: number(factor)?,
                node: 0,
            }),
            _ => return Err(bundle(format!("`{line}` is no input, operand or output"))),
        }
    }
    let found = [inputs.len(), plains.len(), outputs.len()];
    let needed = [
        program.ciphertexts.len(),
        program.plains.len(),
        program.outputs_named.len(),
    ];
    if found != needed {
        let why = format!("{found:?} inputs, operands and outputs are encoded, not {needed:?}");
        return Err(bundle(why));
    }
    let keys = program
        .keys
        .iter()
        .map(|key| key.name.parse())
        .collect::<Result<_, _>>()?;
    Ok(Interface {
        graph: Arc::new(graph),
        inputs,
        plains,
        outputs,
        keys,
        encoded: Arc::default(),
    })
}

fn number<T: FromStr>(word: &str) -> Result<T, SessionError> {
    word.parse()
        .map_err(|_| bundle(format!("`{word}` is not a number in range")))
}

fn level_of(word: &str, params: &Parameters) -> Result<usize, SessionError> {
    match number(word)? {
        level if (1..=params.levels()).contains(&level) => Ok(level),
        level => Err(bundle(format!("level {level} does not exist"))),
    }
}

fn scale_of(word: &str) -> Result<f64, SessionError> {
    match number::<f64>(word)? {
        scale if scale.is_finite() && scale > 0.0 => Ok(scale),
        scale => Err(bundle(format!("{scale} is no scale"))),
    }
}

fn index_of(word: &str, count: usize) -> Result<u32, SessionError> {
    match number::<u32>(word)? {
        index if (index as usize) < count => Ok(index),
        index => Err(bundle(format!("plaintext operand {index} does not exist"))),
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

fn unhex(text: &str) -> Result<Vec<u8>, SessionError> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs
        .iter()
        .map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
    match (bytes.collect(), rest) {
        (Some(bytes), []) => Ok(bytes),
        _ => Err(bundle("a note is not hexadecimal".to_owned())),
    }
}
