//! Every homomorphic operation, encrypted, against the clear.

use std::collections::BTreeMap;
use std::sync::Arc;

use cyclotron_program::PlainOperand;
use cyclotron_schemes::ParametersLiteral;
use cyclotron_session::{
    Client, Context, Evaluator, Graph, HeOp, KeySwitch, Parameters, Plan, ProgramScheme, Scheme,
    Span, Values,
};

const LOG_N: u32 = 10;

/// A graph under construction.
pub(crate) struct Build(pub(crate) Graph);

impl Build {
    pub(crate) fn new(scheme: ProgramScheme) -> Self {
        Self(Graph::new("test", scheme, LOG_N))
    }

    pub(crate) fn op(&mut self, op: HeOp) -> u32 {
        self.0.push(op, Span::default())
    }

    pub(crate) fn input(&mut self) -> u32 {
        let input = self.0.inputs.len() as u32;
        self.0.inputs.push(format!("x{input}"));
        self.op(HeOp::Input {
            input,
            scale_bits: None,
        })
    }

    pub(crate) fn output(&mut self, ct: u32) {
        let output = self.0.outputs.len() as u32;
        self.0.outputs.push(format!("y{output}"));
        self.op(HeOp::Output { ct, output });
    }

    fn plain(&mut self, values: &[f64]) -> u32 {
        let values = Some(values.to_vec());
        self.0.plains.push(PlainOperand {
            name: "w".into(),
            values,
            scale_bits: None,
        });
        self.0.plains.len() as u32 - 1
    }
}

/// Small insecure parameters for tests.
pub(crate) fn parameters(
    scheme: Scheme,
    log_q: &[u32],
    log_p: &[u32],
    word_bits: u32,
) -> Arc<Parameters> {
    let mut literal = ParametersLiteral::new(scheme, LOG_N);
    literal.log_q = Some(log_q.to_vec());
    literal.log_p = Some(log_p.to_vec());
    literal.word_bits = Some(word_bits);
    literal.allow_insecure = Some("test".into());
    match scheme {
        Scheme::Ckks => literal.scale_bits = Some(f64::from(*log_q.last().expect("primes"))),
        Scheme::Bgv => literal.plaintext_modulus = Some(65_537),
    }
    Arc::new(Parameters::from_literal(&literal).expect("valid test parameters"))
}

/// Encrypts `inputs`, runs the graph with the interpreter and on one and two
/// threads, asserts that their bytes agree, and decrypts.
pub(crate) fn run(
    graph: Graph,
    params: &Arc<Parameters>,
    variant: KeySwitch,
    inputs: &[Vec<f64>],
) -> (Plan, Vec<Vec<f64>>) {
    let graph = Arc::new(graph);
    let plan = Plan::lower(&graph, params, None, Some(variant), f64::NEG_INFINITY).expect("lowers");
    let context = Arc::new(Context::new(Arc::clone(params)).expect("context"));
    let client = Client::generate(Arc::clone(&context), Some([7; 32])).expect("client");
    let keys = client.evaluation_keys(&plan).expect("keys");
    let named = graph.inputs.iter().cloned();
    let values: BTreeMap<String, Values> = named
        .zip(inputs.iter().map(|v| Values::Real(v.clone())))
        .collect();
    let encrypted = client.encrypt(&plan, &values).expect("encrypts");
    let none = BTreeMap::new();
    let evaluator = |threads| Evaluator::new(Arc::clone(&context), &keys, threads).expect("keys");
    let expected = evaluator(1)
        .interpret(&plan, &encrypted, &none)
        .expect("interprets");
    for threads in [1, 2] {
        let (outputs, _) = evaluator(threads)
            .run(&plan, &encrypted, &none, None)
            .expect("runs");
        for (name, output) in &outputs {
            let same = output.to_bytes() == expected[name].to_bytes();
            assert!(
                same,
                "{name} with {threads} threads differs from the interpreter"
            );
        }
    }
    let decrypted = client.decrypt(&plan, &expected).expect("decrypts");
    let outputs = graph.outputs.iter().map(|name| match &decrypted[name] {
        Values::Real(slots) => slots.clone(),
        Values::Integers(slots) => slots.iter().map(|&v| v as f64).collect(),
        Values::Wide(slots) => slots.iter().map(|v| v.hi).collect(),
    });
    (plan, outputs.collect())
}

pub(crate) fn reals(slots: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 23) - 1.0
    };
    (0..slots).map(|_| next()).collect()
}

pub(crate) fn rotate(x: &[f64], steps: usize) -> Vec<f64> {
    (0..x.len()).map(|i| x[(i + steps) % x.len()]).collect()
}

fn zip(x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    x.iter().zip(y).map(|(&a, &b)| f(a, b)).collect()
}

fn ckks_cases() -> Vec<(Arc<Parameters>, KeySwitch)> {
    let hybrid = KeySwitch::Hybrid;
    vec![
        (
            parameters(Scheme::Ckks, &[31, 28, 28, 28], &[31], 32),
            hybrid,
        ),
        (
            parameters(Scheme::Ckks, &[32, 28, 28, 28], &[32, 32], 32),
            hybrid,
        ),
        (
            parameters(Scheme::Ckks, &[50, 40, 40, 40], &[50, 50, 50], 64),
            hybrid,
        ),
        (
            parameters(Scheme::Ckks, &[60, 50, 50, 50], &[60], 64),
            hybrid,
        ),
    ]
}

/// All CKKS operations on inputs x and y and the plain operand w.
fn ckks_graph(w: &[f64]) -> Graph {
    let mut b = Build::new(ProgramScheme::Ckks);
    let (cx, cy) = (b.input(), b.input());
    let plain = b.plain(w);
    let product = b.op(HeOp::Mul { a: cx, b: cy });
    let moved = b.op(HeOp::Rotate {
        ct: product,
        steps: 3,
    });
    let weighted = b.op(HeOp::MulPlain { ct: moved, plain });
    let shifted = b.op(HeOp::AddPlain {
        ct: weighted,
        plain,
    });
    let less = b.op(HeOp::SubPlain { ct: cx, plain });
    let sum = b.op(HeOp::Sub {
        a: less,
        b: shifted,
    });
    let constant = b.op(HeOp::AddScalar {
        ct: sum,
        value: 0.25,
    });
    let scaled = b.op(HeOp::MulScalar {
        ct: constant,
        value: -0.75,
        scale_bits: None,
    });
    let doubled = b.op(HeOp::MulScalar {
        ct: cy,
        value: 2.0,
        scale_bits: None,
    });
    let negated = b.op(HeOp::Neg { ct: doubled });
    let conjugate = b.op(HeOp::Conjugate { ct: negated });
    let square = b.op(HeOp::Mul { a: cx, b: cx });
    for ct in [product, moved, shifted, scaled, conjugate, square] {
        b.output(ct);
    }
    b.0
}

/// What [`ckks_graph`] gives in the clear.
fn ckks_expected(x: &[f64], y: &[f64], w: &[f64]) -> [Vec<f64>; 6] {
    let product = zip(x, y, |a, b| a * b);
    let moved = rotate(&product, 3);
    let shifted = zip(&moved, w, |m, w| m * w + w);
    let scaled = zip(&zip(x, w, |a, b| a - b), &shifted, |a, s| {
        -0.75 * (a - s + 0.25)
    });
    let conjugate: Vec<f64> = y.iter().map(|v| -2.0 * v).collect();
    let square = zip(x, x, |a, b| a * b);
    [product, moved, shifted, scaled, conjugate, square]
}

#[test]
fn ckks_operations_match_the_clear() {
    for (params, variant) in ckks_cases() {
        let slots = params.slots();
        let (x, y, w) = (reals(slots, 1), reals(slots, 2), reals(slots, 3));
        let (plan, outputs) = run(ckks_graph(&w), &params, variant, &[x.clone(), y.clone()]);
        for (k, (got, want)) in outputs.iter().zip(ckks_expected(&x, &y, &w)).enumerate() {
            let errors = zip(got, &want, |a, b| (a - b).abs());
            let error = errors.into_iter().fold(0.0, f64::max);
            let node = plan.interface().outputs[k].node;
            let row = plan
                .explain()
                .iter()
                .find(|row| row.node == node)
                .expect("a row");
            let bound = (row.noise_bits - row.scale_bits).exp2();
            assert!(
                error <= bound,
                "output {k}: error {error:e} above the predicted {bound:e}"
            );
            assert!(
                error * 4000.0 >= bound,
                "output {k}: {bound:e} says nothing of {error:e}"
            );
        }
    }
}

#[test]
fn ckks_listing_1_rotates_at_the_squared_scale() {
    let params = parameters(Scheme::Ckks, &[32, 32, 31], &[], 32);
    let x = reals(params.slots(), 5);
    let mut b = Build::new(ProgramScheme::Ckks);
    let cx = b.input();
    let square = b.op(HeOp::Mul { a: cx, b: cx });
    let moved = b.op(HeOp::Rotate {
        ct: square,
        steps: -1,
    });
    b.output(moved);
    let (plan, outputs) = run(b.0, &params, KeySwitch::Listing1, std::slice::from_ref(&x));
    let want = rotate(&zip(&x, &x, |a, b| a * b), x.len() - 1);
    assert_close(&outputs[0], &want, 2f64.powi(-8));
    assert!(
        plan.interface()
            .keys
            .iter()
            .all(|key| key.to_string().ends_with("listing1"))
    );
}

/// BGV operations on inputs x and y and the plain operand w.
fn bgv_graph(w: &[f64], slots: usize) -> Graph {
    let mut b = Build::new(ProgramScheme::Bgv {
        plaintext_modulus: 65_537,
    });
    let (cx, cy) = (b.input(), b.input());
    let plain = b.plain(w);
    let product = b.op(HeOp::Mul { a: cx, b: cy });
    let moved = b.op(HeOp::Rotate {
        ct: product,
        steps: 5,
    });
    let square = b.op(HeOp::Mul { a: moved, b: moved });
    let mixed = b.op(HeOp::Sub { a: square, b: cx });
    let weighted = b.op(HeOp::MulPlain { ct: cy, plain });
    let shifted = b.op(HeOp::AddPlain {
        ct: weighted,
        plain,
    });
    let swapped = b.op(HeOp::Rotate {
        ct: shifted,
        steps: (slots / 2) as i64,
    });
    let scaled = b.op(HeOp::MulScalar {
        ct: mixed,
        value: -3.0,
        scale_bits: None,
    });
    let constant = b.op(HeOp::AddScalar {
        ct: scaled,
        value: 12_345.0,
    });
    for ct in [product, moved, mixed, swapped, constant] {
        b.output(ct);
    }
    b.0
}

/// What [`bgv_graph`] gives in the clear, centred modulo t.
fn bgv_expected(x: &[f64], y: &[f64], w: &[f64]) -> [Vec<f64>; 5] {
    let t = 65_537.0;
    let centre = |v: f64| {
        let r = v.rem_euclid(t);
        if r > t / 2.0 { r - t } else { r }
    };
    let product = zip(x, y, |a, b| centre(a * b));
    let (top, bottom) = product.split_at(x.len() / 2);
    let moved = [rotate(top, 5), rotate(bottom, 5)].concat();
    let mixed = zip(&moved, x, |m, x| centre(m * m - x));
    let shifted = zip(y, w, |y, w| centre(y * w + w));
    let swapped = rotate(&shifted, x.len() / 2);
    let constant: Vec<f64> = mixed.iter().map(|v| centre(-3.0 * v + 12_345.0)).collect();
    [product, moved, mixed, swapped, constant]
}

#[test]
fn bgv_operations_are_exact() {
    let hybrid = KeySwitch::Hybrid;
    let cases = [
        (parameters(Scheme::Bgv, &[32; 5], &[32], 32), hybrid),
        (parameters(Scheme::Bgv, &[31; 5], &[31, 31], 32), hybrid),
        (parameters(Scheme::Bgv, &[50; 4], &[50], 64), hybrid),
        (parameters(Scheme::Bgv, &[60; 4], &[60, 60], 64), hybrid),
        (
            parameters(Scheme::Bgv, &[32; 6], &[], 32),
            KeySwitch::Listing1,
        ),
    ];
    for (params, variant) in cases {
        let slots = params.slots();
        let whole = |seed| {
            reals(slots, seed)
                .iter()
                .map(|v| (v * 30_000.0).round())
                .collect()
        };
        let (x, y, w): (Vec<f64>, Vec<f64>, Vec<f64>) = (whole(1), whole(2), whole(3));
        let graph = bgv_graph(&w, slots);
        let (plan, outputs) = run(graph, &params, variant, &[x.clone(), y.clone()]);
        for (k, (got, want)) in outputs.iter().zip(bgv_expected(&x, &y, &w)).enumerate() {
            assert!(
                *got == want,
                "output {k}, {variant:?}, {}-bit words",
                params.word_bits
            );
        }
        assert!(plan.explain().iter().all(|row| row.margin_bits > 0.0));
    }
}

/// Panics with the largest difference if it exceeds `tolerance`.
pub(crate) fn assert_close(got: &[f64], want: &[f64], tolerance: f64) {
    let error = got
        .iter()
        .zip(want)
        .map(|(g, w)| (g - w).abs())
        .fold(0.0, f64::max);
    assert!(
        error <= tolerance,
        "error {error:e}, tolerance {tolerance:e}"
    );
}
