//! Faulty machine files and what is said about them: `errors/NAME.toml` gives
//! exactly `errors/NAME.expect`. `UPDATE_EXPECT=1` rewrites the expectations.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cyclotron_machine::{Code, Machine, MachineError};

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let entries = fs::read_dir(folder).expect("the folder of cases");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "toml")
    });
    files.sort();
    files
}

#[test]
fn faulty_files_are_reported_as_expected() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut wrong = Vec::new();
    let mut codes = BTreeSet::new();
    for path in cases() {
        let name = path
            .file_name()
            .expect("a file")
            .to_string_lossy()
            .into_owned();
        let text = fs::read_to_string(&path).expect("a case");
        let Err(MachineError::Invalid(faults)) = Machine::from_toml(&text, &name) else {
            panic!("{name} must be refused with diagnostics");
        };
        let lines: Vec<&str> = text.lines().collect();
        for fault in &faults.items {
            codes.insert(fault.code);
            let place = fault
                .location
                .as_ref()
                .expect("every fault of a file has a place");
            assert!(
                (1..=lines.len()).contains(&place.line),
                "{name}: line {}",
                place.line
            );
            let columns = lines[place.line - 1].chars().count() + 1;
            assert!(
                (1..=columns).contains(&place.column),
                "{name}: column {}",
                place.column
            );
        }
        let report = format!("{faults}\n");
        assert!(report.contains(&format!("--> {name}:")), "{report}");
        assert!(
            !report.contains(['\u{1b}', '\u{7}']),
            "{name}: control characters pass through"
        );
        let expectation = path.with_extension("expect");
        if update {
            fs::write(&expectation, &report).expect("written");
        } else if fs::read_to_string(&expectation).ok().as_deref() != Some(&report) {
            wrong.push(format!("{name} gives\n{report}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let all = [
        Code::Syntax,
        Code::UnknownKey,
        Code::WrongType,
        Code::OutOfRange,
        Code::MissingKey,
        Code::DuplicateName,
        Code::UnknownWord,
        Code::UnknownName,
        Code::Formula,
        Code::FormulaValue,
        Code::Contradiction,
        Code::BadName,
        Code::Operations,
    ];
    assert_eq!(codes, BTreeSet::from(all), "every code has a case");
}
