//! The vector kernels as back ends, and the choice among them.

use crate::arch::avx2::Avx2;
use crate::arch::avx512::Avx512;
use crate::arch::scalar;
use crate::arch::vector::full32::{self, Full32};
use crate::arch::vector::ifma52::{self, Ifma52};
use crate::arch::vector::ifma61::Ifma61;
use crate::arch::vector::lanes::{Ifma, Isa, Lanes, Lanes32, Lanes64, Widening};
use crate::arch::vector::lazy32::{self, Lazy32};
use crate::arch::vector::pointwise::{self, Pointwise};
use crate::arch::vector::shoup64::{self, Shoup64};
use crate::arch::vector::storage::Storage;
use crate::arch::vector::transform::{self, Exit, Inner, Transform, W, log_n_min};
use crate::arch::vector::wide32::Wide32;
use crate::arch::{Backend, Kernel, NttEntry, NttExit, Pair};
use crate::automorphism::{Automorphism, evaluations, lane_permutations};
use crate::limb_buf::LimbBuf;
use crate::modulus::Modulus;
use crate::simd::Simd;
use crate::twiddles::{Root, Twiddles};
use crate::word::Word;

/// Defines kernels with their operands, each a call of one generic function.
macro_rules! kernels {
    ($($name:ident<$arithmetic:ident: $bound:ident>($($field:ident: $ty:ty),*) = $function:path;)*) => {$(
        struct $name<'a, $arithmetic: $bound>($arithmetic, ($($ty,)*));

        impl<$arithmetic: $bound> Kernel for $name<'_, $arithmetic> {
            #[inline(always)]
            fn run(self) {
                let ($($field,)*) = self.1;
                $function(self.0, $($field),*);
            }
        }
    )*};
}

kernels! {
    Forward<T: Transform>(call: transform::Forward<'a, T>) = transform::forward;
    Inverse<T: Transform>(call: transform::Inverse<'a, T>) = transform::inverse;
    Add<P: Pointwise>(dst: &'a mut [P::W], a: &'a [P::W], b: &'a [P::W]) = pointwise::add;
    AddInPlace<P: Pointwise>(dst: &'a mut [P::W], a: &'a [P::W]) = pointwise::add_in_place;
    Sub<P: Pointwise>(dst: &'a mut [P::W], a: &'a [P::W], b: &'a [P::W]) = pointwise::sub;
    Neg<P: Pointwise>(dst: &'a mut [P::W], a: &'a [P::W]) = pointwise::neg;
    AddC<P: Pointwise>(dst: &'a mut [P::W], a: &'a [P::W], c: u64) = pointwise::add_c;
    Mul<P: Pointwise>(dst: &'a mut [P::W], a: &'a [P::W], b: &'a [P::W]) = pointwise::mul;
    MulC<P: Pointwise>(dst: &'a mut [P::W], a: &'a [P::W], c: P::F) = pointwise::mul_c;
    Mac<P: Pointwise>(dst: &'a mut [P::W], acc: &'a [P::W], a: &'a [P::W], b: &'a [P::W])
        = pointwise::mac;
    Msub<P: Pointwise>(dst: &'a mut [P::W], acc: &'a [P::W], a: &'a [P::W], b: &'a [P::W])
        = pointwise::msub;
    SubMulC<P: Pointwise>(dst: &'a mut [P::W], a: &'a [P::W], b: &'a [P::W], c: P::F)
        = pointwise::sub_mul_c;
    Dot<P: Pointwise>(dst: &'a mut [P::W], pairs: &'a [Pair<'a, P::W>])
        = pointwise::dot;
    DotConstants<P: Pointwise>(
        dst: &'a mut [P::W], srcs: &'a [&'a [P::W]], constants: &'a [u64], below_2_52: bool
    ) = pointwise::dot_constants;
    Permute<P: Pointwise>(dst: &'a mut [P::W], src: &'a [P::W], map: Automorphism, lanes: &'a [P::W])
        = pointwise::permute;
    PermuteSum<P: Pointwise>(
        dst: &'a mut [P::W], pair: Pair<'a, P::W>, map: Automorphism, lanes: &'a [P::W]
    ) = pointwise::permute_sum;
}

/// A back end of one prime: an arithmetic for its transforms and one for the
/// other kernels.
struct Vector<T: Transform, P: Pointwise<W = W<T>>> {
    name: &'static str,
    modulus: Modulus,
    twiddles: Twiddles<Inner<T>>,
    transform: T,
    pointwise: P,
}

impl<T: Transform, P: Pointwise<W = W<T>>> Backend<W<T>> for Vector<T, P> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    fn ntt_with(
        &self,
        dst: &mut [W<T>],
        src: Option<&[W<T>]>,
        entry: NttEntry,
        exit: NttExit<'_, W<T>>,
    ) {
        let exit = match exit {
            NttExit::Canonical => Exit::Canonical,
            NttExit::SubMulC { minuend, c } => Exit::SubMul(minuend, T::form(&self.modulus, c)),
        };
        T::S::with_scratch(dst.len(), |scratch| {
            let call = transform::Forward {
                twiddles: &self.twiddles,
                dst,
                src,
                scratch,
                add_c: entry.add_c,
                exit,
            };
            self.transform.isa().run(Forward(self.transform, (call,)));
        });
    }

    fn intt_with(&self, dst: &mut [W<T>], src: Option<&[W<T>]>, mul_c: u64, add_c: u64) {
        let last = [self.twiddles.n_inverse(), self.twiddles.last_inverse()]
            .map(|factor| T::form(&self.modulus, self.modulus.mul(factor, mul_c)));
        T::S::with_scratch(dst.len(), |scratch| {
            let call = transform::Inverse {
                twiddles: &self.twiddles,
                dst,
                src,
                scratch,
                last,
                add_c,
            };
            self.transform.isa().run(Inverse(self.transform, (call,)));
        });
    }

    fn add(&self, dst: &mut [W<T>], a: &[W<T>], b: &[W<T>]) {
        self.pointwise.isa().run(Add(self.pointwise, (dst, a, b)));
    }

    fn add_in_place(&self, dst: &mut [W<T>], a: &[W<T>]) {
        self.pointwise
            .isa()
            .run(AddInPlace(self.pointwise, (dst, a)));
    }

    fn sub(&self, dst: &mut [W<T>], a: &[W<T>], b: &[W<T>]) {
        self.pointwise.isa().run(Sub(self.pointwise, (dst, a, b)));
    }

    fn neg(&self, dst: &mut [W<T>], a: &[W<T>]) {
        self.pointwise.isa().run(Neg(self.pointwise, (dst, a)));
    }

    fn add_c(&self, dst: &mut [W<T>], a: &[W<T>], c: u64) {
        self.pointwise.isa().run(AddC(self.pointwise, (dst, a, c)));
    }

    fn mul(&self, dst: &mut [W<T>], a: &[W<T>], b: &[W<T>]) {
        if !P::PRODUCTS {
            return scalar::elementwise::mul(&self.modulus, dst, a, b);
        }
        self.pointwise.isa().run(Mul(self.pointwise, (dst, a, b)));
    }

    fn mul_c(&self, dst: &mut [W<T>], a: &[W<T>], c: u64) {
        let c = self.pointwise.factor(&self.modulus, c);
        self.pointwise.isa().run(MulC(self.pointwise, (dst, a, c)));
    }

    fn mac(&self, dst: &mut [W<T>], acc: &[W<T>], a: &[W<T>], b: &[W<T>]) {
        if !P::PRODUCTS {
            return scalar::elementwise::mac(&self.modulus, dst, acc, a, b);
        }
        let kernel = Mac(self.pointwise, (dst, acc, a, b));
        self.pointwise.isa().run(kernel);
    }

    fn msub(&self, dst: &mut [W<T>], acc: &[W<T>], a: &[W<T>], b: &[W<T>]) {
        if !P::PRODUCTS {
            return scalar::elementwise::msub(&self.modulus, dst, acc, a, b);
        }
        let kernel = Msub(self.pointwise, (dst, acc, a, b));
        self.pointwise.isa().run(kernel);
    }

    fn sub_mul_c(&self, dst: &mut [W<T>], a: &[W<T>], b: &[W<T>], c: u64) {
        let c = self.pointwise.factor(&self.modulus, c);
        let kernel = SubMulC(self.pointwise, (dst, a, b, c));
        self.pointwise.isa().run(kernel);
    }

    fn dot(&self, dst: &mut [W<T>], pairs: &[Pair<'_, W<T>>]) {
        self.pointwise.isa().run(Dot(self.pointwise, (dst, pairs)));
    }

    fn prepare(&self, c: u64) -> u64 {
        P::prepare(&self.modulus, c)
    }

    fn dot_constants(
        &self,
        dst: &mut [W<T>],
        srcs: &[&[W<T>]],
        constants: &[u64],
        below_2_52: bool,
    ) {
        let kernel = DotConstants(self.pointwise, (dst, srcs, constants, below_2_52));
        self.pointwise.isa().run(kernel);
    }

    fn permute(&self, dst: &mut [W<T>], src: &[W<T>], map: Automorphism) {
        let Some(lanes) = lanes::<P>(map.k) else {
            return evaluations(map, dst, |at| src[at]);
        };
        let kernel = Permute(self.pointwise, (dst, src, map, &lanes));
        self.pointwise.isa().run(kernel);
    }

    fn permute_sum(&self, dst: &mut [W<T>], a: &[W<T>], b: &[W<T>], map: Automorphism) {
        let Some(lanes) = lanes::<P>(map.k) else {
            let (word, modulus) = (W::<T>::from_u64, &self.modulus);
            return evaluations(map, dst, |at| {
                word(modulus.add(a[at].to_u64(), b[at].to_u64()))
            });
        };
        let kernel = PermuteSum(self.pointwise, (dst, (a, b), map, &lanes));
        self.pointwise.isa().run(kernel);
    }
}

/// The lanes that an automorphism reads, as `permute` takes them; none for
/// vectors of few lanes.
fn lanes<P: Pointwise>(k: u32) -> Option<LimbBuf<P::W>> {
    let bits = P::L::LOG_LANES;
    let lanes = || lane_permutations(k, bits).map(|lane| P::W::from_u64(lane as u64));
    (bits >= 3).then(|| lanes().collect())
}

/// The back end for 32-bit words, unless the scalar one serves.
pub fn for_u32(simd: Simd, modulus: Modulus, root: Root) -> Option<Box<dyn Backend<u32>>> {
    match simd {
        Simd::Scalar => None,
        Simd::Avx2 => Avx2::new().and_then(|isa| word32(isa, modulus, root)),
        Simd::Avx512 => {
            let base = Avx512::<false>::new()?;
            match Avx512::<true>::new() {
                Some(ifma) => wide32(ifma, modulus, root),
                None => word32(base, modulus, root),
            }
        }
    }
}

/// The back end for 64-bit words, unless the scalar one serves.
pub fn for_u64(simd: Simd, modulus: Modulus, root: Root) -> Option<Box<dyn Backend<u64>>> {
    match simd {
        Simd::Scalar => None,
        Simd::Avx2 => word64(Avx2::new()?, modulus, root),
        Simd::Avx512 => Avx512::<true>::new()
            .and_then(|isa| word52(isa, modulus, root).or_else(|| word61(isa, modulus, root)))
            .or_else(|| word64(Avx512::<false>::new()?, modulus, root)),
    }
}

pub(super) fn word32<L: Lanes32>(
    isa: L,
    modulus: Modulus,
    root: Root,
) -> Option<Box<dyn Backend<u32>>> {
    if root.log_n < log_n_min::<u32, L>() {
        return None;
    }
    if modulus.value() < Lazy32::<L>::BELOW {
        let twiddles = Twiddles::new(&modulus, root, |w| lazy32::form(&modulus, w));
        return Some(Box::new(Vector {
            name: "lazy32",
            modulus,
            transform: Lazy32::new(isa, &modulus),
            pointwise: Full32::new(isa, &modulus),
            twiddles,
        }));
    }
    let twiddles = Twiddles::new(&modulus, root, |w| full32::form(&modulus, w));
    Some(Box::new(Vector {
        name: "full32",
        modulus,
        transform: Full32::new(isa, &modulus),
        pointwise: Full32::new(isa, &modulus),
        twiddles,
    }))
}

pub(super) fn wide32<L: Ifma + Widening + Lanes32>(
    isa: L,
    modulus: Modulus,
    root: Root,
) -> Option<Box<dyn Backend<u32>>> {
    if root.log_n < log_n_min::<u32, L>() {
        return None;
    }
    let twiddles = Twiddles::new(&modulus, root, |w| ifma52::form(&modulus, w));
    Some(Box::new(Vector {
        name: "wide32",
        modulus,
        twiddles,
        transform: Wide32::new(isa, &modulus),
        pointwise: Full32::new(isa, &modulus),
    }))
}

pub(super) fn word64<L: Lanes64>(
    isa: L,
    modulus: Modulus,
    root: Root,
) -> Option<Box<dyn Backend<u64>>> {
    if root.log_n < log_n_min::<u64, L>() {
        return None;
    }
    let twiddles = Twiddles::new(&modulus, root, |w| shoup64::form(&modulus, w));
    let arithmetic = Shoup64::new(isa, &modulus);
    Some(Box::new(Vector {
        name: "shoup64",
        modulus,
        twiddles,
        transform: arithmetic,
        pointwise: arithmetic,
    }))
}

pub(super) fn word52<L: Ifma>(
    isa: L,
    modulus: Modulus,
    root: Root,
) -> Option<Box<dyn Backend<u64>>> {
    let suits = (Ifma52::<L>::ABOVE..Ifma52::<L>::BELOW).contains(&modulus.value());
    if !suits || root.log_n < log_n_min::<u64, L>() {
        return None;
    }
    let twiddles = Twiddles::new(&modulus, root, |w| ifma52::form(&modulus, w));
    let arithmetic = Ifma52::new(isa, &modulus);
    Some(Box::new(Vector {
        name: "ifma52",
        modulus,
        twiddles,
        transform: arithmetic,
        pointwise: arithmetic,
    }))
}

pub(super) fn word61<L: Ifma + Lanes64>(
    isa: L,
    modulus: Modulus,
    root: Root,
) -> Option<Box<dyn Backend<u64>>> {
    let suits = (Ifma61::<L>::ABOVE..Ifma61::<L>::BELOW).contains(&modulus.value());
    if !suits || root.log_n < log_n_min::<u64, L>() {
        return None;
    }
    Some(Box::new(Vector {
        name: "shoup64",
        modulus,
        twiddles: Twiddles::new(&modulus, root, |w| shoup64::form(&modulus, w)),
        // Compiled once, with or without the instructions that it does not use.
        transform: Shoup64::new(Avx512::<false>::new()?, &modulus),
        pointwise: Ifma61::new(isa, &modulus),
    }))
}
