//! What can go wrong in phase 1.

use cyclotron_program::ProgramError;
use cyclotron_schemes::ParameterError;

/// A program that cannot be lowered.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LowerError {
    /// The program itself, or the chain it gets.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The parameters.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// The parameters are for another ring or scheme.
    #[error("the program is written for {program}, but the parameters are for {parameters}")]
    Mismatch {
        /// Scheme and ring of the program.
        program: String,
        /// Scheme and ring of the parameters.
        parameters: String,
    },
    /// A key-switch variant that the target or the parameters do not have.
    #[error("key-switch variant {variant} is not available: {why}")]
    Variant {
        /// The variant.
        variant: &'static str,
        /// Why, and what to change.
        why: String,
    },
    /// Polynomials that cannot be split into the machine's vectors.
    #[error("polynomials cannot be split into vectors of 2^{log_n} words: {why}")]
    Parts {
        /// log2 of the words of a vector.
        log_n: u32,
        /// Why, and what to change.
        why: String,
    },
    /// No parameters satisfy the program.
    #[error(
        "no parameters with at most {limbs} {} run this program at {security}-bit security; the longest that was tried fails with: {last}",
        if *limbs == 1 { "limb" } else { "limbs" }
    )]
    NoParameters {
        /// Data limbs that were tried.
        limbs: usize,
        /// The wished security.
        security: u32,
        /// What the last candidate failed with.
        last: String,
    },
}
