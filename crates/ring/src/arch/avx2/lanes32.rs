//! Eight 32-bit words.

use std::arch::x86_64::*;

use super::Avx2;
use crate::arch::intrinsics;
use crate::arch::vector::lanes::{Lanes, Lanes32, spread_indices};

const LANES: usize = 8;

#[inline(always)]
fn indices(words: &[u32; LANES]) -> *const __m256i {
    words.as_ptr().cast()
}

impl Lanes<u32> for Avx2 {
    type V = __m256i;
    type Block = [u32; LANES];

    const LOG_LANES: u32 = 3;
    const LOG_RADIX: u32 = 3;
    const LOG_TAIL: u32 = 2;

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
        fn load(self, block: &[u32; LANES]) -> __m256i {
            _mm256_loadu_si256(block.as_ptr().cast())
        }
        fn store(self, block: &mut [u32; LANES], v: __m256i) {
            _mm256_storeu_si256(block.as_mut_ptr().cast(), v)
        }
        fn splat(self, word: u32) -> __m256i {
            _mm256_set1_epi32(word as i32)
        }
        fn add(self, a: __m256i, b: __m256i) -> __m256i {
            _mm256_add_epi32(a, b)
        }
        fn sub(self, a: __m256i, b: __m256i) -> __m256i {
            _mm256_sub_epi32(a, b)
        }
        fn sub_if_ge(self, a: __m256i, b: __m256i) -> __m256i {
            // a - b wraps to more than a exactly where a < b.
            _mm256_min_epu32(a, _mm256_sub_epi32(a, b))
        }
        fn sub_mod(self, a: __m256i, b: __m256i, q: __m256i) -> __m256i {
            let at_least = _mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a);
            _mm256_add_epi32(_mm256_sub_epi32(a, b), _mm256_andnot_si256(at_least, q))
        }
        fn spread<const S: u32>(self, block: &[u32; LANES]) -> __m256i {
            _mm256_permutevar8x32_epi32(
                _mm256_loadu_si256(block.as_ptr().cast()),
                _mm256_loadu_si256(indices(&const { spread_indices(S, false) })),
            )
        }
        fn spread_reversed<const S: u32>(self, block: &[u32; LANES]) -> __m256i {
            _mm256_permutevar8x32_epi32(
                _mm256_loadu_si256(block.as_ptr().cast()),
                _mm256_loadu_si256(indices(&const { spread_indices(S, true) })),
            )
        }
        fn exchange<const BIT: u32>(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
            match BIT {
                0 => (
                    _mm256_blend_epi32::<0b1010_1010>(a, _mm256_slli_epi64::<32>(b)),
                    _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(a), b),
                ),
                1 => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
                _ => (
                    _mm256_permute2x128_si256::<0x20>(a, b),
                    _mm256_permute2x128_si256::<0x31>(a, b),
                ),
            }
        }
        fn interleave(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
            interleave_within_halves(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b))
        }
        fn deinterleave(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
            even_and_odd(
                _mm256_permute2x128_si256::<0x20>(a, b),
                _mm256_permute2x128_si256::<0x31>(a, b),
            )
        }
        fn mul_low32(self, a: __m256i, b: __m256i) -> __m256i {
            _mm256_mul_epu32(a, b)
        }
        fn high32(self, a: __m256i) -> __m256i {
            _mm256_srli_epi64::<32>(a)
        }
        fn low32(self, a: __m256i) -> __m256i {
            _mm256_blend_epi32::<0b1010_1010>(a, _mm256_setzero_si256())
        }
    }
}

impl Lanes32 for Avx2 {
    intrinsics! {
        fn upper(self, even: __m256i, odd: __m256i) -> __m256i {
            _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(even), odd)
        }
        fn lower(self, even: __m256i, odd: __m256i) -> __m256i {
            _mm256_blend_epi32::<0b1010_1010>(even, _mm256_slli_epi64::<32>(odd))
        }
        fn add64(self, a: __m256i, b: __m256i) -> __m256i {
            _mm256_add_epi64(a, b)
        }
    }
}

/// Brings halves interleaved within 128 bits into order.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
unsafe fn interleave_within_halves(low: __m256i, high: __m256i) -> (__m256i, __m256i) {
    // SAFETY: the caller has AVX2.
    unsafe {
        (
            _mm256_permute2x128_si256::<0x20>(low, high),
            _mm256_permute2x128_si256::<0x31>(low, high),
        )
    }
}

/// The even and the odd words, where `low` and `high` hold the lower and upper
/// four words of each 128 bits.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
unsafe fn even_and_odd(low: __m256i, high: __m256i) -> (__m256i, __m256i) {
    // SAFETY: the caller has AVX2.
    unsafe {
        let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
        (
            _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high)),
            _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(low, high)),
        )
    }
}
