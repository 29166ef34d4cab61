//! Random variants of F1.

use cyclotron_isa::testing::TestRng;
use cyclotron_machine::{Machine, Setting};

use crate::generator::LOG_N;

/// Variant number `seed`: 1 to 16 clusters, 2 to 64 MB of scratchpad, other
/// bandwidths and latencies. Every other variant has memories smaller in the
/// ratio of the test's vectors to F1's, so that values are spilled. Every fifth has
/// shorter vectors: polynomials are 2 or 4 of them.
pub fn variant(f1: &Machine, seed: u64) -> Machine {
    let mut rng = TestRng::new(0xF1 + seed);
    let shrink = if seed.is_multiple_of(2) { 16 } else { 1 };
    let clusters = 1 + rng.below(16) as i64;
    let kib_per_bank = (128 << rng.below(6)) / shrink;
    let longest = match seed {
        seed if seed.is_multiple_of(5) => 1i64 << (LOG_N - 1 - (seed as u32 / 5) % 2),
        _ => 16384,
    };
    let edits: Vec<(&str, Setting)> = vec![
        ("n_min", Setting::from(longest.min(1024))),
        ("n_max", Setting::from(longest)),
        ("clusters", Setting::from(clusters)),
        (
            "cluster.regfile.kib",
            Setting::from(rng.pick(&[256i64, 512, 1024]) / shrink),
        ),
        ("scratchpad.kib_per_bank", Setting::from(kib_per_bank)),
        (
            "offchip.gbps",
            Setting::from(rng.pick(&[64.0, 128.0, 256.0, 512.0, 1024.0])),
        ),
        ("offchip.channels", Setting::from(1 + rng.below(4) as i64)),
        (
            "offchip.latency_cycles",
            Setting::from(rng.below(1000) as i64),
        ),
        ("vars.lat_mul", Setting::from(1 + rng.below(12) as i64)),
        ("vars.lat_add", Setting::from(1 + rng.below(6) as i64)),
    ];
    f1.with(edits).expect("a legal variant")
}
