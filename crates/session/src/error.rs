//! What a session can fail with.

use cyclotron_checker::CheckError;
use cyclotron_compiler::CompileError;
use cyclotron_isa::{ExecuteError, IsaError};
use cyclotron_lower::LowerError;
use cyclotron_machine::MachineError;
use cyclotron_program::ProgramError;
use cyclotron_runtime::RuntimeError;
use cyclotron_schemes::{ParameterError, SchemeError};
use cyclotron_simulator::SimError;
use cyclotron_wire::WireError;

/// Everything that can go wrong between a program and its results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The HE program.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The parameters.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// Phase 1.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// Keys, plaintexts, ciphertexts.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// Stored bytes.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The CPU runtime.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The reference interpreter.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// A limb program.
    #[error(transparent)]
    Isa(#[from] IsaError),
    /// A machine.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// Compilation for a machine.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// A schedule that is not legal.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// A schedule that cannot be simulated.
    #[error(transparent)]
    Simulate(#[from] SimError),
    /// An input that the program has was not given.
    #[error("the program needs a value for {kind} `{name}`")]
    MissingInput {
        /// `encrypted input`, `plaintext input` or `output`.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// A name that the program does not have.
    #[error("the program has no {kind} `{name}`; it has {}", list(.known))]
    UnknownName {
        /// `encrypted input`, `plaintext input` or `output`.
        kind: &'static str,
        /// What was given.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// Values of the wrong kind.
    #[error("`{name}`: {why}")]
    Values {
        /// Whose values.
        name: String,
        /// What is wrong with them.
        why: String,
    },
    /// A ciphertext at another level, scale or factor than the program takes.
    #[error(
        "input `{name}` has {found}, the program takes {expected}; encrypt it for this program"
    )]
    WrongInput {
        /// The input.
        name: String,
        /// Level, scale and factor of the ciphertext.
        found: String,
        /// Those of the program.
        expected: String,
    },
    /// A program whose noise was planned for secret-key encryption.
    #[error(
        "{program} takes inputs that are encrypted under the secret key, whose noise is smaller; \
         write the program with public_key=True"
    )]
    SecretKeyOnly {
        /// The program.
        program: String,
    },
    /// A key that the program needs is not among the evaluation keys.
    #[error(
        "the program needs key {key}, which is not among the evaluation keys; have the client \
         make the keys for this program"
    )]
    MissingKey {
        /// Its name.
        key: String,
    },
    /// Two objects are for different parameters.
    #[error("{what} is for parameters {found}, but {expected} are in use")]
    OtherParameters {
        /// Which object.
        what: &'static str,
        /// Hash of the parameters in use.
        expected: String,
        /// Hash of the object's.
        found: String,
    },
    /// The machine does not support what the program needs.
    #[error("machine {machine} {why}")]
    Unsupported {
        /// The machine.
        machine: String,
        /// What it lacks, and what to change.
        why: String,
    },
    /// With Listing-1 key switching only, the program would not decrypt.
    #[error(
        "{program} would not decrypt with Listing-1 key switching alone, which adds more noise \
         than hybrid: {why}; {without}: allow it, or use a larger ring"
    )]
    Listing1Alone {
        /// The program.
        program: String,
        /// What fails with Listing 1.
        why: String,
        /// What is enough with every variant.
        without: String,
    },
    /// A schedule's file that cannot be used.
    #[error("schedule file: {why}")]
    Bundle {
        /// What is wrong, with the line where there is one.
        why: String,
    },
    /// An option with an unknown value.
    #[error("{option} = {value} is not known; use {known}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
        /// What there is.
        known: String,
    },
    /// The system refused a file.
    #[error("{path}: {why}")]
    File {
        /// The file.
        path: String,
        /// The system's reason.
        why: String,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
