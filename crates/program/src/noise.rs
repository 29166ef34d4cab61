//! Noise analysis.
//!
//! CKKS: `variance` is E|e(zeta)|^2, the mean square of a slot's error in scaled
//! units, for the worst slot. BGV: the variance of a coefficient of the phase
//! `m + t e`. Errors of different operations count as independent, but for sums
//! in BGV, and for key switches by one hint of Listing 1 in CKKS (`coherent`).

use crate::chain::{ChainSpec, KeySwitch, log2};
use crate::coherent::{Coherent, RELINEARIZATION};
use crate::error::ProgramError;
use crate::graph::{Graph, HeOp, Scheme};
use crate::placed::{PlacedGraph, PlacedNode, PlacedOp, PlainScale};
use crate::transfer::{CKKS_TAIL, Transfer};
use crate::variance::Variance;

/// Below this, log2 of a magnitude stands for zero.
const ZERO_BITS: f64 = -200.0;
/// BGV: the noise that no coefficient exceeds, in standard deviations; beyond 2^-40 for any N.
const BGV_TAIL: f64 = 12.0;

/// Noise of one placed node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeNoise {
    /// log2 of the error bound: CKKS of a slot, in scaled units; BGV of a coefficient of `m + t e`.
    pub noise_bits: f64,
    /// log2 of the modulus minus what value and noise take; negative means overflow.
    pub margin_bits: f64,
    /// CKKS: log2 of magnitude over error. BGV: infinite, its results are exact.
    pub precision_bits: f64,
}

/// Noise of every placed node.
#[derive(Debug, Clone, PartialEq)]
pub struct NoiseReport {
    /// By placed node.
    pub nodes: Vec<NodeNoise>,
}

/// Noise of every placed node. `magnitudes` are those of the graph's nodes;
/// `variant` gives the key-switch variant of a placed node that needs one.
#[must_use]
pub fn noise(
    graph: &Graph,
    placed: &PlacedGraph,
    chain: &ChainSpec,
    magnitudes: &[f64],
    variant: impl Fn(u32) -> KeySwitch,
) -> NoiseReport {
    let mut analysis = Analysis {
        graph,
        placed,
        transfer: Transfer::new(chain),
        magnitudes: of_placed(placed, magnitudes),
        variances: Vec::with_capacity(placed.nodes.len()),
        coherent: Vec::with_capacity(placed.nodes.len()),
    };
    let last_use = last_uses(placed);
    let mut nodes = Vec::with_capacity(placed.nodes.len());
    for (index, node) in placed.nodes.iter().enumerate() {
        let number = u32::try_from(index).expect("fewer than 2^32 nodes");
        let coherent = analysis.coherent(node, || variant(number));
        let variance = analysis.variance(node, || variant(number));
        let magnitude = analysis.magnitudes[index];
        let largest = variance.largest();
        nodes.push(node_noise(
            chain, largest, magnitude, node.scale, node.level,
        ));
        analysis.variances.push(variance);
        analysis.coherent.push(coherent);
        // Vectors of slots are large: forget those that nobody reads any more.
        let (args, count) = node.op.args();
        for &arg in &args[..count] {
            if last_use[arg as usize] == index {
                analysis.variances[arg as usize] = Variance::Uniform(0.0);
                analysis.coherent[arg as usize] = Coherent::default();
            }
        }
    }
    NoiseReport { nodes }
}

/// The index of the last node that reads each node.
fn last_uses(placed: &PlacedGraph) -> Vec<usize> {
    let mut last = vec![0; placed.nodes.len()];
    for (index, node) in placed.nodes.iter().enumerate() {
        let (args, count) = node.op.args();
        for &arg in &args[..count] {
            last[arg as usize] = index;
        }
    }
    last
}

/// Variances of the nodes so far.
struct Analysis<'a> {
    graph: &'a Graph,
    placed: &'a PlacedGraph,
    transfer: Transfer<'a>,
    /// Of the placed nodes.
    magnitudes: Vec<f64>,
    variances: Vec<Variance>,
    coherent: Vec<Coherent>,
}

impl Analysis<'_> {
    /// Magnitude times scale.
    fn scaled(&self, i: u32) -> f64 {
        self.magnitudes[i as usize] * self.placed.nodes[i as usize].scale
    }

    fn variance(&self, node: &PlacedNode, variant: impl Fn() -> KeySwitch) -> Variance {
        let transfer = &self.transfer;
        let var = |i: u32| &self.variances[i as usize];
        let switched = |ct: &Variance| {
            let added = transfer.key_switch(variant(), node.level);
            ct.map(|v| v + added)
        };
        match node.op {
            PlacedOp::Input { .. } => Variance::Uniform(transfer.fresh(self.graph.public_key)),
            PlacedOp::Add { a, b } | PlacedOp::Sub { a, b } if a == b => var(a).map(|v| 4.0 * v),
            PlacedOp::Add { a, b } | PlacedOp::Sub { a, b } => {
                let cross = self.coherent[a as usize].cross(&self.coherent[b as usize]);
                var(a).zip(var(b), |a, b| transfer.sum(a, b) + cross)
            }
            PlacedOp::Tensor { a, b } => {
                // The two errors of a square are one.
                let repeated = if a == b { 2.0 } else { 1.0 };
                let (x, y) = (self.scaled(a), self.scaled(b));
                let cross = if a == b {
                    0.0
                } else {
                    x * y * self.coherent[a as usize].cross(&self.coherent[b as usize])
                };
                var(a).zip(var(b), |a, b| {
                    repeated * transfer.tensor((a, x), (b, y)) + cross
                })
            }
            PlacedOp::AddPlain { ct, .. } | PlacedOp::AddConst { ct, .. } => {
                var(ct).map(|v| v + transfer.spread * transfer.t2 / 12.0)
            }
            PlacedOp::MulPlain { ct, plain, scale } => self.product(ct, plain, scale),
            PlacedOp::MulConst {
                ct,
                value,
                rounding,
            } => {
                let rounded = (self.scaled(ct) * rounding).powi(2);
                var(ct).map(|v| v * value.powi(2) + rounded)
            }
            PlacedOp::Relinearize { ct } => switched(var(ct)),
            PlacedOp::Automorphism { ct, .. } => match self.graph.nodes[node.origin as usize].op {
                HeOp::Rotate { steps, .. } => switched(&var(ct).rotated(steps)),
                _ => switched(var(ct)),
            },
            PlacedOp::Rescale { ct } => {
                let from = self.placed.nodes[ct as usize].level;
                let q = transfer.chain.dropped(from);
                var(ct).map(|v| transfer.rescale(v, q))
            }
            PlacedOp::Neg { ct } | PlacedOp::Drop { ct } | PlacedOp::Output { ct, .. } => {
                var(ct).clone()
            }
        }
    }

    /// The errors of a node that other nodes may have, too.
    fn coherent(&self, node: &PlacedNode, variant: impl Fn() -> KeySwitch) -> Coherent {
        let of = |i: u32| self.coherent[i as usize].clone();
        let switched = |errors: Coherent, hint: u32| {
            let common = self.transfer.common(variant(), node.level);
            common.map_or_else(|| errors.clone(), |c| errors.plus(&Coherent::of(hint, c)))
        };
        match node.op {
            PlacedOp::Input { .. } => Coherent::default(),
            PlacedOp::Add { a, b } | PlacedOp::Sub { a, b } => of(a).plus(&of(b)),
            PlacedOp::Tensor { a, b } => {
                let (x, y) = (self.scaled(a), self.scaled(b));
                of(a).scaled(y).plus(&of(b).scaled(x))
            }
            PlacedOp::MulPlain { ct, plain, scale } => {
                let factor = match (scale, &self.graph.plains[plain as usize].values) {
                    (PlainScale::Scale(scale), Some(values)) => {
                        let largest = values.iter().fold(0.0, |most: f64, w| most.max(w.abs()));
                        scale * largest
                    }
                    (PlainScale::Scale(scale), None) => scale,
                    (PlainScale::Factor(_), _) => 1.0,
                };
                of(ct).scaled(factor)
            }
            PlacedOp::MulConst { ct, value, .. } => of(ct).scaled(value),
            PlacedOp::Relinearize { ct } => switched(of(ct), RELINEARIZATION),
            PlacedOp::Automorphism { ct, k } => {
                let n = self.graph.n() as u32;
                switched(of(ct), k).moved(k, n)
            }
            PlacedOp::Rescale { ct } => {
                let from = self.placed.nodes[ct as usize].level;
                of(ct).scaled((-log2(self.transfer.chain.dropped(from))).exp2())
            }
            PlacedOp::Neg { ct }
            | PlacedOp::AddPlain { ct, .. }
            | PlacedOp::AddConst { ct, .. }
            | PlacedOp::Drop { ct }
            | PlacedOp::Output { ct, .. } => of(ct),
        }
    }

    /// A product with a plain operand, slot by slot where its values are known.
    fn product(&self, ct: u32, plain: u32, scale: PlainScale) -> Variance {
        let (variance, magnitude) = (&self.variances[ct as usize], self.scaled(ct));
        let of = |v: f64, w: f64| self.transfer.mul_plain((v, magnitude), w);
        match (scale, &self.graph.plains[plain as usize].values) {
            (PlainScale::Scale(scale), Some(values)) => {
                variance.zip_values(values, self.graph.slots(), |v, w| of(v, w * scale))
            }
            (PlainScale::Scale(scale), None) => variance.map(|v| of(v, scale)),
            (PlainScale::Factor(_), _) => variance.map(|v| of(v, 1.0)),
        }
    }
}

/// Magnitudes of placed nodes. A conversion of an operand belongs to the
/// operation that asked for it, but has the operand's magnitude.
fn of_placed(placed: &PlacedGraph, magnitudes: &[f64]) -> Vec<f64> {
    let mut of_placed: Vec<f64> = Vec::with_capacity(placed.nodes.len());
    for (index, node) in placed.nodes.iter().enumerate() {
        let result = placed.placed_of[node.origin as usize] as usize == index;
        let (args, count) = node.op.args();
        of_placed.push(if result || count == 0 {
            magnitudes[node.origin as usize]
        } else {
            of_placed[args[0] as usize]
        });
    }
    of_placed
}

fn node_noise(
    chain: &ChainSpec,
    variance: f64,
    magnitude: f64,
    scale: f64,
    level: usize,
) -> NodeNoise {
    let log_q = chain.log_q(level);
    match chain.scheme {
        Scheme::Ckks => {
            let error = CKKS_TAIL * (variance / 2.0).sqrt();
            NodeNoise {
                noise_bits: error.log2(),
                margin_bits: log_q - 1.0 - (magnitude * scale + error).log2(),
                precision_bits: (magnitude * scale / error).log2(),
            }
        }
        Scheme::Bgv { .. } => {
            let bound = BGV_TAIL * variance.sqrt();
            NodeNoise {
                noise_bits: bound.log2(),
                margin_bits: log_q - 1.0 - bound.log2(),
                precision_bits: f64::INFINITY,
            }
        }
    }
}

/// Checks, before any noise is known, that every value alone fits its modulus.
///
/// # Errors
/// [`ProgramError::Overflow`] with the user's line.
pub fn check_magnitudes(
    graph: &Graph,
    placed: &PlacedGraph,
    chain: &ChainSpec,
    magnitudes: &[f64],
) -> Result<(), ProgramError> {
    if chain.scheme != Scheme::Ckks {
        return Ok(());
    }
    let magnitudes = of_placed(placed, magnitudes);
    for (node, magnitude) in placed.nodes.iter().zip(magnitudes) {
        let margin = node_noise(chain, 0.0, magnitude, node.scale, node.level).margin_bits;
        check_margin(graph, chain, node, margin)?;
    }
    Ok(())
}

fn check_margin(
    graph: &Graph,
    chain: &ChainSpec,
    node: &PlacedNode,
    margin_bits: f64,
) -> Result<(), ProgramError> {
    if margin_bits >= 0.0 {
        return Ok(());
    }
    let has = chain.log_q(node.level);
    Err(ProgramError::Overflow {
        place: graph.place_of(node.origin),
        op: node.op.name().to_owned(),
        needs: has - margin_bits,
        has,
        level: node.level,
        fix: format!(
            "give the program more limbs (it has {}), a smaller scale, or smaller values",
            chain.limbs()
        ),
    })
}

impl NoiseReport {
    /// log2 of the largest magnitude of an output; infinite if all are zero, so that
    /// no output of such a program counts as imprecise.
    fn largest_output_bits(&self, placed: &PlacedGraph) -> f64 {
        let magnitude = |(node, noise): (&PlacedNode, &NodeNoise)| match node.op {
            PlacedOp::Output { .. } => noise.precision_bits + noise.noise_bits - node.scale.log2(),
            _ => f64::NEG_INFINITY,
        };
        let nodes = placed.nodes.iter().zip(&self.nodes);
        let largest = nodes.map(magnitude).fold(f64::NEG_INFINITY, f64::max);
        if largest < ZERO_BITS {
            f64::INFINITY
        } else {
            largest
        }
    }

    /// Checks that no value overflows its modulus and that every output has the wished precision.
    ///
    /// # Errors
    /// [`ProgramError::Overflow`] and [`ProgramError::Imprecise`], with the user's line.
    pub fn check(
        &self,
        graph: &Graph,
        placed: &PlacedGraph,
        chain: &ChainSpec,
        precision_bits: f64,
    ) -> Result<(), ProgramError> {
        let largest = self.largest_output_bits(placed);
        for (node, noise) in placed.nodes.iter().zip(&self.nodes) {
            check_margin(graph, chain, node, noise.margin_bits)?;
            // Relative to the largest output: one that happens to be zero has no precision.
            let has = largest - (noise.noise_bits - node.scale.log2());
            if let PlacedOp::Output { output, .. } = node.op
                && chain.scheme == Scheme::Ckks
                && has < precision_bits
            {
                return Err(ProgramError::Imprecise {
                    place: graph.place_of(node.origin),
                    output: graph.outputs[output as usize].clone(),
                    has,
                    needs: precision_bits,
                    fix: "raise scale_bits, give weights a larger scale, or ask for less precision"
                        .to_owned(),
                });
            }
        }
        Ok(())
    }
}
