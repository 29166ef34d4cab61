//! Single values against their kind.

use cyclotron_isa::Op;

use crate::diagnostic::{Code, Problems};
use crate::formula::{BUILT_IN, FUNCTIONS, MAX_VALUE};
use crate::schema::{FieldSpec, Kind};
use crate::suggest::did_you_mean;
use crate::tree::{Entry, Node, Span, Table, Val};

use super::join;
use super::number::{Bounds, bandwidth, congruence, float, integer, power_of_two};

/// Longest array or table of names. Every overlay is checked when a file is read,
/// so the bound also keeps that time short.
pub(super) const MAX_ENTRIES: usize = 64;

/// Operations that machines may list and limb programs do not have (yet): whole
/// vectors of coefficients through the coarse units of a coprocessor, and
/// messages between machines.
const COARSE: [&str; 6] = [
    "SMALL_CRT",
    "LARGE_CRT",
    "DIVIDE_ROUND",
    "WORD_DECOMPOSE",
    "SEND",
    "RECV",
];

/// Operations that a machine file may list.
pub(crate) fn operations() -> impl Iterator<Item = &'static str> {
    let simple = Op::ALL.into_iter().map(Op::machine_name);
    simple
        .filter(|name| *name != "AUT")
        .chain(["AUT"])
        .chain(COARSE)
}

/// Checks one value and returns it in canonical form.
pub(super) fn check(
    field: &'static FieldSpec,
    node: &Node,
    path: &str,
    problems: &mut Problems,
) -> Option<Val> {
    match &field.kind {
        Kind::Int { min, max } => integer(node, (*min, *max), field.unit, path, problems),
        Kind::PowerOfTwo { min, max } => power_of_two(node, (*min, *max), path, problems),
        Kind::Float { min, max, above } => {
            let bounds = Bounds {
                min: *min,
                max: *max,
                above: *above,
            };
            float(node, &bounds, field.unit, path, problems)
        }
        Kind::Bandwidth { max } => bandwidth(node, *max, path, problems),
        Kind::Bool => match node.value {
            Val::Bool(_) => Some(node.value.clone()),
            _ => wrong_type(node, path, "true or false", problems),
        },
        Kind::Text => match node.value {
            Val::Text(_) => Some(node.value.clone()),
            _ => wrong_type(node, path, "a string", problems),
        },
        Kind::Name => {
            let Some(text) = node.as_text() else {
                return wrong_type(node, path, "a name in quotes", problems);
            };
            name(text, &node.span, path, problems).then(|| node.value.clone())
        }
        Kind::Choice(words) => word(node, words, path, problems).then(|| node.value.clone()),
        Kind::Choices(words) => list(
            node,
            path,
            "an array of words",
            problems,
            |item, problems| word(item, words, path, problems),
        ),
        Kind::Count => formula_value(node, 1, path, problems),
        Kind::OpFormulas { min } => map(node, path, problems, |entry, path, problems| {
            let known = operation(&entry.key, &entry.key_span, path, problems);
            formula_value(&entry.node, *min, path, problems).filter(|_| known)
        }),
        Kind::Ops => list(
            node,
            path,
            "an array of operations",
            problems,
            |item, problems| match item.as_text() {
                Some(op) => operation(op, &item.span, path, problems),
                None => wrong_type(item, path, "an operation in quotes", problems).is_some(),
            },
        ),
        Kind::Names { all } => names(node, *all, path, problems),
        Kind::Congruence => congruence(node, path, problems),
        Kind::Vars => map(node, path, problems, variable),
        Kind::Params => map(node, path, problems, parameter),
        Kind::Table(_) | Kind::Named { .. } | Kind::Overlays => None,
    }
}

/// Notes a wrong type; always `None`, so that callers can return it.
pub(super) fn wrong_type(
    node: &Node,
    path: &str,
    expected: &str,
    problems: &mut Problems,
) -> Option<Val> {
    let found = node.value.type_name();
    let message = format!("`{path}` must be {expected}, not {found}");
    let problem = problems.add(Code::WrongType, path, &node.span, message);
    problem.label(format!("expected {expected}"));
    if let Val::Text(text) = &node.value
        && text.trim().parse::<f64>().is_ok()
    {
        problem.help("write the number without quotes");
    }
    None
}

/// Checks a name.
pub(super) fn name(text: &str, span: &Span, path: &str, problems: &mut Problems) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || "_-+".contains(c);
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic());
    if starts && text.chars().all(letters) && text.len() <= 64 {
        return true;
    }
    let message = format!("`{}` cannot be a name", text.escape_debug());
    problems
        .add(Code::BadName, path, span, message)
        .label("not a name")
        .help("a name is a letter and then at most 63 letters, digits, `_`, `-` or `+`");
    false
}

fn word(node: &Node, words: &[&'static str], path: &str, problems: &mut Problems) -> bool {
    let Some(text) = node.as_text() else {
        let expected = format!("one of {}", quoted(words));
        wrong_type(node, path, &expected, problems);
        return false;
    };
    if words.contains(&text) {
        return true;
    }
    let help = did_you_mean(text, words.iter().copied())
        .unwrap_or_else(|| format!("it takes: {}", quoted(words)));
    let message = format!("`{path}` does not take \"{}\"", text.escape_debug());
    problems
        .add(Code::UnknownWord, path, &node.span, message)
        .label("not one of its words")
        .help(help);
    false
}

fn quoted(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    words.join(", ")
}

fn operation(op: &str, span: &Span, path: &str, problems: &mut Problems) -> bool {
    if operations().any(|known| known == op) {
        return true;
    }
    let known: Vec<&str> = operations().collect();
    let help = did_you_mean(op, operations())
        .unwrap_or_else(|| format!("operations: {}", known.join(", ")));
    problems
        .add(
            Code::UnknownWord,
            path,
            span,
            format!("`{}` is not an operation", op.escape_debug()),
        )
        .label("not an operation")
        .help(help);
    false
}

/// Whether a list or table is of a sane length.
pub(super) fn within(entries: usize, node: &Node, path: &str, problems: &mut Problems) -> bool {
    if entries <= MAX_ENTRIES {
        return true;
    }
    let message = format!("`{path}` has {entries} entries, and may have {MAX_ENTRIES}");
    problems
        .add(Code::OutOfRange, path, &node.span, message)
        .label("too many");
    false
}

/// An array of strings, each at most once, that `accept` takes.
fn list(
    node: &Node,
    path: &str,
    expected: &str,
    problems: &mut Problems,
    accept: impl Fn(&Node, &mut Problems) -> bool,
) -> Option<Val> {
    let Val::List(items) = &node.value else {
        return wrong_type(node, path, expected, problems);
    };
    let mut good = within(items.len(), node, path, problems);
    for (index, item) in items.iter().enumerate().take(MAX_ENTRIES) {
        good &= accept(item, problems);
        if items[..index].iter().any(|other| other.value == item.value) {
            let text = item.as_text().unwrap_or_default();
            let message = format!("`{path}` lists \"{}\" twice", text.escape_debug());
            problems
                .add(Code::DuplicateName, path, &item.span, message)
                .label("already listed");
            good = false;
        }
    }
    good.then(|| node.value.clone())
}

fn names(node: &Node, all: bool, path: &str, problems: &mut Problems) -> Option<Val> {
    let expected = if all {
        "a name, an array of names or \"*\""
    } else {
        "a name or an array of names"
    };
    match &node.value {
        Val::Text(text) if all && text == "*" => Some(node.value.clone()),
        Val::Text(text) => {
            name(text, &node.span, path, problems).then(|| Val::List(vec![node.clone()]))
        }
        _ => list(
            node,
            path,
            expected,
            problems,
            |item, problems| match item.as_text() {
                Some(text) => name(text, &item.span, path, problems),
                None => wrong_type(item, path, "a name in quotes", problems).is_some(),
            },
        ),
    }
}

/// An integer or a formula; the least value of a formula is checked where it is evaluated.
fn formula_value(node: &Node, min: u32, path: &str, problems: &mut Problems) -> Option<Val> {
    match &node.value {
        Val::Text(_) => Some(node.value.clone()),
        Val::Int(_) => {
            let bounds = (i64::from(min), i64::from(MAX_VALUE));
            integer(node, bounds, "", path, problems)
        }
        _ => wrong_type(node, path, "an integer or a formula in quotes", problems),
    }
}

fn map(
    node: &Node,
    path: &str,
    problems: &mut Problems,
    accept: impl Fn(&Entry, &str, &mut Problems) -> Option<Val>,
) -> Option<Val> {
    let Val::Table(source) = &node.value else {
        return wrong_type(node, path, "a table", problems);
    };
    let mut result = Table::default();
    within(source.entries.len(), node, path, problems);
    for entry in source.entries.iter().take(MAX_ENTRIES) {
        if let Some(value) = accept(entry, &join(path, &entry.key), problems) {
            let mut entry = entry.clone();
            entry.node.value = value;
            result.entries.push(entry);
        }
    }
    result.entries.sort_by(|a, b| a.key.cmp(&b.key));
    Some(Val::Table(result))
}

fn variable(entry: &Entry, path: &str, problems: &mut Problems) -> Option<Val> {
    let key = entry.key.as_str();
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let taken = BUILT_IN.contains(&key) || FUNCTIONS.contains(&key);
    if !starts || !key.chars().all(letters) || key.len() > 64 || taken {
        let message = format!("`{}` cannot be a variable", key.escape_debug());
        problems
            .add(Code::BadName, path, &entry.key_span, message)
            .label(if taken { "formulas know this name already" } else { "not a variable's name" })
            .help("a variable is letters, digits and `_`, and none of N, E, lgN, lgE, ceil, floor, min, max");
        return None;
    }
    match entry.node.value {
        Val::Int(_) => integer(&entry.node, (-(1 << 40), 1 << 40), "", path, problems),
        _ => {
            let bounds = Bounds {
                min: -1e12,
                max: 1e12,
                above: false,
            };
            float(&entry.node, &bounds, "", path, problems)
        }
    }
}

fn parameter(entry: &Entry, path: &str, problems: &mut Problems) -> Option<Val> {
    let node = &entry.node;
    let good = match &node.value {
        Val::Int(_) | Val::Bool(_) => true,
        Val::Float(value) => value.is_finite(),
        Val::List(items) => items.iter().all(|item| matches!(item.value, Val::Int(_))),
        _ => false,
    };
    if good {
        return Some(node.value.clone());
    }
    wrong_type(
        node,
        path,
        "a number, a boolean or an array of integers",
        problems,
    )
}
