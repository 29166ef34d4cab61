//! Eight 64-bit words.

use std::arch::x86_64::*;

use super::Avx512;
use crate::arch::intrinsics;
use crate::arch::vector::lanes::{
    Ifma, Lanes, Lanes64, Widening, deinterleave_indices, interleave_indices,
};

const LANES: usize = 8;

impl<const IFMA: bool> Lanes<u64> for Avx512<IFMA> {
    type V = __m512i;
    type Block = [u64; LANES];

    const LOG_LANES: u32 = 3;
    const LOG_TAIL: u32 = 4;

    #[inline(always)]
    fn blocks(words: &[u64]) -> &[[u64; LANES]] {
        words.as_chunks().0
    }

    #[inline(always)]
    fn blocks_mut(words: &mut [u64]) -> &mut [[u64; LANES]] {
        words.as_chunks_mut().0
    }

    intrinsics! {
        fn load(self, block: &[u64; LANES]) -> __m512i {
            _mm512_loadu_si512(block.as_ptr().cast())
        }
        fn store(self, block: &mut [u64; LANES], v: __m512i) {
            _mm512_storeu_si512(block.as_mut_ptr().cast(), v)
        }
        fn splat(self, word: u64) -> __m512i {
            _mm512_set1_epi64(word as i64)
        }
        fn zero(self) -> __m512i {
            _mm512_setzero_si512()
        }
        fn add(self, a: __m512i, b: __m512i) -> __m512i {
            _mm512_add_epi64(a, b)
        }
        fn sub(self, a: __m512i, b: __m512i) -> __m512i {
            _mm512_sub_epi64(a, b)
        }
        fn sub_if_ge(self, a: __m512i, b: __m512i) -> __m512i {
            _mm512_mask_sub_epi64(a, _mm512_cmpge_epu64_mask(a, b), a, b)
        }
        fn sub_mod(self, a: __m512i, b: __m512i, q: __m512i) -> __m512i {
            let difference = _mm512_sub_epi64(a, b);
            _mm512_mask_add_epi64(difference, _mm512_cmplt_epu64_mask(a, b), difference, q)
        }
        fn repeat<const S: u32>(self, words: &[u64], group: usize) -> __m512i {
            match S {
                1 => {
                    let pair = &words.as_chunks::<2>().0[group];
                    _mm512_broadcast_i64x2(_mm_loadu_si128(pair.as_ptr().cast()))
                }
                2 => {
                    let four = &words.as_chunks::<4>().0[group];
                    _mm512_broadcast_i64x4(_mm256_loadu_si256(four.as_ptr().cast()))
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
            _mm512_permutexvar_epi64(lanes, v)
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

impl<const IFMA: bool> Lanes64 for Avx512<IFMA> {
    const PRODUCTS: bool = true;

    intrinsics! {
        fn mul_low(self, a: __m512i, b: __m512i) -> __m512i {
            _mm512_mullo_epi64(a, b)
        }
        fn up32(self, a: __m512i) -> __m512i {
            _mm512_slli_epi64::<32>(a)
        }
    }
}

impl Widening for Avx512<true> {
    type Half = [u32; LANES];

    #[inline(always)]
    fn halves(words: &[u32]) -> &[[u32; LANES]] {
        words.as_chunks().0
    }

    #[inline(always)]
    fn halves_mut(words: &mut [u32]) -> &mut [[u32; LANES]] {
        words.as_chunks_mut().0
    }

    intrinsics! {
        fn load_half(self, block: &[u32; LANES]) -> __m512i {
            widened(block)
        }
        fn store_halves(self, blocks: &mut [[u32; LANES]; 2], a: __m512i, b: __m512i) {
            let lower = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
            let both = _mm512_permutex2var_epi32(a, lower, b);
            _mm512_storeu_si512(blocks.as_mut_ptr().cast(), both)
        }
        fn load_even_odd(self, blocks: &[[u32; LANES]; 2]) -> (__m512i, __m512i) {
            let both = _mm512_loadu_si512(blocks.as_ptr().cast());
            (_mm512_maskz_mov_epi32(0x5555, both), _mm512_srli_epi64::<32>(both))
        }
        fn load_even_odd_reversed(self, blocks: &[[u32; LANES]; 2]) -> (__m512i, __m512i) {
            let both = _mm512_loadu_si512(blocks.as_ptr().cast());
            let even = _mm512_set_epi32(0, 0, 0, 2, 0, 4, 0, 6, 0, 8, 0, 10, 0, 12, 0, 14);
            let odd = _mm512_set_epi32(0, 1, 0, 3, 0, 5, 0, 7, 0, 9, 0, 11, 0, 13, 0, 15);
            (
                _mm512_maskz_permutexvar_epi32(0x5555, even, both),
                _mm512_maskz_permutexvar_epi32(0x5555, odd, both),
            )
        }
        fn store_even_odd(self, blocks: &mut [[u32; LANES]; 2], even: __m512i, odd: __m512i) {
            let both = _mm512_mask_shuffle_epi32::<0b10_10_00_00>(even, 0xaaaa, odd);
            _mm512_storeu_si512(blocks.as_mut_ptr().cast(), both)
        }
    }
}

impl Ifma for Avx512<true> {
    intrinsics! {
        fn madd_low(self, acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
            _mm512_madd52lo_epu64(acc, a, b)
        }
        fn madd_high(self, acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
            _mm512_madd52hi_epu64(acc, a, b)
        }
        fn and(self, a: __m512i, b: __m512i) -> __m512i {
            _mm512_and_si512(a, b)
        }
        fn shift_left<const BITS: u32>(self, a: __m512i) -> __m512i {
            _mm512_slli_epi64::<BITS>(a)
        }
        fn shift_right<const BITS: u32>(self, a: __m512i) -> __m512i {
            _mm512_srli_epi64::<BITS>(a)
        }
        fn shift_right_signed<const BITS: u32>(self, a: __m512i) -> __m512i {
            _mm512_srai_epi64::<BITS>(a)
        }
        fn sub_if_bit(self, a: __m512i, mask: __m512i, b: __m512i) -> __m512i {
            _mm512_mask_sub_epi64(a, _mm512_test_epi64_mask(a, mask), a, b)
        }
        fn sub_unless_bit(self, a: __m512i, mask: __m512i, b: __m512i) -> __m512i {
            _mm512_mask_sub_epi64(a, _mm512_testn_epi64_mask(a, mask), a, b)
        }
        fn add_if_bit(self, a: __m512i, mask: __m512i, b: __m512i) -> __m512i {
            _mm512_mask_add_epi64(a, _mm512_test_epi64_mask(a, mask), a, b)
        }
    }
}

/// The indices as a vector.
///
/// # Safety
/// The processor must have AVX-512 F.
#[inline(always)]
unsafe fn widened(words: &[u32; LANES]) -> __m512i {
    // SAFETY: the caller has AVX-512 F; the indices are half a vector.
    unsafe { _mm512_cvtepu32_epi64(_mm256_loadu_si256(words.as_ptr().cast())) }
}

/// Picks from the 16 words of a and b.
///
/// # Safety
/// The processor must have AVX-512 F.
#[inline(always)]
unsafe fn permute2(a: __m512i, b: __m512i, words: &[u32; LANES]) -> __m512i {
    // SAFETY: the caller has AVX-512 F.
    unsafe { _mm512_permutex2var_epi64(a, widened(words), b) }
}
