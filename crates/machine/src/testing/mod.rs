//! Random machines, a naive scheduler, one small schedule by hand, an index of what belongs
//! together in a schedule, and its re-timing for another machine, for tests of other crates
//! (feature `testing`).
//!
//! The scheduler is no compiler: it takes instructions in order, chooses
//! clusters, banks and victims at random, and starts everything at the earliest
//! cycle that the contract of [`crate::Resolved`] allows. That gives legal
//! schedules that are tight in every constraint, written independently of the
//! compiler, the checker and the simulator.

mod index;
mod machines;
mod moves;
mod retiming;
mod scheduler;
mod state;
mod sum;
mod turns;

pub use index::{Access, Life, Memory, Origin, ScheduleIndex, Site, busy, entries, port_of, ports};
pub use machines::random_resolved;
pub use retiming::retime;
pub use scheduler::schedule_naively;
pub use sum::{SUM_PRIME, SUM_SCHEDULE, sum_machine, sum_program};
