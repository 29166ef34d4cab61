//! The reference interpreter of movement plans: a scratchpad of bounded size
//! beside off-chip memory.

use std::collections::HashMap;
use std::sync::Arc;

use cyclotron_ring::{LimbBuf, Ring, Word};

use crate::error::IsaError;
use crate::flat::FlatProgram;
use crate::kernel::{self, Operation};
use crate::movement::{MovementPlan, Step, TrafficClass};
use crate::provider::{ExecuteError, InputProvider, fetch};

type Limb<W> = Arc<LimbBuf<W>>;

/// Executes a movement plan; returns the output limbs in the program's order,
/// as off-chip memory holds them at the end.
///
/// # Errors
/// [`ExecuteError`], above all
/// - [`IsaError::OverCapacity`] if the scratchpad would hold more than `plan.capacity` values,
/// - [`IsaError::NotPresent`] if a step reads or evicts a value that is not in
///   the scratchpad, loads one that is not off-chip, or an output was not stored,
/// - [`IsaError::Invalid`] if a value is brought into the scratchpad twice or the
///   traffic that the plan states is not that of its steps.
pub fn interpret_plan<W: Word>(
    program: &FlatProgram,
    plan: &MovementPlan,
    ring: &Ring<W>,
    inputs: &dyn InputProvider<W>,
) -> Result<Vec<LimbBuf<W>>, ExecuteError> {
    program.check_ring(ring)?;
    check_traffic(program, plan)?;
    let mut machine = Machine {
        program,
        ring,
        inputs,
        capacity: plan.capacity as usize,
        scratchpad: HashMap::new(),
        off_chip: HashMap::new(),
    };
    for (index, &step) in plan.steps.iter().enumerate() {
        machine.step(index, step)?;
    }
    program
        .outputs
        .iter()
        .map(|value| match machine.off_chip.get(value) {
            Some(limb) => Ok(LimbBuf::clone(limb)),
            None => Err(not_present("outputs in off-chip memory".to_owned(), *value)),
        })
        .collect()
}

fn not_present(place: String, value: u32) -> ExecuteError {
    IsaError::NotPresent { place, value }.into()
}

struct Machine<'a, W: Word> {
    program: &'a FlatProgram,
    ring: &'a Ring<W>,
    inputs: &'a dyn InputProvider<W>,
    capacity: usize,
    scratchpad: HashMap<u32, Limb<W>>,
    /// Values that were stored; inputs are there from the start.
    off_chip: HashMap<u32, Limb<W>>,
}

impl<W: Word> Machine<'_, W> {
    fn step(&mut self, index: usize, step: Step) -> Result<(), ExecuteError> {
        let absent = |what: &str, value| not_present(format!("step {index}, {what}"), value);
        match step {
            Step::Load(value) => {
                let limb = match self.program.inputs.get(value as usize) {
                    Some(&input) => fetch(self.inputs, input, self.ring)?,
                    None => match self.off_chip.get(&value) {
                        Some(limb) => Arc::clone(limb),
                        None => return Err(absent("load", value)),
                    },
                };
                self.place(index, value, limb)
            }
            Step::Store(value) => {
                let limb = self.scratchpad.get(&value);
                let limb = limb.ok_or_else(|| absent("store", value))?;
                self.off_chip.insert(value, Arc::clone(limb));
                Ok(())
            }
            Step::Evict(value) => match self.scratchpad.remove(&value) {
                Some(_) => Ok(()),
                None => Err(absent("evict", value)),
            },
            Step::Compute(inst) => self.compute(index, inst as usize),
        }
    }

    fn compute(&mut self, index: usize, inst: usize) -> Result<(), ExecuteError> {
        let program = self.program;
        if inst >= program.len() {
            let error = IsaError::OutOfRange {
                place: format!("step {index}"),
                what: "instruction",
                index: inst as u64,
                count: program.len() as u64,
            };
            return Err(error.into());
        }
        let operation = Operation {
            op: program.op[inst],
            modulus: program.modulus[inst],
            scalar: match program.op[inst].has_constant() {
                true => program.constant(inst),
                false => u64::from(program.imm[inst]),
            },
        };
        let srcs = program
            .sources(inst)
            .map(|value| match self.scratchpad.get(&value) {
                Some(limb) => Ok(&***limb),
                None => Err(not_present(format!("step {index}, compute {inst}"), value)),
            })
            .collect::<Result<Vec<&[W]>, _>>()?;
        let mut dst = LimbBuf::zeroed(self.ring.n());
        kernel::apply(self.ring, operation, &mut dst, &srcs);
        self.place(index, program.result(inst), Arc::new(dst))
    }

    fn place(&mut self, step: usize, value: u32, limb: Limb<W>) -> Result<(), ExecuteError> {
        if self.scratchpad.insert(value, limb).is_some() {
            let error = IsaError::Invalid {
                place: format!("step {step}"),
                why: format!("value %{value} is in the scratchpad already"),
            };
            return Err(error.into());
        }
        if self.scratchpad.len() > self.capacity {
            let error = IsaError::OverCapacity {
                step,
                live: self.scratchpad.len() as u64,
                capacity: self.capacity as u64,
            };
            return Err(error.into());
        }
        Ok(())
    }
}

/// The traffic that a plan states is that of its steps.
fn check_traffic(program: &FlatProgram, plan: &MovementPlan) -> Result<(), IsaError> {
    let mut loads: HashMap<u32, u64> = HashMap::new();
    let mut stores = 0;
    for step in &plan.steps {
        match step {
            Step::Load(value) => *loads.entry(*value).or_default() += 1,
            Step::Store(_) => stores += 1,
            Step::Evict(_) | Step::Compute(_) => {}
        }
    }
    let mut found = [0u64; 5];
    for (&value, &count) in &loads {
        match program.inputs.get(value as usize) {
            Some(input) => {
                let class = match input.source.traffic_class() {
                    TrafficClass::Hints => 0,
                    TrafficClass::InputsOutputs | TrafficClass::Intermediates => 2,
                };
                found[class] += 1;
                found[class + 1] += count - 1;
            }
            None => found[4] += count,
        }
    }
    let t = plan.traffic;
    let stated = [
        t.hints_compulsory,
        t.hints_other,
        t.inputs_compulsory,
        t.inputs_other,
        t.intermediate_loads,
    ];
    if stated == found && t.outputs + t.intermediate_stores == stores {
        return Ok(());
    }
    Err(IsaError::Invalid {
        place: "traffic of the movement plan".to_owned(),
        why: format!(
            "it states loads {stated:?} and {} stores, but its steps make {found:?} and {stores}",
            t.outputs + t.intermediate_stores
        ),
    })
}
