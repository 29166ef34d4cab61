//! The verifier of HE programs.

use crate::error::ProgramError;
use crate::graph::{Graph, HeOp, Scheme};

impl Graph {
    /// Checks that the graph is well formed: operands before their use, tables
    /// in range, no result of an output used, operations that the scheme has,
    /// finite values that fit the slots.
    ///
    /// # Errors
    /// [`ProgramError::Invalid`] with the user's line.
    pub fn verify(&self) -> Result<(), ProgramError> {
        for (index, node) in self.nodes.iter().enumerate() {
            let index = u32::try_from(index).expect("fewer than 2^32 nodes");
            self.verify_node(index, node.op)
                .map_err(|why| ProgramError::Invalid {
                    place: self.place_of(index),
                    why,
                })?;
        }
        for plain in &self.plains {
            self.verify_plain(plain.values.as_deref().unwrap_or_default())
                .map_err(|why| ProgramError::Invalid {
                    place: format!("`{}`", plain.name),
                    why,
                })?;
        }
        self.verify_once("input", &self.inputs, |op| match op {
            HeOp::Input { input, .. } => Some(input),
            _ => None,
        })?;
        self.verify_once("output", &self.outputs, |op| match op {
            HeOp::Output { output, .. } => Some(output),
            _ => None,
        })?;
        if self.outputs.is_empty() {
            return Err(ProgramError::Invalid {
                place: format!("program {}", self.name),
                why: "it has no output; return or output at least one ciphertext".to_owned(),
            });
        }
        Ok(())
    }

    /// Every name of a table belongs to exactly one node.
    fn verify_once(
        &self,
        what: &str,
        names: &[String],
        index: impl Fn(HeOp) -> Option<u32>,
    ) -> Result<(), ProgramError> {
        let mut seen = vec![0; names.len()];
        for node in &self.nodes {
            if let Some(index) = index(node.op) {
                seen[index as usize] += 1;
            }
        }
        match seen.iter().position(|&count| count != 1) {
            None => Ok(()),
            Some(at) => Err(ProgramError::Invalid {
                place: format!("program {}", self.name),
                why: format!(
                    "{what} `{}` is declared {} times, not once",
                    names[at], seen[at]
                ),
            }),
        }
    }

    fn verify_node(&self, index: u32, op: HeOp) -> Result<(), String> {
        let (args, count) = op.args();
        for &arg in &args[..count] {
            if arg >= index {
                return Err(format!("operand {arg} is not defined before node {index}"));
            }
            if matches!(self.nodes[arg as usize].op, HeOp::Output { .. }) {
                return Err(format!("operand {arg} is an output and has no value"));
            }
        }
        let in_table = |what: &str, i: u32, count: usize| {
            if (i as usize) < count {
                Ok(())
            } else {
                Err(format!("{what} {i} of {count}"))
            }
        };
        match op {
            HeOp::Input { input, scale_bits } => {
                in_table("input", input, self.inputs.len())?;
                verify_scale(scale_bits)
            }
            HeOp::Output { output, .. } => in_table("output", output, self.outputs.len()),
            HeOp::AddScalar { value, .. } => self.verify_plain(&[value]),
            HeOp::MulScalar {
                value, scale_bits, ..
            } => {
                self.verify_plain(&[value])?;
                verify_scale(scale_bits)
            }
            HeOp::Conjugate { .. } if self.scheme != Scheme::Ckks => {
                Err("only CKKS has conjugation".to_owned())
            }
            _ => op
                .plain()
                .map_or(Ok(()), |p| in_table("plain operand", p, self.plains.len())),
        }
    }

    fn verify_plain(&self, values: &[f64]) -> Result<(), String> {
        if values.len() > self.slots() {
            return Err(format!(
                "{} values do not fit {} slots; use a larger N or split the vector",
                values.len(),
                self.slots()
            ));
        }
        let exact = matches!(self.scheme, Scheme::Bgv { .. });
        for (slot, value) in values.iter().enumerate() {
            if !value.is_finite() {
                return Err(format!(
                    "slot {slot} is {value}; every value must be finite"
                ));
            }
            if exact && (value.fract() != 0.0 || value.abs() > 9_007_199_254_740_992.0) {
                return Err(format!(
                    "slot {slot} is {value}; BGV needs whole numbers below 2^53"
                ));
            }
        }
        Ok(())
    }
}

fn verify_scale(bits: Option<f64>) -> Result<(), String> {
    match bits {
        Some(bits) if !(0.0..=120.0).contains(&bits) => {
            Err(format!("scale_bits is {bits}; use a number from 0 to 120"))
        }
        _ => Ok(()),
    }
}
