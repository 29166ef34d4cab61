//! Numbers against their ranges.

use crate::diagnostic::{Code, Problems};
use crate::tree::{Node, Val};

use super::value::wrong_type;

fn out_of_range(node: &Node, path: &str, found: &str, range: &str, problems: &mut Problems) {
    problems
        .add(
            Code::OutOfRange,
            path,
            &node.span,
            format!("`{path}` is {found}, and must be {range}"),
        )
        .label(format!("must be {range}"));
}

fn with_unit(text: String, unit: &str) -> String {
    if unit.is_empty() {
        text
    } else {
        format!("{text} {unit}")
    }
}

/// An integer within bounds.
pub(super) fn integer(
    node: &Node,
    (min, max): (i64, i64),
    unit: &str,
    path: &str,
    problems: &mut Problems,
) -> Option<Val> {
    let Val::Int(value) = node.value else {
        let expected = with_unit("an integer".to_owned(), &in_unit(unit));
        return wrong_type(node, path, &expected, problems);
    };
    if (min..=max).contains(&value) {
        return Some(Val::Int(value));
    }
    let range = if min == max {
        format!("{min}")
    } else {
        with_unit(format!("from {min} to {max}"), unit)
    };
    out_of_range(node, path, &value.to_string(), &range, problems);
    None
}

fn in_unit(unit: &str) -> String {
    if unit.is_empty() {
        String::new()
    } else {
        format!("({unit})")
    }
}

/// A power of two within bounds.
pub(super) fn power_of_two(
    node: &Node,
    (min, max): (i64, i64),
    path: &str,
    problems: &mut Problems,
) -> Option<Val> {
    let Val::Int(value) = node.value else {
        return wrong_type(node, path, "a power of two", problems);
    };
    let fits = u64::try_from(value).is_ok_and(u64::is_power_of_two);
    if fits && (min..=max).contains(&value) {
        return Some(Val::Int(value));
    }
    let range = format!("a power of two from {min} to {max}");
    out_of_range(node, path, &value.to_string(), &range, problems);
    None
}

/// The range of a number; `above` excludes the lower bound.
pub(super) struct Bounds {
    pub min: f64,
    pub max: f64,
    pub above: bool,
}

fn number(node: &Node) -> Option<f64> {
    match node.value {
        #[expect(
            clippy::cast_precision_loss,
            reason = "bounds are far below 2^52, and larger integers are out of range however rounded"
        )]
        Val::Int(value) => Some(value as f64),
        Val::Float(value) => Some(value),
        _ => None,
    }
}

/// A number within bounds; an integer becomes a float.
pub(super) fn float(
    node: &Node,
    bounds: &Bounds,
    unit: &str,
    path: &str,
    problems: &mut Problems,
) -> Option<Val> {
    let Some(value) = number(node) else {
        let expected = with_unit("a number".to_owned(), &in_unit(unit));
        return wrong_type(node, path, &expected, problems);
    };
    // A value that is no number is in no range.
    let low = if bounds.above {
        value > bounds.min
    } else {
        value >= bounds.min
    };
    if low && value <= bounds.max {
        // -0.0 is 0.0.
        return Some(Val::Float(value + 0.0));
    }
    let (min, max) = (short(bounds.min), short(bounds.max));
    let range = if bounds.above {
        format!("above {min} and at most {max}")
    } else {
        format!("from {min} to {max}")
    };
    out_of_range(node, path, &short(value), &with_unit(range, unit), problems);
    None
}

/// A number without dozens of digits.
fn short(value: f64) -> String {
    if value.is_finite() && value != 0.0 && !(1e-6..1e12).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// A number above 0, or `"unlimited"`.
pub(super) fn bandwidth(node: &Node, max: f64, path: &str, problems: &mut Problems) -> Option<Val> {
    if node.as_text() == Some("unlimited") {
        return Some(node.value.clone());
    }
    let before = problems.len();
    let bounds = Bounds {
        min: 0.0,
        max,
        above: true,
    };
    let result = float(node, &bounds, "GB/s", path, problems);
    if problems.len() > before {
        problems.last_help("for a memory that never limits, write \"unlimited\"");
    }
    result
}

/// `[1, m]`, m a power of two.
pub(super) fn congruence(node: &Node, path: &str, problems: &mut Problems) -> Option<Val> {
    let pair = match &node.value {
        Val::List(items) => match items.as_slice() {
            [
                Node {
                    value: Val::Int(residue),
                    ..
                },
                Node {
                    value: Val::Int(modulus),
                    ..
                },
            ] => Some((*residue, *modulus)),
            _ => None,
        },
        _ => None,
    };
    let Some((residue, modulus)) = pair else {
        return wrong_type(node, path, "two integers, [1, m]", problems);
    };
    let power = (2..=1i64 << 40).contains(&modulus) && modulus & (modulus - 1) == 0;
    if residue == 1 && power {
        return Some(node.value.clone());
    }
    let found = format!("[{residue}, {modulus}]");
    let range = "[1, m] with m a power of two from 2 to 2^40";
    out_of_range(node, path, &found, range, problems);
    if residue != 1 {
        problems.last_help("a transform of N words needs primes that are 1 modulo 2N");
    }
    None
}
