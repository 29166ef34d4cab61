//! Schedules for F1: the same limbs as the CPU's, in memory and from a file.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use cyclotron_isa::Source;
use cyclotron_session::{
    Client, CompileOptions, Context, Evaluator, Graph, HeOp, Machine, MachineSchedule,
    PlainOperand, Plan, ProgramScheme, Span, StoredCiphertext, Values, Wish, choose_parameters,
};

const LOG_N: u32 = 10;

/// `y = rotate(x * x, 3) * w + v`.
fn graph(scheme: ProgramScheme, log_n: u32) -> Arc<Graph> {
    let mut graph = Graph::new("test", scheme, log_n);
    graph.inputs.push("x".to_owned());
    graph.outputs.push("y".to_owned());
    for (name, values) in [("w", Some(vec![3.0, 0.0, 0.0, -2.0])), ("v", None)] {
        graph.plains.push(PlainOperand {
            name: name.to_owned(),
            values,
            scale_bits: None,
        });
    }
    let mut push = |op| graph.push(op, Span::default());
    let (input, scale_bits) = (0, None);
    let x = push(HeOp::Input { input, scale_bits });
    let square = push(HeOp::Mul { a: x, b: x });
    let moved = push(HeOp::Rotate {
        ct: square,
        steps: 3,
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

struct Setting {
    client: Client,
    evaluator: Evaluator,
    schedule: MachineSchedule,
    inputs: BTreeMap<String, StoredCiphertext>,
    plains: BTreeMap<String, Values>,
    /// The output of the CPU.
    expected: Arc<[u8]>,
    plan: Plan,
}

fn setting(scheme: ProgramScheme) -> Setting {
    setting_on(scheme, LOG_N, &Machine::shipped("f1").unwrap())
}

fn setting_on(scheme: ProgramScheme, log_n: u32, machine: &Machine) -> Setting {
    let graph = graph(scheme, log_n);
    let wish = Wish {
        precision_bits: 5.0,
        security: 128,
        levels: None,
        scale_bits: None,
        allow_insecure: Some("a test on a small ring".to_owned()),
    };
    let params = Arc::new(choose_parameters(&graph, &wish, Some(machine), None, None).unwrap());
    let plan = Plan::lower(&graph, &params, Some(machine), None, 5.0).unwrap();
    let options = CompileOptions::default();
    let schedule = MachineSchedule::compile(&plan, machine, &options, &mut |_, _| {
        ControlFlow::Continue(())
    })
    .unwrap();
    let context = Arc::new(Context::new(params).unwrap());
    let client = Client::generate(Arc::clone(&context), Some([4; 32])).unwrap();
    let keys = client.evaluation_keys(&plan).unwrap();
    let evaluator = Evaluator::new(context, &keys, 2).unwrap();
    let x = Values::Integers(vec![1, 2, 3, 4, 5, 6, 7]);
    let inputs = client
        .encrypt(&plan, &BTreeMap::from([("x".to_owned(), x)]))
        .unwrap();
    let plains = BTreeMap::from([("v".to_owned(), Values::Integers(vec![10, 20]))]);
    let (outputs, _) = evaluator.run(&plan, &inputs, &plains, None).unwrap();
    Setting {
        expected: outputs["y"].to_bytes(),
        client,
        evaluator,
        schedule,
        inputs,
        plains,
        plan,
    }
}

fn simulated(setting: &Setting, schedule: &MachineSchedule) -> (Arc<[u8]>, u64) {
    let Setting { inputs, plains, .. } = setting;
    let (outputs, simulated) = setting
        .evaluator
        .simulate(schedule, inputs, plains, &|_| ControlFlow::Continue(()))
        .unwrap();
    (outputs["y"].to_bytes(), simulated.violation_count)
}

#[test]
fn machine_and_cpu_give_the_same_limbs() {
    for scheme in [
        ProgramScheme::Ckks,
        ProgramScheme::Bgv {
            plaintext_modulus: 65537,
        },
    ] {
        let setting = setting(scheme);
        let report = setting.schedule.check().unwrap();
        assert_eq!(
            simulated(&setting, &setting.schedule),
            (setting.expected.clone(), 0)
        );
        let facts = setting.schedule.report().unwrap();
        assert_eq!(facts.cycles, report.cycles);
        assert!(facts.bound.cycles <= facts.cycles);
        let loaded = facts.counts.traffic.hints_compulsory + facts.counts.traffic.inputs_compulsory;
        let limb = 4 << LOG_N;
        assert_eq!(
            loaded,
            limb * setting.schedule.program().inputs.len() as u64
        );
        let y = StoredCiphertext::from_bytes(&setting.expected).unwrap();
        let y = setting
            .client
            .decrypt(&setting.plan, &BTreeMap::from([("y".to_owned(), y)]));
        let first = match &y.unwrap()["y"] {
            Values::Real(y) => y[0],
            Values::Integers(y) => y[0] as f64,
            Values::Wide(y) => y[0].hi,
        };
        assert!((first - (16.0 * 3.0 + 10.0)).abs() < 1.0, "{first}");
    }
}

/// F1 whose longest vectors have 2^10 words, with memories in proportion.
fn short_vectors() -> Machine {
    let edits: [(&str, i64); 3] = [
        ("machine.n_max", 1024),
        ("cluster.regfile.kib", 32),
        ("scratchpad.kib_per_bank", 256),
    ];
    let edits = edits.map(|(key, value)| (key, value.into()));
    Machine::shipped("f1").unwrap().with(edits).unwrap()
}

#[test]
fn polynomials_of_several_vectors_give_the_same_limbs() {
    let machine = short_vectors();
    let bgv = ProgramScheme::Bgv {
        plaintext_modulus: 65537,
    };
    for (scheme, log_n) in [(ProgramScheme::Ckks, 11), (bgv, 11), (bgv, 12), (bgv, 13)] {
        let setting = setting_on(scheme, log_n, &machine);
        let program = setting.schedule.program();
        assert_eq!((program.log_n, program.log_parts), (10, log_n - 10));
        let report = setting.schedule.check().unwrap();
        let expected = (setting.expected.clone(), 0);
        assert_eq!(simulated(&setting, &setting.schedule), expected);
        let facts = setting.schedule.report().unwrap();
        assert_eq!(facts.cycles, report.cycles);
        assert!(facts.bound.cycles <= facts.cycles);
        // Twists are loaded like everything else.
        let loaded = facts.counts.traffic.hints_compulsory + facts.counts.traffic.inputs_compulsory;
        assert_eq!(loaded, 4096 * program.inputs.len() as u64);
        let twists = program.inputs.iter().filter(|i| i.source == Source::Twist);
        assert!(twists.count() >= 1 << program.log_parts);
        let text = setting.schedule.to_text(&BTreeMap::new());
        let (loaded, _) = MachineSchedule::from_text(&text).unwrap();
        loaded.check().unwrap();
        assert_eq!(simulated(&setting, &loaded), expected);
    }
}

#[test]
fn a_schedule_reads_back_from_its_file() {
    let setting = setting(ProgramScheme::Ckks);
    let notes = BTreeMap::from([("who".to_owned(), "a \"test\"\nof two lines".to_owned())]);
    let text = setting.schedule.to_text(&notes);
    let (loaded, read) = MachineSchedule::from_text(&text).unwrap();
    assert_eq!(read, notes);
    assert_eq!(loaded.schedule(), setting.schedule.schedule());
    assert_eq!(loaded.program(), setting.schedule.program());
    assert_eq!(loaded.to_text(&read), text);
    loaded.check().unwrap();
    assert_eq!(simulated(&setting, &loaded).0, setting.expected);
    let (new, old) = (loaded.report().unwrap(), setting.schedule.report().unwrap());
    assert_eq!((new.cycles, new.bound), (old.cycles, old.bound));
}

#[test]
fn an_edited_schedule_fails_its_check_and_gives_other_limbs() {
    let setting = setting(ProgramScheme::Ckks);
    let text = setting.schedule.to_text(&BTreeMap::new());
    let start = text.find("== schedule").unwrap();
    let load = start + text[start..].find(" load ").unwrap();
    let (from, to) = (
        text[..load].rfind('\n').unwrap(),
        load + text[load..].find('\n').unwrap(),
    );
    let edited = format!("{}{}", &text[..from], &text[to..]);
    let (loaded, _) = MachineSchedule::from_text(&edited).unwrap();
    let error = loaded.check().unwrap_err().to_string();
    assert!(error.contains("cycle"), "{error}");
    let (limbs, violations) = simulated(&setting, &loaded);
    assert_ne!(limbs, setting.expected);
    assert!(violations > 0);
}

#[test]
fn a_damaged_file_is_refused_with_its_line() {
    let setting = setting(ProgramScheme::Ckks);
    let text = setting.schedule.to_text(&BTreeMap::new());
    let lines: Vec<&str> = text.lines().collect();
    for cut in (0..lines.len()).step_by(lines.len() / 40) {
        let mut damaged = lines.clone();
        damaged[cut] = "garbage here";
        if let Ok((loaded, _)) = MachineSchedule::from_text(&damaged.join("\n")) {
            // Nothing but an entry of a stream may be replaced by a comment, say.
            assert!(loaded.check().is_err(), "line {cut}");
        }
    }
    for (from, to) in [
        ("cyclotron.interface", "cyclotron.elsewhere"),
        ("cyclotron.program\" \"89", "cyclotron.program\" \"88"),
        ("cyclotron.parameters\" \"89", "cyclotron.parameters\" \"8g"),
        ("interface\" \"input ", "interface\" \"input 99"),
        ("interface\" \"input ", "interface\" \"output "),
        ("interface\" \"input ", "interface\" \"in"),
    ] {
        assert!(text.contains(from), "{from}");
        assert!(
            MachineSchedule::from_text(&text.replacen(from, to, 1)).is_err(),
            "{to}"
        );
    }
}
