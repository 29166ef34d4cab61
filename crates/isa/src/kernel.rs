//! What an instruction does to buffers: the one place where operations meet
//! the ring. The interpreter, the runtime and the simulator call it.

use cyclotron_ring::{Ring, Word};

use crate::op::{Op, OpShape};
use crate::part;
use crate::procedure::{Inst, InstView, Procedure};
use crate::program::LimbProgram;

/// An operation without its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// The operation; not [`Op::Dot`] or [`Op::BConv`], which take lists.
    pub op: Op,
    /// Index of the destination's prime.
    pub modulus: u16,
    /// The constant, in `[0, q)`, or the automorphism's immediate
    /// ([`part::automorphism`]); 0 for operations that have neither.
    pub scalar: u64,
}

impl Operation {
    /// The operation with immediate `imm` of a program with these constants;
    /// `None` if the index lies outside them.
    #[must_use]
    pub fn new(op: Op, modulus: u16, imm: u32, constants: &[u64]) -> Option<Self> {
        let scalar = match op.shape() {
            OpShape::UnaryConst | OpShape::BinaryConst => *constants.get(imm as usize)?,
            OpShape::Automorphism => u64::from(imm),
            _ => 0,
        };
        Some(Self {
            op,
            modulus,
            scalar,
        })
    }
}

/// Applies an operation that takes its operands from the fields a, b, c.
///
/// # Ranges
/// As [`Op`] says: multiplicands and the source of `NTT` are any words, other
/// operands are canonical. The result is canonical. All buffers have N words.
///
/// # Panics
/// If the operation takes lists, or `srcs` is shorter than [`Op::field_sources`].
pub fn apply<W: Word>(ring: &Ring<W>, operation: Operation, dst: &mut [W], srcs: &[&[W]]) {
    let Operation {
        op,
        modulus,
        scalar,
    } = operation;
    let m = usize::from(modulus);
    let immediate = scalar as u32;
    match op {
        Op::Ntt => ring.ntt(m, dst, srcs[0]),
        Op::Intt => ring.intt(m, dst, srcs[0]),
        Op::Add => ring.add(m, dst, srcs[0], srcs[1]),
        Op::Sub => ring.sub(m, dst, srcs[0], srcs[1]),
        Op::Neg => ring.neg(m, dst, srcs[0]),
        Op::Mul => ring.mul(m, dst, srcs[0], srcs[1]),
        Op::AddC => ring.add_c(m, dst, srcs[0], scalar),
        Op::MulC => ring.mul_c(m, dst, srcs[0], scalar),
        Op::AutEval => {
            let map = part::automorphism(immediate, ring.log_n());
            ring.aut_eval(map, dst, srcs[0]);
        }
        Op::AutCoeff => ring.aut_coeff(m, immediate, dst, srcs[0]),
        Op::Mac => ring.mac(m, dst, srcs[0], srcs[1], srcs[2]),
        Op::SubMulC => ring.sub_mul_c(m, dst, srcs[0], srcs[1], scalar),
        Op::Dot | Op::BConv => panic!("{op} takes lists: use apply_inst"),
    }
}

/// Applies any instruction of a verified program; `value` gives the buffers of
/// local values. `dsts` has as many buffers as the instruction has results.
///
/// # Panics
/// If the program is not one that [`crate::verify`] accepts.
pub fn apply_inst<'a, W: Word>(
    ring: &Ring<W>,
    program: &LimbProgram,
    procedure: &Procedure,
    inst: &Inst,
    dsts: &mut [&mut [W]],
    value: impl Fn(u32) -> &'a [W],
) {
    let mut fields = [0; 3];
    match procedure.view(inst, &mut fields) {
        InstView::Fields(list) => {
            let mut srcs: [&[W]; 3] = [&[]; 3];
            for (slot, &source) in srcs.iter_mut().zip(list) {
                *slot = value(source);
            }
            let operation = Operation::new(inst.op, inst.modulus, inst.imm, &program.constants)
                .expect("verified: the constant exists");
            apply(ring, operation, dsts[0], &srcs[..list.len()]);
        }
        InstView::Pairs(list) => {
            let pairs: Vec<_> = list
                .chunks_exact(2)
                .map(|pair| (value(pair[0]), value(pair[1])))
                .collect();
            ring.dot(usize::from(inst.modulus), dsts[0], &pairs);
        }
        InstView::Matrix { srcs, dst_moduli } => {
            let buffers: Vec<_> = srcs.iter().map(|&source| value(source)).collect();
            let moduli: Vec<_> = dst_moduli.iter().map(|&m| m as usize).collect();
            let at = inst.imm as usize;
            let matrix = &program.constants[at..at + srcs.len() * dst_moduli.len()];
            ring.bconv(&moduli, dsts, &buffers, matrix);
        }
    }
}
