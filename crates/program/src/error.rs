//! What can be wrong with an HE program.

/// A fault in a program, with the user's line and a fix.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProgramError {
    /// The program runs out of limbs.
    #[error(
        "{place}: {op} needs a level that the chain does not have ({limbs} limbs, log2 Q = {log_q:.0}): {fix}"
    )]
    OutOfLevels {
        /// `file:line`.
        place: String,
        /// The operation.
        op: String,
        /// Data limbs of the chain.
        limbs: usize,
        /// log2 of the ciphertext modulus.
        log_q: f64,
        /// What to change.
        fix: String,
    },
    /// A value does not fit the modulus that is left.
    #[error(
        "{place}: the result of {op} needs {needs:.1} bits, but only {has:.1} are left at level {level}: {fix}"
    )]
    Overflow {
        /// `file:line`.
        place: String,
        /// The operation.
        op: String,
        /// log2 of scale times twice the magnitude (CKKS) or of the noise (BGV).
        needs: f64,
        /// log2 of the modulus at that level.
        has: f64,
        /// The level.
        level: usize,
        /// What to change.
        fix: String,
    },
    /// An output is less precise than asked for.
    #[error(
        "{place}: output `{output}` would be precise to {has:.1} bits where {needs:.1} are asked for: {fix}"
    )]
    Imprecise {
        /// `file:line`.
        place: String,
        /// The output's name.
        output: String,
        /// Predicted bits.
        has: f64,
        /// Wished bits.
        needs: f64,
        /// What to change.
        fix: String,
    },
    /// An operation that the scheme, or these operands, do not allow.
    #[error("{place}: {why}")]
    Invalid {
        /// `file:line`.
        place: String,
        /// What is wrong and what to change.
        why: String,
    },
    /// The text form could not be read.
    #[error("line {line}: {why}")]
    Parse {
        /// 1-based line.
        line: usize,
        /// What was expected.
        why: String,
    },
}
