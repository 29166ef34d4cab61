//! Portable kernels: the definition of every operation.

pub mod elementwise;
pub mod inner_product;
pub mod ntt;

use crate::arch::{Backend, NttEntry, NttExit};
use crate::modulus::Modulus;
use crate::twiddles::{Root, Twiddles};
use crate::word::Word;

/// The portable back end of one prime.
pub struct Scalar<W: Word> {
    modulus: Modulus,
    twiddles: Twiddles<W>,
}

impl<W: Word> Scalar<W> {
    /// Tables for the prime with this root.
    pub fn new(modulus: Modulus, root: Root) -> Self {
        let twiddles = Twiddles::new(&modulus, root, |w| {
            let companion = modulus.companion(w, W::BITS);
            (W::from_u64(w), W::from_u64(companion))
        });
        Self { modulus, twiddles }
    }
}

impl<W: Word> Backend<W> for Scalar<W> {
    fn name(&self) -> &'static str {
        "scalar"
    }

    fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    fn ntt_with(&self, dst: &mut [W], src: Option<&[W]>, entry: NttEntry, exit: NttExit<'_, W>) {
        if let Some(src) = src {
            dst.copy_from_slice(src);
        }
        let modulus = &self.modulus;
        for x in dst.iter_mut() {
            let residue = modulus.reduce(x.to_u64());
            *x = W::from_u64(modulus.add(residue, entry.add_c));
        }
        ntt::forward(modulus, &self.twiddles, dst);
        if let NttExit::SubMulC { minuend, c } = exit {
            let factor = Factor::new(modulus, c);
            for (x, minuend) in dst.iter_mut().zip(minuend) {
                let difference = modulus.sub(minuend.to_u64(), x.to_u64());
                *x = W::from_u64(factor.mul(modulus, W::from_u64(difference)));
            }
        }
    }

    fn intt_with(&self, dst: &mut [W], src: Option<&[W]>, mul_c: u64, add_c: u64) {
        if let Some(src) = src {
            dst.copy_from_slice(src);
        }
        let modulus = &self.modulus;
        ntt::inverse(modulus, &self.twiddles, dst);
        let factor = Factor::new(modulus, modulus.mul(self.twiddles.n_inverse(), mul_c));
        for x in dst.iter_mut() {
            *x = W::from_u64(modulus.add(factor.mul(modulus, *x), add_c));
        }
    }
}

/// A constant factor with its companion (see [`crate::modulus`]).
#[derive(Clone, Copy)]
pub struct Factor<W: Word> {
    w: W,
    companion: W,
}

impl<W: Word> Factor<W> {
    /// The factor `w` in `[0, q)`.
    pub fn new(modulus: &Modulus, w: u64) -> Self {
        Self {
            w: W::from_u64(w),
            companion: W::from_u64(modulus.companion(w, W::BITS)),
        }
    }

    /// A factor whose companion is known.
    #[inline(always)]
    pub fn with_companion(w: W, companion: W) -> Self {
        Self { w, companion }
    }

    /// `x w mod q` for any word x.
    #[inline(always)]
    pub fn mul(self, modulus: &Modulus, x: W) -> u64 {
        let estimate = x.mul_hi(self.companion).to_u64();
        // For 32-bit words exact, for 64-bit words modulo 2^64; below 2q either way.
        let rest = x
            .to_u64()
            .wrapping_mul(self.w.to_u64())
            .wrapping_sub(estimate.wrapping_mul(modulus.value()));
        modulus.correct(rest)
    }
}
