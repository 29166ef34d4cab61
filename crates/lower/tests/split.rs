//! Programs on parts give the parts of the limbs that the programs on whole limbs give.

use cyclotron_isa::testing::{HashInputs, ProgramShape, random_program};
use cyclotron_isa::text::{parse, print};
use cyclotron_isa::{LimbProgram, LimbType, Op, ProgramBuilder, Source, interpret, verify};
use cyclotron_lower::split;
use cyclotron_ring::primes::ntt_primes;
use cyclotron_ring::{Ring, Simd, Word};

/// A random program without automorphisms of coefficients.
fn program(seed: u64, log_n: u32, word_bits: u32) -> LimbProgram {
    let moduli = ntt_primes(1 << 30, 2 << log_n, 3);
    let mut shape = ProgramShape::small(log_n, word_bits, &moduli);
    shape.compound = seed.is_multiple_of(2);
    let mut program = random_program(seed, &shape);
    for inst in program.procedures.iter_mut().flat_map(|p| &mut p.insts) {
        if inst.op == Op::AutCoeff {
            (inst.op, inst.imm) = (Op::Neg, 0);
        }
    }
    program
}

fn parts_of_outputs_agree<W: Word>(seed: u64, log_n: u32, log_parts: u32) {
    agree::<W>(&program(seed, log_n + log_parts, W::BITS), log_n, log_parts);
}

fn agree<W: Word>(whole: &LimbProgram, log_n: u32, log_parts: u32) {
    let seed = 17;
    let parts = split(whole, log_n).expect("splits");
    verify(&parts).expect("a legal program");
    assert_eq!(parse(&print(&parts)).expect("reads back"), parts);
    let inputs = HashInputs::new(seed, whole);
    assert_eq!(HashInputs::new(seed, &parts).n, inputs.n);
    let ring = Ring::<W>::new(whole.log_n, &whole.moduli, Simd::Scalar).expect("a ring");
    let expected = interpret(whole, &ring, &inputs).expect("runs");
    let ring = Ring::<W>::of_parts(log_n, log_parts, &parts.moduli, Simd::Scalar).expect("a ring");
    let got = interpret(&parts, &ring, &inputs).expect("runs");
    assert_eq!(got.len(), expected.len() << log_parts);
    for (at, limb) in got.iter().enumerate() {
        let (output, part) = (at >> log_parts, at & ((1 << log_parts) - 1));
        assert_eq!(usize::from(parts.outputs[at].part), part);
        let words = &expected[output][part << log_n..][..1 << log_n];
        assert!(
            limb[..] == *words,
            "{}: output {output}, part {part}",
            whole.name
        );
    }
}

#[test]
fn parts_are_those_of_whole_limbs() {
    for seed in 0..60 {
        let log_parts = 1 + seed as u32 % 3;
        parts_of_outputs_agree::<u32>(seed, 4 + seed as u32 % 2, log_parts);
        parts_of_outputs_agree::<u64>(seed, 5, log_parts);
    }
}

/// Digits as in key switching: to coefficients, times a constant, centred, converted to
/// two primes, of which one wants the result twice.
fn conversion(log_n: u32) -> LimbProgram {
    let moduli = ntt_primes(1 << 31, 2 << log_n, 4);
    let mut builder = ProgramBuilder::new("conversion", log_n, 32, &moduli);
    let input = builder.ciphertext("x");
    let [x, y] = [0, 1].map(|limb| {
        let source = Source::Ciphertext {
            input,
            poly: 0,
            limb,
        };
        builder.input(source, LimbType::eval(limb))
    });
    let procedure = builder.procedure("conversion", |p| {
        let params = [0, 1].map(|m| (m, p.param(LimbType::eval(m))));
        let digits = params.map(|(m, x)| {
            let x = p.intt(x);
            let x = p.mul_c(m, x, 12345);
            p.add_c(x, 6789)
        });
        let matrix = [[1, 2], [3, 4]];
        let converted = p.bconv(&[2, 3], &digits, &matrix.concat());
        let z = p.add_c(converted[0], 77);
        let z = p.ntt(2, z);
        let twice = p.mul_c(3, converted[1], 5);
        let w = p.ntt(3, twice);
        let own = p.intt(z);
        let own = p.mul_c(2, own, 9);
        vec![z, w, p.ntt(2, own), twice]
    });
    let results = builder.call(procedure, &[x, y], 0);
    let output = builder.output_named("y");
    for (limb, value) in results.into_iter().enumerate() {
        builder.output(output, 0, limb as u16, value);
    }
    builder.finish()
}

#[test]
fn constants_take_products_along() {
    for log_parts in 1..4 {
        let whole = conversion(4 + log_parts);
        agree::<u32>(&whole, 4, log_parts);
    }
    let parts = split(&conversion(5), 4).expect("splits");
    let insts = &parts.procedures[0].insts;
    // 2 for each of four products, and one for the upper half of `twice`, a result.
    let count = insts.iter().filter(|inst| inst.op == Op::MulC).count();
    assert_eq!(count, 4 * 2 + 1);
}

#[test]
fn a_program_on_short_polynomials_stays() {
    let whole = program(1, 6, 32);
    for log_n in [6, 9] {
        assert_eq!(split(&whole, log_n).expect("nothing to do"), whole);
    }
}

/// One automorphism, of a coefficient limb or of values.
fn automorphism(log_n: u32, domain: cyclotron_isa::Domain) -> LimbProgram {
    let moduli = ntt_primes(1 << 31, 2 << log_n, 1);
    let mut builder = ProgramBuilder::new("one", log_n, 32, &moduli);
    let input = builder.ciphertext("x");
    let (poly, limb) = (0, 0);
    let ty = LimbType { modulus: 0, domain };
    let x = builder.input(Source::Ciphertext { input, poly, limb }, ty);
    let procedure = builder.procedure("automorphism", |p| {
        let x = p.param(ty);
        vec![p.aut(x, 5)]
    });
    let y = builder.call(procedure, &[x], 0)[0];
    let output = builder.output_named("y");
    builder.output(output, 0, 0, y);
    builder.finish()
}

#[test]
fn what_cannot_be_split_is_refused() {
    use cyclotron_isa::Domain::{Coeff, Eval};
    let refused = |program: &LimbProgram, log_n, why: &str| {
        let error = split(program, log_n).expect_err("refused").to_string();
        assert!(error.contains(why), "{error}");
    };
    refused(&automorphism(6, Coeff), 4, "coefficients");
    refused(&automorphism(17, Eval), 16, "at most 2^15");
    refused(&automorphism(17, Eval), 9, "at most 128 parts");
    refused(&automorphism(6, Eval), 3, "at least 2^4 words");
    let parts = split(&automorphism(8, Eval), 6).expect("splits");
    refused(&parts, 4, "already");
}

#[test]
fn transforms_cost_what_is_documented() {
    // P = 4: each of 2 steps joins 2 pairs; then one twist and one transform a part.
    let moduli = ntt_primes(1 << 31, 2 << 8, 2);
    let mut builder = ProgramBuilder::new("there and back", 8, 32, &moduli);
    let input = builder.ciphertext("x");
    let (poly, limb) = (0, 0);
    let ty = LimbType::eval(0);
    let x = builder.input(Source::Ciphertext { input, poly, limb }, ty);
    let procedure = builder.procedure("there and back", |p| {
        let x = p.param(ty);
        let x = p.intt(x);
        vec![p.ntt(0, x), p.ntt(1, x)]
    });
    let results = builder.call(procedure, &[x], 0);
    let output = builder.output_named("y");
    for (limb, value) in results.into_iter().enumerate() {
        builder.output(output, 0, limb as u16, value);
    }
    let parts = split(&builder.finish(), 6).expect("splits");
    let count = |op: Op| {
        let insts = &parts.procedures[0].insts;
        insts.iter().filter(|inst| inst.op == op).count()
    };
    assert_eq!((count(Op::Intt), count(Op::Ntt)), (4, 8));
    assert_eq!(count(Op::Mul), 3 * 4);
    assert_eq!((count(Op::Add), count(Op::Sub)), (3 * 4, 3 * 4));
    // 2 + 4 for the inverse; 4, and 2 more for the foreign prime.
    assert_eq!(count(Op::MulC), 6 + 4 + 6);
    let twists = parts.inputs.iter().filter(|i| i.source == Source::Twist);
    assert_eq!(twists.count(), 2 * 4);
}
