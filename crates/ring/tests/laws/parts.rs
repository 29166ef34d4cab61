//! Polynomials of several vectors against the ring of their full degree.

use cyclotron_ring::{LimbBuf, Modulus, Ring, Simd, Word, parts, parts::Parts, primes::ntt_primes};

use super::residues;

/// The whole ring, the ring of its parts and the splitting modulo a prime.
fn setting<W: Word>(log_n: u32, log_parts: u32) -> (Ring<W>, Ring<W>, Parts, u64) {
    let log_whole = log_n + log_parts;
    let q = ntt_primes(1 << 31, 2 << log_whole, 1)[0];
    let whole = Ring::new(log_whole, &[q], Simd::Scalar).expect("a ring");
    let simd = Simd::detect().expect("a path");
    let part = Ring::of_parts(log_n, log_parts, &[q], simd).expect("a ring of parts");
    let split = Parts::new(&Modulus::new(q), log_n, log_parts);
    (whole, part, split, q)
}

/// All steps of the splitting, on coefficients of the whole, in place.
fn split_coefficients<W: Word>(ring: &Ring<W>, split: &Parts, log_parts: u32, data: &mut [W]) {
    let n = ring.n();
    for depth in 0..log_parts {
        let half = n << (log_parts - depth - 1);
        for (block, data) in data.chunks_mut(2 * half).enumerate() {
            let r = split.factor(depth, block);
            let (lows, highs) = data.split_at_mut(half);
            for (low, high) in lows.chunks_mut(n).zip(highs.chunks_mut(n)) {
                let [mut product, mut sum] = [LimbBuf::zeroed(n), LimbBuf::zeroed(n)];
                ring.mul_c(0, &mut product, high, r);
                ring.add(0, &mut sum, low, &product);
                ring.sub(0, high, low, &product);
                low.copy_from_slice(&sum);
            }
        }
    }
}

fn parts_are_the_whole<W: Word>(log_n: u32, log_parts: u32) {
    let (whole, ring, split, q) = setting::<W>(log_n, log_parts);
    let (n, count) = (ring.n(), 1 << log_parts);
    let mut data = residues::<W>(q, whole.n(), 31);
    let mut values = LimbBuf::zeroed(whole.n());
    whole.ntt(0, &mut values, &data);
    split_coefficients(&ring, &split, log_parts, &mut data);
    for (part, data) in data.chunks(n).enumerate() {
        let twist = ring.twist(0, part);
        let mut got = LimbBuf::zeroed(n);
        ring.mul(0, &mut got, data, &twist);
        let twisted = got.clone();
        ring.ntt_in_place(0, &mut got);
        assert!(got[..] == values[part * n..][..n], "{ring:?}: part {part}");
        // And back.
        ring.intt_in_place(0, &mut got);
        assert!(got == twisted, "{ring:?}: part {part}");
        let inverse = ring.twist(0, parts::inverse(part, log_parts));
        ring.mul(0, &mut got, &twisted, &inverse);
        assert!(got[..] == *data, "{ring:?}: part {part}");
    }
    // Every exponent of a small ring, some of a large one.
    let step = (2 * whole.n() / 64) / 2 * 2 + 2;
    let zeros = vec![W::default(); n];
    for k in (1..2 * whole.n() as u32).step_by(step) {
        let mut moved = LimbBuf::zeroed(whole.n());
        whole.aut_eval(k, &mut moved, &values);
        for part in 0..count {
            let (source, map) = parts::automorphism(k, part, log_n, log_parts);
            assert!(map.k < 2 * n as u32 && map.offset < n as u32, "{map:?}");
            let mut got = LimbBuf::zeroed(n);
            ring.aut_eval(map, &mut got, &values[source * n..][..n]);
            assert!(got[..] == moved[part * n..][..n], "{ring:?}: {k} {part}");
            ring.aut_eval_of_sum(0, map, &mut got, &values[source * n..][..n], &zeros);
            assert!(got[..] == moved[part * n..][..n], "{ring:?}: {k} {part}");
        }
    }
}

#[test]
fn parts_have_the_values_of_the_whole() {
    for (log_n, log_parts) in [(4, 1), (4, 2), (5, 3), (7, 1), (6, 4), (10, 2), (5, 0)] {
        parts_are_the_whole::<u32>(log_n, log_parts);
        parts_are_the_whole::<u64>(log_n, log_parts);
    }
}

#[test]
fn parts_of_too_long_polynomials_are_refused() {
    let error = Ring::<u32>::of_parts(14, 4, &[], Simd::Scalar).expect_err("2^18 coefficients");
    assert!(error.to_string().contains("18"), "{error}");
}
