//! The order in which an NTT's butterflies are computed.
//!
//! The stages are those of [`crate::arch::scalar::ntt`]. Several consecutive
//! stages form a *pass*, in which 2^K vectors, a stride apart, are read once,
//! taken through K stages in registers and written once. The last pass (the
//! *tail*) takes 2^`LOG_TAIL` neighbouring vectors through all remaining
//! stages; those within a vector work on pairs of vectors whose elements are
//! exchanged such that partners face each other, and the twiddles of a stage
//! are then neighbours in the table, in order.
//!
//! ```text
//! for each tail c, from the left:
//!     for each pass, outermost first:
//!         if a block of the pass starts at c: pass over the block
//!     tail over c
//! ```
//!
//! This is depth first: once a block fits a cache it stays there. The inverse
//! runs the same in mirror image. Groups are named by their twiddle's index j;
//! the two groups into which j splits are 2j and 2j + 1. The inverse reads the
//! table backwards, its group r = 3m - 1 - j splits into 2r + 1 and 2r.

use crate::arch::vector::lanes::Lanes;
use crate::twiddles::Twiddles;
use crate::word::Word;

type V<T> = <<T as Transform>::L as Lanes<<T as Transform>::W>>::V;
type Block<T> = <<T as Transform>::L as Lanes<<T as Transform>::W>>::Block;

/// Butterflies modulo one prime, with a range of values of their own.
pub trait Transform: Copy + Send + Sync + 'static {
    /// The word.
    type W: Word;
    /// The vectors.
    type L: Lanes<Self::W>;
    /// A vector of factors with all that multiplication by them needs.
    type F: Copy;

    /// The token.
    fn isa(self) -> Self::L;
    /// Twiddle j in all lanes.
    fn broadcast(self, twiddles: &Twiddles<Self::W>, j: usize) -> Self::F;
    /// The 2^S twiddles from j on, see [`Lanes::spread`].
    fn spread<const S: u32>(self, twiddles: &Twiddles<Self::W>, j: usize) -> Self::F;
    /// The 2^S twiddles from j on, see [`Lanes::spread_reversed`].
    fn spread_reversed<const S: u32>(self, twiddles: &Twiddles<Self::W>, j: usize) -> Self::F;

    /// From any word to the forward range.
    fn enter(self, x: V<Self>) -> V<Self>;
    /// `(x + w y, x - w y)`, in the forward range.
    fn forward(self, x: V<Self>, y: V<Self>, w: Self::F) -> (V<Self>, V<Self>);
    /// From the forward range to canonical.
    fn leave(self, x: V<Self>) -> V<Self>;

    /// `(x + y, (y - x) w)`, in the inverse range, which canonical values are in.
    fn inverse(self, x: V<Self>, y: V<Self>, w: Self::F) -> (V<Self>, V<Self>);
    /// `((x + y) / N, (y - x) w / N)`, canonical.
    fn finish(self, x: V<Self>, y: V<Self>) -> (V<Self>, V<Self>);
}

/// The least log2 N that the passes below support for vectors `L`.
pub const fn log_n_min<W: Word, L: Lanes<W>>() -> u32 {
    L::LOG_LANES + L::LOG_TAIL + 2
}

/// One pass: its radix, the stages before it, and log2 of the tails in its block.
#[derive(Clone, Copy, Default)]
struct Pass {
    log_radix: u32,
    stages_before: u32,
    log_tails: u32,
}

/// The passes before the tail: as few as possible, of 2 to 4 stages each.
struct Plan {
    passes: [Pass; 6],
    count: usize,
}

impl Plan {
    #[inline(always)]
    fn new(stages: u32, log_radix: u32) -> Self {
        let count = stages.div_ceil(log_radix);
        let mut passes = [Pass::default(); 6];
        let mut stages_before = 0;
        for (pass, left) in passes.iter_mut().zip((1..=count).rev()) {
            *pass = Pass {
                log_radix: (stages - stages_before).div_ceil(left),
                stages_before,
                log_tails: stages - stages_before,
            };
            stages_before += pass.log_radix;
        }
        Self {
            passes,
            count: count as usize,
        }
    }

    #[inline(always)]
    fn passes(&self) -> &[Pass] {
        &self.passes[..self.count]
    }
}

/// Any words to the forward range, from `src` if there is one, else in place.
#[inline(always)]
fn enter<T: Transform>(t: T, dst: &mut [Block<T>], src: Option<&[T::W]>) {
    if let Some(src) = src {
        for (dst, src) in dst.iter_mut().zip(T::L::blocks(src)) {
            t.isa().store(dst, t.enter(t.isa().load(src)));
        }
    } else {
        for block in dst {
            let x = t.isa().load(block);
            t.isa().store(block, t.enter(x));
        }
    }
}

/// Coefficient to evaluation domain; any words in, canonical out.
#[inline(always)]
pub fn forward<T: Transform>(
    t: T,
    twiddles: &Twiddles<T::W>,
    dst: &mut [T::W],
    src: Option<&[T::W]>,
) {
    let blocks = T::L::blocks_mut(dst);
    enter(t, blocks, src);
    let log_tails = blocks.len().ilog2() - T::L::LOG_TAIL;
    let plan = Plan::new(log_tails, T::L::LOG_RADIX);
    for c in 0..1usize << log_tails {
        for pass in plan.passes() {
            if c & ((1 << pass.log_tails) - 1) == 0 {
                let j = (1 << pass.stages_before) + (c >> pass.log_tails);
                let block = block_of::<T>(blocks, c, pass.log_tails);
                match pass.log_radix {
                    2 => forward_pass_2(t, twiddles, block, j),
                    3 => forward_pass_3(t, twiddles, block, j),
                    _ if T::L::LOG_RADIX >= 4 => forward_pass_4(t, twiddles, block, j),
                    _ => unreachable!("passes have 2 to LOG_RADIX stages"),
                }
            }
        }
        let j = (1 << log_tails) + c;
        let block = block_of::<T>(blocks, c, 0);
        if T::L::LOG_TAIL == 3 {
            forward_tail_3(t, twiddles, block, j);
        } else {
            forward_tail_2(t, twiddles, block, j);
        }
    }
}

/// Evaluation to coefficient domain; canonical in and out.
#[inline(always)]
pub fn inverse<T: Transform>(
    t: T,
    twiddles: &Twiddles<T::W>,
    dst: &mut [T::W],
    src: Option<&[T::W]>,
) {
    if let Some(src) = src {
        dst.copy_from_slice(src);
    }
    let blocks = T::L::blocks_mut(dst);
    let log_tails = blocks.len().ilog2() - T::L::LOG_TAIL;
    let plan = Plan::new(log_tails, T::L::LOG_RADIX);
    for c in 0..1usize << log_tails {
        let r = (2 << log_tails) - 1 - c;
        let block = block_of::<T>(blocks, c, 0);
        if T::L::LOG_TAIL == 3 {
            inverse_tail_3(t, twiddles, block, r);
        } else {
            inverse_tail_2(t, twiddles, block, r);
        }
        for pass in plan.passes().iter().rev() {
            if (c + 1) & ((1 << pass.log_tails) - 1) == 0 {
                let r = (2 << pass.stages_before) - 1 - (c >> pass.log_tails);
                let block = block_of::<T>(blocks, c, pass.log_tails);
                let last = pass.stages_before == 0;
                match (pass.log_radix, last) {
                    (2, false) => inverse_pass_2::<T, false>(t, twiddles, block, r),
                    (2, true) => inverse_pass_2::<T, true>(t, twiddles, block, r),
                    (3, false) => inverse_pass_3::<T, false>(t, twiddles, block, r),
                    (3, true) => inverse_pass_3::<T, true>(t, twiddles, block, r),
                    (_, false) if T::L::LOG_RADIX >= 4 => {
                        inverse_pass_4::<T, false>(t, twiddles, block, r);
                    }
                    (_, true) if T::L::LOG_RADIX >= 4 => {
                        inverse_pass_4::<T, true>(t, twiddles, block, r);
                    }
                    _ => unreachable!("passes have 2 to LOG_RADIX stages"),
                }
            }
        }
    }
}

/// The block of 2^`log_tails` tails that tail c is in.
#[inline(always)]
fn block_of<T: Transform>(blocks: &mut [Block<T>], c: usize, log_tails: u32) -> &mut [Block<T>] {
    let log_len = log_tails + T::L::LOG_TAIL;
    let at = c >> log_tails << log_len;
    &mut blocks[at..at + (1 << log_len)]
}

/// Defines a pass: reads the vectors at equal offsets of the parts of a
/// block, transforms them and writes them back.
macro_rules! pass {
    ($name:ident, $radix:literal, [$($k:literal)*], $stages:ident $(, $last:ident)?) => {
        #[inline(always)]
        fn $name<T: Transform $(, const $last: bool)?>(
            t: T,
            twiddles: &Twiddles<T::W>,
            block: &mut [Block<T>],
            group: usize,
        ) {
            let stride = block.len() / $radix;
            let mut parts = block.chunks_exact_mut(stride);
            let parts: [&mut [Block<T>]; $radix] = [$({
                let _ = $k;
                parts.next().expect("a block has radix parts")
            }),*];
            for i in 0..stride {
                let v = [$(t.isa().load(&parts[$k][i])),*];
                let v = $stages::<T $(, $last)?>(t, twiddles, v, group);
                $(t.isa().store(&mut parts[$k][i], v[$k]);)*
            }
        }
    };
}

pass!(forward_pass_2, 4, [0 1 2 3], forward_4);
pass!(forward_pass_3, 8, [0 1 2 3 4 5 6 7], forward_8);
pass!(forward_pass_4, 16, [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15], forward_16);
pass!(inverse_pass_2, 4, [0 1 2 3], inverse_4, LAST);
pass!(inverse_pass_3, 8, [0 1 2 3 4 5 6 7], inverse_8, LAST);
pass!(inverse_pass_4, 16, [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15], inverse_16, LAST);

#[inline(always)]
fn forward_2<T: Transform>(t: T, tw: &Twiddles<T::W>, v: [V<T>; 2], j: usize) -> [V<T>; 2] {
    let (x, y) = t.forward(v[0], v[1], t.broadcast(tw, j));
    [x, y]
}

#[inline(always)]
fn inverse_2<T: Transform, const LAST: bool>(
    t: T,
    tw: &Twiddles<T::W>,
    v: [V<T>; 2],
    r: usize,
) -> [V<T>; 2] {
    let (x, y) = if LAST {
        t.finish(v[0], v[1])
    } else {
        t.inverse(v[0], v[1], t.broadcast(tw, r))
    };
    [x, y]
}

/// Defines the stages of a radix from those of half the radix.
macro_rules! stages {
    ($radix:literal, $forward:ident, $half_forward:ident, $inverse:ident, $half_inverse:ident,
     [$($a:ident)*], [$($b:ident)*]) => {
        #[inline(always)]
        fn $forward<T: Transform>(
            t: T,
            tw: &Twiddles<T::W>,
            [$($a,)* $($b),*]: [V<T>; $radix],
            j: usize,
        ) -> [V<T>; $radix] {
            let w = t.broadcast(tw, j);
            $(let ($a, $b) = t.forward($a, $b, w);)*
            let [$($a),*] = $half_forward(t, tw, [$($a),*], 2 * j);
            let [$($b),*] = $half_forward(t, tw, [$($b),*], 2 * j + 1);
            [$($a,)* $($b),*]
        }

        #[inline(always)]
        fn $inverse<T: Transform, const LAST: bool>(
            t: T,
            tw: &Twiddles<T::W>,
            [$($a,)* $($b),*]: [V<T>; $radix],
            r: usize,
        ) -> [V<T>; $radix] {
            let [$($a),*] = $half_inverse::<T, false>(t, tw, [$($a),*], 2 * r + 1);
            let [$($b),*] = $half_inverse::<T, false>(t, tw, [$($b),*], 2 * r);
            if LAST {
                $(let ($a, $b) = t.finish($a, $b);)*
                [$($a,)* $($b),*]
            } else {
                let w = t.broadcast(tw, r);
                $(let ($a, $b) = t.inverse($a, $b, w);)*
                [$($a,)* $($b),*]
            }
        }
    };
}

stages!(4, forward_4, forward_2, inverse_4, inverse_2, [a0 a1], [b0 b1]);
stages!(8, forward_8, forward_4, inverse_8, inverse_4, [a0 a1 a2 a3], [b0 b1 b2 b3]);
stages!(16, forward_16, forward_8, inverse_16, inverse_8,
    [a0 a1 a2 a3 a4 a5 a6 a7], [b0 b1 b2 b3 b4 b5 b6 b7]);

/// Defines the tails over 2^k vectors: the stages between vectors, then those within.
macro_rules! tails {
    ($count:literal, $forward:ident, $stages:ident, $inverse:ident, $stages_inverse:ident,
     [$(($k:literal $a:literal $b:literal))*]) => {
        #[inline(always)]
        fn $forward<T: Transform>(
            t: T,
            tw: &Twiddles<T::W>,
            block: &mut [Block<T>],
            j: usize,
        ) {
            let v = [$(t.isa().load(&block[$a]), t.isa().load(&block[$b])),*];
            let v = $stages(t, tw, v, j);
            $(
                let (x, y) = forward_pair(t, tw, v[$a], v[$b], $count / 2 * j + $k);
                t.isa().store(&mut block[$a], x);
                t.isa().store(&mut block[$b], y);
            )*
        }

        #[inline(always)]
        fn $inverse<T: Transform>(
            t: T,
            tw: &Twiddles<T::W>,
            block: &mut [Block<T>],
            r: usize,
        ) {
            let v = [$({
                let (x, y) = (t.isa().load(&block[$a]), t.isa().load(&block[$b]));
                inverse_pair(t, tw, x, y, $count / 2 * r + ($count / 2 - 1 - $k))
            }),*];
            let v = $stages_inverse::<T, false>(t, tw, [$(v[$k].0, v[$k].1),*], r);
            $(
                t.isa().store(&mut block[$a], v[$a]);
                t.isa().store(&mut block[$b], v[$b]);
            )*
        }
    };
}

tails!(4, forward_tail_2, forward_4, inverse_tail_2, inverse_4, [(0 0 1) (1 2 3)]);
tails!(8, forward_tail_3, forward_8, inverse_tail_3, inverse_8,
    [(0 0 1) (1 2 3) (2 4 5) (3 6 7)]);

/// The stages within the vectors of a pair; group j covers both.
#[inline(always)]
fn forward_pair<T: Transform>(
    t: T,
    tw: &Twiddles<T::W>,
    x: V<T>,
    y: V<T>,
    j: usize,
) -> (V<T>, V<T>) {
    let (x, y) = match T::L::LOG_LANES {
        4 => {
            let (x, y) = forward_within::<T, 3, 1>(t, tw, x, y, j);
            let (x, y) = forward_within::<T, 2, 2>(t, tw, x, y, j);
            let (x, y) = forward_within::<T, 1, 3>(t, tw, x, y, j);
            forward_within::<T, 0, 4>(t, tw, x, y, j)
        }
        3 => {
            let (x, y) = forward_within::<T, 2, 1>(t, tw, x, y, j);
            let (x, y) = forward_within::<T, 1, 2>(t, tw, x, y, j);
            forward_within::<T, 0, 3>(t, tw, x, y, j)
        }
        _ => {
            let (x, y) = forward_within::<T, 1, 1>(t, tw, x, y, j);
            forward_within::<T, 0, 2>(t, tw, x, y, j)
        }
    };
    t.isa().interleave(t.leave(x), t.leave(y))
}

/// The inverse of [`forward_pair`]; group r covers both vectors.
#[inline(always)]
fn inverse_pair<T: Transform>(
    t: T,
    tw: &Twiddles<T::W>,
    x: V<T>,
    y: V<T>,
    r: usize,
) -> (V<T>, V<T>) {
    let (x, y) = t.isa().deinterleave(x, y);
    match T::L::LOG_LANES {
        4 => {
            let (x, y) = inverse_within::<T, 0, 4>(t, tw, x, y, r);
            let (x, y) = inverse_within::<T, 1, 3>(t, tw, x, y, r);
            let (x, y) = inverse_within::<T, 2, 2>(t, tw, x, y, r);
            inverse_within::<T, 3, 1>(t, tw, x, y, r)
        }
        3 => {
            let (x, y) = inverse_within::<T, 0, 3>(t, tw, x, y, r);
            let (x, y) = inverse_within::<T, 1, 2>(t, tw, x, y, r);
            inverse_within::<T, 2, 1>(t, tw, x, y, r)
        }
        _ => {
            let (x, y) = inverse_within::<T, 0, 2>(t, tw, x, y, r);
            inverse_within::<T, 1, 1>(t, tw, x, y, r)
        }
    }
}

/// One stage between lanes that differ in bit `BIT`; S stages below group j.
#[inline(always)]
fn forward_within<T: Transform, const BIT: u32, const S: u32>(
    t: T,
    tw: &Twiddles<T::W>,
    x: V<T>,
    y: V<T>,
    j: usize,
) -> (V<T>, V<T>) {
    let (x, y) = t.isa().exchange::<BIT>(x, y);
    t.forward(x, y, t.spread::<S>(tw, j << S))
}

/// The inverse of [`forward_within`].
#[inline(always)]
fn inverse_within<T: Transform, const BIT: u32, const S: u32>(
    t: T,
    tw: &Twiddles<T::W>,
    x: V<T>,
    y: V<T>,
    r: usize,
) -> (V<T>, V<T>) {
    let (x, y) = t.inverse(x, y, t.spread_reversed::<S>(tw, r << S));
    t.isa().exchange::<BIT>(x, y)
}
