//! Programs of which every value matters, and their schedules.

use std::ops::ControlFlow;
use std::sync::Arc;

use cyclotron_compiler::{CompileError, compile};
use cyclotron_isa::kernel::{Operation, apply};
use cyclotron_isa::testing::{HashInputs, ProgramShape, TestRng, random_program};
use cyclotron_isa::{
    Call, Domain, FlatProgram, InputProvider, Inst, LimbProgram, LimbType, NONE, Op, Procedure,
    Schedule, interpret,
};
use cyclotron_machine::testing::{random_resolved, schedule_naively};
use cyclotron_machine::{Machine, Resolved};
use cyclotron_ring::{LimbBuf, Ring, Simd, primes};

/// More words than any occupancy has cycles, so that no cycle falls between two words.
pub(crate) const LOG_N: u32 = 10;

pub(crate) struct Case {
    pub(crate) flat: FlatProgram,
    pub(crate) machine: Resolved,
    pub(crate) schedule: Schedule,
    pub(crate) inputs: HashInputs,
    pub(crate) ring: Ring<u32>,
    pub(crate) expected: Vec<LimbBuf<u32>>,
}

/// A program without instructions that no output needs; scheduled by the
/// compiler for F1 or a random machine, or by the naive scheduler. `None` if it
/// does not fit.
pub(crate) fn case(seed: u64) -> Option<Case> {
    let moduli = primes::ntt_primes(1 << 32, 1 << 16, 3);
    let mut rng = TestRng::new(seed);
    let mut shape = ProgramShape::small(LOG_N, 32, &moduli);
    shape.compound = false;
    shape.calls = 2 + rng.index(8);
    let program = random_program(seed, &shape);
    let flat = without_dead_code(&FlatProgram::new(&program).expect("flat"));
    let machine = match seed % 3 {
        0 => Machine::shipped("f1")
            .and_then(|f1| f1.resolve(LOG_N))
            .expect("F1"),
        _ => random_resolved(seed, LOG_N),
    };
    let (flat, schedule) = match seed % 3 {
        2 => {
            let schedule = schedule_naively(&flat, &machine, seed).expect("every operation");
            (flat, schedule)
        }
        _ => {
            let options = cyclotron_compiler::Options::default();
            let program = as_one_procedure(&program, &flat);
            let compiled = compile(&program, &machine, &options, &mut |_, _| {
                ControlFlow::Continue(())
            });
            match compiled {
                Ok(compiled) => (compiled.flat, compiled.schedule),
                Err(CompileError::DoesNotFit { .. }) => return None,
                Err(other) => panic!("{other}"),
            }
        }
    };
    let ring = Ring::new(LOG_N, &moduli, Simd::Scalar).expect("a ring");
    let inputs = HashInputs::new(seed, &program);
    let expected = interpret(&program, &ring, &inputs).expect("runs");
    Some(Case {
        flat,
        machine,
        schedule,
        inputs,
        ring,
        expected,
    })
}

/// A flat program as one call.
fn as_one_procedure(program: &LimbProgram, flat: &FlatProgram) -> LimbProgram {
    let inputs = flat.inputs.len() as u32;
    let mut types: Vec<LimbType> = flat.inputs.iter().map(|input| input.ty).collect();
    let mut insts = Vec::new();
    for inst in 0..flat.len() {
        let (op, modulus) = (flat.op[inst], flat.modulus[inst]);
        let [a, b, c] = flat.src[inst].map(|v| if v == NONE { 0 } else { v });
        let domain = match op {
            Op::Ntt => Domain::Eval,
            Op::Intt => Domain::Coeff,
            _ => types[a as usize].domain,
        };
        let dst = types.len() as u32;
        types.push(LimbType { modulus, domain });
        let imm = flat.imm[inst];
        insts.push(Inst {
            op,
            modulus,
            dst,
            a,
            b,
            c,
            imm,
        });
    }
    let results: Vec<u32> = flat.outputs.clone();
    let mut outputs = program.outputs.clone();
    for (k, output) in (0..).zip(&mut outputs) {
        output.value = inputs + k;
    }
    LimbProgram {
        procedures: vec![Procedure {
            name: "all".to_owned(),
            params: inputs,
            types,
            insts,
            operands: Vec::new(),
            results,
        }],
        calls: vec![Call {
            procedure: 0,
            args: 0,
            first_result: inputs,
            node: 0,
        }],
        args: (0..inputs).collect(),
        outputs,
        ..program.clone()
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
pub(crate) fn every_value_matters(case: &Case) -> bool {
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
