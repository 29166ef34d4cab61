//! Builders of procedures and programs. Emitters of homomorphic operations
//! write into a [`ProcedureBuilder`]; phase 1 puts calls into a [`ProgramBuilder`].

use std::collections::HashMap;

use crate::limb::{Domain, LimbType};
use crate::op::Op;
use crate::procedure::{Inst, Procedure};
use crate::program::{Call, InputDecl, KeyDecl, LimbProgram, OutputDecl, Source};

/// Interns constants, so that a program stores each once.
#[derive(Debug, Default)]
struct ConstantTable {
    values: Vec<u64>,
    index: HashMap<u64, u32>,
}

impl ConstantTable {
    fn intern(&mut self, value: u64) -> u32 {
        *self.index.entry(value).or_insert_with(|| {
            self.values.push(value);
            u32::try_from(self.values.len() - 1).expect("fewer than 2^32 constants")
        })
    }

    fn append(&mut self, values: &[u64]) -> u32 {
        let at = u32::try_from(self.values.len()).expect("fewer than 2^32 constants");
        self.values.extend_from_slice(values);
        at
    }
}

/// Emits one procedure. Values are local numbers.
#[derive(Debug)]
pub struct ProcedureBuilder<'a> {
    constants: &'a mut ConstantTable,
    procedure: Procedure,
}

impl ProcedureBuilder<'_> {
    /// Adds a parameter. All parameters come before the first instruction.
    ///
    /// # Panics
    /// If an instruction was emitted before.
    pub fn param(&mut self, ty: LimbType) -> u32 {
        assert!(self.procedure.insts.is_empty(), "parameters come first");
        self.procedure.params += 1;
        self.define(ty)
    }

    /// The type of a local value.
    #[must_use]
    pub fn ty(&self, value: u32) -> LimbType {
        self.procedure.types[value as usize]
    }

    /// Coefficient to evaluation domain, modulo the prime `modulus`.
    pub fn ntt(&mut self, modulus: u16, a: u32) -> u32 {
        self.procedure
            .emit(Op::Ntt, LimbType::eval(modulus), [a, 0, 0], 0)
    }

    /// Evaluation to coefficient domain.
    pub fn intt(&mut self, a: u32) -> u32 {
        self.procedure
            .emit(Op::Intt, LimbType::coeff(self.ty(a).modulus), [a, 0, 0], 0)
    }

    /// `a + b`.
    pub fn add(&mut self, a: u32, b: u32) -> u32 {
        self.procedure.emit(Op::Add, self.ty(a), [a, b, 0], 0)
    }

    /// `a - b`.
    pub fn sub(&mut self, a: u32, b: u32) -> u32 {
        self.procedure.emit(Op::Sub, self.ty(a), [a, b, 0], 0)
    }

    /// `-a`.
    pub fn neg(&mut self, a: u32) -> u32 {
        self.procedure.emit(Op::Neg, self.ty(a), [a, 0, 0], 0)
    }

    /// `a * b` modulo the prime `modulus`, in the domain of `a`.
    pub fn mul(&mut self, modulus: u16, a: u32, b: u32) -> u32 {
        let ty = LimbType {
            modulus,
            domain: self.ty(a).domain,
        };
        self.procedure.emit(Op::Mul, ty, [a, b, 0], 0)
    }

    /// `a + c`, c in `[0, q)`.
    pub fn add_c(&mut self, a: u32, c: u64) -> u32 {
        let imm = self.constants.intern(c);
        self.procedure.emit(Op::AddC, self.ty(a), [a, 0, 0], imm)
    }

    /// `a * c` modulo the prime `modulus`, c in `[0, q)`, in the domain of `a`.
    pub fn mul_c(&mut self, modulus: u16, a: u32, c: u64) -> u32 {
        let imm = self.constants.intern(c);
        let ty = LimbType {
            modulus,
            domain: self.ty(a).domain,
        };
        self.procedure.emit(Op::MulC, ty, [a, 0, 0], imm)
    }

    /// The automorphism x -> x^k, k odd, in the domain of `a`.
    pub fn aut(&mut self, a: u32, k: u32) -> u32 {
        let op = match self.ty(a).domain {
            Domain::Eval => Op::AutEval,
            Domain::Coeff => Op::AutCoeff,
        };
        self.procedure.emit(op, self.ty(a), [a, 0, 0], k)
    }

    /// `acc + a * b`, modulo the prime of `acc`.
    pub fn mac(&mut self, acc: u32, a: u32, b: u32) -> u32 {
        self.procedure.emit(Op::Mac, self.ty(acc), [acc, a, b], 0)
    }

    /// `(a - b) * c`, c in `[0, q)`.
    pub fn sub_mul_c(&mut self, a: u32, b: u32, c: u64) -> u32 {
        let imm = self.constants.intern(c);
        self.procedure.emit(Op::SubMulC, self.ty(a), [a, b, 0], imm)
    }

    /// The inner product of `pairs` modulo the prime `modulus`, in the domain of the first operand.
    ///
    /// # Panics
    /// If there is no pair.
    pub fn dot(&mut self, modulus: u16, pairs: &[(u32, u32)]) -> u32 {
        let ty = LimbType {
            modulus,
            domain: self.ty(pairs[0].0).domain,
        };
        let at = self.procedure.operands.len() as u32;
        self.procedure
            .operands
            .extend(pairs.iter().flat_map(|&(a, b)| [a, b]));
        self.procedure
            .emit(Op::Dot, ty, [at, pairs.len() as u32, 0], 0)
    }

    /// Base conversion of limbs in coefficient domain: `dst_j = sum_i src_i matrix[i][j] mod p_j`.
    /// `matrix` is row-major by source. Returns the destinations.
    ///
    /// # Panics
    /// If the matrix has another size than sources times destinations, or is empty.
    pub fn bconv(&mut self, dst_moduli: &[u16], srcs: &[u32], matrix: &[u64]) -> Vec<u32> {
        assert_eq!(
            matrix.len(),
            srcs.len() * dst_moduli.len(),
            "matrix is sources x destinations"
        );
        assert!(!matrix.is_empty(), "base conversion needs limbs");
        let imm = self.constants.append(matrix);
        let at = self.procedure.operands.len() as u32;
        self.procedure.operands.extend_from_slice(srcs);
        self.procedure
            .operands
            .extend(dst_moduli.iter().map(|&m| u32::from(m)));
        let domain = self.ty(srcs[0]).domain;
        let types: Vec<_> = dst_moduli
            .iter()
            .map(|&modulus| LimbType { modulus, domain })
            .collect();
        let dst = self.procedure.types.len() as u32;
        self.procedure.insts.push(Inst {
            op: Op::BConv,
            modulus: dst_moduli[0],
            dst,
            a: at,
            b: srcs.len() as u32,
            c: dst_moduli.len() as u32,
            imm,
        });
        types.into_iter().map(|ty| self.define(ty)).collect()
    }

    fn define(&mut self, ty: LimbType) -> u32 {
        self.procedure.types.push(ty);
        self.procedure.types.len() as u32 - 1
    }
}

/// Builds a limb program.
#[derive(Debug)]
pub struct ProgramBuilder {
    program: LimbProgram,
    constants: ConstantTable,
    procedures: HashMap<String, u32>,
    inputs: HashMap<Source, u32>,
    keys: HashMap<String, u32>,
    /// Inputs are declared on first use; calls are numbered once all are known.
    calls: Vec<PendingCall>,
    results: u32,
}

#[derive(Debug)]
struct PendingCall {
    procedure: u32,
    args: Vec<u32>,
    node: u32,
}

/// While building, results carry this bit, so that inputs may still be added.
const RESULT: u32 = 1 << 31;

impl ProgramBuilder {
    /// An empty program over the given primes.
    #[must_use]
    pub fn new(name: &str, log_n: u32, word_bits: u32, moduli: &[u64]) -> Self {
        Self {
            program: LimbProgram {
                name: name.to_owned(),
                log_n,
                word_bits,
                moduli: moduli.to_vec(),
                ..LimbProgram::default()
            },
            constants: ConstantTable::default(),
            procedures: HashMap::new(),
            inputs: HashMap::new(),
            keys: HashMap::new(),
            calls: Vec::new(),
            results: 0,
        }
    }

    /// Declares an encrypted input; returns its index for [`Source::Ciphertext`].
    pub fn ciphertext(&mut self, name: &str) -> u32 {
        self.program.ciphertexts.push(name.to_owned());
        self.program.ciphertexts.len() as u32 - 1
    }

    /// Declares a plaintext operand; returns its index for [`Source::Plain`].
    pub fn plain(&mut self, name: &str) -> u32 {
        self.program.plains.push(name.to_owned());
        self.program.plains.len() as u32 - 1
    }

    /// The index of a key, declared on first use.
    pub fn key(&mut self, name: &str) -> u32 {
        if let Some(&key) = self.keys.get(name) {
            return key;
        }
        let key = self.program.keys.len() as u32;
        self.program.keys.push(KeyDecl {
            name: name.to_owned(),
        });
        self.keys.insert(name.to_owned(), key);
        key
    }

    /// The value of an input limb, declared on first use.
    pub fn input(&mut self, source: Source, ty: LimbType) -> u32 {
        *self.inputs.entry(source).or_insert_with(|| {
            self.program.inputs.push(InputDecl {
                source,
                ty,
                part: 0,
            });
            self.program.inputs.len() as u32 - 1
        })
    }

    /// The index of the procedure with this name, emitted by `emit` on first
    /// use; `emit` returns the results.
    pub fn procedure(
        &mut self,
        name: &str,
        emit: impl FnOnce(&mut ProcedureBuilder<'_>) -> Vec<u32>,
    ) -> u32 {
        if let Some(&index) = self.procedures.get(name) {
            return index;
        }
        let procedure = Procedure {
            name: name.to_owned(),
            ..Procedure::default()
        };
        let mut builder = ProcedureBuilder {
            constants: &mut self.constants,
            procedure,
        };
        let results = emit(&mut builder);
        let mut procedure = builder.procedure;
        procedure.results = results;
        let index = self.program.procedures.len() as u32;
        self.program.procedures.push(procedure);
        self.procedures.insert(name.to_owned(), index);
        index
    }

    /// Number of instructions of a procedure.
    #[must_use]
    pub fn procedure_len(&self, procedure: u32) -> usize {
        self.program.procedures[procedure as usize].insts.len()
    }

    /// Calls a procedure; returns the values of its results.
    ///
    /// # Panics
    /// If the number of arguments is not the number of parameters.
    pub fn call(&mut self, procedure: u32, args: &[u32], node: u32) -> Vec<u32> {
        let callee = &self.program.procedures[procedure as usize];
        assert_eq!(
            callee.params as usize,
            args.len(),
            "arguments of {}",
            callee.name
        );
        let count = callee.results.len() as u32;
        self.calls.push(PendingCall {
            procedure,
            args: args.to_vec(),
            node,
        });
        let first = self.results;
        self.results += count;
        (first..first + count).map(|r| r | RESULT).collect()
    }

    /// Declares an output; returns its index for [`Self::output`].
    pub fn output_named(&mut self, name: &str) -> u32 {
        self.program.outputs_named.push(name.to_owned());
        self.program.outputs_named.len() as u32 - 1
    }

    /// Declares an output limb.
    pub fn output(&mut self, output: u32, poly: u8, limb: u16, value: u32) {
        self.program.outputs.push(OutputDecl {
            output,
            poly,
            limb,
            part: 0,
            value,
        });
    }

    /// The finished program.
    #[must_use]
    pub fn finish(mut self) -> LimbProgram {
        let inputs = self.program.inputs.len() as u32;
        let number = |v: u32| {
            if v & RESULT == 0 {
                v
            } else {
                inputs + (v & !RESULT)
            }
        };
        let mut first_result = inputs;
        for call in &self.calls {
            let args = self.program.args.len() as u32;
            self.program
                .args
                .extend(call.args.iter().map(|&v| number(v)));
            let procedure = call.procedure;
            self.program.calls.push(Call {
                procedure,
                args,
                first_result,
                node: call.node,
            });
            first_result += self.program.procedures[procedure as usize].results.len() as u32;
        }
        for output in &mut self.program.outputs {
            output.value = number(output.value);
        }
        self.program.constants = self.constants.values;
        self.program
    }
}
