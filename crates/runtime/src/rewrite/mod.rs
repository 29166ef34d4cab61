//! Rewriting of a procedure into fewer, larger pieces of work.
//!
//! The instructions say *what* is computed; executed one by one, each reads and
//! writes whole limbs, and a limb of a large ring does not stay in the cache.
//! A plan therefore joins instructions, without changing a result:
//!
//! - *Transforms* take along the constants around them: `INTT, MULC, ADDC` is
//!   one inverse transform, `ADDC, NTT` and `NTT, SUBMULC, ADD` one forward
//!   transform. `MULC` by 1, which only reduces, is left to the transform,
//!   which reads any words.
//! - *Automorphisms* add what they permute: `ADD, AUT` is one pass.
//! - *Strips*: neighbouring instructions that treat every index alike and
//!   share operands are executed together, a strip of indices at a time.
//!   What they read together is read once from memory, and what only they
//!   read is never written to it.
//! - *Base conversions* are cut into groups of destinations.
//! - *Neighbouring calls* that read the same become one before all that; see
//!   [`calls`].
//!
//! Pieces are then put in an order in which values are read soon after they are
//! written; see [`order`].
//!
//! An intermediate disappears only if nothing else reads it and the procedure
//! does not return it. A run of neighbours is always a legal unit: whatever
//! depends on one of them and is needed by another would stand between them.

mod calls;
mod joins;
mod order;
mod strips;
mod uses;

use cyclotron_isa::{LimbProgram, Procedure, kernel::Operation};

pub(crate) use calls::Calls;
use joins::Joins;

/// An operand of an instruction within strips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A source of the piece.
    Source(u16),
    /// A result of the piece, or after those a value that nothing else reads.
    Own(u16),
}

/// An instruction within strips.
#[derive(Debug)]
pub(crate) struct StripOp {
    /// What it does; of an inner product, only the operation and the prime.
    pub operation: Operation,
    /// Where the result goes: a [`Slot::Own`].
    pub dst: u16,
    /// Its sources, of an inner product pair by pair.
    pub srcs: Box<[Slot]>,
}

/// What a piece computes from its sources.
#[derive(Debug)]
pub(crate) enum Work {
    /// An automorphism of the source, or of the sum of two sources modulo a prime.
    Permute {
        operation: Operation,
        modulus: usize,
    },
    /// `intt(source) mul + add`.
    Inverse { modulus: usize, mul: u64, add: u64 },
    /// `ntt(source + add)`; with `exit = c` `(minuend - ntt(source + add)) c`,
    /// and plus an addend if there is one. Sources: `[source, minuend, addend]`.
    Forward {
        modulus: usize,
        add: u64,
        exit: Option<u64>,
    },
    /// Some destinations of a base conversion: their primes, and their columns
    /// of the matrix, row-major by source.
    Convert {
        moduli: Vec<usize>,
        matrix: Vec<u64>,
    },
    /// Instructions that treat every index alike.
    Strips {
        ops: Vec<StripOp>,
        /// Values of their own, results included.
        own: usize,
        /// Sources that more than one of them reads.
        shared: usize,
    },
}

impl Work {
    /// Whether it can be computed where its first source lies.
    pub(crate) fn in_place(&self) -> bool {
        matches!(self, Work::Inverse { .. } | Work::Forward { .. })
    }
}

/// A part of a procedure that is executed at once.
#[derive(Debug)]
pub(crate) struct Piece {
    pub work: Work,
    /// Local values that it reads, in the order in which `work` names them.
    pub sources: Vec<u32>,
    /// Local values that it defines for others.
    pub results: Vec<u32>,
    /// Instructions that it stands for; of a base conversion the first part counts.
    pub insts: u32,
}

/// What rewriting needs to know of the machine and the ring.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub threads: usize,
    /// Destinations of a base conversion that are computed together, at most.
    pub group: usize,
}

/// Bytes of the destinations of a base conversion that are computed together.
const GROUP_BYTES: usize = 8 << 20;

impl Shape {
    pub(crate) fn new(program: &LimbProgram, threads: usize) -> Self {
        let limb_bytes = program.n() * program.word_bits as usize / 8;
        Shape {
            threads,
            group: (GROUP_BYTES / limb_bytes).max(4),
        }
    }
}

/// The pieces of a procedure, in the order of their priority.
pub(crate) fn rewrite(procedure: &Procedure, constants: &[u64], shape: Shape) -> Vec<Piece> {
    let mut joins = Joins::new(procedure, constants);
    joins.join();
    let pieces = joins.pieces(shape);
    let values = procedure.types.len();
    let ordered = order::order(joins.uses(), pieces);
    order::follow(values, strips::join(joins.uses(), ordered))
}
