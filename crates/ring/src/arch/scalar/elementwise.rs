//! Kernels that treat every index alike.

use crate::arch::scalar::Factor;
use crate::modulus::Modulus;
use crate::word::Word;

/// `a + b`; canonical.
pub fn add<W: Word>(modulus: &Modulus, dst: &mut [W], a: &[W], b: &[W]) {
    binary(dst, a, b, |a, b| modulus.add(a.to_u64(), b.to_u64()));
}

/// `dst + a`, in place; canonical.
pub fn add_in_place<W: Word>(modulus: &Modulus, dst: &mut [W], a: &[W]) {
    for (x, a) in dst.iter_mut().zip(a) {
        *x = W::from_u64(modulus.add(x.to_u64(), a.to_u64()));
    }
}

/// `a - b`; canonical.
pub fn sub<W: Word>(modulus: &Modulus, dst: &mut [W], a: &[W], b: &[W]) {
    binary(dst, a, b, |a, b| modulus.sub(a.to_u64(), b.to_u64()));
}

/// `-a`; canonical.
pub fn neg<W: Word>(modulus: &Modulus, dst: &mut [W], a: &[W]) {
    unary(dst, a, |a| modulus.neg(a.to_u64()));
}

/// `a + c`; canonical.
pub fn add_c<W: Word>(modulus: &Modulus, dst: &mut [W], a: &[W], c: u64) {
    unary(dst, a, |a| modulus.add(a.to_u64(), c));
}

/// `a b`; any words.
pub fn mul<W: Word>(modulus: &Modulus, dst: &mut [W], a: &[W], b: &[W]) {
    binary(dst, a, b, |a, b| modulus.mul(a.to_u64(), b.to_u64()));
}

/// `a c`; a any words, c canonical.
pub fn mul_c<W: Word>(modulus: &Modulus, dst: &mut [W], a: &[W], c: u64) {
    let factor = Factor::new(modulus, c);
    unary(dst, a, |a| factor.mul(modulus, a));
}

/// `acc + a b`; acc canonical, a and b any words.
pub fn mac<W: Word>(modulus: &Modulus, dst: &mut [W], acc: &[W], a: &[W], b: &[W]) {
    for (((dst, acc), a), b) in dst.iter_mut().zip(acc).zip(a).zip(b) {
        let product = modulus.mul(a.to_u64(), b.to_u64());
        *dst = W::from_u64(modulus.add(acc.to_u64(), product));
    }
}

/// `acc - a b`; acc canonical, a and b any words.
pub fn msub<W: Word>(modulus: &Modulus, dst: &mut [W], acc: &[W], a: &[W], b: &[W]) {
    for (((dst, acc), a), b) in dst.iter_mut().zip(acc).zip(a).zip(b) {
        let product = modulus.mul(a.to_u64(), b.to_u64());
        *dst = W::from_u64(modulus.sub(acc.to_u64(), product));
    }
}

/// `(a - b) c`; canonical.
pub fn sub_mul_c<W: Word>(modulus: &Modulus, dst: &mut [W], a: &[W], b: &[W], c: u64) {
    let factor = Factor::new(modulus, c);
    binary(dst, a, b, |a, b| {
        let difference = modulus.sub(a.to_u64(), b.to_u64());
        factor.mul(modulus, W::from_u64(difference))
    });
}

#[inline(always)]
fn unary<W: Word>(dst: &mut [W], a: &[W], f: impl Fn(W) -> u64) {
    for (dst, &a) in dst.iter_mut().zip(a) {
        *dst = W::from_u64(f(a));
    }
}

#[inline(always)]
fn binary<W: Word>(dst: &mut [W], a: &[W], b: &[W], f: impl Fn(W, W) -> u64) {
    for ((dst, &a), &b) in dst.iter_mut().zip(a).zip(b) {
        *dst = W::from_u64(f(a, b));
    }
}
