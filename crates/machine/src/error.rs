//! What can go wrong with machines.

use std::path::PathBuf;

use crate::diagnostic::Diagnostics;

/// A machine that cannot be had, or cannot do what it is asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// The file cannot be read.
    #[error("cannot read machine file {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is longer than any machine description.
    #[error(
        "machine file {file} is larger than {max_bytes} bytes; a machine description is far smaller"
    )]
    TooLarge {
        /// The file.
        file: String,
        /// The limit.
        max_bytes: u64,
    },
    /// The file is not text.
    #[error(
        "machine file {file} is not UTF-8 text: line {line} has a byte that is not; save it as UTF-8"
    )]
    NotUtf8 {
        /// The file.
        file: String,
        /// The line of the first wrong byte, from 1.
        line: usize,
    },
    /// The description has faults.
    #[error("{summary}\n\n{0}", summary = .0.summary())]
    Invalid(Diagnostics),
    /// No machine of this name is shipped.
    #[error("there is no machine `{name}`{}; shipped machines: {}; or give the path of a machine file, NAME.toml", hint(.suggestion), .shipped.join(", "))]
    UnknownMachine {
        /// The name.
        name: String,
        /// The names that there are.
        shipped: Vec<&'static str>,
        /// The nearest of them.
        suggestion: Option<&'static str>,
    },
    /// The machine has no overlay of this name.
    #[error("machine `{machine}` has no overlay `{name}`{}; {}", hint(.suggestion), overlays(.known))]
    UnknownOverlay {
        /// The machine.
        machine: String,
        /// The overlay.
        name: String,
        /// Its overlays.
        known: Vec<String>,
        /// The nearest of them.
        suggestion: Option<String>,
    },
    /// A ring degree outside the machine's range.
    #[error("machine `{machine}` takes vectors of {n_min} to {n_max} words, not N = 2^{log_n}; choose log_n from {} to {}", .n_min.ilog2(), .n_max.ilog2())]
    UnsupportedDegree {
        /// The machine.
        machine: String,
        /// log2 of the degree.
        log_n: u32,
        /// Its shortest vector.
        n_min: u32,
        /// Its longest vector.
        n_max: u32,
    },
    /// No prime of the machine's words allows a transform of this length.
    #[error(
        "machine `{machine}` computes with primes of at most {bits_max} bits that are 1 modulo {step}; a transform of N = 2^{log_n} needs machine.moduli.bits_max of at least {needs}, or a smaller N"
    )]
    WordTooSmall {
        /// The machine.
        machine: String,
        /// log2 of the degree.
        log_n: u32,
        /// Its longest prime.
        bits_max: u32,
        /// What its primes at this degree are 1 modulo.
        step: u64,
        /// The bits that it needs.
        needs: u32,
    },
    /// A memory holds not one vector.
    #[error(
        "machine `{machine}`: {key} is {has_bytes} bytes, which holds no vector of {vector_bytes} bytes (2^{log_n} words); make it larger, or the vectors shorter"
    )]
    NoSlots {
        /// The machine.
        machine: String,
        /// The key that gives the capacity.
        key: String,
        /// log2 of the degree.
        log_n: u32,
        /// The capacity.
        has_bytes: u64,
        /// One vector.
        vector_bytes: u64,
    },
    /// There is more of something than schedules can number.
    #[error(
        "machine `{machine}`: {what} is {count} at N = 2^{log_n}, and schedules number at most {max}; reduce it"
    )]
    TooMany {
        /// The machine.
        machine: String,
        /// What there is too much of.
        what: String,
        /// log2 of the degree.
        log_n: u32,
        /// How many there are.
        count: u64,
        /// How many there may be.
        max: u64,
    },
    /// The description says something that compiler and simulator do not model.
    #[error(
        "machine `{machine}` has {what}, which schedules cannot express; change it in the description to approximate the machine without it"
    )]
    NotModelled {
        /// The machine.
        machine: String,
        /// The key.
        what: String,
    },
}

fn hint<T: std::fmt::Display>(suggestion: &Option<T>) -> String {
    suggestion
        .as_ref()
        .map(|name| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}

fn overlays(known: &[String]) -> String {
    if known.is_empty() {
        "it has none".to_owned()
    } else {
        format!("it has: {}", known.join(", "))
    }
}
