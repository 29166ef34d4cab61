//! The automorphism x -> x^k, k odd, in both domains.
//!
//! Coefficients: `x^i` becomes `x^(ik mod 2N)`, and `x^(N+j) = -x^j`.
//!
//! Evaluations: index i holds the value at `psi^(2 brv(i) + 1)`, so its new
//! value is the old one at `psi^(k (2 brv(i) + 1))`: index `brv(h)` with
//! `h = k brv(i) + (k - 1)/2 mod N`. Split i into a block number and four bits
//! of lane: the lane's bits are the *top* bits of brv(i), so the low bits of h,
//! and with them the block that is read, depend on i's block only. Whole
//! blocks of 16 move, permuted inside in one of 16 ways.

use crate::modulus::Modulus;
use crate::twiddles::reverse_bits;
use crate::word::Word;

const LANE_BITS: u32 = 4;
const LANES: usize = 1 << LANE_BITS;

/// In evaluation domain, for degree `dst.len()`, a power of two, at least 16.
pub fn evaluations<W: Word>(k: u32, dst: &mut [W], src: &[W]) {
    let block_bits = dst.len().ilog2() - LANE_BITS;
    let k = k as usize;
    let lanes = lane_permutations(k);
    let (src, _) = src.as_chunks::<LANES>();
    let (dst, _) = dst.as_chunks_mut::<LANES>();
    for (block, dst) in dst.iter_mut().enumerate() {
        let h = k * reverse_bits(block, block_bits) + (k - 1) / 2;
        let low = h & ((1 << block_bits) - 1);
        let permutation = &lanes[(h >> block_bits) % LANES];
        let src = &src[reverse_bits(low, block_bits)];
        for (dst, &lane) in dst.iter_mut().zip(permutation) {
            *dst = src[usize::from(lane) % LANES];
        }
    }
}

/// Entry `[c][lane]`: the lane that is read where the block contributes c to
/// the top four bits of h.
fn lane_permutations(k: usize) -> [[u8; LANES]; LANES] {
    std::array::from_fn(|c| {
        std::array::from_fn(|lane| {
            let top = (c + k * reverse_bits(lane, LANE_BITS)) % LANES;
            reverse_bits(top, LANE_BITS) as u8
        })
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
