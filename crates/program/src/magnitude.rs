//! Bounds on the slots' magnitudes.

use crate::graph::{Graph, HeOp, Scheme};

/// A measured magnitude is multiplied by this before anything relies on it:
/// other inputs may be larger than the sampled ones.
pub const MEASURED_MARGIN: f64 = 2.0;

/// How much larger than the measured ones inputs may be: `2^(1/d)`, with d the degree of
/// the program as a polynomial in its inputs (encrypted, and plaintext at run time), so
/// that no monomial grows by more than [`MEASURED_MARGIN`].
///
/// # Cost
/// One step a node.
#[must_use]
pub fn input_margin(graph: &Graph) -> f64 {
    let mut degrees: Vec<f64> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let (args, count) = node.op.args();
        let of = |arg: &u32| degrees[*arg as usize];
        let args = args[..count].iter().map(of);
        let given = node.op.plain().map(|plain| &graph.plains[plain as usize]);
        let plain = given.map_or(0.0, |plain| f64::from(u8::from(plain.values.is_none())));
        degrees.push(match node.op {
            HeOp::Input { .. } => 1.0,
            HeOp::Mul { .. } | HeOp::MulPlain { .. } => args.sum::<f64>() + plain,
            _ => args.fold(plain, f64::max),
        });
    }
    let degree = degrees.into_iter().fold(1.0, f64::max);
    MEASURED_MARGIN.powf(1.0 / degree)
}

/// Largest slot magnitude of every node of a CKKS program: measured by the
/// twin, times a margin of 2, where the program was calibrated; else propagated
/// from inputs of magnitude at most 1 (a worst case that grows fast through
/// sums of rotations). For BGV every value is bounded by t/2.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "magnitudes are estimates")]
pub fn magnitudes(graph: &Graph) -> Vec<f64> {
    if let Scheme::Bgv {
        plaintext_modulus: t,
    } = graph.scheme
    {
        return vec![t as f64 / 2.0; graph.nodes.len()];
    }
    if graph.measured.len() == graph.nodes.len() {
        return graph
            .measured
            .iter()
            .map(|m| (m * MEASURED_MARGIN).max(f64::MIN_POSITIVE))
            .collect();
    }
    let mut bounds: Vec<f64> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let at = |i: u32| bounds[i as usize];
        let plain = |i: u32| graph.plains[i as usize].magnitude(1.0);
        let bound = match node.op {
            HeOp::Input { .. } => 1.0,
            HeOp::Add { a, b } | HeOp::Sub { a, b } => at(a) + at(b),
            HeOp::Mul { a, b } => at(a) * at(b),
            HeOp::AddPlain { ct, plain: p } | HeOp::SubPlain { ct, plain: p } => at(ct) + plain(p),
            HeOp::MulPlain { ct, plain: p } => at(ct) * plain(p),
            HeOp::AddScalar { ct, value } => at(ct) + value.abs(),
            HeOp::MulScalar { ct, value, .. } => at(ct) * value.abs(),
            HeOp::Neg { ct }
            | HeOp::Rotate { ct, .. }
            | HeOp::Conjugate { ct }
            | HeOp::Rescale { ct }
            | HeOp::Relinearize { ct }
            | HeOp::Output { ct, .. } => at(ct),
        };
        bounds.push(bound.max(f64::MIN_POSITIVE));
    }
    bounds
}
