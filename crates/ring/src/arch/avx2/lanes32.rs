//! Eight 32-bit words.

use std::arch::x86_64::*;

use super::Avx2;
use crate::arch::intrinsics;
use crate::arch::vector::lanes::{Lanes, Lanes32};

const LANES: usize = 8;

impl Lanes<u32> for Avx2 {
    type V = __m256i;
    type Block = [u32; LANES];

    const LOG_LANES: u32 = 3;
    const LOG_TAIL: u32 = 2;

    #[inline(always)]
    fn blocks(words: &[u32]) -> &[[u32; LANES]] {
        words.as_chunks().0
    }

    #[inline(always)]
    fn blocks_mut(words: &mut [u32]) -> &mut [[u32; LANES]] {
        words.as_chunks_mut().0
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
        fn zero(self) -> __m256i {
            _mm256_setzero_si256()
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
        fn repeat<const S: u32>(self, words: &[u32], group: usize) -> __m256i {
            match S {
                1 => {
                    let pair = &words.as_chunks::<2>().0[group];
                    _mm256_broadcastq_epi64(_mm_loadl_epi64(pair.as_ptr().cast()))
                }
                2 => {
                    let four = &words.as_chunks::<4>().0[group];
                    _mm256_broadcastsi128_si256(_mm_loadu_si128(four.as_ptr().cast()))
                }
                _ => {
                    let all = &words.as_chunks::<LANES>().0[group];
                    _mm256_loadu_si256(all.as_ptr().cast())
                }
            }
        }
        fn interleave(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
            interleave_within_halves(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b))
        }
        fn permute(self, v: __m256i, lanes: __m256i) -> __m256i {
            _mm256_permutevar8x32_epi32(v, lanes)
        }
        fn deinterleave(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
            even_and_odd(
                _mm256_permute2x128_si256::<0x20>(a, b),
                _mm256_permute2x128_si256::<0x31>(a, b),
            )
        }
        fn deinterleave_reversed(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
            // Swapping the halves of both reverses the halves of the results.
            let (even, odd) = even_and_odd(
                _mm256_permute2x128_si256::<0x02>(a, b),
                _mm256_permute2x128_si256::<0x13>(a, b),
            );
            (
                _mm256_shuffle_epi32::<0b00_01_10_11>(even),
                _mm256_shuffle_epi32::<0b00_01_10_11>(odd),
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

impl Lanes32 for Avx2 {
    intrinsics! {
        fn upper(self, even: __m256i, odd: __m256i) -> __m256i {
            _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(even), odd)
        }
        fn splat64(self, pair: u64) -> __m256i {
            _mm256_set1_epi64x(pair as i64)
        }
        fn add64(self, a: __m256i, b: __m256i) -> __m256i {
            _mm256_add_epi64(a, b)
        }
        fn sub64(self, a: __m256i, b: __m256i) -> __m256i {
            _mm256_sub_epi64(a, b)
        }
        fn shift_right<const BITS: u32>(self, a: __m256i) -> __m256i {
            _mm256_srl_epi64(a, _mm_cvtsi32_si128(BITS as i32))
        }
        fn mul_low32_low(self, a: __m256i, b: __m256i) -> __m256i {
            mul_epu32_opaque(a, b)
        }
        fn mul_low(self, a: __m256i, b: __m256i) -> __m256i {
            _mm256_mullo_epi32(a, b)
        }
        fn add_carry_mod(self, a: __m256i, b: __m256i, q: __m256i) -> __m256i {
            let sum = _mm256_add_epi32(a, b);
            let no_carry = _mm256_cmpeq_epi32(_mm256_max_epu32(sum, b), sum);
            _mm256_sub_epi32(sum, _mm256_andnot_si256(no_carry, q))
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

/// `_mm256_mul_epu32`, which the compiler may not rewrite.
#[inline]
#[target_feature(enable = "avx2")]
fn mul_epu32_opaque(a: __m256i, b: __m256i) -> __m256i {
    if cfg!(miri) {
        // Miri interprets no assembly.
        return _mm256_mul_epu32(a, b);
    }
    let product;
    // SAFETY: the instruction reads and writes the registers named, nothing else.
    unsafe {
        std::arch::asm!(
            "vpmuludq {product}, {a}, {b}",
            product = lateout(ymm_reg) product,
            a = in(ymm_reg) a,
            b = in(ymm_reg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    product
}
