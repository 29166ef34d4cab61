//! The reference interpreter of limb programs: the definition of what a
//! program computes. One instruction after the other, on one thread.

use std::sync::Arc;

use cyclotron_ring::{LimbBuf, Ring, Word};

use crate::kernel;
use crate::procedure::Procedure;
use crate::program::LimbProgram;
use crate::provider::{ExecuteError, InputProvider, fetch};
use crate::verify::verify;

type Limb<W> = Arc<LimbBuf<W>>;

/// Executes a program; returns its output limbs in the order of
/// [`LimbProgram::outputs`]. A ring with scalar kernels makes it the definition.
///
/// # Errors
/// [`ExecuteError`] if the program is not legal, the ring is not its ring, or
/// an input limb is missing or not canonical.
///
/// # Cost
/// Holds the values that are still needed, one call's locals, nothing else.
pub fn interpret<W: Word>(
    program: &LimbProgram,
    ring: &Ring<W>,
    inputs: &dyn InputProvider<W>,
) -> Result<Vec<LimbBuf<W>>, ExecuteError> {
    verify(program)?;
    program.check_ring(ring)?;
    let mut globals = Globals::new(program);
    for call in &program.calls {
        let procedure = &program.procedures[call.procedure as usize];
        let args = program
            .call_args(call)
            .iter()
            .map(|&value| globals.take(program, ring, inputs, value))
            .collect::<Result<Vec<_>, _>>()?;
        let results = run_procedure(program, procedure, ring, args);
        for (k, limb) in results.into_iter().enumerate() {
            globals.define(call.first_result as usize + k, limb);
        }
    }
    program
        .outputs
        .iter()
        .map(|out| {
            let limb = globals.take(program, ring, inputs, out.value)?;
            Ok(Arc::unwrap_or_clone(limb))
        })
        .collect()
}

/// The global values that are still needed.
struct Globals<W: Word> {
    limbs: Vec<Option<Limb<W>>>,
    /// Uses as argument or output that are yet to come.
    uses: Vec<u32>,
}

impl<W: Word> Globals<W> {
    fn new(program: &LimbProgram) -> Self {
        let count = program.global_count();
        let mut uses = vec![0; count];
        for call in &program.calls {
            for &arg in program.call_args(call) {
                uses[arg as usize] += 1;
            }
        }
        for out in &program.outputs {
            uses[out.value as usize] += 1;
        }
        Self {
            limbs: vec![None; count],
            uses,
        }
    }

    fn define(&mut self, value: usize, limb: Limb<W>) {
        if self.uses[value] > 0 {
            self.limbs[value] = Some(limb);
        }
    }

    /// One use of a value; inputs are fetched at the first, all are dropped at the last.
    fn take(
        &mut self,
        program: &LimbProgram,
        ring: &Ring<W>,
        inputs: &dyn InputProvider<W>,
        value: u32,
    ) -> Result<Limb<W>, ExecuteError> {
        let index = value as usize;
        let limb = match self.limbs[index].take() {
            Some(limb) => limb,
            None => {
                let input = program.inputs[index];
                fetch(inputs, input, ring)?
            }
        };
        self.uses[index] -= 1;
        if self.uses[index] > 0 {
            self.limbs[index] = Some(Arc::clone(&limb));
        }
        Ok(limb)
    }
}

fn run_procedure<W: Word>(
    program: &LimbProgram,
    procedure: &Procedure,
    ring: &Ring<W>,
    args: Vec<Limb<W>>,
) -> Vec<Limb<W>> {
    let last_use = last_uses(procedure);
    let mut locals: Vec<Option<Limb<W>>> = args.into_iter().map(Some).collect();
    for (i, inst) in procedure.insts.iter().enumerate() {
        let count = Procedure::result_count(inst) as usize;
        let mut results: Vec<_> = (0..count).map(|_| LimbBuf::zeroed(ring.n())).collect();
        let mut dsts: Vec<&mut [W]> = results.iter_mut().map(|limb| &mut **limb).collect();
        kernel::apply_inst(ring, program, procedure, inst, &mut dsts, |value| {
            locals[value as usize]
                .as_deref()
                .expect("verified: it is live")
        });
        locals.extend(results.into_iter().map(|limb| Some(Arc::new(limb))));
        procedure.for_each_source(inst, |value| {
            if last_use[value as usize] == i {
                locals[value as usize] = None;
            }
        });
    }
    let result = |&value: &u32| locals[value as usize].clone().expect("results stay live");
    procedure.results.iter().map(result).collect()
}

/// The last instruction that reads each local value; results are read at the end.
fn last_uses(procedure: &Procedure) -> Vec<usize> {
    let mut last = vec![0; procedure.types.len()];
    for (i, inst) in procedure.insts.iter().enumerate() {
        procedure.for_each_source(inst, |value| last[value as usize] = i);
    }
    for &value in &procedure.results {
        last[value as usize] = usize::MAX;
    }
    last
}
