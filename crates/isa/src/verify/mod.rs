//! The verifier of limb programs. Everything that executes, prints or
//! schedules a program may rely on what it has checked.
//!
//! Rules, beyond "every index lies in its table":
//! - values are defined before their use, each exactly once, in order;
//! - results have the prime that the instruction names; an operand of another
//!   prime is read only where [`Op::reads_any_prime`] allows it;
//! - `NTT` goes from coefficients to values and `INTT` back in one prime, the
//!   two automorphisms stay in theirs, everything else stays in one domain;
//! - constants are canonical modulo the prime that they are used with,
//!   exponents of automorphisms are odd and below 2N;
//! - twists are inputs of programs on parts only, and offsets of automorphisms
//!   are 0 elsewhere;
//! - fields that an operation does not use are zero;
//! - arguments have exactly the types of the parameters;
//! - input and output limbs are declared once.
//!
//! That the moduli are primes with a 2N-th root of unity is the ring's to check.

mod instruction;

use std::collections::HashSet;

use crate::error::IsaError;
use crate::limb::{Domain, LimbType};
use crate::part::MAX_LOG_N_OF_PARTS;
use crate::program::{LimbProgram, Source};
use crate::verify::instruction::InstVerifier;

/// Where in a program a fault lies; the text form turns it into a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Location {
    Header,
    Input(usize),
    Procedure(usize),
    Inst(usize, usize),
    Call(usize),
    Output(usize),
}

impl Location {
    fn describe(self, program: &LimbProgram) -> String {
        let name = |p: usize| program.procedures[p].name.clone();
        match self {
            Location::Header => "program".to_owned(),
            Location::Input(i) => format!("input ${i}"),
            Location::Procedure(p) => format!("procedure {}", name(p)),
            Location::Inst(p, i) => format!("procedure {}, instruction {i}", name(p)),
            Location::Call(c) => format!("call {c}"),
            Location::Output(o) => format!("output limb {o}"),
        }
    }
}

/// A fault and where it is.
pub(crate) struct Fault {
    pub(crate) at: Location,
    pub(crate) error: IsaError,
}

/// Largest accepted log2 of the ring degree.
pub(crate) const MAX_LOG_N: u32 = 20;

/// Checks that a limb program is well formed.
///
/// # Errors
/// The first fault, with its place and what to change.
///
/// # Cost
/// Linear in the program's size; it never expands the calls.
pub fn verify(program: &LimbProgram) -> Result<(), IsaError> {
    verify_located(program).map_err(|fault| fault.error)
}

pub(crate) fn verify_located(program: &LimbProgram) -> Result<(), Fault> {
    let verifier = Verifier { program };
    verifier.header()?;
    verifier.inputs()?;
    for index in 0..program.procedures.len() {
        verifier.procedure(index)?;
    }
    let globals = verifier.calls()?;
    verifier.outputs(&globals)
}

struct Verifier<'a> {
    program: &'a LimbProgram,
}

impl Verifier<'_> {
    fn invalid(&self, at: Location, why: impl Into<String>) -> Fault {
        let (place, why) = (at.describe(self.program), why.into());
        Fault {
            at,
            error: IsaError::Invalid { place, why },
        }
    }

    fn in_range(
        &self,
        at: Location,
        what: &'static str,
        index: impl Into<u64>,
        count: usize,
    ) -> Result<(), Fault> {
        let (index, count) = (index.into(), count as u64);
        if index < count {
            return Ok(());
        }
        let place = at.describe(self.program);
        let error = IsaError::OutOfRange {
            place,
            what,
            index,
            count,
        };
        Err(Fault { at, error })
    }

    fn header(&self) -> Result<(), Fault> {
        let program = self.program;
        let fault = |why: String| Err(self.invalid(Location::Header, why));
        if !(1..=MAX_LOG_N).contains(&program.log_n) {
            return fault(format!("log_n {} is not in 1..={MAX_LOG_N}", program.log_n));
        }
        let whole = program.log_n.saturating_add(program.log_parts);
        if program.log_parts > 0 && (program.log_n > MAX_LOG_N_OF_PARTS || whole > MAX_LOG_N) {
            return fault(format!(
                "log_parts {} is too large: parts have at most 2^{MAX_LOG_N_OF_PARTS} words, \
                 limbs 2^{MAX_LOG_N}",
                program.log_parts
            ));
        }
        let bits = match program.word_bits {
            32 => 32,
            64 => 61,
            other => return fault(format!("word_bits is 32 or 64, not {other}")),
        };
        if program.moduli.is_empty() || program.moduli.len() > usize::from(u16::MAX) {
            let count = program.moduli.len();
            return fault(format!("there are {count} moduli; 1 to 65535 are possible"));
        }
        for (i, &q) in program.moduli.iter().enumerate() {
            if q < 3 || q % 2 == 0 || q >> bits != 0 {
                return fault(format!(
                    "modulus m{i} = {q} is not an odd number of 2 to {bits} bits"
                ));
            }
        }
        Ok(())
    }

    fn inputs(&self) -> Result<(), Fault> {
        let program = self.program;
        let mut seen = HashSet::new();
        for (i, input) in program.inputs.iter().enumerate() {
            let at = Location::Input(i);
            let modulus = input.ty.modulus;
            self.in_range(at, "modulus", modulus, program.moduli.len())?;
            let poly = match input.source {
                Source::Ciphertext { input, poly, .. } => {
                    self.in_range(at, "ciphertext", input, program.ciphertexts.len())?;
                    poly
                }
                Source::Plain { operand, .. } => {
                    self.in_range(at, "plain operand", operand, program.plains.len())?;
                    0
                }
                Source::Hint { key, poly, .. } => {
                    self.in_range(at, "key", key, program.keys.len())?;
                    poly
                }
                Source::Twist if program.log_parts > 0 && input.ty.domain == Domain::Coeff => 0,
                Source::Twist => {
                    let why = "a twist is a limb in coeff domain of a program on parts";
                    return Err(self.invalid(at, why));
                }
            };
            self.in_range(at, "part", input.part, 1 << program.log_parts)?;
            if poly > 1 {
                return Err(self.invalid(at, format!("poly is 0 or 1, not {poly}")));
            }
            // Twists modulo different primes differ.
            let prime = (input.source == Source::Twist).then_some(modulus);
            if !seen.insert((input.source, input.part, prime)) {
                return Err(self.invalid(at, "the same limb is already an input: use that value"));
            }
        }
        Ok(())
    }

    fn procedure(&self, index: usize) -> Result<(), Fault> {
        let procedure = &self.program.procedures[index];
        let at = Location::Procedure(index);
        let moduli = self.program.moduli.len();
        for ty in &procedure.types {
            self.in_range(at, "modulus", ty.modulus, moduli)?;
        }
        if procedure.params as usize > procedure.types.len() {
            return Err(self.invalid(at, "a parameter has no type"));
        }
        let mut defined = procedure.params;
        for (i, inst) in procedure.insts.iter().enumerate() {
            defined = InstVerifier {
                verifier: self,
                procedure,
                at: Location::Inst(index, i),
                defined,
            }
            .check(inst)?;
        }
        if defined as usize != procedure.types.len() {
            return Err(self.invalid(at, "there are more types than values"));
        }
        match procedure.results.iter().find(|&&r| r >= defined) {
            Some(&value) => Err(self.undefined(at, value)),
            None => Ok(()),
        }
    }

    fn undefined(&self, at: Location, value: u32) -> Fault {
        let place = at.describe(self.program);
        Fault {
            at,
            error: IsaError::UndefinedValue { place, value },
        }
    }

    /// Checks the calls; returns the type of every global value.
    fn calls(&self) -> Result<Vec<LimbType>, Fault> {
        let program = self.program;
        let mut types: Vec<LimbType> = program.inputs.iter().map(|i| i.ty).collect();
        let mut instructions = 0u64;
        for (i, call) in program.calls.iter().enumerate() {
            let at = Location::Call(i);
            self.in_range(at, "procedure", call.procedure, program.procedures.len())?;
            let procedure = &program.procedures[call.procedure as usize];
            if call.first_result as usize != types.len() {
                let (found, expected) = (call.first_result, types.len());
                let why = format!("its first result is ${found}, but ${expected} comes next");
                return Err(self.invalid(at, why));
            }
            let end = u64::from(call.args) + u64::from(procedure.params);
            self.in_range(at, "last argument", end, program.args.len() + 1)?;
            self.call_args(i, &types)?;
            types.extend(
                procedure
                    .results
                    .iter()
                    .map(|&r| procedure.types[r as usize]),
            );
            instructions += procedure.insts.len() as u64;
            if types.len() as u64 > u64::from(u32::MAX >> 1) || instructions > 1 << 31 {
                return Err(self.invalid(at, "the program has more than 2^31 values"));
            }
        }
        Ok(types)
    }

    fn call_args(&self, index: usize, types: &[LimbType]) -> Result<(), Fault> {
        let call = &self.program.calls[index];
        let procedure = &self.program.procedures[call.procedure as usize];
        let args = self.program.call_args(call);
        for (k, (&arg, &param)) in args.iter().zip(&procedure.types).enumerate() {
            let why = match types.get(arg as usize) {
                None => format!("argument {k} is ${arg}, which is not defined before the call"),
                Some(&ty) if ty != param => {
                    format!("argument {k}, ${arg}, is {ty}, but the parameter is {param}")
                }
                Some(_) => continue,
            };
            let error = IsaError::BadCall {
                call: index,
                procedure: procedure.name.clone(),
                why,
            };
            let at = Location::Call(index);
            return Err(Fault { at, error });
        }
        Ok(())
    }

    fn outputs(&self, globals: &[LimbType]) -> Result<(), Fault> {
        let mut seen = HashSet::new();
        for (i, out) in self.program.outputs.iter().enumerate() {
            let at = Location::Output(i);
            self.in_range(at, "output", out.output, self.program.outputs_named.len())?;
            self.in_range(at, "value", out.value, globals.len())?;
            self.in_range(at, "part", out.part, 1 << self.program.log_parts)?;
            if !seen.insert((out.output, out.poly, out.limb, out.part)) {
                return Err(self.invalid(at, "the same limb is already an output"));
            }
        }
        Ok(())
    }
}
