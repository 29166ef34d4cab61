//! Checks a document against the schema, key by key, and brings it into
//! canonical form: keys in the order of the schema, defaults filled in.
//!
//! Deliberately not here: what needs more than one key (`consistency`).

mod number;
mod value;

pub(crate) use value::operations;

use crate::diagnostic::{Code, Problems};
use crate::schema::{FieldSpec, Kind, Need, ROOT, TableSpec};
use crate::suggest::{did_you_mean, nearest};
use crate::tree::{Entry, Node, Span, Table, Val};

/// Checks a whole document and returns it in canonical form.
pub(crate) fn document(root: &Table, problems: &mut Problems) -> Table {
    // The first line stands for the file.
    table(&ROOT, root, "", &Some(0..0), problems)
}

/// `outer.key`.
pub(crate) fn join(outer: &str, key: &str) -> String {
    if outer.is_empty() {
        key.to_owned()
    } else {
        format!("{outer}.{key}")
    }
}

/// Where a key is missing or does not belong.
fn whereabouts(spec: &TableSpec) -> String {
    if spec.header.is_empty() {
        "at the top level".to_owned()
    } else {
        format!("in {}", spec.header)
    }
}

fn table(
    spec: &'static TableSpec,
    source: &Table,
    path: &str,
    span: &Span,
    problems: &mut Problems,
) -> Table {
    // A required key that is only misspelt is not reported as missing, too.
    let mut misspelt: Vec<&str> = Vec::new();
    for entry in &source.entries {
        if spec.field(&entry.key).is_none() {
            unknown_key(spec, entry, path, problems);
            misspelt.extend(nearest(&entry.key, spec.keys()));
        }
    }
    let mut result = Table::default();
    for field in spec.fields {
        let path = join(path, field.key);
        if let Some(entry) = source.entry(field.key) {
            if let Some(value) = field_value(field, &entry.node, &path, problems) {
                result.entries.push(Entry {
                    key: entry.key.clone(),
                    key_span: entry.key_span.clone(),
                    node: Node {
                        value,
                        span: entry.node.span.clone(),
                    },
                });
            }
        } else if misspelt.contains(&field.key) {
            continue;
        } else if let Some(value) = absent(spec, field, &path, span, problems) {
            result.entries.push(Entry {
                key: field.key.to_owned(),
                key_span: span.clone(),
                node: Node {
                    value,
                    span: span.clone(),
                },
            });
        }
    }
    result
}

pub(crate) fn unknown_key(spec: &TableSpec, entry: &Entry, path: &str, problems: &mut Problems) {
    let key = &entry.key;
    let message = format!("unknown key `{}` {}", key.escape_debug(), whereabouts(spec));
    let known: Vec<&str> = spec.keys().collect();
    let help = did_you_mean(key, spec.keys())
        .unwrap_or_else(|| format!("its keys are: {}", known.join(", ")));
    problems
        .add(Code::UnknownKey, &join(path, key), &entry.key_span, message)
        .label("not a key of this table")
        .help(help);
}

fn absent(
    spec: &TableSpec,
    field: &FieldSpec,
    path: &str,
    span: &Span,
    problems: &mut Problems,
) -> Option<Val> {
    match field.need {
        Need::Optional => None,
        Need::DefaultInt(value) => Some(Val::Int(value)),
        Need::DefaultBool(value) => Some(Val::Bool(value)),
        Need::Required => {
            let what = match field.kind {
                Kind::Table(inner) => format!("table {}", inner.header),
                Kind::Named { spec: inner, .. } => format!("table {}", inner.header),
                _ => format!("key `{}`", field.key),
            };
            let message = format!("missing {what} {}", whereabouts(spec));
            let unit = if field.unit.is_empty() {
                String::new()
            } else {
                format!(" ({})", field.unit)
            };
            problems
                .add(Code::MissingKey, path, span, message)
                .label(format!("needs `{}`", field.key))
                .help(format!("add `{}`{unit}: {}", field.key, field.about));
            None
        }
    }
}

fn field_value(
    field: &'static FieldSpec,
    node: &Node,
    path: &str,
    problems: &mut Problems,
) -> Option<Val> {
    match (&field.kind, &node.value) {
        (Kind::Table(spec), Val::Table(inner)) => {
            Some(Val::Table(table(spec, inner, path, &node.span, problems)))
        }
        (Kind::Named { spec, min, max }, Val::List(items)) => Some(Val::List(named(
            spec,
            (*min, *max),
            items,
            node,
            path,
            problems,
        ))),
        (Kind::Overlays, Val::Table(inner)) => {
            value::within(inner.entries.len(), node, path, problems);
            overlays(inner, path, problems);
            Some(node.value.clone())
        }
        (Kind::Table(spec), _) => {
            value::wrong_type(node, path, &format!("a table, {}", spec.header), problems);
            None
        }
        (Kind::Named { spec, .. }, _) => {
            let expected = format!("an array of tables, {}", spec.header);
            value::wrong_type(node, path, &expected, problems);
            None
        }
        (Kind::Overlays, _) => {
            value::wrong_type(node, path, "a table of overlays", problems);
            None
        }
        _ => value::check(field, node, path, problems),
    }
}

/// Names of overlays, and that each is a table; their contents are checked
/// where they are applied.
fn overlays(table: &Table, path: &str, problems: &mut Problems) {
    for entry in &table.entries {
        let path = join(path, &entry.key);
        value::name(&entry.key, &entry.key_span, &path, problems);
        if entry.node.as_table().is_none() {
            value::wrong_type(&entry.node, &path, "a table", problems);
        }
    }
}

fn named(
    spec: &'static TableSpec,
    (min, max): (usize, usize),
    items: &[Node],
    node: &Node,
    path: &str,
    problems: &mut Problems,
) -> Vec<Node> {
    if items.len() < min || items.len() > max {
        let range = if min == max {
            format!("{min}")
        } else {
            format!("{min} to {max}")
        };
        let message = format!(
            "{} of {}, and there must be {range}",
            items.len(),
            spec.header
        );
        problems
            .add(Code::OutOfRange, path, &node.span, message)
            .label(format!("there must be {range}"));
    }
    let mut seen: Vec<&str> = Vec::new();
    let mut result = Vec::new();
    for item in items {
        let Some(inner) = item.as_table() else {
            value::wrong_type(item, path, &format!("a table, {}", spec.header), problems);
            continue;
        };
        let path = join(path, inner.text("name").unwrap_or("?"));
        if let (Some(name), Some(entry)) = (inner.text("name"), inner.entry("name")) {
            check_element_name(spec, name, &seen, &entry.node.span, &path, problems);
            seen.push(name);
        }
        result.push(Node {
            value: Val::Table(table(spec, inner, &path, &item.span, problems)),
            span: item.span.clone(),
        });
    }
    result
}

/// Overlays address elements by name where they could also write a key.
fn check_element_name(
    spec: &TableSpec,
    name: &str,
    seen: &[&str],
    span: &Span,
    path: &str,
    problems: &mut Problems,
) {
    if seen.contains(&name) {
        let message = format!("two of {} are named `{name}`", spec.header);
        problems
            .add(Code::DuplicateName, path, span, message)
            .label("already used")
            .help("give each its own name, or raise the count of the first");
    }
    if spec.field(name).is_some() {
        let message = format!("`{name}` is a key of {} and cannot be a name", spec.header);
        problems
            .add(Code::BadName, path, span, message)
            .label("a key's name")
            .help("overlays could not tell them apart; choose another name");
    }
}
