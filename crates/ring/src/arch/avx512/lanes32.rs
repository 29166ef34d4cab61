//! Sixteen 32-bit words.

use std::arch::x86_64::*;

use super::Avx512;
use crate::arch::intrinsics;
use crate::arch::vector::lanes::{
    Lanes, Lanes32, deinterleave_indices, exchange_indices, interleave_indices, spread_indices,
};

const LANES: usize = 16;

#[inline(always)]
fn indices(words: &[u32; LANES]) -> *const __m512i {
    words.as_ptr().cast()
}

impl<const IFMA: bool> Lanes<u32> for Avx512<IFMA> {
    type V = __m512i;
    type Block = [u32; LANES];

    const LOG_LANES: u32 = 4;
    const LOG_RADIX: u32 = 4;
    const LOG_TAIL: u32 = 3;

    #[inline(always)]
    fn blocks(words: &[u32]) -> &[[u32; LANES]] {
        words.as_chunks().0
    }

    #[inline(always)]
    fn blocks_mut(words: &mut [u32]) -> &mut [[u32; LANES]] {
        words.as_chunks_mut().0
    }

    #[inline(always)]
    fn block_at(words: &[u32], at: usize) -> &[u32; LANES] {
        words[at..].first_chunk().expect("a vector fits")
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
        fn spread<const S: u32>(self, block: &[u32; LANES]) -> __m512i {
            _mm512_permutexvar_epi32(
                _mm512_loadu_si512(indices(&const { spread_indices(S, false) })),
                _mm512_loadu_si512(block.as_ptr().cast()),
            )
        }
        fn spread_reversed<const S: u32>(self, block: &[u32; LANES]) -> __m512i {
            _mm512_permutexvar_epi32(
                _mm512_loadu_si512(indices(&const { spread_indices(S, true) })),
                _mm512_loadu_si512(block.as_ptr().cast()),
            )
        }
        fn exchange<const BIT: u32>(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
            (
                permute2(a, b, &const { exchange_indices(BIT, false) }),
                permute2(a, b, &const { exchange_indices(BIT, true) }),
            )
        }
        fn interleave(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
            (
                permute2(a, b, &const { interleave_indices(false) }),
                permute2(a, b, &const { interleave_indices(true) }),
            )
        }
        fn deinterleave(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
            (
                permute2(a, b, &const { deinterleave_indices(false) }),
                permute2(a, b, &const { deinterleave_indices(true) }),
            )
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
    intrinsics! {
        fn upper(self, even: __m512i, odd: __m512i) -> __m512i {
            _mm512_mask_shuffle_epi32::<0b11_11_01_01>(odd, 0x5555, even)
        }
        fn lower(self, even: __m512i, odd: __m512i) -> __m512i {
            _mm512_mask_shuffle_epi32::<0b10_10_00_00>(even, 0xaaaa, odd)
        }
        fn add64(self, a: __m512i, b: __m512i) -> __m512i {
            _mm512_add_epi64(a, b)
        }
    }
}

/// Picks from the 32 words of a and b.
///
/// # Safety
/// The processor must have AVX-512 F.
#[inline(always)]
unsafe fn permute2(a: __m512i, b: __m512i, words: &[u32; LANES]) -> __m512i {
    // SAFETY: the caller has AVX-512 F; the indices are a whole vector.
    unsafe { _mm512_permutex2var_epi32(a, _mm512_loadu_si512(indices(words)), b) }
}
