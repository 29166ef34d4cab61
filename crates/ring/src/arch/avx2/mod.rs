//! 256-bit vectors: 8 words of 32 bits or 4 of 64.
//!
//! AVX2 multiplies 32-bit integers only: a lower 64-bit product is put
//! together from three of them, an upper one from four. For 64-bit words that
//! beats scalar code where a factor is known beforehand (transforms, products
//! by constants) and in sums; products of two vectors, and automorphisms on
//! four lanes at a time, run the scalar code.

mod lanes32;
mod lanes64;

use super::vector::lanes::Isa;
use super::{Kernel, align_stack};

/// Proof that the processor has AVX2.
#[derive(Debug, Clone, Copy)]
pub struct Avx2(());

impl Avx2 {
    /// The token, if the processor has the instructions.
    pub fn new() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

#[target_feature(enable = "avx2")]
fn run_avx2<K: Kernel>(kernel: K) {
    align_stack();
    kernel.run();
}

impl Isa for Avx2 {
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        // SAFETY: the token proves that the processor has these instructions.
        unsafe { run_avx2(kernel) }
    }
}
