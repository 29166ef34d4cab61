//! The order in which an NTT's butterflies are computed.
//!
//! The stages are those of [`crate::arch::scalar::ntt`]. Several consecutive
//! stages form a *pass*, in which 4 or 8 vectors, a stride apart, are read once,
//! taken through 2 or 3 stages in registers and written once. The last pass (the
//! *tail*) takes 2^`LOG_TAIL` neighbouring vectors through all remaining
//! stages, those within vectors included.
//!
//! ```text
//! for each tail c, from the left:
//!     for each pass, outermost first:
//!         if a block of the pass starts at c: pass over the block
//!     tail over c
//! ```
//!
//! This is depth first: once a block fits a cache it stays there. The inverse
//! runs the same in mirror image.
//!
//! # Twiddles
//! Groups are named by their twiddle's index j; the two groups into which j
//! splits are 2j and 2j + 1. The inverse reads the table backwards: its group
//! r = 3m - 1 - j splits into 2r + 1 and 2r.
//!
//! # Within vectors
//! A pair of vectors (x, y) of L lanes holds the 2L elements of one group, the
//! next stage joins elements L/2 apart. Interleaving the vectors,
//! `x0 y0 x1 y1 ...`, brings these to equal lanes of the two new vectors, and
//! doing it again before each stage does so for every stage; once more after
//! the last restores the order. Lane i then belongs to group i mod 2^S of the
//! 2^S groups of stage S, so a stage's twiddles are 2^S neighbours in the
//! table, repeated: a plain load. The inverse deinterleaves; it starts with
//! lanes reversed, because its twiddles are neighbours in reverse order. Then
//! even lanes hold the later partner, so the results of each deinterleaving
//! change places, and the last one finds all lanes in order again.

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
    /// A twiddle, given by its two words, in all lanes.
    fn broadcast(self, twiddle: (Self::W, Self::W)) -> Self::F;
    /// The 2^S twiddles of `group`, given by both words of all, see [`Lanes::repeat`].
    fn repeat<const S: u32>(self, twiddles: [&[Self::W]; 2], group: usize) -> Self::F;

    /// Whether words, whose bitwise or is given, are all in the forward range.
    fn accepts(self, or: V<Self>) -> bool;
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

/// The passes before the tail: as few as possible, of 2 or 3 stages each.
struct Plan {
    passes: [Pass; 6],
    count: usize,
}

impl Plan {
    #[inline(always)]
    fn new(stages: u32) -> Self {
        let count = stages.div_ceil(3);
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

/// The twiddles of four stages below one group: of 2^l groups in stage l.
#[derive(Clone, Copy)]
struct Window<'a, W> {
    stage0: [&'a [W; 1]; 2],
    stage1: [&'a [W; 2]; 2],
    stage2: [&'a [W; 4]; 2],
    stage3: [&'a [W; 8]; 2],
}

impl<'a, W: Word> Window<'a, W> {
    #[inline(always)]
    fn new(twiddles: &'a Twiddles<W>, group: usize) -> Self {
        let words = [twiddles.factors(), twiddles.companions()];
        Self {
            stage0: [0, 1].map(|k| &words[k].as_chunks().0[group]),
            stage1: [0, 1].map(|k| &words[k].as_chunks().0[group]),
            stage2: [0, 1].map(|k| &words[k].as_chunks().0[group]),
            stage3: [0, 1].map(|k| &words[k].as_chunks().0[group]),
        }
    }

    /// Twiddle i of stage l. Constants after inlining.
    #[inline(always)]
    fn get(&self, stage: u32, i: usize) -> (W, W) {
        match stage {
            0 => (self.stage0[0][i], self.stage0[1][i]),
            1 => (self.stage1[0][i], self.stage1[1][i]),
            2 => (self.stage2[0][i], self.stage2[1][i]),
            _ => (self.stage3[0][i], self.stage3[1][i]),
        }
    }
}

/// The twiddles within vectors of the pairs of one tail: of stage S at index S - 1.
///
/// Their lengths are constants after inlining, so that no access is checked.
#[derive(Clone, Copy)]
struct Within<'a, W> {
    stages: [[&'a [W]; 2]; 4],
}

impl<'a, W: Word> Within<'a, W> {
    /// Twiddles of `group` for tails of P1 / 2 pairs; P2 = 2 P1 and so on.
    #[inline(always)]
    fn new<const P1: usize, const P2: usize, const P3: usize, const P4: usize>(
        twiddles: &'a Twiddles<W>,
        group: usize,
        log_lanes: u32,
    ) -> Self {
        let words = [twiddles.factors(), twiddles.companions()];
        let none: &[W] = &[];
        let mut stages = [[none; 2]; 4];
        for k in 0..2 {
            stages[0][k] = &words[k].as_chunks::<P1>().0[group];
            stages[1][k] = &words[k].as_chunks::<P2>().0[group];
            if log_lanes > 2 {
                stages[2][k] = &words[k].as_chunks::<P3>().0[group];
            }
            if log_lanes > 3 {
                stages[3][k] = &words[k].as_chunks::<P4>().0[group];
            }
        }
        Self { stages }
    }
}

/// Any words to the forward range, from `src` if there is one, else in place.
#[inline(always)]
fn enter<T: Transform>(t: T, dst: &mut [Block<T>], src: Option<&[T::W]>) {
    let isa = t.isa();
    let mut or = isa.zero();
    if let Some(src) = src {
        for (dst, src) in dst.iter_mut().zip(T::L::blocks(src)) {
            let x = isa.load(src);
            isa.store(dst, x);
            or = isa.or(or, x);
        }
    } else {
        for block in dst.iter() {
            or = isa.or(or, isa.load(block));
        }
    }
    if !t.accepts(or) {
        for block in dst {
            let x = isa.load(block);
            isa.store(block, t.enter(x));
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
    let plan = Plan::new(log_tails);
    for c in 0..1usize << log_tails {
        for pass in plan.passes() {
            if c & ((1 << pass.log_tails) - 1) == 0 {
                let window =
                    Window::new(twiddles, (1 << pass.stages_before) + (c >> pass.log_tails));
                let block = block_of::<T>(blocks, c, pass.log_tails);
                match pass.log_radix {
                    2 => forward_pass_2(t, &window, block),
                    _ => forward_pass_3(t, &window, block),
                }
            }
        }
        let j = (1 << log_tails) + c;
        let block = block_of::<T>(blocks, c, 0);
        match T::L::LOG_TAIL {
            2 => forward_tail_2(t, twiddles, block, j),
            _ => forward_tail_4(t, twiddles, block, j),
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
    let plan = Plan::new(log_tails);
    for c in 0..1usize << log_tails {
        let r = (2 << log_tails) - 1 - c;
        let block = block_of::<T>(blocks, c, 0);
        match T::L::LOG_TAIL {
            2 => inverse_tail_2(t, twiddles, block, r),
            _ => inverse_tail_4(t, twiddles, block, r),
        }
        for pass in plan.passes().iter().rev() {
            if (c + 1) & ((1 << pass.log_tails) - 1) == 0 {
                let r = (2 << pass.stages_before) - 1 - (c >> pass.log_tails);
                let window = Window::new(twiddles, r);
                let block = block_of::<T>(blocks, c, pass.log_tails);
                let last = pass.stages_before == 0;
                match pass.log_radix {
                    2 => inverse_pass_2(t, &window, block, last),
                    _ => inverse_pass_3(t, &window, block, last),
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
        fn $name<T: Transform>(
            t: T,
            window: &Window<'_, T::W>,
            block: &mut [Block<T>],
            $($last: bool,)?
        ) {
            let stride = block.len() / $radix;
            let mut parts = block.chunks_exact_mut(stride);
            let parts: [&mut [Block<T>]; $radix] = [$({
                let _ = $k;
                parts.next().expect("a block has radix parts")
            }),*];
            for i in 0..stride {
                let v = [$(t.isa().load(&parts[$k][i])),*];
                let v = $stages(t, window, v, (0, 0) $(, $last)?);
                $(t.isa().store(&mut parts[$k][i], v[$k]);)*
            }
        }
    };
}

pass!(forward_pass_2, 4, [0 1 2 3], forward_4);
pass!(forward_pass_3, 8, [0 1 2 3 4 5 6 7], forward_8);
pass!(inverse_pass_2, 4, [0 1 2 3], inverse_4, last);
pass!(inverse_pass_3, 8, [0 1 2 3 4 5 6 7], inverse_8, last);

/// Defines the stages of a radix from those of half the radix. `(stage, i)`
/// names the group in the window; `last` is set for the group of all values.
macro_rules! stages {
    ($radix:literal, $forward:ident, $half_forward:ident, $inverse:ident, $half_inverse:ident,
     [$($a:ident)*], [$($b:ident)*]) => {
        #[inline(always)]
        fn $forward<T: Transform>(
            t: T,
            window: &Window<'_, T::W>,
            [$($a,)* $($b),*]: [V<T>; $radix],
            (stage, i): (u32, usize),
        ) -> [V<T>; $radix] {
            let w = t.broadcast(window.get(stage, i));
            $(let ($a, $b) = t.forward($a, $b, w);)*
            let [$($a),*] = $half_forward(t, window, [$($a),*], (stage + 1, 2 * i));
            let [$($b),*] = $half_forward(t, window, [$($b),*], (stage + 1, 2 * i + 1));
            [$($a,)* $($b),*]
        }

        #[inline(always)]
        fn $inverse<T: Transform>(
            t: T,
            window: &Window<'_, T::W>,
            [$($a,)* $($b),*]: [V<T>; $radix],
            (stage, i): (u32, usize),
            last: bool,
        ) -> [V<T>; $radix] {
            let (left, right) = ((stage + 1, 2 * i + 1), (stage + 1, 2 * i));
            let [$($a),*] = $half_inverse(t, window, [$($a),*], left, false);
            let [$($b),*] = $half_inverse(t, window, [$($b),*], right, false);
            if last {
                $(let ($a, $b) = t.finish($a, $b);)*
                [$($a,)* $($b),*]
            } else {
                let w = t.broadcast(window.get(stage, i));
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

/// One butterfly.
#[inline(always)]
fn forward_2<T: Transform>(
    t: T,
    window: &Window<'_, T::W>,
    [x, y]: [V<T>; 2],
    (stage, i): (u32, usize),
) -> [V<T>; 2] {
    t.forward(x, y, t.broadcast(window.get(stage, i))).into()
}

/// One butterfly; never the last, as a pass has at least two stages.
#[inline(always)]
fn inverse_2<T: Transform>(
    t: T,
    window: &Window<'_, T::W>,
    [x, y]: [V<T>; 2],
    (stage, i): (u32, usize),
    _last: bool,
) -> [V<T>; 2] {
    t.inverse(x, y, t.broadcast(window.get(stage, i))).into()
}

/// Defines the tails over some vectors: the stages between vectors, then those within.
macro_rules! tails {
    ($count:literal, $forward:ident, $stages:ident, $inverse:ident, $stages_inverse:ident,
     [$(($k:literal $a:literal $b:literal))*]) => {
        #[inline(always)]
        fn $forward<T: Transform>(
            t: T,
            twiddles: &Twiddles<T::W>,
            block: &mut [Block<T>],
            j: usize,
        ) {
            let v = [$(t.isa().load(&block[$a]), t.isa().load(&block[$b])),*];
            let v = $stages(t, &Window::new(twiddles, j), v, (0, 0));
            let within = Within::new::<$count, { 2 * $count }, { 4 * $count }, { 8 * $count }>(
                twiddles,
                j,
                T::L::LOG_LANES,
            );
            $(
                let (x, y) = forward_pair(t, &within, v[$a], v[$b], $k);
                t.isa().store(&mut block[$a], x);
                t.isa().store(&mut block[$b], y);
            )*
        }

        #[inline(always)]
        fn $inverse<T: Transform>(
            t: T,
            twiddles: &Twiddles<T::W>,
            block: &mut [Block<T>],
            r: usize,
        ) {
            let within = Within::new::<$count, { 2 * $count }, { 4 * $count }, { 8 * $count }>(
                twiddles,
                r,
                T::L::LOG_LANES,
            );
            let v = [$({
                let (x, y) = (t.isa().load(&block[$a]), t.isa().load(&block[$b]));
                inverse_pair(t, &within, x, y, $count / 2 - 1 - $k)
            }),*];
            let v = [$(v[$k].0, v[$k].1),*];
            let v = $stages_inverse(t, &Window::new(twiddles, r), v, (0, 0), false);
            $(
                t.isa().store(&mut block[$a], v[$a]);
                t.isa().store(&mut block[$b], v[$b]);
            )*
        }
    };
}

tails!(4, forward_tail_2, forward_4, inverse_tail_2, inverse_4, [(0 0 1) (1 2 3)]);
tails!(16, forward_tail_4, forward_16, inverse_tail_4, inverse_16,
    [(0 0 1) (1 2 3) (2 4 5) (3 6 7) (4 8 9) (5 10 11) (6 12 13) (7 14 15)]);

/// The stages within the vectors of the tail's pair j.
#[inline(always)]
fn forward_pair<T: Transform>(
    t: T,
    within: &Within<'_, T::W>,
    x: V<T>,
    y: V<T>,
    j: usize,
) -> (V<T>, V<T>) {
    let v = forward_within::<T, 1>(t, within, (x, y), j);
    let v = forward_within::<T, 2>(t, within, v, j);
    let v = match T::L::LOG_LANES {
        2 => v,
        3 => forward_within::<T, 3>(t, within, v, j),
        _ => {
            let v = forward_within::<T, 3>(t, within, v, j);
            forward_within::<T, 4>(t, within, v, j)
        }
    };
    t.isa().interleave(t.leave(v.0), t.leave(v.1))
}

/// The inverse of [`forward_pair`]; the pairs are numbered backwards.
#[inline(always)]
fn inverse_pair<T: Transform>(
    t: T,
    within: &Within<'_, T::W>,
    x: V<T>,
    y: V<T>,
    r: usize,
) -> (V<T>, V<T>) {
    let v = t.isa().deinterleave_reversed(x, y);
    let v = match T::L::LOG_LANES {
        2 => v,
        3 => inverse_within::<T, 3>(t, within, v, r),
        _ => {
            let v = inverse_within::<T, 4>(t, within, v, r);
            inverse_within::<T, 3>(t, within, v, r)
        }
    };
    let v = inverse_within::<T, 2>(t, within, v, r);
    inverse_within::<T, 1>(t, within, v, r)
}

/// Stage S within the vectors of the tail's pair j.
#[inline(always)]
fn forward_within<T: Transform, const S: u32>(
    t: T,
    within: &Within<'_, T::W>,
    (x, y): (V<T>, V<T>),
    j: usize,
) -> (V<T>, V<T>) {
    let (x, y) = t.isa().interleave(x, y);
    t.forward(x, y, t.repeat::<S>(within.stages[S as usize - 1], j))
}

/// The inverse of [`forward_within`], up to the order of lanes.
#[inline(always)]
fn inverse_within<T: Transform, const S: u32>(
    t: T,
    within: &Within<'_, T::W>,
    (x, y): (V<T>, V<T>),
    r: usize,
) -> (V<T>, V<T>) {
    let (x, y) = t.inverse(x, y, t.repeat::<S>(within.stages[S as usize - 1], r));
    let (later, earlier) = t.isa().deinterleave(x, y);
    (earlier, later)
}
