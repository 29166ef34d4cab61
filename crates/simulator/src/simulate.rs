//! The simulation from streams to outputs.

use std::ops::ControlFlow;

use cyclotron_isa::{FlatProgram, InputProvider, Op, Schedule, Traffic};
use cyclotron_machine::Resolved;
use cyclotron_ring::{LimbBuf, Ring, Word};

use crate::activity::{Activity, count};
use crate::contents::Contents;
use crate::error::SimError;
use crate::evaluate::Evaluator;
use crate::graph::{NodeId, Read, Seen, UNWRITTEN};
use crate::order::Order;
use crate::trace::{Trace, trace};
use crate::values::Values;
use crate::violation::{Violation, ViolationKind, Violations};

/// How to simulate.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Threads that compute values; 1 computes on the calling thread.
    pub threads: usize,
    /// Buckets of the activity over time.
    pub buckets: usize,
    /// Called with the fraction of the values that is computed.
    pub progress: Option<&'a dyn Fn(f64) -> ControlFlow<()>>,
}

impl Default for Options<'_> {
    /// One thread, 100 buckets, no progress.
    fn default() -> Self {
        Self {
            threads: 1,
            buckets: 100,
            progress: None,
        }
    }
}

/// What a schedule computed and what it took.
#[derive(Debug, Clone)]
pub struct Simulation<W: Word> {
    /// The output limbs in the program's order.
    pub outputs: Vec<LimbBuf<W>>,
    /// The cycle at which the last component finishes.
    pub cycles: u64,
    /// Cycles of a bucket of [`Activity::buckets`].
    pub bucket_cycles: u64,
    /// How busy the components are, by kind.
    pub activity: Vec<Activity>,
    /// Off-chip traffic in bytes.
    pub traffic: Traffic,
    /// Executed operations, by `op as usize`.
    pub operations: [u64; Op::ALL.len()],
    /// What went wrong, in the order of the cycles; at most 10,000 are kept.
    pub violations: Vec<Violation>,
    /// How much went wrong. A schedule that the checker accepts has 0.
    pub violation_count: u64,
}

/// Executes a schedule. Of the program only the inputs, the constants, the
/// primes and the number of outputs are used, never the instructions.
///
/// # Errors
/// [`SimError`] if the ring or an input does not fit, or an entry, stream or
/// off-chip slot is one that the machine does not have. A schedule that is
/// merely wrong gives wrong limbs and violations.
pub fn simulate<W: Word>(
    program: &FlatProgram,
    schedule: &Schedule,
    machine: &Resolved,
    ring: &Ring<W>,
    inputs: &dyn InputProvider<W>,
    options: Options<'_>,
) -> Result<Simulation<W>, SimError> {
    program.check_ring(ring)?;
    check_machine(program, schedule, machine)?;
    let Trace {
        mut graph,
        mut violations,
        outputs,
        first_dram,
    } = trace(program, schedule, machine)?;
    let origins = std::mem::take(&mut graph.origins);
    let starts = std::mem::take(&mut graph.starts);
    let (contents, reads) = Contents::new(&mut graph, ring.n());
    let describe = |read: &Read| Entry::new(schedule, machine, first_dram, read);
    let seen = reads.iter().map(|read| contents.seen(read));
    let seen: Vec<Seen> = seen
        .zip(reads)
        .inspect(|(seen, read)| report(seen, || describe(read), &mut violations))
        .map(|(seen, _)| seen)
        .collect();
    let values = Values::new(program, &origins, &starts, reads, seen);
    let outputs: Vec<NodeId> = outputs
        .iter()
        .map(|&slot| values.resolve(contents.last(slot).unwrap_or(UNWRITTEN)))
        .collect();
    let mut order = Order::new(&values, &outputs);
    let evaluator = Evaluator {
        program,
        ring,
        inputs,
        values: &values,
        pool: thread_pool(options.threads)?,
    };
    let progress = options.progress.unwrap_or(&|_| ControlFlow::Continue(()));
    let limbs = evaluator.run(&outputs, &mut order, progress)?;
    for &node in values.circular().iter().chain(order.circular()) {
        if let Some(read) = values.entry(node) {
            violations.add(describe(read).violation(ViolationKind::Circular));
        }
    }
    let counts = count(program, schedule, machine, options.buckets);
    let (violations, violation_count) = violations.finish();
    Ok(Simulation {
        outputs: limbs,
        cycles: counts.cycles,
        bucket_cycles: counts.bucket_cycles,
        activity: counts.activity,
        traffic: counts.traffic,
        operations: counts.operations,
        violations,
        violation_count,
    })
}

fn check_machine(
    program: &FlatProgram,
    schedule: &Schedule,
    machine: &Resolved,
) -> Result<(), SimError> {
    let pairs = [
        ("machine", &schedule.machine_hash, machine.hash.clone()),
        (
            "log_n",
            &schedule.log_n.to_string(),
            machine.log_n.to_string(),
        ),
        (
            "log_n",
            &schedule.log_n.to_string(),
            program.log_n.to_string(),
        ),
    ];
    for (what, schedule, given) in pairs {
        if *schedule != given {
            let schedule = schedule.clone();
            return Err(SimError::OtherMachine {
                what,
                schedule,
                given,
            });
        }
    }
    Ok(())
}

fn thread_pool(threads: usize) -> Result<Option<rayon::ThreadPool>, SimError> {
    if threads <= 1 {
        return Ok(None);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map(Some).map_err(|error| SimError::Threads {
        threads,
        why: error.to_string(),
    })
}

/// A read with what a violation says of it.
struct Entry {
    violation: Violation,
    /// The slot within its memory.
    slot: u32,
}

impl Entry {
    fn new(schedule: &Schedule, machine: &Resolved, first_dram: u32, read: &Read) -> Self {
        let stream = &schedule.streams[read.stream as usize];
        let slot = if read.location >= first_dram {
            read.location - first_dram
        } else {
            slot_on_chip(machine, read.location)
        };
        let violation = Violation {
            cycle: read.start,
            component: stream.component,
            entry: read.entry as usize,
            kind: ViolationKind::Circular,
        };
        Self { violation, slot }
    }

    fn violation(&self, kind: ViolationKind) -> Violation {
        Violation {
            kind,
            ..self.violation
        }
    }
}

/// The slot within its register file or bank.
fn slot_on_chip(machine: &Resolved, location: u32) -> u32 {
    let slots = u32::from(machine.regfile.slots);
    let mut rest = location;
    let regfiles = slots * u32::from(machine.clusters);
    if rest < regfiles {
        return rest % slots;
    }
    rest -= regfiles;
    for bank in &machine.banks {
        match rest.checked_sub(u32::from(bank.slots)) {
            None => break,
            Some(left) => rest = left,
        }
    }
    rest
}

fn report(seen: &Seen, entry: impl Fn() -> Entry, violations: &mut Violations) {
    if seen.nodes().any(|node| node == UNWRITTEN) {
        let entry = entry();
        let slot = entry.slot;
        violations.add(entry.violation(ViolationKind::Unwritten { slot }));
    }
    if matches!(seen, Seen::Pieces(_)) {
        let entry = entry();
        let slot = entry.slot;
        violations.add(entry.violation(ViolationKind::Mixed { slot }));
    }
}
