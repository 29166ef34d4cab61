//! The suite of homomorphic operations.

use std::collections::BTreeMap;
use std::sync::Arc;

use cyclotron_schemes::{Context, Parameters, Scheme, SecretKey};
use cyclotron_session::{Client, KeySwitch, Values};

use crate::case::{Case, Description, Suite};
use crate::client::{Decrypt, Encode, Encrypt, Owner};
use crate::error::DriverError;
use crate::graphs::{HOISTED, Operation, single};
use crate::programs::{Encrypted, Given};
use crate::sets::{SIZES, facts};

/// The operations by name; `None` is the client's.
const OPERATIONS: [(&str, Option<Operation>); 10] = [
    ("add", Some(Operation::Add)),
    ("mul_relin", Some(Operation::MulRelin)),
    ("rotate", Some(Operation::Rotate)),
    ("hoisted8", Some(Operation::Hoisted)),
    ("rescale", Some(Operation::Rescale)),
    ("mod_switch", Some(Operation::Rescale)),
    ("mul_plain", Some(Operation::MulPlain)),
    ("encode", None),
    ("encrypt", None),
    ("decrypt", None),
];

/// One parameter set with its keys.
struct Set {
    owner: Arc<Owner>,
    client: Arc<Client>,
}

/// The suite of homomorphic operations, of all parameter sets.
pub struct Operations {
    threads: usize,
    /// Parameters by the name of their set, in the order of listing.
    sizes: Vec<(String, Arc<Parameters>)>,
    sets: BTreeMap<String, Set>,
}

impl Operations {
    /// Finds the primes of every set; of the small extra one only if asked for
    /// `all`.
    ///
    /// # Errors
    /// Parameters that are not possible.
    pub fn new(threads: usize, all: bool) -> Result<Self, DriverError> {
        let mut sizes = Vec::new();
        for scheme in [Scheme::Ckks, Scheme::Bgv] {
            for size in &SIZES {
                if size.schemes.contains(&scheme) && (all || !size.extra) {
                    let name = format!("{scheme}/{}", size.name);
                    sizes.push((name, Arc::new(size.parameters(scheme)?)));
                }
            }
        }
        Ok(Self {
            threads,
            sizes,
            sets: BTreeMap::new(),
        })
    }

    fn set(&mut self, name: &str) -> Result<&Set, DriverError> {
        if !self.sets.contains_key(name) {
            let found = self.sizes.iter().find(|(size, _)| size == name);
            let (_, params) = found.ok_or_else(|| DriverError::UnknownCase(name.to_owned()))?;
            let context = Arc::new(Context::new(Arc::clone(params))?);
            let owner = Owner {
                secret: SecretKey::random(&context)?,
                context: Arc::clone(&context),
            };
            let set = Set {
                owner: Arc::new(owner),
                client: Arc::new(Client::generate(context, None)?),
            };
            self.sets.insert(name.to_owned(), set);
        }
        Ok(&self.sets[name])
    }
}

/// Rescaling is called by its scheme's name.
fn has(scheme: Scheme, operation: &str) -> bool {
    match operation {
        "rescale" => scheme == Scheme::Ckks,
        "mod_switch" => scheme == Scheme::Bgv,
        _ => true,
    }
}

impl Suite for Operations {
    fn cases(&self) -> Vec<Description> {
        let mut cases = Vec::new();
        for (set, params) in &self.sizes {
            let Some((scheme, size)) = set.split_once('/') else {
                continue;
            };
            for (operation, _) in OPERATIONS {
                if has(params.scheme, operation) {
                    cases.push(Description {
                        case: format!("{scheme}/{operation}/{size}"),
                        parameters: facts(params),
                    });
                }
            }
        }
        cases
    }

    fn prepare(&mut self, name: &str) -> Result<Box<dyn Case>, DriverError> {
        let unknown = || DriverError::UnknownCase(name.to_owned());
        let words: Vec<&str> = name.split('/').collect();
        let [scheme, operation, size] = words[..] else {
            return Err(unknown());
        };
        let known = OPERATIONS.iter().find(|(known, _)| *known == operation);
        let (_, evaluated) = known.ok_or_else(unknown)?;
        let threads = self.threads;
        let set = self.set(&format!("{scheme}/{size}"))?;
        if !has(set.owner.context.params().scheme, operation) {
            return Err(unknown());
        }
        let Some(evaluated) = *evaluated else {
            let owner = Arc::clone(&set.owner);
            return Ok(match operation {
                "encode" => Box::new(Encode::new(owner)),
                "encrypt" => Box::new(Encrypt::new(owner)?),
                _ => Box::new(Decrypt::new(owner)?),
            });
        };
        let made = single(evaluated, set.owner.context.params());
        let names = made.graph.inputs.iter().cloned();
        let given = Given {
            inputs: names
                .zip(made.inputs.into_iter().map(Values::Real))
                .collect(),
            graph: made.graph,
            slots: (0..made.expected.len()).collect(),
            expected: made.expected,
            precision_bits: f64::NEG_INFINITY,
            variant: Some(KeySwitch::Hybrid),
            results: if evaluated == Operation::Hoisted {
                HOISTED as u32
            } else {
                1
            },
        };
        let client = Arc::clone(&set.client);
        Ok(Box::new(Encrypted::new(client, threads, given)?))
    }

    fn release(&mut self, set: &str) {
        self.sets.remove(set);
    }
}
