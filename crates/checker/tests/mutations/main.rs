//! Mutated schedules. Faults in schedules of real programs are rejected; whatever
//! else is done to schedules of random programs, what the checker accepts computes
//! the right limbs, and nearly everything that it rejects computes wrong ones when
//! it is simulated anyway.

mod against_simulator;
mod arbitrary;
mod case;
mod draft;
mod edits;
mod faults;
mod programs;
mod real_programs;
