//! The HE graph.

use std::fmt;

/// The scheme a program is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Approximate arithmetic on N/2 real slots.
    Ckks,
    /// Exact arithmetic modulo t on two rows of slots.
    Bgv {
        /// The plaintext modulus t.
        plaintext_modulus: u64,
    },
}

impl Scheme {
    /// Number of slots at ring degree `n`. BGV: the largest power of two m <= n
    /// with t = 1 mod 2m, through the sub-ring of x^(n/m).
    #[must_use]
    pub fn slots(self, n: usize) -> usize {
        match self {
            Scheme::Ckks => n / 2,
            Scheme::Bgv {
                plaintext_modulus: t,
            } => {
                let twos = (t - 1).trailing_zeros().min(n.trailing_zeros() + 1);
                1 << twos.saturating_sub(1)
            }
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scheme::Ckks => f.write_str("ckks"),
            Scheme::Bgv { plaintext_modulus } => write!(f, "bgv t={plaintext_modulus}"),
        }
    }
}

/// A place in the user's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// Index into [`Graph::files`].
    pub file: u32,
    /// 1-based line.
    pub line: u32,
}

/// An operation on ciphertexts. Operand fields `ct`, `a`, `b` are node indices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HeOp {
    /// An encrypted input, by index into [`Graph::inputs`].
    Input {
        /// Index of its name.
        input: u32,
        /// log2 of the scale it is encrypted at (CKKS); `None` for the canonical one.
        scale_bits: Option<f64>,
    },
    /// a + b.
    Add {
        /// First summand.
        a: u32,
        /// Second summand.
        b: u32,
    },
    /// a - b.
    Sub {
        /// Minuend.
        a: u32,
        /// Subtrahend.
        b: u32,
    },
    /// a * b, slot by slot.
    Mul {
        /// First factor.
        a: u32,
        /// Second factor.
        b: u32,
    },
    /// -ct.
    Neg {
        /// Operand.
        ct: u32,
    },
    /// ct + plain operand.
    AddPlain {
        /// Operand.
        ct: u32,
        /// Index into [`Graph::plains`].
        plain: u32,
    },
    /// ct - plain operand.
    SubPlain {
        /// Operand.
        ct: u32,
        /// Index into [`Graph::plains`].
        plain: u32,
    },
    /// ct * plain operand, slot by slot.
    MulPlain {
        /// Operand.
        ct: u32,
        /// Index into [`Graph::plains`].
        plain: u32,
    },
    /// ct + the same value in every slot.
    AddScalar {
        /// Operand.
        ct: u32,
        /// The value.
        value: f64,
    },
    /// ct * the same value in every slot.
    MulScalar {
        /// Operand.
        ct: u32,
        /// The value.
        value: f64,
        /// log2 of the value's scale (CKKS); `None`: 1 for integers, else the canonical one.
        scale_bits: Option<f64>,
    },
    /// `out[i] = in[i + steps]`, cyclic over the slots (in each row, for BGV;
    /// steps = half the slots swaps the rows).
    Rotate {
        /// Operand.
        ct: u32,
        /// Steps to the left; negative to the right.
        steps: i64,
    },
    /// Complex conjugation of every slot (CKKS).
    Conjugate {
        /// Operand.
        ct: u32,
    },
    /// An explicit rescale (CKKS) or modulus switch (BGV) by one limb.
    Rescale {
        /// Operand.
        ct: u32,
    },
    /// An explicit relinearization.
    Relinearize {
        /// Operand.
        ct: u32,
    },
    /// A named output, by index into [`Graph::outputs`].
    Output {
        /// What is output.
        ct: u32,
        /// Index of its name.
        output: u32,
    },
}

impl HeOp {
    /// The operation's name, as in the text form.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            HeOp::Input { .. } => "input",
            HeOp::Add { .. } => "add",
            HeOp::Sub { .. } => "sub",
            HeOp::Mul { .. } => "mul",
            HeOp::Neg { .. } => "neg",
            HeOp::AddPlain { .. } => "add_plain",
            HeOp::SubPlain { .. } => "sub_plain",
            HeOp::MulPlain { .. } => "mul_plain",
            HeOp::AddScalar { .. } => "add_scalar",
            HeOp::MulScalar { .. } => "mul_scalar",
            HeOp::Rotate { .. } => "rotate",
            HeOp::Conjugate { .. } => "conjugate",
            HeOp::Rescale { .. } => "rescale",
            HeOp::Relinearize { .. } => "relinearize",
            HeOp::Output { .. } => "output",
        }
    }

    /// The ciphertext operands.
    #[must_use]
    pub fn args(&self) -> ([u32; 2], usize) {
        match *self {
            HeOp::Input { .. } => ([0, 0], 0),
            HeOp::Add { a, b } | HeOp::Sub { a, b } | HeOp::Mul { a, b } => ([a, b], 2),
            HeOp::Neg { ct }
            | HeOp::AddPlain { ct, .. }
            | HeOp::SubPlain { ct, .. }
            | HeOp::MulPlain { ct, .. }
            | HeOp::AddScalar { ct, .. }
            | HeOp::MulScalar { ct, .. }
            | HeOp::Rotate { ct, .. }
            | HeOp::Conjugate { ct }
            | HeOp::Rescale { ct }
            | HeOp::Relinearize { ct }
            | HeOp::Output { ct, .. } => ([ct, 0], 1),
        }
    }

    /// The plain operand, if the operation has one.
    #[must_use]
    pub fn plain(&self) -> Option<u32> {
        match *self {
            HeOp::AddPlain { plain, .. }
            | HeOp::SubPlain { plain, .. }
            | HeOp::MulPlain { plain, .. } => Some(plain),
            _ => None,
        }
    }
}

/// A node: an operation and where the user wrote it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Node {
    /// What it computes.
    pub op: HeOp,
    /// The user's line.
    pub span: Span,
}

/// A plaintext operand.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlainOperand {
    /// Its name.
    pub name: String,
    /// The values of the first slots, the rest is zero; `None` for an input given at run time.
    pub values: Option<Vec<f64>>,
    /// log2 of the scale it is encoded at as a factor (CKKS); `None` for the canonical one.
    pub scale_bits: Option<f64>,
}

impl PlainOperand {
    /// The largest magnitude, or `default` for a run-time input.
    #[must_use]
    pub fn magnitude(&self, default: f64) -> f64 {
        match &self.values {
            Some(values) => values.iter().fold(0.0, |m: f64, v| m.max(v.abs())),
            None => default,
        }
    }
}

/// An HE program as the user wrote it. Nodes are in topological order.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    /// Its name.
    pub name: String,
    /// The scheme.
    pub scheme: Scheme,
    /// log2 of the ring degree.
    pub log_n: u32,
    /// Names of the encrypted inputs.
    pub inputs: Vec<String>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// Plaintext operands.
    pub plains: Vec<PlainOperand>,
    /// Source files.
    pub files: Vec<String>,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// Largest slot magnitude of every node, measured by the cleartext twin on
    /// sample inputs; empty if the program was not calibrated.
    pub measured: Vec<f64>,
    /// Largest value of every plaintext operand on the same inputs, by index into
    /// [`Self::plains`]: of those that are given at run time, 0 for the others. Empty if the
    /// program was not calibrated.
    pub measured_plains: Vec<f64>,
    /// Whether inputs may be encrypted under the public key, whose noise is larger than
    /// the secret key's: by a factor of about sqrt(4N/3).
    pub public_key: bool,
}

impl Graph {
    /// An empty program.
    #[must_use]
    pub fn new(name: &str, scheme: Scheme, log_n: u32) -> Self {
        Self {
            name: name.to_owned(),
            scheme,
            log_n,
            inputs: Vec::new(),
            outputs: Vec::new(),
            plains: Vec::new(),
            files: Vec::new(),
            nodes: Vec::new(),
            measured: Vec::new(),
            measured_plains: Vec::new(),
            public_key: false,
        }
    }

    /// Adds a node; returns its index.
    ///
    /// # Panics
    /// If the program has 2^32 nodes.
    pub fn push(&mut self, op: HeOp, span: Span) -> u32 {
        self.nodes.push(Node { op, span });
        u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 nodes")
    }

    /// The index of a source file, added on first use.
    ///
    /// # Panics
    /// If there are 2^32 files.
    pub fn file(&mut self, name: &str) -> u32 {
        let at = self
            .files
            .iter()
            .position(|f| f == name)
            .unwrap_or_else(|| {
                self.files.push(name.to_owned());
                self.files.len() - 1
            });
        u32::try_from(at).expect("fewer than 2^32 files")
    }

    /// The ring degree N.
    #[must_use]
    pub fn n(&self) -> usize {
        1 << self.log_n
    }

    /// Number of slots.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.scheme.slots(self.n())
    }

    /// `file:line` of a node.
    #[must_use]
    pub fn place_of(&self, node: u32) -> String {
        let span = self.nodes[node as usize].span;
        match self.files.get(span.file as usize) {
            Some(file) => format!("{file}:{}", span.line),
            None => format!("node {node}"),
        }
    }

    /// The exponent k of the automorphism x -> x^k that rotates by `steps`.
    #[must_use]
    pub fn rotation_exponent(&self, steps: i64) -> u32 {
        let order = i64::try_from(self.n() / 2).expect("ring degree is small");
        let two_n = 2 * self.n() as u64;
        let row = match self.scheme {
            Scheme::Ckks => order,
            Scheme::Bgv { .. } => i64::try_from(self.slots() / 2).expect("small").max(1),
        };
        let swaps = matches!(self.scheme, Scheme::Bgv { .. }) && steps.rem_euclid(2 * row) == row;
        if swaps {
            return u32::try_from(two_n - 1).expect("2N fits 32 bits");
        }
        let mut power = steps.rem_euclid(row);
        let mut base = 5u64;
        let mut k = 1u64;
        while power > 0 {
            if power & 1 == 1 {
                k = k * base % two_n;
            }
            base = base * base % two_n;
            power >>= 1;
        }
        u32::try_from(k).expect("2N fits 32 bits")
    }
}
