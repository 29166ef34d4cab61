//! Why a request cannot be served.

use std::path::PathBuf;

use cyclotron_ring::RingError;
use cyclotron_schemes::{ParameterError, SchemeError};
use cyclotron_session::SessionError;
use cyclotron_wire::WireError;

/// What stands in the way of a measurement. Answered as `{"error": ...}`.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// A case that the suite does not have.
    #[error("there is no case {0:?} in this suite")]
    UnknownCase(String),
    /// A line that is no request.
    #[error("not a request: {0}; see benches/README.md")]
    Request(String),
    /// A request that the suite does not know.
    #[error("{0}")]
    Unsupported(&'static str),
    /// A file of a program.
    #[error("{path}: {why}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// What the session reports.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// What the schemes report.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// Parameters.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// What the ring reports.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// Bytes that do not decode.
    #[error(transparent)]
    Wire(#[from] WireError),
}
