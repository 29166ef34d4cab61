//! Secret and public keys, and where their randomness comes from.
//!
//! A client's seed and the hash of its parameters give a root seed, so that
//! one seed used with two parameter sets gives unrelated keys. Everything else
//! is a stream of the root, or of the public seed derived from it, for a purpose
//! and numbers:
//!
//! | from | purpose | numbers | gives |
//! | --- | --- | --- | --- |
//! | seed | `root` | hash of the parameters, 4 words | root |
//! | root | `secret` | | s |
//! | root | `public seed` | | public seed, part of every public object |
//! | public | `public key a` | limb | a of the public key |
//! | root | `public key error` | | e of the public key |
//! | public | `hint a` | variant, exponent (0: relinearization), digit, limb | a of a hint |
//! | root | `hint error` | variant, exponent, digit | e of a hint |
//! | encryption seed | `mask seed` | | public seed of a ciphertext |
//! | mask seed | `mask` | limb | its c1 |
//! | encryption seed | `error`, `error 1`, `ephemeral` | | errors and the ternary u of an encryption |
//!
//! So results depend neither on the order of operations nor on threads.

use std::fmt;
use std::sync::Arc;

use cyclotron_ring::prf::{Seed, stream};
use cyclotron_ring::{LimbBuf, Ring, sampler, wipe_scratch};
use rayon::prelude::*;
use zeroize::{Zeroize, Zeroizing};

use crate::context::Context;
use crate::error::SchemeError;
use crate::error_poly::ErrorPoly;
use crate::limbs::{ClientWord, Limbs, with_ring};
use crate::params::ParamsHash;
use crate::scheme::SecretKind;

/// The secret key. Wiped when dropped, never printed.
pub struct SecretKey {
    params: ParamsHash,
    insecure: Option<Arc<str>>,
    seed: Seed,
    root: Seed,
    coefficients: Zeroizing<Vec<i8>>,
    /// s in evaluation domain modulo every prime of the extended chain. Its
    /// limbs are never shared.
    limbs: Limbs,
}

impl SecretKey {
    /// The secret key of a seed, always the same one. Keep the seed as secret as the key.
    ///
    /// # Errors
    /// If the parameters are not secure enough or the sampler refuses them.
    pub fn from_seed(context: &Context, seed: &Seed) -> Result<Self, SchemeError> {
        // The context was validated when it was made; security is checked where keys are born.
        context.params().validate()?;
        let mut ids = [0; 4];
        for (id, bytes) in ids.iter_mut().zip(context.hash().0.chunks_exact(8)) {
            *id = bytes
                .iter()
                .rev()
                .fold(0, |word, &byte| word << 8 | u64::from(byte));
        }
        let root = seed.derive("root", &ids);
        let n = context.params().n();
        let mut prf = stream(&root, "secret", &[]);
        let coefficients = match context.params().secret {
            SecretKind::Dense => sampler::ternary(&mut prf, n),
            SecretKind::Sparse(weight) => sampler::ternary_sparse(&mut prf, n, weight as usize)
                .map_err(|error| crate::ParameterError::Ring(error.to_string()))?,
        };
        Ok(Self::assemble(context, seed, root, coefficients))
    }

    fn assemble(
        context: &Context,
        seed: &Seed,
        root: Seed,
        coefficients: Zeroizing<Vec<i8>>,
    ) -> Self {
        let limbs = with_ring!(context.ring(), ring => {
            ClientWord::wrap((0..ring.moduli_count()).into_par_iter().map(|m| {
                Arc::new(small_limb(ring, m, &coefficients))
            }).collect())
        });
        Self {
            params: context.hash(),
            insecure: context.insecure_tag(),
            seed: seed.clone(),
            root,
            coefficients,
            limbs,
        }
    }

    /// A key with given coefficients.
    #[cfg(test)]
    pub(crate) fn with_coefficients(context: &Context, coefficients: &[i8]) -> Self {
        let seed = Seed::for_test(0);
        let root = seed.derive("root", &[]);
        Self::assemble(context, &seed, root, Zeroizing::new(coefficients.to_vec()))
    }

    /// A fresh secret key from the operating system's randomness.
    ///
    /// # Errors
    /// [`SchemeError::Randomness`], or what [`Self::from_seed`] reports.
    pub fn random(context: &Context) -> Result<Self, SchemeError> {
        Self::from_seed(context, &random_seed()?)
    }

    /// The seed, for storage: as secret as the key.
    #[must_use]
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// Hash of the parameters.
    #[must_use]
    pub fn params(&self) -> ParamsHash {
        self.params
    }

    /// Why insecure parameters were accepted, if they were.
    #[must_use]
    pub fn insecure(&self) -> Option<&Arc<str>> {
        self.insecure.as_ref()
    }

    /// The public seed from which the a-halves of all public keys of this client are expanded.
    #[must_use]
    pub fn public_seed(&self) -> Seed {
        self.root.derive("public seed", &[])
    }

    pub(crate) fn root(&self) -> &Seed {
        &self.root
    }

    /// s modulo prime `m`, evaluation domain.
    pub(crate) fn limb<W: ClientWord>(&self, m: usize) -> Result<&LimbBuf<W>, SchemeError> {
        W::view(&self.limbs)
            .and_then(|limbs| limbs.get(m))
            .map(|limb| &**limb)
            .ok_or(SchemeError::NoSuchLimb {
                what: "secret key".to_owned(),
                digit: 0,
                poly: 0,
                limb: m,
            })
    }
}

impl Drop for SecretKey {
    fn drop(&mut self) {
        self.coefficients.zeroize();
        match &mut self.limbs {
            Limbs::W32(limbs) => limbs
                .iter_mut()
                .filter_map(Arc::get_mut)
                .for_each(Zeroize::zeroize),
            Limbs::W64(limbs) => limbs
                .iter_mut()
                .filter_map(Arc::get_mut)
                .for_each(Zeroize::zeroize),
        }
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey(redacted, parameters {})", self.params.short())
    }
}

/// The public key `(b, a)`, `b = -a s + e` (BGV: `t e`), modulo the data primes.
#[derive(Debug, Clone, PartialEq)]
pub struct PublicKey {
    params: ParamsHash,
    insecure: Option<Arc<str>>,
    seed: [u8; 32],
    b: Limbs,
}

impl PublicKey {
    /// The public key of a secret key.
    ///
    /// # Errors
    /// If the secret key belongs to other parameters.
    pub fn new(context: &Context, secret: &SecretKey) -> Result<Self, SchemeError> {
        context.check_hash("secret key", secret.params)?;
        context
            .params()
            .check_security("Q", context.params().log_q())?;
        let seed = secret.public_seed();
        let error = ErrorPoly::sample(context, &secret.root, "public key error", &[])?;
        let b = with_ring!(context.ring(), ring => {
            let limbs: Result<Vec<_>, SchemeError> = (0..context.params().levels())
                .into_par_iter()
                .map(|m| {
                    let a = uniform_limb(ring, &seed, "public key a", &[m as u64], m);
                    let mut b = LimbBuf::unspecified(ring.n());
                    ring.msub(m, &mut b, &error.limb(ring, m), &a, secret.limb(m)?);
                    Ok(Arc::new(b))
                })
                .collect();
            ClientWord::wrap(limbs?)
        });
        Ok(Self {
            params: context.hash(),
            insecure: context.insecure_tag(),
            seed: *seed.as_bytes(),
            b,
        })
    }

    /// A public key from its stored parts.
    ///
    /// # Errors
    /// [`SchemeError::Malformed`] if the limbs do not conform to the parameters.
    pub fn from_parts(context: &Context, seed: [u8; 32], b: Limbs) -> Result<Self, SchemeError> {
        let params = context.params();
        if b.len() != params.levels()
            || b.word_bits() != params.word_bits
            || b.first_fault(&params.moduli, params.n()).is_some()
        {
            return Err(SchemeError::Malformed {
                what: "public key",
                why: "it does not have one canonical limb per data prime".to_owned(),
            });
        }
        Ok(Self {
            params: context.hash(),
            insecure: context.insecure_tag(),
            seed,
            b,
        })
    }

    /// Hash of the parameters.
    #[must_use]
    pub fn params(&self) -> ParamsHash {
        self.params
    }

    /// Why insecure parameters were accepted, if they were.
    #[must_use]
    pub fn insecure(&self) -> Option<&Arc<str>> {
        self.insecure.as_ref()
    }

    /// The seed from which a is expanded.
    #[must_use]
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// The polynomial b, one limb per data prime, evaluation domain.
    #[must_use]
    pub fn b(&self) -> &Limbs {
        &self.b
    }

    /// a modulo data prime `m`.
    pub(crate) fn a_limb<W: ClientWord>(&self, ring: &Ring<W>, m: usize) -> LimbBuf<W> {
        uniform_limb(
            ring,
            &Seed::from_bytes(self.seed),
            "public key a",
            &[m as u64],
            m,
        )
    }
}

/// A seed from the operating system.
///
/// # Errors
/// [`SchemeError::Randomness`] if it gives none.
pub fn random_seed() -> Result<Seed, SchemeError> {
    Seed::random().map_err(|error| SchemeError::Randomness(error.to_string()))
}

/// A uniform limb; it counts as evaluation domain.
pub(crate) fn uniform_limb<W: ClientWord>(
    ring: &Ring<W>,
    seed: &Seed,
    purpose: &str,
    ids: &[u64],
    m: usize,
) -> LimbBuf<W> {
    let mut limb = LimbBuf::unspecified(ring.n());
    sampler::uniform(&mut stream(seed, purpose, ids), ring.modulus(m), &mut limb);
    limb
}

/// Small coefficients modulo prime `m`, evaluation domain.
pub(crate) fn small_limb<W: ClientWord, T: Copy + Into<i64>>(
    ring: &Ring<W>,
    m: usize,
    coefficients: &[T],
) -> LimbBuf<W> {
    let mut limb = LimbBuf::unspecified(ring.n());
    ring.reduce_signed(m, &mut limb, coefficients);
    ring.ntt_in_place(m, &mut limb);
    wipe_scratch();
    limb
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
