//! An independent proof that a schedule is legal and computes its limb program.
//!
//! The checker replays the streams symbolically, in the order of their cycles.
//! Values are *classes*: instructions of the program that compute the same
//! thing from the same operands are one class. Every slot of every register
//! file, bank and off-chip memory holds a class from the cycle in which its
//! chunks arrive; every stream on a link carries one. The replay fails at the
//! first entry that
//! - its component cannot execute, or cannot execute yet (unit, port or channel
//!   busy, slot or link that does not exist),
//! - meets so many others in a bank of a register file that it cannot be served,
//! - takes a stream where none arrives in exactly that cycle, or sends one that
//!   nobody takes,
//! - reads chunks before they are written, after they are overwritten, or at all
//!   where nothing was written,
//! - computes what is no instruction of the program,
//! - stores into an input's slot, or another value than the output's into an output's.
//!
//! At the end every output's slot holds its value and the stated number of
//! cycles is true. Timing is that of [`cyclotron_machine::Resolved`].
//!
//! Which instruction a unit should execute is not written in a schedule, so an
//! entry is right if its result is *some* value of the program: computing a
//! value twice, or `b + a` for `a + b`, is no fault.
//!
//! # Cost
//! Constant time an entry. Memory: the entries of a stretch of time, some 400 KiB, and
//! 12 bytes a value of the program.

mod classes;
mod components;
mod dram;
mod error;
mod ports;
mod replay;
mod slot;
mod timeline;
mod turns;
mod wires;

pub use error::{CheckError, Fault, Place};
pub use replay::{CheckReport, check};
