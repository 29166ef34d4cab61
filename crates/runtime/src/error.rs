//! Why a run did not finish.

use cyclotron_isa::ExecuteError;

/// Why a limb program could not be executed.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The program, the ring or an input is at fault.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// The progress callback asked to stop.
    #[error("cancelled after {done} of {total} instructions")]
    Cancelled {
        /// Limb instructions that were finished.
        done: u64,
        /// Limb instructions of the program.
        total: u64,
    },
    /// The thread pool could not be made.
    #[error("cannot start {threads} threads: {why}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// The system's reason.
        why: String,
    },
}
