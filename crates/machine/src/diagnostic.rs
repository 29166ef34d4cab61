//! Errors in a machine file, with the place and a snippet.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::tree::Span;

/// A file with more faults than this is not worth more lines.
const MAX_DIAGNOSTICS: usize = 50;
/// Longest snippet line in bytes; what is beyond it is cut off.
const MAX_SNIPPET: usize = 240;

/// The kind of a fault. The codes are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// `M001`: not TOML.
    Syntax,
    /// `M002`: a key that the schema does not have.
    UnknownKey,
    /// `M003`: a value of the wrong type.
    WrongType,
    /// `M004`: a value outside its range.
    OutOfRange,
    /// `M005`: a key is missing.
    MissingKey,
    /// `M006`: two things have one name.
    DuplicateName,
    /// `M007`: a word that the key does not take.
    UnknownWord,
    /// `M008`: a name that nothing in the file has.
    UnknownName,
    /// `M009`: a formula that cannot be read, or uses a name that is not defined.
    Formula,
    /// `M010`: a formula without a legal value at some vector length.
    FormulaValue,
    /// `M011`: two keys contradict each other.
    Contradiction,
    /// `M012`: something has a name that cannot be one.
    BadName,
    /// `M013`: the operations of a unit do not fit together.
    Operations,
}

impl Code {
    /// `M001` and so on.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Code::Syntax => "M001",
            Code::UnknownKey => "M002",
            Code::WrongType => "M003",
            Code::OutOfRange => "M004",
            Code::MissingKey => "M005",
            Code::DuplicateName => "M006",
            Code::UnknownWord => "M007",
            Code::UnknownName => "M008",
            Code::Formula => "M009",
            Code::FormulaValue => "M010",
            Code::Contradiction => "M011",
            Code::BadName => "M012",
            Code::Operations => "M013",
        }
    }
}

/// Where a fault is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line, cut off when it is very long.
    snippet: String,
    /// Bytes of the snippet that are wrong.
    marked: Range<usize>,
}

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its kind.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// The same in a few words, for the mark under the snippet.
    pub label: String,
    /// The dotted path of the key, for example `cluster.cc.fu.ntt.count`.
    pub path: String,
    /// What to change, if that can be said.
    pub help: Option<String>,
    /// Where it is; `None` for a value that no file holds.
    pub location: Option<Location>,
}

/// The faults of a file, in the order of their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics {
    /// The file's name, as given.
    pub file: String,
    /// The faults: at least one, at most 50.
    pub items: Vec<Diagnostic>,
    /// Faults beyond these.
    pub omitted: usize,
}

impl Diagnostics {
    /// How many faults there are, in a line.
    #[must_use]
    pub fn summary(&self) -> String {
        match self.items.len() + self.omitted {
            1 => format!("one fault in machine file {}", self.file),
            count => format!("{count} faults in machine file {}", self.file),
        }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, item) in self.items.iter().enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            f.write_str(&item.render(&self.file))?;
        }
        if self.omitted > 0 {
            write!(f, "\n\n... and {} more", self.omitted)?;
        }
        Ok(())
    }
}

impl Diagnostic {
    /// Code, message, place, snippet and help, over several lines.
    #[must_use]
    pub fn render(&self, file: &str) -> String {
        let title = Level::ERROR
            .primary_title(&self.message)
            .id(self.code.as_str());
        let help = self.help.as_deref().map(|help| Level::HELP.message(help));
        let group = match &self.location {
            Some(place) => {
                let mark = AnnotationKind::Primary
                    .span(place.marked.clone())
                    .label(&self.label);
                let snippet = Snippet::source(&place.snippet)
                    .line_start(place.line)
                    .path(file)
                    .annotation(mark);
                title.element(snippet).elements(help)
            }
            None => title
                .element(Level::NOTE.message(format!("in `{}`", self.path)))
                .elements(help),
        };
        Renderer::plain().render(&[group])
    }
}

/// A fault before its line is known.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub code: Code,
    pub message: String,
    pub label: String,
    pub path: String,
    pub help: Option<String>,
    pub span: Span,
}

/// Faults found so far.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    items: Vec<Problem>,
}

impl Problems {
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Gives the fault noted last a suggestion.
    pub fn last_help(&mut self, help: &str) {
        if let Some(last) = self.items.last_mut() {
            last.help(help);
        }
    }

    /// Notes a fault.
    pub fn add(&mut self, code: Code, path: &str, span: &Span, message: String) -> &mut Problem {
        self.items.push(Problem {
            code,
            label: String::new(),
            message,
            path: path.to_owned(),
            help: None,
            span: span.clone(),
        });
        let last = self.items.len() - 1;
        &mut self.items[last]
    }

    /// The faults with their places in `text`, each place and message once.
    pub fn into_diagnostics(mut self, file: &str, text: &str) -> Diagnostics {
        let start = |problem: &Problem| problem.span.as_ref().map_or(usize::MAX, |span| span.start);
        self.items.sort_by_key(start);
        self.items
            .dedup_by(|a, b| a.span == b.span && a.message == b.message);
        let omitted = self.items.len().saturating_sub(MAX_DIAGNOSTICS);
        self.items.truncate(MAX_DIAGNOSTICS);
        let items = self
            .items
            .into_iter()
            .map(|problem| Diagnostic {
                code: problem.code,
                message: problem.message,
                label: problem.label,
                path: problem.path,
                help: problem.help,
                location: problem.span.map(|span| locate(text, &span)),
            })
            .collect();
        Diagnostics {
            file: file.to_owned(),
            items,
            omitted,
        }
    }
}

impl Problem {
    /// Sets the words beside the mark.
    pub fn label(&mut self, label: impl Into<String>) -> &mut Self {
        self.label = label.into();
        self
    }

    /// Sets the suggestion.
    pub fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = Some(help.into());
        self
    }
}

/// The largest character boundary that is not above `at`.
fn boundary(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

fn locate(text: &str, span: &Range<usize>) -> Location {
    let start = boundary(text, span.start);
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[start..]
        .find('\n')
        .map_or(text.len(), |length| start + length);
    let line = text[line_start..line_end].trim_end_matches('\r');
    let column = text[line_start..start].chars().count() + 1;

    // A window of the line around the mark.
    let mark = start - line_start;
    let from = match mark.checked_sub(MAX_SNIPPET / 2) {
        Some(from) if line.len() > MAX_SNIPPET => boundary(line, from),
        _ => 0,
    };
    let to = boundary(line, from + MAX_SNIPPET);
    let snippet = &line[from..to];
    let begin = boundary(snippet, mark.saturating_sub(from));
    let end = boundary(snippet, span.end.saturating_sub(line_start + from)).max(begin);
    Location {
        line: text[..line_start].matches('\n').count() + 1,
        column,
        snippet: snippet.to_owned(),
        marked: begin..end,
    }
}
