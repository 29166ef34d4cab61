//! Off-chip memory as the schedule declares it.

use cyclotron_isa::{DramContent, FlatProgram, NONE, Schedule};
use cyclotron_machine::Resolved;

use crate::error::CheckError;
use crate::slot::Slot;

/// The off-chip slots with their inputs, and the slot of every output.
pub(crate) fn declare_dram(
    program: &FlatProgram,
    schedule: &Schedule,
    machine: &Resolved,
) -> Result<(Vec<Slot>, Vec<u32>), CheckError> {
    let mut slots = Vec::with_capacity(schedule.dram.len());
    let mut input_seen = vec![false; program.inputs.len()];
    let mut output_slot = vec![NONE; program.outputs.len()];
    for (index, declared) in schedule.dram.iter().enumerate() {
        let fault = |why: String| Err(CheckError::Dram { slot: index, why });
        if usize::from(declared.channel) >= machine.channels.len() {
            return fault(format!("channel {} does not exist", declared.channel));
        }
        slots.push(match declared.content {
            DramContent::Input(input) => {
                match input_seen.get_mut(input as usize) {
                    None => return fault(format!("the program has no input limb {input}")),
                    Some(true) => return fault(format!("input limb {input} has a slot already")),
                    Some(seen) => *seen = true,
                }
                Slot::holding(input)
            }
            DramContent::Output(output) => {
                match output_slot.get_mut(output as usize) {
                    None => return fault(format!("the program has no output limb {output}")),
                    Some(&mut NONE) => output_slot[output as usize] = index as u32,
                    Some(_) => return fault(format!("output limb {output} has a slot already")),
                }
                Slot::default()
            }
            DramContent::Spill => Slot::default(),
        });
    }
    match output_slot.iter().position(|&slot| slot == NONE) {
        Some(output) => Err(CheckError::Output {
            output,
            why: "it has no off-chip slot".to_owned(),
        }),
        None => Ok((slots, output_slot)),
    }
}
