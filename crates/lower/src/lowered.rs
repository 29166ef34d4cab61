//! The driver of phase 1 and what it hands on.

use std::collections::BTreeMap;

use cyclotron_isa::LimbProgram;
use cyclotron_program::{Graph, KeySwitch, NoiseReport, PlacedGraph, PlacedOp, place};
use cyclotron_schemes::{KeySpec, Parameters};

use crate::chain::{chain_spec, key_variant};
use crate::emission::Emission;
use crate::error::LowerError;
use crate::explain::{ExplainRow, explain};
use crate::order::order;
use crate::target::Target;
use crate::variant::{Effort, KeyId, choose_variants, key_of};

/// How an encrypted input must be encrypted.
#[derive(Debug, Clone, PartialEq)]
pub struct InputUse {
    /// Its name.
    pub name: String,
    /// Data limbs.
    pub level: usize,
    /// CKKS: the scale.
    pub scale: f64,
}

/// How a plain operand is encoded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlainEncoding {
    /// CKKS: values times the scale.
    Scale(f64),
    /// BGV: values times the factor modulo t.
    Factor(u64),
}

/// An encoding of a plain operand that the program reads: operand k of
/// [`cyclotron_isa::Source::Plain`] is entry k.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlainUse {
    /// Index into the graph's plains.
    pub plain: u32,
    /// Data limbs.
    pub level: usize,
    /// How it is encoded.
    pub encoding: PlainEncoding,
}

/// What an output ciphertext is.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputUse {
    /// Its name.
    pub name: String,
    /// Data limbs.
    pub level: usize,
    /// CKKS: the scale.
    pub scale: f64,
    /// BGV: the correction factor modulo t, else 1.
    pub factor: u64,
    /// The placed node, which the noise report is indexed by.
    pub node: u32,
}

/// A lowered program.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// The limb program, compound instructions included.
    pub program: LimbProgram,
    /// Levels and scales.
    pub placed: PlacedGraph,
    /// Noise of every placed node.
    pub noise: NoiseReport,
    /// The keys, in the order of the program's `keys`.
    pub keys: Vec<KeySpec>,
    /// The encrypted inputs, in the order of the program's `ciphertexts`.
    pub inputs: Vec<InputUse>,
    /// The plain operands, in the order of the program's `plains`.
    pub plains: Vec<PlainUse>,
    /// The outputs, in the order of the program's `outputs_named`.
    pub outputs: Vec<OutputUse>,
    /// A row per placed operation, in order of execution.
    pub explain: Vec<ExplainRow>,
}

/// Lowers `graph` with `params` for `target`.
///
/// # Errors
/// [`LowerError::Program`] where levels or precision run out, with the user's
/// line; [`LowerError::Mismatch`] for parameters of another program.
pub fn lower(
    graph: &Graph,
    params: &Parameters,
    target: &Target,
    precision_bits: f64,
) -> Result<Lowered, LowerError> {
    graph.verify()?;
    lower_with(graph, params, target, precision_bits, Effort::Final)
}

/// [`lower`] for a verified graph, with the effort that the caller needs.
pub(crate) fn lower_with(
    graph: &Graph,
    params: &Parameters,
    target: &Target,
    precision_bits: f64,
    effort: Effort,
) -> Result<Lowered, LowerError> {
    let chain = chain_spec(graph, params, target, precision_bits)?;
    let placed = place(graph, &chain)?;
    let (choice, noise) = choose_variants(graph, &placed, &chain, target, precision_bits, effort)?;
    let variant = |node: u32| variant_of(&placed, &choice, node);
    let limb_bytes = target.word_bytes * graph.n() as f64;
    let fast_limbs = (target.fast_bytes as f64 / limb_bytes) as u64;
    let sequence = order(&placed, fast_limbs, |node| {
        let level = placed.nodes[node as usize].level as u64;
        let special = params.special.len() as u64;
        match variant(node) {
            Some(KeySwitch::Hybrid) => {
                2 * level.div_ceil(params.digit_limbs as u64) * (level + special)
            }
            _ => 2 * level * level,
        }
    });
    let shared = hoisted(&placed, target, variant);
    let mut emission = Emission::new(graph, &placed, params, target.word_bits);
    let mut counts = vec![0u64; placed.nodes.len()];
    for &node in &sequence {
        let variant = variant(node).map(key_variant);
        counts[node as usize] = emission.node(node, variant, shared[node as usize]);
    }
    let explain = explain(graph, &placed, &noise, &sequence, &counts, variant);
    Ok(emission.finish(placed.clone(), noise, explain))
}

fn variant_of(
    placed: &PlacedGraph,
    choice: &BTreeMap<KeyId, KeySwitch>,
    node: u32,
) -> Option<KeySwitch> {
    key_of(placed.nodes[node as usize].op).map(|key| choice[&key])
}

/// The automorphisms that share their operand's decomposition: those of a
/// ciphertext with at least two of one variant, if the target hoists.
fn hoisted(
    placed: &PlacedGraph,
    target: &Target,
    variant: impl Fn(u32) -> Option<KeySwitch>,
) -> Vec<bool> {
    let mut sharing: BTreeMap<(u32, KeySwitch), u32> = BTreeMap::new();
    let shared: Vec<Option<(u32, KeySwitch)>> = (0u32..)
        .zip(&placed.nodes)
        .map(|(index, node)| match node.op {
            PlacedOp::Automorphism { ct, .. } if target.hoisting => {
                let shared = (ct, variant(index)?);
                *sharing.entry(shared).or_default() += 1;
                Some(shared)
            }
            _ => None,
        })
        .collect();
    shared
        .iter()
        .map(|shared| shared.is_some_and(|shared| sharing[&shared] > 1))
        .collect()
}
