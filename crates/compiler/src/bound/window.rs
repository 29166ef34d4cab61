//! The window of one resource that gives the largest bound.

use crate::error::{CompileError, PAUSE, Pause};

/// Thresholds of heads and tails that are tried; more distinct ones are thinned out.
const THRESHOLDS: usize = 512;

/// A piece of work of one resource.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// It cannot start before.
    pub head: u64,
    /// Cycles that it occupies one instance.
    pub work: u64,
    /// Cycles that must pass after it.
    pub tail: u64,
}

/// Finds the window with the largest `head + work + tail`, its work divided by
/// `capacity` instances. `None` if no piece has work, or the capacity is 0.
pub(super) fn best_window(
    pieces: &[Piece],
    capacity: u64,
    pause: Pause<'_>,
) -> Result<Option<Piece>, CompileError> {
    let unit = pieces.iter().fold(0, |g, piece| gcd(g, piece.work));
    if unit == 0 || capacity == 0 {
        return Ok(None);
    }
    let heads = thresholds(pieces.iter().map(|piece| piece.head).collect(), pause)?;
    let tails = thresholds(pieces.iter().map(|piece| piece.tail).collect(), pause)?;
    let columns = tails.len();
    let mut work = vec![0u64; heads.len() * columns];
    for some in pieces.chunks(PAUSE) {
        pause()?;
        for piece in some {
            let row = heads.partition_point(|&h| h <= piece.head) - 1;
            let column = tails.partition_point(|&t| t <= piece.tail) - 1;
            work[row * columns + column] += piece.work / unit;
        }
    }
    let mut best: Option<Piece> = None;
    for row in (0..heads.len()).rev() {
        let mut right = 0;
        for column in (0..columns).rev() {
            let index = row * columns + column;
            right += work[index];
            let below = if row + 1 < heads.len() {
                work[index + columns]
            } else {
                0
            };
            work[index] = right + below;
            if work[index] == 0 {
                continue;
            }
            // Every instance's share is a multiple of `unit`.
            let window = Piece {
                head: heads[row],
                work: work[index].div_ceil(capacity) * unit,
                tail: tails[column],
            };
            let total = |w: &Piece| w.head + w.work + w.tail;
            if best
                .as_ref()
                .is_none_or(|before| total(&window) > total(before))
            {
                best = Some(window);
            }
        }
    }
    Ok(best)
}

/// At most [`THRESHOLDS`] of the distinct values, ascending, the least among them.
fn thresholds(mut values: Vec<u64>, pause: Pause<'_>) -> Result<Vec<u64>, CompileError> {
    for some in values.chunks_mut(PAUSE) {
        pause()?;
        some.sort_unstable();
    }
    // The stable sort merges sorted runs, which takes much less time.
    values.sort();
    values.dedup();
    let step = values.len().div_ceil(THRESHOLDS).max(1);
    Ok(values.into_iter().step_by(step).collect())
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(pieces: &[Piece]) -> Option<Piece> {
        best_window(pieces, 3, &mut || Ok(())).expect("nobody interrupts")
    }

    fn exhaustive(pieces: &[Piece], capacity: u64) -> u64 {
        let mut best = 0;
        for h in pieces.iter().map(|p| p.head) {
            for t in pieces.iter().map(|p| p.tail) {
                let inside = pieces.iter().filter(|p| p.head >= h && p.tail >= t);
                let work: u64 = inside.map(|p| p.work / 4).sum();
                if work > 0 {
                    best = best.max(h + work.div_ceil(capacity) * 4 + t);
                }
            }
        }
        best
    }

    #[test]
    fn window_agrees_with_exhaustive_search() {
        let mut state = 7u64;
        let mut next = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..50 {
            let pieces: Vec<Piece> = (0..40)
                .map(|_| Piece {
                    head: next(100),
                    work: 4 * (1 + next(3)),
                    tail: next(100),
                })
                .chain([Piece {
                    head: 0,
                    work: 4,
                    tail: 0,
                }])
                .collect();
            let window = window(&pieces).expect("there is work");
            assert_eq!(
                window.head + window.work + window.tail,
                exhaustive(&pieces, 3)
            );
        }
    }

    #[test]
    fn no_work_gives_no_window() {
        assert!(window(&[]).is_none());
        let idle = Piece {
            head: 5,
            work: 0,
            tail: 9,
        };
        assert!(window(&[idle]).is_none());
    }
}
