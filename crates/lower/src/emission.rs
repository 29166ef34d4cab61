//! Emission: a procedure per operation, level and variant, a call per operation.

use std::collections::HashMap;

use cyclotron_isa::{LimbType, ProgramBuilder, Source};
use cyclotron_program::{Graph, NoiseReport, PlacedGraph, PlacedNode, PlacedOp};
use cyclotron_schemes::emit::{
    Ct, EmitContext, add, add_constant, add_plain, automorphism, ciphertext_params, decompose,
    flatten, hint_limbs, hoisted_automorphism, mul_constant, mul_plain, neg, plain_params,
    relinearize, rescale, sub, sub_plain, tensor,
};
use cyclotron_schemes::{KeySpec, KeyVariant, Parameters};

use crate::explain::ExplainRow;
use crate::lowered::{InputUse, Lowered, OutputUse, PlainUse};
use crate::naming::{
    decomposition_name, encoding_bits, encoding_of, hoisted_name, key_spec, procedure_name,
};

pub(crate) struct Emission<'a> {
    graph: &'a Graph,
    placed: &'a PlacedGraph,
    ctx: EmitContext,
    builder: ProgramBuilder,
    /// Global values of every placed node, `[part][limb]`.
    values: Vec<Ct>,
    /// Digits of the ciphertexts that several automorphisms share, once emitted.
    digits: HashMap<(u32, KeyVariant), Vec<u32>>,
    keys: Vec<KeySpec>,
    inputs: Vec<Option<InputUse>>,
    plains: Vec<PlainUse>,
    plain_index: HashMap<(u32, u64), u32>,
    outputs: Vec<Option<OutputUse>>,
}

impl<'a> Emission<'a> {
    pub(crate) fn new(
        graph: &'a Graph,
        placed: &'a PlacedGraph,
        params: &Parameters,
        word_bits: u32,
    ) -> Self {
        let ctx = EmitContext::new(params);
        let builder = ProgramBuilder::new(&graph.name, graph.log_n, word_bits, &ctx.extended);
        let mut emission = Self {
            graph,
            placed,
            ctx,
            builder,
            values: vec![Vec::new(); placed.nodes.len()],
            digits: HashMap::new(),
            keys: Vec::new(),
            inputs: vec![None; graph.inputs.len()],
            plains: Vec::new(),
            plain_index: HashMap::new(),
            outputs: vec![None; graph.outputs.len()],
        };
        for name in &graph.inputs {
            emission.builder.ciphertext(name);
        }
        for name in &graph.outputs {
            emission.builder.output_named(name);
        }
        emission.declare_plains();
        emission
    }

    /// Every encoding that the program reads, at the highest level that reads it.
    fn declare_plains(&mut self) {
        for node in &self.placed.nodes {
            let Some((plain, encoding)) = encoding_of(node) else {
                continue;
            };
            let key = (plain, encoding_bits(encoding));
            if let Some(&index) = self.plain_index.get(&key) {
                let used = &mut self.plains[index as usize];
                used.level = used.level.max(node.level);
                continue;
            }
            let index = self.builder.plain(&self.graph.plains[plain as usize].name);
            self.plain_index.insert(key, index);
            self.plains.push(PlainUse {
                plain,
                level: node.level,
                encoding,
            });
        }
    }

    /// Emits one operation; returns the number of limb instructions it executes.
    /// `hoisted`: an automorphism that shares its operand's decomposition.
    pub(crate) fn node(&mut self, index: u32, variant: Option<KeyVariant>, hoisted: bool) -> u64 {
        let node = self.placed.nodes[index as usize];
        let level = node.level;
        let ct = |this: &Self, i: u32| this.values[i as usize].clone();
        match node.op {
            PlacedOp::Input { input } => {
                let value = self.input(input, &node);
                self.values[index as usize] = value;
                0
            }
            PlacedOp::Drop { ct: from } => {
                let parts = ct(self, from).into_iter();
                self.values[index as usize] = parts.map(|part| part[..level].to_vec()).collect();
                0
            }
            PlacedOp::Output { ct: from, output } => {
                let value = ct(self, from);
                self.output(output, &node, &value, index);
                0
            }
            PlacedOp::Automorphism { ct: from, k } if hoisted => {
                let variant = variant.unwrap_or(KeyVariant::Hybrid);
                self.hoisted(index, (from, k), level, variant)
            }
            op => self.call(index, op, &node, variant),
        }
    }

    fn input(&mut self, input: u32, node: &PlacedNode) -> Ct {
        let name = &self.graph.inputs[input as usize];
        self.inputs[input as usize] = Some(InputUse {
            name: name.clone(),
            level: node.level,
            scale: node.scale,
        });
        let mut limb = |poly: u8, limb: u16| {
            let source = Source::Ciphertext { input, poly, limb };
            self.builder.input(source, LimbType::eval(limb))
        };
        (0..2)
            .map(|p| (0..node.level).map(|l| limb(p, l as u16)).collect())
            .collect()
    }

    fn output(&mut self, output: u32, node: &PlacedNode, value: &Ct, placed: u32) {
        let name = &self.graph.outputs[output as usize];
        self.outputs[output as usize] = Some(OutputUse {
            name: name.clone(),
            level: node.level,
            scale: node.scale,
            factor: node.factor,
            node: placed,
        });
        for (poly, part) in value.iter().enumerate() {
            for (limb, &v) in part.iter().enumerate() {
                self.builder.output(output, poly as u8, limb as u16, v);
            }
        }
    }

    fn plain(&mut self, node: &PlacedNode) -> Vec<u32> {
        let (plain, encoding) = encoding_of(node).expect("has a plain operand");
        let operand = self.plain_index[&(plain, encoding_bits(encoding))];
        let limbs = 0..node.level as u16;
        limbs
            .map(|limb| {
                self.builder
                    .input(Source::Plain { operand, limb }, LimbType::eval(limb))
            })
            .collect()
    }

    fn hints(&mut self, spec: KeySpec, level: usize) -> Vec<u32> {
        let key = self.builder.key(&spec.to_string());
        if key as usize == self.keys.len() {
            self.keys.push(spec);
        }
        let limbs = hint_limbs(&self.ctx, spec.variant, level).into_iter();
        limbs
            .map(|h| {
                let source = Source::Hint {
                    key,
                    digit: h.digit,
                    poly: h.poly,
                    limb: h.limb,
                };
                self.builder.input(source, LimbType::eval(h.limb))
            })
            .collect()
    }

    /// Declares (once) and calls the procedure of an operation.
    fn call(
        &mut self,
        index: u32,
        op: PlacedOp,
        node: &PlacedNode,
        variant: Option<KeyVariant>,
    ) -> u64 {
        let (args, arity) = op.args();
        let same = arity == 2 && args[0] == args[1];
        let operands = if same { &args[..1] } else { &args[..arity] };
        let shapes: Vec<(usize, usize)> = operands
            .iter()
            .map(|&a| {
                (
                    self.values[a as usize].len(),
                    self.values[a as usize][0].len(),
                )
            })
            .collect();
        let name = procedure_name(op, same, &shapes, variant);
        let ctx = &self.ctx;
        let procedure = self.builder.procedure(&name, |b| {
            let cts: Vec<Ct> = shapes
                .iter()
                .map(|&(parts, level)| ciphertext_params(b, level, parts))
                .collect();
            let (x, y) = (&cts[0], cts.last().expect("an operand"));
            let variant = variant.unwrap_or(KeyVariant::Hybrid);
            flatten(&match op {
                PlacedOp::Add { .. } => add(b, x, y),
                PlacedOp::Sub { .. } => sub(b, x, y),
                PlacedOp::Neg { .. } => neg(b, x),
                PlacedOp::Tensor { .. } => tensor(b, x, y),
                PlacedOp::Relinearize { .. } => relinearize(ctx, b, variant, x),
                PlacedOp::Automorphism { k, .. } => automorphism(ctx, b, variant, x, k),
                PlacedOp::AddPlain { negate, .. } => {
                    let plain = plain_params(b, x[0].len());
                    if negate {
                        sub_plain(b, x, &plain)
                    } else {
                        add_plain(b, x, &plain)
                    }
                }
                PlacedOp::MulPlain { .. } => {
                    let plain = plain_params(b, x[0].len());
                    mul_plain(b, x, &plain)
                }
                PlacedOp::AddConst { value, .. } => add_constant(ctx, b, x, value),
                PlacedOp::MulConst { value, .. } => mul_constant(ctx, b, x, value),
                PlacedOp::Rescale { .. } => rescale(ctx, b, x),
                PlacedOp::Input { .. } | PlacedOp::Drop { .. } | PlacedOp::Output { .. } => {
                    Vec::new()
                }
            })
        });
        let mut arguments: Vec<u32> = operands
            .iter()
            .flat_map(|&a| flatten(&self.values[a as usize]))
            .collect();
        match op {
            PlacedOp::AddPlain { .. } | PlacedOp::MulPlain { .. } => {
                arguments.extend(self.plain(node))
            }
            PlacedOp::Relinearize { .. } | PlacedOp::Automorphism { .. } => {
                arguments.extend(self.hints(key_spec(op, variant), node.level));
            }
            _ => {}
        }
        self.invoke(procedure, &arguments, index, node.level)
    }

    /// Calls a procedure, whose results are the ciphertext of node `index`; returns
    /// the number of limb instructions it executes.
    fn invoke(&mut self, procedure: u32, arguments: &[u32], index: u32, level: usize) -> u64 {
        let results = self.builder.call(procedure, arguments, index);
        self.values[index as usize] = results.chunks(level).map(<[u32]>::to_vec).collect();
        self.builder.procedure_len(procedure) as u64
    }

    /// Calls the hoisted automorphism `k` of a ciphertext, which the first of them
    /// has decomposed.
    fn hoisted(
        &mut self,
        index: u32,
        (from, k): (u32, u32),
        level: usize,
        variant: KeyVariant,
    ) -> u64 {
        let ctx = &self.ctx;
        let ct = self.values[from as usize].clone();
        let mut count = 0;
        let shared = (from, variant);
        if !self.digits.contains_key(&shared) {
            let name = decomposition_name(level, variant);
            let decomposition = self.builder.procedure(&name, |b| {
                let c1 = plain_params(b, level);
                decompose(ctx, b, variant, &c1)
            });
            let digits = self.builder.call(decomposition, &ct[1], index);
            self.digits.insert(shared, digits);
            count += self.builder.procedure_len(decomposition) as u64;
        }
        let op = PlacedOp::Automorphism { ct: from, k };
        let name = procedure_name(op, false, &[(2, level)], Some(variant));
        let procedure = self.builder.procedure(&hoisted_name(&name), |b| {
            let x = ciphertext_params(b, level, 2);
            flatten(&hoisted_automorphism(ctx, b, variant, &x, k))
        });
        let mut arguments = flatten(&ct);
        arguments.extend(&self.digits[&shared]);
        arguments.extend(self.hints(key_spec(op, Some(variant)), level));
        count + self.invoke(procedure, &arguments, index, level)
    }

    pub(crate) fn finish(
        self,
        placed: PlacedGraph,
        noise: NoiseReport,
        explain: Vec<ExplainRow>,
    ) -> Lowered {
        Lowered {
            program: self.builder.finish(),
            placed,
            noise,
            keys: self.keys,
            inputs: self.inputs.into_iter().flatten().collect(),
            plains: self.plains,
            outputs: self.outputs.into_iter().flatten().collect(),
            explain,
        }
    }
}
