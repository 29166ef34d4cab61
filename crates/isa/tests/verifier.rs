//! The verifier rejects every broken field of a legal program.

use cyclotron_isa::testing::{ProgramShape, TestRng, random_program};
use cyclotron_isa::{
    FlatProgram, IsaError, LimbProgram, LimbType, Op, ProgramBuilder, Source, verify,
};

const PRIMES: [u64; 3] = [4293918721, 4293525505, 786433];

/// Two eval inputs, one coefficient input; one instruction emitted by `emit`.
fn with(emit: impl FnOnce(&mut cyclotron_isa::ProcedureBuilder<'_>) -> u32) -> LimbProgram {
    let mut b = ProgramBuilder::new("one", 4, 32, &PRIMES);
    let x = b.ciphertext("x");
    let procedure = b.procedure("f", |p| {
        p.param(LimbType::eval(0));
        p.param(LimbType::eval(1));
        p.param(LimbType::coeff(0));
        vec![emit(p)]
    });
    let inputs = [LimbType::eval(0), LimbType::eval(1), LimbType::coeff(0)];
    let args: Vec<u32> = (0..3)
        .map(|limb| {
            let source = Source::Ciphertext {
                input: x,
                poly: 0,
                limb,
            };
            b.input(source, inputs[usize::from(limb)])
        })
        .collect();
    let results = b.call(procedure, &args, 0);
    let y = b.output_named("y");
    b.output(y, 0, 0, results[0]);
    b.finish()
}

#[test]
fn exactness_rules() {
    // Multiplicands and the source of NTT may be of another prime, nothing else.
    for legal in [
        with(|p| p.mul(0, 0, 1)),
        with(|p| p.mul(2, 0, 1)),
        with(|p| p.mul_c(2, 0, 5)),
        with(|p| p.mac(0, 1, 1)),
        with(|p| p.dot(2, &[(0, 1), (1, 1)])),
        with(|p| p.bconv(&[1, 2], &[2], &[3, 4])[1]),
        with(|p| p.ntt(1, 2)),
        with(|p| p.intt(0)),
        with(|p| p.aut(2, 5)),
    ] {
        verify(&legal).expect("legal");
    }
    for illegal in [
        with(|p| p.add(0, 1)),
        with(|p| p.sub(0, 1)),
        with(|p| p.add(0, 2)),
        with(|p| p.mul(0, 0, 2)),
        with(|p| p.sub_mul_c(0, 1, 1)),
        with(|p| p.ntt(0, 0)),
        with(|p| p.intt(2)),
        with(|p| p.bconv(&[1], &[2, 0], &[3, 4])[0]),
        with(|p| p.dot(0, &[(0, 2)])),
    ] {
        let error = verify(&illegal).expect_err("illegal");
        assert!(matches!(error, IsaError::WrongType { .. }), "{error}");
    }
    for invalid in [
        with(|p| p.aut(0, 4)),
        with(|p| p.aut(0, 33)),
        with(|p| p.mul_c(2, 0, PRIMES[2])),
        with(|p| p.add_c(0, PRIMES[0])),
        with(|p| p.bconv(&[0, 2], &[2], &[PRIMES[2], PRIMES[2]])[0]),
    ] {
        let error = verify(&invalid).expect_err("invalid");
        assert!(matches!(error, IsaError::Invalid { .. }), "{error}");
    }
}

#[test]
fn broken_tables() {
    let good = with(|p| p.bconv(&[1, 2], &[2], &[3, 4])[1]);
    verify(&good).expect("legal");
    type Break = (&'static str, fn(&mut LimbProgram));
    let breaks: [Break; 22] = [
        ("log_n 0", |p| p.log_n = 0),
        ("log_n 40", |p| p.log_n = 40),
        ("word_bits", |p| p.word_bits = 16),
        ("no moduli", |p| p.moduli.clear()),
        ("wide modulus", |p| p.moduli[0] = (1 << 32) + 1),
        ("input modulus", |p| p.inputs[0].ty.modulus = 3),
        ("input twice", |p| p.inputs[1] = p.inputs[0]),
        ("ciphertext", |p| p.ciphertexts.clear()),
        ("types", |p| p.procedures[0].types.push(LimbType::eval(0))),
        ("params", |p| p.procedures[0].params = 9),
        ("result", |p| p.procedures[0].results[0] = 5),
        ("pool", |p| p.procedures[0].operands.truncate(2)),
        ("pool offset", |p| p.procedures[0].insts[0].a = u32::MAX),
        ("pool count", |p| p.procedures[0].insts[0].b = u32::MAX),
        ("constants", |p| p.constants.truncate(1)),
        ("dst", |p| p.procedures[0].insts[0].dst = 4),
        ("modulus", |p| p.procedures[0].insts[0].modulus = 2),
        ("procedure", |p| p.calls[0].procedure = 1),
        ("args", |p| p.calls[0].args = 1),
        ("first result", |p| p.calls[0].first_result = 2),
        ("output", |p| p.outputs[0].output = 1),
        ("value", |p| p.outputs[0].value = 9),
    ];
    for (what, change) in breaks {
        let mut program = good.clone();
        change(&mut program);
        assert!(verify(&program).is_err(), "{what}");
    }
}

#[test]
fn unused_fields_are_zero() {
    let mut program = with(|p| p.intt(0));
    program.procedures[0].insts[0].b = 1;
    assert!(verify(&program).is_err());
}

/// Random damage to any field never panics, here or in what relies on the verifier.
#[test]
fn accepted_programs_expand() {
    let mut rng = TestRng::new(5);
    let mut accepted = 0;
    for seed in 0..60 {
        let mut shape = ProgramShape::small(5, 32, &PRIMES);
        shape.compound = false;
        let good = random_program(seed, &shape);
        for _ in 0..60 {
            let mut program = good.clone();
            let damage = [0, 1, 2, 3, 7, 100, u32::MAX][rng.index(7)];
            let procedure = rng.index(program.procedures.len());
            let procedure = &mut program.procedures[procedure];
            let at = rng.index(procedure.insts.len());
            let inst = &mut procedure.insts[at];
            match rng.below(8) {
                0 => inst.a = damage,
                1 => inst.b = damage,
                2 => inst.imm = damage,
                3 => inst.modulus = damage as u16,
                4 => inst.op = rng.pick(&Op::ALL),
                5 => inst.dst = damage,
                6 => {
                    let at = rng.index(program.args.len());
                    program.args[at] = damage;
                }
                _ => {
                    let at = rng.index(program.calls.len());
                    program.calls[at].args = damage;
                }
            }
            if verify(&program).is_ok() {
                accepted += 1;
                if program.procedures.iter().all(|p| p.operands.is_empty()) {
                    FlatProgram::new(&program).expect("no list operation");
                }
            }
        }
    }
    assert!(accepted > 50, "{accepted}");
}
