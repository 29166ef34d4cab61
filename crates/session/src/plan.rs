//! A program with its parameters, lowered for a target.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cyclotron_isa::{LimbProgram, Source};
use cyclotron_lower::{ExplainRow, Lowered, Wish, choose, estimate, lower};
use cyclotron_machine::Machine;
use cyclotron_program::{Graph, KeySwitch};
use cyclotron_runtime::{Engine, Prepared};
use cyclotron_schemes::Parameters;

use crate::error::SessionError;
use crate::interface::Interface;
use crate::target::target;

/// Bits of precision that CKKS outputs keep where nothing is asked for.
pub const DEFAULT_PRECISION_BITS: f64 = 10.0;

/// Chooses parameters for a program: the smallest that keep levels, precision
/// and security on the target. Without a machine and a word size, the words on
/// which a CPU is estimated to be faster. `only` is the key-switch variant to
/// plan for, if there is no choice.
///
/// # Errors
/// What stands in the way of the last candidate; [`SessionError::Listing1Alone`]
/// if that is only that nothing but Listing 1 may switch keys.
pub fn choose_parameters(
    graph: &Graph,
    wish: &Wish,
    machine: Option<&Machine>,
    word_bits: Option<u32>,
    only: Option<KeySwitch>,
) -> Result<Parameters, SessionError> {
    let chosen = |only| smallest_parameters(graph, wish, machine, word_bits, only);
    chosen(only).map_err(|error| {
        blame_listing1(graph, only, error, || {
            let free = chosen(None).ok()?;
            Some(format!(
                "with hybrid key switching too, {} limbs and {} special ones are enough",
                free.levels(),
                free.special.len()
            ))
        })
    })
}

/// Says that Listing 1 alone is the reason, if it is: `without` says what works
/// with every variant.
fn blame_listing1(
    graph: &Graph,
    only: Option<KeySwitch>,
    error: SessionError,
    without: impl FnOnce() -> Option<String>,
) -> SessionError {
    if only != Some(KeySwitch::Listing1) || !matches!(error, SessionError::Lower(_)) {
        return error;
    }
    match without() {
        None => error,
        Some(without) => SessionError::Listing1Alone {
            program: graph.name.clone(),
            why: error.to_string(),
            without,
        },
    }
}

fn smallest_parameters(
    graph: &Graph,
    wish: &Wish,
    machine: Option<&Machine>,
    word_bits: Option<u32>,
    only: Option<KeySwitch>,
) -> Result<Parameters, SessionError> {
    let words = match (machine, word_bits) {
        (Some(_), _) => vec![32],
        (None, Some(bits @ (32 | 64))) => vec![bits],
        (None, Some(bits)) => {
            return Err(SessionError::Option {
                option: "word_bits",
                value: bits.to_string(),
                known: "32 or 64".to_owned(),
            });
        }
        (None, None) => vec![32, 64],
    };
    let mut best: Option<(f64, Parameters)> = None;
    let mut failure = None;
    for bits in words {
        let target = target(graph, machine, bits, only)?;
        match choose(graph, wish, &target) {
            Ok((params, lowered)) => {
                let time = estimate(&lowered.program, &target.costs);
                if best.as_ref().is_none_or(|(least, _)| time < *least) {
                    best = Some((time, params));
                }
            }
            Err(error) => failure = Some(error),
        }
    }
    match (best, failure) {
        (Some((_, params)), _) => Ok(params),
        (None, Some(error)) => Err(error.into()),
        (None, None) => unreachable!("at least one word size is tried"),
    }
}

/// A lowered program: what evaluators run and machines are compiled for.
#[derive(Debug)]
pub struct Plan {
    params: Arc<Parameters>,
    interface: Interface,
    program: LimbProgram,
    lowered: LoweredFacts,
    target: String,
    /// Runtime plans by number of threads.
    prepared: Mutex<BTreeMap<usize, Arc<Prepared>>>,
}

/// What lowering found out besides the program.
#[derive(Debug)]
struct LoweredFacts {
    explain: Vec<ExplainRow>,
    precision_bits: Vec<f64>,
}

impl Plan {
    /// Lowers a program for `machine`, or for the CPU.
    ///
    /// # Errors
    /// Where levels or precision run out, with the user's line, and
    /// [`SessionError::Listing1Alone`] if they do not with other key-switch variants;
    /// parameters of another program; a machine that does not support it.
    pub fn lower(
        graph: &Arc<Graph>,
        params: &Arc<Parameters>,
        machine: Option<&Machine>,
        only: Option<KeySwitch>,
        precision_bits: f64,
    ) -> Result<Self, SessionError> {
        let target = target(graph, machine, params.word_bits, only)?;
        if let Some(machine) = machine {
            check_primes(params, machine)?;
        }
        let Lowered {
            program,
            noise,
            keys,
            inputs,
            plains,
            outputs,
            explain,
            ..
        } = lower(graph, params, &target, precision_bits).map_err(|error| {
            blame_listing1(graph, only, error.into(), || {
                let free = self::target(graph, machine, params.word_bits, None).ok()?;
                lower(graph, params, &free, precision_bits).ok()?;
                Some("with hybrid key switching too, these parameters are enough".to_owned())
            })
        })?;
        let precision_bits = outputs
            .iter()
            .map(|output| noise.nodes[output.node as usize].precision_bits)
            .collect();
        Ok(Plan {
            params: Arc::clone(params),
            interface: Interface {
                graph: Arc::clone(graph),
                inputs,
                plains,
                outputs,
                keys,
                encoded: Arc::default(),
            },
            program,
            lowered: LoweredFacts {
                explain,
                precision_bits,
            },
            target: target.name,
            prepared: Mutex::default(),
        })
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &Arc<Parameters> {
        &self.params
    }

    /// Inputs, operands, outputs and keys.
    #[must_use]
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// The limb program, compound instructions included.
    #[must_use]
    pub fn program(&self) -> &LimbProgram {
        &self.program
    }

    /// `cpu` or the machine's name.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// A row per operation in the order of execution.
    #[must_use]
    pub fn explain(&self) -> &[ExplainRow] {
        &self.lowered.explain
    }

    /// Predicted bits of precision of every output; infinite for BGV.
    #[must_use]
    pub fn precision_bits(&self) -> &[f64] {
        &self.lowered.precision_bits
    }

    /// Bytes of the key-switch hints that the program reads.
    #[must_use]
    pub fn hint_bytes(&self) -> u64 {
        let is_hint = |source| matches!(source, Source::Hint { .. });
        let limbs = self
            .program
            .inputs
            .iter()
            .filter(|input| is_hint(input.source))
            .count();
        (limbs * self.program.n()) as u64 * u64::from(self.program.word_bits / 8)
    }

    /// The runtime's plan for an engine, made once per number of threads.
    pub(crate) fn prepared(&self, engine: &Engine) -> Result<Arc<Prepared>, SessionError> {
        let mut known = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(prepared) = known.get(&engine.threads()) {
            return Ok(Arc::clone(prepared));
        }
        let prepared = Arc::new(engine.prepare(&self.program)?);
        known.insert(engine.threads(), Arc::clone(&prepared));
        Ok(prepared)
    }
}

/// The machine must be able to compute modulo every prime.
fn check_primes(params: &Parameters, machine: &Machine) -> Result<(), SessionError> {
    let unfit = |&prime: &u64| !machine.moduli.allows(prime, params.log_n);
    match params.extended().iter().find(|&prime| unfit(prime)) {
        None => Ok(()),
        Some(prime) => Err(SessionError::Unsupported {
            machine: machine.name.clone(),
            why: format!(
                "does not compute modulo {prime}: it takes primes of at most {} bits that are 1 \
                 mod {}; let the parameters be chosen for it",
                machine.moduli.bits_max,
                machine.moduli.step(params.log_n)
            ),
        }),
    }
}
