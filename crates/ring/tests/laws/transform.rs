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
fn products_are_negacyclic_both_words() {
    products_are_negacyclic::<u32>();
    products_are_negacyclic::<u64>();
}
