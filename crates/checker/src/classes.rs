//! Value numbering: which values of the program are the same.

use std::hash::{BuildHasher, Hasher, RandomState};

use cyclotron_isa::{FlatProgram, NONE, Op, OpShape};

use crate::error::CheckError;

/// A class of equal values: the number of its first value in the program.
pub(crate) type Class = u32;

/// An operation on classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) op: Op,
    pub(crate) modulus: u16,
    /// The constant's value or the exponent.
    pub(crate) scalar: u64,
    /// Classes of the operands, [`NONE`] where there is none.
    pub(crate) src: [Class; 3],
}

impl Key {
    /// With operands that commute in ascending order.
    fn normal(mut self) -> Self {
        match self.op {
            Op::Add | Op::Mul => self.src[..2].sort_unstable(),
            Op::Mac => self.src[1..].sort_unstable(),
            _ => {}
        }
        self
    }
}

/// 2^64 over the golden ratio: steps of it spread evenly over any range.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Slots of the table that are probed beside the latest operand of a key.
const NEAR: usize = 4;

/// The classes of a program and what they are computed from.
///
/// Operations are looked up soon after their latest operand was computed. So an
/// instruction's first slots in the table are those at the number of that operand:
/// what is looked up in a stretch of time lies together, also in a program whose
/// table is far larger than a cache. Where more instructions share their latest
/// operand, their hashes say where they go.
pub(crate) struct Classes<'a> {
    program: &'a FlatProgram,
    /// Class of every value.
    of_value: Vec<Class>,
    /// Open-addressing table of instructions, `NONE` where empty: two slots a value.
    table: Vec<u32>,
    seed: u64,
}

impl<'a> Classes<'a> {
    pub(crate) fn new(program: &'a FlatProgram) -> Result<Self, CheckError> {
        let slots = 2 * program.value_count() + NEAR;
        let mut classes = Self {
            program,
            of_value: (0..program.inputs.len() as u32).collect(),
            table: vec![NONE; slots],
            // A random seed, so that nobody can choose values that collide.
            seed: RandomState::new().build_hasher().finish() | 1,
        };
        classes.of_value.reserve(program.len());
        for inst in 0..program.len() {
            let key = classes.key_of(inst)?;
            let slot = classes.probe(&key);
            let class = match classes.table[slot] {
                NONE => {
                    classes.table[slot] = inst as u32;
                    program.result(inst)
                }
                first => program.result(first as usize),
            };
            classes.of_value.push(class);
        }
        match program
            .outputs
            .iter()
            .find(|&&v| v as usize >= program.value_count())
        {
            Some(value) => fault(format!("output %{value} is not defined")),
            None => Ok(classes),
        }
    }

    /// The class of a value of the program.
    pub(crate) fn of(&self, value: u32) -> Class {
        self.of_value[value as usize]
    }

    /// The class that an operation computes, if the program computes it.
    pub(crate) fn lookup(&self, key: Key) -> Option<Class> {
        match self.table[self.probe(&key.normal())] {
            NONE => None,
            inst => Some(self.program.result(inst as usize)),
        }
    }

    /// The scalar of an operation with immediate `imm`, if the constant exists.
    pub(crate) fn scalar(&self, op: Op, imm: u32) -> Option<u64> {
        scalar(self.program, op, imm)
    }

    /// The key of an instruction, checked: earlier values, existing tables.
    fn key_of(&self, inst: usize) -> Result<Key, CheckError> {
        let program = self.program;
        let (op, modulus) = (program.op[inst], program.modulus[inst]);
        let sources = op.field_sources();
        if sources == 0 || usize::from(modulus) >= program.moduli.len() {
            return fault(format!("instruction {inst} is malformed"));
        }
        let mut src = [NONE; 3];
        for (class, &value) in src.iter_mut().zip(&program.src[inst][..sources]) {
            match self.of_value.get(value as usize) {
                Some(&found) => *class = found,
                None => return fault(format!("instruction {inst} reads %{value} too early")),
            }
        }
        let Some(scalar) = scalar(program, op, program.imm[inst]) else {
            return fault(format!(
                "instruction {inst} uses a constant that is not there"
            ));
        };
        let key = Key {
            op,
            modulus,
            scalar,
            src,
        };
        Ok(key.normal())
    }

    /// The key of an instruction that was accepted.
    fn accepted(&self, inst: u32) -> Key {
        let inst = inst as usize;
        let program = self.program;
        let mut src = [NONE; 3];
        for (class, &value) in src.iter_mut().zip(&program.src[inst]) {
            if value != NONE {
                *class = self.of_value[value as usize];
            }
        }
        let key = Key {
            op: program.op[inst],
            modulus: program.modulus[inst],
            scalar: scalar(program, program.op[inst], program.imm[inst]).unwrap_or(0),
            src,
        };
        key.normal()
    }

    /// The table slot of a normal key: its instruction's or the empty one where it would go.
    fn probe(&self, key: &Key) -> usize {
        let ends = |slot: usize| match self.table[slot] {
            NONE => true,
            inst => self.computes(inst, key),
        };
        let near = 2 * self.latest(key);
        if let Some(slot) = (near..near + NEAR).find(|&slot| ends(slot)) {
            return slot;
        }
        // Golden steps leave any run of full slots at once, also one that a program was
        // written to fill.
        let mut place = self.hash(key);
        loop {
            let slot = ((u128::from(place) * self.table.len() as u128) >> u64::BITS) as usize;
            if ends(slot) {
                return slot;
            }
            place = place.wrapping_add(GOLDEN);
        }
    }

    /// The operand of a key that was computed last.
    fn latest(&self, key: &Key) -> usize {
        let classes = key.src.iter().filter(|&&class| class != NONE);
        classes.max().map_or(0, |&class| class as usize)
    }

    /// Whether a normal key is that of an instruction that was accepted.
    fn computes(&self, inst: u32, key: &Key) -> bool {
        let (op, modulus) = (
            self.program.op[inst as usize],
            self.program.modulus[inst as usize],
        );
        (op, modulus) == (key.op, key.modulus) && self.accepted(inst) == *key
    }

    fn hash(&self, key: &Key) -> u64 {
        let head = u64::from(key.modulus) << 8 | key.op as u64;
        let pair = u64::from(key.src[0]) << 32 | u64::from(key.src[1]);
        [head, key.scalar, pair, u64::from(key.src[2])]
            .into_iter()
            .fold(self.seed, |hash, word| {
                let product = u128::from(hash ^ word) * u128::from(GOLDEN);
                (product >> 64) as u64 ^ product as u64
            })
    }

    /// What a key computes, for a message.
    pub(crate) fn describe(&self, key: &Key) -> String {
        let mut text = format!("{} m{}", key.op, key.modulus);
        for &class in key.src.iter().filter(|&&class| class != NONE) {
            text.push_str(&format!(" %{class}"));
        }
        match key.op.shape() {
            OpShape::UnaryConst | OpShape::BinaryConst => text + &format!(" ={}", key.scalar),
            OpShape::Automorphism => text + &format!(" k{}", key.scalar),
            _ => text,
        }
    }

    /// The instruction of the program that is most like `key`, for a message.
    pub(crate) fn nearest(&self, key: &Key) -> Option<String> {
        let key = key.normal();
        let likeness = |other: &Key| {
            let operands = key.src.iter().zip(&other.src);
            let equal = operands.filter(|(a, b)| a == b && **a != NONE).count();
            let scalar = usize::from(key.scalar == other.scalar);
            4 * equal + 2 * usize::from(key.modulus == other.modulus) + scalar
        };
        let (best, inst) = (0..self.program.len() as u32)
            .filter(|&inst| self.program.op[inst as usize] == key.op)
            .map(|inst| (likeness(&self.accepted(inst)), inst))
            .max_by_key(|&(likeness, inst)| (likeness, std::cmp::Reverse(inst)))?;
        let result = self.program.result(inst as usize);
        (best >= 4).then(|| format!("%{result} = {}", self.describe(&self.accepted(inst))))
    }
}

fn scalar(program: &FlatProgram, op: Op, imm: u32) -> Option<u64> {
    match op.shape() {
        OpShape::UnaryConst | OpShape::BinaryConst => program.constants.get(imm as usize).copied(),
        OpShape::Automorphism => Some(u64::from(imm)),
        _ => Some(0),
    }
}

fn fault<T>(why: String) -> Result<T, CheckError> {
    Err(CheckError::Program { why })
}

#[cfg(test)]
mod tests {
    use cyclotron_isa::{LimbType, ProgramBuilder, Source};

    use super::*;

    /// A value with more readers than have room beside it, of which two are equal.
    #[test]
    fn operations_with_the_same_latest_operand_are_told_apart() {
        let readers = 40;
        let mut b = ProgramBuilder::new("readers", 4, 32, &[97]);
        let source = Source::Ciphertext {
            input: b.ciphertext("x"),
            poly: 0,
            limb: 0,
        };
        let x = b.input(source, LimbType::eval(0));
        let procedure = b.procedure("readers", |p| {
            let x = p.param(LimbType::eval(0));
            let exponents = (0..readers).map(|k| 2 * (k % (readers - 1)) + 1);
            exponents.map(|k| p.aut(x, k)).collect()
        });
        let values = b.call(procedure, &[x], 0);
        let out = b.output_named("y");
        for (limb, &value) in values.iter().enumerate() {
            b.output(out, 0, limb as u16, value);
        }
        let program = FlatProgram::new(&b.finish()).expect("flat");
        let classes = Classes::new(&program).expect("well formed");
        let key = |exponent| Key {
            op: Op::AutEval,
            modulus: 0,
            scalar: exponent,
            src: [0, NONE, NONE],
        };
        for k in 0..readers - 1 {
            let found = classes.lookup(key(2 * u64::from(k) + 1));
            assert_eq!(found, Some(program.result(k as usize)), "reader {k}");
        }
        assert_eq!(
            classes.of(program.outputs[39]),
            classes.of(program.outputs[0])
        );
        assert_eq!(classes.lookup(key(2 * u64::from(readers) + 1)), None);
        let other = Key {
            src: [1, NONE, NONE],
            ..key(1)
        };
        assert_eq!(classes.lookup(other), None);
    }
}
