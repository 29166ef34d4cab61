//! The engine: a pool of threads that runs limb programs.

use std::ops::ControlFlow;
use std::time::Instant;

use cyclotron_isa::{ExecuteError, InputProvider, LimbProgram, verify};
use cyclotron_ring::{LimbBuf, Ring, Word};

use crate::error::RuntimeError;
use crate::plan::Prepared;
use crate::run::Run;

/// Called now and then from worker threads with the work done and its total;
/// `Break` abandons the run with [`RuntimeError::Cancelled`].
pub type Progress<'a> = &'a (dyn Fn(u64, u64) -> ControlFlow<()> + Sync);

/// What a run took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunStats {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Seconds in the input provider (encoding plaintext operands, expanding
    /// keys), summed over the threads.
    pub provider_seconds: f64,
    /// Limb instructions executed.
    pub instructions: u64,
    /// Procedure calls executed.
    pub calls: u64,
    /// The most bytes of limbs held at once, outputs included, without the
    /// input limbs that the provider keeps.
    pub peak_bytes: u64,
    /// Threads used.
    pub threads: usize,
}

/// The most threads of an engine: far more than any program keeps busy.
pub const MAX_THREADS: usize = 256;

/// Executes limb programs on CPU threads.
///
/// Results do not depend on the number of threads: every instruction is a
/// function of its operands.
#[derive(Debug)]
pub struct Engine {
    threads: usize,
    pool: rayon::ThreadPool,
}

impl Engine {
    /// An engine with so many threads; 0 means one for each available core.
    ///
    /// # Errors
    /// [`RuntimeError::Threads`] for more than [`MAX_THREADS`], or if the system refuses.
    pub fn new(threads: usize) -> Result<Self, RuntimeError> {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        if threads > MAX_THREADS {
            return Err(RuntimeError::Threads {
                threads,
                why: format!("use at most {MAX_THREADS}, or 0 for one on each core"),
            });
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("cyclotron-{index}"))
            .build()
            .map_err(|error| RuntimeError::Threads {
                threads,
                why: error.to_string(),
            })?;
        Ok(Engine { threads, pool })
    }

    /// Number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Calls `work` on a thread of the engine, so that parallel iterators in it
    /// use the engine's threads and no others.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// Verifies a program and computes what its runs have in common.
    ///
    /// # Errors
    /// [`RuntimeError::Execute`] if the program is not well formed.
    pub fn prepare(&self, program: &LimbProgram) -> Result<Prepared, RuntimeError> {
        verify(program).map_err(ExecuteError::from)?;
        Ok(Prepared::new(program, self.threads))
    }

    /// Prepares and runs a program; the output limbs are in the order of
    /// [`LimbProgram::outputs`].
    ///
    /// # Errors
    /// [`RuntimeError`] if the program is not well formed, the ring is another
    /// program's, or an input limb is not to be had.
    pub fn run<W: Word>(
        &self,
        program: &LimbProgram,
        ring: &Ring<W>,
        provider: &dyn InputProvider<W>,
    ) -> Result<(Vec<LimbBuf<W>>, RunStats), RuntimeError> {
        let prepared = self.prepare(program)?;
        self.run_prepared(program, &prepared, ring, provider, None)
    }

    /// Runs a program that was prepared by an engine with as many threads (with
    /// another number the results are the same, only the load is less even).
    ///
    /// # Errors
    /// As [`Self::run`]; [`RuntimeError::Cancelled`] if `progress` says so.
    ///
    /// # Panics
    /// If `prepared` was made from another program.
    pub fn run_prepared<W: Word>(
        &self,
        program: &LimbProgram,
        prepared: &Prepared,
        ring: &Ring<W>,
        provider: &dyn InputProvider<W>,
        progress: Option<Progress<'_>>,
    ) -> Result<(Vec<LimbBuf<W>>, RunStats), RuntimeError> {
        assert!(
            prepared.global_uses.len() == program.global_count()
                && prepared.instructions == program.instruction_count(),
            "prepared for another program"
        );
        program.check_ring(ring)?;
        let start = Instant::now();
        let run = Run::new(program, prepared, ring, provider, self.threads).with_progress(progress);
        self.pool.broadcast(|_| run.work());
        let outputs = run.outputs()?;
        let stats = RunStats {
            seconds: start.elapsed().as_secs_f64(),
            provider_seconds: run.fetch_seconds(),
            instructions: prepared.instructions,
            calls: program.calls.len() as u64,
            peak_bytes: run.pool.peak_bytes(),
            threads: self.threads,
        };
        Ok((outputs, stats))
    }
}

#[cfg(test)]
mod tests {
    use super::{Engine, MAX_THREADS};

    #[test]
    fn absurd_numbers_of_threads_are_refused() {
        assert!(Engine::new(MAX_THREADS + 1).is_err());
        assert_eq!(Engine::new(2).expect("two threads").threads(), 2);
    }
}
