//! Milliseconds of a hybrid key switch at N = 2^14 with 5 data primes, one
//! special prime and one prime a digit, 32-bit words; and microseconds of
//! overhead per instruction, on limbs so short that little else is left.
//!
//! `cargo bench -p cyclotron-runtime`
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::sync::Arc;
use std::time::Instant;

use cyclotron_isa::testing::HashInputs;
use cyclotron_isa::{
    InputProvider, LimbProgram, LimbType, ProcedureBuilder, ProgramBuilder, ProviderError, Source,
};
use cyclotron_ring::{LimbBuf, Ring, Simd, primes};
use cyclotron_runtime::Engine;

const DATA: u16 = 5;

/// Parameters: c0 and c1 (5 limbs each), then hints by digit, polynomial, limb.
fn emit(p: &mut ProcedureBuilder<'_>) -> Vec<u32> {
    let special = DATA;
    let eval = |p: &mut ProcedureBuilder<'_>, m| p.param(LimbType::eval(m));
    let c0: Vec<u32> = (0..DATA).map(|m| eval(p, m)).collect();
    let c1: Vec<u32> = (0..DATA).map(|m| eval(p, m)).collect();
    let hints: Vec<Vec<u32>> = (0..2 * DATA)
        .map(|_| (0..=special).map(|m| eval(p, m)).collect())
        .collect();
    let digits: Vec<Vec<u32>> = (0..DATA)
        .map(|d| {
            let coefficients = p.intt(c1[usize::from(d)]);
            let own = c1[usize::from(d)];
            (0..=special)
                .map(|m| if m == d { own } else { p.ntt(m, coefficients) })
                .collect()
        })
        .collect();
    let mut results = Vec::new();
    for poly in 0..2 {
        let sums: Vec<u32> = (0..=special)
            .map(|m| {
                let pair = |d: usize| {
                    (
                        digits[d][usize::from(m)],
                        hints[2 * d + poly][usize::from(m)],
                    )
                };
                let pairs: Vec<_> = (0..usize::from(DATA)).map(pair).collect();
                p.dot(m, &pairs)
            })
            .collect();
        let rest = p.intt(sums[usize::from(special)]);
        for m in 0..DATA {
            let rest = p.ntt(m, rest);
            let switched = p.sub_mul_c(sums[usize::from(m)], rest, 12345);
            let limb = usize::from(m);
            results.push(if poly == 0 {
                p.add(switched, c0[limb])
            } else {
                switched
            });
        }
    }
    results
}

/// So many key switches, one after the other.
fn program(log_n: u32, moduli: &[u64], count: u32) -> LimbProgram {
    let mut builder = ProgramBuilder::new("key switches", log_n, 32, moduli);
    let input = builder.ciphertext("x");
    let key = builder.key("galois:5/hybrid");
    let procedure = builder.procedure("switch", emit);
    let limbs = usize::from(DATA);
    let mut args = Vec::new();
    for poly in 0..2 {
        for limb in 0..DATA {
            let source = Source::Ciphertext { input, poly, limb };
            args.push(builder.input(source, LimbType::eval(limb)));
        }
    }
    for digit in 0..DATA {
        for poly in 0..2 {
            for limb in 0..=DATA {
                let source = Source::Hint {
                    key,
                    digit,
                    poly,
                    limb,
                };
                args.push(builder.input(source, LimbType::eval(limb)));
            }
        }
    }
    for node in 0..count {
        let results = builder.call(procedure, &args, node);
        args[..2 * limbs].copy_from_slice(&results);
    }
    let output = builder.output_named("y");
    builder.output(output, 0, 0, args[0]);
    builder.finish()
}

/// Limbs that are there already, as those of keys and ciphertexts are.
struct Ready(std::collections::HashMap<Source, Arc<LimbBuf<u32>>>);

impl Ready {
    fn new(program: &LimbProgram) -> Self {
        let hash = HashInputs::new(7, program);
        let limb = |source, ty| InputProvider::<u32>::limb(&hash, source, ty).unwrap();
        Ready(
            program
                .inputs
                .iter()
                .map(|i| (i.source, limb(i.source, i.ty)))
                .collect(),
        )
    }
}

impl InputProvider<u32> for Ready {
    fn limb(&self, source: Source, _: LimbType) -> Result<Arc<LimbBuf<u32>>, ProviderError> {
        Ok(Arc::clone(&self.0[&source]))
    }
}

/// Seconds of the fastest of a few runs, and the peak of bytes.
fn measure(program: &LimbProgram, ring: &Ring<u32>, threads: usize) -> (f64, u64) {
    let engine = Engine::new(threads).unwrap();
    let prepared = engine.prepare(program).unwrap();
    let inputs = Ready::new(program);
    let mut best = f64::INFINITY;
    let mut bytes = 0;
    for _ in 0..7 {
        let start = Instant::now();
        let run = engine.run_prepared(program, &prepared, ring, &inputs, None);
        bytes = run.unwrap().1.peak_bytes;
        best = best.min(start.elapsed().as_secs_f64());
    }
    (best, bytes)
}

fn main() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for (log_n, count) in [(14, 40), (4, 1000)] {
        let moduli = primes::ntt_primes(1 << 31, 2 << log_n, usize::from(DATA) + 1);
        let program = program(log_n, &moduli, count);
        let each = program.instruction_count() / u64::from(count);
        for simd in Simd::available() {
            let ring = Ring::new(log_n, &moduli, simd).unwrap();
            for threads in [1, 2, cores].into_iter().filter(|&t| t <= cores.max(2)) {
                let (seconds, bytes) = measure(&program, &ring, threads);
                println!(
                    "N = 2^{log_n}, {simd:?}, {threads} threads: {:.3} ms a key switch of {each} \
                     instructions, {:.2} us an instruction, {} KB of buffers",
                    seconds * 1e3 / f64::from(count),
                    seconds * 1e6 / (f64::from(count) * each as f64),
                    bytes / 1024,
                );
            }
        }
    }
}
