//! Encryption.
//!
//! With the secret key: `c1 = a` uniform from a public seed, `c0 = -a s + e + m`.
//! With the public key (b, a): `c0 = b u + e_0 + m`, `c1 = a u + e_1`, u dense
//! ternary. BGV multiplies the errors by t.
//!
//! Each encryption takes a seed. The plaintext is hashed into it, so a seed
//! that is used twice reveals at most whether two plaintexts are equal, never
//! their difference; randomness from the operating system is used once.

use std::sync::Arc;

use cyclotron_ring::prf::{Seed, stream};
use cyclotron_ring::{LimbBuf, Ring, sampler, wipe_scratch};
use rayon::prelude::*;
use zeroize::Zeroizing;

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::encode::{Plaintext, WideCoefficients};
use crate::error::SchemeError;
use crate::error_poly::ErrorPoly;
use crate::keys::{PublicKey, SecretKey, small_limb, uniform_limb};
use crate::limbs::{ClientWord, Limbs, with_ring};

/// Encrypts under the secret key; `c1` is the expansion of the ciphertext's seed.
///
/// # Errors
/// If key or plaintext belong to other parameters.
pub fn encrypt_secret(
    context: &Context,
    secret: &SecretKey,
    plaintext: &Plaintext,
    seed: &Seed,
) -> Result<Ciphertext, SchemeError> {
    context.check_hash("secret key", secret.params())?;
    plaintext.check(context)?;
    let seed = bind(context, plaintext, seed, "secret-key encryption");
    let mask_seed = seed.derive("mask seed", &[]);
    let message = Message::new(context, plaintext, &seed)?;
    let polys = with_ring!(context.ring(), ring => {
        let limbs: Result<Vec<_>, SchemeError> = (0..plaintext.level())
            .into_par_iter()
            .map(|m| {
                let mask = mask_limb(ring, &mask_seed, m);
                let mut body = LimbBuf::unspecified(ring.n());
                ring.msub(m, &mut body, &message.limb(ring, m), &mask, secret.limb(m)?);
                Ok((Arc::new(body), Arc::new(mask)))
            })
            .collect();
        let (c0, c1) = limbs?.into_iter().unzip();
        vec![ClientWord::wrap(c0), ClientWord::wrap(c1)]
    });
    Ok(finish(
        context,
        plaintext,
        polys,
        Some(*mask_seed.as_bytes()),
    ))
}

/// Encrypts under the public key.
///
/// # Errors
/// If key or plaintext belong to other parameters.
pub fn encrypt_public(
    context: &Context,
    public: &PublicKey,
    plaintext: &Plaintext,
    seed: &Seed,
) -> Result<Ciphertext, SchemeError> {
    context.check_hash("public key", public.params())?;
    plaintext.check(context)?;
    let seed = bind(context, plaintext, seed, "public-key encryption");
    let n = context.params().n();
    let message = Message::new(context, plaintext, &seed)?;
    let error = ErrorPoly::sample(context, &seed, "error 1", &[])?;
    let ephemeral = sampler::ternary(&mut stream(&seed, "ephemeral", &[]), n);
    let polys = with_ring!(context.ring(), ring => {
        encrypt_limbs(ring, public, &message, &error, &ephemeral)?
    });
    Ok(finish(context, plaintext, polys, None))
}

fn encrypt_limbs<W: ClientWord>(
    ring: &Ring<W>,
    public: &PublicKey,
    message: &Message<'_>,
    error: &ErrorPoly,
    ephemeral: &[i8],
) -> Result<Vec<Limbs>, SchemeError> {
    let b = W::view(public.b()).ok_or(SchemeError::Malformed {
        what: "public key",
        why: "its words have another width than the parameters'".to_owned(),
    })?;
    let (c0, c1) = b[..message.level()]
        .par_iter()
        .enumerate()
        .map(|(m, b)| {
            let u = Zeroizing::new(small_limb(ring, m, ephemeral));
            let mut first = LimbBuf::unspecified(ring.n());
            ring.mac(m, &mut first, &message.limb(ring, m), b, &u);
            let mut second = LimbBuf::unspecified(ring.n());
            let a = public.a_limb(ring, m);
            ring.mac(m, &mut second, &error.limb(ring, m), &a, &u);
            (Arc::new(first), Arc::new(second))
        })
        .unzip();
    Ok(vec![W::wrap(c0), W::wrap(c1)])
}

/// c1 of a ciphertext of `level`, expanded from its public seed, as encryption made it.
///
/// # Errors
/// [`SchemeError::BadLevel`].
pub fn expand_mask(context: &Context, seed: [u8; 32], level: usize) -> Result<Limbs, SchemeError> {
    context.check_level(level)?;
    let seed = Seed::from_bytes(seed);
    Ok(with_ring!(context.ring(), ring => {
        let limbs = (0..level).into_par_iter().map(|m| Arc::new(mask_limb(ring, &seed, m)));
        ClientWord::wrap(limbs.collect())
    }))
}

fn mask_limb<W: ClientWord>(ring: &Ring<W>, seed: &Seed, m: usize) -> LimbBuf<W> {
    uniform_limb(ring, seed, "mask", &[m as u64], m)
}

/// The seed of one encryption: of the caller's seed and everything that is encrypted.
fn bind(context: &Context, plaintext: &Plaintext, seed: &Seed, purpose: &str) -> Seed {
    let mut hasher = blake3::Hasher::new_keyed(seed.as_bytes());
    hasher.update(purpose.as_bytes());
    hasher.update(&context.hash().0);
    plaintext.absorb(&mut hasher);
    Seed::from_bytes(hasher.finalize().into())
}

/// `m + e` (BGV: `m + t e`), added once for all limbs where the plaintext is small.
struct Message<'a> {
    plaintext: &'a Plaintext,
    noisy: ErrorPoly,
    wide: Option<&'a WideCoefficients>,
}

impl<'a> Message<'a> {
    fn new(context: &Context, plaintext: &'a Plaintext, seed: &Seed) -> Result<Self, SchemeError> {
        let mut noisy = ErrorPoly::sample(context, seed, "error", &[])?;
        let wide = plaintext.add_to(&mut noisy);
        Ok(Self {
            plaintext,
            noisy,
            wide,
        })
    }

    fn level(&self) -> usize {
        self.plaintext.level()
    }

    /// Modulo prime `m`, evaluation domain.
    fn limb<W: ClientWord>(&self, ring: &Ring<W>, m: usize) -> Zeroizing<LimbBuf<W>> {
        let Some(wide) = self.wide else {
            return self.noisy.limb(ring, m);
        };
        let new = || Zeroizing::new(LimbBuf::unspecified(ring.n()));
        let (mut error, mut encoded, mut sum) = (new(), new(), new());
        self.noisy.residues(ring, m, &mut error);
        wide.residues(ring, m, &mut encoded);
        ring.add(m, &mut sum, &error, &encoded);
        ring.ntt_in_place(m, &mut sum);
        wipe_scratch();
        sum
    }
}

fn finish(
    context: &Context,
    plaintext: &Plaintext,
    polys: Vec<Limbs>,
    seed: Option<[u8; 32]>,
) -> Ciphertext {
    Ciphertext {
        params: context.hash(),
        level: plaintext.level(),
        polys,
        scale: plaintext.scale(),
        factor: plaintext.factor(),
        seed,
        insecure: context.insecure_tag(),
    }
}
