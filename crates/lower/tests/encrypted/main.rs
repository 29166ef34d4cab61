//! Lowered programs, run encrypted.

mod harness;
mod operations;
mod parameters;
