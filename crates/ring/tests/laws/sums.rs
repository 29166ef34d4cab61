//! Inner products and base conversion against big integers.

use num_bigint::BigUint;

use super::{any_words, primes_for, residues, rings};
use cyclotron_ring::prf::{Seed, stream};
use cyclotron_ring::{LimbBuf, Word};

fn dot_matches_big_integers<W: Word>(count: usize) {
    let (log_n, n) = (10, 1024);
    let primes = primes_for::<W>(log_n);
    for ring in rings::<W>(log_n, &primes) {
        for (m, &q) in primes.iter().enumerate() {
            let limbs: Vec<_> = (0..count as u64)
                .map(|i| (any_words::<W>(q, n, 2 * i), any_words::<W>(q, n, 2 * i + 1)))
                .collect();
            let pairs: Vec<(&[W], &[W])> = limbs.iter().map(|(a, b)| (&a[..], &b[..])).collect();
            let mut dst = any_words::<W>(q, n, 99);
            ring.dot(m, &mut dst, &pairs);
            for i in (0..n).step_by(3) {
                let sum: BigUint = pairs
                    .iter()
                    .map(|(a, b)| BigUint::from(a[i].to_u64()) * b[i].to_u64())
                    .sum();
                assert_eq!(BigUint::from(dst[i].to_u64()), sum % q, "{ring:?} {q} {i}");
            }
        }
    }
}

/// The largest products, and those with the largest lower halves: the largest
/// sums that there can be, of more terms than any kernel reduces together.
fn dot_survives_the_largest_words<W: Word>() {
    let (log_n, n, count) = (10, 1024, 4500);
    let primes = primes_for::<W>(log_n);
    let top = u64::MAX >> (64 - W::BITS);
    let narrow = top.min((1 << 52) - 1);
    for (x, y) in [(top, top), (top, 1), (narrow, narrow), (narrow, 1)] {
        let [a, b]: [LimbBuf<W>; 2] =
            [x, y].map(|word| std::iter::repeat_n(W::from_u64(word), n).collect());
        let sum = BigUint::from(x) * y * count;
        for ring in rings::<W>(log_n, &primes) {
            for (m, &q) in primes.iter().enumerate() {
                let mut dst = LimbBuf::zeroed(n);
                ring.dot(m, &mut dst, &vec![(&a[..], &b[..]); count]);
                let residue = (&sum % q).iter_u64_digits().next().unwrap_or(0);
                assert!(
                    dst.iter().all(|word| word.to_u64() == residue),
                    "{ring:?} {q}"
                );
            }
        }
    }
}

fn bconv_matches_big_integers<W: Word>(log_n: u32, sources: usize) {
    let n = 1usize << log_n;
    let primes = primes_for::<W>(log_n);
    for ring in rings::<W>(log_n, &primes) {
        // Sources of the largest primes, and one of arbitrary words.
        let mut srcs: Vec<LimbBuf<W>> = (1..sources)
            .map(|i| residues(primes[i % 2], n, i as u64))
            .collect();
        srcs.push(any_words(primes[0], n, 50));
        let srcs: Vec<&[W]> = srcs.iter().map(|src| &src[..]).collect();
        let moduli: Vec<usize> = (0..primes.len()).rev().collect();
        let mut prf = stream(&Seed::for_test(9), "matrix", &[]);
        let matrix: Vec<u64> = (0..sources * moduli.len())
            .map(|at| match prf.below(5) {
                0 => primes[moduli[at % moduli.len()]] - 1,
                1 => u64::MAX,
                _ => prf.below(primes[moduli[at % moduli.len()]]),
            })
            .collect();
        let mut dsts = vec![any_words::<W>(97, n, 51); moduli.len()];
        let mut slices: Vec<&mut [W]> = dsts.iter_mut().map(|dst| &mut dst[..]).collect();
        ring.bconv(&moduli, &mut slices, &srcs, &matrix);
        for (j, dst) in dsts.iter().enumerate() {
            let q = primes[moduli[j]];
            for x in (0..n).step_by(if log_n > 8 { 61 } else { 1 }) {
                let sum: BigUint = (0..sources)
                    .map(|i| BigUint::from(srcs[i][x].to_u64()) * matrix[i * moduli.len() + j])
                    .sum();
                assert_eq!(BigUint::from(dst[x].to_u64()), sum % q, "{ring:?} {q} {x}");
            }
        }
    }
}

#[test]
fn dot_matches_big_integers_both_words() {
    for count in [0, 1, 2, 3, 17] {
        dot_matches_big_integers::<u32>(count);
        dot_matches_big_integers::<u64>(count);
    }
}

#[test]
fn dot_survives_the_largest_words_both_words() {
    dot_survives_the_largest_words::<u32>();
    dot_survives_the_largest_words::<u64>();
}

#[test]
fn bconv_matches_big_integers_both_words() {
    for (log_n, sources) in [(4, 1), (10, 2), (10, 300), (11, 5)] {
        bconv_matches_big_integers::<u32>(log_n, sources);
        bconv_matches_big_integers::<u64>(log_n, sources);
    }
}

#[test]
fn bconv_without_sources_or_destinations_is_nothing() {
    let ring = &rings::<u32>(4, &[97])[0];
    ring.bconv(&[], &mut [], &[&LimbBuf::zeroed(16)], &[]);
    let mut dst = LimbBuf::from_slice(&[5u32; 16]);
    ring.bconv(&[0], &mut [&mut dst[..]], &[], &[]);
    assert_eq!(dst, LimbBuf::zeroed(16));
}
