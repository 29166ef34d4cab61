//! Why a program cannot be compiled for a machine.

use std::ops::ControlFlow;

use cyclotron_isa::{IsaError, Op};

/// A program that a machine cannot execute, and what to change; or an interruption.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// Whoever watches the progress stopped the compiler.
    #[error("the compilation was interrupted")]
    Interrupted,
    /// The machine has no unit for an operation that cannot be expressed by others.
    #[error(
        "machine {machine} has no unit for {name}, which the program needs; add {name} to a unit's \
         `ops`, or choose another machine", name = op.machine_name()
    )]
    Unsupported {
        /// The operation.
        op: Op,
        /// The machine's name.
        machine: String,
    },
    /// The program needs more of something than the machine has.
    #[error("{what} does not fit: needs {needs}, the machine has {has}; {fix}")]
    DoesNotFit {
        /// What is short, for example `the scratchpad (vectors)`.
        what: String,
        /// How much the program needs.
        needs: u64,
        /// How much the machine has.
        has: u64,
        /// The smallest change that helps.
        fix: String,
    },
    /// A way to compile that takes too long for a program of this size.
    #[error(
        "{what} is for programs of up to {most} limb instructions, and this one has \
         {instructions}; {fix}"
    )]
    TooLarge {
        /// The way to compile.
        what: &'static str,
        /// Instructions of the program.
        instructions: u64,
        /// Most that it takes.
        most: u64,
        /// What to choose instead.
        fix: &'static str,
    },
    /// Two memories that must exchange vectors have no network between them.
    #[error("machine {machine} has no {what}; add one to its description")]
    Disconnected {
        /// The machine's name.
        machine: String,
        /// The missing connection.
        what: String,
    },
    /// The program and the machine are resolved for different vectors.
    #[error("the program has {what} {program}, but machine {machine} was resolved for {resolved}")]
    Mismatch {
        /// The machine's name.
        machine: String,
        /// Which property, for example `log2 N`.
        what: &'static str,
        /// The program's value.
        program: u64,
        /// The machine's value.
        resolved: u64,
    },
    /// The limb program is malformed.
    #[error(transparent)]
    Program(#[from] IsaError),
}

/// Loops over all instructions ask whether to go on once in so many.
pub(crate) const PAUSE: usize = 1 << 16;

/// Asked now and then whether to go on: [`CompileError::Interrupted`] if not.
pub(crate) type Pause<'a> = &'a mut dyn FnMut() -> Result<(), CompileError>;

/// An error if the watcher says stop.
pub(crate) fn proceed(flow: ControlFlow<()>) -> Result<(), CompileError> {
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(CompileError::Interrupted),
    }
}

/// What a watcher says whose pause may fail.
pub(crate) fn flow(pause: Pause<'_>) -> ControlFlow<()> {
    match pause() {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}
