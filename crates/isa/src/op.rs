//! Limb operations.

use std::fmt;

/// A limb operation. Results are canonical, in `[0, q)` of the destination's prime.
///
/// `NTT` and the multiplicands of `MUL`, `MULC`, `MAC`, `BCONV` and `DOT` may
/// read a limb of another prime: its words, integers below 2^word_bits, are
/// reduced modulo the destination's prime on the way in. Every other operand
/// belongs to the destination's prime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Op {
    /// Coefficient to evaluation domain; the source may be of another prime.
    Ntt,
    /// Evaluation to coefficient domain, division by N included.
    Intt,
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `-a`.
    Neg,
    /// `a * b`, element by element; both may be of another prime.
    Mul,
    /// `a + c` at every index, c a constant.
    AddC,
    /// `a * c` at every index, c a constant; a may be of another prime.
    MulC,
    /// The automorphism `x -> x^k` on a limb in evaluation domain, k odd; on a part,
    /// with an offset ([`crate::part`]).
    AutEval,
    /// The automorphism `x -> x^k` on a whole limb in coefficient domain, k odd.
    AutCoeff,
    /// Compound: `a + b * c`, with b and c multiplicands.
    Mac,
    /// Compound: `(a - b) * c`, c a constant; a and b of the destination's prime.
    SubMulC,
    /// Compound: the inner product of pairs, reduced once.
    Dot,
    /// Compound: base conversion, `dst_j = sum_i src_i * matrix[i][j] mod p_j`,
    /// src_i read as integers.
    BConv,
}

/// How an instruction uses its three operand fields and its immediate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpShape {
    /// One source `a`.
    Unary,
    /// Two sources `a`, `b`.
    Binary,
    /// One source `a`, the immediate is an index into the constants.
    UnaryConst,
    /// One source `a`, the immediate is an automorphism ([`crate::part::automorphism`]).
    Automorphism,
    /// Three sources `a`, `b`, `c`.
    Ternary,
    /// Two sources `a`, `b`, the immediate is an index into the constants.
    BinaryConst,
    /// A list of pairs in the operand pool.
    Pairs,
    /// Lists of sources and destinations in the operand pool, a matrix in the constants.
    Matrix,
}

impl Op {
    /// Every operation, in the order of their numbers.
    pub const ALL: [Op; 14] = [
        Op::Ntt,
        Op::Intt,
        Op::Add,
        Op::Sub,
        Op::Neg,
        Op::Mul,
        Op::AddC,
        Op::MulC,
        Op::AutEval,
        Op::AutCoeff,
        Op::Mac,
        Op::SubMulC,
        Op::Dot,
        Op::BConv,
    ];

    /// The mnemonic of the text form.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Op::Ntt => "ntt",
            Op::Intt => "intt",
            Op::Add => "add",
            Op::Sub => "sub",
            Op::Neg => "neg",
            Op::Mul => "mul",
            Op::AddC => "addc",
            Op::MulC => "mulc",
            Op::AutEval => "aut",
            Op::AutCoeff => "autc",
            Op::Mac => "mac",
            Op::SubMulC => "submulc",
            Op::Dot => "dot",
            Op::BConv => "bconv",
        }
    }

    /// The operation with this mnemonic.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Op> {
        Op::ALL.into_iter().find(|op| op.name() == name)
    }

    /// The name under which a machine file lists the operation: the two
    /// automorphisms are one operation to a machine, `AUT`.
    #[must_use]
    pub fn machine_name(self) -> &'static str {
        match self {
            Op::Ntt => "NTT",
            Op::Intt => "INTT",
            Op::Add => "ADD",
            Op::Sub => "SUB",
            Op::Neg => "NEG",
            Op::Mul => "MUL",
            Op::AddC => "ADDC",
            Op::MulC => "MULC",
            Op::AutEval | Op::AutCoeff => "AUT",
            Op::Mac => "MAC",
            Op::SubMulC => "SUBMULC",
            Op::Dot => "DOT",
            Op::BConv => "BCONV",
        }
    }

    /// How the instruction's fields are used.
    #[must_use]
    pub fn shape(self) -> OpShape {
        match self {
            Op::Ntt | Op::Intt | Op::Neg => OpShape::Unary,
            Op::Add | Op::Sub | Op::Mul => OpShape::Binary,
            Op::AddC | Op::MulC => OpShape::UnaryConst,
            Op::AutEval | Op::AutCoeff => OpShape::Automorphism,
            Op::Mac => OpShape::Ternary,
            Op::SubMulC => OpShape::BinaryConst,
            Op::Dot => OpShape::Pairs,
            Op::BConv => OpShape::Matrix,
        }
    }

    /// Number of sources in the fields a, b, c (0 for the list operations).
    #[must_use]
    pub fn field_sources(self) -> usize {
        match self.shape() {
            OpShape::Unary | OpShape::UnaryConst | OpShape::Automorphism => 1,
            OpShape::Binary | OpShape::BinaryConst => 2,
            OpShape::Ternary => 3,
            OpShape::Pairs | OpShape::Matrix => 0,
        }
    }

    /// Whether source field number `field` may hold a limb of another prime.
    #[must_use]
    pub fn reads_any_prime(self, field: usize) -> bool {
        match self {
            Op::Ntt | Op::Mul | Op::MulC | Op::Dot | Op::BConv => true,
            Op::Mac => field > 0,
            _ => false,
        }
    }

    /// Whether the immediate indexes the constant table.
    #[must_use]
    pub fn has_constant(self) -> bool {
        matches!(self.shape(), OpShape::UnaryConst | OpShape::BinaryConst)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
