//! Calls each kernel once, so that a profiler of instructions can count it.
//!
//! `tools/count_instructions.py` runs this program under callgrind, which
//! collects inside [`counted`] only and writes one profile for every call. The
//! names of the calls go to standard output, in the same order.

#![expect(
    clippy::print_stdout,
    reason = "names are matched with profiles by the reader"
)]

use std::hint::black_box;
use std::sync::Arc;

use cyclotron_ring::prf::{Seed, stream};
use cyclotron_ring::{LimbBuf, Ring, Simd, Word, primes, sampler};
use cyclotron_schemes::{ChoiceRequest, Context, Plaintext, WordClass, choose};

const LOG_N: u32 = 12;

/// Limbs on each side of base conversions and inner products.
const LIMBS: usize = 8;

/// The region that is profiled.
#[inline(never)]
fn counted(call: &mut dyn FnMut()) {
    call();
    // Else the call would be a jump, and the region have no end of its own.
    black_box(call);
}

/// Counts a call; an earlier one has filled what is made on first use.
fn count(name: &str, mut call: impl FnMut()) {
    call();
    println!("{name}");
    counted(&mut call);
}

fn residues<W: Word>(q: u64, id: u64) -> LimbBuf<W> {
    let mut words = LimbBuf::zeroed(1 << LOG_N);
    let mut prf = stream(&Seed::for_test(1), "counted", &[id]);
    sampler::uniform(&mut prf, q, &mut words);
    words
}

fn transforms<W: Word>(simd: Simd, bits: u32) {
    let q = primes::ntt_primes(1 << bits, 2 << LOG_N, 1)[0];
    let ring = Ring::<W>::new(LOG_N, &[q], simd).expect("a prime of its class");
    let mut data = residues::<W>(q, 0);
    let name = |op: &str| format!("{simd}/{op}/{bits}bit/n{LOG_N}");
    count(&name("ntt"), || ring.ntt_in_place(0, black_box(&mut data)));
    count(&name("intt"), || {
        ring.intt_in_place(0, black_box(&mut data));
    });
}

fn kernels<W: Word>(simd: Simd, bits: u32) {
    let primes = primes::ntt_primes(1 << bits, 2 << LOG_N, LIMBS);
    let ring = Ring::<W>::new(LOG_N, &primes, simd).expect("primes of their class");
    let name = |op: &str| format!("{simd}/{op}/{bits}bit/n{LOG_N}");
    let limbs: Vec<LimbBuf<W>> = (0..2 * LIMBS)
        .map(|i| residues(primes[i % LIMBS], i as u64))
        .collect();
    let slices: Vec<&[W]> = limbs.iter().map(|limb| &limb[..]).collect();
    let pairs: Vec<(&[W], &[W])> = (0..LIMBS).map(|i| (slices[i], slices[i + LIMBS])).collect();
    let mut dsts = vec![LimbBuf::<W>::zeroed(1 << LOG_N); LIMBS];
    count(&name("mul"), || {
        ring.mul(0, black_box(&mut dsts[0]), slices[0], slices[LIMBS]);
    });
    count(&name("dot8"), || {
        ring.dot(0, black_box(&mut dsts[0]), &pairs);
    });
    let moduli: Vec<usize> = (0..LIMBS).collect();
    let matrix = vec![primes[LIMBS - 1] - 1; LIMBS * LIMBS];
    let mut dsts: Vec<&mut [W]> = dsts.iter_mut().map(|dst| &mut dst[..]).collect();
    count(&name("bconv8"), || {
        ring.bconv(&moduli, black_box(&mut dsts), &slices[..LIMBS], &matrix);
    });
}

fn encodings(simd: Simd) {
    let context = |request: ChoiceRequest| {
        let params = choose(&request).expect("parameters");
        Context::with_simd(Arc::new(params), simd).expect("a context")
    };
    let context_ckks = context(ChoiceRequest::ckks(2, 45.0, WordClass::WORD_64));
    let values: Vec<f64> = (0..context_ckks.params().slots())
        .map(|i| (i as f64).sin())
        .collect();
    let name = |op: &str, context: &Context| {
        let params = context.params();
        format!(
            "{simd}/{op}/{}levels/n{}",
            params.levels(),
            params.n().ilog2()
        )
    };
    count(&name("encode-ckks", &context_ckks), || {
        let (level, scale) = (context_ckks.params().levels(), context_ckks.scale_at(1));
        let plain = Plaintext::encode_real(&context_ckks, black_box(&values), level, scale);
        black_box(plain.expect("finite values"));
    });
    let context_bgv = context(ChoiceRequest::bgv(2, 65537, WordClass::WORD_32));
    let values: Vec<i64> = (0..context_bgv.params().slots() as i64).collect();
    count(&name("encode-bgv", &context_bgv), || {
        let level = context_bgv.params().levels();
        let plain = Plaintext::encode_integers(&context_bgv, black_box(&values), level, 1);
        black_box(plain.expect("values of the slots"));
    });
}

fn main() {
    // All on this thread: callgrind's collection is switched for each thread apart.
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build_global()
        .expect("the first pool of the program");
    for simd in [Simd::Scalar, Simd::Avx2] {
        if simd.is_available() {
            transforms::<u32>(simd, 30);
            transforms::<u32>(simd, 32);
            transforms::<u64>(simd, 50);
            transforms::<u64>(simd, 60);
            kernels::<u32>(simd, 32);
            kernels::<u64>(simd, 50);
            encodings(simd);
        }
    }
}
