//! Key-switch keys (hints).
//!
//! The hint of an automorphism x -> x^k switches s to s(x^(1/k)). It is kept as
//! that; what is sampled and stored is its image under x -> x^k, a pair that
//! hides s(x^k) under s. The two are one key: each is a permutation of the other.
//! So all polynomials of a client are masked by the same s, and stored keys do
//! not depend on whether automorphisms come before or after their key switch.

use std::sync::{Arc, OnceLock};

use cyclotron_ring::prf::Seed;
use cyclotron_ring::{LimbBuf, Ring};
use rayon::prelude::*;
use zeroize::Zeroizing;

use crate::context::Context;
use crate::error::SchemeError;
use crate::error_poly::ErrorPoly;
use crate::key_spec::{KeySpec, KeyTarget, KeyVariant};
use crate::keys::{SecretKey, uniform_limb};
use crate::limbs::{AnyLimb, ClientWord, Limbs, with_ring};
use crate::params::{Parameters, ParamsHash};

/// A key-switch key: per digit the pair `b = -a to + e + g_d from` (BGV: `t e`)
/// and a, evaluation domain, over all limbs of its variant. The a-half comes
/// from a public seed; its limbs are expanded on first use and kept.
#[derive(Debug)]
pub struct SwitchKey {
    spec: KeySpec,
    params: ParamsHash,
    insecure: Option<Arc<str>>,
    seed: [u8; 32],
    /// One polynomial per digit.
    b: Vec<Limbs>,
    /// Limb j of digit d at `d * limbs + j`.
    a: Vec<OnceLock<AnyLimb>>,
}

impl SwitchKey {
    /// Makes a key.
    ///
    /// # Cost
    /// One NTT, one uniform limb and two products per digit and limb, one
    /// error polynomial per digit; on all threads.
    ///
    /// # Errors
    /// If the secret key belongs to other parameters, the parameters lack what
    /// the variant needs, or the key's own modulus (QP for hybrid, Q for Listing
    /// 1) is not secure enough.
    pub fn new(context: &Context, secret: &SecretKey, spec: KeySpec) -> Result<Self, SchemeError> {
        context.check_hash("secret key", secret.params())?;
        let params = context.params();
        spec.validate(params)?;
        match spec.variant {
            KeyVariant::Hybrid => params.check_security("QP", params.log_qp())?,
            KeyVariant::Listing1 => params.check_security("Q", params.log_q())?,
        }
        let seed = secret.public_seed();
        let b = with_ring!(context.ring(), ring => generate(context, ring, secret, &seed, spec)?);
        Ok(Self::assemble(context, spec, *seed.as_bytes(), b))
    }

    /// A key from its stored parts: the public seed and the stored b-half by digit
    /// (see [`Self::stored_b`]).
    ///
    /// # Errors
    /// [`SchemeError::BadKey`] or [`SchemeError::Malformed`] if the parts do
    /// not conform to the parameters.
    pub fn from_parts(
        context: &Context,
        spec: KeySpec,
        seed: [u8; 32],
        b: Vec<Limbs>,
    ) -> Result<Self, SchemeError> {
        let params = context.params();
        spec.validate(params)?;
        let malformed = |why: String| {
            Err(SchemeError::Malformed {
                what: "key-switch key",
                why: format!("{spec}: {why}"),
            })
        };
        if b.len() != spec.digits(params) {
            return malformed(format!(
                "it has {} digits, not {}",
                b.len(),
                spec.digits(params)
            ));
        }
        let (limbs, moduli) = (spec.limbs(params), params.extended());
        for (digit, poly) in b.iter().enumerate() {
            if poly.len() != limbs || poly.word_bits() != params.word_bits {
                return malformed(format!(
                    "digit {digit} has {} limbs, not {limbs}",
                    poly.len()
                ));
            }
            if let Some((limb, at)) = poly.first_fault(&moduli, params.n()) {
                return malformed(format!(
                    "limb {limb} of digit {digit} is not canonical at index {at}"
                ));
            }
        }
        let b: Result<_, _> = b
            .iter()
            .map(|poly| image(context, spec.target.before(params.n()), poly))
            .collect();
        Ok(Self::assemble(context, spec, seed, b?))
    }

    fn assemble(context: &Context, spec: KeySpec, seed: [u8; 32], b: Vec<Limbs>) -> Self {
        let count = b.len() * spec.limbs(context.params());
        Self {
            spec,
            params: context.hash(),
            insecure: context.insecure_tag(),
            seed,
            b,
            a: (0..count).map(|_| OnceLock::new()).collect(),
        }
    }

    /// What it switches.
    #[must_use]
    pub fn spec(&self) -> KeySpec {
        self.spec
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

    /// The public seed from which the a-half is expanded.
    #[must_use]
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// The b-half as it is stored: one polynomial per digit; of an automorphism's key
    /// the image under it.
    ///
    /// # Cost
    /// An automorphism of every limb, or nothing for relinearization.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`].
    pub fn stored_b(&self, context: &Context) -> Result<Vec<Limbs>, SchemeError> {
        context.check_hash("key-switch key", self.params)?;
        let exponent = match self.spec.target {
            KeyTarget::Relin => 1,
            KeyTarget::Galois(k) => k,
        };
        let limbs = self.b.iter();
        limbs.map(|poly| image(context, exponent, poly)).collect()
    }

    /// Bytes of the stored form: the b-half and the seed.
    #[must_use]
    pub fn size_bytes(&self, params: &Parameters) -> usize {
        let words = self.b.len() * self.spec.limbs(params) * params.n();
        words * (params.word_bits / 8) as usize + 32
    }

    /// A limb of the hint: `poly` 0 is b, 1 is a; `limb` is a position in the
    /// extended chain.
    ///
    /// # Errors
    /// [`SchemeError::NoSuchLimb`], [`SchemeError::ParameterMismatch`].
    pub fn limb(
        &self,
        context: &Context,
        digit: usize,
        poly: usize,
        limb: usize,
    ) -> Result<AnyLimb, SchemeError> {
        context.check_hash("key-switch key", self.params)?;
        let missing = || SchemeError::NoSuchLimb {
            what: format!("key-switch key {}", self.spec),
            digit,
            poly,
            limb,
        };
        let b = self
            .b
            .get(digit)
            .and_then(|poly| poly.limb(limb))
            .ok_or_else(missing)?;
        match poly {
            0 => Ok(b),
            1 => {
                let limbs = self.spec.limbs(context.params());
                let slot = self.a.get(digit * limbs + limb).ok_or_else(missing)?;
                let seed = Seed::from_bytes(self.seed);
                Ok(slot
                    .get_or_init(|| {
                        let before = self.spec.target.before(context.params().n());
                        with_ring!(context.ring(), ring => ClientWord::wrap_limb(Arc::new(
                            moved(ring, before, a_limb(ring, &seed, self.spec, digit, limb)))))
                    })
                    .clone())
            }
            _ => Err(missing()),
        }
    }
}

/// Numbers of a key in the streams of its polynomials.
fn key_ids(spec: KeySpec) -> [u64; 2] {
    let variant = match spec.variant {
        KeyVariant::Listing1 => 0,
        KeyVariant::Hybrid => 1,
    };
    let exponent = match spec.target {
        KeyTarget::Relin => 0,
        KeyTarget::Galois(k) => u64::from(k),
    };
    [variant, exponent]
}

/// The automorphism x -> x^k of a limb.
fn moved<W: ClientWord>(ring: &Ring<W>, k: u32, limb: LimbBuf<W>) -> LimbBuf<W> {
    if k == 1 {
        return limb;
    }
    let mut result = LimbBuf::unspecified(ring.n());
    ring.aut_eval(k, &mut result, &limb);
    result
}

/// The automorphism x -> x^k of a polynomial, on all threads.
fn image(context: &Context, k: u32, poly: &Limbs) -> Result<Limbs, SchemeError> {
    if k == 1 {
        return Ok(poly.clone());
    }
    fn of<W: ClientWord>(ring: &Ring<W>, k: u32, poly: &Limbs) -> Result<Limbs, SchemeError> {
        let limbs = W::view(poly).ok_or(SchemeError::Malformed {
            what: "key-switch key",
            why: "its words are not the parameters'".to_owned(),
        })?;
        let image = limbs.par_iter().map(|limb| {
            let mut image = LimbBuf::unspecified(ring.n());
            ring.aut_eval(k, &mut image, limb);
            Arc::new(image)
        });
        Ok(W::wrap(image.collect()))
    }
    with_ring!(context.ring(), ring => of(ring, k, poly))
}

/// A limb of a as it is sampled.
fn a_limb<W: ClientWord>(
    ring: &Ring<W>,
    seed: &Seed,
    spec: KeySpec,
    digit: usize,
    limb: usize,
) -> LimbBuf<W> {
    let [variant, exponent] = key_ids(spec);
    let ids = [variant, exponent, digit as u64, limb as u64];
    uniform_limb(ring, seed, "hint a", &ids, limb)
}

/// The b-half, by digit, as it is used: of an automorphism's key the pair is made
/// as it is stored, and then moved.
fn generate<W: ClientWord>(
    context: &Context,
    ring: &Ring<W>,
    secret: &SecretKey,
    seed: &Seed,
    spec: KeySpec,
) -> Result<Vec<Limbs>, SchemeError> {
    let params = context.params();
    let [variant, exponent] = key_ids(spec);
    let before = spec.target.before(params.n());
    (0..spec.digits(params))
        .map(|digit| {
            let ids = [variant, exponent, digit as u64];
            let error = ErrorPoly::sample(context, secret.root(), "hint error", &ids)?;
            let limbs: Result<Vec<_>, SchemeError> = (0..spec.limbs(params))
                .into_par_iter()
                .map(|m| {
                    let a = a_limb(ring, seed, spec, digit, m);
                    let mut error = error.limb(ring, m);
                    let gadget = gadget(params, spec.variant, digit, m);
                    if gadget != 0 {
                        add_source(ring, m, &mut error, secret, spec.target, gadget)?;
                    }
                    let mut b = LimbBuf::unspecified(ring.n());
                    ring.msub(m, &mut b, &error, &a, secret.limb(m)?);
                    Ok(Arc::new(moved(ring, before, b)))
                })
                .collect();
            Ok(W::wrap(limbs?))
        })
        .collect()
}

/// `g_d` modulo prime `m`: see [`KeyVariant`].
fn gadget(params: &Parameters, variant: KeyVariant, digit: usize, m: usize) -> u64 {
    if !variant
        .digit_range(params, digit, params.levels())
        .contains(&m)
    {
        return 0;
    }
    match variant {
        KeyVariant::Listing1 => 1,
        KeyVariant::Hybrid => {
            let q = params.moduli[m];
            params
                .special
                .iter()
                .fold(1, |product, &p| crate::params::mul_mod(product, p % q, q))
        }
    }
}

/// `dst + gadget s'` modulo prime `m`, in place; s' is what the stored pair hides,
/// s^2 or s(x^k).
fn add_source<W: ClientWord>(
    ring: &Ring<W>,
    m: usize,
    dst: &mut LimbBuf<W>,
    secret: &SecretKey,
    target: KeyTarget,
    gadget: u64,
) -> Result<(), SchemeError> {
    let s = secret.limb::<W>(m)?;
    let mut source = Zeroizing::new(LimbBuf::unspecified(ring.n()));
    match target {
        KeyTarget::Relin => ring.mul(m, &mut source, s, s),
        KeyTarget::Galois(k) => ring.aut_eval(k, &mut source, s),
    }
    let mut scaled = Zeroizing::new(LimbBuf::unspecified(ring.n()));
    ring.mul_c(m, &mut scaled, &source, gadget);
    // The source has served: its memory takes the sum.
    ring.add(m, &mut source, dst, &scaled);
    std::mem::swap(dst, &mut source);
    Ok(())
}

#[cfg(test)]
mod tests;
