//! Places for the values of an order: loads on demand, the furthest next use goes.

use cyclotron_isa::{FlatProgram, MovementPlan};

use crate::error::{CompileError, PAUSE};
use crate::movement::ledger::Ledger;
use crate::movement::victims::{NEVER, Victims, cheaper};
use crate::uses::{UseLists, distinct_sources};

/// The value has a place in the scratchpad.
const RESIDENT: u8 = 1;
/// Off-chip memory has a copy.
const OFF_CHIP: u8 = 2;
/// It was loaded before.
const LOADED: u8 = 4;

/// The scratchpad while the order is followed.
struct Allocator<'a> {
    flat: &'a FlatProgram,
    /// Positions in the order at which a value is read.
    uses: UseLists,
    /// The next of them.
    cursor: Vec<u32>,
    state: Vec<u8>,
    /// How many output limbs a value is.
    outputs: Vec<u32>,
    capacity: usize,
    resident: usize,
    victims: Victims,
    ledger: Ledger,
}

/// Plans the movement of an order for a scratchpad of `capacity` vectors, which
/// holds every instruction's operands and result. `pause` is called now and then
/// with the fraction done, and its error ends the work.
pub(super) fn allocate(
    flat: &FlatProgram,
    order: &[u32],
    capacity: usize,
    mut pause: impl FnMut(f64) -> Result<(), CompileError>,
) -> Result<MovementPlan, CompileError> {
    let mut allocator = Allocator::new(flat, order, capacity);
    for (position, &inst) in (0u32..).zip(order) {
        if (position as usize).is_multiple_of(PAUSE) {
            pause(f64::from(position) / order.len() as f64)?;
        }
        allocator.execute(position, inst as usize);
    }
    for input in 0..flat.inputs.len() as u32 {
        if allocator.outputs[input as usize] > 0 {
            allocator.copy_through(input);
        }
    }
    Ok(allocator.ledger.finish())
}

impl<'a> Allocator<'a> {
    fn new(flat: &'a FlatProgram, order: &[u32], capacity: usize) -> Self {
        let uses = UseLists::collect(flat.value_count(), |add| {
            for (position, &inst) in (0u32..).zip(order) {
                let (sources, count) = distinct_sources(flat, inst as usize);
                sources[..count].iter().for_each(|&s| add(s, position));
            }
        });
        let values = 0..flat.value_count() as u32;
        let mut state = vec![0; flat.value_count()];
        state[..flat.inputs.len()].fill(OFF_CHIP);
        let mut outputs = vec![0; flat.value_count()];
        flat.outputs.iter().for_each(|&v| outputs[v as usize] += 1);
        Self {
            flat,
            cursor: values.map(|v| uses.start(v)).collect(),
            uses,
            state,
            outputs,
            capacity,
            resident: 0,
            victims: Victims::default(),
            ledger: Ledger::new(capacity, order.len()),
        }
    }

    fn has(&self, value: u32, flag: u8) -> bool {
        self.state[value as usize] & flag != 0
    }

    /// The position of the next use.
    fn next_use(&self, value: u32) -> u32 {
        let cursor = self.cursor[value as usize];
        if cursor < self.uses.end(value) {
            self.uses.at(cursor)
        } else {
            NEVER
        }
    }

    fn execute(&mut self, position: u32, inst: usize) {
        let (sources, count) = distinct_sources(self.flat, inst);
        let sources = &sources[..count];
        for &source in sources {
            if !self.has(source, RESIDENT) {
                self.load(source, position, sources);
            }
        }
        let result = self.flat.result(inst);
        self.make_room(position, sources);
        self.ledger.compute(inst);
        self.enter(result);
        for &source in sources {
            self.cursor[source as usize] += 1;
            self.keep_or_drop(source);
        }
        let outputs = self.outputs[result as usize];
        if outputs > 0 {
            self.ledger.store(result, outputs);
            self.state[result as usize] |= OFF_CHIP;
        }
        self.keep_or_drop(result);
    }

    /// Loads and stores an input that is an output.
    fn copy_through(&mut self, input: u32) {
        if !self.has(input, RESIDENT) {
            self.load(input, NEVER, &[]);
        }
        self.ledger.store(input, self.outputs[input as usize]);
        self.keep_or_drop(input);
    }

    fn load(&mut self, value: u32, position: u32, pinned: &[u32]) {
        self.make_room(position, pinned);
        let first = !self.has(value, LOADED);
        self.state[value as usize] |= LOADED;
        self.ledger.load(self.flat, value, first);
        self.enter(value);
    }

    fn enter(&mut self, value: u32) {
        self.state[value as usize] |= RESIDENT;
        self.resident += 1;
    }

    /// Frees the place of a value that nothing reads any more; others may go later.
    fn keep_or_drop(&mut self, value: u32) {
        let next = self.next_use(value);
        if next == NEVER {
            self.drop_place(value);
        } else {
            let dirty = !self.has(value, OFF_CHIP);
            self.victims.push(dirty, next, value);
        }
    }

    fn drop_place(&mut self, value: u32) {
        self.state[value as usize] &= !RESIDENT;
        self.resident -= 1;
        self.ledger.evict(value);
    }

    /// Evicts a value, none of the `pinned`, if there is no place left.
    fn make_room(&mut self, position: u32, pinned: &[u32]) {
        if self.resident < self.capacity {
            return;
        }
        let (state, cursor, uses) = (&self.state, &self.cursor, &self.uses);
        let mut furthest = |dirty: bool| {
            self.victims.peek(dirty, |next, value| {
                let flags = state[value as usize];
                let at = cursor[value as usize];
                flags & RESIDENT != 0
                    && (flags & OFF_CHIP == 0) == dirty
                    && at < uses.end(value)
                    && uses.at(at) == next
                    && !pinned.contains(&value)
            })
        };
        let victim = cheaper(furthest(false), furthest(true), position);
        let (_, value) = victim.expect("the scratchpad holds more than the operands");
        if !self.has(value, OFF_CHIP) {
            self.ledger.store(value, 0);
            self.state[value as usize] |= OFF_CHIP;
        }
        self.drop_place(value);
    }
}
