//! Machines.

use cyclotron_machine::Bandwidth;
use cyclotron_session::Machine;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::raise;

/// A machine: a checked description.
#[pyclass(name = "Machine", module = "cyclotron._native", frozen)]
#[derive(Debug)]
pub struct PyMachine {
    pub(crate) machine: Machine,
}

#[pymethods]
impl PyMachine {
    /// A shipped machine, or the one that a TOML file describes, with overlays applied.
    #[staticmethod]
    fn open(name_or_path: &str, overlays: Vec<String>) -> PyResult<Self> {
        let mut machine = Machine::open(name_or_path).map_err(|error| raise(error.into()))?;
        for overlay in overlays {
            machine = machine
                .with_overlay(&overlay)
                .map_err(|error| raise(error.into()))?;
        }
        Ok(PyMachine { machine })
    }

    /// Names of the shipped machines.
    #[staticmethod]
    fn shipped() -> Vec<&'static str> {
        Machine::shipped_names()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.machine.name
    }

    #[getter]
    fn hash(&self) -> &str {
        self.machine.hash()
    }

    /// The machine's facts; units, timing, area and power at its longest vectors.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let machine = &self.machine;
        let dict = PyDict::new(py);
        dict.set_item("name", &machine.name)?;
        dict.set_item("hash", machine.hash())?;
        dict.set_item("source", &machine.source)?;
        dict.set_item("clock_mhz", machine.clock_mhz)?;
        dict.set_item("word_bits", machine.word_bits)?;
        dict.set_item("lanes", machine.lanes)?;
        dict.set_item("n_min", machine.n_min)?;
        dict.set_item("n_max", machine.n_max)?;
        dict.set_item("schemes", words(machine.schemes.iter().map(|s| s.word())))?;
        dict.set_item("prime_bits_max", machine.moduli.bits_max)?;
        dict.set_item("primes_one_mod", machine.moduli.one_mod)?;
        dict.set_item(
            "keyswitch",
            words(machine.compiler.keyswitch.iter().map(|k| k.word())),
        )?;
        dict.set_item("overlays", machine.overlay_names())?;
        dict.set_item("clusters", machine.cluster.count)?;
        dict.set_item("units", self.units(py)?)?;
        dict.set_item("register_file_kib", machine.cluster.regfile.kib)?;
        dict.set_item("scratchpads", self.scratchpads(py)?)?;
        let crossbars = PyDict::new(py);
        for xbar in &machine.xbars {
            crossbars.set_item(&xbar.name, xbar.bytes_per_cycle)?;
        }
        dict.set_item("crossbar_bytes_per_cycle", crossbars)?;
        dict.set_item("offchip", self.offchip(py)?)?;
        let budget = machine.budget(machine.n_max.ilog2()).unwrap_or_default();
        dict.set_item("area_mm2", budget.area_mm2(""))?;
        dict.set_item("tdp_w", budget.tdp_w(""))?;
        Ok(dict)
    }
}

impl PyMachine {
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let log_n = self.machine.n_max.ilog2();
        let resolved = self
            .machine
            .resolve(log_n)
            .map_err(|error| raise(error.into()))?;
        let units = PyDict::new(py);
        for (index, kind) in resolved.units.iter().enumerate() {
            let unit = PyDict::new(py);
            unit.set_item("per_cluster", kind.count)?;
            for op in cyclotron_isa::Op::ALL {
                if let Some(timing) = resolved.timing(op)
                    && usize::from(timing.unit) == index
                {
                    let cycles = format!("{} + {}", timing.occupancy, timing.latency);
                    unit.set_item(format!("{op} occupancy + latency"), cycles)?;
                }
            }
            units.set_item(&kind.name, unit)?;
        }
        Ok(units)
    }

    fn scratchpads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let groups = PyDict::new(py);
        for group in &self.machine.scratchpads {
            let facts = PyDict::new(py);
            facts.set_item("banks", group.banks)?;
            facts.set_item("kib_per_bank", group.kib_per_bank)?;
            facts.set_item("bytes_per_cycle", group.bytes_per_cycle)?;
            groups.set_item(&group.name, facts)?;
        }
        Ok(groups)
    }

    fn offchip<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let memories = PyDict::new(py);
        for memory in &self.machine.offchip {
            let facts = PyDict::new(py);
            facts.set_item("channels", memory.channels)?;
            match memory.bandwidth {
                Bandwidth::Unlimited => facts.set_item("gb_per_second", "unlimited")?,
                Bandwidth::GbPerSecond(rate) => facts.set_item("gb_per_second", rate)?,
            }
            facts.set_item("latency_cycles", memory.latency_cycles)?;
            memories.set_item(&memory.name, facts)?;
        }
        Ok(memories)
    }
}

fn words<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    words.collect()
}
