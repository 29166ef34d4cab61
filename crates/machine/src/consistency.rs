//! What a description must satisfy beyond single keys: names refer to something,
//! formulas have values at every vector length, keys do not contradict each other.
//!
//! Works on the canonical document, where anything may be missing that was
//! faulty, so that all faults of a file are reported together.

mod units;

use crate::decode;
use crate::diagnostic::{Code, Problems};
use crate::suggest::did_you_mean;
use crate::tree::{Node, Span, Table, Val};
use crate::validate::join;

/// Checks the canonical document.
pub(crate) fn check(root: &Table, problems: &mut Problems) {
    let empty = Table::default();
    let machine = root.table("machine").unwrap_or(&empty);
    lengths(machine, problems);
    words(machine, problems);
    variables(machine, problems);
    memories(root, problems);
    for cluster in root.tables("cluster") {
        units::check(root, cluster, problems);
    }
}

/// An integer key and its place.
fn int<'a>(table: &'a Table, key: &str) -> Option<(i64, &'a Span)> {
    match table.get(key)? {
        Node {
            value: Val::Int(value),
            span,
        } => Some((*value, span)),
        _ => None,
    }
}

fn lengths(machine: &Table, problems: &mut Problems) {
    if let (Some((n_min, _)), Some((n_max, span))) = (int(machine, "n_min"), int(machine, "n_max"))
        && n_max < n_min
    {
        let message = format!("`n_max` is {n_max}, below `n_min`, which is {n_min}");
        problems
            .add(Code::Contradiction, "machine.n_max", span, message)
            .label(format!("must be at least {n_min}"));
    }
}

fn words(machine: &Table, problems: &mut Problems) {
    let Some((word_bits, _)) = int(machine, "word_bits") else {
        return;
    };
    if let Some(Node {
        value: Val::Float(store),
        span,
    }) = machine.get("store_bytes")
    {
        #[expect(clippy::cast_precision_loss, reason = "at most 64")]
        let needs = word_bits as f64 / 8.0;
        if *store < needs {
            let message = format!(
                "`store_bytes` is {store}, and a word of {word_bits} bits takes {needs} bytes"
            );
            problems
                .add(Code::Contradiction, "machine.store_bytes", span, message)
                .label(format!("must be at least {needs}"));
        }
    }
    let Some(moduli) = machine.table("moduli") else {
        return;
    };
    let Some((bits_max, span)) = int(moduli, "bits_max") else {
        return;
    };
    if bits_max > word_bits {
        let message = format!("`bits_max` is {bits_max}, above `word_bits`, which is {word_bits}");
        problems
            .add(
                Code::Contradiction,
                "machine.moduli.bits_max",
                span,
                message,
            )
            .label(format!("must be at most {word_bits}"));
    }
    if let Some(Node {
        value: Val::List(pair),
        span,
    }) = moduli.get("congruence")
        && let Some(Node {
            value: Val::Int(modulus),
            ..
        }) = pair.get(1)
        && i64::from(modulus.ilog2()) >= bits_max
    {
        let message = format!("no number of {bits_max} bits but 1 is 1 modulo {modulus}");
        problems
            .add(
                Code::Contradiction,
                "machine.moduli.congruence",
                span,
                message,
            )
            .label("no prime satisfies this")
            .help("lower the modulus or raise `bits_max`");
    }
}

/// Values that formulas could not be evaluated with exactly.
fn variables(machine: &Table, problems: &mut Problems) {
    let Some(vars) = machine.table("vars") else {
        return;
    };
    for entry in &vars.entries {
        if let Val::Float(value) = entry.node.value
            && crate::formula::Ratio::from_decimal(&value.to_string()).is_none()
        {
            let path = join("machine.vars", &entry.key);
            let message = format!("`{path}` has more than 18 digits after the point");
            problems
                .add(Code::OutOfRange, &path, &entry.node.span, message)
                .label("too many digits");
        }
    }
}

/// Names and ports of scratchpads, crossbars and off-chip memories.
fn memories(root: &Table, problems: &mut Problems) {
    let groups: Vec<&str> = root
        .tables("scratchpad")
        .filter_map(|group| group.text("name"))
        .collect();
    let cluster = root
        .tables("cluster")
        .next()
        .and_then(|cluster| cluster.text("name"));
    for group in root.tables("scratchpad") {
        scratchpad(group, cluster, problems);
    }
    for xbar in root.tables("xbar").filter(|_| !groups.is_empty()) {
        crossbar(xbar, &groups, cluster, problems);
    }
    // Without scratchpads, which is a fault of its own, no reference can be right.
    let offchip = root.tables("offchip").filter(|_| !groups.is_empty());
    for memory in offchip {
        let path = join("offchip", memory.text("name").unwrap_or("?"));
        references(memory, "attach", &path, &groups, problems);
    }
}

fn scratchpad(group: &Table, cluster: Option<&str>, problems: &mut Problems) {
    let name = group.text("name").unwrap_or("?");
    let path = join("scratchpad", name);
    if group.text("name").is_some()
        && cluster == Some(name)
        && let Some(node) = group.get("name")
    {
        let message = format!("scratchpad and cluster are both named `{name}`");
        problems
            .add(Code::DuplicateName, &path, &node.span, message)
            .label("the cluster's name")
            .help("crossbars could not tell them apart");
    }
    let single = matches!(
        group.get("single_port"),
        Some(Node {
            value: Val::Bool(true),
            ..
        })
    );
    for key in ["read_ports", "write_ports"] {
        if let (true, Some((ports, span))) = (single, int(group, key))
            && ports != 1
        {
            let message =
                format!("`{key}` is {ports}, but a single-ported bank has one port for both");
            problems
                .add(Code::Contradiction, &join(&path, key), span, message)
                .label("must be 1");
        }
    }
}

/// Notes names that are not among `known`.
fn references(table: &Table, key: &str, path: &str, known: &[&str], problems: &mut Problems) {
    let Some(Node {
        value: Val::List(items),
        span,
    }) = table.get(key)
    else {
        return;
    };
    let path = join(path, key);
    if items.is_empty() {
        problems
            .add(
                Code::OutOfRange,
                &path,
                span,
                format!("`{path}` names nothing"),
            )
            .label("needs a name");
    }
    for item in items {
        let Some(name) = item.as_text() else {
            continue;
        };
        if !known.contains(&name) {
            let help = did_you_mean(name, known.iter().copied())
                .unwrap_or_else(|| format!("there are: {}", known.join(", ")));
            problems
                .add(
                    Code::UnknownName,
                    &path,
                    &item.span,
                    format!("`{path}` names `{name}`, which does not exist"),
                )
                .label("no such name")
                .help(help);
        }
    }
}

fn crossbar(xbar: &Table, groups: &[&str], cluster: Option<&str>, problems: &mut Problems) {
    let path = join("xbar", xbar.text("name").unwrap_or("?"));
    let known: Vec<&str> = groups.iter().copied().chain(cluster).collect();
    references(xbar, "from", &path, &known, problems);
    references(xbar, "to", &path, &known, problems);

    let ends = [decode::reach(xbar, "from"), decode::reach(xbar, "to")];
    let unknown = ends.iter().flatten().any(|end| match end {
        crate::Reach::AllGroups => false,
        crate::Reach::Named(names) => names.iter().any(|name| !known.contains(&name.as_str())),
    });
    let mut clusters = 0;
    for (end, key) in ends.iter().zip(["from", "to"]) {
        let Some(crate::Reach::Named(names)) = end else {
            continue;
        };
        let has_cluster = names.iter().any(|name| Some(name.as_str()) == cluster);
        clusters += usize::from(has_cluster);
        if let (true, true, Some(node)) = (has_cluster, names.len() > 1, xbar.get(key)) {
            let message = format!("`{path}.{key}` mixes the cluster with scratchpads");
            problems
                .add(Code::Contradiction, &join(&path, key), &node.span, message)
                .label("the cluster alone, or scratchpads")
                .help("write a second crossbar");
        }
    }
    if let (0, false, [Some(_), Some(_)], Some(node)) = (clusters, unknown, &ends, xbar.get("to")) {
        problems
            .add(
                Code::Contradiction,
                &join(&path, "to"),
                &node.span,
                format!("crossbar `{path}` connects scratchpads with each other"),
            )
            .label("neither end is the cluster")
            .help(format!(
                "one end must be `{}`",
                cluster.unwrap_or("the cluster")
            ));
    }
}
