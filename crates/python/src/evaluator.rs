//! The side that computes.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cyclotron_ring::Simd;
use cyclotron_session::{Context, Evaluator, RunStats, SessionError, Simulated};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays;
use crate::error::{CyclotronError, raise};
use crate::parameters::PyParameters;
use crate::plan::PyPlan;
use crate::progress::{Callback, interruptible};
use crate::schedule::{self, PySchedule};
use crate::stored::{PyCiphertext, PyEvaluationKeys, ciphertexts, named};

/// Evaluates programs on ciphertexts; holds evaluation keys only.
#[pyclass(name = "Evaluator", module = "cyclotron._native", frozen)]
#[derive(Debug)]
pub struct PyEvaluator {
    evaluator: Arc<Evaluator>,
}

type Outputs = BTreeMap<String, PyCiphertext>;

#[pymethods]
impl PyEvaluator {
    #[new]
    #[pyo3(signature = (parameters, keys, threads=0, simd=None))]
    fn new(
        py: Python<'_>,
        parameters: &PyParameters,
        keys: &PyEvaluationKeys,
        threads: usize,
        simd: Option<&str>,
    ) -> PyResult<Self> {
        let simd = simd.map(|name| {
            let simd = name.parse::<Simd>().and_then(Simd::require);
            simd.map_err(|error| CyclotronError::new_err(error.to_string()))
        });
        let simd = simd.transpose()?;
        let make = || -> Result<Evaluator, SessionError> {
            let context = match simd {
                Some(simd) => Arc::new(Context::with_simd(Arc::clone(&parameters.params), simd)?),
                None => parameters.context()?,
            };
            Evaluator::new(context, &keys.keys, threads)
        };
        Ok(PyEvaluator {
            evaluator: Arc::new(py.detach(make).map_err(raise)?),
        })
    }

    /// Does beforehand what every run of a program shares: encodes its constant
    /// operands, expands its keys, plans its procedures.
    fn prepare(&self, py: Python<'_>, plan: &PyPlan) -> PyResult<()> {
        py.detach(|| self.evaluator.prepare(&plan.plan))
            .map_err(raise)
    }

    /// Evaluates a program on the CPU; returns the outputs and what it took. An
    /// interrupt abandons it.
    fn run<'py>(
        &self,
        py: Python<'py>,
        plan: &PyPlan,
        inputs: &Bound<'py, PyDict>,
        plains: &Bound<'py, PyDict>,
    ) -> PyResult<(Outputs, Bound<'py, PyDict>)> {
        let (inputs, plains) = (ciphertexts(inputs)?, arrays::named_values(plains)?);
        let run = |stop: &AtomicBool| {
            let watch = |_| match stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            };
            self.evaluator
                .run(&plan.plan, &inputs, &plains, Some(&watch))
        };
        let (outputs, stats) = interruptible(py, run)?.map_err(raise)?;
        Ok((named(outputs), stats_dict(py, &stats)?))
    }

    /// Evaluates a program with the reference interpreter.
    fn interpret(
        &self,
        py: Python<'_>,
        plan: &PyPlan,
        inputs: &Bound<'_, PyDict>,
        plains: &Bound<'_, PyDict>,
    ) -> PyResult<Outputs> {
        let (inputs, plains) = (ciphertexts(inputs)?, arrays::named_values(plains)?);
        let run = || self.evaluator.interpret(&plan.plan, &inputs, &plains);
        Ok(named(py.detach(run).map_err(raise)?))
    }

    /// Executes a schedule on the simulated machine; returns the outputs and what it took.
    #[pyo3(signature = (schedule, inputs, plains, progress=None))]
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        schedule: &PySchedule,
        inputs: &Bound<'py, PyDict>,
        plains: &Bound<'py, PyDict>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Outputs, Bound<'py, PyDict>)> {
        let (inputs, plains) = (ciphertexts(inputs)?, arrays::named_values(plains)?);
        let callback = Callback::new(progress);
        let run = || {
            let report = |fraction| callback.report("simulating", fraction);
            self.evaluator
                .simulate(&schedule.schedule, &inputs, &plains, &report)
        };
        let simulated = py.detach(run);
        callback.raised()?;
        let (outputs, simulated) = simulated.map_err(raise)?;
        Ok((named(outputs), simulated_dict(py, &simulated)?))
    }
}

/// Violations that are shown; all are counted.
const SHOWN_VIOLATIONS: usize = 10;

fn simulated_dict<'py>(py: Python<'py>, simulated: &Simulated) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("seconds", simulated.seconds)?;
    dict.set_item("cycles", simulated.cycles)?;
    dict.set_item("milliseconds", simulated.milliseconds)?;
    dict.set_item("traffic_bytes", schedule::traffic(py, &simulated.traffic)?)?;
    dict.set_item("violations", simulated.violation_count)?;
    let first: Vec<String> = simulated
        .violations
        .iter()
        .take(SHOWN_VIOLATIONS)
        .map(ToString::to_string)
        .collect();
    dict.set_item("first_violations", first)?;
    Ok(dict)
}

fn stats_dict<'py>(py: Python<'py>, stats: &RunStats) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("seconds", stats.seconds)?;
    dict.set_item("provider_seconds", stats.provider_seconds)?;
    dict.set_item("instructions", stats.instructions)?;
    dict.set_item("calls", stats.calls)?;
    dict.set_item("peak_bytes", stats.peak_bytes)?;
    dict.set_item("threads", stats.threads)?;
    Ok(dict)
}
