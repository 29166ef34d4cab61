//! Progress callbacks into Python, and interrupts from it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// Callbacks are at least so far apart, except the first and the last of a phase.
const INTERVAL: Duration = Duration::from_millis(50);

/// A Python callable `f(phase, fraction)`, called from any thread. What it
/// raises (an interrupt, say) abandons the work and is raised at its end.
pub(crate) struct Callback {
    function: Option<Py<PyAny>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: Option<(String, Instant)>,
    raised: Option<PyErr>,
}

impl Callback {
    pub(crate) fn new(function: Option<Py<PyAny>>) -> Self {
        Callback {
            function,
            state: Mutex::default(),
        }
    }

    /// Reports the fraction of a phase that is done; `Break` if the work is to be abandoned.
    pub(crate) fn report(&self, phase: &str, fraction: f64) -> ControlFlow<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.raised.is_some() {
            return ControlFlow::Break(());
        }
        let due = match &state.last {
            Some((last, at)) => last != phase || at.elapsed() >= INTERVAL || fraction >= 1.0,
            None => true,
        };
        if !due {
            return ControlFlow::Continue(());
        }
        state.last = Some((phase.to_owned(), Instant::now()));
        // Not held during the call, in which another thread may report.
        drop(state);
        let called = Python::attach(|py| match &self.function {
            Some(function) => function.call1(py, (phase, fraction)).map(drop),
            None => py.check_signals(),
        });
        match called {
            Ok(()) => ControlFlow::Continue(()),
            Err(raised) => {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.raised = Some(raised);
                ControlFlow::Break(())
            }
        }
    }

    /// What the callable raised, if it did.
    pub(crate) fn raised(self) -> PyResult<()> {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        state.raised.map_or(Ok(()), Err)
    }
}

/// An interrupt is noticed after so long.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(100);

/// Does work on another thread while this one, which may be the one that gets
/// Python's signals, looks out for them. A signal that raises sets the flag
/// that the work is given, and is raised once the work has returned.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    let stop = &AtomicBool::new(false);
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, finished) = mpsc::channel();
            let worker = scope.spawn(move || {
                // Dropped at the end, also by a panic: that ends the loop below.
                let _done: mpsc::Sender<()> = done;
                work(stop)
            });
            let mut raised = None;
            while finished.recv_timeout(SIGNAL_INTERVAL) == Err(mpsc::RecvTimeoutError::Timeout) {
                if raised.is_none()
                    && let Err(signal) = Python::attach(|py| py.check_signals())
                {
                    stop.store(true, Ordering::Relaxed);
                    raised = Some(signal);
                }
            }
            let result = worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            raised.map_or(Ok(result), Err)
        })
    })
}
