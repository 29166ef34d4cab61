//! Back ends: one folder per instruction set, one file per operation.
//!
//! A [`Backend`] serves one prime. It owns the prime's tables in the form its
//! kernels want. Every kernel returns canonical residues, and residues are
//! unique, so back ends agree bit for bit although their intermediate ranges
//! differ. [`scalar`] is the definition; a back end overrides the kernels that
//! it does faster and inherits the others.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
pub mod scalar;
#[cfg(target_arch = "x86_64")]
pub mod vector;

use crate::automorphism::{self, Automorphism};
use crate::modulus::Modulus;
use crate::simd::Simd;
use crate::twiddles::Root;
use crate::word::Word;

/// Two limbs whose product is a term of an inner product.
pub type Pair<'a, W> = (&'a [W], &'a [W]);

/// What an NTT does to each coefficient before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NttEntry {
    /// Added to each coefficient: any integer; 0 costs nothing.
    pub add_c: u64,
}

/// What an NTT does to each value after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NttExit<'a, W> {
    /// Nothing: canonical values.
    #[default]
    Canonical,
    /// `(minuend - value) c`, index by index.
    SubMulC {
        /// N canonical words.
        minuend: &'a [W],
        /// Any integer.
        c: u64,
    },
}

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

    /// Coefficient to evaluation domain, from `src` or in place; any words.
    /// Constants and the minuend are canonical.
    fn ntt_with(&self, dst: &mut [W], src: Option<&[W]>, entry: NttEntry, exit: NttExit<'_, W>);

    /// `mul_c` times the coefficients of the values, plus `add_c` each, from
    /// `src` or in place; all canonical.
    fn intt_with(&self, dst: &mut [W], src: Option<&[W]>, mul_c: u64, add_c: u64);

    /// Coefficient to evaluation domain, from `src` or in place; any words.
    fn ntt(&self, dst: &mut [W], src: Option<&[W]>) {
        self.ntt_with(dst, src, NttEntry::default(), NttExit::Canonical);
    }

    /// Evaluation to coefficient domain, from `src` or in place; canonical.
    fn intt(&self, dst: &mut [W], src: Option<&[W]>) {
        self.intt_with(dst, src, 1, 0);
    }

    /// `a + b`; canonical.
    fn add(&self, dst: &mut [W], a: &[W], b: &[W]) {
        scalar::elementwise::add(self.modulus(), dst, a, b);
    }

    /// `dst + a`, in place; canonical.
    fn add_in_place(&self, dst: &mut [W], a: &[W]) {
        scalar::elementwise::add_in_place(self.modulus(), dst, a);
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

    /// `acc - a b`; acc canonical, a and b any words.
    fn msub(&self, dst: &mut [W], acc: &[W], a: &[W], b: &[W]) {
        scalar::elementwise::msub(self.modulus(), dst, acc, a, b);
    }

    /// `(a - b) c`; canonical.
    fn sub_mul_c(&self, dst: &mut [W], a: &[W], b: &[W], c: u64) {
        scalar::elementwise::sub_mul_c(self.modulus(), dst, a, b, c);
    }

    /// The sum of the products of all pairs; any words.
    fn dot(&self, dst: &mut [W], pairs: &[Pair<'_, W>]) {
        scalar::inner_product::dot(self.modulus(), dst, pairs);
    }

    /// Any integer c in the form in which [`Backend::dot_constants`] takes it.
    fn prepare(&self, c: u64) -> u64 {
        self.modulus().reduce(c)
    }

    /// `sum_i srcs[i] constants[i]`, constants as prepared; sources any words,
    /// but below 2^52 if `below_2_52`. Slices may be tiles of limbs: as long as
    /// a multiple of 64 words, or whole limbs.
    fn dot_constants(&self, dst: &mut [W], srcs: &[&[W]], constants: &[u64], below_2_52: bool) {
        let _ = below_2_52;
        scalar::inner_product::dot_constants(self.modulus(), dst, srcs, constants);
    }

    /// An automorphism, `k < 2N` and `offset < N`, in evaluation domain; any words.
    fn permute(&self, dst: &mut [W], src: &[W], map: Automorphism) {
        automorphism::evaluations(map, dst, |at| src[at]);
    }

    /// The same of `a + b`; canonical.
    fn permute_sum(&self, dst: &mut [W], a: &[W], b: &[W], map: Automorphism) {
        let modulus = self.modulus();
        automorphism::evaluations(map, dst, |at| {
            W::from_u64(modulus.add(a[at].to_u64(), b[at].to_u64()))
        });
    }
}

/// Code with its operands. `run` must be `#[inline(always)]`, so that it is
/// compiled for the instruction set that it is run with.
pub trait Kernel {
    /// Executes it.
    fn run(self);
}

/// Makes the function that it is inlined into align its stack to cache lines.
///
/// Without an aligned local the compiler puts vectors that do not fit the registers
/// wherever the caller's stack ends: each across two lines, and some across two pages.
/// Inverse transforms then took up to 1.4 times as long, depending on the caller.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn align_stack() {
    #[repr(align(64))]
    struct Line {
        _byte: u8,
    }
    std::hint::black_box(&mut Line { _byte: 0 });
}

/// Runs portable code compiled for the instruction set of `simd`, or for the
/// base one if the processor lacks it.
pub fn run_wide<K: Kernel>(simd: Simd, kernel: K) {
    #[cfg(target_arch = "x86_64")]
    {
        use vector::lanes::Isa;
        match simd {
            Simd::Scalar => {}
            Simd::Avx2 => {
                if let Some(isa) = avx2::Avx2::new() {
                    return isa.run(kernel);
                }
            }
            Simd::Avx512 => {
                if let Some(isa) = avx512::Avx512::<false>::new() {
                    return isa.run(kernel);
                }
            }
        }
    }
    let _ = simd;
    kernel.run();
}

/// Asks for words that will be needed soon.
pub fn prefetch<W: Word>(words: &[W]) {
    #[cfg(target_arch = "x86_64")]
    for line in words.chunks(64 / size_of::<W>()) {
        vector::prefetch::for_reading(&line[0], 0);
    }
    let _ = words;
}

/// ChaCha20 key stream from block `counter` on (zero nonce), if `simd` has a
/// faster way than the portable one.
pub fn key_stream(simd: Simd, key: &[u32; 8], counter: u32, dest: &mut [[u8; 1024]]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let (Simd::Avx512, Some(isa)) = (simd, avx512::Avx512::<false>::new()) {
        isa.key_stream(key, counter, dest);
        return true;
    }
    let _ = (simd, key, counter, dest);
    false
}

/// Overwrites what transforms on this thread left of their operands.
///
/// Transforms of 32-bit limbs keep intermediate values in a buffer of the
/// thread until the next one. Call it after transforming a secret, on the same
/// thread; the cost is one walk over the longest limb so far.
pub fn wipe_scratch() {
    #[cfg(target_arch = "x86_64")]
    vector::storage::wipe_scratch();
}

/// Whether the 256-bit kernels run here.
pub fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    return avx2::Avx2::new().is_some();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether the 512-bit kernels run here.
pub fn has_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    return avx512::Avx512::<false>::new().is_some();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The fastest back end for 32-bit words.
pub fn backend_u32(simd: Simd, modulus: Modulus, root: Root) -> Box<dyn Backend<u32>> {
    #[cfg(target_arch = "x86_64")]
    if let Some(backend) = vector::backend::for_u32(simd, modulus, root) {
        return backend;
    }
    let _ = simd;
    Box::new(scalar::Scalar::new(modulus, root))
}

/// The fastest back end for 64-bit words.
pub fn backend_u64(simd: Simd, modulus: Modulus, root: Root) -> Box<dyn Backend<u64>> {
    #[cfg(target_arch = "x86_64")]
    if let Some(backend) = vector::backend::for_u64(simd, modulus, root) {
        return backend;
    }
    let _ = simd;
    Box::new(scalar::Scalar::new(modulus, root))
}

#[cfg(target_arch = "x86_64")]
/// Defines `#[inline(always)]` methods, each a few intrinsics.
macro_rules! intrinsics {
    ($(fn $name:ident$(<const $c:ident: u32>)?($self:ident $(, $arg:ident: $ty:ty)*) $(-> $ret:ty)? {
        $($body:tt)*
    })*) => {$(
        #[inline(always)]
        fn $name$(<const $c: u32>)?($self $(, $arg: $ty)*) $(-> $ret)? {
            // SAFETY: the token proves that the processor has the instructions
            // of every intrinsic in the body; pointers come from references to
            // whole vectors.
            unsafe { $($body)* }
        }
    )*};
}
#[cfg(target_arch = "x86_64")]
use intrinsics;
