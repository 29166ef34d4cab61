//! Reads limb programs.

use std::collections::HashMap;

use super::line::{Line, Lines};
use crate::error::IsaError;
use crate::limb::{Domain, LimbType};
use crate::op::{Op, OpShape};
use crate::procedure::{Inst, Procedure};
use crate::program::{Call, InputDecl, KeyDecl, LimbProgram, OutputDecl, Source};
use crate::verify::{Location, verify_located};

/// Reads and verifies a limb program.
///
/// # Errors
/// [`IsaError::Parse`] with the line, for faults of form and of meaning.
pub fn parse(text: &str) -> Result<LimbProgram, IsaError> {
    let mut lines = Lines::new(text);
    parse_lines(&mut lines, "\n").map(|(program, _)| program)
}

/// Reads a program from lines up to the end or to a line whose first word is
/// `stop`; that line comes back too, behind the word.
pub(crate) fn parse_lines<'a>(
    lines: &mut Lines<'a>,
    stop: &str,
) -> Result<(LimbProgram, Option<Line<'a>>), IsaError> {
    let mut parser = Parser::default();
    let mut last = lines.number();
    while let Some(mut line) = lines.next_line() {
        let word = line.word().unwrap_or_default();
        if word == stop {
            return Ok((parser.finish(last)?, Some(line)));
        }
        last = line.number();
        parser.statement(word, &mut line)?;
        line.end()?;
    }
    Ok((parser.finish(last)?, None))
}

#[derive(Default)]
struct Parser {
    program: LimbProgram,
    constants: HashMap<u64, u32>,
    seen: [bool; 4],
    in_procedure: bool,
    places: Places,
}

/// The lines of what the verifier may complain about.
#[derive(Default)]
struct Places {
    header: usize,
    inputs: Vec<usize>,
    procedures: Vec<usize>,
    insts: Vec<Vec<usize>>,
    calls: Vec<usize>,
    outputs: Vec<usize>,
}

impl Places {
    fn line(&self, at: Location) -> usize {
        match at {
            Location::Header => self.header,
            Location::Input(i) => self.inputs[i],
            Location::Procedure(p) => self.procedures[p],
            Location::Inst(p, i) => self.insts[p][i],
            Location::Call(c) => self.calls[c],
            Location::Output(o) => self.outputs[o],
        }
    }
}

impl Parser {
    fn finish(self, last: usize) -> Result<LimbProgram, IsaError> {
        let fail = |line: usize, why: String| Err(IsaError::Parse { line, why });
        let names = ["limb_program", "log_n", "word_bits"];
        if let Some(missing) = (0..3).find(|&i| !self.seen[i]) {
            return fail(last, format!("the program lacks its `{}`", names[missing]));
        }
        if self.in_procedure {
            return fail(last, "the last procedure lacks its `return`".to_owned());
        }
        match verify_located(&self.program) {
            Ok(()) => Ok(self.program),
            Err(fault) => fail(self.places.line(fault.at), fault.error.to_string()),
        }
    }

    fn statement(&mut self, word: &str, line: &mut Line<'_>) -> Result<(), IsaError> {
        if self.in_procedure {
            return self.procedure_line(word, line);
        }
        match word {
            "limb_program" => {
                self.once(0, word, line)?;
                self.places.header = line.number();
                self.program.name = line.quoted()?;
            }
            "log_n" => {
                self.once(1, word, line)?;
                self.program.log_n = line.number_of("a number")?;
            }
            "log_parts" => {
                self.once(3, word, line)?;
                self.program.log_parts = line.number_of("a number")?;
            }
            "word_bits" => {
                self.once(2, word, line)?;
                self.program.word_bits = line.number_of("a number")?;
            }
            "modulus" => {
                line.index("m", "modulus", self.program.moduli.len())?;
                self.program.moduli.push(line.number_of("a modulus")?);
            }
            "constant" => self.constant_line(line)?,
            "ciphertext" => name(line, word, &mut self.program.ciphertexts)?,
            "plain" => name(line, word, &mut self.program.plains)?,
            "named_output" => name(line, word, &mut self.program.outputs_named)?,
            "key" => {
                line.index("", word, self.program.keys.len())?;
                let name = line.quoted()?;
                self.program.keys.push(KeyDecl { name });
            }
            "input" => {
                line.index("$", "input", self.program.inputs.len())?;
                let ty = limb_type(line)?;
                let source = source(line)?;
                let part = part(line)?;
                self.program.inputs.push(InputDecl { source, ty, part });
                self.places.inputs.push(line.number());
            }
            "procedure" => {
                line.index("", word, self.program.procedures.len())?;
                let name = line.quoted()?;
                self.program.procedures.push(Procedure {
                    name,
                    ..Procedure::default()
                });
                self.places.procedures.push(line.number());
                self.places.insts.push(Vec::new());
                self.in_procedure = true;
            }
            "call" => self.call(line)?,
            "output" => self.output(line)?,
            other => return line.fail(format!("unknown statement `{other}`")),
        }
        Ok(())
    }

    fn once(&mut self, which: usize, word: &str, line: &Line<'_>) -> Result<(), IsaError> {
        if std::mem::replace(&mut self.seen[which], true) {
            return line.fail(format!("`{word}` is given twice"));
        }
        Ok(())
    }

    fn constant_line(&mut self, line: &mut Line<'_>) -> Result<(), IsaError> {
        line.index("c", "constant", self.program.constants.len())?;
        while line.peek().is_some() {
            let value = line.number_of("a constant")?;
            self.append_constant(value);
        }
        Ok(())
    }

    fn append_constant(&mut self, value: u64) -> u32 {
        let index = self.program.constants.len() as u32;
        self.program.constants.push(value);
        *self.constants.entry(value).or_insert(index)
    }

    fn call(&mut self, line: &mut Line<'_>) -> Result<(), IsaError> {
        let procedure = line.number_of("a procedure")?;
        let node = line.field("node")?;
        let first_result = line.prefixed("$", "the first result")?;
        line.expect("<-")?;
        let args = self.program.args.len() as u32;
        while line.peek().is_some() {
            self.program.args.push(line.prefixed("$", "an argument")?);
        }
        let found = self.program.args.len() as u32 - args;
        match self.program.procedures.get(procedure as usize) {
            Some(callee) if callee.params != found => {
                let expected = callee.params;
                return line.fail(format!("{expected} arguments are needed, found {found}"));
            }
            _ => {}
        }
        self.program.calls.push(Call {
            procedure,
            args,
            first_result,
            node,
        });
        self.places.calls.push(line.number());
        Ok(())
    }

    fn output(&mut self, line: &mut Line<'_>) -> Result<(), IsaError> {
        let output = line.number_of("an output")?;
        let poly = line.field("poly")?;
        let limb = line.field("limb")?;
        let part = part(line)?;
        let value = line.prefixed("$", "a value")?;
        self.program.outputs.push(OutputDecl {
            output,
            poly,
            limb,
            part,
            value,
        });
        self.places.outputs.push(line.number());
        Ok(())
    }

    fn procedure_line(&mut self, word: &str, line: &mut Line<'_>) -> Result<(), IsaError> {
        let procedure = self.program.procedures.last_mut().expect("inside one");
        match word {
            "param" => {
                if !procedure.insts.is_empty() {
                    return line.fail("parameters come before the first instruction");
                }
                line.index("%", "parameter", procedure.types.len())?;
                procedure.types.push(limb_type(line)?);
                procedure.params += 1;
                Ok(())
            }
            "return" => {
                while line.peek().is_some() {
                    procedure.results.push(line.prefixed("%", "a result")?);
                }
                self.in_procedure = false;
                Ok(())
            }
            word if word.starts_with('%') => self.inst(word, line),
            other => line.fail(format!(
                "expected `param`, `return` or `%VALUE TYPE = ...`, found `{other}`"
            )),
        }
    }

    fn inst(&mut self, first: &str, line: &mut Line<'_>) -> Result<(), IsaError> {
        let procedure = self.program.procedures.last_mut().expect("inside one");
        let dst = procedure.types.len() as u32;
        Line::new(first, line.number()).index("%", "value", dst as usize)?;
        procedure.types.push(limb_type(line)?);
        while !line.accept("=") {
            line.index("%", "value", procedure.types.len())?;
            procedure.types.push(limb_type(line)?);
        }
        let count = procedure.types.len() as u32 - dst;
        let mnemonic = line.word().unwrap_or_default();
        let Some(op) = Op::from_name(mnemonic) else {
            return line.fail(format!("unknown operation `{mnemonic}`"));
        };
        if count > 1 && op != Op::BConv {
            return line.fail(format!("{op} defines one value"));
        }
        let mut inst = Inst {
            op,
            modulus: procedure.types[dst as usize].modulus,
            dst,
            a: 0,
            b: 0,
            c: 0,
            imm: 0,
        };
        operands(procedure, &mut inst, count, line)?;
        inst.imm = self.immediate(op, line)?;
        let procedure = self.program.procedures.last_mut().expect("inside one");
        procedure.insts.push(inst);
        if let Some(lines) = self.places.insts.last_mut() {
            lines.push(line.number());
        }
        Ok(())
    }

    fn immediate(&mut self, op: Op, line: &mut Line<'_>) -> Result<u32, IsaError> {
        match op.shape() {
            OpShape::Automorphism => line.prefixed("k", "an exponent"),
            OpShape::Matrix => line.prefixed("c", "a constant"),
            OpShape::UnaryConst | OpShape::BinaryConst => {
                let Some(value) = line.accept_prefixed("=", "a constant")? else {
                    return line.prefixed("c", "a constant");
                };
                match self.constants.get(&value) {
                    Some(&index) => Ok(index),
                    None => Ok(self.append_constant(value)),
                }
            }
            _ => Ok(0),
        }
    }
}

/// Reads the operands of an instruction into its fields or the operand pool.
fn operands(
    procedure: &mut Procedure,
    inst: &mut Inst,
    results: u32,
    line: &mut Line<'_>,
) -> Result<(), IsaError> {
    if inst.op.field_sources() > 0 {
        for field in [&mut inst.a, &mut inst.b, &mut inst.c]
            .into_iter()
            .take(inst.op.field_sources())
        {
            *field = line.prefixed("%", "an operand")?;
        }
        return Ok(());
    }
    inst.a = procedure.operands.len() as u32;
    while let Some(value) = line.accept_prefixed("%", "an operand")? {
        procedure.operands.push(value);
    }
    let count = procedure.operands.len() as u32 - inst.a;
    if inst.op == Op::Dot {
        if !count.is_multiple_of(2) {
            return line.fail("dot takes pairs, but the number of its operands is odd");
        }
        inst.b = count / 2;
    } else {
        inst.b = count;
        inst.c = results;
        let types = &procedure.types[inst.dst as usize..];
        let moduli = types.iter().map(|ty| u32::from(ty.modulus));
        procedure.operands.extend(moduli);
    }
    Ok(())
}

fn name(line: &mut Line<'_>, what: &str, names: &mut Vec<String>) -> Result<(), IsaError> {
    line.index("", what, names.len())?;
    names.push(line.quoted()?);
    Ok(())
}

fn limb_type(line: &mut Line<'_>) -> Result<LimbType, IsaError> {
    for (prefix, domain) in [("eval:m", Domain::Eval), ("coeff:m", Domain::Coeff)] {
        if let Some(modulus) = line.accept_prefixed(prefix, "a type")? {
            return Ok(LimbType { modulus, domain });
        }
    }
    let found = line.found();
    line.fail(format!(
        "expected a type as `eval:m0` or `coeff:m0`, found {found}"
    ))
}

fn source(line: &mut Line<'_>) -> Result<Source, IsaError> {
    let kind = line.word().unwrap_or_default();
    match kind {
        "ciphertext" => Ok(Source::Ciphertext {
            input: line.number_of("a ciphertext")?,
            poly: line.field("poly")?,
            limb: line.field("limb")?,
        }),
        "plain" => Ok(Source::Plain {
            operand: line.number_of("a plain operand")?,
            limb: line.field("limb")?,
        }),
        "hint" => Ok(Source::Hint {
            key: line.number_of("a key")?,
            digit: line.field("digit")?,
            poly: line.field("poly")?,
            limb: line.field("limb")?,
        }),
        "twist" => Ok(Source::Twist),
        other => line.fail(format!(
            "expected `ciphertext`, `plain`, `hint` or `twist`, found `{other}`"
        )),
    }
}

/// A part other than the first.
fn part(line: &mut Line<'_>) -> Result<u16, IsaError> {
    match line.peek() {
        Some("part") => line.field("part"),
        _ => Ok(0),
    }
}
