//! Whatever the number of threads and the SIMD path, a run gives what the
//! reference interpreter gives with scalar kernels.

use cyclotron_isa::testing::{HashInputs, ProgramShape, random_program};
use cyclotron_isa::{LimbProgram, interpret};
use cyclotron_ring::{Ring, Simd, Word, primes};
use cyclotron_runtime::Engine;

const LOG_N: u32 = 6;

fn check<W: Word>(program: &LimbProgram, seed: u64, engines: &[Engine]) {
    let ring = |simd| Ring::<W>::new(program.log_n, &program.moduli, simd).unwrap();
    let inputs = HashInputs::new(seed, program);
    let expected = interpret(program, &ring(Simd::Scalar), &inputs).unwrap();
    for simd in Simd::available() {
        let ring = ring(simd);
        for engine in engines {
            let (outputs, stats) = engine.run(program, &ring, &inputs).unwrap();
            let threads = engine.threads();
            assert_eq!(
                outputs, expected,
                "seed {seed}, {simd:?}, {threads} threads"
            );
            assert_eq!(stats.instructions, program.instruction_count());
        }
    }
}

fn engines() -> Vec<Engine> {
    [1, 2, 5]
        .map(|threads| Engine::new(threads).unwrap())
        .into()
}

#[test]
fn random_programs_on_32_bit_words() {
    let moduli = primes::ntt_primes(1 << 31, 2 << LOG_N, 4);
    let shape = ProgramShape::small(LOG_N, 32, &moduli);
    let engines = engines();
    for seed in 0..150 {
        check::<u32>(&random_program(seed, &shape), seed, &engines);
    }
}

#[test]
fn random_programs_on_64_bit_words() {
    let moduli = primes::ntt_primes(1 << 50, 2 << LOG_N, 3);
    let shape = ProgramShape::small(LOG_N, 64, &moduli);
    let engines = engines();
    for seed in 0..50 {
        check::<u64>(&random_program(seed, &shape), seed, &engines);
    }
}

#[test]
fn many_calls_keep_many_workers_busy() {
    let moduli = primes::ntt_primes(1 << 31, 2 << LOG_N, 3);
    let shape = ProgramShape {
        calls: 400,
        procedures: 6,
        ..ProgramShape::small(LOG_N, 32, &moduli)
    };
    for seed in 0..5 {
        check::<u32>(&random_program(seed, &shape), seed, &engines());
    }
}
