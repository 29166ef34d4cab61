//! Programs of one operation.

use std::sync::Arc;

use cyclotron_program::{Graph, HeOp, PlainOperand, Scheme, Span};
use cyclotron_schemes::Parameters;

use crate::sets::input;

/// Rotations of the hoisted case: by 1, 2, ..., this.
pub(crate) const HOISTED: usize = 8;

/// An operation on ciphertexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    MulRelin,
    Rotate,
    Hoisted,
    Rescale,
    MulPlain,
}

/// A program of one operation, and what its checked output holds.
pub(crate) struct Single {
    pub graph: Arc<Graph>,
    /// The inputs' slots, in order.
    pub inputs: Vec<Vec<f64>>,
    /// The first 8 slots of the last output.
    pub expected: Vec<f64>,
}

/// The program of an operation under these parameters.
pub(crate) fn single(operation: Operation, params: &Parameters) -> Single {
    let scheme = match params.scheme {
        cyclotron_schemes::Scheme::Ckks => Scheme::Ckks,
        cyclotron_schemes::Scheme::Bgv => Scheme::Bgv {
            plaintext_modulus: params.plaintext_modulus,
        },
    };
    let values = |k| input(params.scheme, params.slots(), k);
    let (x, y) = (values(0), values(1));
    let binary = matches!(operation, Operation::Add | Operation::MulRelin);
    let mut graph = Graph::new("one operation", scheme, params.log_n);
    // A rescaled input has the scale of a product, or rescaling would leave noise only.
    let rescaled_ckks = operation == Operation::Rescale && scheme == Scheme::Ckks;
    let scale_bits = rescaled_ckks.then_some(2.0 * params.scale_bits);
    let names: &[&str] = if binary { &["x", "y"] } else { &["x"] };
    let mut nodes = Vec::new();
    for (index, name) in names.iter().enumerate() {
        graph.inputs.push((*name).to_owned());
        let op = HeOp::Input {
            input: index as u32,
            scale_bits,
        };
        nodes.push(graph.push(op, Span::default()));
    }
    let ct = nodes[0];
    let ops = match operation {
        Operation::Add => vec![HeOp::Add { a: ct, b: nodes[1] }],
        Operation::MulRelin => vec![HeOp::Mul { a: ct, b: nodes[1] }],
        Operation::Rotate => vec![HeOp::Rotate { ct, steps: 1 }],
        Operation::Hoisted => (1..=HOISTED as i64)
            .map(|steps| HeOp::Rotate { ct, steps })
            .collect(),
        Operation::Rescale => vec![HeOp::Rescale { ct }],
        Operation::MulPlain => {
            graph.plains.push(PlainOperand {
                name: "w".to_owned(),
                values: Some(y.clone()),
                scale_bits: None,
            });
            vec![HeOp::MulPlain { ct, plain: 0 }]
        }
    };
    for (index, op) in ops.into_iter().enumerate() {
        let ct = graph.push(op, Span::default());
        graph.outputs.push(format!("y{index}"));
        let output = index as u32;
        graph.push(HeOp::Output { ct, output }, Span::default());
    }
    let result = |i: usize| match operation {
        Operation::Add => x[i] + y[i],
        Operation::MulRelin | Operation::MulPlain => x[i] * y[i],
        Operation::Rotate => x[i + 1],
        Operation::Hoisted => x[i + HOISTED],
        Operation::Rescale => x[i],
    };
    let expected = (0..8).map(result).collect();
    Single {
        graph: Arc::new(graph),
        inputs: if binary { vec![x, y] } else { vec![x] },
        expected,
    }
}
