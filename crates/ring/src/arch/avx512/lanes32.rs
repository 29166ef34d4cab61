//! Sixteen 32-bit words.

use std::arch::x86_64::*;

use super::Avx512;
use crate::arch::intrinsics;
use crate::arch::vector::lanes::{
    HalfSums, Lanes, Lanes32, add_products, deinterleave_indices, interleave_indices,
};

const LANES: usize = 16;

impl<const IFMA: bool> Lanes<u32> for Avx512<IFMA> {
    type V = __m512i;
    type Block = [u32; LANES];

    const LOG_LANES: u32 = 4;
    const LOG_TAIL: u32 = 4;

    #[inline(always)]
    fn blocks(words: &[u32]) -> &[[u32; LANES]] {
        words.as_chunks().0
    }

    #[inline(always)]
    fn blocks_mut(words: &mut [u32]) -> &mut [[u32; LANES]] {
        words.as_chunks_mut().0
    }

    intrinsics! {
        fn load(self, block: &[u32; LANES]) -> __m512i {
            _mm512_loadu_si512(block.as_ptr().cast())
        }
        fn store(self, block: &mut [u32; LANES], v: __m512i) {
            _mm512_storeu_si512(block.as_mut_ptr().cast(), v)
        }
        fn splat(self, word: u32) -> __m512i {
            _mm512_set1_epi32(word as i32)
        }
        fn zero(self) -> __m512i {
            _mm512_setzero_si512()
        }
        fn add(self, a: __m512i, b: __m512i) -> __m512i {
            _mm512_add_epi32(a, b)
        }
        fn sub(self, a: __m512i, b: __m512i) -> __m512i {
            _mm512_sub_epi32(a, b)
        }
        fn sub_if_ge(self, a: __m512i, b: __m512i) -> __m512i {
            // a - b wraps to more than a exactly where a < b.
            _mm512_min_epu32(a, _mm512_sub_epi32(a, b))
        }
        fn sub_mod(self, a: __m512i, b: __m512i, q: __m512i) -> __m512i {
            let difference = _mm512_sub_epi32(a, b);
            _mm512_mask_add_epi32(difference, _mm512_cmplt_epu32_mask(a, b), difference, q)
        }
        fn repeat<const S: u32>(self, words: &[u32], group: usize) -> __m512i {
            match S {
                1 => {
                    let pair = &words.as_chunks::<2>().0[group];
                    _mm512_broadcastq_epi64(_mm_loadl_epi64(pair.as_ptr().cast()))
                }
                2 => {
                    let four = &words.as_chunks::<4>().0[group];
                    _mm512_broadcast_i32x4(_mm_loadu_si128(four.as_ptr().cast()))
                }
                3 => {
                    let eight = &words.as_chunks::<8>().0[group];
                    _mm512_broadcast_i32x8(_mm256_loadu_si256(eight.as_ptr().cast()))
                }
                _ => {
                    let all = &words.as_chunks::<LANES>().0[group];
                    _mm512_loadu_si512(all.as_ptr().cast())
                }
            }
        }
        fn interleave(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
            (
                permute2(a, b, &const { interleave_indices(false) }),
                permute2(a, b, &const { interleave_indices(true) }),
            )
        }
        fn permute(self, v: __m512i, lanes: __m512i) -> __m512i {
            _mm512_permutexvar_epi32(lanes, v)
        }
        fn deinterleave(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
            (
                permute2(a, b, &const { deinterleave_indices(false, false) }),
                permute2(a, b, &const { deinterleave_indices(true, false) }),
            )
        }
        fn deinterleave_reversed(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
            (
                permute2(a, b, &const { deinterleave_indices(false, true) }),
                permute2(a, b, &const { deinterleave_indices(true, true) }),
            )
        }
        fn or(self, a: __m512i, b: __m512i) -> __m512i {
            _mm512_or_si512(a, b)
        }
        fn any_bit(self, a: __m512i, mask: __m512i) -> bool {
            _mm512_test_epi64_mask(a, mask) != 0
        }
        fn mul_low32(self, a: __m512i, b: __m512i) -> __m512i {
            _mm512_mul_epu32(a, b)
        }
        fn high32(self, a: __m512i) -> __m512i {
            _mm512_srli_epi64::<32>(a)
        }
        fn low32(self, a: __m512i) -> __m512i {
            _mm512_maskz_mov_epi32(0x5555, a)
        }
    }
}

impl<const IFMA: bool> Lanes32 for Avx512<IFMA> {
    /// With IFMA, a factor times 2^20 puts the halves of a product into the halves that the
    /// instructions split at.
    const LOWER_SHIFT: u32 = if IFMA { 20 } else { 0 };

    intrinsics! {
        fn upper(self, even: __m512i, odd: __m512i) -> __m512i {
            _mm512_mask_shuffle_epi32::<0b11_11_01_01>(odd, 0x5555, even)
        }
        fn splat64(self, pair: u64) -> __m512i {
            _mm512_set1_epi64(pair as i64)
        }
        fn add64(self, a: __m512i, b: __m512i) -> __m512i {
            _mm512_add_epi64(a, b)
        }
        fn sub64(self, a: __m512i, b: __m512i) -> __m512i {
            _mm512_sub_epi64(a, b)
        }
        fn shift_right<const BITS: u32>(self, a: __m512i) -> __m512i {
            _mm512_srli_epi64::<BITS>(a)
        }
        fn mul_low32_low(self, a: __m512i, b: __m512i) -> __m512i {
            mul_epu32_opaque(a, b)
        }
        fn mul_low(self, a: __m512i, b: __m512i) -> __m512i {
            _mm512_mullo_epi32(a, b)
        }
        fn add_carry_mod(self, a: __m512i, b: __m512i, q: __m512i) -> __m512i {
            let sum = _mm512_add_epi32(a, b);
            _mm512_mask_sub_epi32(sum, _mm512_cmplt_epu32_mask(sum, b), sum, q)
        }
        fn accumulate(self, sums: Sums, a: __m512i, b: __m512i) -> Sums {
            if IFMA {
                // Bits 52 and above of a factor are ignored.
                let scaled_odd = _mm512_andnot_si512(
                    _mm512_set1_epi64((1 << 20) - 1),
                    _mm512_srli_epi64::<12>(b),
                );
                let sums = madd(sums, 0, _mm512_maskz_mov_epi32(0x5555, a), _mm512_slli_epi64::<20>(b));
                madd(sums, 1, _mm512_srli_epi64::<32>(a), scaled_odd)
            } else {
                let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
                add_products(self, sums, _mm512_mul_epu32(a, b), odd)
            }
        }
        fn accumulate_constant(self, sums: Sums, a: __m512i, c: __m512i) -> Sums {
            if IFMA {
                let sums = madd(sums, 0, _mm512_maskz_mov_epi32(0x5555, a), c);
                madd(sums, 1, _mm512_srli_epi64::<32>(a), c)
            } else {
                let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(a), c);
                add_products(self, sums, _mm512_mul_epu32(a, c), odd)
            }
        }
    }
}

type Sums = HalfSums<__m512i>;

/// Adds the halves of 52-bit products to the sums of even (0) or odd (1) lanes.
///
/// # Safety
/// The processor must have AVX-512 IFMA.
#[inline(always)]
unsafe fn madd(mut sums: Sums, odd: usize, a: __m512i, b: __m512i) -> Sums {
    // SAFETY: the caller has AVX-512 IFMA.
    unsafe {
        sums.upper[odd] = _mm512_madd52hi_epu64(sums.upper[odd], a, b);
        sums.lower[odd] = _mm512_madd52lo_epu64(sums.lower[odd], a, b);
    }
    sums
}

/// Picks from the 32 words of a and b.
///
/// # Safety
/// The processor must have AVX-512 F.
#[inline(always)]
unsafe fn permute2(a: __m512i, b: __m512i, words: &[u32; LANES]) -> __m512i {
    // SAFETY: the caller has AVX-512 F; the indices are a whole vector.
    unsafe { _mm512_permutex2var_epi32(a, _mm512_loadu_si512(words.as_ptr().cast()), b) }
}

/// `_mm512_mul_epu32`, which the compiler may not rewrite.
#[inline]
#[target_feature(enable = "avx512f")]
fn mul_epu32_opaque(a: __m512i, b: __m512i) -> __m512i {
    let product;
    // SAFETY: the instruction reads and writes the registers named, nothing else.
    unsafe {
        std::arch::asm!(
            "vpmuludq {product}, {a}, {b}",
            product = lateout(zmm_reg) product,
            a = in(zmm_reg) a,
            b = in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    product
}
