//! The automorphism x -> x^k, k odd, in both domains.
//!
//! Coefficients: `x^i` becomes `x^(ik mod 2N)`, and `x^(N+j) = -x^j`.
//!
//! Evaluations: index i holds the value at `psi^(2 brv(i) + 1)`, so its new
//! value is the old one at `psi^(k (2 brv(i) + 1))`: index `brv(h)` with
//! `h = k brv(i) + (k - 1)/2 mod N`. Split i into a block number and the bits
//! of a lane: the lane's bits are the *top* bits of brv(i), so the low bits of
//! h, and with them the block that is read, depend on i's block only. Whole
//! blocks of L lanes move, permuted inside in one of L ways.
//!
//! A constant added to h changes nothing of that: see [`Automorphism::offset`].

use crate::modulus::Modulus;
use crate::twiddles::reverse_bits;
use crate::word::Word;

const LANE_BITS: u32 = 4;
const LANES: usize = 1 << LANE_BITS;

/// What an automorphism does to values: index i gets the value of index `brv(h)`,
/// `h = k brv(i) + (k - 1)/2 + offset mod N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Automorphism {
    /// The exponent: odd; a ring takes it modulo 2N.
    pub k: u32,
    /// 0 for x -> x^k on whole polynomials; a ring takes it modulo N. Others belong to parts of longer
    /// polynomials: see [`crate::parts`].
    pub offset: u32,
}

impl From<u32> for Automorphism {
    fn from(k: u32) -> Self {
        Self { k, offset: 0 }
    }
}

/// In evaluation domain, for degree `dst.len()`, a power of two, at least 16;
/// `value` gives the operand's value at an index.
pub fn evaluations<W: Word>(map: Automorphism, dst: &mut [W], value: impl Fn(usize) -> W) {
    let block_bits = dst.len().ilog2() - LANE_BITS;
    let permutations: Vec<u8> = lane_permutations(map.k, LANE_BITS)
        .map(|x| x as u8)
        .collect();
    let (permutations, _) = permutations.as_chunks::<LANES>();
    let (dst, _) = dst.as_chunks_mut::<LANES>();
    for (block, dst) in dst.iter_mut().enumerate() {
        let (from, top) = source_block(map, block, block_bits);
        for (dst, &lane) in dst.iter_mut().zip(&permutations[top % LANES]) {
            *dst = value(from * LANES + usize::from(lane));
        }
    }
}

/// The block that block number `block` of 2^`block_bits` reads, and what it
/// adds to the top bits of h.
#[inline(always)]
pub fn source_block(map: Automorphism, block: usize, block_bits: u32) -> (usize, usize) {
    let (k, offset) = (map.k as usize, map.offset as usize);
    let h = k * reverse_short(block, block_bits) + (k - 1) / 2 + offset;
    let low = h & ((1 << block_bits) - 1);
    (reverse_short(low, block_bits), h >> block_bits)
}

/// The reversal of up to 16 bits, by table: two for every block must be quick.
#[inline(always)]
fn reverse_short(x: usize, bits: u32) -> usize {
    let (low, high) = (REVERSED[x % 256], REVERSED[x / 256 % 256]);
    (usize::from(low) << 8 | usize::from(high)) >> (16 - bits)
}

/// Every byte with its bits reversed.
const REVERSED: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).reverse_bits();
        byte += 1;
    }
    table
};

/// For each addend c to the top bits of h, from 0, the lanes that are read.
pub fn lane_permutations(k: u32, lane_bits: u32) -> impl Iterator<Item = usize> {
    let lanes = 1usize << lane_bits;
    (0..lanes * lanes).map(move |at| {
        let (c, lane) = (at / lanes, at % lanes);
        let top = (c + k as usize * reverse_bits(lane, lane_bits)) % lanes;
        reverse_bits(top, lane_bits)
    })
}

/// In coefficient domain, for degree `dst.len()`, a power of two; canonical.
pub fn coefficients<W: Word>(modulus: &Modulus, k: u32, dst: &mut [W], src: &[W]) {
    let n = dst.len();
    let mut target = 0;
    for &x in src {
        let negated = W::from_u64(modulus.neg(x.to_u64()));
        dst[target & (n - 1)] = if target & n == 0 { x } else { negated };
        target = (target + k as usize) & (2 * n - 1);
    }
}
