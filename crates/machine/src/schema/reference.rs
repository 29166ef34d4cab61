//! The schema as Markdown, for the documentation.

use super::{FieldSpec, Kind, Need, ROOT, TableSpec};
use crate::validate::operations;

/// Every table and key of a machine file with type, range, unit and meaning, as
/// Markdown: the reference part of `docs/machine-schema.md`.
#[must_use]
pub fn schema_reference() -> String {
    let mut out = String::new();
    table(&mut out, &ROOT);
    out
}

fn table(out: &mut String, spec: &TableSpec) {
    let header = if spec.header.is_empty() {
        "Top level".to_owned()
    } else {
        format!("`{}`", spec.header)
    };
    out.push_str(&format!("### {header}\n\n{}\n\n", spec.about));
    out.push_str("| key | value | unit | needed | meaning |\n| --- | --- | --- | --- | --- |\n");
    for field in spec.fields {
        out.push_str(&row(field));
    }
    out.push('\n');
    for field in spec.fields {
        match field.kind {
            Kind::Table(inner) | Kind::Named { spec: inner, .. } => table(out, inner),
            _ => {}
        }
    }
}

fn row(field: &FieldSpec) -> String {
    let need = match field.need {
        Need::Required => "yes".to_owned(),
        Need::Optional => "no".to_owned(),
        Need::DefaultInt(value) => format!("no: {value}"),
        Need::DefaultBool(value) => format!("no: {value}"),
    };
    let (key, unit, about) = (field.key, field.unit, field.about);
    format!(
        "| `{key}` | {} | {unit} | {need} | {about} |\n",
        values(&field.kind)
    )
}

fn values(kind: &Kind) -> String {
    match kind {
        Kind::Int { min, max } if min == max => format!("{min}"),
        Kind::Int { min, max } => format!("integer, {min} to {max}"),
        Kind::PowerOfTwo { min, max } => format!("power of two, {min} to {max}"),
        Kind::Float {
            min,
            max,
            above: true,
        } => format!("number, above {min}, at most {max}"),
        Kind::Float { min, max, .. } => format!("number, {min} to {max}"),
        Kind::Bandwidth { max } => format!("number, above 0, at most {max}, or `\"unlimited\"`"),
        Kind::Bool => "true or false".to_owned(),
        Kind::Text => "string".to_owned(),
        Kind::Name => "name".to_owned(),
        Kind::Choice(words) => format!("one of {}", quoted(words)),
        Kind::Choices(words) => format!("array of {}", quoted(words)),
        Kind::Count => "integer or formula, 1 to 2^30".to_owned(),
        Kind::OpFormulas { min } => {
            format!("table from operations to integers or formulas, {min} to 2^30")
        }
        Kind::Ops => {
            let operations: Vec<&str> = operations().collect();
            format!("array of operations: {}", operations.join(", "))
        }
        Kind::Names { all: true } => "name, array of names, or `\"*\"`".to_owned(),
        Kind::Names { all: false } => "name or array of names".to_owned(),
        Kind::Congruence => "`[1, m]`, m a power of two, 2 to 2^40".to_owned(),
        Kind::Vars => "table from names to numbers, -10^12 to 10^12".to_owned(),
        Kind::Params => "table from names to numbers, booleans or arrays of integers".to_owned(),
        Kind::Table(inner) => format!("table `{}`", inner.header),
        Kind::Named { spec, min, max } if min == max => {
            format!("tables `{}`, exactly {min}", spec.header)
        }
        Kind::Named { spec, min, max } => {
            format!("tables `{}`, {min} to {max}", spec.header)
        }
        Kind::Overlays => "table from names to overlays".to_owned(),
    }
}

fn quoted(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
    words.join(", ")
}
