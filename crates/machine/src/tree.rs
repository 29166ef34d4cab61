//! A TOML document as a tree of values that know where they stand in the file.
//!
//! Overlays and edits work on this tree, so an error in an overlay still points
//! at the overlay's own line. Values that a program set have no place.

use std::ops::Range;

use toml_edit::{Document, Item, TableLike, TomlError, Value};

/// Byte range in the file; `None` for what no file says.
pub(crate) type Span = Option<Range<usize>>;

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub value: Val,
    pub span: Span,
}

/// A TOML value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Val {
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    List(Vec<Node>),
    Table(Table),
    /// A date or time, which no machine needs.
    Date,
}

impl Val {
    /// What the value is, for error messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Val::Int(_) => "an integer",
            Val::Float(_) => "a float",
            Val::Bool(_) => "a boolean",
            Val::Text(_) => "a string",
            Val::List(_) => "an array",
            Val::Table(_) => "a table",
            Val::Date => "a date",
        }
    }
}

/// A key, its place and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub key: String,
    pub key_span: Span,
    pub node: Node,
}

/// Keys and values in the order of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

impl Table {
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub fn entry_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.key == key)
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    pub fn table(&self, key: &str) -> Option<&Table> {
        self.get(key).and_then(Node::as_table)
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Node::as_text)
    }

    /// The tables of an array of tables; empty if there is none.
    pub fn tables(&self, key: &str) -> impl Iterator<Item = &Table> {
        let items = match self.get(key).map(|node| &node.value) {
            Some(Val::List(items)) => items.as_slice(),
            _ => &[],
        };
        items.iter().filter_map(Node::as_table)
    }

    /// Replaces or appends.
    pub fn set(&mut self, entry: Entry) {
        match self.entry_mut(&entry.key) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
    }
}

impl Node {
    pub fn as_table(&self) -> Option<&Table> {
        match &self.value {
            Val::Table(table) => Some(table),
            _ => None,
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Val::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Reads a document.
pub(crate) fn parse(text: &str) -> Result<Table, TomlError> {
    let document = Document::parse(text)?;
    Ok(table(document.as_table(), None))
}

fn table(source: &dyn TableLike, outer: Span) -> Table {
    let entries = source
        .iter()
        .map(|(name, item)| {
            let key_span = source.key(name).and_then(toml_edit::Key::span);
            let place = item
                .span()
                .or_else(|| key_span.clone())
                .or_else(|| outer.clone());
            Entry {
                key: name.to_owned(),
                node: node(item, place.clone()),
                key_span: key_span.or(place),
            }
        })
        .collect();
    Table { entries }
}

fn node(item: &Item, span: Span) -> Node {
    let value = match item {
        Item::None => Val::Date,
        Item::Value(value) => return value_node(value, span),
        Item::Table(inner) => Val::Table(table(inner, span.clone())),
        Item::ArrayOfTables(items) => Val::List(
            items
                .iter()
                .map(|inner| {
                    let place = inner.span().or_else(|| span.clone());
                    Node {
                        value: Val::Table(table(inner, place.clone())),
                        span: place,
                    }
                })
                .collect(),
        ),
    };
    Node { value, span }
}

fn value_node(value: &Value, outer: Span) -> Node {
    let span = value.span().or(outer);
    let value = match value {
        Value::String(text) => Val::Text(text.value().clone()),
        Value::Integer(number) => Val::Int(*number.value()),
        Value::Float(number) => Val::Float(*number.value()),
        Value::Boolean(flag) => Val::Bool(*flag.value()),
        Value::Datetime(_) => Val::Date,
        Value::Array(items) => Val::List(
            items
                .iter()
                .map(|item| value_node(item, span.clone()))
                .collect(),
        ),
        Value::InlineTable(inner) => Val::Table(table(inner, span.clone())),
    };
    Node { value, span }
}

/// Writes a document in canonical form: the order of the entries kept, values
/// before tables, one spelling for every value. The result reads back as the
/// same tree, places aside.
pub(crate) fn write(root: &Table) -> String {
    let mut out = String::new();
    write_table(&mut out, root, "");
    out
}

fn is_table_array(items: &[Node]) -> bool {
    !items.is_empty() && items.iter().all(|item| item.as_table().is_some())
}

fn write_table(out: &mut String, table: &Table, path: &str) {
    for entry in &table.entries {
        let nested = match &entry.node.value {
            Val::Table(_) => true,
            Val::List(items) => is_table_array(items),
            _ => false,
        };
        if !nested {
            out.push_str(&key_text(&entry.key));
            out.push_str(" = ");
            write_value(out, &entry.node.value);
            out.push('\n');
        }
    }
    for entry in &table.entries {
        let name = key_text(&entry.key);
        let path = if path.is_empty() {
            name
        } else {
            format!("{path}.{name}")
        };
        match &entry.node.value {
            Val::Table(inner) => {
                out.push_str(&format!("\n[{path}]\n"));
                write_table(out, inner, &path);
            }
            Val::List(items) if is_table_array(items) => {
                for inner in items.iter().filter_map(Node::as_table) {
                    out.push_str(&format!("\n[[{path}]]\n"));
                    write_table(out, inner, &path);
                }
            }
            _ => {}
        }
    }
}

fn write_value(out: &mut String, value: &Val) {
    match value {
        Val::Int(number) => out.push_str(&number.to_string()),
        Val::Float(number) => out.push_str(&Value::from(*number).to_string()),
        Val::Bool(flag) => out.push_str(&flag.to_string()),
        Val::Text(text) => out.push_str(Value::from(text.as_str()).to_string().trim()),
        Val::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_value(out, &item.value);
            }
            out.push(']');
        }
        Val::Table(table) => {
            out.push_str("{ ");
            for (index, entry) in table.entries.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                out.push_str(&key_text(&entry.key));
                out.push_str(" = ");
                write_value(out, &entry.node.value);
            }
            out.push_str(" }");
        }
        Val::Date => out.push_str("1970-01-01"),
    }
}

/// A key as TOML writes it: quoted unless it is bare.
fn key_text(key: &str) -> String {
    toml_edit::Key::new(key).display_repr().trim().to_owned()
}
