//! Inputs and results of 106 bits.

use std::collections::BTreeMap;
use std::sync::Arc;

use cyclotron_session::{
    Client, Context, Evaluator, Graph, HeOp, Parameters, Plan, ProgramScheme, SessionError, Span,
    Values,
};

/// `y = x + x`, x at a scale of 2^90.
fn plan() -> Plan {
    let mut graph = Graph::new("test", ProgramScheme::Ckks, 10);
    graph.inputs.push("x".to_owned());
    graph.outputs.push("y".to_owned());
    let x = graph.push(
        HeOp::Input {
            input: 0,
            scale_bits: Some(90.0),
        },
        Span::default(),
    );
    let ct = graph.push(HeOp::Add { a: x, b: x }, Span::default());
    graph.push(HeOp::Output { ct, output: 0 }, Span::default());
    let literal = r#"{"scheme": "ckks", "log_n": 10, "log_q": [60, 50, 50], "scale_bits": 50,
        "allow_insecure": "a test"}"#;
    let params = Arc::new(Parameters::from_json(literal, None).unwrap());
    Plan::lower(&Arc::new(graph), &params, None, None, 8.0).unwrap()
}

/// Encrypts, doubles and decrypts.
fn doubled(plan: &Plan, x: Values, wide: bool) -> Values {
    let context = Arc::new(Context::new(Arc::clone(plan.params())).unwrap());
    let client = Client::generate(Arc::clone(&context), Some([3; 32])).unwrap();
    let inputs = client
        .encrypt(plan, &BTreeMap::from([("x".to_owned(), x)]))
        .unwrap();
    let keys = client.evaluation_keys(plan).unwrap();
    let evaluator = Evaluator::new(context, &keys, 1).unwrap();
    let (outputs, _) = evaluator
        .run(plan, &inputs, &BTreeMap::new(), None)
        .unwrap();
    let decrypted = match wide {
        true => client.decrypt_wide(plan, &outputs),
        false => client.decrypt(plan, &outputs),
    };
    decrypted.unwrap()["y"].clone()
}

#[test]
fn a_third_keeps_its_digits() {
    // 1/3 = HIGH + LOW to 106 bits: a third is 0x1.5555...p-2, and its rest has the same digits.
    const HIGH: f64 = 1.0 / 3.0;
    const LOW: f64 = HIGH / 18_014_398_509_481_984.0;
    let plan = plan();
    let error = |found: &Values| match found {
        Values::Wide(y) => ((y[0].hi - 2.0 * HIGH) + (y[0].lo - 2.0 * LOW)).abs(),
        Values::Real(y) => (y[0] - 2.0 * HIGH).abs(),
        Values::Integers(_) => panic!("CKKS has real slots"),
    };
    // In any order: the sum counts.
    for parts in [([HIGH], [LOW]), ([LOW], [HIGH])] {
        let third = Values::wide("x", &parts.0, &parts.1).unwrap();
        assert!(error(&doubled(&plan, third.clone(), true)) < 2f64.powi(-75));
        assert!(error(&doubled(&plan, third, false)) < 2f64.powi(-52));
    }
    let narrow = doubled(&plan, Values::Real(vec![HIGH]), true);
    let lost = error(&narrow) / (2.0 * LOW);
    assert!(
        (0.99..1.01).contains(&lost),
        "53 bits cannot do that: {lost}"
    );
}

#[test]
fn what_cannot_be_wide_is_refused() {
    let missing = Values::wide("x", &[1.0, 2.0], &[0.0]).unwrap_err();
    assert!(missing.to_string().contains("`x`"), "{missing}");
    let wide = Values::wide("w", &[1.0], &[0.0]).unwrap();
    let operand = wide.operand(plan().params(), "w");
    assert!(matches!(operand, Err(SessionError::Values { .. })));
}
