//! Three programs, compiled for F1.

use std::ops::ControlFlow;
use std::sync::Arc;

use cyclotron_isa::{FlatProgram, LimbProgram, Schedule};
use cyclotron_machine::{Machine, Resolved, Setting};
use cyclotron_session::{
    CompileOptions, Graph, HeOp, KeySwitch, MachineSchedule, PlainOperand, Plan, ProgramScheme,
    Span, Wish, choose_parameters,
};

const LOG_N: u32 = 14;

/// A compiled program.
pub(crate) struct Compiled {
    pub(crate) name: &'static str,
    pub(crate) program: LimbProgram,
    pub(crate) flat: FlatProgram,
    pub(crate) machine: Resolved,
    pub(crate) schedule: Schedule,
}

/// Products and rotations, a matrix-vector product, and a piece of a network, the
/// latter also where the scratchpad is so small that values are spilled, and memory is slower.
pub(crate) fn compiled() -> Vec<Compiled> {
    let f1 = Machine::shipped("f1").expect("shipped");
    let small = [
        ("scratchpad.kib_per_bank", Setting::from(SMALL_BANK_KIB)),
        ("offchip.hbm.gbps", Setting::from(SLOW_GBPS)),
    ];
    let small = f1.with(small).expect("legal");
    let one_digit_a_limb = Some(KeySwitch::Listing1);
    vec![
        compile("products", &products(), &f1, None),
        compile("matrix-vector", &matrix_vector(), &f1, None),
        compile("network", &network(), &f1, one_digit_a_limb),
        compile("network, spilled", &network(), &small, one_digit_a_limb),
    ]
}

const SMALL_BANK_KIB: i64 = 256;

/// Half of F1's: channels take longer for a vector than crossbars do, so that reads
/// and writes of a slot differ in length.
const SLOW_GBPS: i64 = 256;

fn compile(
    name: &'static str,
    graph: &Graph,
    machine: &Machine,
    only: Option<KeySwitch>,
) -> Compiled {
    let wish = Wish {
        precision_bits: 5.0,
        security: 128,
        levels: None,
        scale_bits: None,
        allow_insecure: Some("a test of schedules".to_owned()),
    };
    let graph = Arc::new(graph.clone());
    let params = choose_parameters(&graph, &wish, Some(machine), None, only);
    let params = Arc::new(params.expect("parameters"));
    let plan = Plan::lower(&graph, &params, Some(machine), only, 5.0).expect("lowers");
    let options = CompileOptions::default();
    let compiled = MachineSchedule::compile(&plan, machine, &options, &mut |_, _| {
        ControlFlow::Continue(())
    });
    let compiled = compiled.expect("compiles");
    let program = compiled.program().clone();
    Compiled {
        name,
        flat: FlatProgram::new(&program).expect("flat"),
        program,
        machine: machine.resolve(LOG_N).expect("resolves"),
        schedule: compiled.schedule().clone(),
    }
}

/// A graph under construction; every node has a line of its own.
struct Writer(Graph);

impl Writer {
    fn new(name: &str, scheme: ProgramScheme) -> Self {
        Writer(Graph::new(name, scheme, LOG_N))
    }

    fn push(&mut self, op: HeOp) -> u32 {
        self.0.push(op, Span::default())
    }

    fn input(&mut self) -> u32 {
        let input = self.0.inputs.len() as u32;
        self.0.inputs.push(format!("x{input}"));
        self.push(HeOp::Input {
            input,
            scale_bits: None,
        })
    }

    fn mul(&mut self, a: u32, b: u32) -> u32 {
        self.push(HeOp::Mul { a, b })
    }

    fn add(&mut self, a: u32, b: u32) -> u32 {
        self.push(HeOp::Add { a, b })
    }

    fn rotate(&mut self, ct: u32, steps: i64) -> u32 {
        self.push(HeOp::Rotate { ct, steps })
    }

    /// `ct` times weights that are few and small.
    fn weighted(&mut self, ct: u32, weights: &[f64]) -> u32 {
        let plain = self.0.plains.len() as u32;
        self.0.plains.push(PlainOperand {
            name: format!("w{plain}"),
            values: Some(weights.to_vec()),
            scale_bits: None,
        });
        self.push(HeOp::MulPlain { ct, plain })
    }

    /// The sum of the first 2^`log` slots, in all of them.
    fn sum(&mut self, mut ct: u32, log: u32) -> u32 {
        for bit in 0..log {
            let moved = self.rotate(ct, 1 << bit);
            ct = self.add(ct, moved);
        }
        ct
    }

    fn output(&mut self, ct: u32) {
        let output = self.0.outputs.len() as u32;
        self.0.outputs.push(format!("y{output}"));
        self.push(HeOp::Output { ct, output });
    }
}

/// Two products deep in CKKS, with rotations and a conjugation between.
fn products() -> Graph {
    let mut g = Writer::new("products", ProgramScheme::Ckks);
    let (x, y, z) = (g.input(), g.input(), g.input());
    let first = g.mul(x, y);
    let moved = g.rotate(first, 1);
    let second = g.mul(moved, z);
    let moved = g.rotate(second, 5);
    let sum = g.add(second, moved);
    let difference = g.push(HeOp::Sub { a: x, b: y });
    let conjugate = g.push(HeOp::Conjugate { ct: difference });
    let sum = g.add(sum, conjugate);
    let third = g.mul(sum, first);
    let shifted = g.push(HeOp::AddScalar {
        ct: third,
        value: 0.5,
    });
    g.output(shifted);
    g.0
}

/// Three rows times a vector in BGV, each summed over all slots of a row.
fn matrix_vector() -> Graph {
    let scheme = ProgramScheme::Bgv {
        plaintext_modulus: 65537,
    };
    let mut g = Writer::new("matrix-vector product", scheme);
    let vector = g.input();
    for _ in 0..3 {
        let row = g.input();
        let product = g.mul(row, vector);
        let sum = g.sum(product, 13);
        g.output(sum);
    }
    g.0
}

/// Three maps of a convolution of nine inputs, squared, weighted and summed.
fn network() -> Graph {
    let mut g = Writer::new("network", ProgramScheme::Ckks);
    let pixels: Vec<u32> = (0..9).map(|_| g.input()).collect();
    for map in 0..3 {
        let mut sum = None;
        for (k, &pixel) in pixels.iter().enumerate() {
            let weight = (k as f64 - 4.0 + f64::from(map)) / 8.0;
            let term = g.weighted(pixel, &[weight, -weight, 0.5]);
            sum = Some(sum.map_or(term, |sum| g.add(sum, term)));
        }
        let sum = sum.expect("nine terms");
        let square = g.mul(sum, sum);
        let weighted = g.weighted(square, &[0.25, 0.5, -0.5]);
        let summed = g.sum(weighted, 7);
        g.output(summed);
    }
    g.0
}
