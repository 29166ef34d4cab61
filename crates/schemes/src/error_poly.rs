//! The small polynomials that are added to plaintexts and keys.

use cyclotron_ring::prf::{Seed, stream};
use cyclotron_ring::{LimbBuf, Ring, reduce_signed_wide, sampler, wipe_scratch};
use zeroize::Zeroizing;

use crate::context::Context;
use crate::error::SchemeError;
use crate::limbs::ClientWord;
use crate::params::SIGMA;
use crate::scheme::Scheme;

/// Plaintext moduli below this leave room in 63 bits for t times an error
/// (below 2^6 t) plus a coefficient (below 2^61).
const NARROW_T: u64 = 1 << 56;

/// An error polynomial e (BGV: `t e`), coefficient domain; to which a plaintext
/// may have been added. Sampled and scaled once for all limbs. Wiped when dropped.
pub(crate) enum ErrorPoly {
    /// Coefficients below 2^63.
    Narrow(Zeroizing<Vec<i64>>),
    /// Coefficients of a BGV error with a large t.
    Wide(Zeroizing<Vec<i128>>),
}

impl ErrorPoly {
    /// The error of a stream.
    pub(crate) fn sample(
        context: &Context,
        seed: &Seed,
        purpose: &str,
        ids: &[u64],
    ) -> Result<Self, SchemeError> {
        let n = context.params().n();
        let mut error = sampler::gaussian(&mut stream(seed, purpose, ids), n, SIGMA)
            .map_err(|error| SchemeError::Randomness(error.to_string()))?;
        if context.params().scheme == Scheme::Ckks {
            return Ok(Self::Narrow(error));
        }
        let t = context.params().plaintext_modulus;
        if t < NARROW_T {
            error.iter_mut().for_each(|e| *e *= t as i64);
            return Ok(Self::Narrow(error));
        }
        let scaled = error.iter().map(|&e| i128::from(e) * i128::from(t));
        Ok(Self::Wide(Zeroizing::new(scaled.collect())))
    }

    /// Adds integers of magnitude below 2^62.
    pub(crate) fn add(&mut self, coefficients: &[i64]) {
        match self {
            Self::Narrow(error) => {
                for (e, &c) in error.iter_mut().zip(coefficients) {
                    *e += c;
                }
            }
            Self::Wide(error) => {
                for (e, &c) in error.iter_mut().zip(coefficients) {
                    *e += i128::from(c);
                }
            }
        }
    }

    /// The coefficients modulo prime `m`.
    pub(crate) fn residues<W: ClientWord>(&self, ring: &Ring<W>, m: usize, dst: &mut LimbBuf<W>) {
        match self {
            Self::Narrow(error) => ring.reduce_signed(m, dst, error),
            Self::Wide(error) => reduce_signed_wide(ring.arithmetic(m), dst, error),
        }
    }

    /// Modulo prime `m`, evaluation domain.
    pub(crate) fn limb<W: ClientWord>(&self, ring: &Ring<W>, m: usize) -> Zeroizing<LimbBuf<W>> {
        let mut limb = Zeroizing::new(LimbBuf::unspecified(ring.n()));
        self.residues(ring, m, &mut limb);
        ring.ntt_in_place(m, &mut limb);
        wipe_scratch();
        limb
    }
}
