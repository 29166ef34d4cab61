//! Every homomorphic operation, encrypted, against the clear.

use crate::harness::{Build, assert_close, parameters, run};
use cyclotron_lower::Target;
use cyclotron_program::{HeOp, KeySwitch, Scheme as GraphScheme};
use cyclotron_schemes::{Parameters, Scheme};

const LOG_N: u32 = 10;

fn target(params: &Parameters, variant: KeySwitch) -> Target {
    Target {
        variants: vec![variant],
        ..Target::cpu(params.word_bits)
    }
}

fn reals(slots: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 23) - 1.0
    };
    (0..slots).map(|_| next()).collect()
}

fn rotate(x: &[f64], steps: usize) -> Vec<f64> {
    (0..x.len()).map(|i| x[(i + steps) % x.len()]).collect()
}

fn zip(x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    x.iter().zip(y).map(|(&a, &b)| f(a, b)).collect()
}

fn ckks_cases() -> Vec<(Parameters, KeySwitch)> {
    let hybrid = KeySwitch::Hybrid;
    vec![
        (
            parameters(Scheme::Ckks, LOG_N, &[31, 28, 28, 28], &[31], 32),
            hybrid,
        ),
        (
            parameters(Scheme::Ckks, LOG_N, &[32, 28, 28, 28], &[32, 32], 32),
            hybrid,
        ),
        (
            parameters(Scheme::Ckks, LOG_N, &[50, 40, 40, 40], &[50, 50, 50], 64),
            hybrid,
        ),
        (
            parameters(Scheme::Ckks, LOG_N, &[60, 50, 50, 50], &[60], 64),
            hybrid,
        ),
    ]
}

#[test]
fn ckks_operations_match_the_clear() {
    for (params, variant) in ckks_cases() {
        let slots = params.slots();
        let (x, y, w) = (reals(slots, 1), reals(slots, 2), reals(slots, 3));
        let mut b = Build::new(GraphScheme::Ckks, LOG_N);
        let (cx, cy) = (b.input(), b.input());
        let plain = b.plain(&w);
        let product = b.op(HeOp::Mul { a: cx, b: cy });
        let moved = b.op(HeOp::Rotate {
            ct: product,
            steps: 3,
        });
        let weighted = b.op(HeOp::MulPlain { ct: moved, plain });
        let shifted = b.op(HeOp::AddPlain {
            ct: weighted,
            plain,
        });
        let less = b.op(HeOp::SubPlain { ct: cx, plain });
        let sum = b.op(HeOp::Sub {
            a: less,
            b: shifted,
        });
        let constant = b.op(HeOp::AddScalar {
            ct: sum,
            value: 0.25,
        });
        let scaled = b.op(HeOp::MulScalar {
            ct: constant,
            value: -0.75,
            scale_bits: None,
        });
        let doubled = b.op(HeOp::MulScalar {
            ct: cy,
            value: 2.0,
            scale_bits: None,
        });
        let negated = b.op(HeOp::Neg { ct: doubled });
        let conjugate = b.op(HeOp::Conjugate { ct: negated });
        let square = b.op(HeOp::Mul { a: cx, b: cx });
        for ct in [product, moved, shifted, scaled, conjugate, square] {
            b.output(ct);
        }
        let run = run(
            &b.0,
            &params,
            &target(&params, variant),
            &[x.clone(), y.clone()],
        );
        let product = zip(&x, &y, |a, b| a * b);
        let moved = rotate(&product, 3);
        let shifted = zip(&moved, &w, |m, w| m * w + w);
        let scaled = zip(&zip(&x, &w, |a, b| a - b), &shifted, |a, s| {
            -0.75 * (a - s + 0.25)
        });
        let conjugate: Vec<f64> = y.iter().map(|v| -2.0 * v).collect();
        let square = zip(&x, &x, |a, b| a * b);
        let expected = [product, moved, shifted, scaled, conjugate, square];
        for (k, (got, want)) in run.outputs.iter().zip(&expected).enumerate() {
            let error = zip(got, want, |a, b| (a - b).abs())
                .into_iter()
                .fold(0.0, f64::max);
            let output = &run.lowered.outputs[k];
            let bound = run.lowered.noise.nodes[output.node as usize]
                .noise_bits
                .exp2()
                / output.scale;
            assert!(
                error <= bound,
                "output {k}: error {error:e} above the predicted {bound:e}"
            );
            assert!(
                error * 4000.0 >= bound,
                "output {k}: bound {bound:e} says nothing of {error:e}"
            );
        }
    }
}

#[test]
fn ckks_listing_1_rotates_at_the_squared_scale() {
    let params = parameters(Scheme::Ckks, LOG_N, &[32, 32, 31], &[], 32);
    let x = reals(params.slots(), 5);
    let mut b = Build::new(GraphScheme::Ckks, LOG_N);
    let cx = b.input();
    let square = b.op(HeOp::Mul { a: cx, b: cx });
    let moved = b.op(HeOp::Rotate {
        ct: square,
        steps: -1,
    });
    b.output(moved);
    let run = run(
        &b.0,
        &params,
        &target(&params, KeySwitch::Listing1),
        std::slice::from_ref(&x),
    );
    let want = rotate(&zip(&x, &x, |a, b| a * b), x.len() - 1);
    assert_close(&run.outputs[0], &want, 2f64.powi(-8));
    assert!(
        run.lowered
            .keys
            .iter()
            .all(|key| key.to_string().ends_with("listing1"))
    );
}

#[test]
fn bgv_operations_are_exact() {
    let hybrid = KeySwitch::Hybrid;
    let cases = [
        (
            parameters(Scheme::Bgv, LOG_N, &[32, 32, 32, 32, 32], &[32], 32),
            hybrid,
        ),
        (
            parameters(Scheme::Bgv, LOG_N, &[31, 31, 31, 31, 31], &[31, 31], 32),
            hybrid,
        ),
        (
            parameters(Scheme::Bgv, LOG_N, &[50, 50, 50, 50], &[50], 64),
            hybrid,
        ),
        (
            parameters(Scheme::Bgv, LOG_N, &[60, 60, 60, 60], &[60, 60], 64),
            hybrid,
        ),
        (
            parameters(Scheme::Bgv, LOG_N, &[32; 6], &[], 32),
            KeySwitch::Listing1,
        ),
    ];
    let t = 65_537.0;
    let centre = |v: f64| {
        let r = v.rem_euclid(t);
        if r > t / 2.0 { r - t } else { r }
    };
    for (params, variant) in cases {
        let slots = params.slots();
        let whole = |seed| {
            reals(slots, seed)
                .iter()
                .map(|v| (v * 30_000.0).round())
                .collect()
        };
        let (x, y, w): (Vec<f64>, Vec<f64>, Vec<f64>) = (whole(1), whole(2), whole(3));
        let mut b = Build::new(
            GraphScheme::Bgv {
                plaintext_modulus: 65_537,
            },
            LOG_N,
        );
        let (cx, cy) = (b.input(), b.input());
        let plain = b.plain(&w);
        let product = b.op(HeOp::Mul { a: cx, b: cy });
        let moved = b.op(HeOp::Rotate {
            ct: product,
            steps: 5,
        });
        let square = b.op(HeOp::Mul { a: moved, b: moved });
        let mixed = b.op(HeOp::Sub { a: square, b: cx });
        let weighted = b.op(HeOp::MulPlain { ct: cy, plain });
        let shifted = b.op(HeOp::AddPlain {
            ct: weighted,
            plain,
        });
        let swapped = b.op(HeOp::Rotate {
            ct: shifted,
            steps: (slots / 2) as i64,
        });
        let scaled = b.op(HeOp::MulScalar {
            ct: mixed,
            value: -3.0,
            scale_bits: None,
        });
        let constant = b.op(HeOp::AddScalar {
            ct: scaled,
            value: 12_345.0,
        });
        for ct in [product, moved, mixed, swapped, constant] {
            b.output(ct);
        }
        let run = run(
            &b.0,
            &params,
            &target(&params, variant),
            &[x.clone(), y.clone()],
        );
        let by_row = |v: &[f64], steps: usize| {
            let (top, bottom) = v.split_at(slots / 2);
            [rotate(top, steps), rotate(bottom, steps)].concat()
        };
        let product = zip(&x, &y, |a, b| centre(a * b));
        let moved = by_row(&product, 5);
        let mixed = zip(&moved, &x, |m, x| centre(m * m - x));
        let shifted = zip(&y, &w, |y, w| centre(y * w + w));
        let swapped = rotate(&shifted, slots / 2);
        let constant: Vec<f64> = mixed.iter().map(|v| centre(-3.0 * v + 12_345.0)).collect();
        let expected = [product, moved, mixed, swapped, constant];
        for (k, (got, want)) in run.outputs.iter().zip(&expected).enumerate() {
            assert_eq!(
                got, want,
                "output {k} with {variant:?} in {}-bit words",
                params.word_bits
            );
        }
        for noise in &run.lowered.noise.nodes {
            assert!(noise.margin_bits > 0.0);
        }
    }
}
