//! Mutated schedules: whatever the checker accepts computes the right limbs,
//! and nearly everything it rejects computes wrong ones when simulated anyway.

use std::collections::BTreeMap;
use std::sync::Arc;

use cyclotron_checker::{CheckError, Fault, check};
use cyclotron_isa::kernel::{Operation, apply};
use cyclotron_isa::testing::{HashInputs, ProgramShape, TestRng, random_program};
use cyclotron_isa::{FlatProgram, InputProvider, NO_SLOT, NONE, Op, Schedule, StreamOp, interpret};
use cyclotron_machine::Resolved;
use cyclotron_machine::testing::{random_resolved, schedule_naively};
use cyclotron_ring::{LimbBuf, Ring, Simd, primes};
use cyclotron_simulator::{Options, simulate};

/// More words than any occupancy has cycles, so that no cycle falls between two words.
const LOG_N: u32 = 7;

struct Case {
    flat: FlatProgram,
    machine: Resolved,
    schedule: Schedule,
    inputs: HashInputs,
    ring: Ring<u32>,
    expected: Vec<LimbBuf<u32>>,
}

/// A program without instructions that no output needs, scheduled.
fn case(seed: u64) -> Case {
    let moduli = primes::ntt_primes(1 << 32, 1 << 16, 3);
    let mut rng = TestRng::new(seed);
    let mut shape = ProgramShape::small(LOG_N, 32, &moduli);
    shape.compound = false;
    shape.calls = 2 + rng.index(8);
    let program = random_program(seed, &shape);
    let flat = without_dead_code(&FlatProgram::new(&program).expect("flat"));
    let machine = random_resolved(seed, LOG_N);
    let schedule = schedule_naively(&flat, &machine, seed).expect("every operation");
    let ring = Ring::new(LOG_N, &moduli, Simd::Scalar).expect("a ring");
    let inputs = HashInputs::new(seed, &program);
    let expected = interpret(&program, &ring, &inputs).expect("runs");
    Case {
        flat,
        machine,
        schedule,
        inputs,
        ring,
        expected,
    }
}

fn without_dead_code(flat: &FlatProgram) -> FlatProgram {
    let mut live = vec![false; flat.value_count()];
    flat.outputs.iter().for_each(|&v| live[v as usize] = true);
    for inst in (0..flat.len()).rev() {
        if live[flat.result(inst) as usize] {
            flat.sources(inst).for_each(|v| live[v as usize] = true);
        }
    }
    let inputs = flat.inputs.len() as u32;
    let mut number: Vec<u32> = (0..inputs).collect();
    let mut pruned = FlatProgram {
        op: Vec::new(),
        modulus: Vec::new(),
        src: Vec::new(),
        imm: Vec::new(),
        call: Vec::new(),
        ..flat.clone()
    };
    let renumber = |number: &[u32], v: u32| if v == NONE { NONE } else { number[v as usize] };
    for inst in 0..flat.len() {
        number.push(inputs + pruned.len() as u32);
        if live[flat.result(inst) as usize] {
            pruned.op.push(flat.op[inst]);
            pruned.modulus.push(flat.modulus[inst]);
            pruned
                .src
                .push(flat.src[inst].map(|v| renumber(&number, v)));
            pruned.imm.push(flat.imm[inst]);
            pruned.call.push(flat.call[inst]);
        }
    }
    pruned
        .outputs
        .iter_mut()
        .for_each(|v| *v = number[*v as usize]);
    pruned
}

/// Whether the outputs change if any one value is replaced by zeros. Random
/// programs often compute things like `(x - x) * y`; then a schedule may do
/// anything to y.
fn every_value_matters(case: &Case) -> bool {
    let flat = &case.flat;
    let run = |zeroed: Option<u32>| {
        let mut values: Vec<Arc<LimbBuf<u32>>> = Vec::new();
        for value in 0..flat.value_count() as u32 {
            let limb = match flat.definition(value) {
                _ if zeroed == Some(value) => Arc::new(LimbBuf::zeroed(1 << LOG_N)),
                None => {
                    let input = flat.inputs[value as usize];
                    case.inputs.limb(input.source, input.ty).expect("given")
                }
                Some(inst) => {
                    let (op, modulus, imm) = (flat.op[inst], flat.modulus[inst], flat.imm[inst]);
                    let operation = Operation::new(op, modulus, imm, &flat.constants);
                    let srcs: Vec<&[u32]> =
                        flat.sources(inst).map(|v| &**values[v as usize]).collect();
                    let mut limb = LimbBuf::zeroed(1 << LOG_N);
                    apply(&case.ring, operation.expect("legal"), &mut limb, &srcs);
                    Arc::new(limb)
                }
            };
            values.push(limb);
        }
        let outputs = flat
            .outputs
            .iter()
            .map(|&v| LimbBuf::clone(&values[v as usize]));
        outputs.collect::<Vec<_>>()
    };
    assert_eq!(run(None), case.expected);
    let used = |v: &u32| {
        let mut sources = (0..flat.len()).flat_map(|inst| flat.sources(inst));
        flat.outputs.contains(v) || sources.any(|s| s == *v)
    };
    (0..flat.value_count() as u32)
        .filter(used)
        .all(|v| run(Some(v)) != case.expected)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mutation {
    Earlier,
    Later,
    Drop,
    Slot,
    Operand,
    SwapOperands,
    SwapSlots,
    Operation,
    Modulus,
    Immediate,
    Route,
    Address,
    Bank,
    SwapEntries,
    DramContent,
    Cycles,
}

const MUTATIONS: [Mutation; 16] = [
    Mutation::Earlier,
    Mutation::Later,
    Mutation::Drop,
    Mutation::Slot,
    Mutation::Operand,
    Mutation::SwapOperands,
    Mutation::SwapSlots,
    Mutation::Operation,
    Mutation::Modulus,
    Mutation::Immediate,
    Mutation::Route,
    Mutation::Address,
    Mutation::Bank,
    Mutation::SwapEntries,
    Mutation::DramContent,
    Mutation::Cycles,
];

/// Another number below `bound`, or none.
fn other(rng: &mut TestRng, old: u64, bound: u64) -> Option<u64> {
    (bound > 1).then(|| (old + 1 + rng.below(bound - 1)) % bound)
}

/// Moves one entry in time; the later ones stay where they are.
fn shift(entries: &mut [cyclotron_isa::Entry], at: usize, later: bool) -> Option<()> {
    let after = entries.get(at + 1).map_or(u32::MAX, |e| e.wait);
    let entry = &mut entries[at];
    if later {
        (after > 0).then_some(())?;
        entry.wait += 1;
    } else {
        entry.wait = entry.wait.checked_sub(1)?;
    }
    if let Some(next) = entries.get_mut(at + 1) {
        next.wait = if later { next.wait - 1 } else { next.wait + 1 };
    }
    Some(())
}

fn mutate(rng: &mut TestRng, case: &Case, mutation: Mutation) -> Option<Schedule> {
    let mut schedule = case.schedule.clone();
    let stream = rng.index(schedule.streams.len());
    let entries = &mut schedule.streams[stream].entries;
    let at = rng.index(entries.len());
    match mutation {
        Mutation::Earlier | Mutation::Later => {
            shift(entries, at, mutation == Mutation::Later)?;
        }
        Mutation::Drop => {
            let dropped = entries.remove(at);
            if let Some(next) = entries.get_mut(at) {
                next.wait += dropped.wait;
            }
        }
        Mutation::SwapEntries => {
            let next = entries.get(at + 1).map(|e| e.op)?;
            if entries[at].op == next {
                return None;
            }
            entries[at + 1].op = entries[at].op;
            entries[at].op = next;
        }
        Mutation::DramContent => {
            let count = schedule.dram.len();
            let (i, j) = (rng.index(count), rng.index(count));
            if schedule.dram[i] == schedule.dram[j] {
                return None;
            }
            let content = schedule.dram[i].content;
            schedule.dram[i].content = schedule.dram[j].content;
            schedule.dram[j].content = content;
        }
        Mutation::Cycles => schedule.cycles = schedule.cycles + rng.below(2) * 2 - 1,
        _ => mutate_entry(rng, case, mutation, &mut entries[at].op)?,
    }
    Some(schedule)
}

fn mutate_entry(
    rng: &mut TestRng,
    case: &Case,
    mutation: Mutation,
    entry: &mut StreamOp,
) -> Option<()> {
    let machine = &case.machine;
    match (mutation, entry) {
        (Mutation::Slot, StreamOp::Read { slot, .. } | StreamOp::Write { slot, .. }) => {
            *slot = other(rng, u64::from(*slot), 12)? as u16;
        }
        (Mutation::Slot, StreamOp::Compute { dst, .. }) => {
            *dst = other(rng, u64::from(*dst), u64::from(machine.regfile.slots))? as u16;
        }
        (Mutation::Operand, StreamOp::Compute { src, op, .. }) => {
            let k = rng.index(op.field_sources());
            src[k] = other(rng, u64::from(src[k]), u64::from(machine.regfile.slots))? as u16;
        }
        (Mutation::SwapOperands, StreamOp::Compute { src, .. }) => {
            if src[1] == NO_SLOT || src[0] == src[1] {
                return None;
            }
            src.swap(0, 1);
        }
        (Mutation::SwapSlots, StreamOp::Compute { dst, src, .. }) => {
            if src[0] == *dst {
                return None;
            }
            std::mem::swap(dst, &mut src[0]);
        }
        (Mutation::Operation, StreamOp::Compute { op, .. }) => {
            let pairs = [
                (Op::Ntt, Op::Intt),
                (Op::Add, Op::Sub),
                (Op::Mul, Op::Add),
                (Op::AddC, Op::MulC),
                (Op::AutEval, Op::AutCoeff),
            ];
            let swap = |&(a, b): &(Op, Op)| match *op {
                found if found == a => Some(b),
                found if found == b => Some(a),
                _ => None,
            };
            *op = pairs.iter().find_map(swap)?;
        }
        // An automorphism of values permutes them, whatever the prime is.
        (Mutation::Modulus, StreamOp::Compute { op, modulus, .. }) if *op != Op::AutEval => {
            *modulus = other(rng, u64::from(*modulus), 3)? as u16;
        }
        (Mutation::Immediate, StreamOp::Compute { op, imm, .. }) => {
            let constants = case.flat.constants.len() as u64;
            *imm = match op {
                Op::AutEval | Op::AutCoeff => *imm ^ 2,
                _ if op.has_constant() => other(rng, u64::from(*imm), constants)? as u32,
                _ => 1,
            };
        }
        (Mutation::Route, StreamOp::Route { from }) => {
            *from = other(rng, u64::from(*from), u64::from(machine.clusters).max(4))? as u16;
        }
        (Mutation::Address, StreamOp::Load { address, .. } | StreamOp::Store { address, .. }) => {
            let slots = case.schedule.dram.len() as u64;
            *address = other(rng, u64::from(*address), slots)? as u32;
        }
        (Mutation::Bank, StreamOp::Load { bank, .. } | StreamOp::Store { bank, .. }) => {
            *bank = other(rng, u64::from(*bank), machine.banks.len() as u64)? as u16;
        }
        _ => return None,
    }
    Some(())
}

#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    accepted: u32,
    wrong_limbs: u32,
    undecodable: u32,
    same_limbs: u32,
}

/// Mutants that no simulation can tell from the original: the stated number of
/// cycles moves no data, and units ignore fields that they do not use.
fn is_silent(mutation: Mutation, error: &CheckError) -> bool {
    let unused = |fault: &Fault| matches!(fault, Fault::UnusedField { .. });
    match error {
        CheckError::Cycles { .. } => mutation == Mutation::Cycles,
        CheckError::Entry { fault, .. } => mutation == Mutation::Immediate && unused(fault),
        _ => false,
    }
}

fn judge(case: &Case, mutation: Mutation, mutant: &Schedule, tally: &mut Tally) {
    let Case {
        flat,
        machine,
        ring,
        inputs,
        ..
    } = case;
    let checked = check(flat, mutant, machine);
    let run = simulate(flat, mutant, machine, ring, inputs, Options::default());
    match (checked, run) {
        (Ok(report), Ok(run)) => {
            // A change within the slack, or between operands that commute.
            assert_eq!(run.outputs, case.expected, "{mutation:?} was accepted");
            assert_eq!(run.violations, []);
            assert_eq!(run.cycles, report.cycles);
            tally.accepted += 1;
        }
        (Ok(_), Err(error)) => panic!("{mutation:?} was accepted, but {error}"),
        (Err(_), Err(_)) => tally.undecodable += 1,
        (Err(error), Ok(run)) if run.outputs == case.expected => {
            if !is_silent(mutation, &error) {
                tally.same_limbs += 1;
            }
        }
        (Err(_), Ok(_)) => tally.wrong_limbs += 1,
    }
}

#[test]
fn mutants_are_rejected_or_harmless() {
    let mut tallies: BTreeMap<Mutation, Tally> = BTreeMap::new();
    for seed in 0..200 {
        let case = case(seed);
        if !every_value_matters(&case) {
            continue;
        }
        check(&case.flat, &case.schedule, &case.machine).expect("legal");
        let mut rng = TestRng::new(seed);
        for _ in 0..200 {
            let mutation = rng.pick(&MUTATIONS);
            if let Some(mutant) = mutate(&mut rng, &case, mutation) {
                let tally = tallies.entry(mutation).or_default();
                judge(&case, mutation, &mutant, tally);
            }
        }
    }
    assert_eq!(tallies.len(), MUTATIONS.len());
    let sum = |of: fn(&Tally) -> u32| tallies.values().map(of).sum::<u32>();
    let rejected = sum(|t| t.wrong_limbs + t.undecodable + t.same_limbs);
    assert!(rejected > 8_000, "{tallies:#?}");
    // What is left are coincidences of the values: `a - b` for `b - a` where both
    // are zero, a moved entry that meets an equal value, a factor that is zero.
    let same = sum(|t| t.same_limbs);
    assert!(same * 100 < rejected, "{same} of {rejected}: {tallies:#?}");
    for (mutation, tally) in &tallies {
        let rejected = tally.wrong_limbs + tally.undecodable;
        let few = matches!(mutation, Mutation::Cycles | Mutation::SwapOperands);
        assert!(few || rejected > 80, "{mutation:?}: {tally:?}");
    }
}
