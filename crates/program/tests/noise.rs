//! Noise analysis: what rounding, conversions and squares contribute.

use cyclotron_program::{
    ChainSpec, Graph, HeOp, KeySwitch, NodeNoise, PlacedGraph, PlainOperand, Scheme, Span,
    magnitudes, noise, place,
};

fn chain(limbs: usize) -> ChainSpec {
    ChainSpec {
        scheme: Scheme::Ckks,
        log_n: 14,
        moduli: vec![(1 << 30) + 65_537; limbs],
        special: vec![4_294_828_033],
        digit_limbs: 1,
        scales: vec![2f64.powi(30); limbs],
        sigma: 3.19,
        secret_variance: 2.0 / 3.0,
        listing1_margin_bits: None,
    }
}

/// A program on one input at scale 2^22, with measured magnitudes; its last node is output.
fn program(ops: &[HeOp], measured: &[f64]) -> Graph {
    let mut graph = Graph::new("test", Scheme::Ckks, 14);
    graph.inputs.push("x".to_owned());
    graph.outputs.push("y".to_owned());
    let scale_bits = Some(22.0);
    let mut last = graph.push(
        HeOp::Input {
            input: 0,
            scale_bits,
        },
        Span::default(),
    );
    for &op in ops {
        last = graph.push(op, Span::default());
    }
    graph.push(
        HeOp::Output {
            ct: last,
            output: 0,
        },
        Span::default(),
    );
    graph.measured = measured.to_vec();
    graph
}

fn analyse(graph: &Graph, limbs: usize) -> (PlacedGraph, Vec<NodeNoise>) {
    let chain = chain(limbs);
    let placed = place(graph, &chain).unwrap();
    let report = noise(graph, &placed, &chain, &magnitudes(graph), |_| {
        KeySwitch::Hybrid
    });
    (placed, report.nodes)
}

fn weighted(value: f64) -> f64 {
    let op = HeOp::MulScalar {
        ct: 0,
        value,
        scale_bits: Some(8.0),
    };
    let graph = program(&[op], &[1.0, value, value]);
    analyse(&graph, 3).1.last().unwrap().precision_bits
}

#[test]
fn a_constant_that_is_exact_at_its_scale_costs_no_precision() {
    let fresh = analyse(&program(&[], &[1.0, 1.0]), 3).1[0].precision_bits;
    assert!((weighted(0.25) - fresh).abs() < 1e-9);
    // 2^-9 of rounding in a factor of about 1/4.
    assert!(weighted(0.25 + 1.0 / 512.0) < 8.0);
}

#[test]
fn a_converted_operand_keeps_its_magnitude() {
    // (4 x)^2: the rescale in front of the second square holds 16, not 256.
    let ops = [
        HeOp::MulScalar {
            ct: 0,
            value: 4.0,
            scale_bits: Some(8.0),
        },
        HeOp::Mul { a: 1, b: 1 },
        HeOp::Mul { a: 2, b: 2 },
    ];
    let (placed, found) = analyse(&program(&ops, &[1.0, 4.0, 16.0, 256.0, 256.0]), 3);
    let at = |name: &str| {
        placed
            .nodes
            .iter()
            .rposition(|n| n.op.name() == name)
            .unwrap()
    };
    let (rescaled, product) = (found[at("rescale")], found[at("mul")]);
    let bits = |n: usize| placed.nodes[n].scale.log2();
    let held = rescaled.noise_bits + rescaled.precision_bits - bits(at("rescale"));
    assert!((held - 5.0).abs() < 1e-6, "magnitude 2^{held}");
    // (v + e)^2 = v^2 + 2 v e: a square loses one bit; another, because the margin of 2
    // on measured magnitudes counts twice in the error and once in the result.
    let lost = rescaled.precision_bits - product.precision_bits;
    assert!((lost - 2.0).abs() < 0.01, "{lost}");
}

#[test]
fn bgv_sums_of_rotations_double_their_noise() {
    // The sum over all automorphisms of one value concentrates N errors in one coefficient.
    let scheme = Scheme::Bgv {
        plaintext_modulus: 65_537,
    };
    let mut graph = Graph::new("test", scheme, 14);
    graph.inputs.push("x".to_owned());
    graph.outputs.push("y".to_owned());
    let push = |graph: &mut Graph, op| graph.push(op, Span::default());
    let input = HeOp::Input {
        input: 0,
        scale_bits: None,
    };
    let mut sum = push(&mut graph, input);
    for i in 0..14 {
        let steps = 1 << i;
        let moved = push(&mut graph, HeOp::Rotate { ct: sum, steps });
        sum = push(&mut graph, HeOp::Add { a: sum, b: moved });
    }
    push(&mut graph, HeOp::Output { ct: sum, output: 0 });
    let chain = ChainSpec {
        scheme,
        scales: vec![1.0; 3],
        ..chain(3)
    };
    let placed = place(&graph, &chain).unwrap();
    let report = noise(&graph, &placed, &chain, &[1.0; 30], |_| KeySwitch::Hybrid);
    let bits = |i: usize| report.nodes[i].noise_bits;
    assert!(bits(placed.nodes.len() - 1) - bits(0) >= 14.0);
}

#[test]
fn a_weighted_sum_over_slots_adds_up_the_weights_it_has() {
    // One large weight among many small ones: the sum's error follows their squares.
    let mut weights = vec![0.01; 1024];
    weights[0] = 1.0;
    let summed = |values: Vec<f64>| {
        let plain = HeOp::MulPlain { ct: 0, plain: 0 };
        let mut ops = vec![plain];
        let mut last = 1;
        for i in 0..10 {
            ops.push(HeOp::Rotate {
                ct: last,
                steps: 1 << i,
            });
            ops.push(HeOp::Add {
                a: last,
                b: last + 1,
            });
            last += 2;
        }
        let mut graph = program(&ops, &[]);
        graph.measured = vec![1.0; graph.nodes.len()];
        let values = Some(values);
        graph.plains.push(PlainOperand {
            name: "w".into(),
            values,
            scale_bits: None,
        });
        analyse(&graph, 3).1.last().unwrap().noise_bits
    };
    let (mixed, one, all) = (summed(weights), summed(vec![1.0]), summed(vec![1.0; 1024]));
    assert!(mixed - one < 0.5, "{mixed} against {one}");
    assert!(all - mixed > 4.0, "{mixed} against {all}");
}

/// The noise bits of a program's last node and of its first rotation, all switches by Listing 1.
fn rotations(
    make: impl Fn(&mut Graph, &mut dyn FnMut(&mut Graph, HeOp) -> u32) -> u32,
) -> [f64; 2] {
    let mut graph = Graph::new("test", Scheme::Ckks, 14);
    graph.outputs.push("y".to_owned());
    let mut push = |graph: &mut Graph, op| graph.push(op, Span::default());
    let sum = make(&mut graph, &mut push);
    push(&mut graph, HeOp::Output { ct: sum, output: 0 });
    let chain = chain(3);
    let placed = place(&graph, &chain).unwrap();
    let magnitudes = vec![1.0; graph.nodes.len()];
    let report = noise(&graph, &placed, &chain, &magnitudes, |_| {
        KeySwitch::Listing1
    });
    let first = placed.nodes.iter().position(|n| n.op.name() == "rotate");
    let [last, first] = [placed.nodes.len() - 1, first.unwrap()];
    [
        report.nodes[last].noise_bits,
        report.nodes[first].noise_bits,
    ]
}

fn input(graph: &mut Graph, push: &mut dyn FnMut(&mut Graph, HeOp) -> u32) -> u32 {
    let input = graph.inputs.len() as u32;
    graph.inputs.push(format!("x{input}"));
    let scale_bits = Some(22.0);
    push(graph, HeOp::Input { input, scale_bits })
}

#[test]
fn rotations_by_one_hint_of_listing_1_add_their_amplitudes() {
    const COUNT: u32 = 64;
    let sum_of = |steps: fn(i64) -> i64| {
        rotations(|graph, push| {
            let mut sum = None;
            for i in 0..COUNT {
                let ct = input(graph, push);
                let steps = steps(i64::from(i) + 1);
                let b = push(graph, HeOp::Rotate { ct, steps });
                sum = Some(sum.map_or(b, |a| push(graph, HeOp::Add { a, b })));
            }
            sum.unwrap()
        })
    };
    let [sum, one] = sum_of(|_| 3);
    assert!((sum - one - 6.0).abs() < 0.05, "one hint: {sum}, {one}");
    let [sum, one] = sum_of(|i| i);
    assert!(
        (sum - one - 3.0).abs() < 0.05,
        "{COUNT} hints: {sum}, {one}"
    );
}

#[test]
fn a_rotation_separates_the_errors_of_a_hint() {
    // (x << 1) + (y << 1) has one error twice; (x << 1) + (x << 3), three that are independent.
    let [together, one] = rotations(|graph, push| {
        let [x, y] = [0; 2].map(|_| {
            let ct = input(graph, push);
            push(graph, HeOp::Rotate { ct, steps: 1 })
        });
        push(graph, HeOp::Add { a: x, b: y })
    });
    assert!((together - one - 1.0).abs() < 0.01, "{together}, {one}");
    let [apart, one] = rotations(|graph, push| {
        let x = input(graph, push);
        let ct = push(graph, HeOp::Rotate { ct: x, steps: 1 });
        let y = push(graph, HeOp::Rotate { ct, steps: 2 });
        push(graph, HeOp::Add { a: ct, b: y })
    });
    assert!(
        (apart - one - 0.5 * 3f64.log2()).abs() < 0.01,
        "{apart}, {one}"
    );
}

#[test]
fn a_public_key_adds_the_noise_of_two_more_products() {
    // e + e' u + e'' s: 1 + N 2/3 + N 2/3 variances instead of one, beside the encoding's.
    let mut graph = program(&[], &[1.0, 1.0]);
    let secret = analyse(&graph, 2).1[0].noise_bits;
    graph.public_key = true;
    let public = analyse(&graph, 2).1[0].noise_bits;
    let (sigma2, n) = (3.19f64.powi(2), 16384.0);
    let ratio = ((1.0 + 4.0 * n / 3.0) * sigma2 + 1.0 / 12.0) / (sigma2 + 1.0 / 12.0);
    assert!((public - secret - ratio.log2() / 2.0).abs() < 1e-9);
}
