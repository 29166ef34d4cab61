//! Segments are placed on all threads, while the plan is still being made.
//!
//! The calling thread makes the plan and cuts it; other threads of the pool take segments
//! from a queue. When the queue is full, and once the plan is made, the calling thread
//! places segments too. What comes out does not depend on who placed what: a segment knows
//! nothing of the others, and pieces are joined in their order.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use cyclotron_isa::{FlatProgram, Schedule, Step};
use cyclotron_machine::Resolved;
use rayon::Scope;

use super::join::{Piece, join};
use super::placer::{Placer, Site};
use super::segment::Segment;
use super::segmenter::Segmenter;
use crate::abreast::PATIENCE;
use crate::error::{CompileError, proceed};
use crate::stats::PlacementStats;

/// Asks whoever watches whether to go on, given how many steps were placed.
pub(crate) type Poll<'p> = dyn FnMut(usize) -> ControlFlow<()> + 'p;

/// Takes further steps of a plan, and may ask meanwhile whether to go on.
pub(crate) type Sink<'s> = dyn FnMut(&[Step], &mut Poll<'_>) -> ControlFlow<()> + 's;

/// Places the steps that `plan` hands over, `size` instructions in a segment; returns also
/// what `plan` returns. Then `progress` is called with the fraction placed, also at the end.
/// Both are called on the calling thread only.
pub(crate) fn place_steps<P>(
    flat: &FlatProgram,
    machine: &Resolved,
    size: usize,
    plan: impl FnOnce(&mut Sink<'_>) -> Result<P, CompileError>,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<(P, Schedule, PlacementStats), CompileError> {
    let site = Site::new(flat, machine)?;
    let line = Line::new(&site);
    let mut segmenter = Segmenter::new(flat, machine, &site.topology, size);
    let (planned, dram) = rayon::in_place_scope(|scope| {
        let mut total = 0;
        let planned = plan(&mut |steps, poll| {
            total += steps.len();
            for &step in steps {
                if let Some(segment) = segmenter.step(step) {
                    line.hand_over(segment, scope);
                    line.help(line.most_waiting(), poll)?;
                }
            }
            ControlFlow::Continue(())
        });
        let planned = planned.inspect_err(|_| line.stop())?;
        let (segment, dram) = segmenter.finish();
        line.hand_over(segment, scope);
        line.finish(&mut |placed| progress((placed as f64 / total.max(1) as f64).min(1.0)))?;
        Ok::<_, CompileError>((planned, dram))
    })?;
    let (mut pieces, mut stats) = (Vec::new(), PlacementStats::default());
    let state = line
        .state
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    for (piece, counts) in state.placed.into_iter().flatten() {
        stats.add(&counts);
        pieces.push(piece);
    }
    let schedule = join(pieces, dram, flat, machine)?;
    Ok((planned, schedule, stats))
}

/// Where threads meet.
struct Line<'a> {
    site: &'a Site<'a>,
    /// Other threads that may place.
    others: usize,
    state: Mutex<State>,
    /// A segment was placed.
    changed: Condvar,
    stopped: AtomicBool,
    /// Steps that were placed.
    placed: AtomicUsize,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(usize, Segment)>,
    /// Segments that are being placed.
    running: usize,
    /// Tasks that take segments.
    tasks: usize,
    /// By segment.
    placed: Vec<Option<(Piece, PlacementStats)>>,
}

impl<'a> Line<'a> {
    fn new(site: &'a Site<'a>) -> Self {
        Self {
            site,
            others: rayon::current_num_threads() - 1,
            state: Mutex::default(),
            changed: Condvar::new(),
            stopped: AtomicBool::new(false),
            placed: AtomicUsize::new(0),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Segments that may wait before the calling thread helps.
    fn most_waiting(&self) -> usize {
        2 * self.others
    }

    /// Queues a segment, and makes sure that somebody looks.
    fn hand_over<'s>(&'s self, segment: Segment, scope: &Scope<'s>) {
        let mut state = self.state();
        let index = state.placed.len();
        state.placed.push(None);
        state.waiting.push_back((index, segment));
        if state.tasks < self.others {
            state.tasks += 1;
            scope.spawn(|_| {
                let mut go_on = |_| !self.stopped.load(Ordering::Relaxed);
                // Who sees the queue empty leaves at once, so that the next segment is not
                // left to somebody who no longer looks.
                while let Some(next) = self.take(0, |state| state.tasks -= 1) {
                    if !self.place(next, &mut go_on) {
                        break;
                    }
                }
            });
        }
    }

    /// Takes a segment if more than `most` wait, or else notes something.
    fn take(&self, most: usize, or_else: impl FnOnce(&mut State)) -> Option<(usize, Segment)> {
        let mut state = self.state();
        let mut next = None;
        if state.waiting.len() > most {
            next = state.waiting.pop_front();
        }
        match next {
            Some(_) => state.running += 1,
            None => or_else(&mut state),
        }
        next
    }

    /// Places a segment that was taken; says whether to go on.
    fn place(
        &self,
        (index, segment): (usize, Segment),
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> bool {
        let _left = Leave(self);
        let placed = Placer::new(self.site, &segment).run(|steps| {
            let before = self.placed.fetch_add(steps, Ordering::Relaxed);
            go_on(before + steps)
        });
        let goes_on = placed.is_some();
        self.state().placed[index] = placed;
        goes_on
    }

    /// Places segments on the calling thread while more than `most` wait.
    fn help(&self, most: usize, poll: &mut Poll<'_>) -> ControlFlow<()> {
        let mut flow = ControlFlow::Continue(());
        let mut go_on = |placed| {
            flow = poll(placed);
            flow.is_continue()
        };
        while let Some(next) = self.take(most, |_| ()) {
            if !self.place(next, &mut go_on) {
                break;
            }
        }
        if flow.is_break() {
            self.stop();
        }
        flow
    }

    /// Places what waits, and waits for the other threads.
    fn finish(&self, poll: &mut Poll<'_>) -> Result<(), CompileError> {
        proceed(self.help(0, poll))?;
        let mut state = self.state();
        while state.running > 0 {
            let waited = self.changed.wait_timeout(state, PATIENCE);
            drop(waited);
            if poll(self.placed.load(Ordering::Relaxed)).is_break() {
                self.stop();
                return Err(CompileError::Interrupted);
            }
            state = self.state();
        }
        drop(state);
        proceed(poll(self.placed.load(Ordering::Relaxed)))
    }
}

/// Notes that a segment is no longer being placed, whatever became of it.
struct Leave<'l>(&'l Line<'l>);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.state().running -= 1;
        self.0.changed.notify_all();
    }
}
