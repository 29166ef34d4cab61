//! An encryptor that has the public key and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use cyclotron_session::{
    Client, Context, Encryptor, EvaluationKeys, Evaluator, Graph, HeOp, Parameters, Plan,
    ProgramScheme, PublicKey, SessionError, Span, StoredCiphertext, Values,
};

const BGV: ProgramScheme = ProgramScheme::Bgv {
    plaintext_modulus: 65537,
};

/// `y = rotate(x * x, 1)`.
fn graph(scheme: ProgramScheme, public_key: bool) -> Arc<Graph> {
    let mut graph = Graph::new("test", scheme, 10);
    graph.public_key = public_key;
    graph.inputs.push("x".to_owned());
    graph.outputs.push("y".to_owned());
    let mut push = |op| graph.push(op, Span::default());
    let (input, scale_bits) = (0, None);
    let x = push(HeOp::Input { input, scale_bits });
    let square = push(HeOp::Mul { a: x, b: x });
    let ct = push(HeOp::Rotate {
        ct: square,
        steps: 1,
    });
    push(HeOp::Output { ct, output: 0 });
    Arc::new(graph)
}

fn plan(scheme: ProgramScheme, public_key: bool, first_bits: u32) -> Plan {
    let (rest, bits) = match scheme {
        BGV => (r#""scheme": "bgv", "plaintext_modulus": 65537"#, 31),
        _ => (r#""scheme": "ckks", "scale_bits": 40"#, 40),
    };
    let literal = format!(
        r#"{{{rest}, "log_n": 10, "log_q": [{first_bits}, {bits}, {bits}], "log_p": [50],
            "word_bits": 64, "allow_insecure": "a test"}}"#
    );
    let params = Arc::new(Parameters::from_json(&literal, None).unwrap());
    Plan::lower(&graph(scheme, public_key), &params, None, None, 8.0).unwrap()
}

fn context(plan: &Plan) -> Arc<Context> {
    Arc::new(Context::new(Arc::clone(plan.params())).unwrap())
}

fn x(values: &[i64]) -> BTreeMap<String, Values> {
    BTreeMap::from([("x".to_owned(), Values::Integers(values.to_vec()))])
}

#[test]
fn what_an_encryptor_encrypts_the_client_decrypts() {
    for scheme in [BGV, ProgramScheme::Ckks] {
        let plan = plan(scheme, true, 50);
        let client = Client::generate(context(&plan), None).unwrap();
        let sent = client.public_key().unwrap().to_bytes();
        let key = PublicKey::from_bytes(&sent).unwrap();
        assert_eq!(key.to_bytes(), sent);
        let encryptor = Encryptor::new(context(&plan), &key, None).unwrap();
        let encrypted = encryptor.encrypt(&plan, &x(&[1, -2, 3])).unwrap();
        let again = encryptor.encrypt(&plan, &x(&[1, -2, 3])).unwrap();
        assert_ne!(
            encrypted["x"].to_bytes(),
            again["x"].to_bytes(),
            "not fresh"
        );
        let arrived = StoredCiphertext::from_bytes(&encrypted["x"].to_bytes()).unwrap();

        let keys = client.evaluation_keys(&plan).unwrap().to_bytes();
        let keys = EvaluationKeys::from_bytes(&keys).unwrap();
        let evaluator = Evaluator::new(context(&plan), &keys, 1).unwrap();
        let inputs = BTreeMap::from([("x".to_owned(), arrived)]);
        let (outputs, _) = evaluator
            .run(&plan, &inputs, &BTreeMap::new(), None)
            .unwrap();
        let found: Vec<f64> = match &client.decrypt(&plan, &outputs).unwrap()["y"] {
            Values::Integers(y) => y[..3].iter().map(|&y| y as f64).collect(),
            Values::Real(y) => y[..3].to_vec(),
            Values::Wide(_) => panic!("nobody asked for it"),
        };
        for (found, expected) in found.iter().zip([4.0, 9.0, 0.0]) {
            assert!((found - expected).abs() < 1e-3, "{found}, not {expected}");
        }
    }
}

#[test]
fn a_seed_repeats_ciphertexts() {
    let plan = plan(ProgramScheme::Ckks, true, 50);
    let client = Client::generate(context(&plan), Some([1; 32])).unwrap();
    let key = client.public_key().unwrap();
    let bytes = |seed| {
        let encryptor = Encryptor::new(context(&plan), &key, Some([seed; 32])).unwrap();
        encryptor.encrypt(&plan, &x(&[5])).unwrap()["x"].to_bytes()
    };
    assert_eq!(bytes(1), bytes(1));
    assert_ne!(bytes(1), bytes(2));
    assert_eq!(key.to_bytes(), client.public_key().unwrap().to_bytes());
}

#[test]
fn keys_and_programs_that_do_not_belong_are_refused() {
    let (plan_here, there) = (plan(BGV, true, 50), plan(BGV, true, 49));
    let client = Client::generate(context(&plan_here), None).unwrap();
    let key = client.public_key().unwrap();
    let mismatch = |key: &PublicKey| Encryptor::new(context(&there), key, None).unwrap_err();
    assert!(matches!(
        mismatch(&key),
        SessionError::OtherParameters { .. }
    ));
    let mut bytes = key.to_bytes().to_vec();
    let stored = PublicKey::from_bytes(&bytes).unwrap();
    assert!(matches!(mismatch(&stored), SessionError::Wire(_)));

    let encryptor = Encryptor::new(context(&plan_here), &stored, None).unwrap();
    let other = encryptor.encrypt(&there, &x(&[1])).unwrap_err();
    assert!(matches!(other, SessionError::OtherParameters { .. }));
    let unplanned = encryptor.encrypt(&plan(BGV, false, 50), &x(&[1]));
    let message = unplanned.unwrap_err().to_string();
    assert!(message.contains("public_key=True"), "{message}");

    bytes[3000] ^= 1;
    assert!(PublicKey::from_bytes(&bytes).is_err());
    assert!(PublicKey::from_bytes(&client.to_bytes()).is_err());
}
