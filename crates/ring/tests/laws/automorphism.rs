//! Automorphisms against their definition, and the laws that join the domains.

use super::{primes_for, residues, rings};
use cyclotron_ring::{LimbBuf, Word};

fn exponents(n: u32) -> Vec<u32> {
    let mut ks = vec![1, 3, 5, 25, n - 1, n + 1, 2 * n - 1, 2 * n + 5, u32::MAX];
    ks.extend((0..6).map(|i| (5u32.wrapping_pow(7 * i + 3) % (2 * n)) | 1));
    ks
}

fn laws_hold<W: Word>(log_n: u32) {
    let n = 1usize << log_n;
    let mut primes = primes_for::<W>(log_n);
    primes.truncate(3);
    for ring in rings::<W>(log_n, &primes) {
        for (m, &q) in primes.iter().enumerate() {
            let a = residues::<W>(q, n, 21);
            let mut values = LimbBuf::zeroed(n);
            ring.ntt(m, &mut values, &a);
            let other = residues::<W>(q, n, 23);
            let mut sum = LimbBuf::zeroed(n);
            ring.add(m, &mut sum, &values, &other);
            for k in exponents(n as u32) {
                let mut moved = LimbBuf::zeroed(n);
                ring.aut_coeff(m, k, &mut moved, &a);
                for (i, x) in a.iter().enumerate() {
                    let target = (i as u64 * u64::from(k) % (2 * n as u64)) as usize;
                    let negative = (q - x.to_u64()) % q;
                    let expected = if target < n { x.to_u64() } else { negative };
                    assert_eq!(moved[target % n].to_u64(), expected, "{ring:?} {k} {i}");
                }
                // ntt after aut_coeff = aut_eval after ntt.
                ring.ntt_in_place(m, &mut moved);
                let mut permuted = LimbBuf::zeroed(n);
                ring.aut_eval(k, &mut permuted, &values);
                assert_eq!(moved, permuted, "{ring:?} {q} {k}");
                ring.aut_eval(k, &mut permuted, &sum);
                ring.aut_eval_of_sum(m, k, &mut moved, &values, &other);
                assert_eq!(moved, permuted, "of a sum, {ring:?} {q} {k}");
            }
        }
    }
}

fn exponents_multiply<W: Word>(log_n: u32) {
    let n = 1usize << log_n;
    let q = primes_for::<W>(log_n)[0];
    for ring in rings::<W>(log_n, &[q]) {
        let a = residues::<W>(q, n, 22);
        for (k, l) in [(3u32, 5u32), (2 * n as u32 - 1, 25), (7, 7)] {
            let mut bufs = [LimbBuf::zeroed(n), LimbBuf::zeroed(n), LimbBuf::zeroed(n)];
            let [first, both, once] = &mut bufs;
            ring.aut_eval(k, first, &a);
            ring.aut_eval(l, both, first);
            ring.aut_eval(k * l, once, &a);
            assert_eq!(both, once, "evaluation, {k} {l}");
            ring.aut_coeff(0, k, first, &a);
            ring.aut_coeff(0, l, both, first);
            ring.aut_coeff(0, k * l, once, &a);
            assert_eq!(both, once, "coefficients, {k} {l}");
        }
    }
}

#[test]
fn automorphisms_follow_their_definition() {
    for log_n in [4, 5, 6, 8, 11] {
        laws_hold::<u32>(log_n);
        laws_hold::<u64>(log_n);
    }
}

#[test]
fn automorphisms_compose() {
    for log_n in [4, 7, 10] {
        exponents_multiply::<u32>(log_n);
        exponents_multiply::<u64>(log_n);
    }
}

#[test]
#[should_panic(expected = "k must be odd")]
fn even_exponents_are_refused() {
    let ring = &rings::<u32>(4, &[97])[0];
    ring.aut_eval(2, &mut LimbBuf::zeroed(16), &LimbBuf::zeroed(16));
}
