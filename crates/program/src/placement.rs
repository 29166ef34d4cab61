//! Placement of rescales, modulus switches, relinearizations, drops and corrections.
//!
//! The lazy rule: a value is relinearized immediately before a rotation, a
//! multiplication of ciphertexts, a rescale or an output, and rescaled
//! immediately before a multiplication; never between a rotation and the sum it
//! feeds. CKKS rescales while the result keeps at least half the canonical
//! scale of its new level. BGV switches down while that takes more noise than
//! half the prime it spends. Operands from different levels meet at the lower
//! one; the higher operand is multiplied by a constant *before* its last
//! rescale, so that it arrives at exactly the scale (correction factor) of the
//! other.
//!
//! Where Listing 1 alone switches keys, CKKS values are scaled up before it, since
//! its noise exceeds a canonical scale of one word; the next rescales undo that.

use std::collections::HashMap;

use crate::chain::{ChainSpec, KeySwitch};
use crate::conversion::Conversion;
use crate::error::ProgramError;
use crate::graph::{Graph, HeOp, Scheme};
use crate::placed::{PlacedGraph, PlacedNode, PlacedOp, PlainScale};
use crate::residues::{centred, mul_mod, residue, to_f64};
use crate::transfer::Transfer;

/// Scales closer than this count as equal.
pub(crate) const SAME_SCALE: f64 = 1.0 / (1u64 << 20) as f64;
/// The least constant that corrects a scale precisely enough.
pub(crate) const LEAST_CORRECTION: f64 = 4096.0;

/// Places `graph` on `chain`.
///
/// # Errors
/// [`ProgramError::OutOfLevels`] where the chain is too short,
/// [`ProgramError::Invalid`] for operations that the scheme does not have.
pub fn place(graph: &Graph, chain: &ChainSpec) -> Result<PlacedGraph, ProgramError> {
    let mut placer = Placer {
        graph,
        chain,
        transfer: Transfer::new(chain),
        nodes: Vec::with_capacity(2 * graph.nodes.len()),
        variances: Vec::new(),
        placed_of: Vec::with_capacity(graph.nodes.len()),
        cache: HashMap::new(),
        origin: 0,
    };
    for (index, node) in graph.nodes.iter().enumerate() {
        placer.origin = u32::try_from(index).expect("fewer than 2^32 nodes");
        let placed = placer.node(node.op)?;
        placer.placed_of.push(placed);
    }
    Ok(PlacedGraph {
        scheme: graph.scheme,
        nodes: placer.nodes,
        placed_of: placer.placed_of,
    })
}

pub(crate) struct Placer<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) chain: &'a ChainSpec,
    pub(crate) transfer: Transfer<'a>,
    nodes: Vec<PlacedNode>,
    /// BGV only: variance of the phase, which decides modulus switches.
    pub(crate) variances: Vec<f64>,
    placed_of: Vec<u32>,
    pub(crate) cache: HashMap<(u32, Conversion), u32>,
    pub(crate) origin: u32,
}

impl Placer<'_> {
    pub(crate) fn of(&self, node: u32) -> u32 {
        self.placed_of[node as usize]
    }

    pub(crate) fn at(&self, value: u32) -> PlacedNode {
        self.nodes[value as usize]
    }

    pub(crate) fn t(&self) -> Option<u64> {
        match self.chain.scheme {
            Scheme::Ckks => None,
            Scheme::Bgv { plaintext_modulus } => Some(plaintext_modulus),
        }
    }

    pub(crate) fn push(&mut self, node: PlacedNode) -> u32 {
        let variance = self.variance(&node);
        self.variances.push(variance);
        self.nodes.push(node);
        u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 nodes")
    }

    /// A node in the state of `like`, with another operation.
    fn derive(&mut self, op: PlacedOp, like: u32) -> u32 {
        let node = PlacedNode {
            op,
            origin: self.origin,
            ..self.at(like)
        };
        self.push(node)
    }

    fn variance(&self, node: &PlacedNode) -> f64 {
        let Some(t) = self.t() else { return 0.0 };
        let var = |i: u32| self.variances[i as usize];
        match node.op {
            PlacedOp::Input { .. } => self.transfer.fresh(self.graph.public_key),
            PlacedOp::Add { a, b } | PlacedOp::Sub { a, b } => self.transfer.sum(var(a), var(b)),
            PlacedOp::Tensor { a, b } => self.transfer.tensor((var(a), 0.0), (var(b), 0.0)),
            PlacedOp::MulPlain { ct, .. } => self.transfer.mul_plain((var(ct), 0.0), to_f64(t)),
            PlacedOp::MulConst { ct, value, .. } => var(ct) * value.powi(2),
            PlacedOp::Relinearize { ct } | PlacedOp::Automorphism { ct, .. } => {
                var(ct) + self.transfer.key_switch(KeySwitch::Hybrid, node.level)
            }
            PlacedOp::Rescale { ct } => self
                .transfer
                .rescale(var(ct), self.chain.dropped(self.at(ct).level)),
            PlacedOp::AddPlain { ct, .. }
            | PlacedOp::AddConst { ct, .. }
            | PlacedOp::Neg { ct }
            | PlacedOp::Drop { ct }
            | PlacedOp::Output { ct, .. } => var(ct),
        }
    }

    fn node(&mut self, op: HeOp) -> Result<u32, ProgramError> {
        Ok(match op {
            HeOp::Input { input, scale_bits } => self.input(input, scale_bits),
            HeOp::Add { a, b } => self.sum(a, b, |a, b| PlacedOp::Add { a, b })?,
            HeOp::Sub { a, b } => self.sum(a, b, |a, b| PlacedOp::Sub { a, b })?,
            HeOp::Mul { a, b } => self.mul(a, b)?,
            HeOp::Neg { ct } => {
                let ct = self.of(ct);
                self.derive(PlacedOp::Neg { ct }, ct)
            }
            HeOp::AddPlain { ct, plain } => {
                let ct = self.of(ct);
                self.derive(
                    PlacedOp::AddPlain {
                        ct,
                        plain,
                        negate: false,
                    },
                    ct,
                )
            }
            HeOp::SubPlain { ct, plain } => {
                let ct = self.of(ct);
                self.derive(
                    PlacedOp::AddPlain {
                        ct,
                        plain,
                        negate: true,
                    },
                    ct,
                )
            }
            HeOp::MulPlain { ct, plain } => self.mul_plain(ct, plain)?,
            HeOp::AddScalar { ct, value } => self.add_scalar(ct, value),
            HeOp::MulScalar {
                ct,
                value,
                scale_bits,
            } => self.mul_scalar(ct, value, scale_bits)?,
            HeOp::Rotate { ct, steps } => {
                self.automorphism(ct, self.graph.rotation_exponent(steps))
            }
            HeOp::Conjugate { ct } => self.automorphism(ct, 2 * (1 << self.graph.log_n) - 1),
            HeOp::Rescale { ct } => {
                let ct = self.relinearized(self.of(ct));
                self.rescaled(ct)?
            }
            HeOp::Relinearize { ct } => self.relinearized(self.of(ct)),
            HeOp::Output { ct, output } => {
                let ct = self.relinearized(self.of(ct));
                self.derive(PlacedOp::Output { ct, output }, ct)
            }
        })
    }

    fn input(&mut self, input: u32, scale_bits: Option<f64>) -> u32 {
        let level = self.chain.limbs();
        let scale = match (self.t(), scale_bits) {
            (Some(_), _) => 1.0,
            (None, Some(bits)) => bits.exp2(),
            (None, None) => self.chain.scale(level),
        };
        let op = PlacedOp::Input { input };
        self.push(PlacedNode {
            op,
            origin: self.origin,
            level,
            parts: 2,
            scale,
            factor: 1,
        })
    }

    fn sum(
        &mut self,
        a: u32,
        b: u32,
        op: impl Fn(u32, u32) -> PlacedOp,
    ) -> Result<u32, ProgramError> {
        let (a, b) = self.two_part_twins(self.of(a), self.of(b));
        let (a, b) = self.matched(a, b)?;
        let parts = self.at(a).parts.max(self.at(b).parts);
        let node = PlacedNode {
            op: op(a, b),
            origin: self.origin,
            parts,
            ..self.at(a)
        };
        Ok(self.push(node))
    }

    /// Beside a two-part summand, a three-part one is replaced by its relinearized
    /// twin where another user has asked for that already (`x + rotate(x)`).
    fn two_part_twins(&self, a: u32, b: u32) -> (u32, u32) {
        let twin = |of: u32, other: u32| {
            let found = self.cache.get(&(of, Conversion::Relinearized));
            if self.at(other).parts == 2 {
                found.copied().unwrap_or(of)
            } else {
                of
            }
        };
        (twin(a, b), twin(b, a))
    }

    fn mul(&mut self, a: u32, b: u32) -> Result<u32, ProgramError> {
        let a = self.ready_for_mul(self.of(a))?;
        let b = self.ready_for_mul(self.of(b))?;
        let level = self.at(a).level.min(self.at(b).level);
        let a = self.lowered(a, level)?;
        let b = self.lowered(b, level)?;
        let (x, y) = (self.at(a), self.at(b));
        let factor = self.t().map_or(1, |t| mul_mod(x.factor, y.factor, t));
        let op = PlacedOp::Tensor { a, b };
        let scale = x.scale * y.scale;
        Ok(self.push(PlacedNode {
            op,
            origin: self.origin,
            level,
            parts: 3,
            scale,
            factor,
        }))
    }

    fn mul_plain(&mut self, ct: u32, plain: u32) -> Result<u32, ProgramError> {
        let ct = if self.t().is_some() {
            self.of(ct)
        } else {
            self.scaled_for_mul(self.of(ct))?
        };
        let node = self.at(ct);
        let (encoded, scale) = if self.t().is_some() {
            (PlainScale::Factor(1), 1.0)
        } else {
            let bits = self.graph.plains[plain as usize].scale_bits;
            let scale = bits.map_or_else(|| self.chain.scale(node.level), f64::exp2);
            (PlainScale::Scale(scale), node.scale * scale)
        };
        let op = PlacedOp::MulPlain {
            ct,
            plain,
            scale: encoded,
        };
        Ok(self.push(PlacedNode {
            op,
            origin: self.origin,
            scale,
            ..node
        }))
    }

    fn add_scalar(&mut self, ct: u32, value: f64) -> u32 {
        let ct = self.of(ct);
        let node = self.at(ct);
        let value = match self.t() {
            Some(t) => centred(mul_mod(residue(value, t), node.factor, t), t),
            None => (value * node.scale).round(),
        };
        self.derive(PlacedOp::AddConst { ct, value }, ct)
    }

    fn mul_scalar(
        &mut self,
        ct: u32,
        value: f64,
        scale_bits: Option<f64>,
    ) -> Result<u32, ProgramError> {
        let whole = value.fract() == 0.0 && scale_bits.is_none();
        if let Some(t) = self.t() {
            let ct = self.of(ct);
            let value = centred(residue(value, t), t);
            let rounding = 0.0;
            return Ok(self.derive(
                PlacedOp::MulConst {
                    ct,
                    value,
                    rounding,
                },
                ct,
            ));
        }
        if whole {
            let ct = self.of(ct);
            let rounding = 0.0;
            return Ok(self.derive(
                PlacedOp::MulConst {
                    ct,
                    value,
                    rounding,
                },
                ct,
            ));
        }
        let ct = self.scaled_for_mul(self.of(ct))?;
        let node = self.at(ct);
        let factor = scale_bits.map_or_else(|| self.chain.scale(node.level), f64::exp2);
        let exact = value * factor;
        let op = PlacedOp::MulConst {
            ct,
            value: exact.round(),
            rounding: (exact - exact.round()).abs(),
        };
        let scale = node.scale * factor;
        Ok(self.push(PlacedNode {
            op,
            origin: self.origin,
            scale,
            ..node
        }))
    }

    fn automorphism(&mut self, ct: u32, k: u32) -> u32 {
        if k == 1 {
            return self.of(ct);
        }
        let ct = self.relinearized(self.of(ct));
        let ct = self.lifted(ct);
        self.derive(PlacedOp::Automorphism { ct, k }, ct)
    }

    pub(crate) fn out_of_levels(&self) -> ProgramError {
        let limbs = self.chain.limbs();
        ProgramError::OutOfLevels {
            place: self.graph.place_of(self.origin),
            op: self.graph.nodes[self.origin as usize].op.name().to_owned(),
            limbs,
            log_q: self.chain.log_q(limbs),
            fix: format!(
                "use at least {} limbs (`levels={}`), or fewer multiplications in a row",
                limbs + 1,
                limbs + 1
            ),
        }
    }
}
