//! The steps of a plan as they are decided, with their traffic.

use cyclotron_isa::{FlatProgram, MovementPlan, Step, Traffic, TrafficClass};

/// A plan under construction.
#[derive(Debug)]
pub(crate) struct Ledger {
    plan: MovementPlan,
}

impl Ledger {
    /// An empty plan for a scratchpad of `capacity` vectors.
    pub fn new(capacity: usize, instructions: usize) -> Self {
        Self {
            plan: MovementPlan {
                capacity: u32::try_from(capacity).unwrap_or(u32::MAX),
                steps: Vec::with_capacity(instructions * 2),
                traffic: Traffic::default(),
            },
        }
    }

    /// Loads a value, for the `first` time or again.
    pub fn load(&mut self, flat: &FlatProgram, value: u32, first: bool) {
        let traffic = &mut self.plan.traffic;
        let input = flat.inputs.get(value as usize);
        let class = input.map(|input| input.source.traffic_class());
        *match (class, first) {
            (Some(TrafficClass::Hints), true) => &mut traffic.hints_compulsory,
            (Some(TrafficClass::Hints), false) => &mut traffic.hints_other,
            (Some(_), true) => &mut traffic.inputs_compulsory,
            (Some(_), false) => &mut traffic.inputs_other,
            (None, _) => &mut traffic.intermediate_loads,
        } += 1;
        self.plan.steps.push(Step::Load(value));
    }

    /// Stores a value to so many output limbs, or spills it if to none.
    pub fn store(&mut self, value: u32, outputs: u32) {
        let traffic = &mut self.plan.traffic;
        traffic.outputs += u64::from(outputs);
        traffic.intermediate_stores += u64::from(outputs == 0);
        for _ in 0..outputs.max(1) {
            self.plan.steps.push(Step::Store(value));
        }
    }

    /// Frees a value's place.
    pub fn evict(&mut self, value: u32) {
        self.plan.steps.push(Step::Evict(value));
    }

    /// Executes an instruction.
    pub fn compute(&mut self, inst: usize) {
        self.plan.steps.push(Step::Compute(inst as u32));
    }

    /// The steps so far.
    pub fn steps(&self) -> &[Step] {
        &self.plan.steps
    }

    /// The plan.
    pub fn finish(self) -> MovementPlan {
        self.plan
    }
}
