//! The driver, asked as the runner asks it, at small rings.

use std::io::Cursor;

use cyclotron_benches::{Kernels, Operations, Suite, serve};
use serde_json::{Value, json};

/// The first line, and the answers to so many requests.
fn ask(suite: &mut dyn Suite, requests: &[Value]) -> (Value, Vec<Value>) {
    let text: String = requests
        .iter()
        .map(|request| format!("{request}\n"))
        .collect();
    let mut output = Vec::new();
    serve(suite, 1, Cursor::new(text), &mut output).unwrap();
    let mut lines = output
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice::<Value>(line).unwrap());
    (lines.next().unwrap(), lines.collect())
}

fn assert_correct(answers: &[Value], tolerance: f64) {
    for answer in answers {
        let numbers = |name: &str| -> Vec<f64> {
            let list = answer[name].as_array();
            let list = list.unwrap_or_else(|| panic!("{answer}"));
            list.iter().map(|v| v.as_f64().unwrap()).collect()
        };
        let (values, expected) = (numbers("values"), numbers("expected"));
        assert_eq!((values.len(), expected.len()), (8, 8), "{answer}");
        for (value, expected) in values.iter().zip(&expected) {
            assert!((value - expected).abs() <= tolerance, "{answer}");
        }
    }
}

fn cases(hello: &Value, part: &str) -> Vec<String> {
    let listed = hello["cases"].as_array().unwrap().iter();
    listed
        .map(|case| case["case"].as_str().unwrap().to_owned())
        .filter(|case| case.contains(part))
        .collect()
}

#[test]
fn every_kernel_computes_what_its_definition_says() {
    let (hello, _) = ask(&mut Kernels::new(true), &[]);
    let cases = cases(&hello, "/n10");
    assert_eq!(cases.len(), 5 * 2 + 3 * 8);
    let requests: Vec<_> = cases.iter().map(|case| json!({ "check": case })).collect();
    let (_, answers) = ask(&mut Kernels::new(true), &requests);
    assert_correct(&answers, 0.0);
}

#[test]
fn every_operation_computes_what_its_definition_says() {
    let (hello, _) = ask(&mut Operations::new(1, true).unwrap(), &[]);
    let cases = cases(&hello, "/n10");
    assert_eq!(cases.len(), 2 * 9);
    let requests: Vec<_> = cases.iter().map(|case| json!({ "check": case })).collect();
    let (_, answers) = ask(&mut Operations::new(1, true).unwrap(), &requests);
    assert_correct(&answers, 1e-6);
}

#[test]
fn published_sets_have_the_published_sizes() {
    let (hello, _) = ask(&mut Operations::new(1, false).unwrap(), &[]);
    let parameters = |name: &str| {
        let mut list = hello["cases"].as_array().unwrap().iter();
        list.find(|case| case["case"] == name).unwrap()["parameters"].clone()
    };
    let sizes = |facts: &Value| ["limbs", "special", "digits"].map(|name| facts[name].clone());
    let log_qp = |facts: &Value| facts["log_qp"].as_f64().unwrap();
    let large = parameters("ckks/rotate/n16");
    assert_eq!(sizes(&large), [24, 8, 3]);
    assert!((1599.0..=1600.0).contains(&log_qp(&large)), "{large}");
    for scheme in ["ckks", "bgv"] {
        let usual = parameters(&format!("{scheme}/add/n14"));
        assert_eq!(sizes(&usual), [8, 1, 8]);
        assert!((437.0..=438.0).contains(&log_qp(&usual)), "{usual}");
        let secure = parameters(&format!("{scheme}/add/n14-430"));
        assert!(log_qp(&secure) <= 430.0, "{secure}");
    }
}

#[test]
fn times_bounds_and_errors_are_answered() {
    let requests = [
        json!({ "run": "bgv/add/n10", "repetitions": 3 }),
        json!({ "bound": "bgv/mul_relin/n10" }),
        json!({ "bound": "bgv/encode/n10" }),
        json!({ "release": "bgv/n10" }),
        json!({ "run": "bgv/rescale/n10" }),
        json!({ "run": "bgv/add/n10", "repetitions": -1 }),
        json!({ "check": "bgv/add" }),
        json!({ "unknown": 1 }),
        json!({ "quit": true }),
        json!({ "release": "never answered" }),
    ];
    let (hello, answers) = ask(&mut Operations::new(1, true).unwrap(), &requests);
    assert_eq!(hello["driver"], "cyclotron");
    let seconds = answers[0]["seconds"].as_array().unwrap();
    assert!(seconds.len() == 3 && seconds.iter().all(|s| s.as_f64().unwrap() > 0.0));
    let executing = answers[0]["executing_seconds"].as_array().unwrap();
    for (all, part) in seconds.iter().zip(executing) {
        assert!((0.0..=all.as_f64().unwrap()).contains(&part.as_f64().unwrap()));
    }
    let least = &answers[1]["least"];
    assert!(least["seconds"].as_f64().unwrap() > 0.0, "{least}");
    assert!(answers[2]["least"].is_null());
    assert_eq!(answers[3], json!({ "release": "bgv/n10" }));
    for error in &answers[4..8] {
        assert!(error["error"].is_string(), "{error}");
    }
    assert_eq!(answers.len(), 8);
}
