//! Encryption of a program's inputs, under whichever key.

use std::collections::BTreeMap;
use std::sync::Arc;

use cyclotron_program::{Graph, HeOp, Node, input_margin};
use cyclotron_ring::prf::Seed;
use cyclotron_schemes::{Ciphertext, Context, Plaintext, SchemeError, random_seed};
use rayon::prelude::*;

use crate::error::SessionError;
use crate::interface::{FRESH_FACTOR, check_names};
use crate::plan::Plan;
use crate::stored::{StoredCiphertext, same_parameters};
use crate::values::Values;

/// Encrypts every encrypted input of a program at the level and scale that the
/// program takes: `encrypt` one plaintext of the input's name.
pub(crate) fn encrypt_inputs(
    context: &Arc<Context>,
    plan: &Plan,
    values: &BTreeMap<String, Values>,
    encrypt: impl Fn(&str, &Plaintext) -> Result<Ciphertext, SessionError> + Sync,
) -> Result<BTreeMap<String, StoredCiphertext>, SessionError> {
    same_parameters("the program", context, plan.params())?;
    let inputs = &plan.interface().inputs;
    let known: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
    check_names("encrypted input", &known, values.keys())?;
    let encrypt_one = |input: &cyclotron_lower::InputUse| {
        let name = &input.name;
        let given = values.get(name).ok_or_else(|| SessionError::MissingInput {
            kind: "encrypted input",
            name: name.clone(),
        })?;
        check_magnitude(&plan.interface().graph, name, given)?;
        let plaintext = given
            .encode(context, name, input.level, input.scale, FRESH_FACTOR)
            .map_err(|error| named(name, error))?;
        let stored = StoredCiphertext::Decoded {
            context: Arc::clone(context),
            ciphertext: Arc::new(encrypt(name, &plaintext)?),
        };
        Ok((name.clone(), stored))
    };
    inputs.par_iter().map(encrypt_one).collect()
}

/// The seed of one input's encryption: fresh randomness, or a repeatable seed that is
/// derived from `root`. Encryption hashes the plaintext into it, so that a repeated
/// seed shows at most that two plaintexts are equal.
pub(crate) fn encryption_seed(root: Option<&Seed>, name: &str) -> Result<Seed, SchemeError> {
    let Some(root) = root else {
        return random_seed();
    };
    let hash = blake3::hash(name.as_bytes());
    let mut ids = [0; 4];
    for (id, chunk) in ids.iter_mut().zip(hash.as_bytes().chunks_exact(8)) {
        *id = chunk
            .iter()
            .fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
    Ok(root.derive("encryption", &ids))
}

/// An encoding's error, with the name of the input.
fn named(name: &str, error: SessionError) -> SessionError {
    match error {
        SessionError::Scheme(error) => SessionError::Values {
            name: name.to_owned(),
            why: error.to_string(),
        },
        other => other,
    }
}

/// Refuses CKKS inputs beyond what the program was calibrated for: its values
/// could outgrow their modulus, and the result would be wrong without a sign.
fn check_magnitude(graph: &Graph, name: &str, given: &Values) -> Result<(), SessionError> {
    let is_input = |node: &Node| matches!(node.op, HeOp::Input { .. });
    let measured = graph.nodes.iter().zip(&graph.measured);
    let largest = measured
        .filter(|(node, _)| is_input(node))
        .fold(0.0, |m: f64, (_, &v)| m.max(v));
    check_limit(graph, name, given, largest)
}

/// The same for values whose largest was `measured`; 0 if nothing was.
pub(crate) fn check_limit(
    graph: &Graph,
    name: &str,
    given: &Values,
    measured: f64,
) -> Result<(), SessionError> {
    if measured <= 0.0 || graph.scheme != cyclotron_program::Scheme::Ckks {
        return Ok(());
    }
    let limit = input_margin(graph) * measured;
    match given.numbers().find(|(_, value)| value.abs() > limit) {
        None => Ok(()),
        Some((slot, value)) => Err(SessionError::Values {
            name: name.to_owned(),
            why: format!(
                "slot {slot} is {value:?}; the program was compiled for inputs of at most \
                 {limit:?}: compile it with samples as large as this"
            ),
        }),
    }
}
