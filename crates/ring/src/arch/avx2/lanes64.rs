//! Four 64-bit words.

use std::arch::x86_64::*;

use super::Avx2;
use crate::arch::intrinsics;
use crate::arch::vector::lanes::{Lanes, Lanes64};

const LANES: usize = 4;

impl Lanes<u64> for Avx2 {
    type V = __m256i;
    type Block = [u64; LANES];

    const LOG_LANES: u32 = 2;
    const LOG_TAIL: u32 = 2;

    #[inline(always)]
    fn blocks(words: &[u64]) -> &[[u64; LANES]] {
        words.as_chunks().0
    }

    #[inline(always)]
    fn blocks_mut(words: &mut [u64]) -> &mut [[u64; LANES]] {
        words.as_chunks_mut().0
    }

    intrinsics! {
        fn load(self, block: &[u64; LANES]) -> __m256i {
            _mm256_loadu_si256(block.as_ptr().cast())
        }
        fn store(self, block: &mut [u64; LANES], v: __m256i) {
            _mm256_storeu_si256(block.as_mut_ptr().cast(), v)
        }
        fn splat(self, word: u64) -> __m256i {
            _mm256_set1_epi64x(word as i64)
        }
        fn zero(self) -> __m256i {
            _mm256_setzero_si256()
        }
        fn add(self, a: __m256i, b: __m256i) -> __m256i {
            _mm256_add_epi64(a, b)
        }
        fn sub(self, a: __m256i, b: __m256i) -> __m256i {
            _mm256_sub_epi64(a, b)
        }
        fn sub_if_ge(self, a: __m256i, b: __m256i) -> __m256i {
            // Within the stated ranges the sign of a - b tells which is greater.
            where_negative(_mm256_sub_epi64(a, b), a, _mm256_sub_epi64(a, b))
        }
        fn sub_mod(self, a: __m256i, b: __m256i, q: __m256i) -> __m256i {
            let difference = _mm256_sub_epi64(a, b);
            where_negative(difference, _mm256_add_epi64(difference, q), difference)
        }
        fn repeat<const S: u32>(self, words: &[u64], group: usize) -> __m256i {
            match S {
                1 => {
                    let pair = &words.as_chunks::<2>().0[group];
                    _mm256_broadcastsi128_si256(_mm_loadu_si128(pair.as_ptr().cast()))
                }
                _ => {
                    let all = &words.as_chunks::<LANES>().0[group];
                    _mm256_loadu_si256(all.as_ptr().cast())
                }
            }
        }
        fn interleave(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
            halves(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b))
        }
        fn permute(self, v: __m256i, lanes: __m256i) -> __m256i {
            // Lane i of 64 bits is the lanes 2i and 2i + 1 of 32 bits.
            let even = _mm256_shuffle_epi32::<0b10_10_00_00>(_mm256_slli_epi64::<1>(lanes));
            let halves = _mm256_or_si256(even, _mm256_set1_epi64x(1 << 32));
            _mm256_permutevar8x32_epi32(v, halves)
        }
        fn deinterleave(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
            let (low, high) = halves(a, b);
            (_mm256_unpacklo_epi64(low, high), _mm256_unpackhi_epi64(low, high))
        }
        fn deinterleave_reversed(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
            (
                _mm256_permute4x64_epi64::<0b01_11_00_10>(_mm256_unpacklo_epi64(b, a)),
                _mm256_permute4x64_epi64::<0b01_11_00_10>(_mm256_unpackhi_epi64(b, a)),
            )
        }
        fn or(self, a: __m256i, b: __m256i) -> __m256i {
            _mm256_or_si256(a, b)
        }
        fn any_bit(self, a: __m256i, mask: __m256i) -> bool {
            _mm256_testz_si256(a, mask) == 0
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

impl Lanes64 for Avx2 {
    const PRODUCTS: bool = false;

    intrinsics! {
        fn mul_low(self, a: __m256i, b: __m256i) -> __m256i {
            let cross = _mm256_add_epi64(
                _mm256_mul_epu32(a, _mm256_srli_epi64::<32>(b)),
                _mm256_mul_epu32(_mm256_srli_epi64::<32>(a), b),
            );
            _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64::<32>(cross))
        }
        fn up32(self, a: __m256i) -> __m256i {
            _mm256_slli_epi64::<32>(a)
        }
    }
}

/// `negative` where the sign bit of `selector` is set, else `other`.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
unsafe fn where_negative(selector: __m256i, negative: __m256i, other: __m256i) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe {
        _mm256_castpd_si256(_mm256_blendv_pd(
            _mm256_castsi256_pd(other),
            _mm256_castsi256_pd(negative),
            _mm256_castsi256_pd(selector),
        ))
    }
}

/// The lower 128 bits of both, and the upper.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
unsafe fn halves(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    // SAFETY: the caller has AVX2.
    unsafe {
        (
            _mm256_permute2x128_si256::<0x20>(a, b),
            _mm256_permute2x128_si256::<0x31>(a, b),
        )
    }
}
