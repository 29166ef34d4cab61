//! HE programs and limb programs: their text forms in a frame.
//!
//! The text forms are what a person reads and edits, and their readers verify
//! what they read; the frame adds version, length and checksum.

use cyclotron_isa::{LimbProgram, text};
use cyclotron_program::Graph;

use crate::error::WireError;
use crate::frame::{Kind, ParamsHash, open, seal};

/// An HE program with the values of its plaintext operands.
#[must_use]
pub fn encode_program(graph: &Graph) -> Vec<u8> {
    seal(Kind::Program, ParamsHash::NONE, graph.to_text().as_bytes())
}

/// Reads and verifies an HE program.
///
/// # Errors
/// [`WireError`] if the frame or the program is not well formed.
pub fn decode_program(bytes: &[u8]) -> Result<Graph, WireError> {
    let body = text_body(bytes, Kind::Program)?;
    Graph::from_text(body).map_err(|error| WireError::invalid("HE program", error))
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
    let body = text_body(bytes, Kind::LimbProgram)?;
    let invalid = |error| WireError::invalid("limb program", error);
    let program = text::parse(body).map_err(invalid)?;
    cyclotron_isa::verify(&program).map_err(invalid)?;
    Ok(program)
}

fn text_body(bytes: &[u8], kind: Kind) -> Result<&str, WireError> {
    let (_, body) = open(bytes, kind, Some(ParamsHash::NONE))?;
    std::str::from_utf8(body).map_err(|error| {
        WireError::invalid("text", format!("byte {} is not UTF-8", error.valid_up_to()))
    })
}
