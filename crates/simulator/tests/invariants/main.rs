//! What holds for every schedule, on random programs and random machines.

mod cases;
mod conservation;
mod order;
mod sandwich;
mod wider;
