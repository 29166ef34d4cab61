//! Every homomorphic operation, run encrypted.

mod hoisting;
mod operations;
