//! Four 64-bit words.

use std::arch::x86_64::*;

use super::Avx2;
use crate::arch::intrinsics;
use crate::arch::vector::lanes::{Lanes, Lanes64, spread_indices};

const LANES: usize = 4;

impl Lanes<u64> for Avx2 {
    type V = __m256i;
    type Block = [u64; LANES];

    const LOG_LANES: u32 = 2;
    const LOG_RADIX: u32 = 3;
    const LOG_TAIL: u32 = 2;

    #[inline(always)]
    fn blocks(words: &[u64]) -> &[[u64; LANES]] {
        words.as_chunks().0
    }

    #[inline(always)]
    fn blocks_mut(words: &mut [u64]) -> &mut [[u64; LANES]] {
        words.as_chunks_mut().0
    }

    #[inline(always)]
    fn block_at(words: &[u64], at: usize) -> &[u64; LANES] {
        words[at..].first_chunk().expect("a vector fits")
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
        fn spread<const S: u32>(self, block: &[u64; LANES]) -> __m256i {
            permute(_mm256_loadu_si256(block.as_ptr().cast()), &const { spread_indices(S, false) })
        }
        fn spread_reversed<const S: u32>(self, block: &[u64; LANES]) -> __m256i {
            permute(_mm256_loadu_si256(block.as_ptr().cast()), &const { spread_indices(S, true) })
        }
        fn exchange<const BIT: u32>(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
            match BIT {
                0 => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
                _ => halves(a, b),
            }
        }
        fn interleave(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
            halves(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b))
        }
        fn deinterleave(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
            let (low, high) = halves(a, b);
            (_mm256_unpacklo_epi64(low, high), _mm256_unpackhi_epi64(low, high))
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

/// Picks words.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
unsafe fn permute(a: __m256i, words: &[u32; LANES]) -> __m256i {
    let pairs: [u32; 8] = [
        2 * words[0],
        2 * words[0] + 1,
        2 * words[1],
        2 * words[1] + 1,
        2 * words[2],
        2 * words[2] + 1,
        2 * words[3],
        2 * words[3] + 1,
    ];
    // SAFETY: the caller has AVX2; the indices are a whole vector.
    unsafe { _mm256_permutevar8x32_epi32(a, _mm256_loadu_si256(pairs.as_ptr().cast())) }
}
