//! What the kernels need of an instruction set.

use crate::arch::Kernel;
use crate::word::Word;

/// A token of an instruction set: that one exists proves that the processor
/// has the instructions.
pub trait Isa: Copy + Send + Sync + 'static {
    /// Runs a kernel compiled for the instruction set.
    fn run<K: Kernel>(self, kernel: K);
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
    /// log2 of the vectors that an NTT's last pass holds in registers: 2 or 4.
    const LOG_TAIL: u32;

    /// The words as whole vectors.
    fn blocks(words: &[W]) -> &[Self::Block];
    /// The words as whole vectors.
    fn blocks_mut(words: &mut [W]) -> &mut [Self::Block];
    /// Reads a vector.
    fn load(self, block: &Self::Block) -> Self::V;
    /// Writes a vector.
    fn store(self, block: &mut Self::Block, v: Self::V);
    /// All lanes equal.
    fn splat(self, word: W) -> Self::V;
    /// All lanes zero.
    fn zero(self) -> Self::V;

    /// `a + b`.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a - b`.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a - b` where `a >= b`, else a; needs `b <= 2^(BITS-1)` and `a < b + 2^(BITS-1)`
    /// for 64-bit words, nothing for 32-bit words.
    fn sub_if_ge(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a - b` where `a >= b`, else `a - b + q`; 64-bit words below 2^63.
    fn sub_mod(self, a: Self::V, b: Self::V, q: Self::V) -> Self::V;

    /// Lane i holds word `i mod 2^S` of the group's 2^S words: those from index `group 2^S` on.
    fn repeat<const S: u32>(self, words: &[W], group: usize) -> Self::V;
    /// `a_0 b_0 a_1 b_1 ...` over both results.
    fn interleave(self, a: Self::V, b: Self::V) -> (Self::V, Self::V);
    /// Lane i holds lane `lanes[i]` of `v`.
    fn permute(self, v: Self::V, lanes: Self::V) -> Self::V;
    /// The inverse of [`Lanes::interleave`].
    fn deinterleave(self, a: Self::V, b: Self::V) -> (Self::V, Self::V);
    /// The same with the lanes of both results in reverse order.
    fn deinterleave_reversed(self, a: Self::V, b: Self::V) -> (Self::V, Self::V);

    /// Bitwise or.
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    /// Whether some lane has a bit of `mask`.
    fn any_bit(self, a: Self::V, mask: Self::V) -> bool;

    /// The 64-bit products of the lower 32 bits of each 64 bits.
    fn mul_low32(self, a: Self::V, b: Self::V) -> Self::V;
    /// Each 64 bits shifted right by 32.
    fn high32(self, a: Self::V) -> Self::V;
    /// The lower 32 bits of each 64 bits.
    fn low32(self, a: Self::V) -> Self::V;
}

/// Sums of 64-bit products of 32-bit words, for even and for odd lanes: of their
/// upper halves, and of their lower halves times 2^[`Lanes32::LOWER_SHIFT`].
#[derive(Clone, Copy)]
pub struct HalfSums<V> {
    /// Sums of the upper halves.
    pub upper: [V; 2],
    /// Sums of the lower halves, scaled.
    pub lower: [V; 2],
}

/// Vectors of 32-bit words, also seen as 64-bit pairs.
pub trait Lanes32: Lanes<u32> {
    /// See [`HalfSums`].
    const LOWER_SHIFT: u32 = 0;

    /// From pairs: the upper halves, even lanes from `even`, odd lanes from `odd`.
    fn upper(self, even: Self::V, odd: Self::V) -> Self::V;
    /// All pairs equal.
    fn splat64(self, pair: u64) -> Self::V;
    /// Sum of pairs as 64-bit integers.
    fn add64(self, a: Self::V, b: Self::V) -> Self::V;
    /// Difference of pairs as 64-bit integers.
    fn sub64(self, a: Self::V, b: Self::V) -> Self::V;
    /// Pairs shifted right by `BITS`.
    fn shift_right<const BITS: u32>(self, a: Self::V) -> Self::V;
    /// The same as [`Lanes::mul_low32`], for products of which only the lower 32 bits are used:
    /// hidden from the compiler, which would take a slower 64-bit multiplication instead.
    fn mul_low32_low(self, a: Self::V, b: Self::V) -> Self::V;
    /// The lower 32 bits of the products.
    fn mul_low(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a + b`, minus q where the addition carries.
    fn add_carry_mod(self, a: Self::V, b: Self::V, q: Self::V) -> Self::V;

    /// Adds the products `a b`; at most 2^12 fit.
    #[inline(always)]
    fn accumulate(self, sums: HalfSums<Self::V>, a: Self::V, b: Self::V) -> HalfSums<Self::V> {
        let odd = self.mul_low32(self.high32(a), self.high32(b));
        add_products(self, sums, self.mul_low32(a, b), odd)
    }

    /// Adds the products `a c`, given pairs `c 2^LOWER_SHIFT`; at most 2^12 fit.
    #[inline(always)]
    fn accumulate_constant(
        self,
        sums: HalfSums<Self::V>,
        a: Self::V,
        c: Self::V,
    ) -> HalfSums<Self::V> {
        let odd = self.mul_low32(self.high32(a), c);
        add_products(self, sums, self.mul_low32(a, c), odd)
    }
}

/// Adds the halves of products, unscaled.
#[inline(always)]
pub fn add_products<L: Lanes32>(
    isa: L,
    sums: HalfSums<L::V>,
    even: L::V,
    odd: L::V,
) -> HalfSums<L::V> {
    HalfSums {
        upper: [
            isa.add64(sums.upper[0], isa.high32(even)),
            isa.add64(sums.upper[1], isa.high32(odd)),
        ],
        lower: [
            isa.add64(sums.lower[0], isa.low32(even)),
            isa.add64(sums.lower[1], isa.low32(odd)),
        ],
    }
}

/// Vectors of 64-bit words.
pub trait Lanes64: Lanes<u64> {
    /// Whether products of two vectors are faster than scalar ones.
    const PRODUCTS: bool;

    /// The lower 64 bits of the products.
    fn mul_low(self, a: Self::V, b: Self::V) -> Self::V;
    /// Each word shifted left by 32.
    fn up32(self, a: Self::V) -> Self::V;
}

/// Vectors of 64-bit words, filled from 32-bit words. `Half` words are as many
/// as there are lanes.
pub trait Widening: Lanes<u64> {
    /// The words of a vector in 32-bit memory.
    type Half: Copy;

    /// The words as whole vectors.
    fn halves(words: &[u32]) -> &[Self::Half];
    /// The words as whole vectors.
    fn halves_mut(words: &mut [u32]) -> &mut [Self::Half];
    /// Reads a vector.
    fn load_half(self, block: &Self::Half) -> Self::V;
    /// Writes the lower 32 bits of two vectors.
    fn store_halves(self, blocks: &mut [Self::Half; 2], a: Self::V, b: Self::V);
    /// Reads the words of even and of odd index.
    fn load_even_odd(self, blocks: &[Self::Half; 2]) -> (Self::V, Self::V);
    /// The same with the lanes of both results in reverse order.
    fn load_even_odd_reversed(self, blocks: &[Self::Half; 2]) -> (Self::V, Self::V);
    /// The inverse of [`Widening::load_even_odd`], for words below 2^32.
    fn store_even_odd(self, blocks: &mut [Self::Half; 2], even: Self::V, odd: Self::V);
}

/// Products of 52-bit integers (of which each operand's upper 12 bits are ignored).
pub trait Ifma: Lanes<u64> {
    /// `acc` plus the lower 52 bits of `a b`.
    fn madd_low(self, acc: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// `acc` plus the upper 52 bits of `a b`.
    fn madd_high(self, acc: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise and.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a << BITS`.
    fn shift_left<const BITS: u32>(self, a: Self::V) -> Self::V;
    /// `a >> BITS`.
    fn shift_right<const BITS: u32>(self, a: Self::V) -> Self::V;
    /// `a >> BITS` as a signed integer, rounded down.
    fn shift_right_signed<const BITS: u32>(self, a: Self::V) -> Self::V;
    /// `a - b` where a has a bit of `mask`, else a.
    fn sub_if_bit(self, a: Self::V, mask: Self::V, b: Self::V) -> Self::V;
    /// `a - b` where a has no bit of `mask`, else a.
    fn sub_unless_bit(self, a: Self::V, mask: Self::V, b: Self::V) -> Self::V;
    /// `a + b` where a has a bit of `mask`, else a.
    fn add_if_bit(self, a: Self::V, mask: Self::V, b: Self::V) -> Self::V;
}

/// Indices into the concatenation of two vectors of L lanes for one result of
/// [`Lanes::interleave`].
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

/// Indices for one result of [`Lanes::deinterleave`] or its reversed form.
pub const fn deinterleave_indices<const L: usize>(second: bool, reversed: bool) -> [u32; L] {
    let mut indices = [0; L];
    let mut lane = 0;
    while lane < L {
        let pair = if reversed { L - 1 - lane } else { lane };
        indices[lane] = (2 * pair + second as usize) as u32;
        lane += 1;
    }
    indices
}
