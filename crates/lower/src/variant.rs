//! The key-switch variant of every key.

use std::collections::BTreeMap;

use cyclotron_program::{
    ChainSpec, Graph, KeySwitch, NoiseReport, PlacedGraph, PlacedOp, check_magnitudes, magnitudes,
    noise,
};

use crate::error::LowerError;
use crate::target::{Costs, Target};

/// How hard to look for variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// While parameters are searched for: the quietest variant everywhere.
    Search,
    /// For the program that is run.
    Final,
}

/// What a key switches from: 0 for s^2, else the automorphism's exponent.
pub(crate) type KeyId = u32;

/// The key that a placed operation needs.
pub(crate) fn key_of(op: PlacedOp) -> Option<KeyId> {
    match op {
        PlacedOp::Relinearize { .. } => Some(0),
        PlacedOp::Automorphism { k, .. } => Some(k),
        _ => None,
    }
}

/// The variant of every key, and the noise that follows.
pub(crate) type Choice = (BTreeMap<KeyId, KeySwitch>, NoiseReport);

/// Chooses for every key the cheapest variant that the noise analysis allows.
/// One variant a key, so that no hint is held twice.
///
/// Starts from the quietest variant and tries the others, dearest key first; a
/// change stays if every output keeps its precision.
pub(crate) fn choose_variants(
    graph: &Graph,
    placed: &PlacedGraph,
    chain: &ChainSpec,
    target: &Target,
    precision_bits: f64,
    effort: Effort,
) -> Result<Choice, LowerError> {
    let magnitudes = magnitudes(graph);
    check_magnitudes(graph, placed, chain, &magnitudes)?;
    let levels = levels_by_key(placed);
    let allowed = allowed_variants(chain, target)?;
    let report = |choice: &BTreeMap<KeyId, KeySwitch>| {
        noise(graph, placed, chain, &magnitudes, |node| {
            let key = key_of(placed.nodes[node as usize].op).expect("switches a key");
            choice[&key]
        })
    };
    let mut choice: BTreeMap<KeyId, KeySwitch> =
        levels.keys().map(|&key| (key, allowed[0])).collect();
    let mut best = report(&choice);
    best.check(graph, placed, chain, precision_bits)?;
    if effort == Effort::Search {
        return Ok((choice, best));
    }
    let mut keys: Vec<(&KeyId, &Vec<usize>)> = levels.iter().collect();
    keys.sort_by_key(|(key, levels)| (std::cmp::Reverse(levels.len()), **key));
    for &variant in &allowed[1..] {
        for &(key, levels) in &keys {
            let key = *key;
            if cost(&target.costs, chain, variant, levels)
                >= cost(&target.costs, chain, choice[&key], levels)
            {
                continue;
            }
            let before = choice
                .insert(key, variant)
                .expect("every key has a variant");
            let tried = report(&choice);
            if tried.check(graph, placed, chain, precision_bits).is_ok() {
                best = tried;
            } else {
                choice.insert(key, before);
            }
        }
    }
    Ok((choice, best))
}

fn levels_by_key(placed: &PlacedGraph) -> BTreeMap<KeyId, Vec<usize>> {
    let mut levels: BTreeMap<KeyId, Vec<usize>> = BTreeMap::new();
    for node in &placed.nodes {
        if let Some(key) = key_of(node.op) {
            levels.entry(key).or_default().push(node.level);
        }
    }
    levels
}

/// The target's variants that the chain has keys for, quietest first.
fn allowed_variants(chain: &ChainSpec, target: &Target) -> Result<Vec<KeySwitch>, LowerError> {
    let mut allowed = target.variants.clone();
    allowed.retain(|&v| v != KeySwitch::Hybrid || !chain.special.is_empty());
    allowed.sort_by_key(|&v| std::cmp::Reverse(v));
    if allowed.is_empty() {
        return Err(LowerError::Variant {
            variant: "hybrid",
            why: "the parameters have no special prime; add one, or allow listing1".to_owned(),
        });
    }
    Ok(allowed)
}

/// Estimated cost of all uses of one key: instructions for each, its hint once.
fn cost(costs: &Costs, chain: &ChainSpec, variant: KeySwitch, levels: &[usize]) -> f64 {
    use cyclotron_isa::Op;
    let op = |op: Op| costs.of(op);
    let top = levels.iter().copied().max().unwrap_or(0) as f64;
    let k = chain.special.len() as f64;
    let alpha = chain.digit_limbs as f64;
    let each = |&level: &usize| {
        let l = level as f64;
        match variant {
            KeySwitch::Listing1 => {
                l * op(Op::Intt) + l * (l - 1.0) * op(Op::Ntt) + 2.0 * l * l * op(Op::Mul)
            }
            KeySwitch::Hybrid => {
                let beta = (l / alpha).ceil();
                let ntts = beta * (l + k) - l + 2.0 * l;
                let muls =
                    2.0 * beta * (l + k) + (beta * (l + k) - l) * alpha + 2.0 * l * (k + 1.0);
                (l + 2.0 * k) * op(Op::Intt) + ntts * op(Op::Ntt) + muls * op(Op::Mul)
            }
        }
    };
    let hint = match variant {
        KeySwitch::Listing1 => 2.0 * top * top,
        KeySwitch::Hybrid => 2.0 * (top / alpha).ceil() * (top + k),
    };
    levels.iter().map(each).sum::<f64>() + hint * costs.of_load()
}
