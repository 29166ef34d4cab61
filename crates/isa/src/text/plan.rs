//! The text form of movement plans; see [`parse_plan`].

use std::fmt::Write;

use super::line::Lines;
use crate::error::IsaError;
use crate::movement::{MovementPlan, Step, Traffic};

/// The classes of traffic in the order of the text form.
const CLASSES: [&str; 7] = [
    "hints_compulsory",
    "hints_other",
    "inputs_compulsory",
    "inputs_other",
    "outputs",
    "intermediate_loads",
    "intermediate_stores",
];

fn counts(traffic: &mut Traffic) -> [&mut u64; 7] {
    [
        &mut traffic.hints_compulsory,
        &mut traffic.hints_other,
        &mut traffic.inputs_compulsory,
        &mut traffic.inputs_other,
        &mut traffic.outputs,
        &mut traffic.intermediate_loads,
        &mut traffic.intermediate_stores,
    ]
}

/// Prints a movement plan; [`parse_plan`] reads back an equal one.
#[must_use]
pub fn print_plan(plan: &MovementPlan) -> String {
    let mut text = format!("movement_plan {}\n", plan.capacity);
    let mut traffic = plan.traffic;
    for (class, count) in CLASSES.iter().zip(counts(&mut traffic)) {
        writeln!(text, "traffic {class} {count}").expect("writing into a string succeeds");
    }
    for step in &plan.steps {
        let (word, number) = match step {
            Step::Load(value) => ("load $", value),
            Step::Store(value) => ("store $", value),
            Step::Evict(value) => ("evict $", value),
            Step::Compute(inst) => ("compute ", inst),
        };
        text.push_str(word);
        text.push_str(&number.to_string());
        text.push('\n');
    }
    text
}

/// Reads a movement plan: its capacity in vectors, the traffic that it states,
/// then one step a line. `$` precedes values of the flat program.
///
/// ```text
/// movement_plan 1024
/// traffic hints_compulsory 12
/// load $0
/// compute 0
/// store $1
/// evict $1
/// ```
///
/// # Errors
/// [`IsaError::Parse`] with the line. Whether the plan is possible is for
/// [`crate::interpret_plan`] to say.
pub fn parse_plan(text: &str) -> Result<MovementPlan, IsaError> {
    let mut lines = Lines::new(text);
    let mut plan = MovementPlan::default();
    let mut begun = false;
    while let Some(mut line) = lines.next_line() {
        let word = line.word().unwrap_or_default();
        if begun == (word == "movement_plan") {
            return line.fail("a plan begins with its one `movement_plan CAPACITY`");
        }
        match word {
            "movement_plan" => {
                plan.capacity = line.number_of("a capacity")?;
                begun = true;
            }
            "traffic" => {
                let class = line.word().unwrap_or_default();
                let Some(index) = CLASSES.iter().position(|&c| c == class) else {
                    let known = CLASSES.join(", ");
                    return line.fail(format!("`{class}` is none of {known}"));
                };
                *counts(&mut plan.traffic)[index] = line.number_of("a number of vectors")?;
            }
            "load" => plan.steps.push(Step::Load(line.prefixed("$", "a value")?)),
            "store" => plan.steps.push(Step::Store(line.prefixed("$", "a value")?)),
            "evict" => plan.steps.push(Step::Evict(line.prefixed("$", "a value")?)),
            "compute" => plan
                .steps
                .push(Step::Compute(line.number_of("an instruction")?)),
            other => return line.fail(format!("unknown step `{other}`")),
        }
        line.end()?;
    }
    if begun {
        return Ok(plan);
    }
    Err(IsaError::Parse {
        line: lines.number(),
        why: "the plan lacks its `movement_plan CAPACITY`".to_owned(),
    })
}
