//! One procedure on parts.

use std::collections::HashMap;

use cyclotron_isa::part::immediate;
use cyclotron_isa::{Inst, InstView, LimbType, Op, Procedure};
use cyclotron_ring::parts;

use super::fold::Folds;
use super::{Split, TwistId};

/// The program's constants, and where those lie that splitting added.
pub(super) struct Constants {
    values: Vec<u64>,
    interned: HashMap<u64, u32>,
}

impl Constants {
    pub(super) fn new(values: Vec<u64>) -> Self {
        Self {
            values,
            interned: HashMap::new(),
        }
    }

    fn intern(&mut self, value: u64) -> u32 {
        *self.interned.entry(value).or_insert_with(|| {
            self.values.push(value);
            self.values.len() as u32 - 1
        })
    }

    /// Where a matrix lies from now on.
    fn append(&mut self, matrix: Vec<u64>) -> u32 {
        self.values.extend(&matrix);
        (self.values.len() - matrix.len()) as u32
    }

    pub(super) fn into_values(self) -> Vec<u64> {
        self.values
    }
}

/// Rewrites one procedure.
pub(super) struct Writer<'a> {
    pub(super) split: &'a Split<'a>,
    constants: &'a mut Constants,
    old: &'a Procedure,
    pub(super) new: Procedure,
    /// The new values of every old one, as many as there are parts.
    renamed: Vec<u32>,
    /// The twists that are parameters, and their values.
    twists: Vec<TwistId>,
    first_twist: u32,
    pub(super) folds: Folds,
}

impl<'a> Writer<'a> {
    /// With the parameters: all parts of each old one, then the twists.
    pub(super) fn new(
        split: &'a Split<'a>,
        constants: &'a mut Constants,
        old: &'a Procedure,
    ) -> Self {
        let parts = split.count() as u32;
        let first_twist = old.params * parts;
        let transforms = old.insts.iter();
        let transforms = transforms.filter(|inst| matches!(inst.op, Op::Ntt | Op::Intt));
        let mut primes: Vec<u16> = transforms.map(|inst| inst.modulus).collect();
        primes.sort_unstable();
        primes.dedup();
        let twist = |&m: &u16| (0..parts as u16).map(move |part| (m, part));
        let twists: Vec<TwistId> = primes.iter().flat_map(twist).collect();
        let of_params = old.types[..old.params as usize].iter();
        let mut types: Vec<LimbType> = of_params
            .flat_map(|&ty| std::iter::repeat_n(ty, split.count()))
            .collect();
        types.extend(twists.iter().map(|&(m, _)| LimbType::coeff(m)));
        Self {
            split,
            constants,
            old,
            new: Procedure {
                name: old.name.clone(),
                params: types.len() as u32,
                types,
                ..Procedure::default()
            },
            renamed: (0..first_twist).collect(),
            twists,
            first_twist,
            folds: Folds::new(old),
        }
    }

    /// The new procedure, and the twists that it takes behind its other parameters.
    pub(super) fn write(mut self) -> (Procedure, Vec<TwistId>) {
        let old = self.old;
        for inst in &old.insts {
            self.inst(inst);
        }
        for &result in &old.results {
            let parts = self.parts(result).to_vec();
            self.new.results.extend(parts);
        }
        (self.new, self.twists)
    }

    /// The parts of an old value.
    pub(super) fn parts(&self, old: u32) -> &[u32] {
        let count = self.split.count();
        &self.renamed[old as usize * count..][..count]
    }

    /// The value of a twist.
    pub(super) fn twist(&self, modulus: u16, part: usize) -> u32 {
        let at = self.twists.binary_search(&(modulus, part as u16));
        self.first_twist + at.expect("it is a parameter") as u32
    }

    fn inst(&mut self, inst: &Inst) {
        let ty = self.old.types[inst.dst as usize];
        let mut fields = [0; 3];
        match self.old.view(inst, &mut fields) {
            InstView::Fields(sources) => {
                // A constant takes the factor of the upper half along.
                let scaled = match inst.op {
                    Op::MulC => true,
                    Op::AddC => self.folds.wanted[inst.a as usize],
                    _ => false,
                };
                let mut values = match inst.op {
                    op if scaled => self.with_constants(op, ty, inst),
                    Op::Ntt => self.forward(inst.modulus, sources[0]),
                    Op::Intt => self.inverse(inst),
                    Op::AutEval => self.automorphism(ty, inst),
                    _ => self.each_part(ty, inst, sources),
                };
                if !scaled {
                    self.scale_upper(ty, inst.dst, &mut values);
                }
                self.renamed.extend(values);
            }
            InstView::Pairs(pairs) => self.dot(ty, inst.dst, pairs),
            InstView::Matrix { srcs, dst_moduli } => self.convert(inst, srcs, dst_moduli),
        }
    }

    /// The same instruction on each part.
    fn each_part(&mut self, ty: LimbType, inst: &Inst, sources: &[u32]) -> Vec<u32> {
        let count = self.split.count();
        let one = |part: usize| {
            let mut renamed = [0; 3];
            for (new, &source) in renamed.iter_mut().zip(sources) {
                *new = self.parts(source)[part];
            }
            self.new.emit(inst.op, ty, renamed, inst.imm)
        };
        (0..count).map(one).collect()
    }

    fn automorphism(&mut self, ty: LimbType, inst: &Inst) -> Vec<u32> {
        let (log_n, log_parts) = (self.split.log_n, self.split.log_parts);
        let count = self.split.count();
        let one = |part: usize| {
            let (source, map) = parts::automorphism(inst.imm, part, log_n, log_parts);
            let source = self.parts(inst.a)[source];
            self.new
                .emit(Op::AutEval, ty, [source, 0, 0], immediate(map, log_n))
        };
        (0..count).map(one).collect()
    }

    /// The factor of the upper half of the parts at the first step modulo a prime.
    fn upper_factor(&self, modulus: u16) -> u64 {
        self.split.primes[&modulus].factor(0, 0)
    }

    /// Multiplies the upper half of the parts of an old value by it, if that is wanted.
    fn scale_upper(&mut self, ty: LimbType, old: u32, values: &mut [u32]) {
        if self.folds.wanted[old as usize] {
            let r = self.upper_factor(ty.modulus);
            let upper = values.len() / 2;
            for value in &mut values[upper..] {
                *value = self.times(ty, *value, r);
            }
        }
    }

    /// A constant of the program for each half of the parts of a result, in which factors
    /// of the source's and the result's upper halves are folded.
    fn constants_of(&self, inst: &Inst) -> [u64; 2] {
        let arithmetic = self.split.arithmetic(inst.modulus);
        let constant = self.constants.values[inst.imm as usize];
        let (mut lower, mut upper) = (constant, constant);
        if self.folds.left[inst.a as usize] {
            let [low, high] = self.split.last_factors(inst.modulus);
            lower = arithmetic.mul(lower, low);
            upper = arithmetic.mul(upper, high);
        }
        if self.folds.wanted[inst.dst as usize] {
            upper = arithmetic.mul(upper, self.upper_factor(inst.modulus));
        }
        [lower, upper]
    }

    /// `MULC`, or `ADDC` of a value whose upper half has its factor.
    fn with_constants(&mut self, op: Op, ty: LimbType, inst: &Inst) -> Vec<u32> {
        let constants = self.constants_of(inst);
        let count = self.split.count();
        let one = |part: usize| {
            let imm = self
                .constants
                .intern(constants[usize::from(part >= count / 2)]);
            let source = self.parts(inst.a)[part];
            self.new.emit(op, ty, [source, 0, 0], imm)
        };
        (0..count).map(one).collect()
    }

    fn dot(&mut self, ty: LimbType, dst: u32, pairs: &[u32]) {
        let mut values = Vec::with_capacity(self.split.count());
        for part in 0..self.split.count() {
            let at = self.new.operands.len() as u32;
            let renamed: Vec<u32> = pairs.iter().map(|&v| self.parts(v)[part]).collect();
            self.new.operands.extend(renamed);
            values.push(
                self.new
                    .emit(Op::Dot, ty, [at, pairs.len() as u32 / 2, 0], 0),
            );
        }
        self.scale_upper(ty, dst, &mut values);
        self.renamed.extend(values);
    }

    /// Where the matrix of a `BCONV` lies whose destinations' upper halves have the
    /// factors that are wanted.
    fn upper_matrix(&mut self, inst: &Inst, rows: usize, dst_moduli: &[u32]) -> u32 {
        let columns = dst_moduli.len();
        let wanted = &self.folds.wanted[inst.dst as usize..][..columns];
        if !wanted.contains(&true) {
            return inst.imm;
        }
        let mut matrix = self.constants.values[inst.imm as usize..][..rows * columns].to_vec();
        for (column, (&wanted, &m)) in wanted.iter().zip(dst_moduli).enumerate() {
            if wanted {
                let (arithmetic, r) =
                    (self.split.arithmetic(m as u16), self.upper_factor(m as u16));
                for entry in matrix[column..].iter_mut().step_by(columns) {
                    *entry = arithmetic.mul(*entry, r);
                }
            }
        }
        self.constants.append(matrix)
    }

    fn convert(&mut self, inst: &Inst, srcs: &[u32], dst_moduli: &[u32]) {
        let (count, columns) = (self.split.count(), dst_moduli.len());
        let mut firsts = Vec::with_capacity(count);
        let upper = self.upper_matrix(inst, srcs.len(), dst_moduli);
        for part in 0..count {
            let matrix = if part < count / 2 { inst.imm } else { upper };
            let at = self.new.operands.len() as u32;
            let renamed: Vec<u32> = srcs.iter().map(|&v| self.parts(v)[part]).collect();
            self.new.operands.extend(renamed);
            self.new.operands.extend(dst_moduli);
            let fields = [at, srcs.len() as u32, columns as u32];
            let ty = self.old.types[inst.dst as usize];
            firsts.push(self.new.emit(Op::BConv, ty, fields, matrix));
            let rest = &self.old.types[inst.dst as usize..][1..columns];
            self.new.types.extend(rest);
        }
        for column in 0..columns as u32 {
            self.renamed
                .extend(firsts.iter().map(|first| first + column));
        }
    }

    /// `source` times a constant below the prime.
    pub(super) fn times(&mut self, ty: LimbType, source: u32, constant: u64) -> u32 {
        let imm = self.constants.intern(constant);
        self.new.emit(Op::MulC, ty, [source, 0, 0], imm)
    }

    /// The modulus of an old value.
    pub(super) fn modulus_of(&self, old: u32) -> u16 {
        self.old.types[old as usize].modulus
    }
}
