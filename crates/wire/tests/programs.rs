//! Programs read back, and hostile ones do not.

use cyclotron_isa::testing::{ProgramShape, random_program};
use cyclotron_program::{Graph, HeOp, PlainOperand, Scheme, Span};
use cyclotron_ring::primes;
use cyclotron_wire::{
    decode_limb_program, decode_program, encode_limb_program, encode_program, frame,
};

fn graph() -> Graph {
    let mut graph = Graph::new("affine", Scheme::Ckks, 10);
    graph.inputs.push("x".to_owned());
    graph.outputs.push("y".to_owned());
    graph.plains.push(PlainOperand {
        name: "w".to_owned(),
        values: Some(vec![0.0, 0.1, -2.5e-300, 0.0, 0.0, -0.0, 3.0, 0.0]),
        scale_bits: None,
    });
    let file = graph.file("affine.py");
    let span = Span { file, line: 3 };
    let (input, scale_bits) = (0, None);
    let ct = graph.push(HeOp::Input { input, scale_bits }, span);
    let ct = graph.push(HeOp::MulPlain { ct, plain: 0 }, span);
    graph.push(HeOp::Output { ct, output: 0 }, span);
    graph
}

#[test]
fn programs_read_back() {
    let graph = graph();
    assert_eq!(decode_program(&encode_program(&graph)).unwrap(), graph);
    let shape = ProgramShape::small(5, 32, &primes::ntt_primes(1 << 31, 64, 3));
    for seed in 0..20 {
        let program = random_program(seed, &shape);
        let bytes = encode_limb_program(&program);
        assert_eq!(decode_limb_program(&bytes).unwrap(), program);
    }
}

#[test]
fn a_text_that_is_no_program_is_refused() {
    let texts: [&[u8]; 4] = [
        b"",
        b"he-program 1\n%0 = add %0 %1 @0:0\n",
        b"\xff\xfe",
        b"drop table",
    ];
    for text in texts {
        let none = frame::ParamsHash::NONE;
        let as_program = frame::seal(frame::Kind::Program, none, text);
        assert!(decode_program(&as_program).is_err());
        let mut body = (text.len() as u32).to_le_bytes().to_vec();
        body.extend_from_slice(text);
        let as_program = frame::seal(frame::Kind::Program, none, &body);
        let error = decode_program(&as_program).unwrap_err();
        assert_eq!(error.code(), "E_INVALID", "{error}");
        let as_limbs = frame::seal(frame::Kind::LimbProgram, none, text);
        assert_eq!(
            decode_limb_program(&as_limbs).unwrap_err().code(),
            "E_INVALID"
        );
        assert_eq!(
            decode_program(&as_limbs).unwrap_err().code(),
            "E_WRONG_KIND"
        );
    }
}

#[test]
fn a_mutated_program_is_refused_or_verified() {
    let shape = ProgramShape::small(4, 32, &primes::ntt_primes(1 << 31, 32, 2));
    let sealed = encode_limb_program(&random_program(3, &shape));
    let text = &sealed[frame::HEADER_BYTES..];
    for at in (0..text.len()).step_by(3) {
        let mut mutated = text.to_vec();
        mutated[at] = mutated[at].wrapping_add(1) & 0x7f;
        let bytes = frame::seal(frame::Kind::LimbProgram, frame::ParamsHash::NONE, &mutated);
        if let Ok(program) = decode_limb_program(&bytes) {
            cyclotron_isa::verify(&program).unwrap();
        }
    }
}

#[test]
fn runs_of_values_that_lie_are_refused() {
    let sealed = encode_program(&graph());
    let body = &sealed[frame::HEADER_BYTES..];
    // The last operand's count, first run and so on stand behind the text.
    let values = 4 + u32::from_le_bytes(body[..4].try_into().unwrap()) as usize;
    for at in (values..body.len()).step_by(4) {
        for lie in [0, 1, 9, u32::MAX] {
            let mut forged = body.to_vec();
            forged[at..at + 4].copy_from_slice(&lie.to_le_bytes());
            let bytes = frame::seal(frame::Kind::Program, frame::ParamsHash::NONE, &forged);
            if let Ok(graph) = decode_program(&bytes) {
                assert!(graph.plains[0].values.as_ref().unwrap().len() <= 8);
            }
        }
    }
}
