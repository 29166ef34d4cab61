//! HE programs and limb programs.
//!
//! # Layout
//! The body of an HE program: its text form without the values of its plaintext
//! operands, as a string; then, for each operand whose values are part of the
//! program, their number u32 and runs that cover them: zeros u32, other values
//! u32, these as f64. Weights are often mostly zero.
//!
//! The body of a limb program is its text form. The text forms are what a
//! person reads and edits, and their readers verify what they read.

use cyclotron_isa::{LimbProgram, text};
use cyclotron_program::Graph;

use crate::cursor::{Put, Reader};
use crate::error::WireError;
use crate::frame::{Kind, ParamsHash, open, seal};

/// Operands have at most so many values: no supported ring has more slots.
const MAX_VALUES: u32 = 1 << 17;

/// An HE program with the values of its plaintext operands.
#[must_use]
pub fn encode_program(graph: &Graph) -> Vec<u8> {
    let mut bare = graph.clone();
    for plain in &mut bare.plains {
        plain.values = plain.values.as_ref().map(|_| Vec::new());
    }
    let mut body = Vec::new();
    body.put_string(&bare.to_text());
    for values in graph
        .plains
        .iter()
        .filter_map(|plain| plain.values.as_deref())
    {
        body.put_u32(values.len() as u32);
        put_runs(&mut body, values);
    }
    seal(Kind::Program, ParamsHash::NONE, &body)
}

fn put_runs(body: &mut Vec<u8>, mut values: &[f64]) {
    // By bits: a negative zero is a value of its own.
    let is_zero = |value: &f64| value.to_bits() == 0;
    while !values.is_empty() {
        let zeros = values.iter().take_while(|value| is_zero(value)).count();
        let others = values[zeros..]
            .iter()
            .take_while(|value| !is_zero(value))
            .count();
        body.put_u32(zeros as u32);
        body.put_u32(others as u32);
        values[zeros..zeros + others]
            .iter()
            .for_each(|&value| body.put_f64(value));
        values = &values[zeros + others..];
    }
}

/// Reads and verifies an HE program.
///
/// # Errors
/// [`WireError`] if the frame or the program is not well formed.
pub fn decode_program(bytes: &[u8]) -> Result<Graph, WireError> {
    let (_, body) = open(bytes, Kind::Program, Some(ParamsHash::NONE))?;
    let mut reader = Reader::new(body);
    let invalid = |error| WireError::invalid("HE program", error);
    let mut graph = Graph::from_text(reader.string("HE program")?).map_err(invalid)?;
    for values in graph
        .plains
        .iter_mut()
        .filter_map(|plain| plain.values.as_mut())
    {
        *values = take_runs(&mut reader)?;
    }
    reader.finish()?;
    graph.verify().map_err(invalid)?;
    Ok(graph)
}

fn take_runs(reader: &mut Reader<'_>) -> Result<Vec<f64>, WireError> {
    let what = "values of a plaintext operand";
    let count = reader.u32(what)?;
    if count > MAX_VALUES {
        return Err(WireError::invalid(
            what,
            format!("{count} is more than any ring has slots"),
        ));
    }
    let mut values = Vec::new();
    while values.len() < count as usize {
        let (zeros, others) = (reader.u32(what)?, reader.u32(what)?);
        let left = u64::from(count) - values.len() as u64;
        let run = u64::from(zeros) + u64::from(others);
        if run == 0 || run > left {
            return Err(WireError::invalid(
                what,
                format!("a run of {run} where {left} are left"),
            ));
        }
        values.resize(values.len() + zeros as usize, 0.0);
        for _ in 0..others {
            values.push(reader.f64(what)?);
        }
    }
    Ok(values)
}

/// A limb program.
#[must_use]
pub fn encode_limb_program(program: &LimbProgram) -> Vec<u8> {
    let body = text::print(program);
    seal(Kind::LimbProgram, ParamsHash::NONE, body.as_bytes())
}

/// Reads and verifies a limb program.
///
/// # Errors
/// [`WireError`] if the frame or the program is not well formed.
pub fn decode_limb_program(bytes: &[u8]) -> Result<LimbProgram, WireError> {
    let (_, body) = open(bytes, Kind::LimbProgram, Some(ParamsHash::NONE))?;
    let body = std::str::from_utf8(body).map_err(|error| {
        WireError::invalid("text", format!("byte {} is not UTF-8", error.valid_up_to()))
    })?;
    let invalid = |error| WireError::invalid("limb program", error);
    let program = text::parse(body).map_err(invalid)?;
    cyclotron_isa::verify(&program).map_err(invalid)?;
    Ok(program)
}
