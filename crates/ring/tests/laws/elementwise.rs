//! Index-by-index kernels against 128-bit division.

use super::{any_words, mul_mod, primes_for, residues, rings};
use cyclotron_ring::{LimbBuf, Ring, Word};

struct Case<'a, W: Word> {
    ring: &'a Ring<W>,
    m: usize,
    q: u64,
}

impl<W: Word> Case<'_, W> {
    /// Checks one kernel against `expected(i)` as an integer to be reduced.
    fn check(&self, name: &str, kernel: impl Fn(&mut [W]), expected: impl Fn(usize) -> u128) {
        // Garbage in the destination must not matter.
        let mut dst = any_words::<W>(self.q, self.ring.n(), 99);
        kernel(&mut dst);
        for (i, x) in dst.iter().enumerate() {
            let expected = (expected(i) % u128::from(self.q)) as u64;
            assert_eq!(
                x.to_u64(),
                expected,
                "{name} at {i}, {:?}, {}",
                self.ring,
                self.q
            );
        }
    }
}

fn kernels_match_division<W: Word>(log_n: u32) {
    let primes = primes_for::<W>(log_n);
    for ring in rings::<W>(log_n, &primes) {
        for (m, &q) in primes.iter().enumerate() {
            let case = Case { ring: &ring, m, q };
            additive(&case);
            multiplicative(&case);
        }
    }
}

fn wide(x: impl Word) -> u128 {
    u128::from(x.to_u64())
}

fn additive<W: Word>(case: &Case<'_, W>) {
    let &Case { ring, m, q } = case;
    let (a, b) = (
        residues::<W>(q, ring.n(), 11),
        residues::<W>(q, ring.n(), 12),
    );
    let q = u128::from(q);
    case.check(
        "add",
        |d| ring.add(m, d, &a, &b),
        |i| wide(a[i]) + wide(b[i]),
    );
    case.check(
        "sub",
        |d| ring.sub(m, d, &a, &b),
        |i| wide(a[i]) + q - wide(b[i]),
    );
    case.check("neg", |d| ring.neg(m, d, &a), |i| q - wide(a[i]));
    for c in constants(case.q) {
        let shifted = |i: usize| wide(a[i]) + u128::from(c);
        case.check("add_c", |d| ring.add_c(m, d, &a, c), shifted);
        let scaled = |i: usize| {
            let difference = ((wide(a[i]) + q - wide(b[i])) % q) as u64;
            u128::from(mul_mod(difference, c % case.q, case.q))
        };
        case.check("sub_mul_c", |d| ring.sub_mul_c(m, d, &a, &b, c), scaled);
    }
}

fn multiplicative<W: Word>(case: &Case<'_, W>) {
    let &Case { ring, m, q } = case;
    let (a, b) = (
        any_words::<W>(q, ring.n(), 13),
        any_words::<W>(q, ring.n(), 14),
    );
    let canonical = residues::<W>(q, ring.n(), 15);
    let product = |i: usize| u128::from(mul_mod(a[i].to_u64(), b[i].to_u64(), q));
    case.check("mul", |d| ring.mul(m, d, &a, &b), product);
    let accumulated = |i: usize| product(i) + wide(canonical[i]);
    case.check("mac", |d| ring.mac(m, d, &canonical, &a, &b), accumulated);
    let subtracted = |i: usize| u128::from(q) - product(i) + wide(canonical[i]);
    case.check("msub", |d| ring.msub(m, d, &canonical, &a, &b), subtracted);
    for c in constants(q) {
        let scaled = |i: usize| u128::from(mul_mod(a[i].to_u64(), c % q, q));
        case.check("mul_c", |d| ring.mul_c(m, d, &a, c), scaled);
    }
}

fn constants(q: u64) -> [u64; 7] {
    [0, 1, q / 3, q - 1, q, q + 1, u64::MAX]
}

#[test]
fn kernels_match_division_both_words() {
    for log_n in [4, 5, 10] {
        kernels_match_division::<u32>(log_n);
        kernels_match_division::<u64>(log_n);
    }
}

#[test]
#[should_panic(expected = "slices of one length")]
fn short_limbs_are_refused() {
    let ring = &rings::<u32>(4, &[97])[0];
    ring.neg(0, &mut LimbBuf::zeroed(16), &LimbBuf::zeroed(15));
}

/// A wrong schedule feeds limbs of other primes to every operation: the result
/// is wrong, but there is one.
#[test]
fn words_that_should_be_canonical_never_panic() {
    fn run<W: Word>() {
        let primes = primes_for::<W>(10);
        for ring in rings::<W>(10, &primes) {
            for (m, &q) in primes.iter().enumerate() {
                let (a, b) = (any_words::<W>(q, 1024, 1), any_words::<W>(q, 1024, 2));
                let mut dst = LimbBuf::zeroed(1024);
                ring.add(m, &mut dst, &a, &b);
                ring.sub(m, &mut dst, &a, &b);
                ring.neg(m, &mut dst, &a);
                ring.add_c(m, &mut dst, &a, q - 1);
                ring.mac(m, &mut dst, &a, &a, &b);
                ring.msub(m, &mut dst, &a, &a, &b);
                ring.sub_mul_c(m, &mut dst, &a, &b, q - 1);
                ring.aut_coeff(m, 3, &mut dst, &a);
                ring.intt(m, &mut dst, &a);
            }
        }
    }
    run::<u32>();
    run::<u64>();
}

/// Some operation on three sources.
type Kernel<'a, W> = &'a dyn Fn(&mut [W], [&[W]; 3]);

/// Operations that treat every index alike give the same strip by strip.
fn strips_are_parts_of_limbs<W: Word>() {
    let (log_n, strip) = (9, 128);
    let primes = primes_for::<W>(log_n);
    for ring in rings::<W>(log_n, &primes) {
        for (m, &q) in primes.iter().enumerate() {
            let [a, b, c] = [21, 22, 23].map(|seed| residues::<W>(q, ring.n(), seed));
            let kernels: [Kernel<'_, W>; 10] = [
                &|d, [a, b, _]| ring.add(m, d, a, b),
                &|d, [a, b, _]| ring.sub(m, d, a, b),
                &|d, [a, _, _]| ring.neg(m, d, a),
                &|d, [a, b, _]| ring.mul(m, d, a, b),
                &|d, [a, _, _]| ring.add_c(m, d, a, q / 3),
                &|d, [a, _, _]| ring.mul_c(m, d, a, q - 1),
                &|d, [a, b, c]| ring.mac(m, d, a, b, c),
                &|d, [a, b, c]| ring.msub(m, d, a, b, c),
                &|d, [a, b, _]| ring.sub_mul_c(m, d, a, b, q / 3),
                &|d, [a, b, c]| ring.dot(m, d, &[(a, b), (b, c), (c, c)]),
            ];
            for (kernel, run) in kernels.iter().enumerate() {
                let mut whole = any_words::<W>(q, ring.n(), 24);
                run(&mut whole, [&a, &b, &c]);
                for start in (0..ring.n()).step_by(strip) {
                    let part = start..start + strip;
                    let mut dst = any_words::<W>(q, strip, 25);
                    let sources = [&a, &b, &c].map(|limb| &limb[part.clone()]);
                    run(&mut dst, sources);
                    assert_eq!(dst[..], whole[part], "kernel {kernel}, {ring:?}, {q}");
                }
            }
        }
    }
}

#[test]
fn strips_are_parts_of_limbs_both_words() {
    strips_are_parts_of_limbs::<u32>();
    strips_are_parts_of_limbs::<u64>();
}

#[test]
#[should_panic(expected = "a strip of one a multiple of")]
fn a_strip_of_another_length_is_refused() {
    let ring = &rings::<u64>(9, &primes_for::<u64>(9))[0];
    ring.add(0, &mut [0; 100], &[0; 100], &[0; 100]);
}
