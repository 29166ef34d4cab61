//! The side that computes: evaluation keys only, nothing to decrypt with.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use cyclotron_isa::{LimbProgram, interpret};
use cyclotron_ring::{LimbBuf, Ring};
use cyclotron_runtime::{Engine, RunStats};
use cyclotron_schemes::{AnyRing, ClientWord, Context, KeySpec, ProgramInputs, SwitchKey};
use cyclotron_simulator::{Options as SimulateOptions, simulate};

use crate::error::SessionError;
use crate::interface::{Interface, Origin};
use crate::operands::{EncodedOperands, RunInputs};
use crate::plan::Plan;
use crate::schedule::{MachineSchedule, Simulated};
use crate::stored::{EvaluationKeys, StoredCiphertext, same_parameters};
use crate::values::Values;

/// Ciphertexts by name.
pub type Ciphertexts = BTreeMap<String, StoredCiphertext>;

/// Plaintext inputs by name.
pub type Plaintexts = BTreeMap<String, Values>;

/// Called with the fraction done; `Break` abandons the work.
pub type Watch<'a> = &'a (dyn Fn(f64) -> ControlFlow<()> + Sync);

/// Evaluates programs on ciphertexts.
#[derive(Debug)]
pub struct Evaluator {
    context: Arc<Context>,
    keys: BTreeMap<KeySpec, Arc<SwitchKey>>,
    engine: Engine,
}

impl Evaluator {
    /// An evaluator with so many threads; 0 means one for each core.
    ///
    /// # Errors
    /// Keys of other parameters, or bytes that do not decode.
    pub fn new(
        context: Arc<Context>,
        keys: &EvaluationKeys,
        threads: usize,
    ) -> Result<Self, SessionError> {
        Ok(Evaluator {
            keys: keys.open(&context)?,
            context,
            engine: Engine::new(threads)?,
        })
    }

    /// Parameters, ring and tables.
    #[must_use]
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.engine.threads()
    }

    /// Does beforehand what every run of a program shares: plans its procedures,
    /// encodes its constant operands, expands its keys. [`Self::run`] does it
    /// at its first call otherwise.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn prepare(&self, plan: &Plan) -> Result<(), SessionError> {
        same_parameters("the program", &self.context, plan.params())?;
        plan.prepared(&self.engine)?;
        self.encoded(plan.interface(), plan.program())?;
        let keys = self.keys_for(plan.interface())?;
        self.engine
            .install(|| expand(&self.context, plan.program(), &keys))
    }

    /// Evaluates a program on the CPU.
    ///
    /// # Errors
    /// Missing or unknown inputs, ciphertexts or keys of other parameters,
    /// operands that do not encode.
    pub fn run(
        &self,
        plan: &Plan,
        inputs: &Ciphertexts,
        plains: &Plaintexts,
        watch: Option<Watch<'_>>,
    ) -> Result<(Ciphertexts, RunStats), SessionError> {
        same_parameters("the program", &self.context, plan.params())?;
        let prepared = plan.prepared(&self.engine)?;
        let provider = self.provider(plan.interface(), plan.program(), inputs, plains)?;
        let progress = |done: u64, total: u64| match watch {
            Some(watch) => watch(done as f64 / total.max(1) as f64),
            None => ControlFlow::Continue(()),
        };
        let run = Cpu {
            evaluator: self,
            plan,
            prepared: &prepared,
            provider: &provider,
            progress: &progress,
        };
        match self.context.ring() {
            AnyRing::W32(ring) => run.on(ring),
            AnyRing::W64(ring) => run.on(ring),
        }
    }

    /// Evaluates a program with the reference interpreter, one instruction after
    /// the other.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn interpret(
        &self,
        plan: &Plan,
        inputs: &Ciphertexts,
        plains: &Plaintexts,
    ) -> Result<Ciphertexts, SessionError> {
        same_parameters("the program", &self.context, plan.params())?;
        let (program, interface) = (plan.program(), plan.interface());
        let provider = self.provider(interface, program, inputs, plains)?;
        match self.context.ring() {
            AnyRing::W32(ring) => {
                let limbs = interpret(program, ring, &provider)?;
                self.collect(interface, program, limbs, Origin::Program)
            }
            AnyRing::W64(ring) => {
                let limbs = interpret(program, ring, &provider)?;
                self.collect(interface, program, limbs, Origin::Program)
            }
        }
    }

    /// Executes a schedule on the simulated machine. `progress` is called with
    /// the fraction of the values that is computed; `Break` abandons the simulation.
    ///
    /// # Errors
    /// As [`Self::run`], or [`SessionError::Simulate`] if the machine cannot
    /// decode an entry. A schedule that is merely wrong gives wrong ciphertexts
    /// and violations.
    pub fn simulate(
        &self,
        schedule: &MachineSchedule,
        inputs: &Ciphertexts,
        plains: &Plaintexts,
        progress: &dyn Fn(f64) -> ControlFlow<()>,
    ) -> Result<(Ciphertexts, Simulated), SessionError> {
        same_parameters("the schedule", &self.context, &schedule.params)?;
        let provider = self.provider(&schedule.interface, &schedule.program, inputs, plains)?;
        let ring = match schedule.program.log_parts {
            0 => self.context.ring().clone(),
            log_parts => self.context.ring_of_parts(log_parts)?,
        };
        match ring {
            AnyRing::W32(ring) => self.simulate_on(&ring, schedule, &provider, progress),
            AnyRing::W64(ring) => self.simulate_on(&ring, schedule, &provider, progress),
        }
    }

    fn simulate_on<W: ClientWord>(
        &self,
        ring: &Ring<W>,
        schedule: &MachineSchedule,
        provider: &RunInputs<'_>,
        progress: &dyn Fn(f64) -> ControlFlow<()>,
    ) -> Result<(Ciphertexts, Simulated), SessionError> {
        let start = Instant::now();
        let options = SimulateOptions {
            threads: self.engine.threads(),
            progress: Some(progress),
            ..SimulateOptions::default()
        };
        let (flat, streams) = (&schedule.flat, &schedule.schedule);
        let simulation = simulate(flat, streams, &schedule.resolved, ring, provider, options)?;
        let simulated = Simulated {
            seconds: start.elapsed().as_secs_f64(),
            cycles: simulation.cycles,
            milliseconds: schedule.resolved.seconds(simulation.cycles) * 1e3,
            traffic: simulation.traffic,
            violations: simulation.violations,
            violation_count: simulation.violation_count,
        };
        let (interface, program) = (&schedule.interface, &schedule.program);
        Ok((
            self.collect(interface, program, simulation.outputs, Origin::Schedule)?,
            simulated,
        ))
    }

    pub(crate) fn collect<W: ClientWord>(
        &self,
        interface: &Interface,
        program: &LimbProgram,
        limbs: Vec<LimbBuf<W>>,
        origin: Origin,
    ) -> Result<Ciphertexts, SessionError> {
        let outputs = interface.collect(&self.context, program, limbs, origin)?;
        let stored = |ciphertext| StoredCiphertext::Decoded {
            context: Arc::clone(&self.context),
            ciphertext: Arc::new(ciphertext),
        };
        Ok(outputs
            .into_iter()
            .map(|(name, ct)| (name, stored(ct)))
            .collect())
    }

    fn provider<'a>(
        &self,
        interface: &'a Interface,
        program: &LimbProgram,
        inputs: &Ciphertexts,
        plains: &Plaintexts,
    ) -> Result<RunInputs<'a>, SessionError> {
        Ok(RunInputs {
            inputs: self.inputs(interface, program, inputs, plains)?,
            encoded: self.encoded(interface, program)?,
        })
    }

    /// The inputs of one execution of a program with this interface.
    pub(crate) fn inputs(
        &self,
        interface: &Interface,
        program: &LimbProgram,
        inputs: &Ciphertexts,
        plains: &Plaintexts,
    ) -> Result<ProgramInputs, SessionError> {
        let opened = inputs
            .iter()
            .map(|(name, stored)| Ok((name.clone(), stored.open(&self.context)?)))
            .collect::<Result<BTreeMap<_, _>, SessionError>>()?;
        Ok(ProgramInputs::of_checked(
            Arc::clone(&self.context),
            program,
            interface.ciphertexts(&opened)?,
            interface.operands(&self.context, plains)?,
            self.keys_for(interface)?,
        )?)
    }

    fn keys_for(&self, interface: &Interface) -> Result<Vec<Arc<SwitchKey>>, SessionError> {
        let key = |spec: &KeySpec| {
            self.keys
                .get(spec)
                .cloned()
                .ok_or_else(|| SessionError::MissingKey {
                    key: spec.to_string(),
                })
        };
        interface.keys.iter().map(key).collect()
    }

    fn encoded<'a>(
        &self,
        interface: &'a Interface,
        program: &LimbProgram,
    ) -> Result<&'a EncodedOperands, SessionError> {
        if let Some(encoded) = interface.encoded.get() {
            return Ok(encoded);
        }
        let constants = interface.constant_operands(&self.context)?;
        let encode = || EncodedOperands::new(&self.context, program, interface, &constants);
        let encoded = self.engine.install(encode)?;
        Ok(interface.encoded.get_or_init(|| encoded))
    }
}

/// One run on the CPU, for rings of either width.
struct Cpu<'a> {
    evaluator: &'a Evaluator,
    plan: &'a Plan,
    prepared: &'a cyclotron_runtime::Prepared,
    provider: &'a RunInputs<'a>,
    progress: cyclotron_runtime::Progress<'a>,
}

impl Cpu<'_> {
    fn on<W: ClientWord>(&self, ring: &Ring<W>) -> Result<(Ciphertexts, RunStats), SessionError> {
        let program = self.plan.program();
        let progress = Some(self.progress);
        let engine = &self.evaluator.engine;
        let (limbs, stats) =
            engine.run_prepared(program, self.prepared, ring, self.provider, progress)?;
        let outputs =
            self.evaluator
                .collect(self.plan.interface(), program, limbs, Origin::Program)?;
        Ok((outputs, stats))
    }
}

/// Expands the a-halves of the hints that a program reads.
fn expand(
    context: &Context,
    program: &LimbProgram,
    keys: &[Arc<SwitchKey>],
) -> Result<(), SessionError> {
    use cyclotron_isa::Source;
    use rayon::prelude::*;

    program.inputs.par_iter().try_for_each(|input| {
        if let Source::Hint {
            key,
            digit,
            poly,
            limb,
        } = input.source
        {
            let (digit, poly) = (usize::from(digit), usize::from(poly));
            keys[key as usize].limb(context, digit, poly, usize::from(limb))?;
        }
        Ok(())
    })
}
