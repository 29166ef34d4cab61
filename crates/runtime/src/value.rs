//! Values: a buffer and how often it is still to be read.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cyclotron_ring::{LimbBuf, Word};

/// Locks, also after another worker's panic: the run is being abandoned then.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A value within a call.
#[derive(Debug)]
pub(crate) struct Local<W: Word>(Mutex<(Option<Arc<LimbBuf<W>>>, u32)>);

impl<W: Word> Local<W> {
    pub(crate) fn empty() -> Self {
        Local(Mutex::new((None, 0)))
    }

    pub(crate) fn set(&self, value: Arc<LimbBuf<W>>, reads: u32) {
        *lock(&self.0) = (Some(value), reads);
    }

    /// One of the promised readings; the last one empties the slot.
    pub(crate) fn read(&self) -> Arc<LimbBuf<W>> {
        let (value, reads) = &mut *lock(&self.0);
        *reads = reads
            .checked_sub(1)
            .expect("no more readings than the plan counted");
        let value = if *reads == 0 {
            value.take()
        } else {
            value.clone()
        };
        value.expect("a task runs after its sources")
    }
}

/// A global value: an input or a result of a call.
#[derive(Debug)]
pub(crate) struct Global<W: Word> {
    /// Present from when it is computed or fetched until its last use.
    pub value: Option<Arc<LimbBuf<W>>>,
    /// Uses that are still to come.
    pub uses: u32,
    /// Whether a worker has been asked to fetch this input.
    pub requested: bool,
    /// Calls that wait for it.
    pub waiting: Vec<Arc<crate::queue::Admission>>,
}

impl<W: Word> Global<W> {
    pub(crate) fn new(uses: u32) -> Self {
        Global {
            value: None,
            uses,
            requested: false,
            waiting: Vec::new(),
        }
    }

    /// One use; the last one empties the slot.
    pub(crate) fn take(&mut self) -> Arc<LimbBuf<W>> {
        self.uses -= 1;
        let value = if self.uses == 0 {
            self.value.take()
        } else {
            self.value.clone()
        };
        value.expect("a call starts after its arguments")
    }
}
