//! Machines.

use cyclotron_machine::{Bandwidth, Setting, XbarKind};
use cyclotron_session::Machine;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::{MachineError, raise};

/// The new value of a key.
#[derive(FromPyObject)]
enum Change {
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(String),
}

impl From<Change> for Setting {
    fn from(change: Change) -> Self {
        match change {
            Change::Flag(value) => Self::Flag(value),
            Change::Integer(value) => Self::Integer(value),
            Change::Number(value) => Self::Number(value),
            Change::Text(value) => Self::Text(value),
        }
    }
}

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

    /// The machine with these dotted keys changed, checked when all are.
    fn vary(&self, changes: Vec<(String, Change)>) -> PyResult<Self> {
        let changes: Vec<(String, Setting)> = changes
            .into_iter()
            .map(|(key, value)| (key, value.into()))
            .collect();
        let machine = self.machine.with(changes);
        let machine = machine.map_err(|error| raise(error.into()))?;
        Ok(PyMachine { machine })
    }

    /// How the units execute each operation, with vectors of `2**log_n` words.
    fn timing<'py>(&self, py: Python<'py>, log_n: u32) -> PyResult<Bound<'py, PyDict>> {
        let resolved = self.machine.resolve(log_n);
        let resolved = resolved.map_err(|error| raise(error.into()))?;
        let timing = PyDict::new(py);
        for op in cyclotron_isa::Op::ALL {
            let Some(facts) = resolved.timing(op) else {
                continue;
            };
            let unit = &resolved.units[usize::from(facts.unit)];
            let item = PyDict::new(py);
            item.set_item("unit", &unit.name)?;
            item.set_item(
                "instances",
                u32::from(unit.count) * u32::from(resolved.clusters),
            )?;
            item.set_item("occupancy", facts.occupancy)?;
            item.set_item("latency", facts.latency)?;
            timing.set_item(op.name(), item)?;
        }
        Ok(timing)
    }

    /// Area and power by component, with vectors of `2**log_n` words (the longest
    /// unless given).
    #[pyo3(signature = (log_n=None))]
    fn budget<'py>(&self, py: Python<'py>, log_n: Option<u32>) -> PyResult<Bound<'py, PyList>> {
        let log_n = log_n.unwrap_or(self.machine.n_max.ilog2());
        let budget = self.machine.budget(log_n);
        let budget = budget.map_err(|error| MachineError::new_err(error.to_string()))?;
        let lines = PyList::empty(py);
        for line in budget.lines {
            let item = PyDict::new(py);
            item.set_item("component", &line.component)?;
            item.set_item("count", line.count)?;
            item.set_item("area_mm2", line.area_mm2())?;
            item.set_item("tdp_w", line.tdp_w())?;
            lines.append(item)?;
        }
        Ok(lines)
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
        dict.set_item("cluster_name", &machine.cluster.name)?;
        dict.set_item("units", self.units(py)?)?;
        dict.set_item("register_file_kib", machine.cluster.regfile.kib)?;
        let file = &machine.cluster.regfile;
        let ports = [file.read_ports, file.write_ports];
        dict.set_item("register_file_unit_ports", ports)?;
        dict.set_item("scratchpads", self.scratchpads(py)?)?;
        let crossbars = PyDict::new(py);
        for xbar in &machine.xbars {
            crossbars.set_item(&xbar.name, xbar.bytes_per_cycle)?;
        }
        dict.set_item("crossbar_bytes_per_cycle", crossbars)?;
        dict.set_item("crossbar_ports", self.crossbar_ports(py)?)?;
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

    /// Input and output ports of the crossbars.
    fn crossbar_ports<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let log_n = self.machine.n_max.ilog2();
        let resolved = self.machine.resolve(log_n);
        let resolved = resolved.map_err(|error| raise(error.into()))?;
        let clusters = usize::from(resolved.clusters);
        let ports = PyDict::new(py);
        for xbar in &resolved.xbars {
            let reached = |group| xbar.groups.contains(&group);
            let banks = resolved.banks.iter().filter(|b| reached(b.group)).count();
            let ends = match xbar.kind {
                XbarKind::BankToCluster => [banks, clusters],
                XbarKind::ClusterToBank => [clusters, banks],
                XbarKind::ClusterToCluster => [clusters, clusters],
            };
            ports.set_item(&xbar.name, ends)?;
        }
        Ok(ports)
    }

    fn scratchpads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let groups = PyDict::new(py);
        for group in &self.machine.scratchpads {
            let facts = PyDict::new(py);
            facts.set_item("banks", group.banks)?;
            facts.set_item("kib_per_bank", group.kib_per_bank)?;
            facts.set_item("bytes_per_cycle", group.bytes_per_cycle)?;
            facts.set_item("read_ports", group.read_ports)?;
            facts.set_item("write_ports", group.write_ports)?;
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
