//! Instructions that one kernel computes together, and the pieces that they and
//! all others become.

use cyclotron_isa::{Inst, InstView, Op, OpShape, Procedure, kernel::Operation};

use super::strips::single;
use super::uses::Uses;
use super::{Piece, Shape, Work};

/// What is joined so far.
pub(super) struct Joins<'a> {
    procedure: &'a Procedure,
    constants: &'a [u64],
    uses: Uses,
    /// Instructions that are part of another one's piece.
    absorbed: Vec<bool>,
    /// Joined instructions, and the one in whose place each piece stands.
    joined: Vec<(usize, Piece)>,
}

impl<'a> Joins<'a> {
    pub(super) fn new(procedure: &'a Procedure, constants: &'a [u64]) -> Self {
        Self {
            procedure,
            constants,
            uses: Uses::new(procedure),
            absorbed: vec![false; procedure.insts.len()],
            joined: Vec::new(),
        }
    }

    pub(super) fn uses(&self) -> &Uses {
        &self.uses
    }

    fn constant(&self, inst: &Inst) -> u64 {
        self.constants[inst.imm as usize]
    }

    /// The only reader of a value, if it is not part of a piece yet, is this
    /// operation, and computes modulo the same prime.
    fn next(&self, value: u32, op: Op, modulus: u16) -> Option<(usize, Inst)> {
        let index = self.uses.only_reader(value)?;
        let inst = self.procedure.insts[index];
        let fits = inst.op == op && inst.modulus == modulus && !self.absorbed[index];
        fits.then_some((index, inst))
    }

    /// The same for the instruction that defines a value that has one reader.
    fn previous(&self, value: u32, op: Op, modulus: u16) -> Option<(usize, Inst)> {
        self.uses.only_reader(value)?;
        let index = self.uses.definer[value as usize]?;
        let inst = self.procedure.insts[index];
        let fits = inst.op == op && inst.modulus == modulus && !self.absorbed[index];
        fits.then_some((index, inst))
    }

    /// Joins what can be; automorphisms before transforms, which would take their
    /// additions.
    pub(super) fn join(&mut self) {
        let insts = &self.procedure.insts;
        for (index, &inst) in insts.iter().enumerate() {
            if inst.op == Op::AutEval
                && let Some(piece) = self.join_automorphism(inst)
            {
                self.absorbed[index] = true;
                self.joined.push((index, piece));
            }
        }
        for (index, &inst) in insts.iter().enumerate() {
            let joined = match inst.op {
                Op::Intt => self.join_inverse(index, inst),
                Op::Ntt => self.join_forward(index, inst),
                _ => continue,
            };
            self.joined.push(joined);
        }
        self.joined.sort_by_key(|&(place, _)| place);
    }

    /// An automorphism of a sum.
    fn join_automorphism(&mut self, inst: Inst) -> Option<Piece> {
        self.uses.only_reader(inst.a)?;
        let at = self.uses.definer[inst.a as usize]?;
        let sum = self.procedure.insts[at];
        if sum.op != Op::Add {
            return None;
        }
        self.absorbed[at] = true;
        Some(Piece {
            work: self.permutation(inst, sum.modulus),
            sources: vec![sum.a, sum.b],
            results: vec![inst.dst],
            insts: 2,
        })
    }

    fn permutation(&self, inst: Inst, modulus: u16) -> Work {
        Work::Permute {
            operation: self.operation(&inst),
            modulus: usize::from(modulus),
        }
    }

    fn operation(&self, inst: &Inst) -> Operation {
        Operation::new(inst.op, inst.modulus, inst.imm, self.constants)
            .expect("verified: the constant exists")
    }

    fn join_inverse(&mut self, index: usize, inst: Inst) -> (usize, Piece) {
        let m = inst.modulus;
        let (mut result, mut insts, mut mul, mut add) = (inst.dst, 1, 1, 0);
        if let Some((at, next)) = self.next(result, Op::MulC, m) {
            (result, insts, mul) = (next.dst, insts + 1, self.constant(&next));
            self.absorbed[at] = true;
        }
        if let Some((at, next)) = self.next(result, Op::AddC, m) {
            (result, insts, add) = (next.dst, insts + 1, self.constant(&next));
            self.absorbed[at] = true;
        }
        self.absorbed[index] = true;
        let modulus = usize::from(m);
        let piece = Piece {
            work: Work::Inverse { modulus, mul, add },
            sources: vec![inst.a],
            results: vec![result],
            insts,
        };
        (index, piece)
    }

    fn join_forward(&mut self, index: usize, inst: Inst) -> (usize, Piece) {
        let m = inst.modulus;
        let (mut sources, mut result, mut insts) = (vec![inst.a], inst.dst, 1);
        let (mut place, mut add, mut exit) = (index, 0, None);
        if let Some((at, before)) = self.previous(inst.a, Op::AddC, m) {
            (sources[0], insts, add) = (before.a, insts + 1, self.constant(&before));
            self.absorbed[at] = true;
        }
        if let Some((at, before)) = self.previous(sources[0], Op::MulC, m)
            && self.constant(&before) == 1
        {
            (sources[0], insts) = (before.a, insts + 1);
            self.absorbed[at] = true;
        }
        if let Some((at, after)) = self.next(result, Op::SubMulC, m)
            && after.b == result
        {
            sources.push(after.a);
            (result, insts, place) = (after.dst, insts + 1, at);
            exit = Some(self.constant(&after));
            self.absorbed[at] = true;
            if let Some((at, after)) = self.next(result, Op::Add, m) {
                sources.push(after.a ^ after.b ^ result);
                (result, insts, place) = (after.dst, insts + 1, at);
                self.absorbed[at] = true;
            }
        }
        self.absorbed[index] = true;
        let modulus = usize::from(m);
        let piece = Piece {
            work: Work::Forward { modulus, add, exit },
            sources,
            results: vec![result],
            insts,
        };
        (place, piece)
    }

    /// What is joined, and whatever is no part of that, in order.
    pub(super) fn pieces(&mut self, shape: Shape) -> Vec<Piece> {
        let mut pieces = Vec::with_capacity(self.procedure.insts.len());
        let mut joined = std::mem::take(&mut self.joined).into_iter().peekable();
        for (index, inst) in self.procedure.insts.iter().enumerate() {
            if let Some((_, piece)) = joined.next_if(|&(place, _)| place == index) {
                pieces.push(piece);
            } else if !self.absorbed[index] {
                self.piece(inst, shape, &mut pieces);
            }
        }
        pieces
    }

    fn piece(&self, inst: &Inst, shape: Shape, pieces: &mut Vec<Piece>) {
        let mut fields = [0; 3];
        let sources = match self.procedure.view(inst, &mut fields) {
            InstView::Matrix { srcs, dst_moduli } => {
                self.cut(inst, srcs, dst_moduli, shape, pieces);
                return;
            }
            InstView::Fields(list) | InstView::Pairs(list) => list.to_vec(),
        };
        let work = if inst.op.shape() == OpShape::Automorphism {
            self.permutation(*inst, inst.modulus)
        } else {
            single(self.operation(inst), sources.len())
        };
        pieces.push(Piece {
            work,
            sources,
            results: vec![inst.dst],
            insts: 1,
        });
    }

    /// Cuts a base conversion into groups of destinations of about equal size.
    fn cut(
        &self,
        inst: &Inst,
        srcs: &[u32],
        dst_moduli: &[u32],
        shape: Shape,
        pieces: &mut Vec<Piece>,
    ) {
        let count = dst_moduli.len();
        let parts = count.div_ceil(shape.group).max(shape.threads).min(count);
        for part in 0..parts {
            let columns = part * count / parts..(part + 1) * count / parts;
            let row = |row: usize| {
                let at = inst.imm as usize + row * count;
                &self.constants[at + columns.start..at + columns.end]
            };
            pieces.push(Piece {
                work: Work::Convert {
                    moduli: dst_moduli[columns.clone()]
                        .iter()
                        .map(|&m| m as usize)
                        .collect(),
                    matrix: (0..srcs.len()).flat_map(row).copied().collect(),
                },
                sources: srcs.to_vec(),
                results: (inst.dst + columns.start as u32..inst.dst + columns.end as u32).collect(),
                insts: u32::from(part == 0),
            });
        }
    }
}
