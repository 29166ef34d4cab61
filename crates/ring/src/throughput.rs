//! How many multiplications a processor does, and how fast it reads memory: work
//! to be timed, as the limits that kernels are compared with.

use std::hint::black_box;

use crate::arch::{Kernel, run_wide};
#[cfg(target_arch = "x86_64")]
use crate::arch::{
    avx2::Avx2,
    avx512::Avx512,
    vector::lanes::{Ifma, Isa, Lanes32},
};
use crate::simd::Simd;

/// A multiplication that kernels are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiply {
    /// A vector of 52-bit words, half of the product added to a vector.
    Words52,
    /// A vector of 32-bit words to 64-bit products.
    Words32,
    /// One 64-bit word to a 128-bit product.
    Single64,
}

/// Chains of multiplications that wait for their predecessors only: more than
/// latency times throughput of any processor, few enough for 16 registers.
const CHAINS: usize = 12;

/// Length of each chain: a few milliseconds.
const LENGTH: usize = 1 << 20;

/// Does a few milliseconds of multiplications on the caller's thread, as the
/// kernels of `simd` do them, from registers to registers; returns their
/// number, vectors counted once. 0 if the processor or the family has none.
#[must_use]
pub fn multiplications(simd: Simd, kind: Multiply) -> u64 {
    let done = match kind {
        Multiply::Single64 => {
            single();
            true
        }
        Multiply::Words32 | Multiply::Words52 => vectors(simd, kind),
    };
    if done { (CHAINS * LENGTH) as u64 } else { 0 }
}

/// Reads all words, as wide as the registers of `simd` are; returns their sum
/// modulo 2^64.
#[must_use]
pub fn sum_words(simd: Simd, words: &[u64]) -> u64 {
    let mut sum = 0;
    run_wide(simd, Sum(words, &mut sum));
    sum
}

/// Independent sums over four parts of the words at once, so that neither
/// additions nor a single stream of prefetches are waited for.
struct Sum<'a>(&'a [u64], &'a mut u64);

impl Kernel for Sum<'_> {
    #[inline(always)]
    fn run(self) {
        const WORDS: usize = 16;
        let quarter = self.0.len() / 4 / WORDS * WORDS;
        let (parts, rest) = self.0.split_at(4 * quarter);
        let mut parts = parts.chunks_exact(quarter.max(1));
        let mut next = || parts.next().unwrap_or_default().as_chunks::<WORDS>().0;
        let (a, b, c, d) = (next(), next(), next(), next());
        let mut sums = [[0u64; WORDS]; 4];
        for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
            for lane in 0..WORDS {
                sums[0][lane] = sums[0][lane].wrapping_add(a[lane]);
                sums[1][lane] = sums[1][lane].wrapping_add(b[lane]);
                sums[2][lane] = sums[2][lane].wrapping_add(c[lane]);
                sums[3][lane] = sums[3][lane].wrapping_add(d[lane]);
            }
        }
        let all = sums.as_flattened().iter().chain(rest);
        *self.1 = all.fold(0, |sum, word| sum.wrapping_add(*word));
    }
}

fn single() {
    let factor = black_box(0x9e37_79b9_7f4a_7c15_u64);
    let mut words = [black_box(3_u64); CHAINS];
    for _ in 0..LENGTH {
        for word in &mut words {
            let product = u128::from(*word) * u128::from(factor);
            *word = (product >> 64) as u64 ^ product as u64;
        }
    }
    black_box(words);
}

#[cfg(target_arch = "x86_64")]
fn vectors(simd: Simd, kind: Multiply) -> bool {
    let wide = simd == Simd::Avx512;
    match kind {
        Multiply::Words52 if wide => Avx512::<true>::new()
            .map(|isa| isa.run(Chains52(isa)))
            .is_some(),
        Multiply::Words32 if wide => Avx512::<false>::new()
            .map(|isa| isa.run(Chains32(isa)))
            .is_some(),
        Multiply::Words32 if simd == Simd::Avx2 => {
            Avx2::new().map(|isa| isa.run(Chains32(isa))).is_some()
        }
        _ => false,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn vectors(_: Simd, _: Multiply) -> bool {
    false
}

/// Chains of 52-bit multiply-adds.
#[cfg(target_arch = "x86_64")]
struct Chains52<I>(I);

#[cfg(target_arch = "x86_64")]
impl<I: Ifma> Kernel for Chains52<I> {
    #[inline(always)]
    fn run(self) {
        let factor = self.0.splat(black_box(0x000a_7c15_9e37_79b9));
        let mut vectors = [self.0.splat(black_box(3)); CHAINS];
        for _ in 0..LENGTH {
            for vector in &mut vectors {
                *vector = self.0.madd_low(*vector, *vector, factor);
            }
        }
        black_box(vectors);
    }
}

/// Chains of 32-bit products.
#[cfg(target_arch = "x86_64")]
struct Chains32<I>(I);

#[cfg(target_arch = "x86_64")]
impl<I: Lanes32> Kernel for Chains32<I> {
    #[inline(always)]
    fn run(self) {
        let factor = self.0.splat(black_box(0x7f4a_7c15));
        let mut vectors = [self.0.splat(black_box(3)); CHAINS];
        for _ in 0..LENGTH {
            for vector in &mut vectors {
                *vector = self.0.mul_low32_low(*vector, factor);
            }
        }
        black_box(vectors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_every_word_once() {
        for len in [0, 1, 63, 64, 65, 1000] {
            let words: Vec<u64> = (0..len).map(|i| i * i + 1).collect();
            for simd in Simd::available() {
                assert_eq!(sum_words(simd, &words), words.iter().sum::<u64>());
            }
        }
    }

    #[test]
    fn counts_what_the_family_has() {
        let count = (CHAINS * LENGTH) as u64;
        assert_eq!(multiplications(Simd::Scalar, Multiply::Single64), count);
        assert_eq!(multiplications(Simd::Scalar, Multiply::Words32), 0);
        for simd in Simd::available().into_iter().skip(1) {
            assert_eq!(multiplications(simd, Multiply::Words32), count);
        }
        assert_eq!(multiplications(Simd::Avx2, Multiply::Words52), 0);
    }
}
