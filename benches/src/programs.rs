//! Programs on ciphertexts: of one operation, or a user's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cyclotron_program::Graph;
use cyclotron_schemes::{Context, Parameters};
use cyclotron_session::{
    Ciphertexts, Client, Evaluator, KeySwitch, Plaintexts, Plan, ProgramScheme, RunStats, Values,
};
use cyclotron_wire::{decode_parameters, decode_program};
use serde::Deserialize;

use crate::case::{Case, Checked, Description, Suite};
use crate::error::DriverError;
use crate::sets::facts;
use crate::work::Work;

/// A program, prepared, with encrypted inputs.
pub(crate) struct Encrypted {
    plan: Plan,
    client: Arc<Client>,
    evaluator: Evaluator,
    inputs: Ciphertexts,
    output: String,
    slots: Vec<usize>,
    expected: Vec<f64>,
    results: u32,
}

/// What a program is run with.
pub(crate) struct Given {
    /// The program.
    pub graph: Arc<Graph>,
    /// Slots of its encrypted inputs.
    pub inputs: BTreeMap<String, Values>,
    /// Slots of its last output that are checked.
    pub slots: Vec<usize>,
    /// What they hold.
    pub expected: Vec<f64>,
    /// Bits that CKKS outputs must keep.
    pub precision_bits: f64,
    /// The key-switch variant, if there is no choice.
    pub variant: Option<KeySwitch>,
    /// A run stands for so many results.
    pub results: u32,
}

impl Encrypted {
    /// Lowers, makes keys, encrypts, and does beforehand what all runs share.
    pub(crate) fn new(
        client: Arc<Client>,
        threads: usize,
        given: Given,
    ) -> Result<Self, DriverError> {
        let context = client.context();
        let (graph, precision) = (&given.graph, given.precision_bits);
        let plan = Plan::lower(graph, context.params(), None, given.variant, precision)?;
        let keys = client.evaluation_keys(&plan)?;
        let evaluator = Evaluator::new(Arc::clone(context), &keys, threads)?;
        evaluator.prepare(&plan)?;
        let inputs = client.encrypt(&plan, &given.inputs)?;
        Ok(Self {
            output: graph.outputs.last().cloned().unwrap_or_default(),
            plan,
            client,
            evaluator,
            inputs,
            slots: given.slots,
            expected: given.expected,
            results: given.results,
        })
    }

    fn evaluate(&self) -> Result<(Ciphertexts, RunStats), DriverError> {
        let none = Plaintexts::new();
        Ok(self.evaluator.run(&self.plan, &self.inputs, &none, None)?)
    }
}

/// The values in these slots, as far as there are such.
fn taken<T: Copy>(values: &[T], slots: &[usize]) -> Vec<T> {
    let value = |slot: &usize| values.get(*slot).copied();
    slots.iter().filter_map(value).collect()
}

impl Case for Encrypted {
    fn run(&mut self) -> Result<Option<f64>, DriverError> {
        let (outputs, stats) = self.evaluate()?;
        std::hint::black_box(outputs);
        Ok(Some(stats.seconds))
    }

    fn check(&mut self) -> Result<Checked, DriverError> {
        let output = &self.evaluate()?.0[&self.output];
        Ok(match self.client.decrypt_one(output)? {
            Values::Real(values) => Checked::new(&taken(&values, &self.slots), &self.expected),
            Values::Integers(values) => {
                let expected: Vec<i64> = self.expected.iter().map(|&v| v as i64).collect();
                Checked::new(&taken(&values, &self.slots), &expected)
            }
            Values::Wide(values) => {
                let rounded: Vec<f64> = values.iter().map(|x| x.hi).collect();
                Checked::new(&taken(&rounded, &self.slots), &self.expected)
            }
        })
    }

    fn work(&self) -> Option<Work> {
        let context = self.client.context();
        let work = Work::of_program(self.plan.program(), context.ring());
        Some(work.divided(self.results))
    }

    fn results(&self) -> u32 {
        self.results
    }
}

/// What the runner hands over: a traced program with its parameters.
#[derive(Debug, Deserialize)]
struct Handed {
    program: String,
    /// File with the program's bytes.
    graph: PathBuf,
    /// File with the parameters' bytes.
    parameters: PathBuf,
    precision_bits: f64,
    inputs: BTreeMap<String, Vec<f64>>,
    slots: Vec<usize>,
    expected: Vec<f64>,
}

/// The suite of one program.
pub struct Programs {
    handed: Handed,
    graph: Arc<Graph>,
    params: Arc<Parameters>,
    threads: usize,
}

impl Programs {
    /// Reads what the runner wrote: a JSON file with the fields `program` (its
    /// name), `graph` and `parameters` (files in the formats of the wire),
    /// `precision_bits`, `inputs` (values by name), and of the output `slots` and
    /// what they are `expected` to hold.
    ///
    /// # Errors
    /// Files that are missing or broken.
    pub fn open(path: &Path, threads: usize) -> Result<Self, DriverError> {
        let handed: Handed = serde_json::from_slice(&read(path)?).map_err(|error| {
            let why = error.to_string();
            let path = path.to_owned();
            DriverError::File { path, why }
        })?;
        Ok(Self {
            graph: Arc::new(decode_program(&read(&handed.graph)?)?),
            params: Arc::new(decode_parameters(&read(&handed.parameters)?)?),
            handed,
            threads,
        })
    }

    fn name(&self) -> String {
        format!("program/{}", self.handed.program)
    }
}

impl Suite for Programs {
    fn cases(&self) -> Vec<Description> {
        vec![Description {
            case: self.name(),
            parameters: facts(&self.params),
        }]
    }

    fn prepare(&mut self, name: &str) -> Result<Box<dyn Case>, DriverError> {
        if name != self.name() {
            return Err(DriverError::UnknownCase(name.to_owned()));
        }
        let context = Arc::new(Context::new(Arc::clone(&self.params))?);
        let client = Arc::new(Client::generate(context, None)?);
        let whole = matches!(self.graph.scheme, ProgramScheme::Bgv { .. });
        let values = |slots: &Vec<f64>| match whole {
            true => Values::Integers(slots.iter().map(|&v| v as i64).collect()),
            false => Values::Real(slots.clone()),
        };
        let inputs = self.handed.inputs.iter();
        let given = Given {
            graph: Arc::clone(&self.graph),
            inputs: inputs.map(|(n, v)| (n.clone(), values(v))).collect(),
            slots: self.handed.slots.clone(),
            expected: self.handed.expected.clone(),
            precision_bits: self.handed.precision_bits,
            variant: None,
            results: 1,
        };
        Ok(Box::new(Encrypted::new(client, self.threads, given)?))
    }

    fn release(&mut self, _: &str) {}
}

fn read(path: &Path) -> Result<Vec<u8>, DriverError> {
    std::fs::read(path).map_err(|error| DriverError::File {
        path: path.to_owned(),
        why: error.to_string(),
    })
}
