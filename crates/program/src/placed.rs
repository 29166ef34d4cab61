//! A program with every level, scale and switch made explicit.

use crate::graph::Scheme;

/// The scale at which a plain operand is encoded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlainScale {
    /// CKKS: values times this scale.
    Scale(f64),
    /// BGV: values times this factor modulo t.
    Factor(u64),
}

/// A placed operation. Operands are indices of placed nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlacedOp {
    /// An encrypted input.
    Input {
        /// Index into the graph's inputs.
        input: u32,
    },
    /// a + b, same level and scale.
    Add {
        /// First summand.
        a: u32,
        /// Second summand.
        b: u32,
    },
    /// a - b, same level and scale.
    Sub {
        /// Minuend.
        a: u32,
        /// Subtrahend.
        b: u32,
    },
    /// -ct.
    Neg {
        /// Operand.
        ct: u32,
    },
    /// Tensor product of two two-part ciphertexts: three parts.
    Tensor {
        /// First factor.
        a: u32,
        /// Second factor.
        b: u32,
    },
    /// Three parts to two, by the relinearization key.
    Relinearize {
        /// Operand.
        ct: u32,
    },
    /// ct + plain operand encoded at the ciphertext's scale.
    AddPlain {
        /// Operand.
        ct: u32,
        /// Index into the graph's plains.
        plain: u32,
        /// Subtract instead.
        negate: bool,
    },
    /// ct * plain operand.
    MulPlain {
        /// Operand.
        ct: u32,
        /// Index into the graph's plains.
        plain: u32,
        /// How the plain operand is encoded.
        scale: PlainScale,
    },
    /// ct + an integer constant in every slot (already scaled).
    AddConst {
        /// Operand.
        ct: u32,
        /// The integer; exact in f64 to 53 bits.
        value: f64,
    },
    /// ct * an integer constant (already scaled).
    MulConst {
        /// Operand.
        ct: u32,
        /// The integer; exact in f64 to 53 bits.
        value: f64,
        /// What rounding to an integer changed: at most 1/2.
        rounding: f64,
    },
    /// The automorphism x -> x^k followed by a key switch.
    Automorphism {
        /// Operand.
        ct: u32,
        /// The odd exponent.
        k: u32,
    },
    /// Rescale (CKKS) or modulus switch (BGV): drops the last limb with division.
    Rescale {
        /// Operand.
        ct: u32,
    },
    /// Drops limbs without division down to the node's level.
    Drop {
        /// Operand.
        ct: u32,
    },
    /// A named output.
    Output {
        /// What is output.
        ct: u32,
        /// Index into the graph's outputs.
        output: u32,
    },
}

impl PlacedOp {
    /// The operation's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            PlacedOp::Input { .. } => "input",
            PlacedOp::Add { .. } => "add",
            PlacedOp::Sub { .. } => "sub",
            PlacedOp::Neg { .. } => "neg",
            PlacedOp::Tensor { .. } => "mul",
            PlacedOp::Relinearize { .. } => "relinearize",
            PlacedOp::AddPlain { .. } => "add_plain",
            PlacedOp::MulPlain { .. } => "mul_plain",
            PlacedOp::AddConst { .. } => "add_const",
            PlacedOp::MulConst { .. } => "mul_const",
            PlacedOp::Automorphism { .. } => "rotate",
            PlacedOp::Rescale { .. } => "rescale",
            PlacedOp::Drop { .. } => "drop",
            PlacedOp::Output { .. } => "output",
        }
    }

    /// The ciphertext operands.
    #[must_use]
    pub fn args(&self) -> ([u32; 2], usize) {
        match *self {
            PlacedOp::Input { .. } => ([0, 0], 0),
            PlacedOp::Add { a, b } | PlacedOp::Sub { a, b } | PlacedOp::Tensor { a, b } => {
                ([a, b], 2)
            }
            PlacedOp::Neg { ct }
            | PlacedOp::Relinearize { ct }
            | PlacedOp::AddPlain { ct, .. }
            | PlacedOp::MulPlain { ct, .. }
            | PlacedOp::AddConst { ct, .. }
            | PlacedOp::MulConst { ct, .. }
            | PlacedOp::Automorphism { ct, .. }
            | PlacedOp::Rescale { ct }
            | PlacedOp::Drop { ct }
            | PlacedOp::Output { ct, .. } => ([ct, 0], 1),
        }
    }

    /// Whether it needs a key switch.
    #[must_use]
    pub fn switches_key(&self) -> bool {
        matches!(
            self,
            PlacedOp::Relinearize { .. } | PlacedOp::Automorphism { .. }
        )
    }
}

/// A placed node: the state of its result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacedNode {
    /// What it computes.
    pub op: PlacedOp,
    /// The graph's node that it belongs to.
    pub origin: u32,
    /// Data limbs of the result.
    pub level: usize,
    /// Parts of the ciphertext: 2 or 3.
    pub parts: u8,
    /// CKKS: the scale.
    pub scale: f64,
    /// BGV: the correction factor modulo t (1 for CKKS).
    pub factor: u64,
}

/// A program with every level, scale and switch made explicit, in topological order.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedGraph {
    /// The scheme.
    pub scheme: Scheme,
    /// The nodes.
    pub nodes: Vec<PlacedNode>,
    /// For every node of the graph, the placed node that holds its result.
    pub placed_of: Vec<u32>,
}
