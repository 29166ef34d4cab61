//! Phases 2 and 3: legalization, movement, placement, and lower bounds.
//!
//! [`compile`] runs all of them: [`legalize`] expands what the machine lacks,
//! [`lower_bound`] says what no schedule can beat, [`plan_movement`] decides
//! all off-chip traffic, and [`place`] gives every component its stream.
//!
//! Phases work on structs of arrays with 32-bit indices; none allocates per
//! instruction, and each pass is at most n log n. Placement cuts long programs into
//! segments, or tries several policies, on all threads of the current pool (rayon's).
//! All are deterministic, whatever the number of threads.

mod abreast;
mod bound;
mod calendar;
mod compile;
mod dispatch;
mod error;
mod legalize;
mod movement;
mod place;
mod placement;
mod pressure;
mod stats;
mod topology;
mod turns;
mod uses;

pub use bound::{LowerBound, lower_bound};
pub use compile::{Compiled, Options, Phase, Phase2, compile};
pub use error::CompileError;
pub use legalize::legalize;
pub use movement::plan_movement;
pub use place::place;
pub use pressure::{MOST_INSTRUCTIONS, plan_by_pressure};
pub use stats::{CompileStats, PlacementStats};
