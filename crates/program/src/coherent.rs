//! Errors that come again.
//!
//! A digit of Listing 1 is not centred, so its error is the hint's error times the
//! polynomial q/2 (1 + x + ...), whatever the ciphertext, plus something independent.
//! Two ciphertexts that are switched by one hint have that error in common, and the
//! amplitudes of their sum add up, not the variances.
//!
//! What is tracked are the amplitudes of such errors (standard deviations, of the worst
//! slot) by the hint and the automorphism that followed it: in one slot, a hint's errors
//! before and after an automorphism are its errors at two different roots, which are
//! independent of each other. They are part of the variance that is tracked beside them;
//! only the cross terms of sums come from here.

/// Terms of one ciphertext; beyond it those of a hint that has many are joined.
const TERMS: usize = 1 << 14;
/// Terms of a hint that are then kept apart.
const FEW: usize = 1 << 8;
/// Stands for all automorphisms.
const ANY: u32 = 0;

/// The hint of relinearization; that of an automorphism is its exponent.
pub(crate) const RELINEARIZATION: u32 = 0;

/// A hint and the automorphism after it, an odd exponent or [`ANY`].
type Key = (u32, u32);

/// Amplitudes of coherent errors, by hint and automorphism, in that order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Coherent(Vec<(Key, f64)>);

impl Coherent {
    /// The error of one switch.
    pub(crate) fn of(hint: u32, amplitude: f64) -> Self {
        Coherent(vec![((hint, 1), amplitude)])
    }

    /// Scaled by a factor, of either sign.
    pub(crate) fn scaled(mut self, factor: f64) -> Self {
        for (_, amplitude) in &mut self.0 {
            *amplitude *= factor.abs();
        }
        self
    }

    /// After x -> x^k in a ring of degree n.
    pub(crate) fn moved(mut self, k: u32, n: u32) -> Self {
        let two_n = 2 * u64::from(n);
        for ((_, exponent), _) in &mut self.0 {
            if *exponent != ANY {
                let product = u64::from(*exponent) * u64::from(k) % two_n;
                // Conjugate roots have conjugate errors.
                *exponent = product.min(two_n - product) as u32;
            }
        }
        self.0.sort_unstable_by_key(|&(key, _)| key);
        // A conjugate may have met its twin.
        self.0.dedup_by(|(key, amplitude), (before, sum)| {
            let same = key == before;
            if same {
                *sum += *amplitude;
            }
            same
        });
        self
    }

    /// The sum's errors.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let mut sum = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut left, mut right) = (&self.0[..], &other.0[..]);
        while let (Some((a, x)), Some((b, y))) = (left.first(), right.first()) {
            sum.push(match a.cmp(b) {
                std::cmp::Ordering::Less => (*a, *x),
                std::cmp::Ordering::Greater => (*b, *y),
                std::cmp::Ordering::Equal => (*a, x + y),
            });
            left = &left[usize::from(a <= b)..];
            right = &right[usize::from(b <= a)..];
        }
        sum.extend_from_slice(left);
        sum.extend_from_slice(right);
        Coherent(sum).joined()
    }

    /// Joins the terms of hints that have many, or that were joined.
    fn joined(self) -> Self {
        let is_large = self.0.len() > TERMS;
        let mut joined = Vec::with_capacity(self.0.len());
        for terms in self.0.chunk_by(|(a, _), (b, _)| a.0 == b.0) {
            let (key, amplitude) = terms[0];
            if key.1 == ANY {
                joined.push((key, amplitude + norm(&terms[1..])));
            } else if is_large && terms.len() > FEW {
                joined.push(((terms[0].0.0, ANY), norm(terms)));
            } else {
                joined.extend_from_slice(terms);
            }
        }
        Coherent(joined)
    }

    /// What a sum's variance is more than the sum of the variances.
    pub(crate) fn cross(&self, other: &Self) -> f64 {
        let mut cross = 0.0;
        let mut right = &other.0[..];
        for left in self.0.chunk_by(|(a, _), (b, _)| a.0 == b.0) {
            let hint = left[0].0.0;
            right = &right[right.partition_point(|(key, _)| key.0 < hint)..];
            let found = &right[..right.partition_point(|(key, _)| key.0 == hint)];
            cross += products(left, found);
        }
        2.0 * cross
    }
}

/// The sum of squares' root.
fn norm(terms: &[(Key, f64)]) -> f64 {
    terms.iter().map(|(_, x)| x * x).sum::<f64>().sqrt()
}

/// The sum of the products of equal terms; at most that, by Cauchy and Schwarz, where
/// a term stands for many.
fn products(left: &[(Key, f64)], right: &[(Key, f64)]) -> f64 {
    let joined = |terms: &[(Key, f64)]| terms.first().is_some_and(|(key, _)| key.1 == ANY);
    if joined(left) || joined(right) {
        return norm(left) * norm(right);
    }
    let find = |(key, x): &(Key, f64)| {
        let place = right.binary_search_by_key(key, |&(key, _)| key).ok()?;
        Some(x * right[place].1)
    };
    left.iter().filter_map(find).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_hints_add_amplitudes() {
        let (a, b) = (Coherent::of(5, 3.0), Coherent::of(5, 4.0));
        assert!((a.cross(&b) - 24.0).abs() < 1e-12);
        assert_eq!(a.plus(&b), Coherent::of(5, 7.0));
        let other = Coherent::of(25, 4.0);
        assert!(a.cross(&other).abs() < 1e-12);
        // The same hint seen at another root, and at the conjugate one.
        assert!(a.cross(&b.clone().moved(5, 1024)).abs() < 1e-12);
        assert!((a.cross(&b.moved(2047, 1024)) - 24.0).abs() < 1e-12);
    }

    /// Joined terms give no smaller cross terms than terms that are kept apart.
    #[test]
    fn joining_is_an_upper_bound() {
        let terms = |count: u32, amplitude: f64| {
            let term = |k| ((5, 2 * k + 1), amplitude);
            Coherent((0..count).map(term).collect())
        };
        let many = TERMS as u32 + 1;
        let (whole, part) = (terms(many, 2.0), terms(100, 3.0));
        let joined = whole.clone().joined();
        assert_eq!(joined.0.len(), 1);
        for other in [&part, &whole, &joined] {
            assert!(joined.cross(other) >= whole.cross(other) - 1e-6);
            assert!(other.cross(&joined) >= other.cross(&whole) - 1e-6);
        }
        let sum = joined.plus(&part);
        assert!(norm(&sum.0) <= norm(&joined.0) + norm(&part.0) + 1e-9);
        assert!(sum.cross(&part) >= whole.plus(&part).cross(&part) - 1e-6);
    }
}
