//! Fused transforms against the sequences that they stand for.

use super::{any_words, primes_for, residues, rings};
use cyclotron_ring::{LimbBuf, NttEntry, NttExit, Ring, Word};

/// Constants at the edges of the prime and beyond it.
fn constants(q: u64) -> [u64; 6] {
    [0, 1, q / 2, q - 1, q, u64::MAX]
}

/// The coefficients that the entry hands on: reduced, then the constant added.
fn entered<W: Word>(ring: &Ring<W>, m: usize, src: &[W], add_c: u64) -> LimbBuf<W> {
    let (mut reduced, mut sum) = (LimbBuf::zeroed(ring.n()), LimbBuf::zeroed(ring.n()));
    ring.mul_c(m, &mut reduced, src, 1);
    ring.add_c(m, &mut sum, &reduced, add_c);
    sum
}

fn ntt_with_is_the_sequence<W: Word>(log_n: u32, primes: &[u64]) {
    for ring in rings::<W>(log_n, primes) {
        let n = ring.n();
        for (m, &q) in primes.iter().enumerate() {
            let minuend = residues::<W>(q, n, 11);
            let same_size = residues::<W>(q, n, 12);
            for src in [&any_words::<W>(q, n, 13), &same_size] {
                for add_c in constants(q) {
                    let mut values = LimbBuf::zeroed(n);
                    ring.ntt(m, &mut values, &entered(&ring, m, src, add_c));
                    let mut fused = LimbBuf::zeroed(n);
                    let entry = NttEntry { add_c };
                    ring.ntt_with(m, &mut fused, Some(src), entry, NttExit::Canonical);
                    assert_eq!(fused, values, "{ring:?} {q} + {add_c}");
                    for c in constants(q) {
                        let mut expected = LimbBuf::zeroed(n);
                        ring.sub_mul_c(m, &mut expected, &minuend, &values, c);
                        let exit = NttExit::SubMulC {
                            minuend: &minuend,
                            c,
                        };
                        ring.ntt_with(m, &mut fused, Some(src), entry, exit);
                        assert_eq!(fused, expected, "{ring:?} {q} + {add_c}, times {c}");
                        let exit = NttExit::SubMulC {
                            minuend: &minuend,
                            c,
                        };
                        fused.copy_from_slice(src);
                        ring.ntt_with(m, &mut fused, None, entry, exit);
                        assert_eq!(fused, expected, "{ring:?} {q} in place");
                    }
                }
            }
        }
    }
}

fn intt_with_is_the_sequence<W: Word>(log_n: u32, primes: &[u64]) {
    for ring in rings::<W>(log_n, primes) {
        let n = ring.n();
        for (m, &q) in primes.iter().enumerate() {
            let src = residues::<W>(q, n, 14);
            let mut coefficients = LimbBuf::zeroed(n);
            ring.intt(m, &mut coefficients, &src);
            for mul_c in constants(q) {
                for add_c in constants(q) {
                    let (mut product, mut expected) = (LimbBuf::zeroed(n), LimbBuf::zeroed(n));
                    ring.mul_c(m, &mut product, &coefficients, mul_c);
                    ring.add_c(m, &mut expected, &product, add_c);
                    let mut fused = LimbBuf::zeroed(n);
                    ring.intt_with(m, &mut fused, Some(&src), mul_c, add_c);
                    assert_eq!(fused, expected, "{ring:?} {q} times {mul_c} + {add_c}");
                    fused.copy_from_slice(&src);
                    ring.intt_with(m, &mut fused, None, mul_c, add_c);
                    assert_eq!(fused, expected, "{ring:?} {q} in place");
                }
            }
        }
    }
}

/// All sizes of primes at small degrees, where every plan of passes begins.
fn all<W: Word>() {
    for log_n in [4, 9, 10] {
        let primes = primes_for::<W>(log_n);
        ntt_with_is_the_sequence::<W>(log_n, &primes);
        intt_with_is_the_sequence::<W>(log_n, &primes);
    }
    for log_n in [11, 12, 13, 14] {
        let primes = primes_for::<W>(log_n);
        let picked: Vec<u64> = primes
            .into_iter()
            .skip(log_n as usize % 2)
            .step_by(3)
            .collect();
        ntt_with_is_the_sequence::<W>(log_n, &picked[..1]);
        intt_with_is_the_sequence::<W>(log_n, &picked[..1]);
    }
}

#[test]
fn fused_transforms_are_their_sequences_32() {
    all::<u32>();
}

#[test]
fn fused_transforms_are_their_sequences_64() {
    all::<u64>();
}
