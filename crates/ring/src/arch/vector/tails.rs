//! The tails of an NTT: neighbouring vectors, all remaining stages.

use std::sync::atomic::{Ordering, compiler_fence};

use crate::arch::vector::lanes::Lanes;
use crate::arch::vector::passes::{Window, forward_4, forward_16, inverse_4, inverse_16};
use crate::arch::vector::storage::Storage;
use crate::arch::vector::transform::{Exit, Inner, Set, Transform, V, W, block_of};
use crate::twiddles::Twiddles;
use crate::word::Word;

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

/// Defines the tails over some vectors: the stages between vectors, then those within.
///
/// The compiler moves arithmetic below later checks of bounds, but not the
/// loads. The inverse has its checks first, so that loads stay where they are
/// used; the forward tail gains from having some in between.
macro_rules! tails {
    ($count:literal, $forward:ident, $stages:ident, $inverse:ident, $stages_inverse:ident,
     [$(($k:literal $a:literal $b:literal))*]) => {
        /// Forward: tail c from between passes to the destination.
        #[inline(always)]
        pub fn $forward<T: Transform>(
            t: T,
            twiddles: &Twiddles<Inner<T>>,
            (dst, scratch): (&mut [W<T>], &mut [Inner<T>]),
            c: usize,
            exit: &Exit<'_, T>,
        ) {
            let (isa, lanes) = (t.isa(), 1 << Set::<T>::LOG_LANES);
            let j = dst.len() / ($count * lanes) + c;
            let block = block_of::<T>(T::S::places(dst, scratch).0, c, 0);
            let v = [$(isa.load(&block[$a]), isa.load(&block[$b])),*];
            let v = $stages(t, &Window::new(twiddles, j), v);
            let within = Within::new::<$count, { 2 * $count }, { 4 * $count }, { 8 * $count }>(
                twiddles,
                j,
                Set::<T>::LOG_LANES,
            );
            let v = [$((v[$a], v[$b])),*];
            let v = [$(forward_within::<T, 1>(t, &within, v[$k], $k)),*];
            let v = [$(forward_within::<T, 2>(t, &within, v[$k], $k)),*];
            let v = if Set::<T>::LOG_LANES > 2 {
                [$(forward_within::<T, 3>(t, &within, v[$k], $k)),*]
            } else {
                v
            };
            let v = if Set::<T>::LOG_LANES > 3 {
                [$(forward_within::<T, 4>(t, &within, v[$k], $k)),*]
            } else {
                v
            };
            let words = c * $count * lanes..(c + 1) * $count * lanes;
            let pairs = &mut T::S::outer_mut(&mut dst[words.clone()]).as_chunks_mut::<2>().0[..$count / 2];
            match exit {
                Exit::Canonical => {$({
                    let (x, y) = T::S::pair(isa, v[$k].0, v[$k].1);
                    T::S::write_paired(isa, &mut pairs[$k], (t.leave(x), t.leave(y)));
                })*}
                Exit::SubMul(minuend, c) => {
                    let c = t.broadcast(*c);
                    let minuends = &T::S::outer(&minuend[words]).as_chunks::<2>().0[..$count / 2];
                    $({
                        let (x, y) = T::S::pair(isa, v[$k].0, v[$k].1);
                        let (a, b) = T::S::read_paired(isa, &minuends[$k]);
                        let pair = (t.leave_sub_mul(x, a, c), t.leave_sub_mul(y, b, c));
                        T::S::write_paired(isa, &mut pairs[$k], pair);
                    })*
                }
            }
        }

        /// Inverse: tail c from the source, or in place, to between passes.
        #[inline(always)]
        pub fn $inverse<T: Transform>(
            t: T,
            twiddles: &Twiddles<Inner<T>>,
            (dst, src, scratch): (&mut [W<T>], Option<&[W<T>]>, &mut [Inner<T>]),
            c: usize,
        ) {
            let (isa, lanes) = (t.isa(), 1 << Set::<T>::LOG_LANES);
            let r = 2 * (dst.len() / ($count * lanes)) - 1 - c;
            let within = Within::new::<$count, { 2 * $count }, { 4 * $count }, { 8 * $count }>(
                twiddles,
                r,
                Set::<T>::LOG_LANES,
            );
            let window = Window::new(twiddles, r);
            let _ = block_of::<T>(T::S::places(dst, scratch).0, c, 0);
            let words = c * $count * lanes..(c + 1) * $count * lanes;
            let src = &src.unwrap_or(dst)[words];
            let pairs = &T::S::outer(src).as_chunks::<2>().0[..$count / 2];
            let v = [$(T::S::read_neighbours(isa, &pairs[$k])),*];
            let v = match Set::<T>::LOG_LANES {
                2 => v,
                3 => [$(inverse_within::<T, 3>(t, &within, v[$k], $count / 2 - 1 - $k)),*],
                _ => {
                    let v = [$(inverse_within::<T, 4>(t, &within, v[$k], $count / 2 - 1 - $k)),*];
                    [$(inverse_within::<T, 3>(t, &within, v[$k], $count / 2 - 1 - $k)),*]
                }
            };
            let v = [$(inverse_within::<T, 2>(t, &within, v[$k], $count / 2 - 1 - $k)),*];
            let v = [$(inverse_within::<T, 1>(t, &within, v[$k], $count / 2 - 1 - $k)),*];
            let v = [$(v[$k].0, v[$k].1),*];
            let v = $stages_inverse(t, &window, v, None);
            let block = block_of::<T>(T::S::places(dst, scratch).0, c, 0);
            $(
                isa.store(&mut block[$a], v[$a]);
                isa.store(&mut block[$b], v[$b]);
            )*
        }
    };
}

tails!(4, forward_tail_2, forward_4, inverse_tail_2, inverse_4, [(0 0 1) (1 2 3)]);
tails!(16, forward_tail_4, forward_16, inverse_tail_4, inverse_16,
    [(0 0 1) (1 2 3) (2 4 5) (3 6 7) (4 8 9) (5 10 11) (6 12 13) (7 14 15)]);

/// Stage S within the vectors of the tail's pair j.
#[inline(always)]
fn forward_within<T: Transform, const S: u32>(
    t: T,
    within: &Within<'_, Inner<T>>,
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
    within: &Within<'_, Inner<T>>,
    (x, y): (V<T>, V<T>),
    r: usize,
) -> (V<T>, V<T>) {
    let w = t.repeat::<S>(within.stages[S as usize - 1], r);
    let (x, y) = if S == Set::<T>::LOG_LANES {
        t.inverse_canonical(x, y, w)
    } else {
        t.inverse_plain(x, y, w)
    };
    let (later, earlier) = t.isa().deinterleave(x, y);
    // There is no store in between, so that the compiler would load all
    // twiddles first, and spill them.
    compiler_fence(Ordering::SeqCst);
    (earlier, later)
}
