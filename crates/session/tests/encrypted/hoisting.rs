//! Rotations of one ciphertext that share its decomposition.

use cyclotron_schemes::ParametersLiteral;
use cyclotron_session::{HeOp, KeySwitch, Parameters, ProgramScheme, Scheme};

use crate::operations::{Build, assert_close, parameters, reals, rotate, run};

const STEPS: [i64; 3] = [1, 5, -2];

/// Rotations of the input by [`STEPS`], each an output.
fn rotations(scheme: ProgramScheme) -> Build {
    let mut b = Build::new(scheme);
    let x = b.input();
    for steps in STEPS {
        let moved = b.op(HeOp::Rotate { ct: x, steps });
        b.output(moved);
    }
    b
}

/// Two data limbs a digit, the last digit shorter.
fn wide_digits() -> Parameters {
    let mut literal = ParametersLiteral::new(Scheme::Ckks, 10);
    literal.log_q = Some(vec![40, 30, 30, 30, 30]);
    literal.log_p = Some(vec![40, 40]);
    literal.digit_limbs = Some(2);
    literal.scale_bits = Some(30.0);
    literal.allow_insecure = Some("test".into());
    Parameters::from_literal(&literal).expect("valid test parameters")
}

#[test]
fn ckks_rotations_share_one_decomposition() {
    let narrow = parameters(Scheme::Ckks, &[31, 28, 28], &[31], 32);
    for params in [narrow, wide_digits().into()] {
        let x = reals(params.slots(), 4);
        let graph = rotations(ProgramScheme::Ckks).0;
        let (plan, outputs) = run(graph, &params, KeySwitch::Hybrid, std::slice::from_ref(&x));
        for (got, steps) in outputs.iter().zip(STEPS) {
            let left = steps.rem_euclid(x.len() as i64) as usize;
            assert_close(got, &rotate(&x, left), 2f64.powi(-10));
        }
        let program = plan.program();
        let calls_of = |prefix: &str| {
            let named = |call: &&_| procedure_name(program, call).starts_with(prefix);
            program.calls.iter().filter(named).count()
        };
        assert_eq!(
            (calls_of("decompose"), calls_of("hoisted-")),
            (1, STEPS.len())
        );
    }
}

fn procedure_name<'a>(
    program: &'a cyclotron_isa::LimbProgram,
    call: &cyclotron_isa::Call,
) -> &'a str {
    &program.procedures[call.procedure as usize].name
}

#[test]
fn bgv_rotations_share_one_decomposition() {
    let params = parameters(Scheme::Bgv, &[40, 40], &[40], 64);
    let x: Vec<f64> = (0..params.slots()).map(|i| (i % 41) as f64).collect();
    let scheme = ProgramScheme::Bgv {
        plaintext_modulus: 65_537,
    };
    let (_, outputs) = run(
        rotations(scheme).0,
        &params,
        KeySwitch::Hybrid,
        std::slice::from_ref(&x),
    );
    let (top, bottom) = x.split_at(x.len() / 2);
    for (got, steps) in outputs.iter().zip(STEPS) {
        let left = steps.rem_euclid(top.len() as i64) as usize;
        assert_eq!(got, &[rotate(top, left), rotate(bottom, left)].concat());
    }
}

#[test]
fn one_rotation_is_not_hoisted() {
    let params = parameters(Scheme::Ckks, &[31, 28, 28], &[31], 32);
    let mut b = Build::new(ProgramScheme::Ckks);
    let x = b.input();
    let moved = b.op(HeOp::Rotate { ct: x, steps: 1 });
    b.output(moved);
    let input = reals(params.slots(), 4);
    let (plan, _) = run(b.0, &params, KeySwitch::Hybrid, &[input]);
    assert_eq!(plan.program().calls.len(), 1);
}
