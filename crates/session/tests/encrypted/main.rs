//! Every homomorphic operation, run encrypted.

mod operations;
