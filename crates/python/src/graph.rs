//! HE programs, as the Python front end traces them.

use std::sync::{Arc, Mutex, PoisonError};

use cyclotron_session::{Graph, HeOp, PlainOperand, ProgramScheme, Span, Values};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays;
use crate::error::{ProgramError, raise};

/// A dataflow graph over ciphertexts and plaintexts.
#[pyclass(name = "Graph", module = "cyclotron._native", frozen)]
#[derive(Debug)]
pub struct PyGraph {
    graph: Mutex<Arc<Graph>>,
}

/// The attributes of a node that most operations lack.
struct Attributes {
    name: Option<String>,
    plain: Option<u32>,
    value: Option<f64>,
    steps: Option<i64>,
    scale_bits: Option<f64>,
}

impl PyGraph {
    /// The graph as it is now.
    pub(crate) fn get(&self) -> Arc<Graph> {
        Arc::clone(&self.graph.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn edit<T>(&self, edit: impl FnOnce(&mut Graph) -> T) -> T {
        let mut graph = self.graph.lock().unwrap_or_else(PoisonError::into_inner);
        edit(Arc::make_mut(&mut graph))
    }
}

#[pymethods]
impl PyGraph {
    #[new]
    #[pyo3(signature = (name, scheme, log_n, plaintext_modulus, public_key=false))]
    fn new(
        name: &str,
        scheme: &str,
        log_n: u32,
        plaintext_modulus: Option<u64>,
        public_key: bool,
    ) -> PyResult<Self> {
        let scheme = match (scheme, plaintext_modulus) {
            ("ckks", _) => ProgramScheme::Ckks,
            ("bgv", Some(plaintext_modulus @ 2..)) => ProgramScheme::Bgv { plaintext_modulus },
            ("bgv", _) => {
                let message = "a BGV program needs a plaintext modulus, for example 65537";
                return Err(ProgramError::new_err(message));
            }
            (other, _) => {
                let message = format!("unknown scheme `{other}`: use `ckks` or `bgv`");
                return Err(ProgramError::new_err(message));
            }
        };
        if !(4..=17).contains(&log_n) {
            let message = format!("log_n = {log_n} is outside 4..=17");
            return Err(ProgramError::new_err(message));
        }
        let mut graph = Graph::new(name, scheme, log_n);
        graph.public_key = public_key;
        Ok(PyGraph {
            graph: Mutex::new(Arc::new(graph)),
        })
    }

    /// Adds a plaintext operand, or a run-time plaintext input; returns its number.
    #[pyo3(signature = (name, values, scale_bits))]
    fn plain(
        &self,
        name: String,
        values: Option<&Bound<'_, PyAny>>,
        scale_bits: Option<f64>,
    ) -> PyResult<u32> {
        let values = values
            .map(|array| arrays::values(&name, array))
            .transpose()?;
        self.edit(|graph| {
            let modulus = match graph.scheme {
                ProgramScheme::Bgv { plaintext_modulus } => Some(plaintext_modulus),
                ProgramScheme::Ckks => None,
            };
            let values = values.map(|values| exact(&name, values, modulus));
            graph.plains.push(PlainOperand {
                name,
                values: values.transpose()?,
                scale_bits,
            });
            Ok(graph.plains.len() as u32 - 1)
        })
    }

    /// Adds a node; returns its number.
    #[pyo3(signature = (op, args, file, line, *, name=None, plain=None, value=None, steps=None, scale_bits=None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of the Python interface"
    )]
    fn node(
        &self,
        op: &str,
        args: Vec<u32>,
        file: &str,
        line: u32,
        name: Option<String>,
        plain: Option<u32>,
        value: Option<f64>,
        steps: Option<i64>,
        scale_bits: Option<f64>,
    ) -> PyResult<u32> {
        let attributes = Attributes {
            name,
            plain,
            value,
            steps,
            scale_bits,
        };
        self.edit(|graph| {
            let op = operation(graph, op, &args, attributes)
                .map_err(|why| ProgramError::new_err(format!("{file}:{line}: {op}: {why}")))?;
            let file = graph.file(file);
            Ok(graph.push(op, Span { file, line }))
        })
    }

    /// Sets the largest magnitude of every node's slots, as the cleartext twin measured
    /// them, and of every plaintext operand that is given at run time (0 for others).
    #[pyo3(signature = (magnitudes, plains=Vec::new()))]
    fn measured(&self, magnitudes: Vec<f64>, plains: Vec<f64>) -> PyResult<()> {
        self.edit(|graph| {
            let wanted = [
                ("nodes", magnitudes.len(), graph.nodes.len()),
                ("plaintext operands", plains.len(), graph.plains.len()),
            ];
            for (what, given, needed) in wanted {
                if given != needed && !(what != "nodes" && given == 0) {
                    let message =
                        format!("{given} magnitudes for {needed} {what}; give one for each");
                    return Err(ProgramError::new_err(message));
                }
            }
            graph.measured = magnitudes;
            graph.measured_plains = plains;
            Ok(())
        })
    }

    /// The text form, plaintext values included.
    fn text(&self) -> PyResult<String> {
        let graph = self.get();
        graph.verify().map_err(|error| raise(error.into()))?;
        Ok(graph.to_text())
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let graph = self.get();
        graph.verify().map_err(|error| raise(error.into()))?;
        Ok(PyBytes::new(
            py,
            &py.detach(|| cyclotron_wire::encode_program(&graph)),
        ))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let graph = py.detach(|| cyclotron_wire::decode_program(data));
        Ok(PyGraph {
            graph: Mutex::new(Arc::new(graph.map_err(|error| raise(error.into()))?)),
        })
    }

    /// BLAKE3 of the program without source positions and measurements, in hexadecimal.
    fn hash(&self, py: Python<'_>) -> String {
        let graph = self.get();
        py.detach(|| {
            let mut bare = Graph::clone(&graph);
            bare.files.clear();
            bare.measured.clear();
            bare.measured_plains.clear();
            for node in &mut bare.nodes {
                node.span = Span::default();
            }
            blake3::hash(bare.to_text().as_bytes()).to_hex().to_string()
        })
    }
}

/// Values as numbers that f64 holds exactly: large integers are reduced modulo t first.
fn exact(name: &str, values: Values, modulus: Option<u64>) -> PyResult<Vec<f64>> {
    let integers = match values {
        Values::Real(values) => return Ok(values),
        Values::Integers(values) => values,
        Values::Wide(_) => {
            let message = format!("`{name}` has numbers of 106 bits; plaintext operands have 53");
            return Err(ProgramError::new_err(message));
        }
    };
    let reduce = |value: i64| match modulus.map(i128::from) {
        Some(t) if value.unsigned_abs() >> 53 != 0 => i128::from(value).rem_euclid(t) as f64,
        _ => value as f64,
    };
    Ok(integers.into_iter().map(reduce).collect())
}

/// The operation of a node; adds the name of an input or output to the graph.
fn operation(
    graph: &mut Graph,
    op: &str,
    args: &[u32],
    attributes: Attributes,
) -> Result<HeOp, String> {
    let taken = match op {
        "input" => 0,
        "add" | "sub" | "mul" => 2,
        _ => 1,
    };
    if args.len() != taken {
        return Err(format!("{} operands where {taken} are taken", args.len()));
    }
    let nodes = graph.nodes.len() as u32;
    if let Some(arg) = args.iter().find(|&&arg| arg >= nodes) {
        return Err(format!(
            "operand %{arg} does not exist: there are {nodes} nodes"
        ));
    }
    let operand = |index: usize| args.get(index).copied().unwrap_or(0);
    let (a, b, ct) = (operand(0), operand(1), operand(0));
    let plain = attributes.plain.ok_or("a plaintext operand is missing");
    let value = attributes.value.ok_or("a value is missing");
    let scale_bits = attributes.scale_bits;
    Ok(match op {
        "input" => {
            let input = declare(&mut graph.inputs, attributes.name)?;
            HeOp::Input { input, scale_bits }
        }
        "output" => {
            let output = declare(&mut graph.outputs, attributes.name)?;
            HeOp::Output { ct, output }
        }
        "add" => HeOp::Add { a, b },
        "sub" => HeOp::Sub { a, b },
        "mul" => HeOp::Mul { a, b },
        "neg" => HeOp::Neg { ct },
        "add_plain" => HeOp::AddPlain { ct, plain: plain? },
        "sub_plain" => HeOp::SubPlain { ct, plain: plain? },
        "mul_plain" => HeOp::MulPlain { ct, plain: plain? },
        "add_scalar" => HeOp::AddScalar { ct, value: value? },
        "mul_scalar" => HeOp::MulScalar {
            ct,
            value: value?,
            scale_bits,
        },
        "rotate" => HeOp::Rotate {
            ct,
            steps: attributes.steps.ok_or("steps are missing")?,
        },
        "conjugate" => HeOp::Conjugate { ct },
        "rescale" => HeOp::Rescale { ct },
        "relinearize" => HeOp::Relinearize { ct },
        other => return Err(format!("unknown operation `{other}`")),
    })
}

/// Appends a name; returns its index.
fn declare(names: &mut Vec<String>, name: Option<String>) -> Result<u32, String> {
    names.push(name.ok_or("a name is missing")?);
    Ok(names.len() as u32 - 1)
}
