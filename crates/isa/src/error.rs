//! What can be wrong with a limb program.

use crate::op::Op;

/// A fault in a limb program, a movement plan or a schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IsaError {
    /// An operand names a value that is not defined yet.
    #[error("{place}: operand %{value} is not defined before its use")]
    UndefinedValue {
        /// Where, for example `procedure mul[l=4], instruction 7`.
        place: String,
        /// The local or global value number.
        value: u32,
    },
    /// An operand has the wrong domain or belongs to a prime the operation may not read.
    #[error("{place}: {op} needs {expected}, but operand %{value} is {found}")]
    WrongType {
        /// Where.
        place: String,
        /// The operation.
        op: Op,
        /// The operand.
        value: u32,
        /// What the operation accepts.
        expected: String,
        /// What the operand is.
        found: String,
    },
    /// A call passes the wrong number of arguments or an argument of the wrong type.
    #[error("call {call} of {procedure}: {why}")]
    BadCall {
        /// Index of the call.
        call: usize,
        /// Name of the procedure.
        procedure: String,
        /// What does not fit.
        why: String,
    },
    /// A table entry is out of range: modulus, constant, operand pool, name.
    #[error("{place}: {what} {index} is out of range (there are {count})")]
    OutOfRange {
        /// Where.
        place: String,
        /// Which table.
        what: &'static str,
        /// The index that was used.
        index: u64,
        /// The size of the table.
        count: u64,
    },
    /// An operand of an instruction is not acceptable for another reason.
    #[error("{place}: {why}")]
    Invalid {
        /// Where.
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
    /// A movement plan holds more values than fit.
    #[error("step {step}: {live} values are held where {capacity} fit")]
    OverCapacity {
        /// Index of the step.
        step: usize,
        /// Vectors held.
        live: u64,
        /// Vectors that fit.
        capacity: u64,
    },
    /// A value that an instruction or output needs is not where it should be.
    #[error("{place}: value %{value} is not present")]
    NotPresent {
        /// Where.
        place: String,
        /// The flat value.
        value: u32,
    },
}
