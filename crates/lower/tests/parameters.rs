//! Parameters chosen for programs.

use cyclotron_lower::{LowerError, Target, Wish, choose};
use cyclotron_machine::Machine;
use cyclotron_program::{Graph, HeOp, KeySwitch, ProgramError, Scheme, Span};

/// A graph under construction.
struct Build(Graph);

impl Build {
    fn new(scheme: Scheme, log_n: u32) -> Self {
        Self(Graph::new("test", scheme, log_n))
    }

    fn op(&mut self, op: HeOp) -> u32 {
        self.0.push(op, Span::default())
    }

    fn input(&mut self) -> u32 {
        let input = self.0.inputs.len() as u32;
        self.0.inputs.push(format!("x{input}"));
        self.op(HeOp::Input {
            input,
            scale_bits: None,
        })
    }

    fn output(&mut self, ct: u32) {
        let output = self.0.outputs.len() as u32;
        self.0.outputs.push(format!("y{output}"));
        self.op(HeOp::Output { ct, output });
    }
}

fn wish() -> Wish {
    Wish {
        precision_bits: 10.0,
        security: 128,
        levels: None,
        scale_bits: None,
        allow_insecure: None,
    }
}

fn f1() -> Target {
    let machine = Machine::shipped("f1")
        .expect("F1 ships")
        .resolve(14)
        .expect("resolves");
    Target::machine(
        &machine,
        32,
        1 << 16,
        vec![KeySwitch::Hybrid, KeySwitch::Listing1],
    )
}

/// F1's Listing 2: four inner products over all slots.
fn matvec(rows: usize) -> Build {
    let mut b = Build::new(
        Scheme::Bgv {
            plaintext_modulus: 65_537,
        },
        14,
    );
    let matrix: Vec<u32> = (0..rows).map(|_| b.input()).collect();
    let vector = b.input();
    for row in matrix {
        let mut sum = b.op(HeOp::Mul { a: row, b: vector });
        for i in 0..14 {
            let moved = b.op(HeOp::Rotate {
                ct: sum,
                steps: 1 << i,
            });
            sum = b.op(HeOp::Add { a: sum, b: moved });
        }
        b.output(sum);
    }
    b
}

#[test]
fn the_matrix_vector_product_is_secure_and_reuses_hints() {
    for target in [Target::cpu(32), Target::cpu(64), f1()] {
        let (params, lowered) = choose(&matvec(4).0, &wish(), &target).expect("parameters");
        assert!(
            params.security().bits.is_some_and(|bits| bits >= 128),
            "{}",
            target.name
        );
        assert!(lowered.noise.nodes.iter().all(|n| n.margin_bits >= 0.0));
        // Operations that share a hint stand together: each key appears in one run.
        let keys: Vec<u32> = lowered
            .explain
            .iter()
            .filter_map(|row| row.exponent)
            .collect();
        let mut runs = keys.clone();
        runs.dedup();
        assert_eq!((keys.len(), runs.len()), (56, 14), "{}", target.name);
        assert_eq!(
            lowered.program,
            choose(&matvec(4).0, &wish(), &target).unwrap().1.program
        );
    }
}

#[test]
fn deeper_programs_get_longer_chains() {
    let depth = |levels: usize| {
        let mut b = Build::new(Scheme::Ckks, 15);
        let mut x = b.input();
        for _ in 0..levels {
            x = b.op(HeOp::Mul { a: x, b: x });
        }
        b.output(x);
        choose(&b.0, &wish(), &Target::cpu(64))
            .expect("parameters")
            .0
    };
    let limbs: Vec<usize> = (1..6).map(|levels| depth(levels).levels()).collect();
    assert!(limbs.windows(2).all(|w| w[0] < w[1]), "{limbs:?}");
}

#[test]
fn too_deep_a_program_says_what_stands_in_the_way() {
    let mut b = Build::new(Scheme::Ckks, 12);
    let mut x = b.input();
    for _ in 0..5 {
        x = b.op(HeOp::Mul { a: x, b: x });
    }
    b.output(x);
    let error = choose(&b.0, &wish(), &Target::cpu(32)).unwrap_err();
    let LowerError::NoParameters {
        last,
        security: 128,
        ..
    } = &error
    else {
        panic!("{error}")
    };
    assert!(last.contains("level") || last.contains("bits"), "{error}");
    let insecure = Wish {
        allow_insecure: Some("test".into()),
        ..wish()
    };
    let (params, _) = choose(&b.0, &insecure, &Target::cpu(64)).expect("insecure parameters");
    assert!(params.insecure.is_some());
    // A fixed length that is too short names the line.
    let short = Wish {
        levels: Some(2),
        ..insecure
    };
    let error = choose(&b.0, &short, &Target::cpu(32)).unwrap_err();
    assert!(
        matches!(error, LowerError::Program(ProgramError::OutOfLevels { .. })),
        "{error}"
    );
}
