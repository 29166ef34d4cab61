//! Primes of a congruence class, and roots of unity modulo them.
//!
//! The NTT of degree N needs primes = 1 mod 2N. All searches walk one
//! congruence class downwards, upwards or outwards and test each candidate.

use crate::modulus::Modulus;

/// Whether `x` is prime: Miller-Rabin with the first twelve primes as bases,
/// which decides every integer below 3.3 * 10^24.
///
/// # References
/// Sorenson and Webster, "Strong pseudoprimes to twelve prime bases", Math. Comp. 86 (2017).
#[must_use]
pub fn is_prime(x: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if x < 2 {
        return false;
    }
    if let Some(&p) = BASES.iter().find(|&&p| x.is_multiple_of(p)) {
        return x == p;
    }
    let twos = (x - 1).trailing_zeros();
    let odd = (x - 1) >> twos;
    BASES
        .into_iter()
        .all(|base| is_probable_prime(x, base, odd, twos))
}

/// One round of Miller-Rabin for odd `x = odd 2^twos + 1`.
fn is_probable_prime(x: u64, base: u64, odd: u64, twos: u32) -> bool {
    let mul = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(x)) as u64;
    let mut y = 1;
    for bit in (0..u64::BITS - odd.leading_zeros()).rev() {
        y = mul(y, y);
        if odd >> bit & 1 == 1 {
            y = mul(y, base);
        }
    }
    if y == 1 || y == x - 1 {
        return true;
    }
    (1..twos).any(|_| {
        y = mul(y, y);
        y == x - 1
    })
}

/// The `count` largest primes `p < below` with `p = 1 mod step`, descending;
/// fewer if the class has fewer.
///
/// # Panics
/// If `step` is 0.
#[must_use]
pub fn ntt_primes(below: u64, step: u64, count: usize) -> Vec<u64> {
    class_downwards(below, step)
        .filter(|&p| is_prime(p))
        .take(count)
        .collect()
}

/// The prime `p = 1 mod step`, `p < below`, `p` not in `exclude`, nearest to
/// `target`; of two equally near ones the smaller. `None` if there is none.
///
/// # Panics
/// If `step` is 0 or `target` is not a finite number.
#[must_use]
pub fn nearest_prime(target: f64, step: u64, below: u64, exclude: &[u64]) -> Option<u64> {
    assert!(target.is_finite(), "target {target} is not a number");
    let wanted = |p: &u64| !exclude.contains(p) && is_prime(*p);
    // Casting saturates; every candidate up to `floor` is at most `target`.
    let floor = (target as u64).min(below.saturating_sub(1));
    let lower = class_downwards(floor.saturating_add(1), step).find(wanted);
    let upper = class_upwards(floor, step, below).find(wanted);
    match (lower, upper) {
        (Some(low), Some(high)) => {
            let nearer_low = distance(low, target) <= distance(high, target);
            Some(if nearer_low { low } else { high })
        }
        (low, high) => low.or(high),
    }
}

/// `|p - target|`, exact in the integer part of the target.
fn distance(p: u64, target: f64) -> f64 {
    let whole = target.trunc();
    let difference = i128::from(p) - whole as i128;
    (difference as f64 - (target - whole)).abs()
}

/// The integers `x = 1 mod step`, `1 < x < below`, descending.
fn class_downwards(below: u64, step: u64) -> impl Iterator<Item = u64> {
    assert!(step > 0, "congruence step is 0");
    let steps = below.saturating_sub(2) / step;
    (1..=steps).rev().map(move |k| k * step + 1)
}

/// The integers `x = 1 mod step`, `above < x < below`, ascending.
fn class_upwards(above: u64, step: u64, below: u64) -> impl Iterator<Item = u64> {
    assert!(step > 0, "congruence step is 0");
    let first = if above == 0 { 0 } else { (above - 1) / step } + 1;
    (first..=below.saturating_sub(2) / step).map(move |k| k * step + 1)
}

/// The least primitive `order`-th root of unity modulo the prime q; `order` a
/// power of two, at least 2, dividing q - 1.
///
/// # Cost
/// About `order / 2` multiplications.
///
/// # Panics
/// If `order` is not such a power of two.
#[must_use]
pub fn least_primitive_root(modulus: &Modulus, order: u64) -> u64 {
    let q = modulus.value();
    assert!(
        order.is_power_of_two() && order >= 2 && (q - 1).is_multiple_of(order),
        "{order} does not divide {q} - 1"
    );
    let root = (2..q)
        .map(|x| modulus.pow(x, (q - 1) / order))
        .find(|&root| modulus.pow(root, order / 2) == q - 1)
        .unwrap_or(q - 1);
    // The primitive roots are the odd powers of any one of them.
    let square = modulus.mul(root, root);
    let odd_powers = std::iter::successors(Some(root), |&power| Some(modulus.mul(power, square)));
    odd_powers.take((order / 2) as usize).min().unwrap_or(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primality_matches_a_sieve() {
        const LIMIT: usize = 100_000;
        let mut composite = vec![false; LIMIT];
        for p in 2..LIMIT {
            if !composite[p] {
                (p * p..LIMIT).step_by(p).for_each(|m| composite[m] = true);
            }
            assert_eq!(is_prime(p as u64), !composite[p], "{p}");
        }
        assert!(!is_prime(0) && !is_prime(1));
    }

    #[test]
    fn primality_of_known_large_numbers() {
        // Mersenne prime; largest primes below 2^64, 2^50 and 2^32; strong
        // pseudoprimes to the bases 2..23 and 2..37's neighbours; squares.
        for p in [
            (1 << 61) - 1,
            18_446_744_073_709_551_557,
            (1 << 50) - 27,
            4_294_967_291,
        ] {
            assert!(is_prime(p), "{p}");
        }
        for c in [
            3_825_123_056_546_413_051,
            3_215_031_751,
            341_550_071_728_321,
            4_294_967_291 * 4_294_967_291,
            u64::MAX,
        ] {
            assert!(!is_prime(c), "{c}");
        }
    }

    #[test]
    fn class_primes_descend_below_the_bound() {
        let primes = ntt_primes(1 << 32, 1 << 16, 20);
        assert_eq!(primes.len(), 20);
        assert!(primes.is_sorted_by(|a, b| a > b));
        assert!(primes.iter().all(|p| p % (1 << 16) == 1 && is_prime(*p)));
        let all = ntt_primes(1 << 20, 1 << 12, usize::MAX);
        let expected = (0..1u64 << 20)
            .rev()
            .filter(|p| p % 4096 == 1 && is_prime(*p));
        assert_eq!(all, expected.collect::<Vec<_>>());
        assert_eq!(ntt_primes(97, 32, 5), Vec::<u64>::new());
        assert_eq!(ntt_primes(98, 32, 5), vec![97]);
        assert!(ntt_primes(1 << 61, 1 << 18, 3)[0] > (1 << 60));
    }

    #[test]
    fn nearest_prime_is_nearest() {
        let step = 64;
        let class = ntt_primes(100_000, step, usize::MAX);
        for target in [
            0.0, 1.0, 193.0, 192.9, 5000.25, 54_321.0, 99_999.0, 1e9, -5.0,
        ] {
            for exclude in [&[][..], &class[10..250]] {
                let best = class
                    .iter()
                    .copied()
                    .filter(|p| !exclude.contains(p))
                    .min_by(|&a, &b| {
                        (distance(a, target), a)
                            .partial_cmp(&(distance(b, target), b))
                            .expect("finite")
                    });
                assert_eq!(
                    nearest_prime(target, step, 100_000, exclude),
                    best,
                    "{target}"
                );
            }
        }
        assert_eq!(nearest_prime(10.0, 32, 97, &[]), None);
    }

    #[test]
    fn roots_are_least_and_primitive() {
        for (q, order) in [
            (97u64, 32u64),
            (257, 256),
            (65537, 1 << 10),
            (3, 2),
            (12289, 2),
        ] {
            let m = Modulus::new(q);
            let expected = (1..q)
                .find(|&x| m.pow(x, order / 2) == q - 1)
                .expect("a root exists");
            assert_eq!(least_primitive_root(&m, order), expected, "{order} mod {q}");
        }
    }
}
