//! The order in which an NTT's butterflies are computed.
//!
//! The stages are those of [`crate::arch::scalar::ntt`]. Several consecutive
//! stages form a *pass*, in which 4 to 16 vectors, a stride apart, are read once,
//! taken through 2 to 4 stages in registers and written once. The last pass (the
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
//! The first pass of either direction reads the source, the last one writes
//! the destination, and what an operation wants before or after a transform is
//! computed there, in registers.
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
use crate::arch::vector::passes::{
    Finish, Window, forward_pass_2, forward_pass_3, forward_pass_4, inverse_pass_2, inverse_pass_3,
    inverse_pass_4,
};
use crate::arch::vector::storage::{InnerBlock, Storage, Vector};
use crate::arch::vector::tails::{forward_tail_2, forward_tail_4, inverse_tail_2, inverse_tail_4};
use crate::modulus::Modulus;
use crate::twiddles::Twiddles;
use crate::word::Word;

/// The word of limbs.
pub type W<T> = <<T as Transform>::S as Storage>::W;
/// The word of values between passes.
pub type Inner<T> = <<T as Transform>::S as Storage>::Inner;
/// A vector of values.
pub type V<T> = Vector<<T as Transform>::S>;
/// A vector of values in memory.
pub type Block<T> = InnerBlock<<T as Transform>::S>;
/// The words of a limb that one vector holds.
pub type Outer<T> = <<T as Transform>::S as Storage>::Outer;
/// The instruction set.
pub type Set<T> = <<T as Transform>::S as Storage>::L;

/// What a value of an inverse transform is to its partner in the next stage, if
/// that is known and its range may depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The one that is subtracted.
    Left,
    /// The other; also values that go to memory.
    Right,
}

/// The stage and group of a pass that a butterfly of an inverse transform belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// log2 of the number of groups of the stage: 0 in the pass's last stage.
    pub stage: u32,
    /// The group. Groups 2h and 2h + 1 meet in group h of the next stage.
    pub group: u32,
    /// Whether the pass begins with this stage.
    pub first: bool,
}

impl Place {
    /// Of a stage that is a pass by itself.
    pub const ALONE: Self = Self {
        stage: 0,
        group: 0,
        first: true,
    };

    /// What both results are in the next stage.
    #[inline(always)]
    pub fn side(self) -> Side {
        if self.stage > 0 && self.group.is_multiple_of(2) {
            Side::Left
        } else {
            Side::Right
        }
    }
}

/// Butterflies modulo one prime, with a range of values of their own.
pub trait Transform: Copy + Send + Sync + 'static {
    /// Where values lie.
    type S: Storage;
    /// A vector of factors with all that multiplication by them needs.
    type F: Copy;

    /// The token.
    fn isa(self) -> Set<Self>;
    /// The two words of a factor.
    fn form(modulus: &Modulus, w: u64) -> (Inner<Self>, Inner<Self>);
    /// A factor, given by its two words, in all lanes.
    fn broadcast(self, factor: (Inner<Self>, Inner<Self>)) -> Self::F;
    /// The 2^S twiddles of `group`, given by both words of all, see [`Lanes::repeat`].
    fn repeat<const S: u32>(self, twiddles: [&[Inner<Self>]; 2], group: usize) -> Self::F;

    /// Whether words, whose bitwise or is given, may be taken for values of the
    /// forward range without [`Transform::enter`].
    fn accepts(self, or: V<Self>) -> bool;
    /// From any word to the forward range.
    fn enter(self, x: V<Self>) -> V<Self>;
    /// `x + c` in the forward range, for c canonical and x accepted or entered.
    fn enter_add(self, x: V<Self>, c: V<Self>) -> V<Self>;
    /// `(x + w y, x - w y)`, in the forward range.
    fn forward(self, x: V<Self>, y: V<Self>, w: Self::F) -> (V<Self>, V<Self>);
    /// From the forward range to canonical.
    fn leave(self, x: V<Self>) -> V<Self>;
    /// `(minuend - x) c`, canonical, from the forward range; the minuend is canonical.
    fn leave_sub_mul(self, x: V<Self>, minuend: V<Self>, c: Self::F) -> V<Self>;

    /// From the inverse range to that of left partners.
    #[inline(always)]
    fn to_left(self, x: V<Self>) -> V<Self> {
        x
    }
    /// `(x + y, (y - x) w)` in the range of the place's side; x is a left partner.
    fn inverse(self, x: V<Self>, y: V<Self>, w: Self::F, place: Place) -> (V<Self>, V<Self>);
    /// `(x + y, (y - x) w)`, all in the inverse range.
    #[inline(always)]
    fn inverse_plain(self, x: V<Self>, y: V<Self>, w: Self::F) -> (V<Self>, V<Self>) {
        self.inverse(self.to_left(x), y, w, Place::ALONE)
    }
    /// The same for x and y canonical.
    #[inline(always)]
    fn inverse_canonical(self, x: V<Self>, y: V<Self>, w: Self::F) -> (V<Self>, V<Self>) {
        self.inverse_plain(x, y, w)
    }
    /// `((x + y) w0, (y - x) w1)`, canonical; x is a left partner.
    fn finish(self, x: V<Self>, y: V<Self>, w: [Self::F; 2]) -> (V<Self>, V<Self>);
    /// `x + c`, all canonical.
    fn finish_add(self, x: V<Self>, c: V<Self>) -> V<Self>;
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

/// The passes before the tail: as few as possible, of 2 or 3 stages each. Where
/// a single stage would be left over, the innermost pass takes 4 stages if 16
/// vectors fit the registers; an outer one should not, as lines so many and so
/// far apart compete for the places of one line in the cache.
struct Plan {
    passes: [Pass; 6],
    count: usize,
}

impl Plan {
    #[inline(always)]
    fn new<T: Transform>(stages: u32) -> Self {
        let four = has_radix_16::<T>() && stages % 3 == 1;
        let threes = if four { stages - 4 } else { stages };
        let count = threes.div_ceil(3);
        let mut passes = [Pass::default(); 6];
        let mut stages_before = 0;
        for (pass, left) in passes.iter_mut().zip((1..=count).rev()) {
            *pass = Pass {
                log_radix: (threes - stages_before).div_ceil(left),
                stages_before,
                log_tails: stages - stages_before,
            };
            stages_before += pass.log_radix;
        }
        if four {
            passes[count as usize] = Pass {
                log_radix: 4,
                stages_before,
                log_tails: 4,
            };
        }
        Self {
            passes,
            count: count as usize + usize::from(four),
        }
    }

    /// The first pass, which is over everything, and the others.
    #[inline(always)]
    fn passes(&self) -> (&Pass, &[Pass]) {
        (&self.passes[0], &self.passes[1..self.count])
    }
}

/// Where a forward transform reads, and what it adds to each coefficient.
pub struct Entry<'a, T: Transform> {
    /// The source, if the values are not yet where they lie between passes.
    pub src: Option<&'a [Outer<T>]>,
    /// A constant, canonical.
    pub add: Option<V<T>>,
}

/// What a forward transform computes of each value.
pub enum Exit<'a, T: Transform> {
    /// The value.
    Canonical,
    /// The minuend less the value, times a factor given by its two words.
    SubMul(&'a [W<T>], (Inner<T>, Inner<T>)),
}

/// The operands of a forward transform: coefficients are any words.
pub struct Forward<'a, T: Transform> {
    /// The table.
    pub twiddles: &'a Twiddles<Inner<T>>,
    /// The result.
    pub dst: &'a mut [W<T>],
    /// The coefficients, if they are not in `dst`.
    pub src: Option<&'a [W<T>]>,
    /// N words if the storage wants them.
    pub scratch: &'a mut [Inner<T>],
    /// What is added to each coefficient first, canonical.
    pub add_c: u64,
    /// What becomes of the values.
    pub exit: Exit<'a, T>,
}

/// Coefficient to evaluation domain; any words in, canonical out.
#[inline(always)]
pub fn forward<T: Transform>(t: T, call: Forward<'_, T>) {
    let (dst, scratch, twiddles) = (call.dst, call.scratch, call.twiddles);
    let log_tails = dst.len().ilog2() - Set::<T>::LOG_LANES - Set::<T>::LOG_TAIL;
    let plan = Plan::new::<T>(log_tails);
    let (first, others) = plan.passes();
    let (blocks, outer) = T::S::places(dst, scratch);
    let entry = Entry {
        src: match (call.src, outer) {
            (Some(src), _) => Some(T::S::outer(src)),
            (None, outer) => outer.map(|outer| &*outer),
        },
        add: (call.add_c != 0).then(|| t.isa().splat(Inner::<T>::from_u64(call.add_c))),
    };
    forward_pass(t, twiddles, first, 0, blocks, Some(&entry));
    for c in 0..1usize << log_tails {
        let (blocks, _) = T::S::places(dst, scratch);
        for pass in others {
            if c & ((1 << pass.log_tails) - 1) == 0 {
                forward_pass(t, twiddles, pass, c, blocks, None);
            }
        }
        match Set::<T>::LOG_TAIL {
            2 => forward_tail_2(t, twiddles, (dst, scratch), c, &call.exit),
            _ => forward_tail_4(t, twiddles, (dst, scratch), c, &call.exit),
        }
    }
}

/// The pass over the block that starts at tail c.
#[inline(always)]
fn forward_pass<T: Transform>(
    t: T,
    twiddles: &Twiddles<Inner<T>>,
    pass: &Pass,
    c: usize,
    blocks: &mut [Block<T>],
    entry: Option<&Entry<'_, T>>,
) {
    let window = Window::new(twiddles, (1 << pass.stages_before) + (c >> pass.log_tails));
    let block = block_of::<T>(blocks, c, pass.log_tails);
    match pass.log_radix {
        2 => forward_pass_2(t, &window, block, entry),
        4 if has_radix_16::<T>() => forward_pass_4(t, &window, block, entry),
        _ => forward_pass_3(t, &window, block, entry),
    }
}

/// The operands of an inverse transform: values are canonical.
pub struct Inverse<'a, T: Transform> {
    /// The table.
    pub twiddles: &'a Twiddles<Inner<T>>,
    /// The result.
    pub dst: &'a mut [W<T>],
    /// The values, if they are not in `dst`.
    pub src: Option<&'a [W<T>]>,
    /// N words if the storage wants them.
    pub scratch: &'a mut [Inner<T>],
    /// The factors of the last stage's two results, given by their two words:
    /// `c / N` and `c / N` times the last twiddle, for coefficients times c.
    pub last: [(Inner<T>, Inner<T>); 2],
    /// What is added to each coefficient, canonical.
    pub add_c: u64,
}

/// Evaluation to coefficient domain; canonical in and out.
#[inline(always)]
pub fn inverse<T: Transform>(t: T, call: Inverse<'_, T>) {
    let (dst, scratch, twiddles) = (call.dst, call.scratch, call.twiddles);
    let log_tails = dst.len().ilog2() - Set::<T>::LOG_LANES - Set::<T>::LOG_TAIL;
    let plan = Plan::new::<T>(log_tails);
    let (first, others) = plan.passes();
    for c in 0..1usize << log_tails {
        match Set::<T>::LOG_TAIL {
            2 => inverse_tail_2(t, twiddles, (dst, call.src, scratch), c),
            _ => inverse_tail_4(t, twiddles, (dst, call.src, scratch), c),
        }
        let (blocks, _) = T::S::places(dst, scratch);
        for pass in others.iter().rev() {
            if (c + 1) & ((1 << pass.log_tails) - 1) == 0 {
                inverse_pass(t, twiddles, pass, c, blocks, None);
            }
        }
    }
    let (blocks, dst) = T::S::places(dst, scratch);
    let finish = Finish {
        dst,
        factors: [t.broadcast(call.last[0]), t.broadcast(call.last[1])],
        add: (call.add_c != 0).then(|| t.isa().splat(Inner::<T>::from_u64(call.add_c))),
    };
    inverse_pass(t, twiddles, first, 0, blocks, Some(finish));
}

/// The pass over the block that tail c is in.
#[inline(always)]
fn inverse_pass<T: Transform>(
    t: T,
    twiddles: &Twiddles<Inner<T>>,
    pass: &Pass,
    c: usize,
    blocks: &mut [Block<T>],
    finish: Option<Finish<'_, T>>,
) {
    let r = (2 << pass.stages_before) - 1 - (c >> pass.log_tails);
    let window = Window::new(twiddles, r);
    let block = block_of::<T>(blocks, c, pass.log_tails);
    match pass.log_radix {
        2 => inverse_pass_2(t, &window, block, finish),
        4 if has_radix_16::<T>() => inverse_pass_4(t, &window, block, finish),
        _ => inverse_pass_3(t, &window, block, finish),
    }
}

/// Whether passes may hold 16 vectors in registers, as tails do.
const fn has_radix_16<T: Transform>() -> bool {
    Set::<T>::LOG_TAIL == 4
}

/// The block of 2^`log_tails` tails that tail c is in.
#[inline(always)]
pub fn block_of<T: Transform>(
    blocks: &mut [Block<T>],
    c: usize,
    log_tails: u32,
) -> &mut [Block<T>] {
    let log_len = log_tails + Set::<T>::LOG_TAIL;
    let at = c >> log_tails << log_len;
    &mut blocks[at..at + (1 << log_len)]
}
