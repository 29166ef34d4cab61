//! Back ends: one folder per instruction set, one file per operation.
//!
//! A [`Backend`] serves one prime. It owns the prime's tables in the form its
//! kernels want. Every kernel returns canonical residues, and residues are
//! unique, so back ends agree bit for bit although their intermediate ranges
//! differ. [`scalar`] is the definition; a back end overrides the kernels that
//! it does faster and inherits the others.

pub mod scalar;

use crate::modulus::Modulus;
use crate::simd::Simd;
use crate::word::Word;

/// Kernels modulo one prime q.
///
/// All slices of one call have equal lengths (the caller has checked), the
/// ring degree for the transforms. *Any word* means any value of `W`;
/// *canonical* means in `[0, q)`. All results are canonical.
pub trait Backend<W: Word>: Send + Sync {
    /// The name of the kernel set, for reports and tests.
    fn name(&self) -> &'static str;

    /// The prime.
    fn modulus(&self) -> &Modulus;

    /// Coefficient to evaluation domain in place; any words.
    fn ntt(&self, data: &mut [W]);

    /// Evaluation to coefficient domain in place; canonical.
    fn intt(&self, data: &mut [W]);

    /// `a + b`; canonical.
    fn add(&self, dst: &mut [W], a: &[W], b: &[W]) {
        scalar::elementwise::add(self.modulus(), dst, a, b);
    }

    /// `a - b`; canonical.
    fn sub(&self, dst: &mut [W], a: &[W], b: &[W]) {
        scalar::elementwise::sub(self.modulus(), dst, a, b);
    }

    /// `-a`; canonical.
    fn neg(&self, dst: &mut [W], a: &[W]) {
        scalar::elementwise::neg(self.modulus(), dst, a);
    }

    /// `a + c`; canonical.
    fn add_c(&self, dst: &mut [W], a: &[W], c: u64) {
        scalar::elementwise::add_c(self.modulus(), dst, a, c);
    }

    /// `a b`; any words.
    fn mul(&self, dst: &mut [W], a: &[W], b: &[W]) {
        scalar::elementwise::mul(self.modulus(), dst, a, b);
    }

    /// `a c`; a any words, c canonical.
    fn mul_c(&self, dst: &mut [W], a: &[W], c: u64) {
        scalar::elementwise::mul_c(self.modulus(), dst, a, c);
    }

    /// `acc + a b`; acc canonical, a and b any words.
    fn mac(&self, dst: &mut [W], acc: &[W], a: &[W], b: &[W]) {
        scalar::elementwise::mac(self.modulus(), dst, acc, a, b);
    }

    /// `(a - b) c`; canonical.
    fn sub_mul_c(&self, dst: &mut [W], a: &[W], b: &[W], c: u64) {
        scalar::elementwise::sub_mul_c(self.modulus(), dst, a, b, c);
    }

    /// The sum of the products of all pairs; any words.
    fn dot(&self, dst: &mut [W], pairs: &[(&[W], &[W])]) {
        scalar::inner_product::dot(self.modulus(), dst, pairs);
    }

    /// `sum_i srcs[i] constants[i]` over the words from index `at` on, as many
    /// as `dst` has; sources any words, constants canonical.
    fn dot_constants(&self, dst: &mut [W], srcs: &[&[W]], at: usize, constants: &[u64]) {
        scalar::inner_product::dot_constants(self.modulus(), dst, srcs, at, constants);
    }
}

/// Whether the 256-bit kernels run here.
pub fn has_avx2() -> bool {
    false
}

/// Whether the 512-bit kernels run here.
pub fn has_avx512() -> bool {
    false
}

/// The fastest back end for 32-bit words.
pub fn backend_u32(_simd: Simd, modulus: Modulus, log_n: u32) -> Box<dyn Backend<u32>> {
    Box::new(scalar::Scalar::new(modulus, log_n))
}

/// The fastest back end for 64-bit words.
pub fn backend_u64(_simd: Simd, modulus: Modulus, log_n: u32) -> Box<dyn Backend<u64>> {
    Box::new(scalar::Scalar::new(modulus, log_n))
}
