//! Laws that every word type and every SIMD path of this processor obeys.
//!
//! `CYCLOTRON_SIMD` restricts them to one path. [`cases`] holds the laws that
//! are checked on millions of cases, the others state one law each on vectors
//! that show it.

mod automorphism;
mod cases;
mod elementwise;
mod fused;
mod parts;
mod sums;
mod transform;

use cyclotron_ring::prf::{Seed, stream};
use cyclotron_ring::sampler::uniform;
use cyclotron_ring::{LimbBuf, Ring, Simd, Word, primes};

/// Primes = 1 mod 2N of every size class that a word may hold, largest first:
/// the extremes are where reductions overflow.
fn primes_for<W: Word>(log_n: u32) -> Vec<u64> {
    let step = 2u64 << log_n;
    let bits: &[u32] = if W::BITS == 32 {
        &[32, 31, 30, 29, 25]
    } else {
        &[61, 60, 52, 51, 50, 49, 40, 32, 30, 25]
    };
    let mut found: Vec<u64> = bits
        .iter()
        .flat_map(|&b| primes::ntt_primes(1 << b, step, 1))
        .collect();
    found.extend(primes::nearest_prime(0.0, step, 1 << 30, &[]));
    found.dedup();
    found
}

/// The paths under test: the one that the environment forces, else all that this processor has.
fn paths() -> Vec<Simd> {
    if std::env::var_os(Simd::ENV).is_some_and(|name| !name.is_empty()) {
        return vec![Simd::detect().expect("a path of this processor")];
    }
    Simd::available()
}

/// One ring for each path under test.
fn rings<W: Word>(log_n: u32, primes: &[u64]) -> Vec<Ring<W>> {
    paths()
        .into_iter()
        .map(|simd| Ring::new(log_n, primes, simd).expect("valid primes"))
        .collect()
}

/// Uniform canonical residues, with the edges 0, 1, q/2 and q - 1 sprinkled in.
fn residues<W: Word>(q: u64, n: usize, seed: u64) -> LimbBuf<W> {
    words_among(q, n, seed, &[0, 1, q / 2, q - 2, q - 1])
}

/// Uniform words, with the edges of the word and of q sprinkled in.
fn any_words<W: Word>(q: u64, n: usize, seed: u64) -> LimbBuf<W> {
    let top = u64::MAX >> (64 - W::BITS);
    let edges = [
        0,
        1,
        q - 1,
        q,
        q + 1,
        q.saturating_mul(2) - 1,
        q.saturating_mul(2),
        q.saturating_mul(4) - 1,
        (1 << 52) - 1,
        1 << 52,
        top - 1,
        top,
    ]
    .map(|x| x.min(top));
    let bound = if W::BITS == 32 { 1 << 32 } else { u64::MAX };
    words_among(bound, n, seed, &edges)
}

fn words_among<W: Word>(bound: u64, n: usize, seed: u64, edges: &[u64]) -> LimbBuf<W> {
    let mut prf = stream(&Seed::for_test(seed), "words", &[bound, n as u64]);
    let mut words = LimbBuf::zeroed(n);
    uniform(&mut prf, bound, &mut words);
    for word in words.iter_mut() {
        let choice = prf.below(4 * edges.len() as u64) as usize;
        if let Some(&edge) = edges.get(choice) {
            *word = W::from_u64(edge);
        }
    }
    words
}

fn add_mod(a: u64, b: u64, q: u64) -> u64 {
    ((u128::from(a) + u128::from(b)) % u128::from(q)) as u64
}

fn mul_mod(a: u64, b: u64, q: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(q)) as u64
}

fn pow_mod(a: u64, exponent: u64, q: u64) -> u64 {
    (0..u64::BITS).rev().fold(1, |power, bit| {
        let square = mul_mod(power, power, q);
        if exponent >> bit & 1 == 1 {
            mul_mod(square, a, q)
        } else {
            square
        }
    })
}

fn reversed(i: usize, bits: u32) -> usize {
    (0..bits).fold(0, |r, bit| r << 1 | (i >> bit & 1))
}

#[test]
fn bad_rings_are_refused() {
    use cyclotron_ring::RingError as E;
    let new32 = |log_n, primes: &[u64]| Ring::<u32>::new(log_n, primes, Simd::Scalar).err();
    assert!(matches!(
        new32(3, &[97]),
        Some(E::LogNOutOfRange { log_n: 3, .. })
    ));
    assert!(matches!(
        new32(18, &[97]),
        Some(E::LogNOutOfRange { log_n: 18, .. })
    ));
    assert_eq!(new32(4, &[1057]), Some(E::NotPrime { modulus: 1057 }));
    assert_eq!(
        new32(5, &[97]),
        Some(E::NoRootOfUnity {
            modulus: 97,
            order: 64
        })
    );
    assert_eq!(
        new32(4, &[97, 193, 97]),
        Some(E::DuplicateModulus { modulus: 97 })
    );
    assert!(matches!(
        new32(4, &[primes::ntt_primes(1 << 33, 32, 1)[0]]),
        Some(E::ModulusTooLarge { max_bits: 32, .. })
    ));
    let wide = primes::ntt_primes(1 << 62, 32, 1);
    assert!(matches!(
        Ring::<u64>::new(4, &wide, Simd::Scalar).err(),
        Some(E::ModulusTooLarge { max_bits: 61, .. })
    ));
    assert!(new32(4, &[97, 193]).is_none());
}
