//! The text form of HE programs: one declaration or node a line, read back exactly.
//!
//! ```text
//! he-program 1
//! name "inner product"
//! scheme bgv 65537
//! log_n 14
//! public_key
//! file "matvec.py"
//! input "row"
//! plain "mask" scale_bits=none values 1.0 0.0 1.0
//! output "sum"
//! %0 = input input=0 @0:7
//! %1 = rotate %0 steps=1 @0:9
//! %2 = output %1 output=0 @0:10
//! ```
//!
//! `public_key` stands there only if inputs may be encrypted under the public key.

use std::fmt::Write as _;
use std::str::FromStr;

use crate::error::ProgramError;
use crate::graph::{Graph, HeOp, PlainOperand, Scheme, Span};

/// Version of the text form.
const VERSION: u32 = 1;

impl Graph {
    /// The program as text, plain values included.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = format!("he-program {VERSION}\n");
        let _ = writeln!(out, "name {:?}", self.name);
        let _ = match self.scheme {
            Scheme::Ckks => writeln!(out, "scheme ckks"),
            Scheme::Bgv { plaintext_modulus } => writeln!(out, "scheme bgv {plaintext_modulus}"),
        };
        let _ = writeln!(out, "log_n {}", self.log_n);
        if self.public_key {
            out.push_str("public_key\n");
        }
        for file in &self.files {
            let _ = writeln!(out, "file {file:?}");
        }
        for input in &self.inputs {
            let _ = writeln!(out, "input {input:?}");
        }
        for plain in &self.plains {
            print_plain(&mut out, plain);
        }
        for output in &self.outputs {
            let _ = writeln!(out, "output {output:?}");
        }
        print_measured(&mut out, "measured", &self.measured);
        print_measured(&mut out, "measured_plains", &self.measured_plains);
        for (index, node) in self.nodes.iter().enumerate() {
            let _ = write!(out, "%{index} = {}", node.op.name());
            let (args, count) = node.op.args();
            for arg in &args[..count] {
                let _ = write!(out, " %{arg}");
            }
            print_attributes(&mut out, node.op);
            let _ = writeln!(out, " @{}:{}", node.span.file, node.span.line);
        }
        out
    }

    /// Reads the text form and verifies the program.
    ///
    /// # Errors
    /// [`ProgramError::Parse`] with the line, or what [`Graph::verify`] finds.
    pub fn from_text(text: &str) -> Result<Self, ProgramError> {
        let mut graph = Graph::new("", Scheme::Ckks, 0);
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            read_line(&mut graph, number, line).map_err(|why| ProgramError::Parse {
                line: number + 1,
                why,
            })?;
        }
        graph.verify()?;
        Ok(graph)
    }
}

fn print_bits(bits: Option<f64>) -> String {
    bits.map_or_else(|| "none".to_owned(), |b| format!("{b:?}"))
}

fn print_measured(out: &mut String, word: &str, values: &[f64]) {
    if values.is_empty() {
        return;
    }
    out.push_str(word);
    for value in values {
        let _ = write!(out, " {value:?}");
    }
    out.push('\n');
}

fn print_plain(out: &mut String, plain: &PlainOperand) {
    let _ = write!(
        out,
        "plain {:?} scale_bits={}",
        plain.name,
        print_bits(plain.scale_bits)
    );
    match &plain.values {
        None => out.push_str(" runtime"),
        Some(values) => {
            out.push_str(" values");
            for v in values.iter() {
                let _ = write!(out, " {v:?}");
            }
        }
    }
    out.push('\n');
}

fn print_attributes(out: &mut String, op: HeOp) {
    let _ = match op {
        HeOp::Input { input, scale_bits } => {
            write!(out, " input={input} scale_bits={}", print_bits(scale_bits))
        }
        HeOp::AddPlain { plain, .. }
        | HeOp::SubPlain { plain, .. }
        | HeOp::MulPlain { plain, .. } => write!(out, " plain={plain}"),
        HeOp::AddScalar { value, .. } => write!(out, " value={value:?}"),
        HeOp::MulScalar {
            value, scale_bits, ..
        } => {
            write!(
                out,
                " value={value:?} scale_bits={}",
                print_bits(scale_bits)
            )
        }
        HeOp::Rotate { steps, .. } => write!(out, " steps={steps}"),
        HeOp::Output { output, .. } => write!(out, " output={output}"),
        _ => Ok(()),
    };
}

fn read_line(graph: &mut Graph, number: usize, line: &str) -> Result<(), String> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    if number == 0 {
        return match (word, rest.parse::<u32>()) {
            ("he-program", Ok(VERSION)) => Ok(()),
            ("he-program", _) => Err(format!("version {rest} where {VERSION} is read")),
            _ => Err("expected `he-program 1`".to_owned()),
        };
    }
    match word {
        "name" => graph.name = quoted(rest)?.0,
        "scheme" => graph.scheme = read_scheme(rest)?,
        "log_n" => {
            graph.log_n = number_of(rest)?;
            if !(4..=17).contains(&graph.log_n) {
                return Err(format!("log_n {} is outside 4..=17", graph.log_n));
            }
        }
        "public_key" if rest.is_empty() => graph.public_key = true,
        "file" => graph.files.push(quoted(rest)?.0),
        "input" => graph.inputs.push(quoted(rest)?.0),
        "output" => graph.outputs.push(quoted(rest)?.0),
        "plain" => graph.plains.push(read_plain(rest)?),
        "measured" => graph.measured = numbers(rest)?,
        "measured_plains" => graph.measured_plains = numbers(rest)?,
        _ if word.starts_with('%') => read_node(graph, line)?,
        _ => return Err(format!("unknown declaration `{word}`")),
    }
    Ok(())
}

fn read_scheme(rest: &str) -> Result<Scheme, String> {
    match rest.split_once(' ') {
        None if rest == "ckks" => Ok(Scheme::Ckks),
        Some(("bgv", t)) => match number_of(t)? {
            t @ 2.. => Ok(Scheme::Bgv {
                plaintext_modulus: t,
            }),
            t => Err(format!("plaintext modulus {t} is below 2")),
        },
        _ => Err(format!("unknown scheme `{rest}`; write `ckks` or `bgv T`")),
    }
}

fn number_of<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not a number in range"))
}

fn numbers(text: &str) -> Result<Vec<f64>, String> {
    text.split_whitespace().map(number_of).collect()
}

/// A quoted string with Rust's escapes for `"`, `\` and control characters, and the rest of the line.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let body = text.strip_prefix('"').ok_or("expected a quoted name")?;
    let mut name = String::new();
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((name, body[at + 1..].trim_start())),
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => name.push('\n'),
                Some('t') => name.push('\t'),
                Some('r') => name.push('\r'),
                Some('0') => name.push('\0'),
                Some(c @ ('"' | '\\' | '\'')) => name.push(c),
                Some('u') => name.push(unicode_escape(&mut chars)?),
                _ => return Err("unknown escape in a name".to_owned()),
            },
            c => name.push(c),
        }
    }
    Err("the name has no closing quote".to_owned())
}

fn unicode_escape(chars: &mut std::str::CharIndices<'_>) -> Result<char, String> {
    let digits: String = chars
        .map(|(_, c)| c)
        .skip_while(|&c| c == '{')
        .take_while(|&c| c != '}')
        .take(8)
        .collect();
    u32::from_str_radix(&digits, 16)
        .ok()
        .and_then(char::from_u32)
        .ok_or_else(|| format!("`{digits}` is no character"))
}

fn read_plain(rest: &str) -> Result<PlainOperand, String> {
    let (name, rest) = quoted(rest)?;
    let (bits, rest) = rest
        .split_once(' ')
        .ok_or("expected scale_bits and values")?;
    let scale_bits = optional_bits(
        bits.strip_prefix("scale_bits=")
            .ok_or("expected scale_bits=")?,
    )?;
    let values = match rest.split_once(' ').unwrap_or((rest, "")) {
        ("runtime", "") => None,
        ("values", list) => Some(numbers(list)?),
        _ => return Err("expected `runtime` or `values ...`".to_owned()),
    };
    Ok(PlainOperand {
        name,
        values,
        scale_bits,
    })
}

fn optional_bits(text: &str) -> Result<Option<f64>, String> {
    if text == "none" {
        Ok(None)
    } else {
        number_of(text).map(Some)
    }
}

/// The words of a node's line.
struct Words<'a> {
    args: Vec<u32>,
    attributes: Vec<(&'a str, &'a str)>,
    span: Span,
}

impl<'a> Words<'a> {
    fn read(words: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let mut read = Words {
            args: Vec::new(),
            attributes: Vec::new(),
            span: Span::default(),
        };
        for word in words {
            if let Some(arg) = word.strip_prefix('%') {
                read.args.push(number_of(arg)?);
            } else if let Some(place) = word.strip_prefix('@') {
                let (file, line) = place.split_once(':').ok_or("expected @file:line")?;
                read.span = Span {
                    file: number_of(file)?,
                    line: number_of(line)?,
                };
            } else {
                let pair = word
                    .split_once('=')
                    .ok_or_else(|| format!("stray word `{word}`"))?;
                read.attributes.push(pair);
            }
        }
        Ok(read)
    }

    fn arg(&self, index: usize) -> Result<u32, String> {
        self.args
            .get(index)
            .copied()
            .ok_or_else(|| format!("operand {index} is missing"))
    }

    fn text(&self, name: &str) -> Result<&'a str, String> {
        let found = self.attributes.iter().find(|(key, _)| *key == name);
        found
            .map(|(_, value)| *value)
            .ok_or_else(|| format!("attribute {name}= is missing"))
    }

    fn value<T: FromStr>(&self, name: &str) -> Result<T, String> {
        number_of(self.text(name)?)
    }

    fn bits(&self) -> Result<Option<f64>, String> {
        optional_bits(self.text("scale_bits")?)
    }
}

fn read_node(graph: &mut Graph, line: &str) -> Result<(), String> {
    let (index, body) = line
        .split_once(" = ")
        .ok_or("expected `%index = operation ...`")?;
    let index: usize = number_of(index.trim_start_matches('%'))?;
    if index != graph.nodes.len() {
        return Err(format!(
            "node %{index} where %{} is next",
            graph.nodes.len()
        ));
    }
    let mut words = body.split_whitespace();
    let name = words.next().ok_or("expected an operation")?;
    let words = Words::read(words)?;
    let op = match name {
        "input" => HeOp::Input {
            input: words.value("input")?,
            scale_bits: words.bits()?,
        },
        "add" => HeOp::Add {
            a: words.arg(0)?,
            b: words.arg(1)?,
        },
        "sub" => HeOp::Sub {
            a: words.arg(0)?,
            b: words.arg(1)?,
        },
        "mul" => HeOp::Mul {
            a: words.arg(0)?,
            b: words.arg(1)?,
        },
        "neg" => HeOp::Neg { ct: words.arg(0)? },
        "add_plain" => HeOp::AddPlain {
            ct: words.arg(0)?,
            plain: words.value("plain")?,
        },
        "sub_plain" => HeOp::SubPlain {
            ct: words.arg(0)?,
            plain: words.value("plain")?,
        },
        "mul_plain" => HeOp::MulPlain {
            ct: words.arg(0)?,
            plain: words.value("plain")?,
        },
        "add_scalar" => HeOp::AddScalar {
            ct: words.arg(0)?,
            value: words.value("value")?,
        },
        "mul_scalar" => HeOp::MulScalar {
            ct: words.arg(0)?,
            value: words.value("value")?,
            scale_bits: words.bits()?,
        },
        "rotate" => HeOp::Rotate {
            ct: words.arg(0)?,
            steps: words.value("steps")?,
        },
        "conjugate" => HeOp::Conjugate { ct: words.arg(0)? },
        "rescale" => HeOp::Rescale { ct: words.arg(0)? },
        "relinearize" => HeOp::Relinearize { ct: words.arg(0)? },
        "output" => HeOp::Output {
            ct: words.arg(0)?,
            output: words.value("output")?,
        },
        _ => return Err(format!("unknown operation `{name}`")),
    };
    graph.push(op, words.span);
    Ok(())
}
