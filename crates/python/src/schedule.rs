//! Schedules for machines.

use std::fs::{File, Metadata};
use std::io::ErrorKind::{InvalidFilename, PermissionDenied};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cyclotron_isa::Traffic;
use cyclotron_session::{
    CompileOptions, CompilePhase, MachineSchedule, Notes, SessionError, phase2,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::{FormatError, file_error, raise};
use crate::machine::PyMachine;
use crate::plan::PyPlan;
use crate::progress::Callback;

/// A program compiled for a machine.
#[pyclass(name = "Schedule", module = "cyclotron._native", frozen)]
#[derive(Debug)]
pub struct PySchedule {
    pub(crate) schedule: Arc<MachineSchedule>,
    notes: Notes,
}

#[pymethods]
impl PySchedule {
    /// Compiles a plan for a machine.
    #[staticmethod]
    #[pyo3(signature = (plan, machine, *, effort=1, phase2="greedy", progress=None))]
    fn compile(
        py: Python<'_>,
        plan: &PyPlan,
        machine: &PyMachine,
        effort: u8,
        phase2: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let options = CompileOptions {
            effort,
            phase2: self::phase2(phase2).map_err(raise)?,
            ..CompileOptions::default()
        };
        let callback = Callback::new(progress);
        let schedule = py.detach(|| {
            let mut report = |phase, fraction| callback.report(phase_name(phase), fraction);
            MachineSchedule::compile(&plan.plan, &machine.machine, &options, &mut report)
        });
        callback.raised()?;
        Ok(PySchedule {
            schedule: Arc::new(schedule.map_err(raise)?),
            notes: Notes::new(),
        })
    }

    /// Proves the schedule legal and equal to its limb program; returns what it holds.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = py.detach(|| self.schedule.check()).map_err(raise)?;
        let dict = PyDict::new(py);
        dict.set_item("cycles", report.cycles)?;
        dict.set_item("entries", report.entries)?;
        dict.set_item("computes", report.computes)?;
        dict.set_item("loads", report.loads)?;
        dict.set_item("stores", report.stores)?;
        Ok(dict)
    }

    /// Writes machine, limb program and streams to a text file, with notes. A file that is
    /// there is replaced when all is written, and left alone where that fails.
    fn save(&self, py: Python<'_>, path: PathBuf, meta: Notes) -> PyResult<()> {
        py.detach(|| replace_file(&path, self.schedule.to_text(&meta).as_bytes()))
            .map_err(|error| file_error(&error, &path))
    }

    /// Reads a file that `save` wrote, edited or not.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let read = || {
            let text = std::fs::read(&path).map_err(|error| file_error(&error, &path))?;
            let text = String::from_utf8(text).map_err(|_| {
                FormatError::new_err(format!("{} is not a text file", path.display()))
            })?;
            MachineSchedule::from_text(&text).map_err(|error| match error {
                SessionError::Bundle { why } => {
                    FormatError::new_err(format!("schedule {}: {why}", path.display()))
                }
                other => raise(other),
            })
        };
        let (schedule, notes) = py.detach(read)?;
        Ok(PySchedule {
            schedule: Arc::new(schedule),
            notes,
        })
    }

    /// The notes of the file that it was loaded from.
    fn meta(&self) -> Notes {
        self.notes.clone()
    }

    /// The machine, with overlays and edits.
    #[getter]
    fn machine(&self) -> PyMachine {
        PyMachine {
            machine: self.schedule.machine().clone(),
        }
    }

    /// Bytes of all instruction streams in their compact encoding.
    fn instruction_bytes(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.schedule.instruction_bytes())
    }

    /// Writes the schedule as a trace for Perfetto.
    fn write_trace(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let write = || {
            let mut out = BufWriter::new(File::create(&path)?);
            self.schedule.write_trace(&mut out)?;
            out.flush()
        };
        py.detach(write).map_err(|error| file_error(&error, &path))
    }

    /// What each kind of component does over time.
    fn activity<'py>(&self, py: Python<'py>, buckets: usize) -> PyResult<Bound<'py, PyDict>> {
        let counts = py.detach(|| self.schedule.activity(buckets));
        let dict = PyDict::new(py);
        dict.set_item("cycles", counts.cycles)?;
        dict.set_item("bucket_cycles", counts.bucket_cycles)?;
        let kinds = PyList::empty(py);
        for kind in counts.activity {
            let item = PyDict::new(py);
            item.set_item("kind", kind.kind)?;
            item.set_item("instances", kind.instances)?;
            item.set_item("busy_cycles", kind.busy_cycles)?;
            item.set_item("buckets", kind.buckets)?;
            kinds.append(item)?;
        }
        dict.set_item("kinds", kinds)?;
        Ok(dict)
    }

    /// Counts and picojoules of every kind of event, by component.
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let energy = py.detach(|| self.schedule.energy());
        let lines = PyList::empty(py);
        for line in energy.lines {
            let item = PyDict::new(py);
            item.set_item("component", &line.component)?;
            item.set_item("event", line.event)?;
            item.set_item("count", line.count)?;
            item.set_item("picojoules_each", line.picojoules)?;
            item.set_item("joules", line.joules())?;
            lines.append(item)?;
        }
        Ok(lines)
    }

    /// Length, bound, traffic and use of the machine, counted from the streams.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = py.detach(|| self.schedule.report()).map_err(raise)?;
        let dict = PyDict::new(py);
        dict.set_item("cycles", report.cycles)?;
        dict.set_item("milliseconds", report.milliseconds)?;
        dict.set_item("lower_bound_cycles", report.bound.cycles)?;
        dict.set_item("bound_resource", &report.bound.resource)?;
        let bounds = PyDict::new(py);
        for (resource, cycles) in &report.bound.by_resource {
            bounds.set_item(resource, cycles)?;
        }
        dict.set_item("bound_by_resource", bounds)?;
        let ratio = report.cycles as f64 / report.bound.cycles.max(1) as f64;
        dict.set_item("schedule_over_bound", ratio)?;
        dict.set_item("instructions", report.instructions)?;
        dict.set_item("entries", report.entries)?;
        dict.set_item("traffic_bytes", traffic(py, &report.counts.traffic)?)?;
        let utilisation = PyDict::new(py);
        for kind in &report.counts.activity {
            let capacity = kind.instances * report.cycles;
            let share = kind.busy_cycles as f64 / capacity.max(1) as f64;
            utilisation.set_item(&kind.kind, share)?;
        }
        dict.set_item("utilisation", utilisation)?;
        let operations = PyDict::new(py);
        for op in cyclotron_isa::Op::ALL {
            let count = report.counts.operations[op as usize];
            if count > 0 {
                operations.set_item(op.name(), count)?;
            }
        }
        dict.set_item("instructions_by_op", operations)?;
        Ok(dict)
    }
}

/// Writes a file beside `path`, with the permissions of the one that it replaces, then gives
/// it that name. What is no plain file (a pipe, a link) is written as it is, and so is a file
/// beside which none can be made: in a folder of others, or with a name of full length.
fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let old = std::fs::symlink_metadata(path).ok();
    let plain = old.as_ref().is_none_or(Metadata::is_file);
    let (true, Some(name)) = (plain, path.file_name()) else {
        return std::fs::write(path, content);
    };
    let mut part = name.to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(part);
    let mut file = match File::create(&part) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), PermissionDenied | InvalidFilename) => {
            return std::fs::write(path, content);
        }
        Err(error) => return Err(error),
    };
    let written = file
        .write_all(content)
        .and_then(|()| old.map_or(Ok(()), |old| file.set_permissions(old.permissions())))
        .and_then(|()| std::fs::rename(&part, path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = std::fs::remove_file(&part);
    }
    written
}

/// Off-chip traffic by class.
pub(crate) fn traffic<'py>(py: Python<'py>, traffic: &Traffic) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("hints_compulsory", traffic.hints_compulsory)?;
    dict.set_item("hints_other", traffic.hints_other)?;
    dict.set_item("inputs_compulsory", traffic.inputs_compulsory)?;
    dict.set_item("inputs_other", traffic.inputs_other)?;
    dict.set_item("outputs", traffic.outputs)?;
    dict.set_item("intermediate_loads", traffic.intermediate_loads)?;
    dict.set_item("intermediate_stores", traffic.intermediate_stores)?;
    dict.set_item("total", traffic.total())?;
    Ok(dict)
}

fn phase_name(phase: CompilePhase) -> &'static str {
    match phase {
        CompilePhase::Legalize => "expanding compound operations",
        CompilePhase::Bound => "computing the lower bound",
        CompilePhase::Movement => "planning off-chip movement",
        CompilePhase::Placement => "placing instructions",
    }
}
