//! The movement plan as tasks with dependencies.

use std::cmp::Reverse;

use cyclotron_isa::{FlatProgram, MovementPlan, NONE, Step};

use crate::uses::{UseLists, distinct_sources};

/// Marks a user that is a store, not an instruction.
pub(super) const STORE: u32 = 1 << 31;

/// A load or store of a value that is on the chip after or before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crossing {
    pub stay: u32,
    pub value: u32,
}

/// The steps of a plan. A *stay* is the time that a value spends on the chip,
/// from a load or an instruction until its last use before an eviction.
#[derive(Debug)]
pub(super) struct Tasks {
    /// Stays of the distinct sources of every instruction.
    operands: Vec<[u32; 3]>,
    /// Stay that an instruction begins; [`NONE`] if it is not executed.
    pub result: Vec<u32>,
    /// Users of every stay in the order of the plan: instructions, or
    /// [`STORE`] with an index into `stores`.
    pub users: UseLists,
    /// Loads and stores in the order of the plan.
    pub loads: Vec<Crossing>,
    pub stores: Vec<Crossing>,
    pub stays: usize,
    /// Position of every instruction in the plan, among instructions and stores.
    pub rank: Vec<u32>,
    /// Least cycles from the start of an instruction to the end of the program.
    pub way: Vec<u32>,
}

impl Tasks {
    /// `delay` says how long an instruction takes to its result.
    pub fn new(flat: &FlatProgram, plan: &MovementPlan, delay: impl Fn(usize) -> u64) -> Self {
        let mut tasks = Self {
            operands: vec![[NONE; 3]; flat.len()],
            result: vec![NONE; flat.len()],
            users: UseLists::default(),
            loads: Vec::new(),
            stores: Vec::new(),
            stays: 0,
            rank: vec![u32::MAX; flat.len()],
            way: vec![0; flat.len()],
        };
        let order = tasks.follow(flat, plan);
        tasks.users = UseLists::collect(tasks.stays, |add| {
            for &user in &order {
                if user & STORE != 0 {
                    add(tasks.stores[(user & !STORE) as usize].stay, user);
                } else {
                    let operands = tasks.operands(user).iter();
                    operands.for_each(|&stay| add(stay, user));
                }
            }
        });
        for inst in (0..flat.len()).rev().filter(|&i| tasks.result[i] != NONE) {
            let delay = u32::try_from(delay(inst)).unwrap_or(u32::MAX);
            tasks.way[inst] = tasks.way_after(tasks.result[inst]).saturating_add(delay);
        }
        tasks
    }

    /// Collects the stays; returns instructions and stores in their order.
    fn follow(&mut self, flat: &FlatProgram, plan: &MovementPlan) -> Vec<u32> {
        let mut current = vec![NONE; flat.value_count()];
        let mut order = Vec::new();
        for &step in &plan.steps {
            match step {
                Step::Load(value) => {
                    let stay = self.begin(&mut current, value);
                    self.loads.push(Crossing { stay, value });
                }
                Step::Store(value) => {
                    let stay = current[value as usize];
                    order.push(STORE | self.stores.len() as u32);
                    self.stores.push(Crossing { stay, value });
                }
                Step::Evict(_) => {}
                Step::Compute(inst) => {
                    let index = inst as usize;
                    let (sources, count) = distinct_sources(flat, index);
                    for (operand, &source) in self.operands[index].iter_mut().zip(&sources[..count])
                    {
                        *operand = current[source as usize];
                    }
                    self.rank[index] = order.len() as u32;
                    order.push(inst);
                    self.result[index] = self.begin(&mut current, flat.result(index));
                }
            }
        }
        order
    }

    fn begin(&mut self, current: &mut [u32], value: u32) -> u32 {
        let stay = self.stays as u32;
        self.stays += 1;
        current[value as usize] = stay;
        stay
    }

    /// Whether the plan has an instruction.
    pub fn is_executed(&self, inst: usize) -> bool {
        self.result[inst] != NONE
    }

    /// The stays that an instruction reads.
    pub fn operands(&self, inst: u32) -> &[u32] {
        let operands = &self.operands[inst as usize];
        let count = operands.iter().position(|&stay| stay == NONE);
        &operands[..count.unwrap_or(3)]
    }

    /// The longest way to the end from the users of a stay.
    fn way_after(&self, stay: u32) -> u32 {
        let users = self.users.of(stay).iter();
        let instructions = users.filter(|&&user| user & STORE == 0);
        let ways = instructions.map(|&user| self.way[user as usize]);
        ways.max().unwrap_or(0)
    }

    /// Orders the loads by the longest way from them to the end, if each is the
    /// only one of an input. Others have to keep their order.
    pub fn order_loads(&mut self, flat: &FlatProgram) {
        let mut seen = vec![false; flat.inputs.len()];
        for load in &self.loads {
            match seen.get_mut(load.value as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return,
            }
        }
        let mut loads = std::mem::take(&mut self.loads);
        loads.sort_by_key(|load| Reverse(self.way_after(load.stay)));
        self.loads = loads;
    }
}
