//! Ternary secrets.

use zeroize::{Zeroize, Zeroizing};

use crate::error::RingError;
use crate::prf::Prf;

/// `n` independent coefficients, uniform in {-1, 0, 1}.
///
/// Five coefficients come from each byte of the stream below 3^5 = 243; other
/// bytes are rejected.
pub fn ternary(prf: &mut Prf, n: usize) -> Zeroizing<Vec<i8>> {
    let mut secret = Zeroizing::new(Vec::with_capacity(n.next_multiple_of(5)));
    let mut bytes = [0u8; 256];
    while secret.len() < n {
        let wanted = (n - secret.len()).div_ceil(5).min(bytes.len());
        prf.fill(&mut bytes[..wanted]);
        for &byte in bytes[..wanted].iter().filter(|&&byte| byte < 243) {
            let trits = [1, 3, 9, 27, 81].map(|power| (byte / power % 3) as i8 - 1);
            secret.extend_from_slice(&trits);
        }
    }
    bytes.zeroize();
    secret.truncate(n);
    secret
}

/// `n` coefficients of which exactly `weight`, at uniform positions, are not
/// zero but -1 or 1 with equal probability.
///
/// # Errors
/// [`RingError::WeightTooLarge`] if `weight > n`.
pub fn ternary_sparse(
    prf: &mut Prf,
    n: usize,
    weight: usize,
) -> Result<Zeroizing<Vec<i8>>, RingError> {
    if weight > n {
        return Err(RingError::WeightTooLarge { weight, n });
    }
    // Fisher-Yates: the first `weight` entries of a uniform permutation.
    let mut positions = Zeroizing::new((0..n as u64).collect::<Vec<_>>());
    let mut secret = Zeroizing::new(vec![0i8; n]);
    for i in 0..weight {
        let j = i + prf.below((n - i) as u64) as usize;
        positions.swap(i, j);
        let sign = (prf.next_u64() & 1) as i8;
        secret[positions[i] as usize] = 2 * sign - 1;
    }
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prf::{Seed, stream};

    fn prf(number: u64) -> Prf {
        stream(&Seed::for_test(number), "ternary", &[])
    }

    #[test]
    fn dense_secrets_are_uniform() {
        let secret = ternary(&mut prf(1), 90_000);
        assert_eq!(secret.len(), 90_000);
        // Pairs of neighbours: 9 cells of 5,000; chi-square of 8 degrees of
        // freedom exceeds 35 with probability 3e-5.
        let mut counts = [0f64; 9];
        for pair in secret.chunks_exact(2) {
            counts[((pair[0] + 1) * 3 + pair[1] + 1) as usize] += 1.0;
        }
        let chi: f64 = counts.iter().map(|c| (c - 5000.0).powi(2) / 5000.0).sum();
        assert!(chi < 35.0, "chi-square {chi}");
    }

    #[test]
    fn dense_secrets_have_any_length() {
        for n in [0, 1, 4, 5, 6, 1024] {
            assert_eq!(ternary(&mut prf(2), n).len(), n);
        }
    }

    #[test]
    fn sparse_secrets_have_the_weight() {
        for weight in [0, 1, 64, 256] {
            let secret = ternary_sparse(&mut prf(3), 256, weight).expect("fits");
            assert_eq!(secret.iter().filter(|&&x| x != 0).count(), weight);
            assert!(secret.iter().all(|x| (-1..=1).contains(x)));
        }
        assert_eq!(
            ternary_sparse(&mut prf(3), 16, 17),
            Err(RingError::WeightTooLarge { weight: 17, n: 16 })
        );
    }

    #[test]
    fn sparse_positions_and_signs_are_uniform() {
        let (mut hits, mut signs) = ([0f64; 16], 0i64);
        let mut prf = prf(4);
        for _ in 0..4000 {
            let secret = ternary_sparse(&mut prf, 16, 4).expect("fits");
            for (hit, &x) in hits.iter_mut().zip(secret.iter()) {
                *hit += f64::from(x.abs());
                signs += i64::from(x);
            }
        }
        // Counts: mean 1000, deviation 27; signs: mean 0, deviation 126.
        assert!(hits.iter().all(|h| (h - 1000.0).abs() < 137.0), "{hits:?}");
        assert!(signs.abs() < 632, "{signs}");
    }
}
