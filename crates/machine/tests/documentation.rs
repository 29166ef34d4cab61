//! The documentation says what the parser does.

use std::fs;
use std::path::{Path, PathBuf};

use cyclotron_machine::{Code, Machine, schema_reference};

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(page(name)).expect("a page of the documentation")
}

/// The TOML block after this marker.
fn example(text: &str, marker: &str) -> String {
    let (_, rest) = text
        .split_once(&format!("<!-- test: {marker} -->"))
        .expect("the marker");
    let (_, rest) = rest.split_once("```toml\n").expect("a block");
    let (block, _) = rest.split_once("```").expect("its end");
    block.to_owned()
}

/// `UPDATE_EXPECT=1` rewrites the generated part of the page.
#[test]
fn the_schema_page_names_every_key() {
    let text = read("machine-schema.md");
    let (before, _) = text.split_once("<!-- Generated").expect("the marker");
    let (marker, _) = text[before.len()..]
        .split_once('\n')
        .expect("the end of its line");
    let expected = format!("{before}{marker}\n\n{}", schema_reference().trim_end());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(page("machine-schema.md"), format!("{expected}\n")).expect("written");
    } else {
        assert_eq!(
            text.trim_end(),
            expected,
            "run the command in the page's comment"
        );
    }
}

#[test]
fn the_schema_page_names_every_code() {
    let text = read("machine-schema.md");
    let codes = [
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
    for code in codes {
        assert!(
            text.contains(&format!("| `{}` |", code.as_str())),
            "{code:?}"
        );
    }
}

#[test]
fn the_example_machine_works() {
    let text = read("add-a-machine.md");
    let machine = example(&text, "machine") + &example(&text, "overlay");
    let machine =
        Machine::from_toml(&machine, "tiny.toml").unwrap_or_else(|error| panic!("{error}"));
    let resolved = machine.resolve(14).expect("resolves");
    assert_eq!(resolved.regfile.slots, 8, "as its comment says");
    let big = machine.with_overlay("big").expect("the overlay");
    assert_eq!(big.name, "tiny+big");
    let resolved = big.resolve(14).expect("resolves");
    assert_eq!(
        (
            resolved.clusters,
            resolved.banks[0].slots,
            resolved.xbars[1].latency
        ),
        (8, 64, 3)
    );
}

#[test]
fn the_example_error_is_what_is_printed() {
    let text = read("add-a-machine.md");
    let faulty =
        example(&text, "machine").replace("clock_mhz = 300", "clock_mhz = 300\nclok_mhz = 300");
    let printed = Machine::from_toml(&faulty, "tiny.toml")
        .expect_err("faulty")
        .to_string();
    let (_, shown) = text.split_once("```text\n").expect("the error");
    let (shown, _) = shown.split_once("```").expect("its end");
    let report = &printed[printed.find("error[").expect("a report")..];
    assert_eq!(format!("{report}\n"), shown);
}
