//! Loops over vectors for all kernels but the transforms.

use crate::arch::Pair;
use crate::arch::vector::lanes::Lanes;
use crate::modulus::Modulus;
use crate::word::Word;

type V<P> = <<P as Pointwise>::L as Lanes<<P as Pointwise>::W>>::V;

/// Arithmetic modulo one prime on vectors; results canonical.
pub trait Pointwise: Copy + Send + Sync + 'static {
    /// The word.
    type W: Word;
    /// The vectors.
    type L: Lanes<Self::W>;
    /// A constant factor with all that multiplication by it needs.
    type F: Copy;
    /// A sum of products that is not reduced yet.
    type Sum: Copy;

    /// Products that a [`Pointwise::Sum`] holds.
    const TERMS_MAX: usize;

    /// The token.
    fn isa(self) -> Self::L;
    /// The constant c in `[0, q)`.
    fn factor(self, modulus: &Modulus, c: u64) -> Self::F;
    /// `a + b`; canonical.
    fn add(self, a: V<Self>, b: V<Self>) -> V<Self>;
    /// `a - b`; canonical.
    fn sub(self, a: V<Self>, b: V<Self>) -> V<Self>;
    /// `a c`; any word.
    fn mul_factor(self, a: V<Self>, c: Self::F) -> V<Self>;
    /// `a b`; any words.
    fn mul(self, a: V<Self>, b: V<Self>) -> V<Self>;
    /// The empty sum.
    fn zero(self) -> Self::Sum;
    /// `sum + a b`; any words.
    fn accumulate(self, sum: Self::Sum, a: V<Self>, b: V<Self>) -> Self::Sum;
    /// The residue of the sum.
    fn finish_sum(self, sum: Self::Sum) -> V<Self>;
}

/// `a + b`; canonical.
#[inline(always)]
pub fn add<P: Pointwise>(p: P, dst: &mut [P::W], a: &[P::W], b: &[P::W]) {
    let isa = p.isa();
    let sources = P::L::blocks(a).iter().zip(P::L::blocks(b));
    for (dst, (a, b)) in P::L::blocks_mut(dst).iter_mut().zip(sources) {
        isa.store(dst, p.add(isa.load(a), isa.load(b)));
    }
}

/// `a - b`; canonical.
#[inline(always)]
pub fn sub<P: Pointwise>(p: P, dst: &mut [P::W], a: &[P::W], b: &[P::W]) {
    let isa = p.isa();
    let sources = P::L::blocks(a).iter().zip(P::L::blocks(b));
    for (dst, (a, b)) in P::L::blocks_mut(dst).iter_mut().zip(sources) {
        isa.store(dst, p.sub(isa.load(a), isa.load(b)));
    }
}

/// `-a`; canonical.
#[inline(always)]
pub fn neg<P: Pointwise>(p: P, dst: &mut [P::W], a: &[P::W]) {
    let isa = p.isa();
    let zero = isa.zero();
    for (dst, a) in P::L::blocks_mut(dst).iter_mut().zip(P::L::blocks(a)) {
        isa.store(dst, p.sub(zero, isa.load(a)));
    }
}

/// `a + c`; canonical.
#[inline(always)]
pub fn add_c<P: Pointwise>(p: P, dst: &mut [P::W], a: &[P::W], c: u64) {
    let isa = p.isa();
    let c = isa.splat(P::W::from_u64(c));
    for (dst, a) in P::L::blocks_mut(dst).iter_mut().zip(P::L::blocks(a)) {
        isa.store(dst, p.add(isa.load(a), c));
    }
}

/// `a b`; any words.
#[inline(always)]
pub fn mul<P: Pointwise>(p: P, dst: &mut [P::W], a: &[P::W], b: &[P::W]) {
    let isa = p.isa();
    let sources = P::L::blocks(a).iter().zip(P::L::blocks(b));
    for (dst, (a, b)) in P::L::blocks_mut(dst).iter_mut().zip(sources) {
        isa.store(dst, p.mul(isa.load(a), isa.load(b)));
    }
}

/// `a c`; any words.
#[inline(always)]
pub fn mul_c<P: Pointwise>(p: P, dst: &mut [P::W], a: &[P::W], c: P::F) {
    let isa = p.isa();
    for (dst, a) in P::L::blocks_mut(dst).iter_mut().zip(P::L::blocks(a)) {
        isa.store(dst, p.mul_factor(isa.load(a), c));
    }
}

/// `acc + a b`; acc canonical, a and b any words.
#[inline(always)]
pub fn mac<P: Pointwise>(p: P, dst: &mut [P::W], acc: &[P::W], a: &[P::W], b: &[P::W]) {
    let isa = p.isa();
    let sources = P::L::blocks(a).iter().zip(P::L::blocks(b));
    let sources = P::L::blocks(acc).iter().zip(sources);
    for (dst, (acc, (a, b))) in P::L::blocks_mut(dst).iter_mut().zip(sources) {
        let product = p.mul(isa.load(a), isa.load(b));
        isa.store(dst, p.add(isa.load(acc), product));
    }
}

/// `(a - b) c`; canonical.
#[inline(always)]
pub fn sub_mul_c<P: Pointwise>(p: P, dst: &mut [P::W], a: &[P::W], b: &[P::W], c: P::F) {
    let isa = p.isa();
    let sources = P::L::blocks(a).iter().zip(P::L::blocks(b));
    for (dst, (a, b)) in P::L::blocks_mut(dst).iter_mut().zip(sources) {
        let difference = p.sub(isa.load(a), isa.load(b));
        isa.store(dst, p.mul_factor(difference, c));
    }
}

/// The sum of the products of at most `TERMS_MAX` pairs; any words.
#[inline(always)]
pub fn dot<P: Pointwise>(p: P, dst: &mut [P::W], pairs: &[Pair<'_, P::W>]) {
    let isa = p.isa();
    for (i, dst) in P::L::blocks_mut(dst).iter_mut().enumerate() {
        let mut sum = p.zero();
        for (a, b) in pairs {
            let (a, b) = (&P::L::blocks(a)[i], &P::L::blocks(b)[i]);
            sum = p.accumulate(sum, isa.load(a), isa.load(b));
        }
        isa.store(dst, p.finish_sum(sum));
    }
}

/// `sum_i srcs[i] constants[i]` of at most `TERMS_MAX` sources, over the words
/// from `at` on; `at` a multiple of a vector.
#[inline(always)]
pub fn dot_constants<P: Pointwise>(
    p: P,
    dst: &mut [P::W],
    srcs: &[&[P::W]],
    at: usize,
    constants: &[u64],
) {
    let isa = p.isa();
    let first = at >> P::L::LOG_LANES;
    for (i, dst) in P::L::blocks_mut(dst).iter_mut().enumerate() {
        let mut sum = p.zero();
        for (src, &c) in srcs.iter().zip(constants) {
            let src = isa.load(&P::L::blocks(src)[first + i]);
            sum = p.accumulate(sum, src, isa.splat(P::W::from_u64(c)));
        }
        isa.store(dst, p.finish_sum(sum));
    }
}
