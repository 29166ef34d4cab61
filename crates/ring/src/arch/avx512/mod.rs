//! 512-bit vectors: 16 words of 32 bits or 8 of 64.

pub mod key_stream;
mod lanes32;
mod lanes64;

use super::vector::lanes::Isa;
use super::{Kernel, align_stack};

/// Proof that the processor has AVX-512 F, BW, DQ and VL, and IFMA if `IFMA`.
#[derive(Debug, Clone, Copy)]
pub struct Avx512<const IFMA: bool>(());

impl Avx512<false> {
    /// The token, if the processor has the instructions.
    pub fn new() -> Option<Self> {
        let available = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        available.then_some(Self(()))
    }
}

impl Avx512<true> {
    /// The token, if the processor has the instructions.
    pub fn new() -> Option<Self> {
        let base = Avx512::<false>::new().is_some();
        (base && is_x86_feature_detected!("avx512ifma")).then_some(Self(()))
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn run_base<K: Kernel>(kernel: K) {
    align_stack();
    kernel.run();
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
fn run_ifma<K: Kernel>(kernel: K) {
    align_stack();
    kernel.run();
}

impl<const IFMA: bool> Isa for Avx512<IFMA> {
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        if IFMA {
            // SAFETY: the token proves that the processor has these instructions.
            unsafe { run_ifma(kernel) }
        } else {
            // SAFETY: the token proves that the processor has these instructions.
            unsafe { run_base(kernel) }
        }
    }
}
