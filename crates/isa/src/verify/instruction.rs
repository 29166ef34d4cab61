//! Rules for one instruction.

use super::{Fault, Location, Verifier};
use crate::error::IsaError;
use crate::limb::{Domain, LimbType};
use crate::op::{Op, OpShape};
use crate::part::is_automorphism;
use crate::procedure::{Inst, InstView, Procedure};

pub(super) struct InstVerifier<'a> {
    pub(super) verifier: &'a Verifier<'a>,
    pub(super) procedure: &'a Procedure,
    pub(super) at: Location,
    /// Values defined so far.
    pub(super) defined: u32,
}

impl InstVerifier<'_> {
    fn invalid(&self, why: impl Into<String>) -> Fault {
        self.verifier.invalid(self.at, why)
    }

    /// Checks one instruction; returns the number of values defined after it.
    pub(super) fn check(&self, inst: &Inst) -> Result<u32, Fault> {
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
