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
//! - *Strips*: neighbouring instructions that treat every index alike and
//!   share operands are executed together, a strip of indices at a time.
//!   What they read together is read once from memory, and what only they
//!   read is never written to it.
//! - *Base conversions* are cut into groups of destinations.
//!
//! Pieces are then put in an order: a base conversion comes just before its
//! first reader, and transforms modulo the same prime, whose tables are as large
//! as limbs, follow each other if little else has to come first.
//!
//! An intermediate disappears only if nothing else reads it and the procedure
//! does not return it. A run of neighbours is always a legal unit: whatever
//! depends on one of them and is needed by another would stand between them.

use cyclotron_isa::{Inst, InstView, LimbProgram, Op, OpShape, Procedure, kernel::Operation};

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
    /// An automorphism.
    Permute(Operation),
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
    /// Instructions that treat every index alike, and how many values they
    /// have of their own, results included.
    Strips { ops: Vec<StripOp>, own: usize },
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

/// How the values of a procedure are used.
struct Uses {
    /// For every value, the instruction that defines it; none for parameters.
    definer: Vec<Option<usize>>,
    /// For every value, its number of readings and the last reader.
    readers: Vec<(u32, usize)>,
    returned: Vec<bool>,
}

impl Uses {
    fn new(procedure: &Procedure) -> Self {
        let values = procedure.types.len();
        let mut uses = Uses {
            definer: vec![None; values],
            readers: vec![(0, 0); values],
            returned: vec![false; values],
        };
        for (index, inst) in procedure.insts.iter().enumerate() {
            for value in inst.dst..inst.dst + Procedure::result_count(inst) {
                uses.definer[value as usize] = Some(index);
            }
            procedure.for_each_source(inst, |value| {
                let (count, last) = &mut uses.readers[value as usize];
                (*count, *last) = (*count + 1, index);
            });
        }
        for &value in &procedure.results {
            uses.returned[value as usize] = true;
        }
        uses
    }

    /// The instruction that reads a value, if it is the only one, reads it once,
    /// and the caller does not get the value.
    fn only_reader(&self, value: u32) -> Option<usize> {
        let (count, reader) = self.readers[value as usize];
        (count == 1 && !self.returned[value as usize]).then_some(reader)
    }
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
    let mut rewriting = Rewriting {
        procedure,
        constants,
        uses: Uses::new(procedure),
        absorbed: vec![false; procedure.insts.len()],
        transforms: Vec::new(),
    };
    rewriting.join_transforms();
    let pieces = rewriting.pieces(shape);
    join_strips(&rewriting.uses, order(procedure.types.len(), pieces))
}

struct Rewriting<'a> {
    procedure: &'a Procedure,
    constants: &'a [u64],
    uses: Uses,
    /// Instructions that are part of another one's piece.
    absorbed: Vec<bool>,
    /// Transforms and the instruction in whose place each stands.
    transforms: Vec<(usize, Piece)>,
}

impl Rewriting<'_> {
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

    fn join_transforms(&mut self) {
        for index in 0..self.procedure.insts.len() {
            let inst = self.procedure.insts[index];
            let joined = match inst.op {
                Op::Intt => self.join_inverse(index, inst),
                Op::Ntt => self.join_forward(index, inst),
                _ => continue,
            };
            self.transforms.push(joined);
        }
        self.transforms.sort_by_key(|&(place, _)| place);
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

    /// Transforms and whatever is no part of one, in order.
    fn pieces(&mut self, shape: Shape) -> Vec<Piece> {
        let mut pieces = Vec::with_capacity(self.procedure.insts.len());
        let mut transforms = std::mem::take(&mut self.transforms).into_iter().peekable();
        for (index, inst) in self.procedure.insts.iter().enumerate() {
            if let Some((_, transform)) = transforms.next_if(|&(place, _)| place == index) {
                pieces.push(transform);
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
        let operation = Operation::new(inst.op, inst.modulus, inst.imm, self.constants)
            .expect("verified: the constant exists");
        let work = if inst.op.shape() == OpShape::Automorphism {
            Work::Permute(operation)
        } else {
            strip(operation, sources.len())
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

/// One instruction as strips: its sources are the piece's.
fn strip(operation: Operation, sources: usize) -> Work {
    let op = StripOp {
        operation,
        dst: 0,
        srcs: (0..sources as u16).map(Slot::Source).collect(),
    };
    Work::Strips {
        ops: vec![op],
        own: 1,
    }
}

/// Puts pieces in an order that keeps caches warm; see the module.
fn order(values: usize, pieces: Vec<Piece>) -> Vec<Piece> {
    let mut definer = vec![None; values];
    for (at, piece) in pieces.iter().enumerate() {
        for &value in &piece.results {
            definer[value as usize] = Some(at);
        }
    }
    let mut ordering = Ordering {
        pieces: pieces.into_iter().map(Some).collect(),
        definer,
        ordered: Vec::new(),
    };
    for at in 0..ordering.pieces.len() {
        match ordering.pieces[at].as_ref().map(|piece| &piece.work) {
            None | Some(Work::Convert { .. }) => {}
            Some(&Work::Forward { modulus, .. }) => {
                ordering.place(at);
                ordering.place_alike(at, modulus);
            }
            Some(_) => ordering.place(at),
        }
    }
    for at in 0..ordering.pieces.len() {
        ordering.place(at);
    }
    ordering.ordered
}

struct Ordering {
    /// Pieces that have no place yet.
    pieces: Vec<Option<Piece>>,
    /// For every value, the piece that defines it.
    definer: Vec<Option<usize>>,
    ordered: Vec<Piece>,
}

/// Pieces that may come before a transform that is moved forward, at most: those
/// of a division by some special primes.
const MOVED_ALONG: usize = 32;

impl Ordering {
    /// Appends a piece, and before it what it needs.
    fn place(&mut self, at: usize) {
        let Some(piece) = self.pieces[at].take() else {
            return;
        };
        for &value in &piece.sources {
            if let Some(before) = self.definer[value as usize] {
                self.place(before);
            }
        }
        self.ordered.push(piece);
    }

    /// Appends later transforms modulo the same prime.
    fn place_alike(&mut self, after: usize, modulus: usize) {
        for at in after + 1..self.pieces.len() {
            let alike = self.pieces[at].as_ref().is_some_and(
                |piece| matches!(piece.work, Work::Forward { modulus: m, .. } if m == modulus),
            );
            if alike {
                let mut left = MOVED_ALONG;
                if !self.needs_little(at, &mut left) {
                    return;
                }
                self.place(at);
            }
        }
    }

    /// Whether a piece needs only conversions and inverse transforms that have no
    /// place yet, and not more than `left`.
    fn needs_little(&self, at: usize, left: &mut usize) -> bool {
        let sources = self.pieces[at].iter().flat_map(|piece| &piece.sources);
        let mut before = sources.filter_map(|&value| self.definer[value as usize]);
        before.all(|at| match self.pieces[at].as_ref().map(|p| &p.work) {
            None => true,
            Some(Work::Convert { .. } | Work::Inverse { .. }) if *left > 0 => {
                *left -= 1;
                self.needs_little(at, left)
            }
            Some(_) => false,
        })
    }
}

/// Instructions that are executed together, at most.
const STRIP_OPS: usize = 16;

/// Limbs that pieces of strips read and write, at most: what a processor
/// follows as streams.
const STRIP_LIMBS: usize = 48;

/// Joins neighbouring strips that share operands.
fn join_strips(uses: &Uses, pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
    let mut run: Vec<Piece> = Vec::new();
    for piece in pieces {
        if !(matches!(piece.work, Work::Strips { .. }) && belongs(&run, &piece)) {
            joined.extend(join(uses, std::mem::take(&mut run)));
        }
        if matches!(piece.work, Work::Strips { .. }) {
            run.push(piece);
        } else {
            joined.push(piece);
        }
    }
    joined.extend(join(uses, run));
    joined
}

/// Whether a piece reads something that the run reads or defines, and fits.
fn belongs(run: &[Piece], piece: &Piece) -> bool {
    let shares = |value: &u32| {
        run.iter()
            .any(|other| other.sources.contains(value) || other.results.contains(value))
    };
    let limbs = |piece: &Piece| piece.sources.len() + 1;
    run.len() < STRIP_OPS
        && piece.sources.iter().any(shares)
        && run.iter().map(limbs).sum::<usize>() + limbs(piece) <= STRIP_LIMBS
}

/// One piece for a run of single instructions.
fn join(uses: &Uses, run: Vec<Piece>) -> Option<Piece> {
    if run.len() <= 1 {
        return run.into_iter().next();
    }
    let defined: Vec<u32> = run.iter().map(|piece| piece.results[0]).collect();
    let reads_inside = |value: u32| {
        let sources = run.iter().flat_map(|piece| &piece.sources);
        sources.filter(|&&source| source == value).count() as u32
    };
    let is_result = |&value: &u32| {
        let (readings, _) = uses.readers[value as usize];
        uses.returned[value as usize] || readings == 0 || readings > reads_inside(value)
    };
    let (results, inner): (Vec<u32>, Vec<u32>) = defined.iter().partition(|v| is_result(v));
    let own: Vec<u32> = results.iter().chain(&inner).copied().collect();
    let mut sources: Vec<u32> = Vec::new();
    let mut slot = |value: u32| {
        if let Some(at) = own.iter().position(|&v| v == value) {
            return Slot::Own(at as u16);
        }
        let at = sources.iter().position(|&v| v == value).unwrap_or_else(|| {
            sources.push(value);
            sources.len() - 1
        });
        Slot::Source(at as u16)
    };
    let insts = run.iter().map(|piece| piece.insts).sum();
    let mut ops = Vec::with_capacity(run.len());
    for piece in run {
        let Work::Strips {
            ops: mut single, ..
        } = piece.work
        else {
            unreachable!("runs consist of strips");
        };
        let mut op = single.pop().expect("one instruction");
        op.srcs = piece.sources.iter().map(|&value| slot(value)).collect();
        let Slot::Own(dst) = slot(piece.results[0]) else {
            unreachable!("a run defines its results");
        };
        op.dst = dst;
        ops.push(op);
    }
    Some(Piece {
        work: Work::Strips {
            ops,
            own: own.len(),
        },
        sources,
        results,
        insts,
    })
}
