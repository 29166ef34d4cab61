//! A program as drivers of peers take it: every operation with its level and
//! scale. `benches/README.md` describes the format.

use cyclotron_lower::{Target, lower};
use cyclotron_program::{Graph, PlacedNode, PlacedOp, PlainScale};
use cyclotron_schemes::{Parameters, Scheme};
use serde_json::{Value, json};

use crate::error::DriverError;

/// The operations of a program; values of inputs and of outputs are left out.
pub(crate) fn of(
    graph: &Graph,
    params: &Parameters,
    precision_bits: f64,
) -> Result<Value, DriverError> {
    let lowered = lower(
        graph,
        params,
        &Target::cpu(params.word_bits),
        precision_bits,
    )?;
    let steps = Steps::new(params);
    let nodes: Vec<Value> = lowered
        .placed
        .nodes
        .iter()
        .map(|n| node(n, &steps))
        .collect();
    let named = |names: &[String]| -> Vec<Value> {
        names.iter().map(|name| json!({ "name": name })).collect()
    };
    let plains = graph
        .plains
        .iter()
        .map(|plain| json!({ "values": plain.values }));
    Ok(json!({
        "parameters": {
            "scheme": params.scheme.name(),
            "log_n": params.log_n,
            "moduli": params.moduli,
            "special_moduli": params.special,
            "digit_limbs": params.digit_limbs,
            "scale_bits": params.scale_bits,
            "plaintext_modulus": params.plaintext_modulus,
        },
        "inputs": named(&graph.inputs),
        "plains": plains.collect::<Vec<_>>(),
        "nodes": nodes,
        "outputs": named(&graph.outputs),
    }))
}

/// Rotation steps by exponent.
struct Steps {
    two_n: u64,
    order: u64,
}

impl Steps {
    fn new(params: &Parameters) -> Self {
        let two_n = 2 * params.n() as u64;
        let order = match params.scheme {
            Scheme::Ckks => two_n / 4,
            Scheme::Bgv => (params.slots() as u64 / 2).max(1),
        };
        Self { two_n, order }
    }

    /// Steps to the left, if the automorphism x -> x^k is a rotation.
    fn of(&self, k: u32) -> Option<u64> {
        let mut power = 1;
        (0..self.order).find(|_| {
            let found = power == u64::from(k);
            power = power * 5 % self.two_n;
            found
        })
    }
}

fn node(node: &PlacedNode, steps: &Steps) -> Value {
    let (args, count) = node.op.args();
    let mut value = json!({
        "op": node.op.name(),
        "args": args[..count],
        "level": node.level,
        "scale_bits": node.scale.log2(),
    });
    match node.op {
        PlacedOp::Input { input } => value["input"] = input.into(),
        PlacedOp::AddPlain { plain, negate, .. } => {
            value["plain"] = plain.into();
            value["negate"] = negate.into();
        }
        PlacedOp::MulPlain { plain, scale, .. } => {
            value["plain"] = plain.into();
            match scale {
                PlainScale::Scale(scale) => value["plain_scale_bits"] = scale.log2().into(),
                PlainScale::Factor(factor) => value["plain_factor"] = factor.into(),
            }
        }
        PlacedOp::AddConst { value: v, .. } | PlacedOp::MulConst { value: v, .. } => {
            value["value"] = v.into();
        }
        PlacedOp::Automorphism { k, .. } => {
            value["exponent"] = k.into();
            value["steps"] = steps.of(k).into();
        }
        PlacedOp::Output { output, .. } => value["output"] = output.into(),
        _ => {}
    }
    value
}

#[cfg(test)]
mod tests {
    use super::Steps;

    #[test]
    fn exponents_become_steps() {
        let steps = Steps {
            two_n: 64,
            order: 16,
        };
        assert_eq!(steps.of(1), Some(0));
        assert_eq!(steps.of(25), Some(2));
        assert_eq!(steps.of(63), None);
    }
}
