//! Programs for machines whose vectors are shorter than the polynomials.
//!
//! [`split`] rewrites a limb program on polynomials of P N coefficients into one on their
//! P parts of N words each ([`cyclotron_isa::part`], and [`cyclotron_ring::parts`] for why
//! it computes the same): every value becomes P values, and of the instructions
//!
//! | instruction | becomes |
//! | --- | --- |
//! | element by element, `DOT`, `BCONV` | itself on each part |
//! | `AUT k` | `AUT` with an offset on each part, which reads one part |
//! | `NTT` | `MULC`, `ADD` and `SUB` for each pair of parts at each of log2 P steps; then for each part `MUL` by its twist, and `NTT` |
//! | `INTT` | the mirror image; the last step's two `MULC` divide by P |
//!
//! An `NTT` of a limb of another prime has a `MULC` by 1 more for each pair at the first
//! step: additions take canonical words. Products at the first step of transforms and at the
//! last one of inverse transforms join constants of the program where they can
//! (`fold.rs`). Twists are inputs, P for each prime that is
//! transformed by; both directions use the same.
//!
//! Everything after phase 1 sees vectors of the machine's length only.

mod fold;
mod transform;
mod writer;

use std::collections::BTreeMap;

use cyclotron_isa::part::{MAX_LOG_N_OF_PARTS, MAX_LOG_PARTS, MIN_LOG_N_OF_PARTS};
use cyclotron_isa::{Call, InputDecl, LimbProgram, LimbType, Op, OutputDecl, Source};
use cyclotron_ring::Modulus;
use cyclotron_ring::parts::Parts;

use crate::error::LowerError;
use writer::{Constants, Writer};

/// A prime's index and a part: the name of a twist.
type TwistId = (u16, u16);

/// What splitting needs to know everywhere.
struct Split<'a> {
    program: &'a LimbProgram,
    /// log2 N of the parts.
    log_n: u32,
    log_parts: u32,
    /// The splitting modulo each prime that transforms are done by.
    primes: BTreeMap<u16, Parts>,
}

impl Split<'_> {
    fn count(&self) -> usize {
        1 << self.log_parts
    }

    fn arithmetic(&self, modulus: u16) -> Modulus {
        Modulus::new(self.program.moduli[usize::from(modulus)])
    }

    /// What the last step of an inverse transform multiplies the lower and the upper half
    /// of the parts by: 1/P and 1/rP.
    fn last_factors(&self, modulus: u16) -> [u64; 2] {
        let (arithmetic, count) = (self.arithmetic(modulus), 1 << self.log_parts);
        let r = self.primes[&modulus].factor(0, 0);
        [count, arithmetic.mul(r, count)].map(|factor| arithmetic.inv(factor))
    }
}

/// The program on vectors of 2^`log_n` words. A program on no longer polynomials stays.
///
/// # Errors
/// [`LowerError::Parts`] for a program that is split already, for more than 2^7 parts,
/// for vectors of less than 2^4 or more than 2^15 words, and for automorphisms of coefficients, which no schemes emit.
pub fn split(program: &LimbProgram, log_n: u32) -> Result<LimbProgram, LowerError> {
    let Some(log_parts @ 1..) = program.log_n.checked_sub(log_n) else {
        return Ok(program.clone());
    };
    check(program, log_n)?;
    let split = Split {
        program,
        log_n,
        log_parts,
        primes: transformed_primes(program)
            .map(|m| {
                let modulus = Modulus::new(program.moduli[usize::from(m)]);
                (m, Parts::new(&modulus, log_n, log_parts))
            })
            .collect(),
    };
    let mut new = LimbProgram {
        name: program.name.clone(),
        log_n,
        log_parts,
        word_bits: program.word_bits,
        moduli: program.moduli.clone(),
        ciphertexts: program.ciphertexts.clone(),
        plains: program.plains.clone(),
        keys: program.keys.clone(),
        outputs_named: program.outputs_named.clone(),
        ..LimbProgram::default()
    };
    let mut constants = Constants::new(program.constants.clone());
    let mut twists = Vec::with_capacity(program.procedures.len());
    for procedure in &program.procedures {
        let (procedure, used) = Writer::new(&split, &mut constants, procedure).write();
        new.procedures.push(procedure);
        twists.push(used);
    }
    new.constants = constants.into_values();
    split.globals(&mut new, &twists);
    Ok(new)
}

fn check(program: &LimbProgram, log_n: u32) -> Result<(), LowerError> {
    let fault = |why: String| Err(LowerError::Parts { log_n, why });
    if program.log_parts > 0 {
        return fault("the program is on parts already".to_owned());
    }
    let log_parts = program.log_n - log_n;
    if log_n < MIN_LOG_N_OF_PARTS || log_parts > MAX_LOG_PARTS {
        return fault(format!(
            "a polynomial has at most {} parts, of at least 2^{MIN_LOG_N_OF_PARTS} words; choose \
             a machine with longer vectors, or a smaller ring",
            1 << MAX_LOG_PARTS
        ));
    }
    if log_n > MAX_LOG_N_OF_PARTS {
        return fault(format!(
            "parts have at most 2^{MAX_LOG_N_OF_PARTS} words; choose a machine with longer \
             vectors, or a smaller ring"
        ));
    }
    let permutes = |procedure: &&cyclotron_isa::Procedure| {
        let insts = &procedure.insts;
        insts.iter().any(|inst| inst.op == Op::AutCoeff)
    };
    match program.procedures.iter().find(permutes) {
        None => Ok(()),
        Some(procedure) => fault(format!(
            "procedure {} permutes coefficients, which are scattered over the parts",
            procedure.name
        )),
    }
}

/// The primes that transforms are done by, some of them repeatedly.
fn transformed_primes(program: &LimbProgram) -> impl Iterator<Item = u16> + '_ {
    let insts = program.procedures.iter().flat_map(|p| &p.insts);
    insts
        .filter(|inst| matches!(inst.op, Op::Ntt | Op::Intt))
        .map(|inst| inst.modulus)
}

impl Split<'_> {
    /// Inputs, calls and outputs: value v of the program is the values from `v P`, the
    /// twists between inputs and results. `twists` are those of each procedure.
    fn globals(&self, new: &mut LimbProgram, twists: &[Vec<TwistId>]) {
        let program = self.program;
        let parts = self.count() as u32;
        for input in &program.inputs {
            new.inputs
                .extend((0..parts as u16).map(|part| InputDecl { part, ..*input }));
        }
        let mut twist_values = BTreeMap::new();
        for call in &program.calls {
            for &(modulus, part) in &twists[call.procedure as usize] {
                twist_values.entry((modulus, part)).or_insert_with(|| {
                    new.inputs.push(InputDecl {
                        source: Source::Twist,
                        ty: LimbType::coeff(modulus),
                        part,
                    });
                    new.inputs.len() as u32 - 1
                });
            }
        }
        let old_inputs = program.inputs.len() as u32;
        let shift = new.inputs.len() as u32 - old_inputs * parts;
        let first = |value: u32| match value < old_inputs {
            true => value * parts,
            false => value * parts + shift,
        };
        for call in &program.calls {
            let args = new.args.len() as u32;
            for &arg in program.call_args(call) {
                new.args.extend((0..parts).map(|part| first(arg) + part));
            }
            let twists = &twists[call.procedure as usize];
            new.args
                .extend(twists.iter().map(|twist| twist_values[twist]));
            new.calls.push(Call {
                args,
                first_result: first(call.first_result),
                ..*call
            });
        }
        for output in &program.outputs {
            new.outputs.extend((0..parts).map(|part| OutputDecl {
                part: part as u16,
                value: first(output.value) + part,
                ..*output
            }));
        }
    }
}
