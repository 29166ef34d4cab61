//! The one map from Rust errors to Python exceptions.
//!
//! All derive from `CyclotronError`. A `ProgramError` about the user's line has
//! the attributes `file` and `line`.

use std::path::Path;

use cyclotron_compiler::CompileError;
use cyclotron_isa::ExecuteError;
use cyclotron_lower::LowerError;
use cyclotron_machine::MachineError as DescriptionError;
use cyclotron_program::ProgramError as GraphError;
use cyclotron_runtime::RuntimeError;
use cyclotron_schemes::SchemeError;
use cyclotron_session::SessionError;
use cyclotron_wire::WireError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;

create_exception!(
    cyclotron,
    CyclotronError,
    PyException,
    "What Cyclotron raises on purpose; the message says what to change."
);
create_exception!(
    cyclotron,
    ProgramError,
    CyclotronError,
    "The program cannot be run as written."
);
create_exception!(
    cyclotron,
    ParameterError,
    CyclotronError,
    "Parameters that cannot be used."
);
create_exception!(
    cyclotron,
    MachineError,
    CyclotronError,
    "A machine description is wrong or lacking."
);
create_exception!(
    cyclotron,
    DoesNotFitError,
    CyclotronError,
    "The program does not fit the machine."
);
create_exception!(
    cyclotron,
    KeyMismatchError,
    CyclotronError,
    "A key or ciphertext of other parameters."
);
create_exception!(
    cyclotron,
    FormatError,
    CyclotronError,
    "Stored bytes that cannot be read."
);
create_exception!(
    cyclotron,
    CheckError,
    CyclotronError,
    "A schedule that is not legal."
);
create_exception!(
    cyclotron,
    SimulationError,
    CyclotronError,
    "A schedule that cannot be simulated."
);

/// The exception for a session's error.
pub(crate) fn raise(error: SessionError) -> PyErr {
    let message = error.to_string();
    match &error {
        SessionError::Program(inner) | SessionError::Lower(LowerError::Program(inner)) => {
            program_error(inner, message)
        }
        SessionError::Isa(_)
        | SessionError::Compile(CompileError::Program(_))
        | SessionError::Execute(ExecuteError::Program(_))
        | SessionError::Runtime(RuntimeError::Execute(ExecuteError::Program(_))) => {
            ProgramError::new_err(message)
        }
        SessionError::Parameters(_)
        | SessionError::Lower(_)
        | SessionError::Listing1Alone { .. }
        | SessionError::Scheme(SchemeError::Parameters(_)) => ParameterError::new_err(message),
        SessionError::Machine(
            DescriptionError::UnsupportedDegree { .. }
            | DescriptionError::WordTooSmall { .. }
            | DescriptionError::NoSlots { .. }
            | DescriptionError::TooMany { .. },
        ) => DoesNotFitError::new_err(message),
        SessionError::Machine(_) | SessionError::Unsupported { .. } => {
            MachineError::new_err(message)
        }
        SessionError::OtherParameters { .. }
        | SessionError::MissingKey { .. }
        | SessionError::WrongInput { .. }
        | SessionError::Scheme(
            SchemeError::ParameterMismatch { .. } | SchemeError::BadKey { .. },
        )
        | SessionError::Wire(WireError::ParametersMismatch { .. }) => {
            KeyMismatchError::new_err(message)
        }
        SessionError::Compile(CompileError::Interrupted) => PyKeyboardInterrupt::new_err(message),
        SessionError::Compile(_) => DoesNotFitError::new_err(message),
        SessionError::Check(_) => CheckError::new_err(message),
        SessionError::Simulate(_) => SimulationError::new_err(message),
        SessionError::Wire(_) | SessionError::Bundle { .. } => FormatError::new_err(message),
        SessionError::Runtime(RuntimeError::Cancelled { .. }) => {
            PyKeyboardInterrupt::new_err(message)
        }
        _ => CyclotronError::new_err(message),
    }
}

/// The `OSError` of a file that the system refused: number, reason and file name, from
/// which Python chooses the class (`FileNotFoundError`, ...).
pub(crate) fn file_error(error: &std::io::Error, path: &Path) -> PyErr {
    let Some(number) = error.raw_os_error() else {
        return PyOSError::new_err(format!("{}: {error}", path.display()));
    };
    Python::attach(|py| {
        let reason = py
            .import("os")
            .and_then(|os| os.call_method1("strerror", (number,)))
            .and_then(|reason| reason.extract::<String>());
        let reason = reason.unwrap_or_else(|_| error.to_string());
        PyOSError::new_err((number, reason, path.display().to_string()))
    })
}

/// An error of the user's line, with its file and line.
fn program_error(error: &GraphError, message: String) -> PyErr {
    let place = match error {
        GraphError::OutOfLevels { place, .. }
        | GraphError::Overflow { place, .. }
        | GraphError::Imprecise { place, .. }
        | GraphError::Invalid { place, .. } => place.as_str(),
        _ => "",
    };
    let raised = ProgramError::new_err(message);
    if let Some((file, line)) = place.rsplit_once(':')
        && let Ok(line) = line.parse::<u32>()
    {
        Python::attach(|py| {
            let value = raised.value(py);
            // The attributes are a convenience: the message has both.
            let _ = value.setattr("file", file);
            let _ = value.setattr("line", line);
        });
    }
    raised
}
