//! Values for programmatic edits.

use crate::tree::{Entry, Node, Table, Val};

/// The new value of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// An integer.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// A yes or no.
    Flag(bool),
    /// A word, a name or a formula.
    Text(String),
    /// Several words or names.
    Texts(Vec<String>),
    /// Several integers.
    Integers(Vec<i64>),
}

impl From<i32> for Setting {
    fn from(value: i32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<u32> for Setting {
    fn from(value: u32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<i64> for Setting {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<f64> for Setting {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<bool> for Setting {
    fn from(value: bool) -> Self {
        Self::Flag(value)
    }
}

impl From<&str> for Setting {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<&[&str]> for Setting {
    fn from(value: &[&str]) -> Self {
        Self::Texts(value.iter().map(|&text| text.to_owned()).collect())
    }
}

impl From<Setting> for Val {
    fn from(setting: Setting) -> Self {
        let list = |values: Vec<Self>| {
            let node = |value| Node { value, span: None };
            Val::List(values.into_iter().map(node).collect())
        };
        match setting {
            Setting::Integer(value) => Val::Int(value),
            Setting::Number(value) => Val::Float(value),
            Setting::Flag(value) => Val::Bool(value),
            Setting::Text(value) => Val::Text(value),
            Setting::Texts(values) => list(values.into_iter().map(Val::Text).collect()),
            Setting::Integers(values) => list(values.into_iter().map(Val::Int).collect()),
        }
    }
}

/// A document that sets one dotted key. The leading `machine.` may be left out,
/// and `clusters` stands for `cluster.count`.
pub(crate) fn document(key: &str, value: Setting) -> Table {
    let key = match key {
        "clusters" => "cluster.count".to_owned(),
        _ => {
            let first = key.split('.').next().unwrap_or_default();
            let short = crate::schema::ROOT.field(first).is_none()
                && crate::schema::MACHINE.field(first).is_some();
            if short {
                format!("machine.{key}")
            } else {
                key.to_owned()
            }
        }
    };
    let mut node = Node {
        value: value.into(),
        span: None,
    };
    let mut table = Table::default();
    for part in key.rsplit('.') {
        table = Table {
            entries: vec![Entry {
                key: part.to_owned(),
                key_span: None,
                node,
            }],
        };
        node = Node {
            value: Val::Table(table.clone()),
            span: None,
        };
    }
    table
}
