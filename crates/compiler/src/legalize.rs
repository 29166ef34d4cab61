//! Legalization: compound and missing operations become ones that the machine has.
//!
//! Values are exact residues, so every expansion gives the same limbs, bit for
//! bit. Only procedures change; the calls, inputs and outputs stay.
//!
//! | operation | becomes |
//! | --- | --- |
//! | `DOT` | `MUL`, then `MAC` for each further pair |
//! | `BCONV` | for each destination `MULC`, then `MULC` and `ADD` for each further source |
//! | `MAC acc, a, b` | `ADD acc, MUL a, b` |
//! | `SUBMULC a, b, c` | `MULC (SUB a, b), c` |
//! | `SUB a, b` | `ADD a, (NEG b)` |
//! | `NEG a` | `MULC a, q - 1` |
//!
//! `DOT` and `BCONV` are expanded on every machine, since the flat view has no
//! lists; the others only where the machine lacks them.

use std::collections::HashMap;

use cyclotron_isa::{Inst, InstView, LimbProgram, LimbType, Op, Procedure};

use crate::error::CompileError;

/// Expands every operation that `supported` rejects, and the list operations.
///
/// # Errors
/// [`CompileError::Unsupported`] with an empty machine name if an operation is
/// neither supported nor expressible by supported ones.
pub fn legalize(
    program: &LimbProgram,
    supported: impl Fn(Op) -> bool,
) -> Result<LimbProgram, CompileError> {
    let mut legal = program.clone();
    let mut constants = Constants {
        interned: HashMap::new(),
        values: std::mem::take(&mut legal.constants),
    };
    for (procedure, old) in legal.procedures.iter_mut().zip(&program.procedures) {
        let mut rewriter = Rewriter {
            supported: &supported,
            moduli: &program.moduli,
            constants: &mut constants,
            new: Procedure {
                name: old.name.clone(),
                params: old.params,
                types: old.types[..old.params as usize].to_vec(),
                ..Procedure::default()
            },
            renamed: (0..old.params).collect(),
        };
        for inst in &old.insts {
            rewriter.rewrite(old, inst)?;
        }
        rewriter.new.results = old.results.iter().map(|&v| rewriter.name(v)).collect();
        *procedure = rewriter.new;
    }
    legal.constants = constants.values;
    Ok(legal)
}

/// The program's constants, and where those lie that legalization added.
struct Constants {
    values: Vec<u64>,
    interned: HashMap<u64, u32>,
}

impl Constants {
    fn intern(&mut self, value: u64) -> u32 {
        *self.interned.entry(value).or_insert_with(|| {
            self.values.push(value);
            self.values.len() as u32 - 1
        })
    }
}

/// Rewrites one procedure.
struct Rewriter<'a, F> {
    supported: &'a F,
    moduli: &'a [u64],
    constants: &'a mut Constants,
    new: Procedure,
    /// New number of every old value.
    renamed: Vec<u32>,
}

impl<F: Fn(Op) -> bool> Rewriter<'_, F> {
    fn name(&self, old: u32) -> u32 {
        self.renamed[old as usize]
    }

    fn rewrite(&mut self, old: &Procedure, inst: &Inst) -> Result<(), CompileError> {
        let ty = old.types[inst.dst as usize];
        let mut fields = [0; 3];
        match old.view(inst, &mut fields) {
            InstView::Fields(sources) => {
                let mut renamed = [0; 3];
                for (new, &source) in renamed.iter_mut().zip(sources) {
                    *new = self.name(source);
                }
                let value = self.emit(inst.op, ty, renamed, inst.imm)?;
                self.renamed.push(value);
            }
            InstView::Pairs(pairs) => {
                let value = self.dot(ty, pairs)?;
                self.renamed.push(value);
            }
            InstView::Matrix { srcs, dst_moduli } => {
                for column in 0..dst_moduli.len() {
                    let ty = old.types[inst.dst as usize + column];
                    let first = inst.imm + column as u32;
                    let value = self.convert(ty, srcs, first, dst_moduli.len() as u32)?;
                    self.renamed.push(value);
                }
            }
        }
        Ok(())
    }

    /// The inner product of `pairs` as a chain.
    fn dot(&mut self, ty: LimbType, pairs: &[u32]) -> Result<u32, CompileError> {
        let mut sum = None;
        for pair in pairs.chunks_exact(2) {
            let (a, b) = (self.name(pair[0]), self.name(pair[1]));
            sum = Some(match sum {
                None => self.emit(Op::Mul, ty, [a, b, 0], 0)?,
                Some(acc) => self.emit(Op::Mac, ty, [acc, a, b], 0)?,
            });
        }
        Ok(sum.expect("an inner product has at least one pair"))
    }

    /// One destination of a base conversion; its column of the matrix starts at
    /// constant `first` and has one entry every `stride`.
    fn convert(
        &mut self,
        ty: LimbType,
        srcs: &[u32],
        first: u32,
        stride: u32,
    ) -> Result<u32, CompileError> {
        let mut sum = None;
        for (row, &source) in srcs.iter().enumerate() {
            let source = self.name(source);
            let product = self.emit(Op::MulC, ty, [source, 0, 0], first + row as u32 * stride)?;
            sum = Some(match sum {
                None => product,
                Some(acc) => self.emit(Op::Add, ty, [acc, product, 0], 0)?,
            });
        }
        Ok(sum.expect("a base conversion has at least one source"))
    }

    /// Emits `op`, or its expansion. Sources have their new names.
    fn emit(
        &mut self,
        op: Op,
        ty: LimbType,
        [a, b, c]: [u32; 3],
        imm: u32,
    ) -> Result<u32, CompileError> {
        if (self.supported)(op) {
            return Ok(self.new.emit(op, ty, [a, b, c], imm));
        }
        match op {
            Op::Neg => {
                let minus_one = self.moduli[ty.modulus as usize] - 1;
                let imm = self.constants.intern(minus_one);
                self.emit(Op::MulC, ty, [a, 0, 0], imm)
            }
            Op::Sub => {
                let negated = self.emit(Op::Neg, ty, [b, 0, 0], 0)?;
                self.emit(Op::Add, ty, [a, negated, 0], 0)
            }
            Op::Mac => {
                let product = self.emit(Op::Mul, ty, [b, c, 0], 0)?;
                self.emit(Op::Add, ty, [a, product, 0], 0)
            }
            Op::SubMulC => {
                let difference = self.emit(Op::Sub, ty, [a, b, 0], 0)?;
                self.emit(Op::MulC, ty, [difference, 0, 0], imm)
            }
            _ => Err(CompileError::Unsupported {
                op,
                machine: String::new(),
            }),
        }
    }
}
