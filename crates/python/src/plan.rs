//! Lowered programs.

use std::collections::BTreeMap;
use std::sync::Arc;

use cyclotron_session::{DEFAULT_PRECISION_BITS, Plan, keyswitch};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::raise;
use crate::graph::PyGraph;
use crate::machine::PyMachine;
use crate::parameters::PyParameters;

/// The limb program of an HE program, for one target.
#[pyclass(name = "Plan", module = "cyclotron._native", frozen)]
#[derive(Debug)]
pub struct PyPlan {
    pub(crate) plan: Arc<Plan>,
}

#[pymethods]
impl PyPlan {
    /// Lowers a program for a machine, or for the CPU.
    #[staticmethod]
    #[pyo3(signature = (graph, parameters, *, machine, keyswitch, precision_bits=None))]
    fn lower(
        py: Python<'_>,
        graph: &PyGraph,
        parameters: &PyParameters,
        machine: Option<&PyMachine>,
        keyswitch: Option<&str>,
        precision_bits: Option<f64>,
    ) -> PyResult<Self> {
        let graph = graph.get();
        let only = self::keyswitch(keyswitch).map_err(raise)?;
        let machine = machine.map(|machine| &machine.machine);
        let precision = precision_bits.unwrap_or(DEFAULT_PRECISION_BITS);
        let plan = py.detach(|| Plan::lower(&graph, &parameters.params, machine, only, precision));
        Ok(PyPlan {
            plan: Arc::new(plan.map_err(raise)?),
        })
    }

    /// A row per operation in the order of execution.
    fn explain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        for row in self.plan.explain() {
            let dict = PyDict::new(py);
            dict.set_item("node", row.node)?;
            dict.set_item("op", row.op)?;
            dict.set_item("args", &row.args)?;
            dict.set_item("operand", row.operand)?;
            dict.set_item("value", row.value)?;
            dict.set_item("negate", row.negate)?;
            dict.set_item("file", &row.file)?;
            dict.set_item("line", row.line)?;
            dict.set_item("level", row.level)?;
            dict.set_item("parts", row.parts)?;
            dict.set_item("scale_bits", row.scale_bits)?;
            dict.set_item("noise_bits", finite(row.noise_bits))?;
            dict.set_item("margin_bits", finite(row.margin_bits))?;
            dict.set_item("precision_bits", finite(row.precision_bits))?;
            dict.set_item("variant", row.variant)?;
            dict.set_item("exponent", row.exponent)?;
            dict.set_item("instructions", row.instructions)?;
            rows.append(dict)?;
        }
        Ok(rows)
    }

    /// Sizes, inputs, outputs and keys.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let plan = &self.plan;
        let (program, interface) = (plan.program(), plan.interface());
        let dict = PyDict::new(py);
        dict.set_item("target", plan.target())?;
        dict.set_item("instructions", program.instruction_count())?;
        dict.set_item("instructions_by_op", self.counts())?;
        dict.set_item("procedures", program.procedures.len())?;
        dict.set_item("calls", program.calls.len())?;
        dict.set_item("input_limbs", program.inputs.len())?;
        dict.set_item("output_limbs", program.outputs.len())?;
        dict.set_item("plain_operands", interface.plains.len())?;
        dict.set_item("plain_inputs", interface.runtime_plains())?;
        dict.set_item(
            "keys",
            interface
                .keys
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>(),
        )?;
        dict.set_item("hint_bytes", plan.hint_bytes())?;
        let inputs = PyList::empty(py);
        for input in &interface.inputs {
            let item = PyDict::new(py);
            item.set_item("name", &input.name)?;
            item.set_item("level", input.level)?;
            item.set_item("scale_bits", input.scale.log2())?;
            inputs.append(item)?;
        }
        dict.set_item("inputs", inputs)?;
        let outputs = PyList::empty(py);
        for (output, &precision) in interface.outputs.iter().zip(plan.precision_bits()) {
            let item = PyDict::new(py);
            item.set_item("name", &output.name)?;
            item.set_item("level", output.level)?;
            item.set_item("scale_bits", output.scale.log2())?;
            item.set_item("factor", output.factor)?;
            item.set_item("precision_bits", finite(precision))?;
            outputs.append(item)?;
        }
        dict.set_item("outputs", outputs)?;
        Ok(dict)
    }

    /// The text form of the limb program.
    fn text(&self, py: Python<'_>) -> String {
        py.detach(|| cyclotron_isa::text::print(self.plan.program()))
    }
}

impl PyPlan {
    /// Executed instructions by operation, compound ones counted once.
    fn counts(&self) -> BTreeMap<&'static str, u64> {
        let program = self.plan.program();
        let mut calls = vec![0u64; program.procedures.len()];
        for call in &program.calls {
            calls[call.procedure as usize] += 1;
        }
        let mut counts = BTreeMap::new();
        for (procedure, &times) in program.procedures.iter().zip(&calls) {
            for inst in &procedure.insts {
                *counts.entry(inst.op.name()).or_insert(0) += times;
            }
        }
        counts
    }
}

/// A number, or `None` where it is infinite: JSON has no infinity.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
