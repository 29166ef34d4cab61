//! Overlays and edits: a small document laid over a description.
//!
//! A table of the overlay changes the keys that it has. A list of named tables
//! (units, scratchpads, ...) is addressed by name, `scratchpad.spad.banks`, or
//! as a whole, `scratchpad.banks`, which changes every element. Operations,
//! variables and parameters are added or replaced by name.

use crate::diagnostic::{Code, Problems};
use crate::schema::{Kind, ROOT, TableSpec};
use crate::suggest::did_you_mean;
use crate::tree::{Entry, Node, Table, Val};
use crate::validate::{join, unknown_key};

/// Changes `base` as `patch` says.
pub(crate) fn apply(base: &mut Table, patch: &Table, problems: &mut Problems) {
    let entries = patch.entries.iter().filter(|entry| entry.key != "source");
    for entry in entries {
        if entry.key == "schema" {
            let message = "an overlay cannot change the schema's version".to_owned();
            problems
                .add(Code::UnknownKey, "schema", &entry.key_span, message)
                .label("not here");
            continue;
        }
        merge_entry(base, &ROOT, entry, "", problems);
    }
}

fn merge(base: &mut Table, spec: &TableSpec, patch: &Table, path: &str, problems: &mut Problems) {
    for entry in &patch.entries {
        merge_entry(base, spec, entry, path, problems);
    }
}

fn merge_entry(
    base: &mut Table,
    spec: &TableSpec,
    entry: &Entry,
    path: &str,
    problems: &mut Problems,
) {
    let Some(field) = spec.field(&entry.key) else {
        unknown_key(spec, entry, path, problems);
        return;
    };
    let path = join(path, &entry.key);
    let Some(patch) = entry.node.as_table() else {
        // Whatever its type, validation looks at it in its place.
        return base.set(entry.clone());
    };
    let old = base.entry_mut(&entry.key).map(|old| &mut old.node.value);
    match (&field.kind, old) {
        (Kind::Table(spec), Some(Val::Table(old))) => merge(old, spec, patch, &path, problems),
        (Kind::Named { spec, .. }, Some(Val::List(items))) => {
            named(items, spec, patch, &path, problems);
        }
        (Kind::Named { spec, .. }, None) => {
            let message = format!("the machine has no {}", spec.header);
            problems
                .add(Code::UnknownName, &path, &entry.key_span, message)
                .label("nothing to change")
                .help("by name an overlay changes what is there; to give the whole list, write it as an array of tables");
        }
        (Kind::OpFormulas { .. } | Kind::Vars | Kind::Params, Some(Val::Table(old))) => {
            for inner in &patch.entries {
                old.set(inner.clone());
            }
        }
        (Kind::Overlays, _) => {
            let message = "an overlay cannot contain overlays".to_owned();
            problems
                .add(Code::UnknownKey, &path, &entry.key_span, message)
                .label("not here");
        }
        _ => base.set(entry.clone()),
    }
}

fn named(items: &mut [Node], spec: &TableSpec, patch: &Table, path: &str, problems: &mut Problems) {
    for entry in &patch.entries {
        let element = items.iter_mut().find_map(|item| match &mut item.value {
            Val::Table(table) if table.text("name") == Some(&entry.key) => Some(table),
            _ => None,
        });
        if let Some(element) = element {
            let path = join(path, &entry.key);
            match entry.node.as_table() {
                Some(patch) => merge(element, spec, patch, &path, problems),
                None => {
                    let message = format!("`{path}` is a table; name the key to change in it");
                    let keys: Vec<&str> = spec.keys().collect();
                    problems
                        .add(Code::WrongType, &path, &entry.node.span, message)
                        .label("expected a table")
                        .help(format!("its keys are: {}", keys.join(", ")));
                }
            }
        } else if spec.field(&entry.key).is_some() {
            for item in items.iter_mut() {
                if let Val::Table(table) = &mut item.value {
                    merge_entry(table, spec, entry, path, problems);
                }
            }
        } else {
            unknown_element(items, spec, entry, path, problems);
        }
    }
}

fn unknown_element(
    items: &[Node],
    spec: &TableSpec,
    entry: &Entry,
    path: &str,
    problems: &mut Problems,
) {
    let mut known: Vec<&str> = spec.fields.iter().map(|field| field.key).collect();
    for item in items {
        known.extend(item.as_table().and_then(|table| table.text("name")));
    }
    let message = format!(
        "`{path}` has neither an element nor a key named `{}`",
        entry.key
    );
    let help = did_you_mean(&entry.key, known.iter().copied())
        .unwrap_or_else(|| format!("there are: {}", known.join(", ")));
    problems
        .add(
            Code::UnknownName,
            &join(path, &entry.key),
            &entry.key_span,
            message,
        )
        .label("no such name")
        .help(help);
}
