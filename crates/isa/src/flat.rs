//! The flat view of a limb program: every instruction of every call.

use crate::error::IsaError;
use crate::op::Op;
use crate::program::{InputDecl, LimbProgram};

/// No operand.
pub const NONE: u32 = u32::MAX;

/// Every instruction of a limb program without compound list operations, as
/// parallel arrays. Instruction i defines the value `inputs.len() + i`; its
/// index is its priority (lower is earlier). 28 bytes an instruction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlatProgram {
    /// log2 of N, the words of a value.
    pub log_n: u32,
    /// log2 of the number of values that a limb consists of.
    pub log_parts: u32,
    /// 32 or 64.
    pub word_bits: u32,
    /// The primes.
    pub moduli: Vec<u64>,
    /// Constants that `ADDC`, `MULC` and `SUBMULC` index.
    pub constants: Vec<u64>,
    /// Values `0..inputs.len()`.
    pub inputs: Vec<InputDecl>,
    /// Operation of every instruction.
    pub op: Vec<Op>,
    /// Index of the destination's prime.
    pub modulus: Vec<u16>,
    /// Sources, [`NONE`] where there is none.
    pub src: Vec<[u32; 3]>,
    /// Constant index or automorphism ([`crate::part::automorphism`]).
    pub imm: Vec<u32>,
    /// Index of the call that the instruction belongs to.
    pub call: Vec<u32>,
    /// Output limb k of the program (its position in [`LimbProgram::outputs`]) is value `outputs[k]`.
    pub outputs: Vec<u32>,
}

impl FlatProgram {
    /// Expands the calls of `program`.
    ///
    /// # Errors
    /// [`IsaError::Invalid`] if a procedure holds `DOT` or `BCONV`: legalize first.
    pub fn new(program: &LimbProgram) -> Result<Self, IsaError> {
        let count = usize::try_from(program.instruction_count()).expect("fits memory");
        let mut flat = FlatProgram {
            log_n: program.log_n,
            log_parts: program.log_parts,
            word_bits: program.word_bits,
            moduli: program.moduli.clone(),
            constants: program.constants.clone(),
            inputs: program.inputs.clone(),
            op: Vec::with_capacity(count),
            modulus: Vec::with_capacity(count),
            src: Vec::with_capacity(count),
            imm: Vec::with_capacity(count),
            call: Vec::with_capacity(count),
            outputs: Vec::with_capacity(program.outputs.len()),
        };
        let mut flat_of_global: Vec<u32> = (0..program.inputs.len() as u32).collect();
        flat_of_global.reserve(program.global_count());
        for index in 0..program.calls.len() {
            flat.expand_call(program, index, &mut flat_of_global)?;
        }
        flat.outputs = program
            .outputs
            .iter()
            .map(|o| flat_of_global[o.value as usize])
            .collect();
        Ok(flat)
    }

    fn expand_call(
        &mut self,
        program: &LimbProgram,
        index: usize,
        flat_of_global: &mut Vec<u32>,
    ) -> Result<(), IsaError> {
        let call = &program.calls[index];
        let procedure = &program.procedures[call.procedure as usize];
        let args = program.call_args(call);
        let base = self.value_count() as u32;
        let local = |v: u32| match args.get(v as usize) {
            Some(&global) => flat_of_global[global as usize],
            None => base + v - procedure.params,
        };
        for inst in &procedure.insts {
            let sources = inst.op.field_sources();
            if sources == 0 {
                return Err(IsaError::Invalid {
                    place: format!("procedure {}", procedure.name),
                    why: format!("{} must be legalized before the flat view", inst.op),
                });
            }
            let fields = [inst.a, inst.b, inst.c];
            self.op.push(inst.op);
            self.modulus.push(inst.modulus);
            self.src.push(std::array::from_fn(|k| {
                if k < sources { local(fields[k]) } else { NONE }
            }));
            self.imm.push(inst.imm);
            self.call.push(index as u32);
        }
        let results: Vec<u32> = procedure.results.iter().map(|&v| local(v)).collect();
        flat_of_global.extend(results);
        Ok(())
    }

    /// Number of instructions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.op.len()
    }

    /// Whether there is no instruction.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.op.is_empty()
    }

    /// Number of values: inputs and instructions.
    #[must_use]
    pub fn value_count(&self) -> usize {
        self.inputs.len() + self.op.len()
    }

    /// The value that instruction `inst` defines.
    #[must_use]
    pub fn result(&self, inst: usize) -> u32 {
        (self.inputs.len() + inst) as u32
    }

    /// The instruction that defines a value, or `None` for an input.
    #[must_use]
    pub fn definition(&self, value: u32) -> Option<usize> {
        (value as usize).checked_sub(self.inputs.len())
    }

    /// The sources of an instruction.
    pub fn sources(&self, inst: usize) -> impl Iterator<Item = u32> + '_ {
        self.src[inst].iter().copied().filter(|&s| s != NONE)
    }

    /// The constant of an instruction, 0 where it has none.
    #[must_use]
    pub fn constant(&self, inst: usize) -> u64 {
        if self.op[inst].has_constant() {
            self.constants[self.imm[inst] as usize]
        } else {
            0
        }
    }
}
