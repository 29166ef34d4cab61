//! What a user does with programs: choose parameters, lower, make keys,
//! encrypt, evaluate, decrypt; compile for machines, check and simulate schedules.
//!
//! The [`Client`] holds the secret key; the [`Encryptor`] holds the public key, and the
//! [`Evaluator`] evaluation keys only. What passes between them ([`StoredCiphertext`], [`EvaluationKeys`],
//! programs) can be files. Front ends, such as the Python package and a
//! service, use this crate and nothing below it.

mod bundle;
mod client;
mod encryption;
mod encryptor;
mod error;
mod evaluator;
mod interface;
mod operands;
mod plan;
mod schedule;
mod stored;
mod target;
mod values;

pub use bundle::Notes;
pub use client::Client;
pub use cyclotron_checker::CheckReport;
pub use cyclotron_compiler::{
    LowerBound, Options as CompileOptions, Phase as CompilePhase, Phase2,
};
pub use cyclotron_lower::Wish;
pub use cyclotron_machine::Machine;
pub use cyclotron_program::{Graph, HeOp, KeySwitch, PlainOperand, Scheme as ProgramScheme, Span};
pub use cyclotron_runtime::RunStats;
pub use cyclotron_schemes::{Context, Parameters, Scheme};
pub use encryptor::{Encryptor, PublicKey};
pub use error::SessionError;
pub use evaluator::{Ciphertexts, Evaluator, Plaintexts, Watch};
pub use interface::Interface;
pub use plan::{DEFAULT_PRECISION_BITS, Plan, choose_parameters};
pub use schedule::{MachineSchedule, ScheduleReport, Simulated};
pub use stored::{EvaluationKeys, StoredCiphertext};
pub use target::{keyswitch, phase2};
pub use values::Values;
