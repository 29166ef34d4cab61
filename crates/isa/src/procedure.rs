//! A procedure: one homomorphic operation at one level in one variant.

use crate::limb::LimbType;
use crate::op::Op;

/// One instruction, 24 bytes. Values are local numbers: the parameters first,
/// then every destination in order.
///
/// For [`Op::Dot`], `a` is an offset into [`Procedure::operands`] and `b` the
/// number of pairs stored there. For [`Op::BConv`], `a` is an offset, `b` the
/// number of sources, `c` the number of destinations; the pool holds the
/// sources and then the destinations' moduli, and `imm` is where the matrix,
/// row-major by source, starts in the program's constants. It defines the
/// values `dst..dst + c`, and `modulus` is that of the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Inst {
    /// The operation.
    pub op: Op,
    /// Index of the destination's prime.
    pub modulus: u16,
    /// Local number of the (first) destination.
    pub dst: u32,
    /// First source, or pool offset.
    pub a: u32,
    /// Second source, or count.
    pub b: u32,
    /// Third source, or count.
    pub c: u32,
    /// Constant index, or automorphism ([`crate::part::automorphism`]).
    pub imm: u32,
}

/// An instruction with its lists resolved; see [`Procedure::view`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstView<'a> {
    /// Sources a, b, c (as many as the operation has).
    Fields(&'a [u32]),
    /// Pairs `[a0, b0, a1, b1, ...]`.
    Pairs(&'a [u32]),
    /// Base conversion: sources and destination moduli.
    Matrix {
        /// Source values.
        srcs: &'a [u32],
        /// Modulus index of every destination.
        dst_moduli: &'a [u32],
    },
}

/// A sequence of instructions over parameters, with results.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Procedure {
    /// What it is, for example `rotate[l=4,k=25,hybrid]`.
    pub name: String,
    /// Number of parameters; they are the values `0..params`.
    pub params: u32,
    /// Type of every local value, parameters first.
    pub types: Vec<LimbType>,
    /// The instructions in order.
    pub insts: Vec<Inst>,
    /// Lists of the compound instructions.
    pub operands: Vec<u32>,
    /// Local values that the caller receives.
    pub results: Vec<u32>,
}

impl Procedure {
    /// The operands of an instruction, lists resolved. `fields` is scratch for the result.
    ///
    /// # Panics
    /// If the instruction's list lies outside the operand pool; the verifier excludes it.
    #[must_use]
    pub fn view<'a>(&'a self, inst: &Inst, fields: &'a mut [u32; 3]) -> InstView<'a> {
        let at = inst.a as usize;
        match inst.op {
            Op::Dot => InstView::Pairs(&self.operands[at..at + 2 * inst.b as usize]),
            Op::BConv => {
                let middle = at + inst.b as usize;
                InstView::Matrix {
                    srcs: &self.operands[at..middle],
                    dst_moduli: &self.operands[middle..middle + inst.c as usize],
                }
            }
            op => {
                *fields = [inst.a, inst.b, inst.c];
                InstView::Fields(&fields[..op.field_sources()])
            }
        }
    }

    /// Calls `f` with every source of an instruction.
    pub fn for_each_source(&self, inst: &Inst, mut f: impl FnMut(u32)) {
        let mut fields = [0; 3];
        match self.view(inst, &mut fields) {
            InstView::Fields(list)
            | InstView::Pairs(list)
            | InstView::Matrix { srcs: list, .. } => {
                list.iter().copied().for_each(&mut f);
            }
        }
    }

    /// Appends an instruction that defines one value, of this type and modulo its prime,
    /// and returns the value.
    pub fn emit(&mut self, op: Op, ty: LimbType, [a, b, c]: [u32; 3], imm: u32) -> u32 {
        let dst = self.types.len() as u32;
        self.types.push(ty);
        self.insts.push(Inst {
            op,
            modulus: ty.modulus,
            dst,
            a,
            b,
            c,
            imm,
        });
        dst
    }

    /// Number of values that an instruction defines.
    #[must_use]
    pub fn result_count(inst: &Inst) -> u32 {
        if inst.op == Op::BConv { inst.c } else { 1 }
    }
}
