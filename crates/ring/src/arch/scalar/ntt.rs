//! Negacyclic transforms, every intermediate value canonical.
//!
//! Forward: Cooley-Tukey butterflies `(x, y) -> (x + w y, x - w y)`. The stage
//! with m groups splits each group of N/m values modulo `X^(N/m) - w^2` into
//! two modulo `X^(N/2m) -+ w`, w the twiddle m + i of group i; after log2 N
//! stages index i holds the value at the root `psi^(2 brv(i) + 1)`.
//!
//! Inverse: the same stages backwards with Gentleman-Sande butterflies
//! `(x, y) -> (x + y, (x - y) / w)`; the division by N is left to the caller. It
//! reads the same table: `1 / w[m + i] = -w[2m - 1 - i]`.
//!
//! # References
//! Longa and Naehrig, "Speeding up the Number Theoretic Transform for Faster
//! Ideal Lattice-Based Cryptography", CANS 2016.

use crate::arch::scalar::Factor;
use crate::modulus::Modulus;
use crate::twiddles::Twiddles;
use crate::word::Word;

/// Coefficient to evaluation domain; canonical in and out.
pub fn forward<W: Word>(modulus: &Modulus, twiddles: &Twiddles<W>, data: &mut [W]) {
    let mut groups = 1;
    while groups < data.len() {
        let half = data.len() / groups / 2;
        for (i, group) in data.chunks_exact_mut(2 * half).enumerate() {
            let (w, companion) = twiddles.get(groups + i);
            let factor = Factor::with_companion(w, companion);
            let (low, high) = group.split_at_mut(half);
            for (x, y) in low.iter_mut().zip(high) {
                let product = factor.mul(modulus, *y);
                let even = x.to_u64();
                *x = W::from_u64(modulus.add(even, product));
                *y = W::from_u64(modulus.sub(even, product));
            }
        }
        groups *= 2;
    }
}

/// Evaluation to coefficient domain, times N; canonical in and out.
pub fn inverse<W: Word>(modulus: &Modulus, twiddles: &Twiddles<W>, data: &mut [W]) {
    let mut groups = data.len() / 2;
    while groups >= 1 {
        let half = data.len() / groups / 2;
        for (i, group) in data.chunks_exact_mut(2 * half).enumerate() {
            let (w, companion) = twiddles.get(2 * groups - 1 - i);
            let factor = Factor::with_companion(w, companion);
            let (low, high) = group.split_at_mut(half);
            for (x, y) in low.iter_mut().zip(high) {
                let (a, b) = (x.to_u64(), y.to_u64());
                *x = W::from_u64(modulus.add(a, b));
                // The sign of 1 / w is folded into the difference.
                *y = W::from_u64(factor.mul(modulus, W::from_u64(modulus.sub(b, a))));
            }
        }
        groups /= 2;
    }
}
