//! Microseconds per kernel call, for each SIMD path and class of primes.
//!
//! `cargo bench -p cyclotron-ring [-- FILTER]`: rows whose name contains the
//! filter. Best of several samples, one thread. `tfhe-ntt` is a published
//! implementation measured in the same run; its inverse leaves out the
//! division by N.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use cyclotron_ring::prf::{Seed, stream};
use cyclotron_ring::{LimbBuf, Ring, Simd, Word, primes, sampler};

const SAMPLES: u32 = 7;
const SAMPLE: Duration = Duration::from_millis(8);

/// Least microseconds per call over the samples.
fn microseconds(mut call: impl FnMut()) -> f64 {
    call();
    let start = Instant::now();
    call();
    let once = start.elapsed().max(Duration::from_nanos(20));
    let calls = (SAMPLE.as_nanos() / once.as_nanos()).max(1) as u32;
    (0..SAMPLES)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..calls {
                call();
            }
            start.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
        })
        .fold(f64::INFINITY, f64::min)
}

/// Prints the rows that the command line asks for.
struct Report {
    filter: String,
}

impl Report {
    fn row(&self, name: &str, call: impl FnMut()) {
        if name.contains(&self.filter) {
            println!("{name:<44} {:>9.2} us", microseconds(call));
        }
    }
}

fn residues<W: Word>(q: u64, n: usize, id: u64) -> LimbBuf<W> {
    let mut words = LimbBuf::zeroed(n);
    let mut prf = stream(&Seed::for_test(1), "bench", &[id]);
    sampler::uniform(&mut prf, q, &mut words);
    words
}

fn transforms<W: Word>(report: &Report, bits: u32) {
    for log_n in 12..=16 {
        let q = primes::ntt_primes(1 << bits, 2 << log_n, 1)[0];
        for simd in Simd::available() {
            let ring = Ring::<W>::new(log_n, &[q], simd).expect("valid prime");
            let name = |op| format!("{op} 2^{log_n} {bits}-bit {simd} {}", ring.kernels(0));
            let mut data = residues::<W>(q, ring.n(), 0);
            report.row(&name("ntt"), || ring.ntt_in_place(0, black_box(&mut data)));
            report.row(&name("intt"), || {
                ring.intt_in_place(0, black_box(&mut data))
            });
        }
        peer(report, log_n, bits, q);
    }
}

fn peer(report: &Report, log_n: u32, bits: u32, q: u64) {
    let n = 1usize << log_n;
    if bits <= 32 {
        if let Some(plan) = tfhe_ntt::prime32::Plan::try_new(n, q as u32) {
            let mut data = residues::<u32>(q, n, 0);
            report.row(&format!("ntt 2^{log_n} {bits}-bit tfhe-ntt"), || {
                plan.fwd(black_box(&mut data));
            });
            report.row(&format!("intt 2^{log_n} {bits}-bit tfhe-ntt"), || {
                plan.inv(black_box(&mut data));
            });
        }
    } else if let Some(plan) = tfhe_ntt::prime64::Plan::try_new(n, q) {
        let mut data = residues::<u64>(q, n, 0);
        report.row(&format!("ntt 2^{log_n} {bits}-bit tfhe-ntt"), || {
            plan.fwd(black_box(&mut data));
        });
        report.row(&format!("intt 2^{log_n} {bits}-bit tfhe-ntt"), || {
            plan.inv(black_box(&mut data));
        });
    }
}

fn kernels<W: Word>(report: &Report, bits: u32) {
    const LOG_N: u32 = 14;
    const LIMBS: usize = 8;
    let primes = primes::ntt_primes(1 << bits, 2 << LOG_N, LIMBS);
    for simd in Simd::available() {
        let ring = Ring::<W>::new(LOG_N, &primes, simd).expect("valid primes");
        let name = |op| format!("{op} 2^{LOG_N} {bits}-bit {simd}");
        let limb = |i: usize| residues::<W>(primes[i % LIMBS], ring.n(), i as u64);
        let (a, b, mut dst) = (limb(0), limb(8), limb(16));
        report.row(&name("add"), || ring.add(0, black_box(&mut dst), &a, &b));
        report.row(&name("mul"), || ring.mul(0, black_box(&mut dst), &a, &b));
        report.row(&name("mul_c"), || {
            ring.mul_c(0, black_box(&mut dst), &a, 12345)
        });
        report.row(&name("mac"), || {
            ring.mac(0, black_box(&mut dst), &a, &a, &b)
        });
        report.row(&name("aut_eval"), || {
            ring.aut_eval(5, black_box(&mut dst), &a)
        });
        report.row(&name("aut_coeff"), || {
            ring.aut_coeff(0, 5, black_box(&mut dst), &a);
        });
        let limbs: Vec<LimbBuf<W>> = (0..2 * LIMBS).map(limb).collect();
        let slices: Vec<&[W]> = limbs.iter().map(|limb| &limb[..]).collect();
        let pairs: Vec<(&[W], &[W])> = (0..LIMBS).map(|i| (slices[i], slices[i + LIMBS])).collect();
        report.row(&name("dot 8 pairs"), || {
            ring.dot(0, black_box(&mut dst), &pairs);
        });
        let moduli: Vec<usize> = (0..LIMBS).collect();
        let matrix = vec![primes[LIMBS - 1] - 1; LIMBS * LIMBS];
        let mut dsts = vec![dst; LIMBS];
        let mut dsts: Vec<&mut [W]> = dsts.iter_mut().map(|dst| &mut dst[..]).collect();
        report.row(&name("bconv 8 to 8"), || {
            ring.bconv(&moduli, black_box(&mut dsts), &slices[..LIMBS], &matrix);
        });
    }
}

fn samplers(report: &Report) {
    let n = 1 << 14;
    let mut prf = stream(&Seed::for_test(1), "bench", &[]);
    let mut words = LimbBuf::<u32>::zeroed(n);
    let mut wide = LimbBuf::<u64>::zeroed(n);
    let mut bytes = vec![0; 4 * n];
    report.row("stream 64 KiB", || prf.fill(black_box(&mut bytes)));
    report.row("uniform 2^14 32-bit", || {
        sampler::uniform(&mut prf, (1 << 32) - 5, black_box(&mut words));
    });
    report.row("uniform 2^14 50-bit", || {
        sampler::uniform(&mut prf, (1 << 50) - 27, black_box(&mut wide));
    });
    report.row("ternary 2^14", || {
        black_box(sampler::ternary(&mut prf, n));
    });
    let gaussian = sampler::Gaussian::new(sampler::Gaussian::SIGMA).expect("in range");
    report.row("gaussian 2^14", || {
        black_box(gaussian.sample(&mut prf, n));
    });
}

fn main() {
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let report = Report {
        filter: filter.unwrap_or_default(),
    };
    for bits in [30, 32] {
        transforms::<u32>(&report, bits);
    }
    for bits in [50, 61] {
        transforms::<u64>(&report, bits);
    }
    kernels::<u32>(&report, 32);
    kernels::<u64>(&report, 50);
    kernels::<u64>(&report, 61);
    samplers(&report);
}
