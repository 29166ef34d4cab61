//! From signed integers to residues and back.

use crate::arch::{Kernel, run_wide};
use crate::modulus::Modulus;
use crate::simd::Simd;
use crate::word::Word;

/// Integers that are checked together.
const CHUNK: usize = 64;

/// Writes `src mod q` for signed integers of any size up to 64 bits.
///
/// # Ranges
/// Fastest for `|src| <= q`; exact for all. Results canonical.
///
/// # Panics
/// If the lengths differ.
pub fn reduce_signed<W: Word, T: Copy + Into<i64>>(
    simd: Simd,
    modulus: &Modulus,
    dst: &mut [W],
    src: &[T],
) {
    assert_eq!(dst.len(), src.len(), "lengths differ");
    run_wide(simd, ReduceSigned { modulus, dst, src });
}

struct ReduceSigned<'a, W: Word, T> {
    modulus: &'a Modulus,
    dst: &'a mut [W],
    src: &'a [T],
}

impl<W: Word, T: Copy + Into<i64>> Kernel for ReduceSigned<'_, W, T> {
    #[inline(always)]
    fn run(self) {
        let chunks = self.dst.chunks_mut(CHUNK).zip(self.src.chunks(CHUNK));
        for (dst, src) in chunks {
            if !reduce_small(self.modulus.value(), dst, src) {
                for (dst, &x) in dst.iter_mut().zip(src) {
                    *dst = W::from_u64(self.modulus.from_signed(x.into()));
                }
            }
        }
    }
}

/// Adds q to negative integers; whether all results are in `[0, q)`.
#[inline(always)]
fn reduce_small<W: Word, T: Copy + Into<i64>>(q: u64, dst: &mut [W], src: &[T]) -> bool {
    let mut above = 0;
    for (dst, &x) in dst.iter_mut().zip(src) {
        let x: i64 = x.into();
        let shifted = (x as u64).wrapping_add(q & (x >> 63) as u64);
        // The top bit is set for all but [0, q): q is below 2^63.
        above |= !shifted.wrapping_sub(q) | shifted;
        *dst = W::from_u64(shifted);
    }
    above >> 63 == 0
}

/// Writes `src mod q` for signed integers of up to 128 bits.
///
/// # Panics
/// If the lengths differ.
pub fn reduce_signed_wide<W: Word>(modulus: &Modulus, dst: &mut [W], src: &[i128]) {
    assert_eq!(dst.len(), src.len(), "lengths differ");
    for (dst, &x) in dst.iter_mut().zip(src) {
        let magnitude = modulus.reduce_wide(x.unsigned_abs());
        *dst = W::from_u64(if x < 0 {
            modulus.neg(magnitude)
        } else {
            magnitude
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_integers_reduce_to_residues() {
        for q in [17u64, 65537, 4_294_967_291, (1 << 61) - 1] {
            let m = Modulus::new(q);
            let q_signed = q as i64;
            let src = [
                0,
                1,
                -1,
                q_signed - 1,
                1 - q_signed,
                q_signed,
                -q_signed,
                q_signed + 1,
                i64::MAX,
                i64::MIN,
            ];
            let mut narrow = [0u64; 10];
            let mut wide = [0u64; 10];
            reduce_signed_wide(&m, &mut wide, &src.map(i128::from));
            for simd in Simd::available() {
                reduce_signed(simd, &m, &mut narrow, &src);
                for ((x, a), b) in src.into_iter().zip(narrow).zip(wide) {
                    let expected = i128::from(x).rem_euclid(i128::from(q)) as u64;
                    assert_eq!((a, b), (expected, expected), "{x} mod {q}");
                }
                // One integer that is not small must not spoil its neighbours.
                let mut small = [0u64; 3 * CHUNK];
                let mut integers = [-1i64; 3 * CHUNK];
                integers[CHUNK + 5] = i64::MIN;
                reduce_signed(simd, &m, &mut small, &integers);
                for (at, (&word, &x)) in small.iter().zip(&integers).enumerate() {
                    assert_eq!(word, m.from_signed(x), "{at}");
                }
            }
            let mut extreme = [0u64; 2];
            reduce_signed_wide(&m, &mut extreme, &[i128::MAX, i128::MIN]);
            assert_eq!(u128::from(extreme[0]), i128::MAX as u128 % u128::from(q));
            assert_eq!(
                extreme[1],
                i128::MIN.rem_euclid(i128::from(q)) as u64,
                "-2^127 mod {q}"
            );
        }
        let mut bytes = [0u32; 3];
        reduce_signed(Simd::Scalar, &Modulus::new(97), &mut bytes, &[-1i8, 0, 1]);
        assert_eq!(bytes, [96, 0, 1]);
    }
}
