//! Machine descriptions.
//!
//! A machine is a TOML file ([`Machine::load`]) or one of those that are built
//! in ([`Machine::shipped`]). Reading checks every key against the schema of
//! `docs/machine-schema.md` and reports all faults with their places. Overlays
//! ([`Machine::with_overlay`]) and edits ([`Machine::vary`]) give variants, which
//! are checked in the same way. [`Machine::resolve`] evaluates everything at one
//! ring degree; the compiler, the checker and the simulator see only that.
//!
//! Deliberately not here: any number that belongs to a machine, and scheduling.

mod budget;
mod consistency;
mod decode;
mod description;
mod diagnostic;
mod error;
mod formula;
mod machine;
mod overlay;
mod resolve;
mod resolved;
mod schema;
mod setting;
mod suggest;
#[cfg(feature = "testing")]
pub mod testing;
mod tree;
mod validate;
mod words;

pub use budget::{Budget, BudgetLine};
pub use description::{
    Bandwidth, Cluster, CompilerKnobs, Cost, Crossbar, Description, MachineLink, Moduli, Offchip,
    Param, Reach, RegisterFile, Scratchpad, Streams, System, Unit, UnitOp,
};
pub use diagnostic::{Code, Diagnostic, Diagnostics, Location};
pub use error::MachineError;
pub use formula::{Formula, FormulaError, Ratio, Scope};
pub use machine::{MAX_FILE_BYTES, Machine};
pub use resolved::{Bank, Channel, OpTiming, RegFile, Resolved, Turns, UnitKind, Xbar, XbarKind};
pub use schema::schema_reference;
pub use setting::Setting;
pub use words::{
    BuiltAs, Dataflow, Issue, KeySwitch, KeySwitchPolicy, OffchipPolicy, Order, SchemeName,
    StreamOwner,
};
