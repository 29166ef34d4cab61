//! What the machine can do at most: memory bandwidth and multiplier throughput.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

use cyclotron_ring::{Multiply, Simd, multiplications, sum_words};
use serde::Serialize;

use crate::work::Work;

/// Bytes that are read or copied by all threads together, from the first-level
/// cache to memory.
const SIZES: [usize; 7] = [
    32 << 10,
    256 << 10,
    1 << 20,
    2 << 20,
    8 << 20,
    32 << 20,
    512 << 20,
];

/// Measurements of each kind; the best counts, as the machine's limit.
const ROUNDS: usize = 5;

/// Bytes per second at one size of the data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bandwidth {
    /// Size of what is read, of all threads.
    pub bytes: usize,
    /// Reading.
    pub read: f64,
    /// Copying, each byte counted when it is read and when it is written.
    pub copy: f64,
}

/// Limits of the machine with so many threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// The kernels' instruction set.
    pub simd: String,
    /// Threads that were busy at the same time.
    pub threads: usize,
    /// By growing size.
    pub bandwidth: Vec<Bandwidth>,
    /// 512-bit multiplications of 52-bit words per second; 0 without IFMA.
    pub ifma: f64,
    /// Vector multiplications of 32-bit words per second; 0 without vectors.
    pub vector32: f64,
    /// 64-bit multiplications of single words per second.
    pub scalar: f64,
}

/// The least time for some work, and which limit sets it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bound {
    /// Seconds: the larger of the two.
    pub seconds: f64,
    /// Seconds for moving the bytes.
    pub memory_seconds: f64,
    /// Seconds for the multiplications.
    pub multiplier_seconds: f64,
}

impl Machine {
    /// Measures the limits; takes about two seconds.
    #[must_use]
    pub fn measure(threads: usize) -> Self {
        let simd = Simd::detect().unwrap_or(Simd::Scalar);
        let throughput = |kind| {
            let samples = (0..ROUNDS).map(|_| {
                let counts = together(threads, |_| 0, |_: &mut i32| multiplications(simd, kind));
                counts
                    .iter()
                    .map(|&(count, seconds)| count as f64 / seconds)
                    .sum()
            });
            samples.fold(0.0, f64::max)
        };
        Self {
            simd: simd.to_string(),
            threads,
            bandwidth: SIZES.map(|bytes| bandwidth(bytes, threads, simd)).to_vec(),
            ifma: throughput(Multiply::Words52),
            vector32: throughput(Multiply::Words32),
            scalar: throughput(Multiply::Single64),
        }
    }

    /// The least time for some work.
    #[must_use]
    pub fn bound(&self, work: &Work) -> Bound {
        let memory_seconds = self.memory_seconds(work);
        let busy = |count: f64, rate: f64| if count > 0.0 { count / rate } else { 0.0 };
        let multiplier_seconds = busy(work.ifma, self.ifma)
            + busy(work.vector32, self.vector32)
            + busy(work.scalar, self.scalar);
        Bound {
            seconds: memory_seconds.max(multiplier_seconds),
            memory_seconds,
            multiplier_seconds,
        }
    }
}

impl Machine {
    /// The least time to move the bytes of some work: as many of them as fit a
    /// size move at that size's bandwidth, as if each cache kept what it can.
    fn memory_seconds(&self, work: &Work) -> f64 {
        let bytes = work.bytes_read + work.bytes_written;
        // Whatever is written is taken for a copy, as far as as much is read.
        let copied = 2.0 * work.bytes_written.min(work.bytes_read) / bytes.max(1.0);
        let (mut moved, mut seconds) = (0.0, 0.0);
        for (index, level) in self.bandwidth.iter().enumerate() {
            let last = index + 1 == self.bandwidth.len();
            let until = if last {
                bytes
            } else {
                bytes.min(level.bytes as f64)
            };
            let part = (until - moved).max(0.0);
            seconds += part * ((1.0 - copied) / level.read + copied / level.copy);
            moved += part;
        }
        seconds
    }
}

/// Runs `work` on so many threads at the same time, each with its own state;
/// returns what each did and its seconds.
fn together<S, R: Send>(
    threads: usize,
    state: impl Fn(usize) -> S + Sync,
    work: impl Fn(&mut S) -> R + Sync,
) -> Vec<(R, f64)> {
    let barrier = Barrier::new(threads);
    let one = |index| {
        let mut state = state(index);
        black_box(work(&mut state));
        barrier.wait();
        let start = Instant::now();
        let result = work(&mut state);
        (result, start.elapsed().as_secs_f64())
    };
    std::thread::scope(|scope| {
        let one = &one;
        let spawn = |index| scope.spawn(move || one(index));
        let running: Vec<_> = (0..threads).map(spawn).collect();
        let done = running.into_iter().map(std::thread::ScopedJoinHandle::join);
        done.flatten().collect()
    })
}

/// The best of some rounds over `bytes` bytes, those of all threads together.
fn bandwidth(bytes: usize, threads: usize, simd: Simd) -> Bandwidth {
    let words = bytes / 8 / threads;
    let repeats = (64 << 20) / bytes.min(64 << 20);
    let rate = |moved: usize, times: &[f64]| {
        let slowest = times.iter().copied().fold(0.0, f64::max);
        (moved * repeats * threads) as f64 / slowest
    };
    let state = |_| vec![1u64; words];
    let read = |data: &mut Vec<u64>| {
        for _ in 0..repeats {
            black_box(sum_words(simd, black_box(data)));
        }
    };
    let copy = |data: &mut Vec<u64>| {
        let (from, to) = data.split_at_mut(words / 2);
        for _ in 0..repeats {
            black_box(&mut *to)[..words / 2].copy_from_slice(black_box(from));
        }
    };
    let mut best = Bandwidth {
        bytes,
        read: 0.0,
        copy: 0.0,
    };
    for _ in 0..ROUNDS {
        let seconds = |done: Vec<((), f64)>| done.iter().map(|done| done.1).collect::<Vec<_>>();
        let reading = seconds(together(threads, state, read));
        let copying = seconds(together(threads, state, copy));
        best.read = best.read.max(rate(words * 8, &reading));
        best.copy = best.copy.max(rate(words / 2 * 16, &copying));
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_is_the_larger_limit() {
        let level = |bytes, rate| Bandwidth {
            bytes,
            read: 2.0 * rate,
            copy: rate,
        };
        let machine = Machine {
            simd: "scalar".to_owned(),
            threads: 1,
            bandwidth: vec![level(1000, 100.0), level(2000, 10.0)],
            ifma: 0.0,
            vector32: 0.0,
            scalar: 4.0,
        };
        let mut work = Work {
            bytes_read: 600.0,
            bytes_written: 200.0,
            scalar: 8.0,
            ..Work::default()
        };
        let bound = machine.bound(&work);
        assert_eq!(bound.memory_seconds, 400.0 / 200.0 + 400.0 / 100.0);
        assert_eq!((bound.multiplier_seconds, bound.seconds), (2.0, 6.0));
        // Beyond the first size at the bandwidth of the second.
        work.bytes_read = 10_000.0;
        work.bytes_written = 0.0;
        assert_eq!(machine.bound(&work).memory_seconds, 5.0 + 9000.0 / 20.0);
    }
}
