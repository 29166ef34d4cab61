//! Sums of products, reduced once.
//!
//! Products of words are summed in 128 bits. 32-bit words never overflow them.
//! Of 64-bit words up to 2^6 products of 61-bit residues fit; when a sum
//! overflows (larger words, or more terms) it is reduced and the addition
//! repeated: `q - 1 + (2^64 - 1)^2 < 2^128`.

use crate::arch::Pair;
use crate::modulus::Modulus;
use crate::word::Word;

/// The sum of the products of all pairs; any words.
pub fn dot<W: Word>(modulus: &Modulus, dst: &mut [W], pairs: &[Pair<'_, W>]) {
    for (index, dst) in dst.iter_mut().enumerate() {
        let products = pairs
            .iter()
            .map(|(a, b)| u128::from(a[index].to_u64()) * u128::from(b[index].to_u64()));
        *dst = W::from_u64(sum(modulus, products));
    }
}

/// `sum_i srcs[i] constants[i]`; sources any words, constants canonical.
pub fn dot_constants<W: Word>(modulus: &Modulus, dst: &mut [W], srcs: &[&[W]], constants: &[u64]) {
    for (index, dst) in dst.iter_mut().enumerate() {
        let products = srcs
            .iter()
            .zip(constants)
            .map(|(src, &c)| u128::from(src[index].to_u64()) * u128::from(c));
        *dst = W::from_u64(sum(modulus, products));
    }
}

#[inline(always)]
fn sum(modulus: &Modulus, products: impl Iterator<Item = u128>) -> u64 {
    let total = products.fold(0u128, |sum, product| {
        sum.checked_add(product)
            .unwrap_or_else(|| u128::from(modulus.reduce_wide(sum)) + product)
    });
    modulus.reduce_wide(total)
}
