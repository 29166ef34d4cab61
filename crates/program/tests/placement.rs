//! Placement: the lazy rule, matched scales, and errors at the user's line.

use cyclotron_program::{
    ChainSpec, Graph, HeOp, PlacedGraph, PlacedOp, PlainOperand, ProgramError, Scheme, Span,
    input_margin, place,
};

/// Primes near 2^30 with exact canonical scales; the arithmetic does not need them to be prime.
fn ckks_chain(limbs: usize) -> ChainSpec {
    let moduli: Vec<u64> = (0..limbs as u64)
        .map(|i| (1 << 30) + 65_536 * i + 1)
        .collect();
    let mut scales = vec![2f64.powi(30); limbs];
    for level in (1..limbs).rev() {
        scales[level - 1] = scales[level].powi(2) / moduli[level] as f64;
    }
    ChainSpec {
        scheme: Scheme::Ckks,
        log_n: 14,
        moduli,
        special: vec![4_294_828_033],
        digit_limbs: 1,
        scales,
        sigma: 3.19,
        secret_variance: 2.0 / 3.0,
        listing1_margin_bits: None,
    }
}

fn bgv_chain(limbs: usize) -> ChainSpec {
    let scheme = Scheme::Bgv {
        plaintext_modulus: 65_537,
    };
    let moduli = (0..limbs as u64)
        .map(|i| 4_294_000_000 + 65_536 * i + 1)
        .collect();
    ChainSpec {
        scheme,
        moduli,
        scales: vec![1.0; limbs],
        ..ckks_chain(limbs)
    }
}

/// A graph under construction; every node is on a line of its own.
struct Build(Graph);

impl Build {
    fn new(scheme: Scheme) -> Self {
        let mut graph = Graph::new("test", scheme, 14);
        graph.file("user.py");
        Self(graph)
    }

    fn op(&mut self, op: HeOp) -> u32 {
        let line = self.0.nodes.len() as u32 + 1;
        self.0.push(op, Span { file: 0, line })
    }

    fn input(&mut self, scale_bits: Option<f64>) -> u32 {
        let input = self.0.inputs.len() as u32;
        self.0.inputs.push(format!("x{input}"));
        self.op(HeOp::Input { input, scale_bits })
    }

    fn output(&mut self, ct: u32) -> u32 {
        let output = self.0.outputs.len() as u32;
        self.0.outputs.push(format!("y{output}"));
        self.op(HeOp::Output { ct, output })
    }

    fn plain(&mut self, scale_bits: Option<f64>) -> u32 {
        let values = Some(vec![0.5, -0.25]);
        self.0.plains.push(PlainOperand {
            name: "w".to_owned(),
            values,
            scale_bits,
        });
        self.0.plains.len() as u32 - 1
    }
}

fn count(placed: &PlacedGraph, name: &str) -> usize {
    placed.nodes.iter().filter(|n| n.op.name() == name).count()
}

#[test]
fn rescales_stand_immediately_before_multiplications_only() {
    let mut b = Build::new(Scheme::Ckks);
    let x = b.input(None);
    let square = b.op(HeOp::Mul { a: x, b: x });
    let moved = b.op(HeOp::Rotate {
        ct: square,
        steps: 1,
    });
    let sum = b.op(HeOp::Add {
        a: square,
        b: moved,
    });
    let fourth = b.op(HeOp::Mul { a: sum, b: sum });
    b.output(fourth);
    let placed = place(&b.0, &ckks_chain(3)).unwrap();
    // The sum is rescaled once, although both factors need it; the output is not.
    assert_eq!(count(&placed, "rescale"), 1);
    let rescale = placed
        .nodes
        .iter()
        .position(|n| n.op.name() == "rescale")
        .unwrap();
    let PlacedOp::Rescale { ct } = placed.nodes[rescale].op else {
        unreachable!()
    };
    assert_eq!(ct, placed.placed_of[sum as usize]);
    // The rotation and the sum share one relinearized square; the output needs another.
    assert_eq!(count(&placed, "relinearize"), 2);
    let output = placed.nodes.last().unwrap();
    assert_eq!((output.level, output.parts), (2, 2));
}

#[test]
fn every_addition_joins_equal_levels_and_scales() {
    let mut b = Build::new(Scheme::Ckks);
    let x = b.input(None);
    let y = b.input(None);
    let square = b.op(HeOp::Mul { a: x, b: x });
    let cube = b.op(HeOp::Mul { a: square, b: x });
    let mixed = b.op(HeOp::Add { a: cube, b: y });
    let again = b.op(HeOp::Add {
        a: mixed,
        b: square,
    });
    let half = b.op(HeOp::MulScalar {
        ct: x,
        value: 0.5,
        scale_bits: None,
    });
    let all = b.op(HeOp::Sub { a: half, b: again });
    b.output(all);
    let placed = place(&b.0, &ckks_chain(5)).unwrap();
    for node in &placed.nodes {
        if let PlacedOp::Add { a, b } | PlacedOp::Sub { a, b } = node.op {
            let (a, b) = (placed.nodes[a as usize], placed.nodes[b as usize]);
            assert_eq!(a.level, b.level);
            assert!(
                (a.scale / b.scale - 1.0).abs() < 1e-6,
                "{} and {}",
                a.scale,
                b.scale
            );
            assert_eq!(node.level, a.level);
        }
    }
}

#[test]
fn values_are_scaled_up_for_listing_1_once_and_come_back() {
    let mut build = Build::new(Scheme::Ckks);
    let x = build.input(None);
    let mut sum = build.op(HeOp::Mul { a: x, b: x });
    for step in 0..3 {
        let rotated = build.op(HeOp::Rotate {
            ct: sum,
            steps: 1 << step,
        });
        sum = build.op(HeOp::Add { a: sum, b: rotated });
    }
    let y = build.op(HeOp::Mul { a: sum, b: sum });
    build.output(y);
    let chain = ChainSpec {
        listing1_margin_bits: Some(10.0),
        ..ckks_chain(8)
    };
    let placed = place(&build.0, &chain).unwrap();
    assert_eq!(
        count(&placed, "relinearize"),
        2,
        "a sum is not switched again"
    );
    for node in &placed.nodes {
        if matches!(
            node.op,
            PlacedOp::Relinearize { .. } | PlacedOp::Automorphism { .. }
        ) {
            assert!(node.scale > 2f64.powi(64), "{node:?}");
        }
        if matches!(node.op, PlacedOp::Tensor { .. }) {
            let canonical = chain.scale(node.level).powi(2);
            assert!((node.scale / canonical - 1.0).abs() < 1e-9, "{node:?}");
        }
    }
    assert_eq!(
        place(&build.0, &ckks_chain(8))
            .unwrap()
            .nodes
            .iter()
            .filter(|n| matches!(n.op, PlacedOp::MulConst { .. }))
            .count(),
        0
    );
}

#[test]
fn a_small_weight_scale_needs_no_rescale() {
    let mut b = Build::new(Scheme::Ckks);
    let x = b.input(Some(22.0));
    let weighted = b.op(HeOp::MulScalar {
        ct: x,
        value: 0.3,
        scale_bits: Some(8.0),
    });
    let square = b.op(HeOp::Mul {
        a: weighted,
        b: weighted,
    });
    b.output(square);
    let placed = place(&b.0, &ckks_chain(2)).unwrap();
    assert_eq!(count(&placed, "rescale"), 0);
    assert!((placed.nodes.last().unwrap().scale.log2() - 60.0).abs() < 1e-9);
}

#[test]
fn running_out_of_levels_names_the_line_and_the_fix() {
    let mut b = Build::new(Scheme::Ckks);
    let mut x = b.input(None);
    for _ in 0..3 {
        x = b.op(HeOp::Mul { a: x, b: x });
    }
    b.output(x);
    let error = place(&b.0, &ckks_chain(2)).unwrap_err();
    let ProgramError::OutOfLevels {
        place, fix, limbs, ..
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!((place.as_str(), limbs), ("user.py:4", 2));
    assert!(fix.contains("levels=3"), "{fix}");
}

#[test]
fn bgv_switches_only_where_it_pays_and_matches_factors() {
    let mut b = Build::new(Scheme::Bgv {
        plaintext_modulus: 65_537,
    });
    let x = b.input(None);
    let y = b.input(None);
    let square = b.op(HeOp::Mul { a: x, b: x });
    let fourth = b.op(HeOp::Mul {
        a: square,
        b: square,
    });
    let sum = b.op(HeOp::Add { a: fourth, b: y });
    b.output(sum);
    let placed = place(&b.0, &bgv_chain(6)).unwrap();
    // Fresh factors are as quiet as a switch would leave them.
    let first = placed.nodes.iter().find(|n| n.op.name() == "mul").unwrap();
    assert_eq!(first.level, 6);
    assert!(count(&placed, "rescale") >= 1);
    for node in &placed.nodes {
        if let PlacedOp::Add { a, b } = node.op {
            let (a, b) = (placed.nodes[a as usize], placed.nodes[b as usize]);
            assert_eq!((a.level, a.factor), (b.level, b.factor));
        }
    }
}

#[test]
fn text_reads_back_exactly() {
    let mut b = Build::new(Scheme::Ckks);
    let x = b.input(Some(22.5));
    let w = b.plain(Some(16.0));
    let y = b.op(HeOp::MulPlain { ct: x, plain: w });
    let z = b.op(HeOp::AddScalar {
        ct: y,
        value: -1.0 / 3.0,
    });
    let z = b.op(HeOp::Rotate { ct: z, steps: -5 });
    b.output(z);
    b.0.measured = vec![1.0, 0.5, 0.7, 0.7, 0.7];
    b.0.measured_plains = vec![0.0, 2.5];
    b.0.name = "quotes \" and \\ and \n and é".to_owned();
    b.0.plains.push(PlainOperand {
        name: "later".to_owned(),
        values: None,
        scale_bits: None,
    });
    for public_key in [true, false] {
        b.0.public_key = public_key;
        let text = b.0.to_text();
        assert_eq!(text.contains("public_key"), public_key);
        assert_eq!(Graph::from_text(&text).unwrap(), b.0);
    }
    let text = b.0.to_text();
    let broken = text.replace("rotate %2", "rotate %9");
    assert!(Graph::from_text(&broken).is_err());
}

#[test]
fn rotations_are_powers_of_five_and_swaps() {
    let t = Scheme::Bgv {
        plaintext_modulus: 65_537,
    };
    let bgv = Graph::new("r", t, 14);
    assert_eq!(bgv.rotation_exponent(1), 5);
    assert_eq!(bgv.rotation_exponent(2), 25);
    assert_eq!(bgv.rotation_exponent(1 << 13), (2 << 14) - 1);
    let ckks = Graph::new("r", Scheme::Ckks, 14);
    assert_eq!(ckks.rotation_exponent(1 << 13), 1);
    assert_eq!(u64::from(ckks.rotation_exponent(-1)) * 5 % (2 << 14), 1);
    // 257 = 1 mod 2 * 128: 128 slots at any larger N.
    assert_eq!(
        Scheme::Bgv {
            plaintext_modulus: 257
        }
        .slots(1 << 14),
        128
    );
}

#[test]
fn inputs_may_grow_by_the_root_of_the_margin() {
    let mut b = Build::new(Scheme::Ckks);
    let x = b.input(None);
    assert!((input_margin(&b.0) - 2.0).abs() < 1e-12);
    let constant = b.plain(Some(16.0));
    let y = b.op(HeOp::MulPlain {
        ct: x,
        plain: constant,
    });
    assert!((input_margin(&b.0) - 2.0).abs() < 1e-12);
    let squared = b.op(HeOp::Mul { a: y, b: y });
    let sum = b.op(HeOp::Add { a: squared, b: x });
    assert!((input_margin(&b.0) - 2f64.sqrt()).abs() < 1e-12);
    let given = b.plain(None);
    b.0.plains[given as usize].values = None;
    let z = b.op(HeOp::MulPlain {
        ct: sum,
        plain: given,
    });
    b.output(z);
    assert!((input_margin(&b.0) - 2f64.cbrt()).abs() < 1e-12);
}
