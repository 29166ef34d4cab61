//! Machine descriptions.

mod resolved;

pub use resolved::{Bank, Channel, OpTiming, RegFile, Resolved, UnitKind, Xbar, XbarKind};
