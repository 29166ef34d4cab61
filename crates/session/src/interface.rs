//! What goes into a limb program and comes out of it, besides limbs.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use cyclotron_isa::LimbProgram;
use cyclotron_lower::{InputUse, OutputUse, PlainEncoding, PlainUse};
use cyclotron_program::{Graph, input_margin};
use cyclotron_ring::LimbBuf;
use cyclotron_schemes::{Ciphertext, ClientWord, Context, KeySpec, PlainOperand};

use crate::encryption::check_limit;
use crate::error::SessionError;
use crate::operands::EncodedOperands;
use crate::values::Values;

/// The correction factor that inputs are encrypted with (BGV).
pub(crate) const FRESH_FACTOR: u64 = 1;

/// How the inputs, operands and outputs of a limb program are encoded, and the
/// HE program with the operands' values. Limb programs that differ only in
/// their instructions (a lowered one and its legalized form) share it.
#[derive(Debug, Clone)]
pub struct Interface {
    /// The HE program.
    pub graph: Arc<Graph>,
    /// Encrypted inputs, in the order of the limb program's `ciphertexts`.
    pub inputs: Vec<InputUse>,
    /// Plaintext operands, in the order of its `plains`.
    pub plains: Vec<PlainUse>,
    /// Outputs, in the order of its `outputs_named`.
    pub outputs: Vec<OutputUse>,
    /// Keys, in the order of its `keys`.
    pub keys: Vec<KeySpec>,
    /// Encodings of the constant operands, once somebody needed them.
    pub(crate) encoded: Arc<OnceLock<EncodedOperands>>,
}

impl Interface {
    /// Names of the plaintext operands that are given at run time.
    #[must_use]
    pub fn runtime_plains(&self) -> Vec<&str> {
        let runtime = self
            .graph
            .plains
            .iter()
            .filter(|plain| plain.values.is_none());
        let used = |name: &&str| {
            self.plains
                .iter()
                .any(|p| self.graph.plains[p.plain as usize].name == *name)
        };
        runtime
            .map(|plain| plain.name.as_str())
            .filter(used)
            .collect()
    }

    /// Whether a plaintext operand's values are part of the program.
    pub(crate) fn is_constant(&self, operand: usize) -> bool {
        self.graph.plains[self.plains[operand].plain as usize]
            .values
            .is_some()
    }

    /// The plaintext operands, those of run time with the values given.
    pub(crate) fn operands(
        &self,
        context: &Context,
        given: &BTreeMap<String, Values>,
    ) -> Result<Vec<PlainOperand>, SessionError> {
        check_names("plaintext input", &self.runtime_plains(), given.keys())?;
        let margin = input_margin(&self.graph);
        self.plains
            .iter()
            .map(|used| {
                let plain = &self.graph.plains[used.plain as usize];
                let constant = plain.values.clone().map(Values::Real);
                if let Some(values) = given.get(&plain.name) {
                    let measured = self.graph.measured_plains.get(used.plain as usize);
                    let limit = measured.map(|largest| largest * margin);
                    check_limit(&self.graph, &plain.name, values, limit)?;
                }
                let values = constant.as_ref().or_else(|| given.get(&plain.name));
                let values = values.ok_or_else(|| SessionError::MissingInput {
                    kind: "plaintext input",
                    name: plain.name.clone(),
                })?;
                operand(context, used, &plain.name, values)
            })
            .collect()
    }

    /// The plaintext operands, those of run time without values.
    pub(crate) fn constant_operands(
        &self,
        context: &Context,
    ) -> Result<Vec<PlainOperand>, SessionError> {
        self.plains
            .iter()
            .map(|used| {
                let plain = &self.graph.plains[used.plain as usize];
                let values = Values::Real(plain.values.clone().unwrap_or_default());
                operand(context, used, &plain.name, &values)
            })
            .collect()
    }

    /// The encrypted inputs in order; each must be what the program takes.
    pub(crate) fn ciphertexts(
        &self,
        given: &BTreeMap<String, Arc<Ciphertext>>,
    ) -> Result<Vec<Arc<Ciphertext>>, SessionError> {
        let known: Vec<&str> = self
            .inputs
            .iter()
            .map(|input| input.name.as_str())
            .collect();
        check_names("encrypted input", &known, given.keys())?;
        let ciphertext = |input: &InputUse| {
            let found = given
                .get(&input.name)
                .ok_or_else(|| SessionError::MissingInput {
                    kind: "encrypted input",
                    name: input.name.clone(),
                })?;
            let describe = |level, parts, scale: f64, factor| {
                let scale = scale.log2();
                format!("level {level}, {parts} parts, scale 2^{scale:.3}, factor {factor}")
            };
            let same_scale = (found.scale / input.scale - 1.0).abs() < 1e-9;
            let parts = found.polys.len();
            if found.level == input.level
                && parts == 2
                && same_scale
                && found.factor == FRESH_FACTOR
            {
                return Ok(Arc::clone(found));
            }
            Err(SessionError::WrongInput {
                name: input.name.clone(),
                found: describe(found.level, parts, found.scale, found.factor),
                expected: describe(input.level, 2, input.scale, FRESH_FACTOR),
            })
        };
        self.inputs.iter().map(ciphertext).collect()
    }

    /// The output ciphertexts from the program's output limbs.
    pub(crate) fn collect<W: ClientWord>(
        &self,
        context: &Context,
        program: &LimbProgram,
        limbs: Vec<LimbBuf<W>>,
        origin: Origin,
    ) -> Result<BTreeMap<String, Ciphertext>, SessionError> {
        let make = match origin {
            Origin::Program => Ciphertext::from_computed_limbs,
            Origin::Schedule => Ciphertext::from_limbs,
        };
        let mut polys = vec![Polys::<W>::new(); self.outputs.len()];
        for (declared, limb) in program.outputs.iter().zip(limbs) {
            let poly = polys[declared.output as usize]
                .entry(declared.poly)
                .or_default();
            let parts = poly.entry(declared.limb).or_default();
            parts.insert(declared.part, limb);
        }
        let ciphertext = |(output, polys): (&OutputUse, Polys<W>)| {
            let polys = polys
                .into_values()
                .map(|limbs| W::wrap(limbs.into_values().map(whole).collect()));
            let made = make(context, polys.collect(), output.scale, output.factor)?;
            Ok((output.name.clone(), made))
        };
        self.outputs.iter().zip(polys).map(ciphertext).collect()
    }
}

/// What computed the limbs of outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A verified program: its results are canonical.
    Program,
    /// A schedule, which may be wrong: its results may be anything.
    Schedule,
}

/// Parts of limbs, by polynomial, position and part.
type Polys<W> = BTreeMap<u8, BTreeMap<u16, BTreeMap<u16, LimbBuf<W>>>>;

/// A limb from its parts.
fn whole<W: ClientWord>(mut parts: BTreeMap<u16, LimbBuf<W>>) -> Arc<LimbBuf<W>> {
    Arc::new(match parts.len() {
        1 => parts.pop_first().map(|(_, limb)| limb).unwrap_or_default(),
        _ => parts
            .values()
            .flat_map(|limb| limb.iter().copied())
            .collect(),
    })
}

/// A plaintext operand as the program encodes it.
fn operand(
    context: &Context,
    used: &PlainUse,
    name: &str,
    values: &Values,
) -> Result<PlainOperand, SessionError> {
    let (scale, factor) = match used.encoding {
        PlainEncoding::Scale(scale) => (scale, 1),
        PlainEncoding::Factor(factor) => (1.0, factor),
    };
    let values = values.operand(context.params(), name)?;
    Ok(PlainOperand::new(values, used.level, scale, factor))
}

/// Every given name must be known.
pub(crate) fn check_names<'a>(
    kind: &'static str,
    known: &[&str],
    given: impl Iterator<Item = &'a String>,
) -> Result<(), SessionError> {
    for name in given {
        if !known.contains(&name.as_str()) {
            return Err(SessionError::UnknownName {
                kind,
                name: name.clone(),
                known: known.iter().map(|&name| name.to_owned()).collect(),
            });
        }
    }
    Ok(())
}
