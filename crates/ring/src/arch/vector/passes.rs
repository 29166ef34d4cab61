//! The passes of an NTT: some vectors a stride apart, two or more stages at a time.

use crate::arch::vector::lanes::Lanes;
use crate::arch::vector::prefetch;
use crate::arch::vector::storage::Storage;
use crate::arch::vector::transform::{Block, Entry, Inner, Outer, Place, Transform, V};
use crate::twiddles::Twiddles;
use crate::word::Word;

/// The twiddles of four stages below one group: of 2^l groups in stage l.
#[derive(Clone, Copy)]
pub struct Window<'a, W> {
    stage0: [&'a [W; 1]; 2],
    stage1: [&'a [W; 2]; 2],
    stage2: [&'a [W; 4]; 2],
    stage3: [&'a [W; 8]; 2],
}

impl<'a, W: Word> Window<'a, W> {
    /// The window of `group`.
    #[inline(always)]
    pub fn new(twiddles: &'a Twiddles<W>, group: usize) -> Self {
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

/// What the last pass of an inverse transform does besides.
pub struct Finish<'a, T: Transform> {
    /// The destination, if values lie elsewhere between passes.
    pub dst: Option<&'a mut [Outer<T>]>,
    /// The factors of the last stage's results.
    pub factors: [T::F; 2],
    /// A constant to add, canonical.
    pub add: Option<V<T>>,
}

/// With the constant, if any, added to all.
#[inline(always)]
fn finished<T: Transform, const R: usize>(t: T, mut v: [V<T>; R], add: Option<V<T>>) -> [V<T>; R] {
    if let Some(c) = add {
        for v in &mut v {
            *v = t.finish_add(*v, c);
        }
    }
    v
}

/// How far ahead the first pass asks for vectors: each part is a stream of its
/// own, and processors prefetch no further than a page by themselves.
const AHEAD: usize = 8;

/// Defines a pass and its inverse: reads the vectors at equal offsets of the
/// parts of a block, transforms them and writes them back.
macro_rules! passes {
    ($radix:literal, [$($k:literal)*],
     $forward:ident, $forward_stages:ident, $inverse:ident, $inverse_stages:ident) => {
        /// Forward; the first pass has an entry.
        #[inline(always)]
        pub fn $forward<T: Transform>(
            t: T,
            window: &Window<'_, Inner<T>>,
            block: &mut [Block<T>],
            entry: Option<&Entry<'_, T>>,
        ) {
            let stride = block.len() / $radix;
            let mut parts = block.chunks_exact_mut(stride);
            let parts: [&mut [Block<T>]; $radix] = [$({
                let _ = $k;
                parts.next().expect("a block has radix parts")
            }),*];
            let isa = t.isa();
            for i in 0..stride {
                let v = if let Some(Entry { src, add }) = entry {
                    if let Some(src) = src {
                        $(prefetch::for_reading(&src[$k * stride + i], AHEAD);)*
                        $(prefetch::for_writing(&parts[$k][i], AHEAD);)*
                    } else {
                        $(prefetch::for_reading(&parts[$k][i], AHEAD);)*
                    }
                    let v = match src {
                        Some(src) => [$(T::S::read(isa, &src[$k * stride + i])),*],
                        None => [$(isa.load(&parts[$k][i])),*],
                    };
                    let mut or = isa.zero();
                    $(or = isa.or(or, v[$k]);)*
                    let v = if t.accepts(or) { v } else { [$(t.enter(v[$k])),*] };
                    match add {
                        Some(c) => [$(t.enter_add(v[$k], *c)),*],
                        None => v,
                    }
                } else {
                    [$(isa.load(&parts[$k][i])),*]
                };
                let v = $forward_stages(t, window, v);
                $(isa.store(&mut parts[$k][i], v[$k]);)*
            }
        }

        /// Inverse; the last pass finishes.
        #[inline(always)]
        pub fn $inverse<T: Transform>(
            t: T,
            window: &Window<'_, Inner<T>>,
            block: &mut [Block<T>],
            finish: Option<Finish<'_, T>>,
        ) {
            let stride = block.len() / $radix;
            let mut parts = block.chunks_exact_mut(stride);
            let parts: [&mut [Block<T>]; $radix] = [$({
                let _ = $k;
                parts.next().expect("a block has radix parts")
            }),*];
            let isa = t.isa();
            let Some(Finish { dst, factors, add }) = finish else {
                for i in 0..stride {
                    let v = [$(isa.load(&parts[$k][i])),*];
                    let v = $inverse_stages(t, window, v, None);
                    $(isa.store(&mut parts[$k][i], v[$k]);)*
                }
                return;
            };
            let Some(dst) = dst else {
                for i in 0..stride {
                    let v = [$(isa.load(&parts[$k][i])),*];
                    let v = finished(t, $inverse_stages(t, window, v, Some(factors)), add);
                    $(isa.store(&mut parts[$k][i], v[$k]);)*
                }
                return;
            };
            // Two vectors are half as long in the destination: a line of it is written
            // as a whole. It would not stay in the first-level cache until its second
            // half comes, because all streams share a set there.
            for i in (0..stride).step_by(2) {
                let v = [$(isa.load(&parts[$k][i])),*];
                let v = finished(t, $inverse_stages(t, window, v, Some(factors)), add);
                let u = [$(isa.load(&parts[$k][i + 1])),*];
                let u = finished(t, $inverse_stages(t, window, u, Some(factors)), add);
                $(
                    let pairs = dst[$k * stride..].as_chunks_mut::<2>().0;
                    T::S::write_both(isa, &mut pairs[i / 2], (v[$k], u[$k]));
                )*
            }
        }
    };
}

passes!(4, [0 1 2 3], forward_pass_2, forward_4, inverse_pass_2, inverse_4);
passes!(8, [0 1 2 3 4 5 6 7], forward_pass_3, forward_8, inverse_pass_3, inverse_8);

passes!(16, [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15],
    forward_pass_4, forward_16, inverse_pass_4, inverse_16);

/// Defines the stages of a radix, outermost first: each group with its
/// butterflies. All butterflies of a stage come before those of the next, so
/// that many are under way at a time.
macro_rules! stages {
    ($radix:literal, $forward:ident, $inverse:ident,
     [$($stage:literal $(($group:literal $([$x:literal $y:literal])*))*;)*],
     [$($inner:literal $(($inner_group:literal $([$a:literal $b:literal])*))*;)*],
     [$([$c:literal $d:literal])*]) => {
        /// Forward.
        #[inline(always)]
        pub fn $forward<T: Transform>(
            t: T,
            window: &Window<'_, Inner<T>>,
            mut v: [V<T>; $radix],
        ) -> [V<T>; $radix] {
            $($(
                let w = t.broadcast(window.get($stage, $group));
                $((v[$x], v[$y]) = t.forward(v[$x], v[$y], w);)*
            )*)*
            v
        }

        /// Inverse; `last` has the factors of the outermost stage if it is the last of all.
        #[inline(always)]
        pub fn $inverse<T: Transform>(
            t: T,
            window: &Window<'_, Inner<T>>,
            v: [V<T>; $radix],
            last: Option<[T::F; 2]>,
        ) -> [V<T>; $radix] {
            // Of the innermost stage's pairs the first are left.
            let mut v = v;
            for pair in v.as_chunks_mut::<2>().0 {
                pair[0] = t.to_left(pair[0]);
            }
            $($(
                let w = t.broadcast(window.get($inner, (1 << $inner) - 1 - $inner_group));
                let place = Place { stage: $inner, group: $inner_group, first: 2 << $inner == $radix };
                $((v[$a], v[$b]) = t.inverse(v[$a], v[$b], w, place);)*
            )*)*
            if let Some(factors) = last {
                $((v[$c], v[$d]) = t.finish(v[$c], v[$d], factors);)*
            } else {
                let w = t.broadcast(window.get(0, 0));
                let place = Place { stage: 0, group: 0, first: false };
                $((v[$c], v[$d]) = t.inverse(v[$c], v[$d], w, place);)*
            }
            v
        }
    };
}

stages!(4, forward_4, inverse_4,
    [
        0 (0 [0 2] [1 3]);
        1 (0 [0 1]) (1 [2 3]);
    ],
    [
        1 (0 [0 1]) (1 [2 3]);
    ],
    [[0 2] [1 3]]);
stages!(8, forward_8, inverse_8,
    [
        0 (0 [0 4] [1 5] [2 6] [3 7]);
        1 (0 [0 2] [1 3]) (1 [4 6] [5 7]);
        2 (0 [0 1]) (1 [2 3]) (2 [4 5]) (3 [6 7]);
    ],
    [
        2 (0 [0 1]) (1 [2 3]) (2 [4 5]) (3 [6 7]);
        1 (0 [0 2] [1 3]) (1 [4 6] [5 7]);
    ],
    [[0 4] [1 5] [2 6] [3 7]]);
stages!(16, forward_16, inverse_16,
    [
        0 (0 [0 8] [1 9] [2 10] [3 11] [4 12] [5 13] [6 14] [7 15]);
        1 (0 [0 4] [1 5] [2 6] [3 7]) (1 [8 12] [9 13] [10 14] [11 15]);
        2 (0 [0 2] [1 3]) (1 [4 6] [5 7]) (2 [8 10] [9 11]) (3 [12 14] [13 15]);
        3 (0 [0 1]) (1 [2 3]) (2 [4 5]) (3 [6 7]) (4 [8 9]) (5 [10 11]) (6 [12 13]) (7 [14 15]);
    ],
    [
        3 (0 [0 1]) (1 [2 3]) (2 [4 5]) (3 [6 7]) (4 [8 9]) (5 [10 11]) (6 [12 13]) (7 [14 15]);
        2 (0 [0 2] [1 3]) (1 [4 6] [5 7]) (2 [8 10] [9 11]) (3 [12 14] [13 15]);
        1 (0 [0 4] [1 5] [2 6] [3 7]) (1 [8 12] [9 13] [10 14] [11 15]);
    ],
    [[0 8] [1 9] [2 10] [3 11] [4 12] [5 13] [6 14] [7 15]]);
