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
use cyclotron_ring::{LimbBuf, Ring, sampler};
use zeroize::Zeroizing;

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::encode::Plaintext;
use crate::error::SchemeError;
use crate::keys::{
    PublicKey, SecretKey, error_limb, gaussian, small_limb, subtract_product, uniform_limb,
};
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
    let n = context.params().n();
    let error = gaussian(&seed, "error", &[], n)?;
    let polys = with_ring!(context.ring(), ring => {
        let mut c0 = Vec::with_capacity(plaintext.level());
        let mut c1 = Vec::with_capacity(plaintext.level());
        for m in 0..plaintext.level() {
            let mask = mask_limb(ring, &mask_seed, m);
            let mut body = noisy_plaintext(context, ring, m, plaintext, &error);
            subtract_product(ring, m, &mut body, &mask, secret.limb(m)?);
            c0.push(Arc::new(body));
            c1.push(Arc::new(mask));
        }
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
    let errors = [
        gaussian(&seed, "error", &[], n)?,
        gaussian(&seed, "error 1", &[], n)?,
    ];
    let ephemeral = sampler::ternary(&mut stream(&seed, "ephemeral", &[]), n);
    let polys = with_ring!(context.ring(), ring => {
        encrypt_limbs(context, ring, public, plaintext, &errors, &ephemeral)?
    });
    Ok(finish(context, plaintext, polys, None))
}

fn encrypt_limbs<W: ClientWord>(
    context: &Context,
    ring: &Ring<W>,
    public: &PublicKey,
    plaintext: &Plaintext,
    errors: &[Zeroizing<Vec<i64>>; 2],
    ephemeral: &[i8],
) -> Result<Vec<Limbs>, SchemeError> {
    let b = W::view(public.b()).ok_or(SchemeError::Malformed {
        what: "public key",
        why: "its words have another width than the parameters'".to_owned(),
    })?;
    let mut c0 = Vec::with_capacity(plaintext.level());
    let mut c1 = Vec::with_capacity(plaintext.level());
    for (m, b) in b.iter().enumerate().take(plaintext.level()) {
        let u = Zeroizing::new(small_limb(ring, m, ephemeral));
        let body = Zeroizing::new(noisy_plaintext(context, ring, m, plaintext, &errors[0]));
        let mut first = LimbBuf::zeroed(ring.n());
        ring.mac(m, &mut first, &body, b, &u);
        let e1 = Zeroizing::new(error_limb(context, ring, m, &errors[1]));
        let mut second = LimbBuf::zeroed(ring.n());
        ring.mac(m, &mut second, &e1, &public.a_limb(ring, m), &u);
        c0.push(Arc::new(first));
        c1.push(Arc::new(second));
    }
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
        ClientWord::wrap((0..level).map(|m| Arc::new(mask_limb(ring, &seed, m))).collect())
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

/// `m + e` (BGV: `m + t e`) modulo prime `m`, evaluation domain.
fn noisy_plaintext<W: ClientWord>(
    context: &Context,
    ring: &Ring<W>,
    m: usize,
    plaintext: &Plaintext,
    error: &[i64],
) -> LimbBuf<W> {
    let error = Zeroizing::new(error_limb(context, ring, m, error));
    let mut encoded = Zeroizing::new(LimbBuf::zeroed(ring.n()));
    plaintext.residues(ring.arithmetic(m), &mut encoded);
    ring.ntt_in_place(m, &mut encoded);
    let mut sum = LimbBuf::zeroed(ring.n());
    ring.add(m, &mut sum, &error, &encoded);
    sum
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
