//! Prints limb programs.

use std::fmt::Write;

use super::line::quote;
use crate::op::OpShape;
use crate::procedure::{Inst, InstView, Procedure};
use crate::program::{LimbProgram, Source};

/// Constants on one line.
const CONSTANTS_PER_LINE: usize = 8;

/// Prints a program that [`crate::verify`] accepts; [`super::parse`] reads back
/// an equal one. (Operands and arguments that no instruction or call uses are
/// not printed; builders leave none.)
#[must_use]
pub fn print(program: &LimbProgram) -> String {
    let mut text = String::new();
    write_program(&mut text, program).expect("writing into a string succeeds");
    text
}

fn write_program(f: &mut String, program: &LimbProgram) -> std::fmt::Result {
    writeln!(f, "limb_program {}", quote(&program.name))?;
    writeln!(f, "log_n {}", program.log_n)?;
    if program.log_parts > 0 {
        writeln!(f, "log_parts {}", program.log_parts)?;
    }
    writeln!(f, "word_bits {}", program.word_bits)?;
    for (i, q) in program.moduli.iter().enumerate() {
        writeln!(f, "modulus m{i} {q}")?;
    }
    for (i, chunk) in program.constants.chunks(CONSTANTS_PER_LINE).enumerate() {
        write!(f, "constant c{}", i * CONSTANTS_PER_LINE)?;
        for c in chunk {
            write!(f, " {c}")?;
        }
        f.push('\n');
    }
    let keys = program.keys.iter().map(|key| &key.name).collect::<Vec<_>>();
    for (what, names) in [
        ("ciphertext", program.ciphertexts.iter().collect()),
        ("plain", program.plains.iter().collect()),
        ("key", keys),
        ("named_output", program.outputs_named.iter().collect()),
    ] {
        for (i, name) in names.into_iter().enumerate() {
            writeln!(f, "{what} {i} {}", quote(name))?;
        }
    }
    for (i, input) in program.inputs.iter().enumerate() {
        write!(f, "input ${i} {} ", input.ty)?;
        write_source(f, input.source)?;
        write_part(f, input.part)?;
        f.push('\n');
    }
    for (i, procedure) in program.procedures.iter().enumerate() {
        writeln!(f, "procedure {i} {}", quote(&procedure.name))?;
        write_procedure(f, procedure)?;
    }
    for call in &program.calls {
        write!(f, "call {} node {} ", call.procedure, call.node)?;
        write!(f, "${} <-", call.first_result)?;
        write_values(f, '$', program.call_args(call))?;
        f.push('\n');
    }
    for out in &program.outputs {
        let (output, poly, limb, value) = (out.output, out.poly, out.limb, out.value);
        write!(f, "output {output} poly {poly} limb {limb}")?;
        write_part(f, out.part)?;
        writeln!(f, " ${value}")?;
    }
    Ok(())
}

fn write_source(f: &mut String, source: Source) -> std::fmt::Result {
    match source {
        Source::Ciphertext { input, poly, limb } => {
            write!(f, "ciphertext {input} poly {poly} limb {limb}")
        }
        Source::Plain { operand, limb } => write!(f, "plain {operand} limb {limb}"),
        Source::Hint {
            key,
            digit,
            poly,
            limb,
        } => write!(f, "hint {key} digit {digit} poly {poly} limb {limb}"),
        Source::Twist => write!(f, "twist"),
    }
}

/// The first part, which whole limbs are, has no word.
fn write_part(f: &mut String, part: u16) -> std::fmt::Result {
    match part {
        0 => Ok(()),
        part => write!(f, " part {part}"),
    }
}

fn write_procedure(f: &mut String, procedure: &Procedure) -> std::fmt::Result {
    for i in 0..procedure.params as usize {
        writeln!(f, "  param %{i} {}", procedure.types[i])?;
    }
    for inst in &procedure.insts {
        write_inst(f, procedure, inst)?;
    }
    f.push_str("  return");
    write_values(f, '%', &procedure.results)?;
    f.push('\n');
    Ok(())
}

fn write_inst(f: &mut String, procedure: &Procedure, inst: &Inst) -> std::fmt::Result {
    for k in 0..Procedure::result_count(inst) {
        let value = inst.dst + k;
        f.push_str(if k == 0 { "  " } else { ", " });
        write!(f, "%{value} {}", procedure.types[value as usize])?;
    }
    write!(f, " = {}", inst.op)?;
    let mut fields = [0; 3];
    match procedure.view(inst, &mut fields) {
        InstView::Fields(list) | InstView::Pairs(list) | InstView::Matrix { srcs: list, .. } => {
            write_values(f, '%', list)?;
        }
    }
    match inst.op.shape() {
        OpShape::UnaryConst | OpShape::BinaryConst | OpShape::Matrix => {
            writeln!(f, " c{}", inst.imm)
        }
        OpShape::Automorphism => writeln!(f, " k{}", inst.imm),
        _ => writeln!(f),
    }
}

fn write_values(f: &mut String, prefix: char, values: &[u32]) -> std::fmt::Result {
    values.iter().try_for_each(|v| write!(f, " {prefix}{v}"))
}
