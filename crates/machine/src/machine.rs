//! The machine: a checked description and what can be asked of it.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use crate::description::Description;
use crate::diagnostic::{Code, Problems};
use crate::error::MachineError;
use crate::setting::{self, Setting};
use crate::suggest::nearest;
use crate::tree::{self, Entry, Node, Table, Val};
use crate::{consistency, decode, overlay, validate};

/// Machine descriptions longer than this are refused.
pub const MAX_FILE_BYTES: u64 = 1 << 18;

/// The machine files that are built in: name and text.
const SHIPPED: [(&str, &str); 1] = [("f1", include_str!("../../../machines/f1.toml"))];

/// A machine: a checked description. Its fields are those of [`Description`];
/// they change only by overlays and edits, so that they are always consistent.
#[derive(Debug, Clone)]
pub struct Machine {
    description: Description,
    root: Table,
    origin: Arc<Origin>,
    hash: String,
}

/// The file that a machine was read from, for the snippets of later errors.
#[derive(Debug)]
struct Origin {
    file: String,
    text: String,
}

impl Deref for Machine {
    type Target = Description;

    fn deref(&self) -> &Description {
        &self.description
    }
}

/// Equal descriptions.
impl PartialEq for Machine {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
    }
}

impl Machine {
    /// Names of the machines that are built in.
    #[must_use]
    pub fn shipped_names() -> Vec<&'static str> {
        SHIPPED.iter().map(|(name, _)| *name).collect()
    }

    /// A machine that is built in.
    ///
    /// # Errors
    /// There is no machine of this name.
    pub fn shipped(name: &str) -> Result<Self, MachineError> {
        match SHIPPED.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Self::from_toml(text, &format!("machines/{name}.toml")),
            None => Err(MachineError::UnknownMachine {
                name: name.to_owned(),
                shipped: Self::shipped_names(),
                suggestion: nearest(name, Self::shipped_names()),
            }),
        }
    }

    /// A machine that is built in, or the one that the file at this path
    /// describes: what names no built-in machine and either ends in `.toml` or
    /// contains a path separator is a path.
    ///
    /// # Errors
    /// There is no such machine, the file cannot be read, or it has faults.
    pub fn open(name_or_path: &str) -> Result<Self, MachineError> {
        let path = Path::new(name_or_path);
        let is_path = name_or_path.ends_with(".toml") || path.components().count() > 1;
        if is_path && !Self::shipped_names().contains(&name_or_path) {
            Self::load(path)
        } else {
            Self::shipped(name_or_path)
        }
    }

    /// Reads a machine file.
    ///
    /// # Errors
    /// The file cannot be read, is larger than 256 KiB, is not UTF-8, or has faults.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, MachineError> {
        let path = path.as_ref();
        Self::from_bytes(&read(path)?, &path.display().to_string())
    }

    /// Reads the bytes of a machine file; `file` is what errors call it.
    ///
    /// # Errors
    /// There are more than 256 KiB, they are not UTF-8, or the description has faults.
    pub fn from_bytes(bytes: &[u8], file: &str) -> Result<Self, MachineError> {
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(MachineError::TooLarge {
                file: file.to_owned(),
                max_bytes: MAX_FILE_BYTES,
            });
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::from_toml(text, file),
            Err(error) => {
                let before = &bytes[..error.valid_up_to()];
                Err(MachineError::NotUtf8 {
                    file: file.to_owned(),
                    line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
                })
            }
        }
    }

    /// Reads a machine description; `file` is what errors call it.
    ///
    /// # Errors
    /// The text is longer than 256 KiB or has faults; every overlay is checked too.
    pub fn from_toml(text: &str, file: &str) -> Result<Self, MachineError> {
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(MachineError::TooLarge {
                file: file.to_owned(),
                max_bytes: MAX_FILE_BYTES,
            });
        }
        let origin = Arc::new(Origin {
            file: file.to_owned(),
            text: text.strip_prefix('\u{feff}').unwrap_or(text).to_owned(),
        });
        let mut problems = Problems::default();
        let root = match tree::parse(&origin.text) {
            Ok(root) => root,
            Err(error) => {
                let span = error.span().or(Some(0..0));
                problems
                    .add(Code::Syntax, "", &span, error.message().trim().to_owned())
                    .label("not TOML");
                return Err(origin.invalid(problems));
            }
        };
        let canonical = checked(&root, &mut problems);
        // The faults of the base would show again in every overlay.
        if problems.is_empty() {
            for entry in overlays(&root) {
                if let Some(patch) = entry.node.as_table() {
                    let mut base = canonical.clone();
                    overlay::apply(&mut base, patch, &mut problems);
                    checked(&base, &mut problems);
                }
            }
        }
        Self::build(canonical, origin, problems)
    }

    /// A machine from a canonical document, if there are no faults.
    fn build(root: Table, origin: Arc<Origin>, problems: Problems) -> Result<Self, MachineError> {
        if !problems.is_empty() {
            return Err(origin.invalid(problems));
        }
        let Some(description) = decode::description(&root) else {
            let mut problems = Problems::default();
            let message = "the description passed all checks and cannot be decoded".to_owned();
            problems
                .add(Code::Contradiction, "", &Some(0..0), message)
                .help("this is a fault of the checks: please report it with the file");
            return Err(origin.invalid(problems));
        };
        Ok(Self {
            hash: blake3::hash(tree::write(&without_notes(&root)).as_bytes())
                .to_hex()
                .to_string(),
            description,
            root,
            origin,
        })
    }

    /// The machine with one of its overlays applied; the name gains `+` and the
    /// overlay's.
    ///
    /// # Errors
    /// It has no such overlay, or the result has faults.
    pub fn with_overlay(&self, name: &str) -> Result<Self, MachineError> {
        let found = overlays(&self.root).iter().find(|entry| entry.key == name);
        let Some(patch) = found.and_then(|entry| entry.node.as_table()) else {
            let known = self.overlay_names();
            return Err(MachineError::UnknownOverlay {
                machine: self.name.clone(),
                name: name.to_owned(),
                suggestion: nearest(name, known.iter().map(String::as_str)).map(str::to_owned),
                known,
            });
        };
        let named = format!("{}+{name}", self.name);
        let rename = setting::document("machine.name", Setting::Text(named));
        self.changed(&[patch.clone(), rename])
    }

    /// Names of its overlays.
    #[must_use]
    pub fn overlay_names(&self) -> Vec<String> {
        overlays(&self.root)
            .iter()
            .map(|entry| entry.key.clone())
            .collect()
    }

    /// The machine with the value of one key changed; the name stays.
    ///
    /// Keys are dotted as in overlays: `cluster.cc.fu.ntt.count`, or without the
    /// element's name to change all of a list, `scratchpad.kib_per_bank`. The
    /// leading `machine.` may be left out, and `clusters` stands for
    /// `cluster.count`.
    ///
    /// # Errors
    /// There is no such key, or it does not take the value.
    ///
    /// # Examples
    /// ```
    /// use cyclotron_machine::Machine;
    ///
    /// let small = Machine::shipped("f1")?.vary("clusters", 4)?;
    /// assert_eq!(small.cluster.count, 4);
    /// # Ok::<(), cyclotron_machine::MachineError>(())
    /// ```
    pub fn vary(&self, key: &str, value: impl Into<Setting>) -> Result<Self, MachineError> {
        self.changed(&[setting::document(key, value.into())])
    }

    /// The machine with several keys changed at once, checked only at the end.
    ///
    /// # Errors
    /// There is no such key, or the result has faults.
    pub fn with<K: AsRef<str>>(
        &self,
        edits: impl IntoIterator<Item = (K, Setting)>,
    ) -> Result<Self, MachineError> {
        let patches: Vec<Table> = edits
            .into_iter()
            .map(|(key, value)| setting::document(key.as_ref(), value))
            .collect();
        self.changed(&patches)
    }

    fn changed(&self, patches: &[Table]) -> Result<Self, MachineError> {
        let mut problems = Problems::default();
        let mut root = self.root.clone();
        for patch in patches {
            overlay::apply(&mut root, patch, &mut problems);
        }
        let canonical = checked(&root, &mut problems);
        Self::build(canonical, Arc::clone(&self.origin), problems)
    }

    /// BLAKE3 of the description in canonical form, in hexadecimal. Source notes,
    /// comments, layout and overlays that are not applied do not change it.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The description in canonical form, without comments. Reading it gives an
    /// equal machine.
    #[must_use]
    pub fn to_toml(&self) -> String {
        tree::write(&self.root)
    }
}

impl Origin {
    fn invalid(&self, problems: Problems) -> MachineError {
        MachineError::Invalid(problems.into_diagnostics(&self.file, &self.text))
    }
}

/// The canonical document; faults go to `problems`.
fn checked(root: &Table, problems: &mut Problems) -> Table {
    let canonical = validate::document(root, problems);
    consistency::check(&canonical, problems);
    canonical
}

fn overlays(root: &Table) -> &[Entry] {
    root.table("machine")
        .and_then(|machine| machine.table("overlay"))
        .map_or(&[], |table| table.entries.as_slice())
}

/// The document without source notes and overlays.
fn without_notes(table: &Table) -> Table {
    let entries = table
        .entries
        .iter()
        .filter(|entry| entry.key != "source" && entry.key != "overlay");
    Table {
        entries: entries
            .map(|entry| Entry {
                node: node_without_notes(&entry.node),
                ..entry.clone()
            })
            .collect(),
    }
}

fn node_without_notes(node: &Node) -> Node {
    let value = match &node.value {
        Val::Table(table) => Val::Table(without_notes(table)),
        Val::List(items) => Val::List(items.iter().map(node_without_notes).collect()),
        other => other.clone(),
    };
    Node {
        value,
        span: node.span.clone(),
    }
}

/// Reads a file, but not much more than [`MAX_FILE_BYTES`] of it.
fn read(path: &Path) -> Result<Vec<u8>, MachineError> {
    use std::io::Read;

    let io = |source| MachineError::Io {
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .map_err(io)?
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(io)?;
    Ok(bytes)
}
