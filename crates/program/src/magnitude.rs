//! Bounds on the slots' magnitudes.

use crate::graph::{Graph, HeOp, Scheme};

/// A measured magnitude is multiplied by this before anything relies on it:
/// other inputs may be larger than the sampled ones.
pub const MEASURED_MARGIN: f64 = 2.0;

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
