//! Python bindings, and nothing else: every function converts its arguments,
//! releases the interpreter lock, calls the session and converts the result.
//! `python/cyclotron/_native.pyi` is the interface.

mod arrays;
mod client;
mod doctor;
mod encryptor;
mod error;
mod evaluator;
mod graph;
mod machine;
mod parameters;
mod plan;
mod progress;
mod schedule;
mod stored;

/// The compiled part of the package.
#[pyo3::pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::client::PyClient;
    #[pymodule_export]
    use crate::doctor::doctor;
    #[pymodule_export]
    use crate::encryptor::{PyEncryptor, PyPublicKey};
    #[pymodule_export]
    use crate::error::{
        CheckError, CyclotronError, DoesNotFitError, FormatError, KeyMismatchError, MachineError,
        ParameterError, ProgramError, SimulationError,
    };
    #[pymodule_export]
    use crate::evaluator::PyEvaluator;
    #[pymodule_export]
    use crate::graph::PyGraph;
    #[pymodule_export]
    use crate::machine::PyMachine;
    #[pymodule_export]
    use crate::parameters::PyParameters;
    #[pymodule_export]
    use crate::plan::PyPlan;
    #[pymodule_export]
    use crate::schedule::PySchedule;
    #[pymodule_export]
    use crate::stored::{PyCiphertext, PyEvaluationKeys};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
