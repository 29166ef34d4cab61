//! One program through everything.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use cyclotron_session::{
    Ciphertexts, Client, CompileOptions, Context, Evaluator, Machine, MachineSchedule, Phase2,
    Plan, SessionError, Values, Wish, choose_parameters,
};

use crate::generator::Generated;

/// Bits of precision that the CKKS programs keep.
const PRECISION_BITS: f64 = 6.0;

/// What became of a program.
pub enum Outcome {
    /// All executors agreed and the results were right.
    Ran,
    /// The machine is too small, and said for what.
    DoesNotFit(String),
}

/// Runs a program everywhere and compares.
pub fn run(program: &Generated, machine: &Machine, seed: u64) -> Outcome {
    let graph = Arc::new(program.graph.clone());
    let wish = Wish {
        precision_bits: PRECISION_BITS,
        security: 128,
        levels: None,
        scale_bits: None,
        allow_insecure: Some("small rings keep the test fast".into()),
    };
    let params = choose_parameters(&graph, &wish, Some(machine), None, None)
        .unwrap_or_else(|e| panic!("program {seed}: {e}"));
    let params = Arc::new(params);
    let plan = Plan::lower(&graph, &params, Some(machine), None, PRECISION_BITS).expect("lowers");
    let context = Arc::new(Context::new(Arc::clone(&params)).expect("context"));
    let client = Client::generate(Arc::clone(&context), Some([seed as u8; 32])).expect("client");
    let keys = client.evaluation_keys(&plan).expect("keys");
    let named = graph.inputs.iter().cloned();
    let values: BTreeMap<String, Values> = named
        .zip(program.inputs.iter().map(|v| Values::Real(v.clone())))
        .collect();
    let inputs = client.encrypt(&plan, &values).expect("encrypts");
    let none = BTreeMap::new();
    let evaluator = |threads| Evaluator::new(Arc::clone(&context), &keys, threads).expect("keys");
    let reference = evaluator(1)
        .interpret(&plan, &inputs, &none)
        .expect("interprets");
    for threads in [1, 2] {
        let (outputs, _) = evaluator(threads)
            .run(&plan, &inputs, &none, None)
            .expect("runs");
        assert_same(
            &outputs,
            &reference,
            &format!("program {seed}, {threads} CPU threads"),
        );
    }
    assert_right(program, &client, &plan, &reference, seed);
    let options = CompileOptions {
        phase2: if seed % 4 == 3 {
            Phase2::Csr
        } else {
            Phase2::Greedy
        },
        ..CompileOptions::default()
    };
    let schedule = match MachineSchedule::compile(&plan, machine, &options, &mut |_, _| {
        ControlFlow::Continue(())
    }) {
        Ok(schedule) => schedule,
        Err(SessionError::Compile(error)) => return Outcome::DoesNotFit(error.to_string()),
        Err(error) => panic!("program {seed}: {error}"),
    };
    let report = schedule.report().expect("a bound");
    assert!(
        report.bound.cycles <= report.cycles,
        "program {seed}: below its lower bound"
    );
    schedule
        .check()
        .unwrap_or_else(|e| panic!("program {seed} on {}: {e}", machine.name));
    let (outputs, simulated) = evaluator(2)
        .simulate(&schedule, &inputs, &none, &|_| ControlFlow::Continue(()))
        .expect("simulates");
    assert_eq!(simulated.violation_count, 0, "program {seed}");
    assert_eq!(simulated.cycles, report.cycles, "program {seed}");
    assert_same(&outputs, &reference, &format!("program {seed}, simulated"));
    Outcome::Ran
}

fn assert_same(got: &Ciphertexts, want: &Ciphertexts, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (name, ciphertext) in got {
        assert!(
            ciphertext.to_bytes() == want[name].to_bytes(),
            "{what}: {name} differs"
        );
    }
}

fn assert_right(
    program: &Generated,
    client: &Client,
    plan: &Plan,
    outputs: &Ciphertexts,
    seed: u64,
) {
    let decrypted = client.decrypt(plan, outputs).expect("decrypts");
    for (k, (name, want)) in program
        .graph
        .outputs
        .iter()
        .zip(&program.outputs)
        .enumerate()
    {
        match &decrypted[name] {
            Values::Integers(got) => {
                let got: Vec<f64> = got.iter().map(|&v| v as f64).collect();
                assert!(got == *want, "program {seed}: {name} decrypts wrongly");
            }
            Values::Wide(_) => panic!("nobody asked for 106 bits"),
            Values::Real(got) => {
                let error = got
                    .iter()
                    .zip(want)
                    .map(|(g, w)| (g - w).abs())
                    .fold(0.0, f64::max);
                let node = plan.interface().outputs[k].node;
                let row = plan
                    .explain()
                    .iter()
                    .find(|row| row.node == node)
                    .expect("a row");
                let predicted = (row.noise_bits - row.scale_bits).exp2();
                assert!(
                    error <= predicted,
                    "program {seed}: {name} is off by {error:e}"
                );
            }
        }
    }
}
