//! Machines and programs for the compiler's tests.
#![expect(dead_code, reason = "every test binary uses another part")]

pub mod machines;
pub mod programs;
