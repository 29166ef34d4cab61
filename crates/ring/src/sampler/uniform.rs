//! Uniform residues.

use zeroize::Zeroize;

use crate::prf::Prf;
use crate::word::Word;

/// Bytes drawn at a time, at most.
const CHUNK_BYTES: usize = 4096;

/// Fills `dst` with uniform residues in `[0, q)`, by rejection: candidates of
/// the bit length of q - 1, from the low bits of 4 bytes of the stream for
/// `q <= 2^32`, else of 8.
///
/// # Panics
/// If q is 0 or does not fit the word.
pub fn uniform<W: Word>(prf: &mut Prf, q: u64, dst: &mut [W]) {
    assert!(q > 0, "there is no residue modulo 0");
    assert!(
        q - 1 <= u64::MAX >> (64 - W::BITS),
        "residues modulo {q} need wider words"
    );
    if q - 1 <= u64::from(u32::MAX) {
        fill::<W, 4>(prf, q, dst);
    } else {
        fill::<W, 8>(prf, q, dst);
    }
}

fn fill<W: Word, const BYTES: usize>(prf: &mut Prf, q: u64, dst: &mut [W]) {
    let mask = u64::MAX.checked_shr((q - 1).leading_zeros()).unwrap_or(0);
    let mut chunk = [0u8; CHUNK_BYTES];
    let mut filled = 0;
    while filled < dst.len() {
        let wanted = (dst.len() - filled).min(CHUNK_BYTES / BYTES);
        let bytes = &mut chunk[..wanted * BYTES];
        prf.fill(bytes);
        // `filled` stays in range: at most `wanted` candidates are accepted.
        for candidate in bytes.as_chunks::<BYTES>().0 {
            let mut wide = [0; 8];
            wide[..BYTES].copy_from_slice(candidate);
            let candidate = u64::from_le_bytes(wide) & mask;
            dst[filled.min(dst.len() - 1)] = W::from_u64(candidate);
            filled += usize::from(candidate < q);
        }
    }
    chunk.zeroize();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prf::{Seed, stream};

    fn draw<W: Word>(q: u64, len: usize, seed: u64) -> Vec<W> {
        let mut dst = vec![W::default(); len];
        uniform(
            &mut stream(&Seed::for_test(seed), "uniform", &[q]),
            q,
            &mut dst,
        );
        dst
    }

    /// Chi-square over every residue; 5 standard deviations.
    #[test]
    fn small_moduli_are_unbiased() {
        for q in [2u64, 3, 17, 97, 193, 257] {
            let draws = 400 * q as usize;
            let mut counts = vec![0f64; q as usize];
            for x in draw::<u32>(q, draws, 1) {
                counts[x as usize] += 1.0;
            }
            let chi: f64 = counts.iter().map(|c| (c - 400.0).powi(2) / 400.0).sum();
            let freedom = (q - 1) as f64;
            assert!(
                (chi - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(),
                "{q}: {chi}"
            );
        }
    }

    /// The mean of residues tells modulo reduction from rejection: for
    /// q = 3/4 2^32 reducing 32 bits would lower it by a twelfth.
    #[test]
    fn large_moduli_are_unbiased() {
        for q in [(3u64 << 30) + 1, 4_294_967_291, (1 << 61) - 1, 3 << 59] {
            let sum: f64 = draw::<u64>(q, 40_000, 2)
                .into_iter()
                .map(|x| {
                    assert!(x < q);
                    x as f64 / q as f64
                })
                .sum();
            // The mean has standard deviation 1 / sqrt(12 * 40,000) = 0.00144.
            assert!((sum / 40_000.0 - 0.5).abs() < 0.0072, "{q}");
        }
    }

    #[test]
    fn words_do_not_matter() {
        let narrow = draw::<u32>(4_294_967_291, 5000, 3);
        let wide = draw::<u64>(4_294_967_291, 5000, 3);
        assert!(narrow.iter().zip(&wide).all(|(&a, &b)| u64::from(a) == b));
    }

    #[test]
    fn exact_powers_of_two_and_one_work() {
        assert!(draw::<u32>(1, 100, 4).iter().all(|&x| x == 0));
        assert!(draw::<u32>(1 << 32, 100, 4).iter().any(|&x| x > 1 << 31));
        assert!(draw::<u32>(4, 0, 4).is_empty());
    }
}
