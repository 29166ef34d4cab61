//! Functional units: their operations, formulas and references.

use std::collections::BTreeMap;

use crate::decode;
use crate::diagnostic::{Code, Problems};
use crate::formula::{Formula, FormulaError, Ratio, Scope};
use crate::tree::{Entry, Node, Span, Table, Val};
use crate::validate::join;

use super::{int, references};

/// What the formulas of a file are evaluated with; `None` where the file is faulty.
struct Machine {
    lanes: Option<u64>,
    log_n: Option<std::ops::RangeInclusive<u32>>,
    vars: BTreeMap<String, Ratio>,
}

/// Checks the units of a cluster.
pub(super) fn check(root: &Table, cluster: &Table, problems: &mut Problems) {
    let path = join("cluster", cluster.text("name").unwrap_or("?"));
    let machine = machine(root);
    let names: Vec<&str> = cluster
        .tables("fu")
        .filter_map(|unit| unit.text("name"))
        .collect();
    let mut offered: BTreeMap<&str, &str> = BTreeMap::new();
    for unit in cluster.tables("fu") {
        let name = unit.text("name").unwrap_or("?");
        let path = join(&join(&path, "fu"), name);
        let others: Vec<&str> = names
            .iter()
            .copied()
            .filter(|other| *other != name)
            .collect();
        references(unit, "exclusive_with", &path, &others, problems);
        references(unit, "overlaps_with", &path, &others, problems);
        operations(unit, &path, problems);
        for entry in entries(unit, "ops") {
            if let Some(other) = offered.insert(&entry.key, name) {
                let message = format!("`{}` is offered by units `{other}` and `{name}`", entry.key);
                problems
                    .add(Code::Operations, &path, &entry.key_span, message)
                    .label("offered twice")
                    .help("an operation runs on one kind of unit; raise its count instead");
            }
        }
        formulas(unit, &path, &machine, problems);
    }
}

fn machine(root: &Table) -> Machine {
    let table = root.table("machine");
    let number = |key: &str| {
        let (value, _) = int(table?, key)?;
        u64::try_from(value)
            .ok()
            .filter(|value| value.is_power_of_two())
    };
    Machine {
        lanes: number("lanes"),
        log_n: number("n_min")
            .zip(number("n_max"))
            .map(|(min, max)| min.ilog2()..=max.ilog2()),
        vars: decode::variables(root),
    }
}

fn entries<'a>(unit: &'a Table, key: &str) -> &'a [Entry] {
    unit.table(key)
        .map_or(&[], |table| table.entries.as_slice())
}

/// Every operation has a latency, and nothing else does.
fn operations(unit: &Table, path: &str, problems: &mut Problems) {
    let (Some(ops), Some(latency)) = (unit.table("ops"), unit.table("latency")) else {
        return;
    };
    if let (true, Some(node)) = (ops.entries.is_empty(), unit.get("ops")) {
        problems
            .add(
                Code::Operations,
                path,
                &node.span,
                format!("unit `{path}` has no operations"),
            )
            .label("no operations");
    }
    for entry in &ops.entries {
        if latency.get(&entry.key).is_none() {
            let message = format!("`{}` has an occupancy but no latency", entry.key);
            problems
                .add(
                    Code::Operations,
                    &join(path, "latency"),
                    &entry.key_span,
                    message,
                )
                .label("needs a latency")
                .help(format!(
                    "add `{}` to `latency`: cycles from first words in to first words out",
                    entry.key
                ));
        }
    }
    for entry in &latency.entries {
        if ops.get(&entry.key).is_none() {
            not_offered(&entry.key, "latency", path, &entry.key_span, problems);
        }
    }
    if let Some(Node {
        value: Val::List(items),
        ..
    }) = unit.get("multipass")
    {
        for item in items {
            if let Some(op) = item.as_text().filter(|op| ops.get(op).is_none()) {
                not_offered(op, "multipass", path, &item.span, problems);
            }
        }
    }
}

fn not_offered(op: &str, key: &str, path: &str, span: &Span, problems: &mut Problems) {
    problems
        .add(
            Code::Operations,
            &join(path, key),
            span,
            format!("`{key}` lists `{op}`, which the unit's `ops` does not have"),
        )
        .label("not an operation of this unit")
        .help("add it to `ops`, or remove it here");
}

/// Every formula of a unit, at every vector length.
fn formulas(unit: &Table, path: &str, machine: &Machine, problems: &mut Problems) {
    if let Some(node) = unit.get("count") {
        formula(node, &join(path, "count"), 1, machine, problems);
    }
    for (key, least) in [("ops", 1), ("latency", 0)] {
        for entry in entries(unit, key) {
            let path = join(&join(path, key), &entry.key);
            formula(&entry.node, &path, least, machine, problems);
        }
    }
}

fn formula(node: &Node, path: &str, least: u32, machine: &Machine, problems: &mut Problems) {
    let Some(text) = node.as_text() else {
        return;
    };
    let formula = match Formula::parse(text) {
        Ok(formula) => formula,
        Err(error) => return report(&error, text, node, path, problems),
    };
    let (Some(lanes), Some(range)) = (machine.lanes, machine.log_n.clone()) else {
        return;
    };
    for log_n in range {
        let scope = Scope {
            n: 1 << log_n,
            lanes,
            vars: &machine.vars,
        };
        match formula.evaluate(&scope) {
            Err(error) => return report(&error, text, node, path, problems),
            Ok(value) if value < least => {
                let error = FormulaError {
                    span: 0..text.len(),
                    why: format!(
                        "is {value} at N = {}, and must be at least {least}",
                        scope.n
                    ),
                    help: None,
                    malformed: false,
                };
                return report(&error, text, node, path, problems);
            }
            Ok(_) => {}
        }
    }
}

fn report(error: &FormulaError, text: &str, node: &Node, path: &str, problems: &mut Problems) {
    let code = if error.malformed {
        Code::Formula
    } else {
        Code::FormulaValue
    };
    let wrong = text.get(error.span.clone()).unwrap_or_default();
    let message = if error.malformed || wrong == text {
        format!("formula of `{path}`: {}", error.why)
    } else {
        format!("formula of `{path}`: `{wrong}` {}", error.why)
    };
    // Within the quotes, if the string has no escapes.
    let span = match &node.span {
        Some(span) if span.len() == text.len() + 2 => {
            let start = span.start + 1;
            Some(start + error.span.start..start + error.span.end)
        }
        other => other.clone(),
    };
    let problem = problems.add(code, path, &span, message);
    problem.label(error.why.clone());
    if let Some(help) = &error.help {
        problem.help(help.clone());
    }
}
