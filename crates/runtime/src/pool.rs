//! Buffers that are used again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cyclotron_ring::{LimbBuf, Word};

/// Free buffers of one size, shared by the workers of a run, and the size of
/// all its buffers, free or not.
#[derive(Debug)]
pub(crate) struct SharedPool<W: Word> {
    n: usize,
    free: Mutex<Vec<LimbBuf<W>>>,
    bytes: AtomicU64,
    peak: AtomicU64,
    /// Buffers that came from outside; for each, one that is released is freed,
    /// so that the pool does not grow by a buffer with every fetched limb.
    surplus: AtomicU64,
}

impl<W: Word> SharedPool<W> {
    pub(crate) fn new(n: usize) -> Self {
        SharedPool {
            n,
            free: Mutex::new(Vec::new()),
            bytes: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            surplus: AtomicU64::new(0),
        }
    }

    fn buffer_bytes(&self) -> u64 {
        (self.n * W::BITS as usize / 8) as u64
    }

    fn grow(&self) {
        let bytes = self.bytes.fetch_add(self.buffer_bytes(), Ordering::Relaxed);
        self.peak
            .fetch_max(bytes + self.buffer_bytes(), Ordering::Relaxed);
    }

    /// Counts a buffer that somebody else allocated and gave to the run.
    pub(crate) fn adopt(&self) {
        self.grow();
        self.surplus.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether a released buffer is to be freed.
    fn sheds(&self) -> bool {
        if self.surplus.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let less = |surplus: u64| surplus.checked_sub(1);
        let sheds = self
            .surplus
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok();
        if sheds {
            self.bytes.fetch_sub(self.buffer_bytes(), Ordering::Relaxed);
        }
        sheds
    }

    /// The most bytes that the run's buffers had at once.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<LimbBuf<W>>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker's own free buffers, the most recently used (and so cached) first.
#[derive(Debug)]
pub(crate) struct Pool<'a, W: Word> {
    shared: &'a SharedPool<W>,
    own: Vec<LimbBuf<W>>,
}

/// Free buffers that a worker keeps to itself.
const OWN_BUFFERS: usize = 16;

impl<'a, W: Word> Pool<'a, W> {
    pub(crate) fn new(shared: &'a SharedPool<W>) -> Self {
        Pool {
            shared,
            own: Vec::with_capacity(OWN_BUFFERS),
        }
    }

    /// A buffer of n words with unspecified contents.
    pub(crate) fn take(&mut self) -> LimbBuf<W> {
        if let Some(buffer) = self.own.pop() {
            return buffer;
        }
        if let Some(buffer) = self.shared.lock().pop() {
            return buffer;
        }
        self.shared.grow();
        LimbBuf::unspecified(self.shared.n)
    }

    /// Drops a reference to a value; the last reference to a buffer gives it back.
    pub(crate) fn release(&mut self, value: Arc<LimbBuf<W>>) {
        if let Some(buffer) = Arc::into_inner(value) {
            if self.shared.sheds() {
                drop(buffer);
            } else if self.own.len() < OWN_BUFFERS {
                self.own.push(buffer);
            } else {
                self.shared.lock().push(buffer);
            }
        }
    }
}
