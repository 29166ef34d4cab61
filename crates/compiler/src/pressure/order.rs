//! Integrated prepass scheduling: an order of instructions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cyclotron_isa::FlatProgram;

use crate::error::{CompileError, PAUSE};
use crate::uses::{UseLists, distinct_sources};

/// A ready instruction in one of the two lists; larger goes first: by what the
/// list goes by, then the longer way, then the program's order.
type Entry = (i64, u64, Reverse<u32>);

/// The state of list scheduling.
struct Scheduler<'a> {
    flat: &'a FlatProgram,
    readers: UseLists,
    /// Least cycles from the start of an instruction to the end of the program.
    way: Vec<u64>,
    /// Operands that are not computed yet.
    missing: Vec<u8>,
    /// Places that an instruction frees, less those that it takes.
    gain: Vec<i8>,
    /// Readers of a value that are not scheduled yet.
    unread: Vec<u32>,
    /// Whether a value has a place.
    present: Vec<bool>,
    scheduled: Vec<bool>,
    by_way: BinaryHeap<Entry>,
    by_gain: BinaryHeap<Entry>,
    occupied: usize,
}

/// An order of the `live` instructions in which operands come before their
/// readers, for a scratchpad of `places` that are scarce when fewer than
/// `scarce` are left. `delay` is the cycles from an instruction to its result.
/// `pause` is called now and then with the fraction done, and its error ends the work.
pub(super) fn order(
    flat: &FlatProgram,
    live: &[bool],
    (places, scarce): (usize, usize),
    delay: impl Fn(usize) -> u64,
    mut pause: impl FnMut(f64) -> Result<(), CompileError>,
) -> Result<Vec<u32>, CompileError> {
    let mut scheduler = Scheduler::new(flat, live, delay);
    let mut order = Vec::with_capacity(flat.len());
    loop {
        if order.len().is_multiple_of(PAUSE) {
            pause(order.len() as f64 / flat.len().max(1) as f64)?;
        }
        let plentiful = scheduler.occupied + scarce < places;
        let Some(inst) = scheduler.next(plentiful) else {
            return Ok(order);
        };
        scheduler.schedule(inst as usize);
        order.push(inst);
    }
}

impl<'a> Scheduler<'a> {
    fn new(flat: &'a FlatProgram, live: &[bool], delay: impl Fn(usize) -> u64) -> Self {
        let readers = UseLists::collect(flat.value_count(), |add| {
            for inst in (0..flat.len()).filter(|&inst| live[inst]) {
                let (sources, count) = distinct_sources(flat, inst);
                sources[..count].iter().for_each(|&s| add(s, inst as u32));
            }
        });
        let values = 0..flat.value_count() as u32;
        let mut scheduler = Self {
            flat,
            way: vec![0; flat.len()],
            missing: vec![0; flat.len()],
            gain: vec![0; flat.len()],
            unread: values.map(|v| readers.of(v).len() as u32).collect(),
            readers,
            present: vec![false; flat.value_count()],
            scheduled: vec![false; flat.len()],
            by_way: BinaryHeap::new(),
            by_gain: BinaryHeap::new(),
            occupied: 0,
        };
        for inst in (0..flat.len()).rev().filter(|&inst| live[inst]) {
            let readers = scheduler.readers.of(flat.result(inst)).iter();
            let after = readers.map(|&reader| scheduler.way[reader as usize]).max();
            scheduler.way[inst] = delay(inst) + after.unwrap_or(0);
        }
        for inst in (0..flat.len()).filter(|&inst| live[inst]) {
            let (sources, count) = distinct_sources(flat, inst);
            let mut gain = -i8::from(scheduler.unread[flat.result(inst) as usize] > 0);
            for &source in &sources[..count] {
                gain += i8::from(scheduler.unread[source as usize] == 1);
                match flat.definition(source) {
                    Some(_) => scheduler.missing[inst] += 1,
                    None => gain -= 1,
                }
            }
            scheduler.gain[inst] = gain;
            if scheduler.missing[inst] == 0 {
                scheduler.make_ready(inst as u32);
            }
        }
        scheduler
    }

    fn make_ready(&mut self, inst: u32) {
        let way = self.way[inst as usize];
        self.by_way.push((0, way, Reverse(inst)));
        self.offer(inst);
    }

    fn offer(&mut self, inst: u32) {
        let (gain, way) = (self.gain[inst as usize], self.way[inst as usize]);
        self.by_gain.push((i64::from(gain), way, Reverse(inst)));
    }

    /// The next instruction: by its way to the end while places are plentiful,
    /// otherwise by the places that it frees.
    fn next(&mut self, plentiful: bool) -> Option<u32> {
        if plentiful {
            while let Some((_, _, Reverse(inst))) = self.by_way.pop() {
                if !self.scheduled[inst as usize] {
                    return Some(inst);
                }
            }
        } else {
            // An instruction is offered anew whenever it frees more.
            while let Some((gain, _, Reverse(inst))) = self.by_gain.pop() {
                let index = inst as usize;
                if !self.scheduled[index] && i64::from(self.gain[index]) == gain {
                    return Some(inst);
                }
            }
        }
        None
    }

    fn schedule(&mut self, inst: usize) {
        self.scheduled[inst] = true;
        let (sources, count) = distinct_sources(self.flat, inst);
        for &source in &sources[..count] {
            // An input takes its place at its first use.
            if !self.present[source as usize] {
                self.enter(source);
            }
            self.unread[source as usize] -= 1;
            match self.unread[source as usize] {
                0 => self.occupied -= 1,
                1 => {
                    let readers = self.readers.of(source).iter();
                    let last = readers.copied().find(|&r| !self.scheduled[r as usize]);
                    self.improve(last.expect("one reader is left"));
                }
                _ => {}
            }
        }
        let result = self.flat.result(inst);
        if self.unread[result as usize] == 0 {
            return;
        }
        self.present[result as usize] = true;
        self.occupied += 1;
        for position in self.readers.start(result)..self.readers.end(result) {
            let reader = self.readers.at(position);
            let missing = &mut self.missing[reader as usize];
            *missing -= 1;
            if *missing == 0 {
                self.make_ready(reader);
            }
        }
    }

    /// An input takes a place, which its other readers then need not take.
    fn enter(&mut self, input: u32) {
        self.present[input as usize] = true;
        self.occupied += 1;
        for position in self.readers.start(input)..self.readers.end(input) {
            self.improve(self.readers.at(position));
        }
    }

    /// An instruction frees one more than before.
    fn improve(&mut self, inst: u32) {
        let index = inst as usize;
        self.gain[index] += 1;
        if self.missing[index] == 0 && !self.scheduled[index] {
            self.offer(inst);
        }
    }
}
