//! Microseconds per kernel call, for each SIMD path and class of primes.
//!
//! `cargo bench -p cyclotron-ring [-- FILTER]`: rows whose name contains the
//! filter; medians of repetitions, one thread. Transforms are measured in turn
//! with those of `tfhe-ntt`, a published implementation, repetition by
//! repetition; the last column is its time over ours. Its inverse leaves out
//! the division by N.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use cyclotron_ring::prf::{Seed, stream};
use cyclotron_ring::{LimbBuf, Ring, Simd, Word, primes, sampler};

const REPETITIONS: usize = 11;
const REPETITION: Duration = Duration::from_millis(4);

/// One thing to measure.
type Row<'a> = (String, Box<dyn FnMut() + 'a>);

/// Median microseconds per call of each row, the rows taking turns.
fn microseconds(rows: &mut [Row<'_>]) -> Vec<f64> {
    let calls: Vec<u32> = rows
        .iter_mut()
        .map(|(_, call)| {
            call();
            let start = Instant::now();
            call();
            let once = start.elapsed().max(Duration::from_nanos(20));
            (REPETITION.as_nanos() / once.as_nanos()).max(1) as u32
        })
        .collect();
    let mut samples = vec![Vec::new(); rows.len()];
    for _ in 0..REPETITIONS {
        for (((_, call), &calls), samples) in rows.iter_mut().zip(&calls).zip(&mut samples) {
            let start = Instant::now();
            for _ in 0..calls {
                call();
            }
            samples.push(start.elapsed().as_secs_f64() * 1e6 / f64::from(calls));
        }
    }
    let median = |samples: &mut Vec<f64>| {
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    };
    samples.iter_mut().map(median).collect()
}

/// Prints the rows that the command line asks for.
struct Report {
    filter: String,
}

impl Report {
    fn row<'a>(&self, name: &str, call: impl FnMut() + 'a) {
        self.rows(vec![(name.to_owned(), Box::new(call))]);
    }

    /// Rows that take turns; with the last one's time over each.
    fn rows(&self, mut rows: Vec<Row<'_>>) {
        let peer = rows.len() > 1;
        rows.retain(|(name, _)| name.contains(&self.filter) || (peer && name.contains("tfhe")));
        if rows.iter().all(|(name, _)| !name.contains(&self.filter)) {
            return;
        }
        let times = microseconds(&mut rows);
        for ((name, _), time) in rows.iter().zip(&times) {
            if peer {
                let ratio = times[times.len() - 1] / time;
                println!("{name:<44} {time:>9.2} us {ratio:>6.2}");
            } else {
                println!("{name:<44} {time:>9.2} us");
            }
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
    for log_n in 12..=17 {
        let q = primes::ntt_primes(1 << bits, 2 << log_n, 1)[0];
        let rings: Vec<(Simd, Ring<W>)> = Simd::available()
            .into_iter()
            .map(|simd| (simd, Ring::new(log_n, &[q], simd).expect("valid prime")))
            .collect();
        for inverse in [false, true] {
            let op = if inverse { "intt" } else { "ntt" };
            let mut rows: Vec<Row<'_>> = Vec::new();
            for (simd, ring) in &rings {
                let mut data = residues::<W>(q, ring.n(), 0);
                let name = format!("{op} 2^{log_n} {bits}-bit {simd} {}", ring.kernels(0));
                rows.push(if inverse {
                    (
                        name,
                        Box::new(move || ring.intt_in_place(0, black_box(&mut data))),
                    )
                } else {
                    (
                        name,
                        Box::new(move || ring.ntt_in_place(0, black_box(&mut data))),
                    )
                });
            }
            rows.extend(peer(log_n, bits, q, inverse));
            report.rows(rows);
        }
    }
}

fn peer(log_n: u32, bits: u32, q: u64, inverse: bool) -> Option<Row<'static>> {
    let n = 1usize << log_n;
    let op = if inverse { "intt" } else { "ntt" };
    let name = format!("{op} 2^{log_n} {bits}-bit tfhe-ntt");
    if bits <= 32 {
        let plan = tfhe_ntt::prime32::Plan::try_new(n, q as u32)?;
        let mut data = residues::<u32>(q, n, 0);
        return Some(if inverse {
            (name, Box::new(move || plan.inv(black_box(&mut data))))
        } else {
            (name, Box::new(move || plan.fwd(black_box(&mut data))))
        });
    }
    let plan = tfhe_ntt::prime64::Plan::try_new(n, q)?;
    let mut data = residues::<u64>(q, n, 0);
    Some(if inverse {
        (name, Box::new(move || plan.inv(black_box(&mut data))))
    } else {
        (name, Box::new(move || plan.fwd(black_box(&mut data))))
    })
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
    for bits in [30, 31, 32] {
        transforms::<u32>(&report, bits);
    }
    for bits in [48, 49, 50, 61] {
        transforms::<u64>(&report, bits);
    }
    kernels::<u32>(&report, 32);
    kernels::<u64>(&report, 50);
    kernels::<u64>(&report, 61);
    samplers(&report);
}
