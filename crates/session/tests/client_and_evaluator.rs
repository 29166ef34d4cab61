//! A client and an evaluator that share nothing but bytes.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use cyclotron_ring::Simd;
use cyclotron_session::{
    Client, Context, EvaluationKeys, Evaluator, Graph, HeOp, Parameters, PlainOperand, Plan,
    ProgramScheme, SessionError, Span, StoredCiphertext, Values,
};

const LOG_N: u32 = 10;

/// `y = rotate(x * x, 1) * w + v`, w constant, v given at run time.
fn graph(scheme: ProgramScheme) -> Arc<Graph> {
    let mut graph = Graph::new("test", scheme, LOG_N);
    graph.inputs.push("x".to_owned());
    graph.outputs.push("y".to_owned());
    let plain = |name: &str, values| PlainOperand {
        name: name.to_owned(),
        values,
        scale_bits: None,
    };
    graph
        .plains
        .push(plain("w", Some(vec![3.0, -2.0, 1.0, 5.0])));
    graph.plains.push(plain("v", None));
    let mut push = |op| graph.push(op, Span::default());
    let (input, scale_bits) = (0, None);
    let x = push(HeOp::Input { input, scale_bits });
    let square = push(HeOp::Mul { a: x, b: x });
    let moved = push(HeOp::Rotate {
        ct: square,
        steps: 1,
    });
    let weighted = push(HeOp::MulPlain {
        ct: moved,
        plain: 0,
    });
    let sum = push(HeOp::AddPlain {
        ct: weighted,
        plain: 1,
    });
    push(HeOp::Output { ct: sum, output: 0 });
    Arc::new(graph)
}

const BGV: ProgramScheme = ProgramScheme::Bgv {
    plaintext_modulus: 65537,
};
const BGV_LITERAL: &str = r#"{"scheme": "bgv", "log_n": 10, "log_q": [31, 31, 31, 31], "log_p": [31],
    "plaintext_modulus": 65537, "allow_insecure": "a test"}"#;
const CKKS_LITERAL: &str = r#"{"scheme": "ckks", "log_n": 10, "log_q": [50, 40, 40, 40],
    "log_p": [50], "scale_bits": 40, "allow_insecure": "a test"}"#;

fn plan(scheme: ProgramScheme) -> Plan {
    let literal = if scheme == BGV {
        BGV_LITERAL
    } else {
        CKKS_LITERAL
    };
    let params = Arc::new(Parameters::from_json(literal, None).unwrap());
    Plan::lower(&graph(scheme), &params, None, None, 8.0).unwrap()
}

fn client(plan: &Plan, seed: Option<u8>) -> Client {
    let context = Context::new(Arc::clone(plan.params())).unwrap();
    Client::generate(Arc::new(context), seed.map(|seed| [seed; 32])).unwrap()
}

fn named<T>(name: &str, value: T) -> BTreeMap<String, T> {
    BTreeMap::from([(name.to_owned(), value)])
}

fn inputs() -> (BTreeMap<String, Values>, BTreeMap<String, Values>) {
    let x = Values::Integers(vec![1, 2, -3, 4, 5]);
    let v = Values::Integers(vec![100, 200, 300, 400]);
    (named("x", x), named("v", v))
}

/// What the program computes in the first slots.
const EXPECTED: [i64; 5] = [3 * 4 + 100, -2 * 9 + 200, 16 + 300, 5 * 25 + 400, 0];

fn assert_expected(outputs: &BTreeMap<String, Values>) {
    match &outputs["y"] {
        Values::Integers(y) => assert_eq!(y[..5], EXPECTED),
        Values::Wide(_) => panic!("nobody asked for 106 bits"),
        Values::Real(y) => {
            for (found, expected) in y.iter().zip(EXPECTED) {
                assert!(
                    (found - expected as f64).abs() < 1e-3,
                    "{found}, not {expected}"
                );
            }
        }
    }
}

#[test]
fn client_and_evaluator_share_only_bytes() {
    for scheme in [BGV, ProgramScheme::Ckks] {
        let plan = plan(scheme);
        let client = client(&plan, None);
        let keys = client.evaluation_keys(&plan).unwrap().to_bytes();
        let (x, v) = inputs();
        let sent = client.encrypt(&plan, &x).unwrap()["x"].to_bytes();
        let secret = client.to_bytes();
        drop(client);

        let context = Arc::new(Context::new(Arc::clone(plan.params())).unwrap());
        let keys = EvaluationKeys::from_bytes(&keys).unwrap();
        let evaluator = Evaluator::new(context, &keys, 2).unwrap();
        let received = named("x", StoredCiphertext::from_bytes(&sent).unwrap());
        let (outputs, stats) = evaluator.run(&plan, &received, &v, None).unwrap();
        let again = evaluator.interpret(&plan, &received, &v).unwrap();
        assert_eq!(outputs["y"].to_bytes(), again["y"].to_bytes());
        assert_eq!(stats.instructions, plan.program().instruction_count());
        let back = outputs["y"].to_bytes();

        let client = Client::from_bytes(&secret).unwrap();
        let back = named("y", StoredCiphertext::from_bytes(&back).unwrap());
        assert_expected(&client.decrypt(&plan, &back).unwrap());
    }
}

#[test]
fn a_seed_fixes_every_byte_on_every_path_and_thread_count() {
    for scheme in [BGV, ProgramScheme::Ckks] {
        let plan = plan(scheme);
        let mut first: Option<Vec<Arc<[u8]>>> = None;
        for simd in Simd::available() {
            for threads in [1, 2, 3] {
                let context = Context::with_simd(Arc::clone(plan.params()), simd).unwrap();
                let context = Arc::new(context);
                let client = Client::generate(Arc::clone(&context), Some([9; 32])).unwrap();
                let (x, v) = inputs();
                let keys = client.evaluation_keys(&plan).unwrap();
                let sent = client.encrypt(&plan, &x).unwrap();
                let evaluator = Evaluator::new(context, &keys, threads).unwrap();
                let (outputs, _) = evaluator.run(&plan, &sent, &v, None).unwrap();
                let bytes = vec![
                    keys.to_bytes(),
                    sent["x"].to_bytes(),
                    outputs["y"].to_bytes(),
                ];
                assert_eq!(first.get_or_insert_with(|| bytes.clone()), &bytes);
            }
        }
    }
}

#[test]
fn without_a_seed_nothing_repeats() {
    let plan = plan(BGV);
    let client = client(&plan, None);
    let (x, _) = inputs();
    let encrypt = || client.encrypt(&plan, &x).unwrap()["x"].to_bytes();
    assert_ne!(encrypt(), encrypt());
    let seeded = self::client(&plan, Some(1));
    let other = self::client(&plan, Some(2));
    assert_eq!(
        seeded.encrypt(&plan, &x).unwrap()["x"].to_bytes(),
        seeded.encrypt(&plan, &x).unwrap()["x"].to_bytes()
    );
    assert_ne!(seeded.to_bytes(), other.to_bytes());
}

#[test]
fn the_keys_are_exactly_those_that_the_program_needs() {
    let plan = plan(BGV);
    let client = client(&plan, Some(1));
    let keys = client.evaluation_keys(&plan).unwrap();
    let keys = keys.open(client.context()).unwrap();
    let names: Vec<String> = keys.keys().map(ToString::to_string).collect();
    let mut needed: Vec<String> = plan
        .program()
        .keys
        .iter()
        .map(|key| key.name.clone())
        .collect();
    needed.sort();
    assert_eq!(names.len(), 2);
    assert!(
        names.iter().all(|name| needed.contains(name)),
        "{names:?} {needed:?}"
    );
}

fn refused<T>(result: Result<T, SessionError>, part: &str) {
    let Err(error) = result else {
        panic!("accepted; expected an error about {part}")
    };
    assert!(error.to_string().contains(part), "{error}");
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let plan = plan(BGV);
    let client = client(&plan, Some(1));
    let (x, v) = inputs();
    let keys = client.evaluation_keys(&plan).unwrap();
    let evaluator = Evaluator::new(Arc::clone(client.context()), &keys, 1).unwrap();
    let sent = client.encrypt(&plan, &x).unwrap();
    refused(
        client.encrypt(&plan, &BTreeMap::new()),
        "encrypted input `x`",
    );
    refused(
        client.encrypt(&plan, &named("z", x["x"].clone())),
        "no encrypted input `z`",
    );
    let half = Values::Real(vec![0.5]);
    refused(client.encrypt(&plan, &named("x", half)), "whole numbers");
    let many = Values::Integers(vec![0; 2000]);
    refused(client.encrypt(&plan, &named("x", many)), "2000 values");
    refused(
        evaluator.run(&plan, &BTreeMap::new(), &v, None),
        "encrypted input `x`",
    );
    refused(
        evaluator.run(&plan, &sent, &BTreeMap::new(), None),
        "plaintext input `v`",
    );
    refused(
        client.decrypt(&plan, &named("q", sent["x"].clone())),
        "no output `q`",
    );
}

#[test]
fn objects_of_other_parameters_are_refused() {
    let (ours, theirs) = (plan(BGV), plan(ProgramScheme::Ckks));
    let (client, other) = (client(&ours, Some(1)), client(&theirs, Some(1)));
    let keys = other.evaluation_keys(&theirs).unwrap();
    let ours_hash = ours.params().hash().short();
    let theirs_hash = theirs.params().hash().short();
    let context = Arc::clone(client.context());
    refused(Evaluator::new(context, &keys, 1), &theirs_hash);
    refused(client.evaluation_keys(&theirs), &ours_hash);
    let bytes = EvaluationKeys::from_bytes(&keys.to_bytes()).unwrap();
    let context = Arc::clone(client.context());
    refused(Evaluator::new(context, &bytes, 1), &theirs_hash);
    let x = named("x", Values::Real(vec![1.0]));
    let foreign = other.encrypt(&theirs, &x).unwrap();
    let keys = client.evaluation_keys(&ours).unwrap();
    let evaluator = Evaluator::new(Arc::clone(client.context()), &keys, 1).unwrap();
    refused(
        evaluator.run(&ours, &foreign, &inputs().1, None),
        &ours_hash,
    );
    let stored = StoredCiphertext::from_bytes(&foreign["x"].to_bytes()).unwrap();
    refused(
        evaluator.run(&ours, &named("x", stored), &inputs().1, None),
        &theirs_hash,
    );
}

#[test]
fn an_output_is_no_input_at_another_level() {
    let plan = plan(ProgramScheme::Ckks);
    let client = client(&plan, Some(1));
    let (x, v) = inputs();
    let keys = client.evaluation_keys(&plan).unwrap();
    let evaluator = Evaluator::new(Arc::clone(client.context()), &keys, 1).unwrap();
    let sent = client.encrypt(&plan, &x).unwrap();
    let (outputs, _) = evaluator.run(&plan, &sent, &v, None).unwrap();
    let again = named("x", outputs["y"].clone());
    refused(
        evaluator.run(&plan, &again, &v, None),
        "input `x` has level",
    );
}

#[test]
fn a_secret_key_is_refused_by_the_evaluator() {
    let plan = plan(BGV);
    let secret = client(&plan, Some(1)).to_bytes();
    refused(EvaluationKeys::from_bytes(&secret), "SECRET KEY");
    refused(StoredCiphertext::from_bytes(&secret), "SECRET KEY");
}

#[test]
fn a_run_can_be_watched_and_abandoned() {
    let plan = plan(BGV);
    let client = client(&plan, Some(1));
    let (x, v) = inputs();
    let keys = client.evaluation_keys(&plan).unwrap();
    let evaluator = Evaluator::new(Arc::clone(client.context()), &keys, 1).unwrap();
    evaluator.prepare(&plan).unwrap();
    let sent = client.encrypt(&plan, &x).unwrap();
    let stop = |fraction: f64| {
        assert!(fraction <= 1.0);
        ControlFlow::Break(())
    };
    refused(evaluator.run(&plan, &sent, &v, Some(&stop)), "cancelled");
    let (outputs, _) = evaluator.run(&plan, &sent, &v, None).unwrap();
    assert_expected(&client.decrypt(&plan, &outputs).unwrap());
}

/// `z = x + y`, whose samples reached 0.001 and 1000.
#[test]
fn each_input_is_held_to_its_own_samples() {
    let mut graph = Graph::new("test", ProgramScheme::Ckks, LOG_N);
    graph.inputs = vec!["x".to_owned(), "y".to_owned()];
    graph.outputs.push("z".to_owned());
    let mut push = |op| graph.push(op, Span::default());
    let mut input = |input| {
        push(HeOp::Input {
            input,
            scale_bits: None,
        })
    };
    let (a, b) = (input(0), input(1));
    let ct = push(HeOp::Add { a, b });
    push(HeOp::Output { ct, output: 0 });
    graph.measured = vec![0.001, 1000.0, 1000.001, 1000.001];
    let params = Arc::new(Parameters::from_json(CKKS_LITERAL, None).unwrap());
    let plan = Plan::lower(&Arc::new(graph), &params, None, None, 8.0).unwrap();
    let client = client(&plan, Some(1));
    let encrypt = |x: f64, y: f64| {
        let both = [("x", x), ("y", y)];
        let both = both.map(|(name, value)| (name.to_owned(), Values::Real(vec![value])));
        client.encrypt(&plan, &BTreeMap::from(both))
    };
    assert!(encrypt(0.0015, 1500.0).is_ok());
    for (x, y, wrong) in [(1000.0, 1.0, "x"), (0.0021, 1.0, "x"), (0.001, 2001.0, "y")] {
        match encrypt(x, y) {
            Err(SessionError::Values { name, .. }) => assert_eq!(name, wrong),
            other => panic!("{x}, {y}: {other:?}"),
        }
    }
}
