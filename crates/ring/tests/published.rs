//! The same negacyclic products through a published implementation, `tfhe-ntt`.

use cyclotron_ring::prf::{Seed, stream};
use cyclotron_ring::{LimbBuf, Ring, Simd, Word, primes, sampler};

/// The paths under test: the one that the environment forces, else all that this processor has.
fn paths() -> Vec<Simd> {
    if std::env::var_os(Simd::ENV).is_some_and(|name| !name.is_empty()) {
        return vec![Simd::detect().expect("a path of this processor")];
    }
    Simd::available()
}

/// The product of two polynomials through our transforms.
fn ours<W: Word>(ring: &Ring<W>, a: &[W], b: &[W]) -> Vec<u64> {
    let n = ring.n();
    let (mut x, mut y) = (LimbBuf::zeroed(n), LimbBuf::zeroed(n));
    ring.ntt(0, &mut x, a);
    ring.ntt(0, &mut y, b);
    let mut product = LimbBuf::zeroed(n);
    ring.mul(0, &mut product, &x, &y);
    ring.intt_in_place(0, &mut product);
    product.iter().map(|x| x.to_u64()).collect()
}

fn operands<W: Word>(q: u64, n: usize) -> [LimbBuf<W>; 2] {
    [1, 2].map(|id| {
        let mut words = LimbBuf::zeroed(n);
        let mut prf = stream(&Seed::for_test(q), "operand", &[id]);
        sampler::uniform(&mut prf, q, &mut words);
        words
    })
}

#[test]
fn products_of_32_bit_primes_agree_with_tfhe_ntt() {
    for (log_n, below) in [(10, 1 << 30), (13, 1 << 31), (11, 1 << 32), (15, 1 << 32)] {
        let n = 1usize << log_n;
        let q = primes::ntt_primes(below, 2 * n as u64, 1)[0];
        let [a, b] = operands::<u32>(q, n);
        let plan = tfhe_ntt::prime32::Plan::try_new(n, q as u32).expect("a prime of its class");
        let (mut x, mut y) = (a.to_vec(), b.to_vec());
        plan.fwd(&mut x);
        plan.fwd(&mut y);
        plan.mul_assign_normalize(&mut x, &y);
        plan.inv(&mut x);
        let theirs: Vec<u64> = x.into_iter().map(u64::from).collect();
        for simd in paths() {
            let ring = Ring::<u32>::new(log_n, &[q], simd).expect("valid prime");
            assert_eq!(ours(&ring, &a, &b), theirs, "{ring:?}");
        }
    }
}

#[test]
fn products_of_64_bit_primes_agree_with_tfhe_ntt() {
    for (log_n, bits) in [(10, 32), (12, 50), (14, 51), (16, 50), (11, 60), (16, 61)] {
        let n = 1usize << log_n;
        let q = primes::ntt_primes(1 << bits, 2 * n as u64, 1)[0];
        let [a, b] = operands::<u64>(q, n);
        let plan = tfhe_ntt::prime64::Plan::try_new(n, q).expect("a prime of its class");
        let (mut x, mut y) = (a.to_vec(), b.to_vec());
        plan.fwd(&mut x);
        plan.fwd(&mut y);
        plan.mul_assign_normalize(&mut x, &y);
        plan.inv(&mut x);
        for simd in paths() {
            let ring = Ring::<u64>::new(log_n, &[q], simd).expect("valid prime");
            assert_eq!(ours(&ring, &a, &b), x, "{ring:?}");
        }
    }
}
