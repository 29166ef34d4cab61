//! Kernels that treat every index alike, and automorphisms: against division
//! of 128-bit integers and the definition.

use cyclotron_ring::{LimbBuf, Pair, Ring, STRIP_WORDS, Word};

use super::Subject;
use crate::{add_mod, mul_mod, reversed};

/// All kernels, with constants, numbers of terms and exponents drawn at random.
pub fn agree<W: Word>(subject: &mut Subject<W>) {
    additive(subject);
    multiplicative(subject);
    signed_integers(subject);
    inner_product(subject);
    base_conversion(subject);
    automorphisms(subject);
    strips(subject);
}

fn additive<W: Word>(subject: &mut Subject<W>) {
    let (a, b, c) = (subject.residues(), subject.residues(), subject.constant());
    let q = subject.q();
    let (x, y) = (|i: usize| a[i].to_u64(), |i: usize| b[i].to_u64());
    let difference = |i| add_mod(x(i), q - y(i), q);
    subject.check(
        "add",
        |r, m, d| r.add(m, d, &a, &b),
        |i| add_mod(x(i), y(i), q),
    );
    subject.check("sub", |r, m, d| r.sub(m, d, &a, &b), difference);
    subject.check("neg", |r, m, d| r.neg(m, d, &a), |i| (q - x(i)) % q);
    subject.check(
        "add_c",
        |r, m, d| r.add_c(m, d, &a, c),
        |i| add_mod(x(i), c, q),
    );
    subject.check(
        "sub_mul_c",
        |r, m, d| r.sub_mul_c(m, d, &a, &b, c),
        |i| mul_mod(difference(i), c % q, q),
    );
}

fn multiplicative<W: Word>(subject: &mut Subject<W>) {
    let (a, b) = (subject.any_words(), subject.any_words());
    let (acc, c) = (subject.residues(), subject.constant());
    let q = subject.q();
    let product = |i: usize| mul_mod(a[i].to_u64(), b[i].to_u64(), q);
    subject.check("mul", |r, m, d| r.mul(m, d, &a, &b), product);
    subject.check(
        "mul_c",
        |r, m, d| r.mul_c(m, d, &a, c),
        |i| mul_mod(a[i].to_u64(), c % q, q),
    );
    subject.check(
        "mac",
        |r, m, d| r.mac(m, d, &acc, &a, &b),
        |i| add_mod(product(i), acc[i].to_u64(), q),
    );
    subject.check(
        "msub",
        |r, m, d| r.msub(m, d, &acc, &a, &b),
        |i| add_mod(q - product(i), acc[i].to_u64(), q),
    );
}

/// Small ones, as secrets and errors have, up to the prime, and any.
fn signed_integers<W: Word>(subject: &mut Subject<W>) {
    let (n, q) = (subject.n(), subject.q());
    let edges = [0, 1, q - 1, q, q + 1, 1 << 62, 1 << 63].map(|x| x as i64);
    let largest = [i64::from(i8::MAX), q as i64, i64::MAX][subject.below(3)];
    let signed: Vec<i64> = (0..n)
        .map(|_| {
            let x = match edges.get(subject.below(4 * edges.len())) {
                Some(&edge) if edge.unsigned_abs() <= largest as u64 => edge,
                _ => (subject.random.below(largest as u64)) as i64,
            };
            if subject.below(2) == 0 {
                x
            } else {
                x.wrapping_neg()
            }
        })
        .collect();
    let residue = |x: i64| i128::from(x).rem_euclid(i128::from(q)) as u64;
    subject.check(
        "reduce_signed",
        |r, m, d| r.reduce_signed(m, d, &signed),
        |i| residue(signed[i]),
    );
    let bytes: Vec<i8> = signed.iter().map(|&x| x as i8).collect();
    subject.check(
        "reduce_signed of bytes",
        |r, m, d| r.reduce_signed(m, d, &bytes),
        |i| residue(bytes[i].into()),
    );
}

/// How many terms a sum has: mostly few, sometimes about as many as are reduced together.
fn terms<W: Word>(subject: &mut Subject<W>) -> usize {
    match subject.below(24) {
        0 if subject.n() <= 1 << 10 => 127 + subject.below(3),
        1 if subject.n() <= 1 << 10 => 1023 + subject.below(3),
        few => few % 12 + 1,
    }
}

fn limbs<W: Word>(subject: &mut Subject<W>, count: usize) -> Vec<LimbBuf<W>> {
    // Repeated beyond a few, which is as good and takes less time.
    let canonical = subject.below(3) == 0;
    let distinct: Vec<LimbBuf<W>> = (0..count.min(5))
        .map(|_| match canonical {
            true => subject.residues(),
            false => subject.any_words(),
        })
        .collect();
    distinct.iter().cycle().take(count).cloned().collect()
}

fn inner_product<W: Word>(subject: &mut Subject<W>) {
    let count = terms(subject);
    let (a, b) = (limbs(subject, count), limbs(subject, count));
    let q = subject.q();
    let pairs: Vec<Pair<'_, W>> = a.iter().zip(&b).map(|(a, b)| (&a[..], &b[..])).collect();
    subject.check(
        "dot",
        |r, m, d| r.dot(m, d, &pairs),
        |i| {
            let products = pairs
                .iter()
                .map(|(a, b)| u128::from(mul_mod(a[i].to_u64(), b[i].to_u64(), q)));
            (products.sum::<u128>() % u128::from(q)) as u64
        },
    );
}

/// To the prime under test, and to all others with it.
fn base_conversion<W: Word>(subject: &mut Subject<W>) {
    let count = terms(subject);
    let srcs = limbs(subject, count);
    let srcs: Vec<&[W]> = srcs.iter().map(|src| &src[..]).collect();
    let column: Vec<u64> = (0..count).map(|_| subject.constant()).collect();
    let (q, m) = (subject.q(), subject.m);
    let expected = |i: usize| {
        let products = srcs
            .iter()
            .zip(&column)
            .map(|(src, &c)| u128::from(mul_mod(src[i].to_u64(), c % q, q)));
        (products.sum::<u128>() % u128::from(q)) as u64
    };
    subject.check(
        "bconv",
        |r, m, d| r.bconv(&[m], &mut [d], &srcs, &column),
        expected,
    );
    // Among other destinations the result is the same.
    let moduli: Vec<usize> = (0..subject.definition.moduli_count()).collect();
    let matrix: Vec<u64> = column
        .iter()
        .flat_map(|&c| moduli.iter().map(move |&j| if j == m { c } else { c ^ 1 }))
        .collect();
    subject.check(
        "bconv to many",
        |r, m, d| {
            let mut others = vec![LimbBuf::<W>::zeroed(r.n()); moduli.len()];
            let mut dsts: Vec<&mut [W]> = others.iter_mut().map(|limb| &mut limb[..]).collect();
            r.bconv(&moduli, &mut dsts, &srcs, &matrix);
            d.copy_from_slice(&others[m]);
        },
        expected,
    );
}

fn automorphisms<W: Word>(subject: &mut Subject<W>) {
    let (n, q) = (subject.n(), subject.q());
    let k = match subject.below(4) {
        0 => 2 * n - 1,
        1 => n + 1,
        _ => 2 * subject.below(n) + 1,
    };
    let src = subject.residues();
    let log_n = n.ilog2();
    // Index i holds the value at psi^(2 brv(i) + 1).
    let exponent = |i: usize| 2 * reversed(i, log_n) + 1;
    let source = |i: usize| reversed((exponent(i) * k % (2 * n) - 1) / 2, log_n);
    subject.check(
        "aut_eval",
        |r, _, d| r.aut_eval(k as u32, d, &src),
        |i| src[source(i)].to_u64(),
    );
    let mut moved = vec![0; n];
    for (i, x) in src.iter().enumerate() {
        let target = i * k % (2 * n);
        let x = x.to_u64();
        moved[target % n] = if target < n { x } else { (q - x) % q };
    }
    subject.check(
        "aut_coeff",
        |r, m, d| r.aut_coeff(m, k as u32, d, &src),
        |i| moved[i],
    );
}

/// An operation on up to three limbs of canonical words, or the same strip of each.
type Strip<W> = (&'static str, fn(&Ring<W>, usize, &mut [W], [&[W]; 3], u64));

/// A strip of a result is the result on strips.
fn strips<W: Word>(subject: &mut Subject<W>) {
    let units = subject.n() / STRIP_WORDS;
    if units < 2 {
        return;
    }
    let first = subject.below(units);
    let last = first + 1 + subject.below(units - first);
    let strip = first * STRIP_WORDS..last * STRIP_WORDS;
    let limbs = [subject.residues(), subject.residues(), subject.residues()];
    let (whole, c) = (limbs.each_ref().map(|limb| &limb[..]), subject.constant());
    let parts = whole.map(|limb| &limb[strip.clone()]);
    let operations: [Strip<W>; 10] = [
        ("add", |r, m, d, [x, y, _], _| r.add(m, d, x, y)),
        ("sub", |r, m, d, [x, y, _], _| r.sub(m, d, x, y)),
        ("neg", |r, m, d, [x, _, _], _| r.neg(m, d, x)),
        ("mul", |r, m, d, [x, y, _], _| r.mul(m, d, x, y)),
        ("add_c", |r, m, d, [x, _, _], c| r.add_c(m, d, x, c)),
        ("mul_c", |r, m, d, [x, _, _], c| r.mul_c(m, d, x, c)),
        ("mac", |r, m, d, [x, y, z], _| r.mac(m, d, x, y, z)),
        ("msub", |r, m, d, [x, y, z], _| r.msub(m, d, x, y, z)),
        ("sub_mul_c", |r, m, d, [x, y, _], c| {
            r.sub_mul_c(m, d, x, y, c);
        }),
        ("dot", |r, m, d, [x, y, z], _| {
            r.dot(m, d, &[(x, y), (y, z)]);
        }),
    ];
    for ring in &subject.rings {
        for (name, operation) in operations {
            let mut expected = LimbBuf::zeroed(ring.n());
            operation(&subject.definition, subject.m, &mut expected, whole, c);
            let mut dst = LimbBuf::zeroed(strip.len());
            operation(ring, subject.m, &mut dst, parts, c);
            subject.same(name, ring, &dst, &expected[strip.clone()]);
        }
    }
}
