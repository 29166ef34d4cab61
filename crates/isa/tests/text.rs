//! The text form of limb programs reads back exactly and survives hostile text.

use cyclotron_isa::testing::{ProgramShape, TestRng, random_program};
use cyclotron_isa::{IsaError, text, verify};

const PRIMES: [u64; 4] = [4293918721, 4293525505, 786433, 65537];

fn shape(rng: &mut TestRng) -> ProgramShape {
    let moduli = 1 + rng.index(PRIMES.len());
    let mut shape = ProgramShape::small(4 + rng.index(10) as u32, 32, &PRIMES[..moduli]);
    shape.instructions = 1 + rng.index(40);
    shape.calls = 1 + rng.index(12);
    shape.compound = rng.chance(70);
    shape
}

#[test]
fn random_programs_verify_and_read_back() {
    let mut rng = TestRng::new(1);
    for seed in 0..300 {
        let shape = shape(&mut rng);
        let program = random_program(seed, &shape);
        verify(&program).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let printed = text::print(&program);
        let read = text::parse(&printed).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{printed}"));
        assert_eq!(read, program, "seed {seed}");
    }
}

#[test]
fn names_with_odd_characters_read_back() {
    let mut program = random_program(7, &ProgramShape::small(4, 32, &PRIMES));
    program.name = "a \"quoted\" \\ name;\n\twith \u{7}bells, ünïcode \u{2028}".to_owned();
    program.procedures[0].name = String::new();
    let read = text::parse(&text::print(&program)).expect("reads back");
    assert_eq!(read, program);
}

#[test]
fn damaged_text_gives_errors_with_lines_and_never_panics() {
    let mut rng = TestRng::new(3);
    let printed = text::print(&random_program(11, &ProgramShape::small(5, 32, &PRIMES)));
    let lines = printed.lines().count();
    let mut rejected = 0;
    for _ in 0..4000 {
        let mut bytes = printed.clone().into_bytes();
        for _ in 0..1 + rng.below(3) {
            let at = rng.index(bytes.len());
            match rng.below(4) {
                0 => bytes[at] = b"0123456789%$mck=\n \"\\;-"[rng.index(22)],
                1 => {
                    bytes.remove(at);
                }
                2 => bytes.insert(at, b'9'),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let Ok(damaged) = String::from_utf8(bytes) else {
            continue;
        };
        match text::parse(&damaged) {
            Ok(program) => verify(&program).expect("what is read is legal"),
            Err(IsaError::Parse { line, .. }) => {
                assert!(line <= lines + 4, "line {line} of {lines}");
                rejected += 1;
            }
            Err(other) => panic!("not a parse error: {other}"),
        }
    }
    assert!(rejected > 2000, "{rejected}");
}

#[test]
fn errors_name_the_line() {
    let program = "limb_program \"p\"\nlog_n 4\nword_bits 32\nmodulus m0 97 ; a prime\n\
                   constant c0 5\nciphertext 0 \"x\"\nnamed_output 0 \"y\"\n\
                   input $0 eval:m0 ciphertext 0 poly 0 limb 0\n\
                   procedure 0 \"f\"\n  param %0 eval:m0\n  %1 eval:m0 = mulc %0 c0\n\
                   \n  %2 eval:m0 = addc %1 =6\n  return %2\n\
                   call 0 node 3 $1 <- $0\noutput 0 poly 0 limb 0 $1\n";
    let read = text::parse(program).expect("legal");
    assert_eq!(read.constants, [5, 6]);
    assert_eq!(read.calls[0].node, 3);
    for (from, to, line, why) in [
        ("log_n 4", "log_n 4 4", 2, "expected the end of the line"),
        ("log_n 4", "log_n 99", 1, "log_n 99 is not in"),
        ("log_n 4\n", "", 15, "lacks its `log_n`"),
        ("word_bits 32", "word_bits 33", 1, "word_bits is 32 or 64"),
        ("m0 97", "m0 98", 1, "modulus m0 = 98"),
        (
            "constant c0 5",
            "constant c0 97",
            11,
            "not below the modulus 97",
        ),
        ("constant c0", "constant c1", 5, "expected `c0`"),
        ("mulc %0 c0", "mulc %1 c0", 11, "%1 is not defined"),
        (
            "mulc %0 c0",
            "mulc %0 c2",
            11,
            "last constant 3 is out of range",
        ),
        ("mulc %0 c0", "frob %0 c0", 11, "unknown operation `frob`"),
        ("%2 eval:m0", "%2 coeff:m0", 13, "operand %1 is eval:m0"),
        ("$1 <- $0", "$1 <- $1", 15, "not defined before the call"),
        ("$1 <- $0", "$1 <-", 15, "1 arguments are needed, found 0"),
        ("limb 0 $1", "limb 0 $2", 16, "value 2 is out of range"),
        ("procedure 0 \"f\"", "procedure 0 f", 9, "double quotes"),
        ("  return %2\n", "", 14, "found `call`"),
        ("poly 0 limb 0\n", "poly 2 limb 0\n", 8, "poly is 0 or 1"),
    ] {
        assert!(program.contains(from), "{from}");
        let error = text::parse(&program.replacen(from, to, 1)).expect_err(to);
        let text = error.to_string();
        assert!(text.starts_with(&format!("line {line}:")), "{to}: {text}");
        assert!(text.contains(why), "{to}: {text}");
    }
}

#[test]
fn claimed_sizes_allocate_nothing() {
    for text in [
        "procedure 4294967295 \"f\"",
        "constant c4294967295 1",
        "limb_program \"x\"\nlog_n 4\nword_bits 32\nmodulus m0 97\ncall 9 node 0 $4294967295 <- $1",
        "input $18446744073709551615 eval:m0 plain 0 limb 0",
        "log_n 99999999999999999999999999",
        "limb_program \"",
        "limb_program \"\\u{110000}\"",
    ] {
        assert!(
            matches!(text::parse(text), Err(IsaError::Parse { .. })),
            "{text}"
        );
    }
}
