//! Transforms on every path against the scalar ones, those against powers of
//! the root of unity, and fused ones against their parts.

use cyclotron_ring::{LimbBuf, NttEntry, NttExit, Ring, Word};

use super::Subject;
use crate::{add_mod, mul_mod, pow_mod, reversed};

/// Forward from any words, inverse from canonical ones, and back again.
pub fn agree<W: Word>(subject: &mut Subject<W>) {
    let (words, values) = (subject.any_words(), subject.residues());
    let m = subject.m;
    let image = check(subject, "ntt", &words, |ring, dst, src| match src {
        Some(src) => ring.ntt(m, dst, src),
        None => ring.ntt_in_place(m, dst),
    });
    let inverse = |ring: &Ring<W>, dst: &mut [W], src: Option<&[W]>| match src {
        Some(src) => ring.intt(m, dst, src),
        None => ring.intt_in_place(m, dst),
    };
    check(subject, "intt", &values, inverse);
    let back = check(subject, "intt", &image, inverse);
    let reduce = |x: &W| W::from_u64(x.to_u64() % subject.q());
    let reduced: LimbBuf<W> = words.iter().map(reduce).collect();
    subject.same("intt of ntt", &subject.definition, &back, &reduced);
}

/// Constants before and after, where a fused transform takes them, against the plain transform
/// and integer arithmetic.
pub fn fused_agree<W: Word>(subject: &mut Subject<W>) {
    let (q, m, n) = (subject.q(), subject.m, subject.n());
    let (src, minuend) = (subject.any_words(), subject.residues());
    let (add_c, c) = (subject.constant(), subject.constant());
    let map = |src: &[W], f: &dyn Fn(u64) -> u64| -> LimbBuf<W> {
        src.iter().map(|x| W::from_u64(f(x.to_u64()))).collect()
    };
    let mut plain = map(&src, &|x| add_mod(x, add_c % q, q));
    subject.definition.ntt_in_place(m, &mut plain);
    let entry = NttEntry { add_c };
    expect(subject, "ntt_with", &plain, |ring, dst| {
        ring.ntt_with(m, dst, Some(&src), entry, NttExit::Canonical);
    });
    for (x, a) in plain.iter_mut().zip(minuend.iter()) {
        let difference = add_mod(a.to_u64(), q - x.to_u64(), q);
        *x = W::from_u64(mul_mod(difference, c % q, q));
    }
    let exit = || NttExit::SubMulC {
        minuend: &minuend,
        c,
    };
    expect(subject, "ntt_with minuend", &plain, |ring, dst| {
        ring.ntt_with(m, dst, Some(&src), entry, exit());
    });
    let mut plain = LimbBuf::zeroed(n);
    subject.definition.intt(m, &mut plain, &minuend);
    let plain = map(&plain, &|x| add_mod(mul_mod(x, c % q, q), add_c % q, q));
    expect(subject, "intt_with", &plain, |ring, dst| {
        ring.intt_with(m, dst, Some(&minuend), c, add_c);
    });
}

/// Compares a transform with what is expected on all paths.
fn expect<W: Word>(
    subject: &mut Subject<W>,
    name: &str,
    expected: &[W],
    transform: impl Fn(&Ring<W>, &mut [W]),
) {
    for ring in &subject.rings {
        let mut dst = LimbBuf::zeroed(expected.len());
        transform(ring, &mut dst);
        subject.same(name, ring, &dst, expected);
    }
    subject.tally.transforms += 1;
}

/// Compares a transform from a source, and in place, on all paths; returns the image.
fn check<W: Word>(
    subject: &mut Subject<W>,
    name: &str,
    src: &[W],
    transform: impl Fn(&Ring<W>, &mut [W], Option<&[W]>),
) -> LimbBuf<W> {
    let mut expected = LimbBuf::zeroed(src.len());
    transform(&subject.definition, &mut expected, Some(src));
    for ring in &subject.rings {
        let mut dst = LimbBuf::zeroed(src.len());
        transform(ring, &mut dst, Some(src));
        subject.same(name, ring, &dst, &expected);
        dst.copy_from_slice(src);
        transform(ring, &mut dst, None);
        subject.same(name, ring, &dst, &expected);
    }
    subject.tally.transforms += 1;
    expected
}

/// `c x^j` has the value `c psi^(j (2 brv(i) + 1))` at index i. For j = N - 1 every twiddle
/// of the table is a factor of some value, so that none can be wrong.
pub fn monomials_are_powers_of_the_root<W: Word>(subject: &mut Subject<W>) {
    let (n, q, m) = (subject.n(), subject.q(), subject.m);
    let root = least_root(q, n as u64);
    let random = subject.below(n);
    for j in [n - 1, random] {
        let c = 1 + subject.random.below(q - 1);
        // The values at psi, psi^3, psi^5, ...
        let (mut value, step) = (
            mul_mod(c, pow_mod(root, j as u64, q), q),
            pow_mod(root, 2 * j as u64, q),
        );
        let mut expected = LimbBuf::<W>::zeroed(n);
        for i in 0..n {
            expected[reversed(i, n.ilog2())] = W::from_u64(value);
            value = mul_mod(value, step, q);
        }
        let mut monomial = LimbBuf::<W>::zeroed(n);
        monomial[j] = W::from_u64(c);
        for ring in &subject.rings {
            let mut dst = LimbBuf::zeroed(n);
            ring.ntt(m, &mut dst, &monomial);
            subject.same("ntt of a monomial", ring, &dst, &expected);
            ring.intt_in_place(m, &mut dst);
            subject.same("intt to a monomial", ring, &dst, &monomial);
        }
        subject.tally.transforms += 2;
    }
}

/// The least primitive 2N-th root of unity: the least of the odd powers of any one.
pub fn least_root(q: u64, n: u64) -> u64 {
    let any = (2..q)
        .map(|x| pow_mod(x, (q - 1) / (2 * n), q))
        .find(|&root| pow_mod(root, n, q) == q - 1)
        .expect("a root exists");
    let square = mul_mod(any, any, q);
    let powers = std::iter::successors(Some(any), |&power| Some(mul_mod(power, square, q)));
    powers.take(n as usize).min().expect("n > 0")
}
