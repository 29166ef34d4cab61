//! What the kernels need of an instruction set.

use crate::word::Word;

/// A token of an instruction set: that one exists proves that the processor
/// has the instructions.
pub trait Isa: Copy + Send + Sync + 'static {
    /// Runs a kernel compiled for the instruction set.
    fn run<K: Kernel>(self, kernel: K);
}

/// A kernel with its operands. `run` must be `#[inline(always)]`.
pub trait Kernel {
    /// Executes it.
    fn run(self);
}

/// Vectors of 2^`LOG_LANES` words.
///
/// Arithmetic is modulo 2^`W::BITS`; comparisons are unsigned.
pub trait Lanes<W: Word>: Isa {
    /// A vector register.
    type V: Copy + Send + Sync;
    /// The words of a vector in memory.
    type Block: Copy;

    /// log2 of the words in a vector.
    const LOG_LANES: u32;
    /// log2 of the vectors that an NTT pass holds in registers, at most 4.
    const LOG_RADIX: u32;
    /// log2 of the vectors that an NTT's last pass holds in registers: 2 or 3.
    const LOG_TAIL: u32;

    /// The words as whole vectors.
    fn blocks(words: &[W]) -> &[Self::Block];
    /// The words as whole vectors.
    fn blocks_mut(words: &mut [W]) -> &mut [Self::Block];
    /// The vector of words from index `at` on.
    fn block_at(words: &[W], at: usize) -> &Self::Block;

    /// Reads a vector.
    fn load(self, block: &Self::Block) -> Self::V;
    /// Writes a vector.
    fn store(self, block: &mut Self::Block, v: Self::V);
    /// All lanes equal.
    fn splat(self, word: W) -> Self::V;

    /// `a + b`.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a - b`.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a - b` where `a >= b`, else a; needs `b <= 2^(BITS-1)` and `a < b + 2^(BITS-1)`
    /// for 64-bit words, nothing for 32-bit words.
    fn sub_if_ge(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a - b` where `a >= b`, else `a - b + q`; 64-bit words below 2^63.
    fn sub_mod(self, a: Self::V, b: Self::V, q: Self::V) -> Self::V;

    /// Lane i holds word `i >> (LOG_LANES - S)`: 2^S words, each repeated.
    fn spread<const S: u32>(self, block: &Self::Block) -> Self::V;
    /// The same with the 2^S words in reverse order.
    fn spread_reversed<const S: u32>(self, block: &Self::Block) -> Self::V;
    /// Two vectors hold the elements (v, lane), v in {0, 1}: swaps the bit v with bit `BIT` of
    /// the lane.
    fn exchange<const BIT: u32>(self, a: Self::V, b: Self::V) -> (Self::V, Self::V);
    /// `a_0 b_0 a_1 b_1 ...` over both results.
    fn interleave(self, a: Self::V, b: Self::V) -> (Self::V, Self::V);
    /// The inverse of [`Lanes::interleave`].
    fn deinterleave(self, a: Self::V, b: Self::V) -> (Self::V, Self::V);

    /// The 64-bit products of the lower 32 bits of each 64 bits.
    fn mul_low32(self, a: Self::V, b: Self::V) -> Self::V;
    /// Each 64 bits shifted right by 32.
    fn high32(self, a: Self::V) -> Self::V;
    /// The lower 32 bits of each 64 bits.
    fn low32(self, a: Self::V) -> Self::V;
}

/// Vectors of 32-bit words, also seen as 64-bit pairs.
pub trait Lanes32: Lanes<u32> {
    /// From pairs: the upper halves, even lanes from `even`, odd lanes from `odd`.
    fn upper(self, even: Self::V, odd: Self::V) -> Self::V;
    /// From pairs: the lower halves, even lanes from `even`, odd lanes from `odd`.
    fn lower(self, even: Self::V, odd: Self::V) -> Self::V;
    /// Sum of pairs as 64-bit integers.
    fn add64(self, a: Self::V, b: Self::V) -> Self::V;
}

/// Vectors of 64-bit words.
pub trait Lanes64: Lanes<u64> {
    /// The lower 64 bits of the products.
    fn mul_low(self, a: Self::V, b: Self::V) -> Self::V;
    /// Each word shifted left by 32.
    fn up32(self, a: Self::V) -> Self::V;
}

/// Products of 52-bit integers (of which each operand's upper 12 bits are ignored).
pub trait Ifma: Lanes<u64> {
    /// `acc` plus the lower 52 bits of `a b`.
    fn madd_low(self, acc: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// `acc` plus the upper 52 bits of `a b`.
    fn madd_high(self, acc: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise and.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a >> BITS`.
    fn shift_right<const BITS: u32>(self, a: Self::V) -> Self::V;
    /// Whether some lane of `a` or `b` is 2^52 or more.
    fn exceeds_52_bits(self, a: Self::V, b: Self::V) -> bool;
}

/// Lane indices of [`Lanes::spread`] and its reversed form.
pub const fn spread_indices<const L: usize>(s: u32, reversed: bool) -> [u32; L] {
    let mut indices = [0; L];
    let mut lane = 0;
    while lane < L {
        let word = (lane as u32) >> L.ilog2().saturating_sub(s);
        indices[lane] = if reversed { (1 << s) - 1 - word } else { word };
        lane += 1;
    }
    indices
}

/// Indices into the concatenation of two vectors of L lanes for one result of
/// [`Lanes::exchange`].
pub const fn exchange_indices<const L: usize>(bit: u32, second: bool) -> [u32; L] {
    let mut indices = [0; L];
    let mut lane = 0;
    while lane < L {
        let vector = lane >> bit & 1;
        let within = lane & !(1 << bit) | (second as usize) << bit;
        indices[lane] = (vector * L + within) as u32;
        lane += 1;
    }
    indices
}

/// Indices for one result of [`Lanes::interleave`].
pub const fn interleave_indices<const L: usize>(second: bool) -> [u32; L] {
    let mut indices = [0; L];
    let mut lane = 0;
    while lane < L {
        let element = lane + second as usize * L;
        indices[lane] = (element % 2 * L + element / 2) as u32;
        lane += 1;
    }
    indices
}

/// Indices for one result of [`Lanes::deinterleave`].
pub const fn deinterleave_indices<const L: usize>(second: bool) -> [u32; L] {
    let mut indices = [0; L];
    let mut lane = 0;
    while lane < L {
        indices[lane] = (2 * lane + second as usize) as u32;
        lane += 1;
    }
    indices
}
