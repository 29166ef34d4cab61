//! Where a transform's values lie between its passes, and how they get there.

use std::cell::Cell;
use std::marker::PhantomData;

use zeroize::Zeroize;

use crate::arch::vector::lanes::{Lanes, Widening};
use crate::limb_buf::LimbBuf;
use crate::word::Word;

/// The vector of a storage.
pub type Vector<S> = <<S as Storage>::L as Lanes<<S as Storage>::Inner>>::V;
/// A vector of a storage in memory.
pub type InnerBlock<S> = <<S as Storage>::L as Lanes<<S as Storage>::Inner>>::Block;

/// Blocks of values, and blocks of words of a limb unless they are the same.
pub type Places<'a, Inner, Outer> = (&'a mut [Inner], Option<&'a mut [Outer]>);

/// Limbs of words `W`, transformed in vectors of words `Inner`.
///
/// The last pass of a forward transform holds neighbouring elements at equal
/// lanes of a pair of vectors; so does the first of an inverse one, with lanes
/// in reverse order. The functions on pairs convert from and to the limb's
/// order, of which there may be an intermediate one, *paired*, in which limbs
/// are cheap to read and write.
pub trait Storage: Copy + Send + Sync + 'static {
    /// The word of limbs.
    type W: Word;
    /// The word of values between passes.
    type Inner: Word;
    /// The vectors.
    type L: Lanes<Self::Inner>;
    /// The words of a limb that one vector holds.
    type Outer: Copy;

    /// Runs a transform with the scratch that it wants: N words or none.
    fn with_scratch(n: usize, run: impl FnOnce(&mut [Self::Inner]));
    /// The words as whole vectors.
    fn outer(words: &[Self::W]) -> &[Self::Outer];
    /// The words as whole vectors.
    fn outer_mut(words: &mut [Self::W]) -> &mut [Self::Outer];
    /// The values between passes, and the destination's words if they are others.
    fn places<'a>(
        dst: &'a mut [Self::W],
        scratch: &'a mut [Self::Inner],
    ) -> Places<'a, InnerBlock<Self>, Self::Outer>;

    /// Reads a vector of a limb.
    fn read(isa: Self::L, block: &Self::Outer) -> Vector<Self>;
    /// Writes two vectors of a limb.
    fn write_both(isa: Self::L, blocks: &mut [Self::Outer; 2], pair: (Vector<Self>, Vector<Self>));
    /// Reads two vectors of a limb, paired.
    fn read_paired(isa: Self::L, blocks: &[Self::Outer; 2]) -> (Vector<Self>, Vector<Self>);
    /// Writes two vectors of a limb, paired.
    fn write_paired(
        isa: Self::L,
        blocks: &mut [Self::Outer; 2],
        pair: (Vector<Self>, Vector<Self>),
    );
    /// From neighbours at equal lanes to paired.
    fn pair(isa: Self::L, x: Vector<Self>, y: Vector<Self>) -> (Vector<Self>, Vector<Self>);
    /// Reads two vectors of a limb: neighbours at equal lanes, in reverse order.
    fn read_neighbours(isa: Self::L, blocks: &[Self::Outer; 2]) -> (Vector<Self>, Vector<Self>);
}

/// Values between passes lie in the destination; paired is the limb's order.
#[derive(Debug, Clone, Copy)]
pub struct InPlace<W, L>(PhantomData<(W, L)>);

impl<W: Word, L: Lanes<W>> Storage for InPlace<W, L> {
    type W = W;
    type Inner = W;
    type L = L;
    type Outer = L::Block;

    #[inline(always)]
    fn with_scratch(_n: usize, run: impl FnOnce(&mut [W])) {
        run(&mut []);
    }

    #[inline(always)]
    fn outer(words: &[W]) -> &[L::Block] {
        L::blocks(words)
    }

    #[inline(always)]
    fn outer_mut(words: &mut [W]) -> &mut [L::Block] {
        L::blocks_mut(words)
    }

    #[inline(always)]
    fn places<'a>(dst: &'a mut [W], _scratch: &'a mut [W]) -> Places<'a, L::Block, L::Block> {
        (L::blocks_mut(dst), None)
    }

    #[inline(always)]
    fn read(isa: L, block: &L::Block) -> L::V {
        isa.load(block)
    }

    #[inline(always)]
    fn write_both(isa: L, [a, b]: &mut [L::Block; 2], (x, y): (L::V, L::V)) {
        isa.store(a, x);
        isa.store(b, y);
    }

    #[inline(always)]
    fn read_paired(isa: L, [a, b]: &[L::Block; 2]) -> (L::V, L::V) {
        (isa.load(a), isa.load(b))
    }

    #[inline(always)]
    fn write_paired(isa: L, [a, b]: &mut [L::Block; 2], (x, y): (L::V, L::V)) {
        isa.store(a, x);
        isa.store(b, y);
    }

    #[inline(always)]
    fn pair(isa: L, x: L::V, y: L::V) -> (L::V, L::V) {
        isa.interleave(x, y)
    }

    #[inline(always)]
    fn read_neighbours(isa: L, [a, b]: &[L::Block; 2]) -> (L::V, L::V) {
        isa.deinterleave_reversed(isa.load(a), isa.load(b))
    }
}

/// Limbs of 32-bit words, values of 64 bits between passes, in a scratch of the
/// thread. Paired are the words of even and of odd index, which are neighbours
/// at equal lanes.
#[derive(Debug, Clone, Copy)]
pub struct Widened<L>(PhantomData<L>);

thread_local! {
    static SCRATCH: Cell<LimbBuf<u64>> = Cell::new(LimbBuf::default());
}

/// Forgets what transforms left in the scratch of this thread.
pub fn wipe_scratch() {
    SCRATCH.with(|cell| {
        let mut scratch = cell.take();
        scratch.zeroize();
        cell.set(scratch);
    });
}

impl<L: Widening> Storage for Widened<L> {
    type W = u32;
    type Inner = u64;
    type L = L;
    type Outer = L::Half;

    fn with_scratch(n: usize, run: impl FnOnce(&mut [u64])) {
        SCRATCH.with(|cell| {
            let mut scratch = cell.take();
            if scratch.len() < n {
                scratch = LimbBuf::zeroed(n);
            }
            run(&mut scratch[..n]);
            cell.set(scratch);
        });
    }

    #[inline(always)]
    fn outer(words: &[u32]) -> &[L::Half] {
        L::halves(words)
    }

    #[inline(always)]
    fn outer_mut(words: &mut [u32]) -> &mut [L::Half] {
        L::halves_mut(words)
    }

    #[inline(always)]
    fn places<'a>(dst: &'a mut [u32], scratch: &'a mut [u64]) -> Places<'a, L::Block, L::Half> {
        (L::blocks_mut(scratch), Some(L::halves_mut(dst)))
    }

    #[inline(always)]
    fn read(isa: L, block: &L::Half) -> L::V {
        isa.load_half(block)
    }

    #[inline(always)]
    fn write_both(isa: L, blocks: &mut [L::Half; 2], (x, y): (L::V, L::V)) {
        isa.store_halves(blocks, x, y);
    }

    #[inline(always)]
    fn read_paired(isa: L, blocks: &[L::Half; 2]) -> (L::V, L::V) {
        isa.load_even_odd(blocks)
    }

    #[inline(always)]
    fn write_paired(isa: L, blocks: &mut [L::Half; 2], (x, y): (L::V, L::V)) {
        isa.store_even_odd(blocks, x, y);
    }

    #[inline(always)]
    fn pair(_isa: L, x: L::V, y: L::V) -> (L::V, L::V) {
        (x, y)
    }

    #[inline(always)]
    fn read_neighbours(isa: L, blocks: &[L::Half; 2]) -> (L::V, L::V) {
        isa.load_even_odd_reversed(blocks)
    }
}
