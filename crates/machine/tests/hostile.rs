//! Whatever a machine file contains, reading it ends with a machine or with
//! errors that point into the file.

use cyclotron_machine::{Machine, MachineError};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const F1: &str = include_str!("../../../machines/f1.toml");

/// Values that are likely to break arithmetic or types.
const VALUES: [&str; 22] = [
    "0",
    "-1",
    "1e30",
    "-0.0",
    "nan",
    "inf",
    "-inf",
    "9223372036854775807",
    "-9223372036854775808",
    "4294967296",
    "65535",
    "1e-300",
    "\"\"",
    "\"*\"",
    "\"N*N*N*N*N*N*N*N*N*N*N*N*N\"",
    "\"1/0\"",
    "\"\\u0000\"",
    "true",
    "[]",
    "{}",
    "[[1], {}]",
    "1979-05-27T07:32:00Z",
];

/// Everything that may be done with what was read.
fn exercise(bytes: &[u8]) {
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    match Machine::from_bytes(bytes, "mutant.toml") {
        Ok(machine) => {
            let again = Machine::from_toml(&machine.to_toml(), "canonical");
            assert_eq!(
                again.expect("the canonical form reads back").hash(),
                machine.hash()
            );
            for log_n in 0..=21 {
                if let Ok(resolved) = machine.resolve(log_n) {
                    assert!(resolved.regfile.slots > 0 && resolved.vector_bytes > 0);
                    assert!(machine.budget(log_n).is_ok());
                }
            }
            for overlay in machine.overlay_names() {
                assert!(
                    machine.with_overlay(&overlay).is_ok(),
                    "overlays are checked on reading"
                );
            }
        }
        Err(MachineError::Invalid(faults)) => {
            assert!(!faults.items.is_empty() && faults.items.len() <= 50);
            for fault in &faults.items {
                let place = fault.location.as_ref().expect("a place in the file");
                assert!(
                    (1..=lines).contains(&place.line),
                    "line {} of {lines}",
                    place.line
                );
                assert!(place.column >= 1 && !fault.message.is_empty());
            }
            assert!(faults.to_string().contains("mutant.toml:"));
        }
        Err(MachineError::NotUtf8 { line, .. }) => assert!((1..=lines).contains(&line)),
        Err(other) => panic!("{other}"),
    }
}

/// One change of the bytes.
fn mutate(bytes: &mut Vec<u8>, kind: u8, at: usize, other: usize, byte: u8) {
    if bytes.is_empty() {
        return;
    }
    let (at, other) = (at % bytes.len(), other % bytes.len());
    match kind % 6 {
        0 => bytes[at] = byte,
        1 => bytes.insert(at, byte),
        2 => drop(bytes.remove(at)),
        3 => bytes.swap(at, other),
        4 => drop(bytes.drain(at.min(other)..(at.min(other) + 40).min(bytes.len()))),
        _ => {
            let piece = bytes[at..(at + 60).min(bytes.len())].to_vec();
            bytes.splice(other..other, piece);
        }
    }
}

/// The file with the value of one line replaced.
fn with_value(line: usize, value: &str) -> String {
    let mut lines: Vec<String> = F1.lines().map(str::to_owned).collect();
    let index = line % lines.len();
    if let Some((key, _)) = lines[index].clone().split_once('=') {
        lines[index] = format!("{key}= {value}");
    }
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn mutated_bytes_give_a_machine_or_diagnostics(
        changes in prop::collection::vec((any::<u8>(), any::<usize>(), any::<usize>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = F1.as_bytes().to_vec();
        for (kind, at, other, byte) in changes {
            mutate(&mut bytes, kind, at, other, byte);
        }
        exercise(&bytes);
    }

    #[test]
    fn hostile_values_give_a_machine_or_diagnostics(
        first in any::<usize>(), value in prop::sample::select(VALUES.as_slice()), text in "\\PC{0,20}",
    ) {
        exercise(with_value(first, value).as_bytes());
        exercise(with_value(first, &format!("{text:?}")).as_bytes());
        exercise(with_value(first, &text).as_bytes());
    }

    #[test]
    fn hostile_edits_give_a_machine_or_an_error(
        key in "[a-z_.]{0,30}", text in "\\PC{0,20}", number in any::<i64>(), float in any::<f64>(),
    ) {
        let f1 = Machine::shipped("f1").expect("shipped");
        for known in [key.as_str(), "clusters", "offchip.gbps", "vars.lat_mul", "cluster.fu.ops.NTT", "machine.params.x"] {
            for result in [f1.vary(known, number), f1.vary(known, float), f1.vary(known, text.as_str())] {
                match result {
                    Ok(machine) => drop(machine.resolve(12)),
                    Err(error) => assert!(!error.to_string().is_empty()),
                }
            }
        }
    }
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("[", "]"), ("{a=", "}")] {
        let text = format!("schema = {}1{}", open.repeat(50_000), close.repeat(50_000));
        exercise(text.as_bytes());
    }
    let header = vec!["a"; 50_000].join(".");
    exercise(format!("[{header}]").as_bytes());
    exercise(format!("{header} = 1").as_bytes());
}

#[test]
fn many_faults_are_counted_not_listed() {
    let keys: Vec<String> = (0..5000)
        .map(|index| format!("k{index} = {index}"))
        .collect();
    let Err(MachineError::Invalid(faults)) = Machine::from_toml(&keys.join("\n"), "many.toml")
    else {
        panic!("must be refused");
    };
    assert_eq!(faults.items.len(), 50);
    assert!(
        faults.to_string().contains("... and 49"),
        "{}",
        faults.omitted
    );
}

/// Reading checks every overlay, so their number multiplies the time.
#[test]
fn large_files_are_read_in_time() {
    let repeated = |part: &dyn Fn(usize) -> String| -> String { (0..7000).map(part).collect() };
    let names = repeated(&|index| format!("\"n{index}\","));
    let files = [
        F1.to_owned() + &repeated(&|index| format!("[machine.overlay.o{index}]\n")),
        F1.to_owned() + &repeated(&|_| "[[xbar]]\n".to_owned()),
        F1.replace(
            "[machine.vars]",
            &format!(
                "[machine.vars]\n{}",
                repeated(&|index| format!("v{index} = 1\n"))
            ),
        ),
        F1.replace("attach = \"spad\"", &format!("attach = [{names}]")),
    ];
    let start = std::time::Instant::now();
    for file in files {
        assert!(Machine::from_toml(&file, "mutant.toml").is_err());
        exercise(file.as_bytes());
    }
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn every_truncation_gives_a_machine_or_diagnostics() {
    for length in (0..F1.len()).step_by(13) {
        exercise(&F1.as_bytes()[..length]);
    }
}
