//! The passes of an NTT: some vectors a stride apart, two or more stages at a time.

use crate::arch::vector::lanes::Lanes;
use crate::arch::vector::storage::Storage;
use crate::arch::vector::transform::{Block, Entry, Inner, Outer, Transform, V};
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
                let v = $forward_stages(t, window, v, (0, 0));
                $(isa.store(&mut parts[$k][i], v[$k]);)*
            }
        }

        /// Inverse; the last pass finishes.
        #[inline(always)]
        pub fn $inverse<T: Transform>(
            t: T,
            window: &Window<'_, Inner<T>>,
            block: &mut [Block<T>],
            mut finish: Option<Finish<'_, T>>,
        ) {
            let stride = block.len() / $radix;
            let mut parts = block.chunks_exact_mut(stride);
            let parts: [&mut [Block<T>]; $radix] = [$({
                let _ = $k;
                parts.next().expect("a block has radix parts")
            }),*];
            let isa = t.isa();
            let last = finish.as_ref().map(|finish| finish.factors);
            for i in 0..stride {
                let v = [$(isa.load(&parts[$k][i])),*];
                let v = $inverse_stages(t, window, v, (0, 0), last);
                let Some(Finish { dst, add, .. }) = &mut finish else {
                    $(isa.store(&mut parts[$k][i], v[$k]);)*
                    continue;
                };
                let v = match add {
                    Some(c) => [$(t.finish_add(v[$k], *c)),*],
                    None => v,
                };
                match dst {
                    Some(dst) => {$(T::S::write(isa, &mut dst[$k * stride + i], v[$k]);)*}
                    None => {$(isa.store(&mut parts[$k][i], v[$k]);)*}
                }
            }
        }
    };
}

passes!(4, [0 1 2 3], forward_pass_2, forward_4, inverse_pass_2, inverse_4);
passes!(8, [0 1 2 3 4 5 6 7], forward_pass_3, forward_8, inverse_pass_3, inverse_8);

/// Defines the stages of a radix from those of half the radix. `(stage, i)`
/// names the group in the window; `last` has the factors of the group of all
/// values.
macro_rules! stages {
    ($radix:literal, $forward:ident, $half_forward:ident, $inverse:ident, $half_inverse:ident,
     [$($a:ident)*], [$($b:ident)*]) => {
        /// Forward.
        #[inline(always)]
        pub fn $forward<T: Transform>(
            t: T,
            window: &Window<'_, Inner<T>>,
            [$($a,)* $($b),*]: [V<T>; $radix],
            (stage, i): (u32, usize),
        ) -> [V<T>; $radix] {
            let w = t.broadcast(window.get(stage, i));
            $(let ($a, $b) = t.forward($a, $b, w);)*
            let [$($a),*] = $half_forward(t, window, [$($a),*], (stage + 1, 2 * i));
            let [$($b),*] = $half_forward(t, window, [$($b),*], (stage + 1, 2 * i + 1));
            [$($a,)* $($b),*]
        }

        /// Inverse.
        #[inline(always)]
        pub fn $inverse<T: Transform>(
            t: T,
            window: &Window<'_, Inner<T>>,
            [$($a,)* $($b),*]: [V<T>; $radix],
            (stage, i): (u32, usize),
            last: Option<[T::F; 2]>,
        ) -> [V<T>; $radix] {
            let (left, right) = ((stage + 1, 2 * i + 1), (stage + 1, 2 * i));
            let [$($a),*] = $half_inverse(t, window, [$($a),*], left, None);
            let [$($b),*] = $half_inverse(t, window, [$($b),*], right, None);
            if let Some(factors) = last {
                $(let ($a, $b) = t.finish($a, $b, factors);)*
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
    window: &Window<'_, Inner<T>>,
    [x, y]: [V<T>; 2],
    (stage, i): (u32, usize),
) -> [V<T>; 2] {
    t.forward(x, y, t.broadcast(window.get(stage, i))).into()
}

/// One butterfly; never the last, as a pass has at least two stages.
#[inline(always)]
fn inverse_2<T: Transform>(
    t: T,
    window: &Window<'_, Inner<T>>,
    [x, y]: [V<T>; 2],
    (stage, i): (u32, usize),
    _last: Option<[T::F; 2]>,
) -> [V<T>; 2] {
    t.inverse(x, y, t.broadcast(window.get(stage, i))).into()
}
