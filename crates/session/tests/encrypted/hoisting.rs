//! Rotations of one ciphertext that share its decomposition.

use cyclotron_isa::Call;
use cyclotron_schemes::ParametersLiteral;
use cyclotron_session::{HeOp, KeySwitch, Parameters, Plan, ProgramScheme, Scheme};

use crate::operations::{Build, assert_close, parameters, reals, rotate, run};

const STEPS: [i64; 3] = [1, 5, -2];

/// Rotations of the input by `steps`, each an output.
fn rotations(scheme: ProgramScheme, steps: &[i64]) -> Build {
    let mut b = Build::new(scheme);
    let x = b.input();
    for &steps in steps {
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
        let input = std::slice::from_ref(&x);
        let graph = |steps: &[i64]| rotations(ProgramScheme::Ckks, steps).0;
        let (plan, outputs) = run(graph(&STEPS), &params, KeySwitch::Hybrid, input);
        for (got, steps) in outputs.iter().zip(STEPS) {
            let left = steps.rem_euclid(x.len() as i64) as usize;
            assert_close(got, &rotate(&x, left), 2f64.powi(-10));
            let (_, alone) = run(graph(&[steps]), &params, KeySwitch::Hybrid, input);
            assert_eq!(got, &alone[0], "hoisting changes no bit");
        }
        assert_shared(&plan);
    }
}

/// One decomposition serves all rotations.
fn assert_shared(plan: &Plan) {
    let program = plan.program();
    let calls_of = |prefix: &str| {
        let name = |call: &Call| &program.procedures[call.procedure as usize].name;
        let calls = program.calls.iter();
        calls.filter(|call| name(call).starts_with(prefix)).count()
    };
    let counts = (calls_of("decompose"), calls_of("hoisted-"));
    assert_eq!(counts, (1, STEPS.len()));
}

#[test]
fn bgv_rotations_share_one_decomposition() {
    let params = parameters(Scheme::Bgv, &[40, 40], &[40], 64);
    let x: Vec<f64> = (0..params.slots()).map(|i| (i % 41) as f64).collect();
    let scheme = ProgramScheme::Bgv {
        plaintext_modulus: 65_537,
    };
    for variant in [KeySwitch::Hybrid, KeySwitch::Listing1] {
        let graph = rotations(scheme, &STEPS).0;
        let (plan, outputs) = run(graph, &params, variant, std::slice::from_ref(&x));
        let (top, bottom) = x.split_at(x.len() / 2);
        for (got, steps) in outputs.iter().zip(STEPS) {
            let left = steps.rem_euclid(top.len() as i64) as usize;
            assert_eq!(got, &[rotate(top, left), rotate(bottom, left)].concat());
        }
        assert_shared(&plan);
    }
}

#[test]
fn one_rotation_is_not_hoisted() {
    let params = parameters(Scheme::Ckks, &[31, 28, 28], &[31], 32);
    let graph = rotations(ProgramScheme::Ckks, &[1]).0;
    let input = reals(params.slots(), 4);
    let (plan, _) = run(graph, &params, KeySwitch::Hybrid, &[input]);
    assert_eq!(plan.program().calls.len(), 1);
}
