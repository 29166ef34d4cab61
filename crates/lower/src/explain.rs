//! What every placed operation costs and carries, for `cyclotron explain`.

use cyclotron_program::{Graph, KeySwitch, NoiseReport, PlacedGraph, PlacedOp};

/// One placed operation.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainRow {
    /// Index of the placed node.
    pub node: u32,
    /// What it computes.
    pub op: &'static str,
    /// The ciphertext operands, as indices of placed nodes.
    pub args: Vec<u32>,
    /// Index of the plain operand, of the encrypted input or of the output in the
    /// program's tables, where the operation has one.
    pub operand: Option<u32>,
    /// The constant that is added or multiplied, already scaled.
    pub value: Option<f64>,
    /// Whether the plain operand is subtracted instead of added.
    pub negate: bool,
    /// The user's file.
    pub file: String,
    /// The user's line.
    pub line: u32,
    /// Data limbs of the result.
    pub level: usize,
    /// log2 of the scale (CKKS; 0 for BGV).
    pub scale_bits: f64,
    /// log2 of the error bound: of a slot in scaled units (CKKS), of the noise (BGV).
    pub noise_bits: f64,
    /// log2 of the modulus minus what value and noise take.
    pub margin_bits: f64,
    /// CKKS: log2 of magnitude over error; infinite for BGV.
    pub precision_bits: f64,
    /// Parts of the ciphertext.
    pub parts: u8,
    /// Key-switch variant, where a key is switched.
    pub variant: Option<&'static str>,
    /// The automorphism's exponent, where there is one.
    pub exponent: Option<u32>,
    /// Limb instructions, compound ones counted once.
    pub instructions: u64,
}

/// A row per operation in the order of execution.
pub(crate) fn explain(
    graph: &Graph,
    placed: &PlacedGraph,
    noise: &NoiseReport,
    sequence: &[u32],
    counts: &[u64],
    variant: impl Fn(u32) -> Option<KeySwitch>,
) -> Vec<ExplainRow> {
    let row = |&index: &u32| {
        let node = &placed.nodes[index as usize];
        let noise = &noise.nodes[index as usize];
        let (args, count) = node.op.args();
        let span = graph.nodes[node.origin as usize].span;
        ExplainRow {
            node: index,
            op: node.op.name(),
            args: args[..count].to_vec(),
            operand: operand(node.op),
            value: match node.op {
                PlacedOp::AddConst { value, .. } | PlacedOp::MulConst { value, .. } => Some(value),
                _ => None,
            },
            negate: matches!(node.op, PlacedOp::AddPlain { negate: true, .. }),
            file: graph
                .files
                .get(span.file as usize)
                .cloned()
                .unwrap_or_default(),
            line: span.line,
            level: node.level,
            scale_bits: node.scale.log2(),
            noise_bits: noise.noise_bits,
            margin_bits: noise.margin_bits,
            precision_bits: noise.precision_bits,
            parts: node.parts,
            variant: variant(index).map(KeySwitch::name),
            exponent: match node.op {
                PlacedOp::Automorphism { k, .. } => Some(k),
                _ => None,
            },
            instructions: counts[index as usize],
        }
    };
    sequence.iter().map(row).collect()
}

/// The row of the program's tables that an operation reads or fills.
fn operand(op: PlacedOp) -> Option<u32> {
    match op {
        PlacedOp::Input { input } => Some(input),
        PlacedOp::AddPlain { plain, .. } | PlacedOp::MulPlain { plain, .. } => Some(plain),
        PlacedOp::Output { output, .. } => Some(output),
        _ => None,
    }
}
