//! What a machine file may say: every table, key, type, unit and range.
//!
//! Parsing, overlays, programmatic edits and the reference in
//! `docs/machine-schema.md` all read these tables, so that they cannot differ.

mod reference;
mod tables;

pub use reference::schema_reference;
pub(crate) use tables::{MACHINE, ROOT};

/// A table of the file.
pub(crate) struct TableSpec {
    /// How the file writes its header.
    pub header: &'static str,
    /// What it describes.
    pub about: &'static str,
    /// Its keys, in canonical order.
    pub fields: &'static [FieldSpec],
}

/// A key of a table.
pub(crate) struct FieldSpec {
    pub key: &'static str,
    pub kind: Kind,
    pub need: Need,
    /// Unit of the value; empty if it has none.
    pub unit: &'static str,
    pub about: &'static str,
}

/// Whether a key must be there.
pub(crate) enum Need {
    Required,
    /// May be absent, which means that nothing is known or used.
    Optional,
    /// Means this if absent.
    DefaultInt(i64),
    /// Means this if absent.
    DefaultBool(bool),
}

/// What a key's value may be.
pub(crate) enum Kind {
    /// An integer within bounds, both included.
    Int { min: i64, max: i64 },
    /// A power of two within bounds.
    PowerOfTwo { min: i64, max: i64 },
    /// A number within bounds; `above` excludes the lower one.
    Float { min: f64, max: f64, above: bool },
    /// A bandwidth: a number above 0, or `"unlimited"`.
    Bandwidth { max: f64 },
    /// `true` or `false`.
    Bool,
    /// Free text.
    Text,
    /// A name: letters, digits, `_`, `-`, `+`.
    Name,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// An array of these words, each at most once.
    Choices(&'static [&'static str]),
    /// An integer from 1, or a formula.
    Count,
    /// A table from operations to cycles: integers or formulas of at least `min`.
    OpFormulas { min: u32 },
    /// An array of operations.
    Ops,
    /// One name, an array of names, or, where `all` is set, `"*"`.
    Names { all: bool },
    /// `[1, m]`, m a power of two.
    Congruence,
    /// A table from names to numbers.
    Vars,
    /// A table from names to numbers, booleans or arrays of integers.
    Params,
    /// A table.
    Table(&'static TableSpec),
    /// An array of tables, each with a `name`; this many at least and at most.
    Named {
        spec: &'static TableSpec,
        min: usize,
        max: usize,
    },
    /// A table from names to overlays.
    Overlays,
}

impl TableSpec {
    /// The key's description, if the table has such a key.
    pub fn field(&self, key: &str) -> Option<&'static FieldSpec> {
        self.fields.iter().find(|field| field.key == key)
    }

    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|field| field.key)
    }
}
