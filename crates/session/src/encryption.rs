//! Encryption of a program's inputs, under whichever key.

use std::collections::BTreeMap;
use std::sync::Arc;

use cyclotron_program::{Graph, HeOp, Scheme, input_margin};
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
    let graph = &plan.interface().graph;
    let margin = input_margin(graph);
    let encrypt_one = |input: &cyclotron_lower::InputUse| {
        let name = &input.name;
        let given = values.get(name).ok_or_else(|| SessionError::MissingInput {
            kind: "encrypted input",
            name: name.clone(),
        })?;
        check_limit(graph, name, given, input_limit(graph, name, margin))?;
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

/// The largest magnitude that an encrypted input may have, if the program was calibrated:
/// the largest of its samples, times `margin`.
fn input_limit(graph: &Graph, name: &str, margin: f64) -> Option<f64> {
    let of_input = |op: &HeOp| matches!(op, HeOp::Input { input, .. } if graph.inputs[*input as usize] == name);
    let measured = graph.nodes.iter().zip(&graph.measured);
    measured
        .filter(|(node, _)| of_input(&node.op))
        .map(|(_, &largest)| largest * margin)
        .reduce(f64::max)
}

/// Refuses CKKS values beyond what the program was calibrated for: its values
/// could outgrow their modulus, and the result would be wrong without a sign.
pub(crate) fn check_limit(
    graph: &Graph,
    name: &str,
    given: &Values,
    limit: Option<f64>,
) -> Result<(), SessionError> {
    let Some(limit) = limit.filter(|_| graph.scheme == Scheme::Ckks) else {
        return Ok(());
    };
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
