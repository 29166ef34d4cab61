//! The order of work: what is ready, by priority, and which call comes next.
//!
//! Calls are *admitted* in the program's order, one whenever a worker finds
//! nothing ready, at most [`Queue::window`] unfinished ones at a time. So one
//! worker executes exactly the program's order, and more workers look only as
//! far ahead as they must to stay busy, which bounds the memory that they hold.
//!
//! Nothing can be stuck: the earliest unfinished call depends only on finished
//! ones, so its tasks are ready or running.

use std::cmp::Ordering as Order;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::value::lock;

/// A call that has been admitted and waits for arguments.
#[derive(Debug)]
pub(crate) struct Admission {
    /// The call.
    pub call: u32,
    missing: AtomicU32,
}

impl Admission {
    /// Starts with one missing argument that stands for the admission itself.
    pub(crate) fn new(call: u32) -> Arc<Self> {
        Arc::new(Admission {
            call,
            missing: AtomicU32::new(1),
        })
    }

    pub(crate) fn expect_one_more(&self) {
        self.missing.fetch_add(1, Ordering::Relaxed);
    }

    /// One argument has come; true for the last one.
    pub(crate) fn arrived(&self) -> bool {
        self.missing.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// Something for a worker to do. `C` is the state of a running call.
#[derive(Debug)]
pub(crate) enum Job<C> {
    /// Look at the arguments of a call and start it, or have it wait.
    Admit(u32),
    /// Get an input limb from the provider.
    Fetch(u32),
    /// Execute a task of a running call.
    Task(Arc<C>, u32),
}

/// A job and its priority: the call in the upper half, the task in the lower.
#[derive(Debug)]
struct Ready<C> {
    priority: u64,
    job: Job<C>,
}

impl<C> Ord for Ready<C> {
    fn cmp(&self, other: &Self) -> Order {
        other.priority.cmp(&self.priority)
    }
}

impl<C> PartialOrd for Ready<C> {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl<C> PartialEq for Ready<C> {
    fn eq(&self, other: &Self) -> bool {
        self.priority == other.priority
    }
}

impl<C> Eq for Ready<C> {}

/// What a worker has to tell when it comes for its next job.
#[derive(Debug)]
pub(crate) struct News<C> {
    ready: Vec<Ready<C>>,
    finished_calls: usize,
}

impl<C> News<C> {
    pub(crate) fn new() -> Self {
        News {
            ready: Vec::new(),
            finished_calls: 0,
        }
    }

    /// A fetch on behalf of a call.
    pub(crate) fn fetch(&mut self, call: u32, input: u32) {
        self.ready.push(Ready {
            priority: u64::from(call) << 32,
            job: Job::Fetch(input),
        });
    }

    pub(crate) fn task(&mut self, call: u32, state: Arc<C>, task: u32) {
        self.ready.push(Ready {
            priority: u64::from(call) << 32 | u64::from(task),
            job: Job::Task(state, task),
        });
    }

    pub(crate) fn call_finished(&mut self) {
        self.finished_calls += 1;
    }
}

#[derive(Debug)]
struct State<C> {
    ready: BinaryHeap<Ready<C>>,
    next_call: usize,
    unfinished: usize,
    sleepers: usize,
    stopped: bool,
}

/// The work of a run.
#[derive(Debug)]
pub(crate) struct Queue<C> {
    state: Mutex<State<C>>,
    wake: Condvar,
    calls: usize,
    window: usize,
    /// Counts arrivals of work, for those who look without locking.
    arrivals: AtomicU64,
    stopped: AtomicBool,
}

/// Looks of an idle worker before it sleeps: some tens of microseconds, what
/// sleeping and waking costs.
const IDLE_LOOKS: u32 = 400;

impl<C> Queue<C> {
    pub(crate) fn new(calls: usize, threads: usize) -> Self {
        Queue {
            state: Mutex::new(State {
                ready: BinaryHeap::new(),
                next_call: 0,
                unfinished: 0,
                sleepers: 0,
                stopped: false,
            }),
            wake: Condvar::new(),
            calls,
            window: if threads == 1 { 1 } else { 32 + 8 * threads },
            arrivals: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// Delivers the news and takes the next job; waits for one if need be.
    /// `None` when all is done or the run is abandoned.
    pub(crate) fn next(&self, news: &mut News<C>) -> Option<Job<C>> {
        let mut state = lock(&self.state);
        state.unfinished -= std::mem::take(&mut news.finished_calls);
        if !news.ready.is_empty() {
            state.ready.extend(news.ready.drain(..));
            self.arrivals.fetch_add(1, Ordering::Relaxed);
        }
        let mut looked = false;
        loop {
            if state.stopped {
                return None;
            }
            if let Some(job) = self.take(&mut state) {
                if state.sleepers > 0 && (!state.ready.is_empty() || self.may_admit(&state)) {
                    self.wake.notify_one();
                }
                return Some(job);
            }
            if state.unfinished == 0 && state.next_call == self.calls {
                state.stopped = true;
                self.wake.notify_all();
                return None;
            }
            if looked {
                state.sleepers += 1;
                state = self
                    .wake
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                state.sleepers -= 1;
            } else {
                drop(state);
                self.look();
                state = lock(&self.state);
            }
            looked = !looked;
        }
    }

    fn take(&self, state: &mut State<C>) -> Option<Job<C>> {
        if let Some(ready) = state.ready.pop() {
            return Some(ready.job);
        }
        if !self.may_admit(state) {
            return None;
        }
        state.unfinished += 1;
        state.next_call += 1;
        Some(Job::Admit(state.next_call as u32 - 1))
    }

    fn may_admit(&self, state: &State<C>) -> bool {
        state.next_call < self.calls && state.unfinished < self.window
    }

    /// Spins until work arrives, for a while.
    fn look(&self) {
        let before = self.arrivals.load(Ordering::Relaxed);
        for _ in 0..IDLE_LOOKS {
            std::hint::spin_loop();
            if self.arrivals.load(Ordering::Relaxed) != before
                || self.stopped.load(Ordering::Relaxed)
            {
                return;
            }
        }
    }

    /// Abandons the run: every worker gets `None` from now on.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        lock(&self.state).stopped = true;
        self.wake.notify_all();
    }
}
