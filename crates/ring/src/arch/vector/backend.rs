//! The vector kernels as back ends, and the choice among them.

use crate::arch::avx2::Avx2;
use crate::arch::avx512::Avx512;
use crate::arch::scalar;
use crate::arch::vector::full32::{self, Full32};
use crate::arch::vector::ifma52::{self, Ifma52};
use crate::arch::vector::lanes::{Ifma, Isa, Lanes, Lanes32, Lanes64};
use crate::arch::vector::lazy32::{self, Lazy32};
use crate::arch::vector::pointwise::{self, Pointwise};
use crate::arch::vector::shoup64::{self, Shoup64};
use crate::arch::vector::transform::{self, Transform, log_n_min};
use crate::arch::{Backend, Kernel, Pair};
use crate::automorphism::{evaluations, lane_permutations};
use crate::limb_buf::LimbBuf;
use crate::modulus::Modulus;
use crate::simd::Simd;
use crate::twiddles::Twiddles;
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
    Forward<T: Transform>(tw: &'a Twiddles<T::W>, dst: &'a mut [T::W], src: Option<&'a [T::W]>)
        = transform::forward;
    Inverse<T: Transform>(tw: &'a Twiddles<T::W>, dst: &'a mut [T::W], src: Option<&'a [T::W]>)
        = transform::inverse;
    Add<P: Pointwise>(dst: &'a mut [P::W], a: &'a [P::W], b: &'a [P::W]) = pointwise::add;
    Sub<P: Pointwise>(dst: &'a mut [P::W], a: &'a [P::W], b: &'a [P::W]) = pointwise::sub;
    Neg<P: Pointwise>(dst: &'a mut [P::W], a: &'a [P::W]) = pointwise::neg;
    AddC<P: Pointwise>(dst: &'a mut [P::W], a: &'a [P::W], c: u64) = pointwise::add_c;
    Mul<P: Pointwise>(dst: &'a mut [P::W], a: &'a [P::W], b: &'a [P::W]) = pointwise::mul;
    MulC<P: Pointwise>(dst: &'a mut [P::W], a: &'a [P::W], c: P::F) = pointwise::mul_c;
    Mac<P: Pointwise>(dst: &'a mut [P::W], acc: &'a [P::W], a: &'a [P::W], b: &'a [P::W])
        = pointwise::mac;
    SubMulC<P: Pointwise>(dst: &'a mut [P::W], a: &'a [P::W], b: &'a [P::W], c: P::F)
        = pointwise::sub_mul_c;
    Dot<P: Pointwise>(dst: &'a mut [P::W], pairs: &'a [Pair<'a, P::W>])
        = pointwise::dot;
    DotConstants<P: Pointwise>(
        dst: &'a mut [P::W], srcs: &'a [&'a [P::W]], constants: &'a [u64], below_2_52: bool
    ) = pointwise::dot_constants;
    Permute<P: Pointwise>(dst: &'a mut [P::W], src: &'a [P::W], k: u32, lanes: &'a [P::W])
        = pointwise::permute;
}

/// A back end of one prime: an arithmetic for its transforms and one for the
/// other kernels.
struct Vector<T: Transform, P: Pointwise<W = T::W>> {
    name: &'static str,
    modulus: Modulus,
    twiddles: Twiddles<T::W>,
    transform: T,
    pointwise: P,
}

impl<T: Transform, P: Pointwise<W = T::W>> Backend<T::W> for Vector<T, P> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    fn ntt(&self, dst: &mut [T::W], src: Option<&[T::W]>) {
        let kernel = Forward(self.transform, (&self.twiddles, dst, src));
        self.transform.isa().run(kernel);
    }

    fn intt(&self, dst: &mut [T::W], src: Option<&[T::W]>) {
        let kernel = Inverse(self.transform, (&self.twiddles, dst, src));
        self.transform.isa().run(kernel);
    }

    fn add(&self, dst: &mut [T::W], a: &[T::W], b: &[T::W]) {
        self.pointwise.isa().run(Add(self.pointwise, (dst, a, b)));
    }

    fn sub(&self, dst: &mut [T::W], a: &[T::W], b: &[T::W]) {
        self.pointwise.isa().run(Sub(self.pointwise, (dst, a, b)));
    }

    fn neg(&self, dst: &mut [T::W], a: &[T::W]) {
        self.pointwise.isa().run(Neg(self.pointwise, (dst, a)));
    }

    fn add_c(&self, dst: &mut [T::W], a: &[T::W], c: u64) {
        self.pointwise.isa().run(AddC(self.pointwise, (dst, a, c)));
    }

    fn mul(&self, dst: &mut [T::W], a: &[T::W], b: &[T::W]) {
        if !P::PRODUCTS {
            return scalar::elementwise::mul(&self.modulus, dst, a, b);
        }
        self.pointwise.isa().run(Mul(self.pointwise, (dst, a, b)));
    }

    fn mul_c(&self, dst: &mut [T::W], a: &[T::W], c: u64) {
        let c = self.pointwise.factor(&self.modulus, c);
        self.pointwise.isa().run(MulC(self.pointwise, (dst, a, c)));
    }

    fn mac(&self, dst: &mut [T::W], acc: &[T::W], a: &[T::W], b: &[T::W]) {
        if !P::PRODUCTS {
            return scalar::elementwise::mac(&self.modulus, dst, acc, a, b);
        }
        let kernel = Mac(self.pointwise, (dst, acc, a, b));
        self.pointwise.isa().run(kernel);
    }

    fn sub_mul_c(&self, dst: &mut [T::W], a: &[T::W], b: &[T::W], c: u64) {
        let c = self.pointwise.factor(&self.modulus, c);
        let kernel = SubMulC(self.pointwise, (dst, a, b, c));
        self.pointwise.isa().run(kernel);
    }

    fn dot(&self, dst: &mut [T::W], pairs: &[Pair<'_, T::W>]) {
        self.pointwise.isa().run(Dot(self.pointwise, (dst, pairs)));
    }

    fn prepare(&self, c: u64) -> u64 {
        P::prepare(&self.modulus, c)
    }

    fn dot_constants(
        &self,
        dst: &mut [T::W],
        srcs: &[&[T::W]],
        constants: &[u64],
        below_2_52: bool,
    ) {
        let kernel = DotConstants(self.pointwise, (dst, srcs, constants, below_2_52));
        self.pointwise.isa().run(kernel);
    }

    fn permute(&self, dst: &mut [T::W], src: &[T::W], k: u32) {
        if P::L::LOG_LANES < 3 {
            return evaluations(k, dst, src);
        }
        let lanes: LimbBuf<T::W> = lane_permutations(k, P::L::LOG_LANES)
            .map(|lane| T::W::from_u64(lane as u64))
            .collect();
        let kernel = Permute(self.pointwise, (dst, src, k, &lanes));
        self.pointwise.isa().run(kernel);
    }
}

/// The back end for 32-bit words, unless the scalar one serves.
pub fn for_u32(simd: Simd, modulus: Modulus, log_n: u32) -> Option<Box<dyn Backend<u32>>> {
    match simd {
        Simd::Scalar => None,
        Simd::Avx2 => Avx2::new().and_then(|isa| word32(isa, isa, modulus, log_n)),
        Simd::Avx512 => {
            let base = Avx512::<false>::new()?;
            match Avx512::<true>::new() {
                Some(ifma) => word32(base, ifma, modulus, log_n),
                None => word32(base, base, modulus, log_n),
            }
        }
    }
}

/// The back end for 64-bit words, unless the scalar one serves.
pub fn for_u64(simd: Simd, modulus: Modulus, log_n: u32) -> Option<Box<dyn Backend<u64>>> {
    match simd {
        Simd::Scalar => None,
        Simd::Avx2 => word64(Avx2::new()?, modulus, log_n),
        Simd::Avx512 => Avx512::<true>::new()
            .and_then(|isa| word52(isa, modulus, log_n))
            .or_else(|| word64(Avx512::<false>::new()?, modulus, log_n)),
    }
}

/// Transforms need no IFMA, sums of products gain from it.
pub(super) fn word32<L: Lanes32, M: Lanes32>(
    for_transforms: L,
    for_sums: M,
    modulus: Modulus,
    log_n: u32,
) -> Option<Box<dyn Backend<u32>>> {
    if log_n < log_n_min::<u32, L>() {
        return None;
    }
    if modulus.value() < Lazy32::<L>::BELOW {
        let twiddles = Twiddles::new(&modulus, log_n, |w| lazy32::form(&modulus, w));
        return Some(Box::new(Vector {
            name: "lazy32",
            modulus,
            transform: Lazy32::new(for_transforms, &modulus, &twiddles),
            pointwise: Full32::new(for_sums, &modulus, &twiddles),
            twiddles,
        }));
    }
    let twiddles = Twiddles::new(&modulus, log_n, |w| full32::form(&modulus, w));
    Some(Box::new(Vector {
        name: "full32",
        modulus,
        transform: Full32::new(for_transforms, &modulus, &twiddles),
        pointwise: Full32::new(for_sums, &modulus, &twiddles),
        twiddles,
    }))
}

pub(super) fn word64<L: Lanes64>(
    isa: L,
    modulus: Modulus,
    log_n: u32,
) -> Option<Box<dyn Backend<u64>>> {
    if log_n < log_n_min::<u64, L>() {
        return None;
    }
    let twiddles = Twiddles::new(&modulus, log_n, |w| shoup64::form(&modulus, w));
    let arithmetic = Shoup64::new(isa, &modulus, &twiddles);
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
    log_n: u32,
) -> Option<Box<dyn Backend<u64>>> {
    let suits = (Ifma52::<L>::ABOVE..Ifma52::<L>::BELOW).contains(&modulus.value());
    if !suits || log_n < log_n_min::<u64, L>() {
        return None;
    }
    let twiddles = Twiddles::new(&modulus, log_n, |w| ifma52::form(&modulus, w));
    let arithmetic = Ifma52::new(isa, &modulus, &twiddles);
    Some(Box::new(Vector {
        name: "ifma52",
        modulus,
        twiddles,
        transform: arithmetic,
        pointwise: arithmetic,
    }))
}
