//! Loops over vectors for all kernels but the transforms.

use crate::arch::Pair;
use crate::arch::vector::lanes::Lanes;
use crate::arch::vector::prefetch;
use crate::automorphism::{self, Automorphism};
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
    /// A constant whose products are summed.
    type Constant: Copy;

    /// Whether products of two vectors are faster than scalar ones.
    const PRODUCTS: bool = true;
    /// Products that a [`Pointwise::Sum`] holds.
    const TERMS_MAX: usize;
    /// Whether any word may be a term of sums.
    const ANY_TERM: bool;
    /// Sums that registers hold side by side, so that each waits for nothing
    /// while the others are added to: 2, 4 or 8.
    const SUMS: usize;

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

    /// Whether words, whose bitwise or is given, may be terms of sums; always where
    /// any word may.
    #[inline(always)]
    fn accepts(self, _or: V<Self>) -> bool {
        debug_assert!(Self::ANY_TERM, "says which words it accepts");
        true
    }
    /// From any word to one that may be a term of sums, with the same residue; itself
    /// where any word may.
    #[inline(always)]
    fn narrow(self, x: V<Self>) -> V<Self> {
        debug_assert!(Self::ANY_TERM, "says how it narrows words");
        x
    }
    /// The empty sum.
    fn empty(self) -> Self::Sum;
    /// `sum + a b`; words that may be terms.
    fn accumulate(self, sum: Self::Sum, a: V<Self>, b: V<Self>) -> Self::Sum;
    /// The residue of the sum; canonical.
    fn finish_products(self, sum: Self::Sum) -> V<Self>;

    /// Any integer c in the form that [`Pointwise::constant`] takes.
    fn prepare(modulus: &Modulus, c: u64) -> u64;
    /// A prepared constant in all lanes.
    fn constant(self, c: u64) -> Self::Constant;
    /// `sum + a c`; a word that may be a term.
    fn accumulate_constant(self, sum: Self::Sum, a: V<Self>, c: Self::Constant) -> Self::Sum;
    /// The residue of a sum of products by constants; canonical.
    fn finish_constants(self, sum: Self::Sum) -> V<Self>;
}

/// How far ahead kernels ask for what comes from memory, in vectors: processors
/// prefetch no further than a page by themselves.
const PREFETCH_BLOCKS: usize = 48;

/// The same for products and their sums. They are computed strip by strip: farther
/// away lies what only a later strip reads.
const PREFETCH_FACTORS: usize = 16;

/// Words of a limb that may be in the first-level cache, where asking costs more
/// than it gains.
const CACHED_WORDS: usize = 2048;

/// Asks for what a kernel reads and writes so many vectors later.
#[inline(always)]
fn ask_ahead<B, const SOURCES: usize>(sources: [&B; SOURCES], dst: &B, ahead: usize) {
    for source in sources {
        prefetch::for_reading(source, ahead);
    }
    prefetch::for_writing(dst, ahead);
}

/// `a + b`; canonical.
#[inline(always)]
pub fn add<P: Pointwise>(p: P, dst: &mut [P::W], a: &[P::W], b: &[P::W]) {
    let (isa, streams) = (p.isa(), dst.len() > CACHED_WORDS);
    let sources = P::L::blocks(a).iter().zip(P::L::blocks(b));
    for (dst, (a, b)) in P::L::blocks_mut(dst).iter_mut().zip(sources) {
        if streams {
            ask_ahead([a, b], dst, PREFETCH_BLOCKS);
        }
        isa.store(dst, p.add(isa.load(a), isa.load(b)));
    }
}

/// `dst + a`, in place; canonical.
#[inline(always)]
pub fn add_in_place<P: Pointwise>(p: P, dst: &mut [P::W], a: &[P::W]) {
    let (isa, streams) = (p.isa(), dst.len() > CACHED_WORDS);
    for (dst, a) in P::L::blocks_mut(dst).iter_mut().zip(P::L::blocks(a)) {
        if streams {
            ask_ahead([a], dst, PREFETCH_BLOCKS);
        }
        isa.store(dst, p.add(isa.load(dst), isa.load(a)));
    }
}

/// `a - b`; canonical.
#[inline(always)]
pub fn sub<P: Pointwise>(p: P, dst: &mut [P::W], a: &[P::W], b: &[P::W]) {
    let (isa, streams) = (p.isa(), dst.len() > CACHED_WORDS);
    let sources = P::L::blocks(a).iter().zip(P::L::blocks(b));
    for (dst, (a, b)) in P::L::blocks_mut(dst).iter_mut().zip(sources) {
        if streams {
            ask_ahead([a, b], dst, PREFETCH_BLOCKS);
        }
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
        ask_ahead([a, b], dst, PREFETCH_FACTORS);
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
        ask_ahead([acc, a, b], dst, PREFETCH_FACTORS);
        let product = p.mul(isa.load(a), isa.load(b));
        isa.store(dst, p.add(isa.load(acc), product));
    }
}

/// `acc - a b`; acc canonical, a and b any words.
#[inline(always)]
pub fn msub<P: Pointwise>(p: P, dst: &mut [P::W], acc: &[P::W], a: &[P::W], b: &[P::W]) {
    let isa = p.isa();
    let sources = P::L::blocks(a).iter().zip(P::L::blocks(b));
    let sources = P::L::blocks(acc).iter().zip(sources);
    for (dst, (acc, (a, b))) in P::L::blocks_mut(dst).iter_mut().zip(sources) {
        ask_ahead([acc, a, b], dst, PREFETCH_FACTORS);
        let product = p.mul(isa.load(a), isa.load(b));
        isa.store(dst, p.sub(isa.load(acc), product));
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

/// The sum of the products of all pairs; any words.
#[inline(always)]
pub fn dot<P: Pointwise>(p: P, dst: &mut [P::W], pairs: &[Pair<'_, P::W>]) {
    let isa = p.isa();
    for (i, dst) in P::L::blocks_mut(dst).iter_mut().enumerate() {
        prefetch::for_writing(dst, PREFETCH_FACTORS);
        let mut total = isa.zero();
        for pairs in pairs.chunks(P::TERMS_MAX) {
            let (mut sum, mut or) = (p.empty(), isa.zero());
            for pair in pairs {
                let (a, b) = load_pair(p, pair, i);
                prefetch::for_reading(&P::L::blocks(pair.0)[i], PREFETCH_FACTORS);
                prefetch::for_reading(&P::L::blocks(pair.1)[i], PREFETCH_FACTORS);
                or = isa.or(or, isa.or(a, b));
                sum = p.accumulate(sum, a, b);
            }
            if !p.accepts(or) {
                sum = p.empty();
                for pair in pairs {
                    let (a, b) = load_pair(p, pair, i);
                    sum = p.accumulate(sum, p.narrow(a), p.narrow(b));
                }
            }
            total = p.add(total, p.finish_products(sum));
        }
        isa.store(dst, total);
    }
}

#[inline(always)]
fn load_pair<P: Pointwise>(p: P, pair: &Pair<'_, P::W>, i: usize) -> (V<P>, V<P>) {
    let (a, b) = (&P::L::blocks(pair.0)[i], &P::L::blocks(pair.1)[i]);
    (p.isa().load(a), p.isa().load(b))
}

/// `sum_i srcs[i] constants[i]`, constants as prepared; sources any words, but
/// below 2^52 if `below_2_52`; as many vectors as a multiple of eight.
#[inline(always)]
pub fn dot_constants<P: Pointwise>(
    p: P,
    dst: &mut [P::W],
    srcs: &[&[P::W]],
    constants: &[u64],
    below_2_52: bool,
) {
    let terms = P::ANY_TERM || below_2_52;
    match (srcs.len() <= P::TERMS_MAX && terms, P::SUMS) {
        (true, 8) => sums_of_few::<P, 8>(p, dst, srcs, constants),
        (true, 4) => sums_of_few::<P, 4>(p, dst, srcs, constants),
        (true, _) => sums_of_few::<P, 2>(p, dst, srcs, constants),
        (false, _) => sums_of_any(p, dst, srcs, constants),
    }
}

/// The same for at most `TERMS_MAX` sources that may be terms as they are, with
/// so many vectors side by side.
#[inline(always)]
fn sums_of_few<P: Pointwise, const SIDE: usize>(
    p: P,
    dst: &mut [P::W],
    srcs: &[&[P::W]],
    constants: &[u64],
) {
    let isa = p.isa();
    let (dst, _) = P::L::blocks_mut(dst).as_chunks_mut::<SIDE>();
    for (i, dst) in dst.iter_mut().enumerate() {
        let mut sums = [p.empty(); SIDE];
        for (src, &c) in srcs.iter().zip(constants) {
            let c = p.constant(c);
            let src = &P::L::blocks(src).as_chunks::<SIDE>().0[i];
            for (sum, src) in sums.iter_mut().zip(src) {
                *sum = p.accumulate_constant(*sum, isa.load(src), c);
            }
        }
        for (dst, sum) in dst.iter_mut().zip(sums) {
            isa.store(dst, p.finish_constants(sum));
        }
    }
}

/// The same for any sources.
#[inline(always)]
fn sums_of_any<P: Pointwise>(p: P, dst: &mut [P::W], srcs: &[&[P::W]], constants: &[u64]) {
    let isa = p.isa();
    for (i, dst) in P::L::blocks_mut(dst).iter_mut().enumerate() {
        let mut total = isa.zero();
        let chunks = srcs.chunks(P::TERMS_MAX);
        for (srcs, constants) in chunks.zip(constants.chunks(P::TERMS_MAX)) {
            let mut sum = p.empty();
            for (src, &c) in srcs.iter().zip(constants) {
                let x = p.narrow(isa.load(&P::L::blocks(src)[i]));
                sum = p.accumulate_constant(sum, x, p.constant(c));
            }
            total = p.add(total, p.finish_constants(sum));
        }
        isa.store(dst, total);
    }
}

/// `dst[i] = src[brv(k brv(i) + (k - 1) / 2 + offset)]`: see [`crate::automorphism`].
/// `permutations` holds the lanes for each of the L values of the top bits.
#[inline(always)]
pub fn permute<P: Pointwise>(
    p: P,
    dst: &mut [P::W],
    src: &[P::W],
    map: Automorphism,
    permutations: &[P::W],
) {
    let src = P::L::blocks(src);
    let ask = |from: usize| prefetch::for_reading(&src[from], 0);
    let block = |from: usize| p.isa().load(&src[from]);
    move_blocks(p, dst, map, permutations, (ask, block));
}

/// The same of `a + b`; canonical.
#[inline(always)]
pub fn permute_sum<P: Pointwise>(
    p: P,
    dst: &mut [P::W],
    (a, b): Pair<'_, P::W>,
    map: Automorphism,
    permutations: &[P::W],
) {
    let (isa, a, b) = (p.isa(), P::L::blocks(a), P::L::blocks(b));
    let ask = |from: usize| {
        prefetch::for_reading(&a[from], 0);
        prefetch::for_reading(&b[from], 0);
    };
    let sum = |from: usize| p.add(isa.load(&a[from]), isa.load(&b[from]));
    move_blocks(p, dst, map, permutations, (ask, sum));
}

/// Moves each block to its place: what `block` makes of the one at an index, which
/// `ask` was told of some time before.
#[inline(always)]
fn move_blocks<P: Pointwise>(
    p: P,
    dst: &mut [P::W],
    map: Automorphism,
    permutations: &[P::W],
    (ask, block): (impl Fn(usize), impl Fn(usize) -> V<P>),
) {
    let isa = p.isa();
    let permutations = P::L::blocks(permutations);
    let dst = P::L::blocks_mut(dst);
    let block_bits = dst.len().ilog2();
    let last = dst.len() - 1;
    for (at, dst) in dst.iter_mut().enumerate() {
        let (soon, _) = automorphism::source_block(map, (at + PREFETCH_BLOCKS) & last, block_bits);
        ask(soon);
        prefetch::for_writing(dst, PREFETCH_BLOCKS);
        let (from, top) = automorphism::source_block(map, at, block_bits);
        let lanes = isa.load(&permutations[top % permutations.len()]);
        isa.store(dst, isa.permute(block(from), lanes));
    }
}
