//! Cuts a plan into segments.
//!
//! Goes through the steps in order and decides what must not depend on the cycles that
//! placement finds: the place in the scratchpad of every value and its slot off-chip. A
//! value has its place from the step that loads or computes it until its eviction, though
//! a result is written there only if it leaves its register file. Banks take turns, and in
//! a bank the slot that has been free for longest comes first. Slots off-chip go to the
//! channel that has transferred least.

use std::collections::{HashMap, VecDeque};

use cyclotron_isa::{DramContent, DramSlot, FlatProgram, NONE, Step};
use cyclotron_machine::Resolved;

use super::segment::{Action, Address, Instruction, Place, Segment};
use super::streams::unread_inputs;
use crate::topology::Topology;
use crate::uses::distinct_sources;

/// Makes segments of the steps of a plan.
#[derive(Debug)]
pub(super) struct Segmenter<'a> {
    flat: &'a FlatProgram,
    /// Instructions of a segment.
    size: usize,
    /// Number in the segment of every value that is on the chip, [`NONE`] for the others.
    numbers: Vec<u32>,
    /// The segment so far, its instructions, and its values by number.
    open: Segment,
    instructions: usize,
    values: Vec<u32>,
    /// Free slots by usable bank, and whose turn it is.
    free: Vec<(u16, VecDeque<u16>)>,
    turn: usize,
    channels: Vec<ChannelLoad>,
    homes: HashMap<u32, Address>,
    /// Output limbs of a value that are not stored yet.
    outputs: HashMap<u32, VecDeque<u32>>,
    dram: Vec<DramSlot>,
}

/// What a channel transfers.
#[derive(Debug)]
struct ChannelLoad {
    channel: u16,
    /// Cycles for a vector.
    span: u64,
    /// Cycles so far.
    busy: u64,
}

impl<'a> Segmenter<'a> {
    /// Cuts off a segment whenever it has `size` instructions.
    pub fn new(
        flat: &'a FlatProgram,
        machine: &Resolved,
        topology: &Topology,
        size: usize,
    ) -> Self {
        let mut outputs: HashMap<u32, VecDeque<u32>> = HashMap::new();
        for (k, &value) in (0u32..).zip(&flat.outputs) {
            outputs.entry(value).or_default().push_back(k);
        }
        let slots = |bank: u16| (0..machine.banks[usize::from(bank)].slots).collect();
        let channels = topology.channels.iter().map(|&channel| ChannelLoad {
            channel,
            span: u64::from(machine.channels[usize::from(channel)].span).max(1),
            busy: 0,
        });
        Self {
            flat,
            size,
            numbers: vec![NONE; flat.value_count()],
            open: Segment::default(),
            instructions: 0,
            values: Vec::new(),
            free: topology.banks.iter().map(|&b| (b, slots(b))).collect(),
            turn: 0,
            channels: channels.collect(),
            homes: HashMap::new(),
            outputs,
            dram: Vec::new(),
        }
    }

    /// Takes the next step; returns a segment if that ends one.
    pub fn step(&mut self, step: Step) -> Option<Segment> {
        let starts = matches!(step, Step::Load(_) | Step::Compute(_));
        let full = starts && self.instructions >= self.size;
        let ended = full.then(|| self.cut());
        let action = match step {
            Step::Load(value) => {
                let address = self.home(value);
                Action::Load(self.enter(value), address)
            }
            Step::Store(value) => Action::Store(self.number(value), self.destination(value)),
            Step::Evict(value) => {
                let number = self.number(value);
                self.numbers[value as usize] = NONE;
                self.release(self.open.places[number as usize]);
                Action::Evict(number)
            }
            Step::Compute(inst) => Action::Compute(self.instruction(inst as usize)),
        };
        self.open.actions.push(action);
        ended
    }

    /// The last segment, and all slots off-chip.
    pub fn finish(mut self) -> (Segment, Vec<DramSlot>) {
        // Inputs that nothing reads have a slot off-chip all the same.
        let channel = self.channels[0].channel;
        for value in unread_inputs(self.flat.inputs.len() as u32, &self.homes) {
            let content = DramContent::Input(value);
            self.dram.push(DramSlot { channel, content });
        }
        (self.open, self.dram)
    }

    /// Ends the segment: what is on the chip stays where it is.
    fn cut(&mut self) -> Segment {
        let mut ended = std::mem::take(&mut self.open);
        let values = std::mem::take(&mut self.values);
        self.instructions = 0;
        for (number, &value) in (0u32..).zip(&values) {
            if self.numbers[value as usize] == number {
                ended.actions.push(Action::Keep(number));
                self.open.places.push(ended.places[number as usize]);
                self.values.push(value);
            }
        }
        for (number, &value) in (0u32..).zip(&self.values) {
            self.numbers[value as usize] = number;
        }
        self.open.found = self.values.len() as u32;
        ended
    }

    /// The number of a value on the chip.
    fn number(&self, value: u32) -> u32 {
        let number = self.numbers[value as usize];
        debug_assert_ne!(number, NONE, "used while absent");
        number
    }

    /// Gives a value a number and a place.
    fn enter(&mut self, value: u32) -> u32 {
        let number = self.values.len() as u32;
        self.values.push(value);
        self.numbers[value as usize] = number;
        let place = self.take();
        self.open.places.push(place);
        number
    }

    fn instruction(&mut self, inst: usize) -> Instruction {
        self.instructions += 1;
        let (sources, count) = distinct_sources(self.flat, inst);
        let field = |source: u32| {
            let operand = sources[..count].iter().position(|&s| s == source);
            operand.map_or(Instruction::NO_OPERAND, |k| k as u8)
        };
        let fields = self.flat.src[inst].map(field);
        let mut operands = [NONE; 3];
        for (operand, &source) in operands.iter_mut().zip(&sources[..count]) {
            *operand = self.number(source);
        }
        Instruction {
            op: self.flat.op[inst],
            fields,
            modulus: self.flat.modulus[inst],
            imm: self.flat.imm[inst],
            operands,
            result: self.enter(self.flat.result(inst)),
        }
    }

    /// Takes a place of the next bank that has one.
    fn take(&mut self) -> Place {
        for _ in 0..self.free.len() {
            self.turn = (self.turn + 1) % self.free.len();
            let (bank, slots) = &mut self.free[self.turn];
            if let Some(slot) = slots.pop_front() {
                return Place { bank: *bank, slot };
            }
        }
        panic!("the plan never holds more values than slots")
    }

    /// Gives a place back.
    fn release(&mut self, place: Place) {
        let bank = self.free.iter_mut().find(|(bank, _)| *bank == place.bank);
        bank.expect("values lie in usable banks")
            .1
            .push_back(place.slot);
    }

    /// Where a value is loaded from.
    fn home(&mut self, value: u32) -> Address {
        if let Some(&home) = self.homes.get(&value) {
            let mut channels = self.channels.iter_mut();
            let channel = channels.find(|load| load.channel == home.channel);
            let channel = channel.expect("homes are at used channels");
            channel.busy += channel.span;
            return home;
        }
        let home = self.slot(DramContent::Input(value));
        self.homes.insert(value, home);
        home
    }

    /// Where a value is stored to: its next output limb, or for the time being.
    fn destination(&mut self, value: u32) -> Address {
        let output = self.outputs.get_mut(&value).and_then(VecDeque::pop_front);
        let address = self.slot(output.map_or(DramContent::Spill, DramContent::Output));
        self.homes.entry(value).or_insert(address);
        address
    }

    /// A new slot off-chip, for a transfer.
    fn slot(&mut self, content: DramContent) -> Address {
        let least = self.channels.iter_mut().min_by_key(|load| load.busy);
        let load = least.expect("a topology has a channel");
        load.busy += load.span;
        let (channel, index) = (load.channel, self.dram.len() as u32);
        self.dram.push(DramSlot { channel, content });
        Address { channel, index }
    }
}
