//! Independent pieces of work on all threads, watched from the calling one.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::{CompileError, proceed};

/// How long the calling thread waits for others before it reports again.
pub(crate) const PATIENCE: Duration = Duration::from_millis(20);

/// Is told a fraction of some work that is done; `Break` abandons it.
pub(crate) type Report<'r> = dyn FnMut(f64) -> ControlFlow<()> + 'r;

/// Does the pieces of work below `count` on the threads of the current pool, among them the
/// calling one, and returns what they gave, in their order. Pieces are taken in order, too.
///
/// `progress` is called on the calling thread only, with the fraction done.
///
/// # Errors
/// What the first piece gave that failed by itself: a failure stops the other pieces, so where
/// several would fail differently, it is one of theirs. [`CompileError::Interrupted`] if
/// `progress` says so.
pub(crate) fn abreast<T: Send>(
    count: usize,
    work: impl Fn(usize, &mut Report<'_>) -> Result<T, CompileError> + Sync,
    progress: &mut Report<'_>,
) -> Result<Vec<T>, CompileError> {
    let crew = Crew::new(count);
    rayon::in_place_scope(|scope| {
        let others = rayon::current_num_threads().min(count).saturating_sub(1);
        for _ in 0..others {
            scope.spawn(|_| crew.work(&work, &mut |_| crew.flow()));
        }
        crew.work(&work, &mut |part| {
            let done = crew.state().done as f64 + part;
            let flow = progress(done / count as f64);
            if flow.is_break() {
                crew.stop();
            }
            flow
        });
        crew.wait(progress);
    });
    let interrupted = crew.flow();
    let state = crew.state.into_inner();
    let results = state.unwrap_or_else(PoisonError::into_inner).results;
    let mut given = Vec::with_capacity(count);
    for result in results.into_iter().flatten() {
        match result {
            Ok(result) => given.push(result),
            Err(CompileError::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
    proceed(interrupted)?;
    Ok(given)
}

/// Where threads meet.
struct Crew<T> {
    count: usize,
    /// The next piece that nobody has taken.
    next: AtomicUsize,
    stopped: AtomicBool,
    state: Mutex<State<T>>,
    /// A piece is done.
    changed: Condvar,
}

struct State<T> {
    /// Pieces that were taken and are not done.
    running: usize,
    done: usize,
    /// By piece.
    results: Vec<Option<Result<T, CompileError>>>,
}

impl<T: Send> Crew<T> {
    fn new(count: usize) -> Self {
        let results = std::iter::repeat_with(|| None).take(count).collect();
        Self {
            count,
            next: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            state: Mutex::new(State {
                running: 0,
                done: 0,
                results,
            }),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn flow(&self) -> ControlFlow<()> {
        if self.stopped.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Takes and does pieces until none is left or somebody stops.
    fn work(
        &self,
        work: &(impl Fn(usize, &mut Report<'_>) -> Result<T, CompileError> + Sync),
        report: &mut Report<'_>,
    ) {
        while self.flow().is_continue() {
            let mut state = self.state();
            let piece = self.next.fetch_add(1, Ordering::Relaxed);
            if piece >= self.count {
                return;
            }
            state.running += 1;
            drop(state);
            let _left = Leave(self);
            let result = work(piece, report);
            if result.is_err() {
                self.stop();
            }
            self.state().results[piece] = Some(result);
        }
    }

    /// Waits for the pieces that others do, or until somebody stops.
    fn wait(&self, progress: &mut Report<'_>) {
        let mut state = self.state();
        while state.running > 0 && self.flow().is_continue() {
            let part = state.done as f64 / self.count as f64;
            drop(self.changed.wait_timeout(state, PATIENCE));
            if progress(part).is_break() {
                self.stop();
            }
            state = self.state();
        }
    }
}

/// Notes that a piece is no longer being done, whatever became of it.
struct Leave<'c, T: Send>(&'c Crew<T>);

impl<T: Send> Drop for Leave<'_, T> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.running -= 1;
        state.done += 1;
        drop(state);
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use rayon::ThreadPoolBuilder;

    use super::*;

    const GO_ON: ControlFlow<()> = ControlFlow::Continue(());

    fn on(threads: usize, run: impl FnOnce() + Send) {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads start").install(run);
    }

    #[test]
    fn results_come_in_the_order_of_the_pieces() {
        for threads in 1..4 {
            on(threads, || {
                let squares = abreast(9, |piece, _| Ok(piece * piece), &mut |_| GO_ON);
                assert_eq!(squares, Ok((0..9).map(|piece| piece * piece).collect()));
            });
        }
    }

    #[test]
    fn a_failure_is_what_comes_out() {
        let disconnected = || CompileError::Disconnected {
            machine: "small".into(),
            what: "a channel".into(),
        };
        for threads in 1..4 {
            on(threads, || {
                let fails = |piece, _: &mut Report<'_>| match piece {
                    5 => Err(disconnected()),
                    _ => Ok(()),
                };
                assert_eq!(abreast(9, fails, &mut |_| GO_ON), Err(disconnected()));
            });
        }
    }

    #[test]
    fn a_break_reaches_all_threads() {
        for threads in 1..4 {
            on(threads, || {
                let endless = |_, report: &mut Report<'_>| loop {
                    std::thread::sleep(Duration::from_millis(1));
                    proceed(report(0.0))?;
                };
                let mut left = 3;
                let stopped: Result<Vec<()>, _> = abreast(4, endless, &mut |_| {
                    left -= 1;
                    match left {
                        0 => ControlFlow::Break(()),
                        _ => GO_ON,
                    }
                });
                assert_eq!(stopped, Err(CompileError::Interrupted));
            });
        }
    }
}
