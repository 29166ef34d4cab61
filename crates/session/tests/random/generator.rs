//! Random HE programs with their cleartext results.

use cyclotron_isa::testing::TestRng;
use cyclotron_program::{Graph, HeOp, PlainOperand, Scheme, Span};

/// log2 of the ring degree: small, so that hundreds of programs run in a test.
pub const LOG_N: u32 = 10;
/// Plaintext modulus of the BGV programs.
pub const T: u64 = 65_537;
/// Multiplications of ciphertexts on any path.
const MAX_DEPTH: u32 = 2;

/// A program, its inputs and the outputs in the clear.
pub struct Generated {
    pub graph: Graph,
    pub inputs: Vec<Vec<f64>>,
    pub outputs: Vec<Vec<f64>>,
}

struct Generator {
    rng: TestRng,
    graph: Graph,
    ckks: bool,
    /// Slots of every node in the clear, and its multiplicative depth.
    clear: Vec<(Vec<f64>, u32)>,
    inputs: Vec<Vec<f64>>,
}

/// The program with this seed.
pub fn program(seed: u64, ckks: bool) -> Generated {
    let scheme = if ckks {
        Scheme::Ckks
    } else {
        Scheme::Bgv {
            plaintext_modulus: T,
        }
    };
    let mut g = Generator {
        rng: TestRng::new(seed * 2 + u64::from(ckks)),
        graph: Graph::new(&format!("random {seed}"), scheme, LOG_N),
        ckks,
        clear: Vec::new(),
        inputs: Vec::new(),
    };
    g.graph.file("random.py");
    for _ in 0..1 + g.rng.below(3) {
        g.input();
    }
    for _ in 0..4 + g.rng.below(14) {
        g.operation();
    }
    let last = g.graph.nodes.len() as u32 - 1;
    let mut chosen = vec![last];
    if g.rng.chance(50) {
        chosen.push(g.rng.index(last as usize) as u32);
    }
    let outputs = chosen.into_iter().map(|ct| g.output(ct)).collect();
    let peak = |(slots, _): &(Vec<f64>, u32)| slots.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    g.graph.measured = g.clear.iter().map(peak).collect();
    Generated {
        graph: g.graph,
        inputs: g.inputs,
        outputs,
    }
}

impl Generator {
    fn slots(&self) -> usize {
        self.graph.slots()
    }

    fn values(&mut self) -> Vec<f64> {
        let count = self.slots();
        (0..count).map(|_| self.value()).collect()
    }

    fn value(&mut self) -> f64 {
        if self.ckks {
            self.rng.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0
        } else {
            self.rng.below(T) as f64 - (T / 2) as f64
        }
    }

    fn reduce(&self, value: f64) -> f64 {
        if self.ckks {
            return value;
        }
        let t = T as f64;
        let r = value.rem_euclid(t);
        if r > t / 2.0 { r - t } else { r }
    }

    fn push(&mut self, op: HeOp, slots: Vec<f64>, depth: u32) -> u32 {
        let line = self.graph.nodes.len() as u32 + 1;
        let slots = slots.into_iter().map(|v| self.reduce(v)).collect();
        self.clear.push((slots, depth));
        self.graph.push(op, Span { file: 0, line })
    }

    fn input(&mut self) {
        let input = self.graph.inputs.len() as u32;
        self.graph.inputs.push(format!("x{input}"));
        let values = self.values();
        self.inputs.push(values.clone());
        self.push(
            HeOp::Input {
                input,
                scale_bits: None,
            },
            values,
            0,
        );
    }

    fn plain(&mut self, values: Vec<f64>) -> u32 {
        let name = format!("w{}", self.graph.plains.len());
        let plain = PlainOperand {
            name,
            values: Some(values),
            scale_bits: None,
        };
        self.graph.plains.push(plain);
        self.graph.plains.len() as u32 - 1
    }

    fn any(&mut self) -> u32 {
        // Recent values more often, so that programs are deep rather than wide.
        let count = self.graph.nodes.len();
        let back = self.rng.index(count).min(self.rng.index(count));
        (count - 1 - back) as u32
    }

    fn of(&self, node: u32) -> (Vec<f64>, u32) {
        self.clear[node as usize].clone()
    }

    fn operation(&mut self) -> u32 {
        let (a, b) = (self.any(), self.any());
        let ((x, dx), (y, dy)) = (self.of(a), self.of(b));
        let zip = |f: fn(f64, f64) -> f64| x.iter().zip(&y).map(|(&u, &v)| f(u, v)).collect();
        let depth = dx.max(dy);
        match self.rng.below(if self.ckks { 10 } else { 9 }) {
            0 => self.push(HeOp::Add { a, b }, zip(|u, v| u + v), depth),
            1 => self.push(HeOp::Sub { a, b }, zip(|u, v| u - v), depth),
            2 | 3 if depth < MAX_DEPTH => {
                self.push(HeOp::Mul { a, b }, zip(|u, v| u * v), depth + 1)
            }
            4 => {
                let steps = self.rng.below(self.slots() as u64) as i64 - (self.slots() / 2) as i64;
                let moved = self.rotated(&x, steps);
                self.push(HeOp::Rotate { ct: a, steps }, moved, dx)
            }
            5 if dx < MAX_DEPTH => {
                let w = self.values();
                let slots = x.iter().zip(&w).map(|(u, v)| u * v).collect();
                let plain = self.plain(w);
                self.push(HeOp::MulPlain { ct: a, plain }, slots, dx + 1)
            }
            6 => {
                let w = self.values();
                let subtract = self.rng.chance(50);
                let sign = if subtract { -1.0 } else { 1.0 };
                let slots = x.iter().zip(&w).map(|(u, v)| u + sign * v).collect();
                let plain = self.plain(w);
                let op = if subtract {
                    HeOp::SubPlain { ct: a, plain }
                } else {
                    HeOp::AddPlain { ct: a, plain }
                };
                self.push(op, slots, dx)
            }
            7 => {
                let value = self.value();
                let slots = x.iter().map(|u| u + value).collect();
                self.push(HeOp::AddScalar { ct: a, value }, slots, dx)
            }
            8 => self.push(HeOp::Neg { ct: a }, x.iter().map(|u| -u).collect(), dx),
            9 => self.push(HeOp::Conjugate { ct: a }, x, dx),
            _ => {
                let slots = x.iter().map(|u| 3.0 * u).collect();
                self.push(
                    HeOp::MulScalar {
                        ct: a,
                        value: 3.0,
                        scale_bits: None,
                    },
                    slots,
                    dx,
                )
            }
        }
    }

    /// Within the row (BGV has two), or the rows swapped.
    fn rotated(&self, x: &[f64], steps: i64) -> Vec<f64> {
        let turn = |row: &[f64], steps: i64| -> Vec<f64> {
            let len = row.len() as i64;
            (0..len)
                .map(|i| row[(i + steps).rem_euclid(len) as usize])
                .collect()
        };
        if self.ckks {
            return turn(x, steps);
        }
        let half = x.len() / 2;
        let steps = steps.rem_euclid(x.len() as i64);
        if steps == half as i64 {
            return turn(x, steps);
        }
        [turn(&x[..half], steps), turn(&x[half..], steps)].concat()
    }

    fn output(&mut self, ct: u32) -> Vec<f64> {
        let output = self.graph.outputs.len() as u32;
        self.graph.outputs.push(format!("y{output}"));
        let (slots, depth) = self.of(ct);
        self.push(HeOp::Output { ct, output }, slots.clone(), depth);
        slots
    }
}
