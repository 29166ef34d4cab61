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

use std::collections::HashSet;

use crate::error::IsaError;
use crate::limb::{Domain, LimbType};
use crate::op::{Op, OpShape};
use crate::part::{MAX_LOG_N_OF_PARTS, is_automorphism};
use crate::procedure::{Inst, InstView, Procedure};
use crate::program::{LimbProgram, Source};

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

struct InstVerifier<'a> {
    verifier: &'a Verifier<'a>,
    procedure: &'a Procedure,
    at: Location,
    /// Values defined so far.
    defined: u32,
}

impl InstVerifier<'_> {
    fn invalid(&self, why: impl Into<String>) -> Fault {
        self.verifier.invalid(self.at, why)
    }

    /// Checks one instruction; returns the number of values defined after it.
    fn check(&self, inst: &Inst) -> Result<u32, Fault> {
        let program = self.verifier.program;
        self.verifier
            .in_range(self.at, "modulus", inst.modulus, program.moduli.len())?;
        self.fields(inst)?;
        let end = u64::from(inst.dst) + u64::from(Procedure::result_count(inst));
        if inst.dst != self.defined || end > self.procedure.types.len() as u64 {
            return Err(self.invalid(format!(
                "it defines %{}, but %{} comes next (and each needs a type)",
                inst.dst, self.defined
            )));
        }
        let dst = self.procedure.types[inst.dst as usize];
        if dst.modulus != inst.modulus {
            let modulus = inst.modulus;
            return Err(self.invalid(format!("%{} is {dst}, not modulo m{modulus}", inst.dst)));
        }
        let (from, to) = domains(inst.op, dst.domain);
        if dst.domain != to {
            return Err(self.invalid(format!("{} gives a limb in {to} domain", inst.op)));
        }
        let mut fields = [0; 3];
        match self.procedure.view(inst, &mut fields) {
            InstView::Fields(sources) => {
                for (field, &source) in sources.iter().enumerate() {
                    let any = inst.op.reads_any_prime(field);
                    self.source(inst.op, source, (!any).then_some(inst.modulus), from)?;
                }
            }
            InstView::Pairs(sources) => {
                for &source in sources {
                    self.source(inst.op, source, None, from)?;
                }
            }
            InstView::Matrix { srcs, dst_moduli } => {
                for &source in srcs {
                    self.source(inst.op, source, None, from)?;
                }
                self.destinations(inst, dst_moduli, from)?;
            }
        }
        self.immediate(inst)?;
        Ok(end as u32)
    }

    /// Unused fields are zero and lists lie in the operand pool.
    fn fields(&self, inst: &Inst) -> Result<(), Fault> {
        let fields = [inst.a, inst.b, inst.c];
        let (unused, list) = match inst.op.shape() {
            OpShape::Pairs => (&fields[2..], 2 * u64::from(inst.b)),
            OpShape::Matrix => (&fields[3..], u64::from(inst.b) + u64::from(inst.c)),
            _ => (&fields[inst.op.field_sources()..], 0),
        };
        let immediate = matches!(
            inst.op.shape(),
            OpShape::UnaryConst | OpShape::BinaryConst | OpShape::Automorphism | OpShape::Matrix
        );
        if unused.iter().any(|&f| f != 0) || (!immediate && inst.imm != 0) {
            return Err(self.invalid(format!("a field that {} does not use is not 0", inst.op)));
        }
        if inst.op.field_sources() > 0 {
            return Ok(());
        }
        if inst.b == 0 || (inst.op == Op::BConv && inst.c == 0) {
            return Err(self.invalid(format!("{} has no operands", inst.op)));
        }
        let pool = self.procedure.operands.len();
        let end = u64::from(inst.a) + list;
        self.verifier
            .in_range(self.at, "end of operand list", end, pool + 1)
    }

    fn source(&self, op: Op, value: u32, modulus: Option<u16>, from: Domain) -> Result<(), Fault> {
        if value >= self.defined {
            return Err(self.verifier.undefined(self.at, value));
        }
        let ty = self.procedure.types[value as usize];
        if ty.domain == from && modulus.is_none_or(|m| m == ty.modulus) {
            return Ok(());
        }
        let expected = match modulus {
            Some(m) => format!("a limb in {from} domain modulo m{m}"),
            None => format!("a limb in {from} domain"),
        };
        let error = IsaError::WrongType {
            place: self.at.describe(self.verifier.program),
            op,
            value,
            expected,
            found: ty.to_string(),
        };
        Err(Fault { at: self.at, error })
    }

    fn destinations(&self, inst: &Inst, moduli: &[u32], domain: Domain) -> Result<(), Fault> {
        let types = &self.procedure.types[inst.dst as usize..][..inst.c as usize];
        let agrees =
            |(&ty, &m): (&LimbType, &u32)| ty.domain == domain && u32::from(ty.modulus) == m;
        if types.iter().zip(moduli).all(agrees) {
            Ok(())
        } else {
            Err(self.invalid("the destinations have other types than the operand list says"))
        }
    }

    fn immediate(&self, inst: &Inst) -> Result<(), Fault> {
        let program = self.verifier.program;
        let count = match inst.op.shape() {
            OpShape::UnaryConst | OpShape::BinaryConst => 1,
            OpShape::Matrix => u64::from(inst.b) * u64::from(inst.c),
            OpShape::Automorphism => {
                if inst.op == Op::AutCoeff && program.log_parts > 0 {
                    return Err(self.invalid("autc permutes whole limbs only, not parts"));
                }
                return if is_automorphism(inst.imm, program.log_n, program.log_parts) {
                    Ok(())
                } else {
                    let k = inst.imm;
                    Err(self.invalid(format!("the automorphism {k} has no odd exponent below 2N, or an offset that is none of parts")))
                };
            }
            _ => return Ok(()),
        };
        let constants = &program.constants;
        let end = u64::from(inst.imm) + count;
        self.verifier
            .in_range(self.at, "last constant", end, constants.len() + 1)?;
        let used = &constants[inst.imm as usize..][..count as usize];
        let columns = if inst.op == Op::BConv {
            inst.c as usize
        } else {
            1
        };
        for (i, &c) in used.iter().enumerate() {
            let ty = self.procedure.types[inst.dst as usize + i % columns];
            let q = program.moduli[usize::from(ty.modulus)];
            if c >= q {
                return Err(self.invalid(format!("the constant {c} is not below the modulus {q}")));
            }
        }
        Ok(())
    }
}

/// Domain of the sources and of the result, given the destination's.
fn domains(op: Op, dst: Domain) -> (Domain, Domain) {
    match op {
        Op::Ntt => (Domain::Coeff, Domain::Eval),
        Op::Intt => (Domain::Eval, Domain::Coeff),
        Op::AutEval => (Domain::Eval, Domain::Eval),
        Op::AutCoeff => (Domain::Coeff, Domain::Coeff),
        _ => (dst, dst),
    }
}
