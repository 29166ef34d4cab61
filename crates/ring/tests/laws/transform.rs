//! The NTT against its definition.

use super::cases::least_root;
use super::{any_words, mul_mod, pow_mod, primes_for, residues, reversed, rings};
use cyclotron_ring::{LimbBuf, Word};

fn value_at(coefficients: &[u64], x: u64, q: u64) -> u64 {
    coefficients.iter().rev().fold(0, |value, &c| {
        let sum = u128::from(mul_mod(value, x, q)) + u128::from(c % q);
        (sum % u128::from(q)) as u64
    })
}

fn ntt_matches_schoolbook<W: Word>() {
    for log_n in [4, 5, 6, 7, 8, 9, 10] {
        let n = 1usize << log_n;
        let primes = primes_for::<W>(log_n);
        for ring in rings::<W>(log_n, &primes) {
            for (m, &q) in primes.iter().enumerate() {
                let src = any_words::<W>(q, n, 1);
                let mut dst = LimbBuf::zeroed(n);
                ring.ntt(m, &mut dst, &src);
                let coefficients: Vec<u64> = src.iter().map(|x| x.to_u64()).collect();
                let psi = least_root(q, n as u64);
                // All indices where that is cheap, else a spread.
                for i in (0..n).step_by(if log_n > 7 { 37 } else { 1 }) {
                    let point = pow_mod(psi, 2 * reversed(i, log_n) as u64 + 1, q);
                    assert_eq!(
                        dst[i].to_u64(),
                        value_at(&coefficients, point, q),
                        "{ring:?} {q} {i}"
                    );
                }
            }
        }
    }
}

fn intt_inverts_ntt<W: Word>() {
    for log_n in 4..=17 {
        let n = 1usize << log_n;
        let mut primes = primes_for::<W>(log_n);
        primes.truncate(if log_n > 14 { 3 } else { usize::MAX });
        for ring in rings::<W>(log_n, &primes) {
            for (m, &q) in primes.iter().enumerate() {
                for src in [
                    residues::<W>(q, n, 2),
                    std::iter::repeat_n(W::from_u64(q - 1), n).collect(),
                ] {
                    let (mut values, mut back) = (LimbBuf::zeroed(n), LimbBuf::zeroed(n));
                    ring.ntt(m, &mut values, &src);
                    assert!(values.iter().all(|x| x.to_u64() < q), "{ring:?} {q}");
                    ring.intt(m, &mut back, &values);
                    assert_eq!(back, src, "{ring:?} {q}");
                    // The other order, on the same words as values.
                    ring.intt_in_place(m, &mut back);
                    ring.ntt_in_place(m, &mut back);
                    assert_eq!(back, src, "{ring:?} {q}");
                }
            }
        }
    }
}

/// Limbs at the edges of lazy ranges: all words equal, or two alternating.
fn edge_limbs<W: Word>(q: u64, n: usize, canonical: bool) -> Vec<LimbBuf<W>> {
    let top = u64::MAX >> (64 - W::BITS);
    let mut edges = vec![0, 1, q / 2, q - 1];
    if !canonical {
        let beyond = [
            q,
            2 * q - 1,
            2 * q,
            3 * q - 1,
            1 << 51,
            (1 << 52) - 1,
            1 << 52,
            top,
        ];
        edges.extend(beyond.into_iter().filter(|&edge| edge <= top));
    }
    let pairs = edges.iter().zip(edges.iter().rev().chain(&edges));
    pairs
        .flat_map(|(&a, &b)| [[a, a], [a, b], [b, a]])
        .map(|pair| (0..n).map(|i| W::from_u64(pair[i % 2])).collect())
        .collect()
}

fn edges_agree<W: Word>() {
    for log_n in [10, 11, 12, 13] {
        let n = 1usize << log_n;
        let primes = primes_for::<W>(log_n);
        let rings = rings::<W>(log_n, &primes);
        for (m, &q) in primes.iter().enumerate() {
            for canonical in [true, false] {
                for limb in edge_limbs::<W>(q, n, canonical) {
                    let images: Vec<_> = rings
                        .iter()
                        .map(|ring| {
                            let mut image = LimbBuf::zeroed(n);
                            if canonical {
                                ring.intt(m, &mut image, &limb);
                            } else {
                                ring.ntt(m, &mut image, &limb);
                            }
                            image
                        })
                        .collect();
                    let first = &images[0];
                    assert!(images.iter().all(|image| image == first), "{log_n} {q}");
                }
            }
        }
    }
}

fn products_are_negacyclic<W: Word>() {
    let (log_n, n) = (10, 1024);
    let primes = primes_for::<W>(log_n);
    for ring in rings::<W>(log_n, &primes) {
        for (m, &q) in primes.iter().enumerate() {
            let (a, b) = (residues::<W>(q, n, 5), residues::<W>(q, n, 6));
            let mut expected = vec![0u64; n];
            for (i, x) in a.iter().enumerate() {
                for (j, y) in b.iter().enumerate() {
                    let product = mul_mod(x.to_u64(), y.to_u64(), q);
                    let signed = if i + j < n {
                        product
                    } else {
                        (q - product) % q
                    };
                    let slot = &mut expected[(i + j) % n];
                    *slot = ((u128::from(*slot) + u128::from(signed)) % u128::from(q)) as u64;
                }
            }
            let mut values = [LimbBuf::zeroed(n), LimbBuf::zeroed(n), LimbBuf::zeroed(n)];
            let [x, y, product] = &mut values;
            ring.ntt(m, x, &a);
            ring.ntt(m, y, &b);
            ring.mul(m, product, x, y);
            ring.intt_in_place(m, product);
            assert!(
                product.iter().zip(&expected).all(|(p, &e)| p.to_u64() == e),
                "{ring:?} {q}"
            );
        }
    }
}

#[test]
fn ntt_matches_schoolbook_both_words() {
    ntt_matches_schoolbook::<u32>();
    ntt_matches_schoolbook::<u64>();
}

#[test]
fn intt_inverts_ntt_both_words() {
    intt_inverts_ntt::<u32>();
    intt_inverts_ntt::<u64>();
}

#[test]
fn transforms_agree_at_the_edges_of_ranges() {
    edges_agree::<u32>();
    edges_agree::<u64>();
}

#[test]
fn products_are_negacyclic_both_words() {
    products_are_negacyclic::<u32>();
    products_are_negacyclic::<u64>();
}
