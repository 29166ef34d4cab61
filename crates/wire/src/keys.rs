//! Keys.
//!
//! # Layout
//! Each body starts with the parameters' block.
//! - Secret key: deterministic u8 (1: the client encrypts from its seed, for
//!   tests), seed, 32 bytes. Everything else is derived from it.
//! - Public key: seed of the a-half, then the b-half, a limb per data prime.
//! - Evaluation keys: count u32, then for each key its target u8 (0
//!   relinearization, 1 automorphism), variant u8 (0 Listing 1, 1 hybrid),
//!   exponent u32 and seed of the a-half, sorted; then the b-halves in the same
//!   order, digit by digit, a limb per prime of the variant.

use cyclotron_ring::prf::Seed;
use cyclotron_schemes::{
    Context, KeySpec, KeyTarget, KeyVariant, Parameters, PublicKey, SecretKey, SwitchKey,
};

use crate::ciphertext::{limbs_bytes, put_limbs, take_limbs};
use crate::cursor::{Put, Reader};
use crate::error::WireError;
use crate::frame::{Kind, ParamsHash, open, seal};
use crate::parameters;

/// Bytes of a key's entry in the table of evaluation keys.
const ENTRY_BYTES: u64 = 38;

/// A secret key as bytes: whoever has them can decrypt.
#[must_use]
pub fn encode_secret_key(context: &Context, key: &SecretKey, deterministic: bool) -> Vec<u8> {
    let mut body = Vec::new();
    parameters::put(&mut body, context.params());
    body.push(u8::from(deterministic));
    body.extend_from_slice(key.seed().as_bytes());
    let hash = parameters::hash_of(context.params());
    let bytes = seal(Kind::SecretKey, hash, &body);
    zeroize::Zeroize::zeroize(&mut body);
    bytes
}

/// Reads the parameters, the seed and whether encryption is deterministic.
///
/// # Errors
/// [`WireError`] if the frame is not well formed.
pub fn decode_secret_key(bytes: &[u8]) -> Result<(Parameters, Seed, bool), WireError> {
    let (header, body) = open(bytes, Kind::SecretKey, None)?;
    let mut reader = Reader::new(body);
    let params = parameters::take(&mut reader, header.params)?;
    let deterministic = match reader.u8("deterministic")? {
        0 => false,
        1 => true,
        _ => return Err(WireError::invalid("deterministic", "it is not 0 or 1")),
    };
    let seed = Seed::from_bytes(reader.array("seed")?);
    reader.finish()?;
    Ok((params, seed, deterministic))
}

/// A public encryption key as bytes.
#[must_use]
pub fn encode_public_key(context: &Context, key: &PublicKey) -> Vec<u8> {
    let mut body = Vec::new();
    parameters::put(&mut body, context.params());
    body.extend_from_slice(key.seed());
    put_limbs(&mut body, key.b());
    seal(
        Kind::PublicKey,
        parameters::hash_of(context.params()),
        &body,
    )
}

/// Reads a public key of the context's parameters.
///
/// # Errors
/// [`WireError`], before anything is allocated if the length is not what the
/// parameters imply.
pub fn decode_public_key(context: &Context, bytes: &[u8]) -> Result<PublicKey, WireError> {
    let expected = parameters::hash_of(context.params());
    let (header, body) = open(bytes, Kind::PublicKey, Some(expected))?;
    let mut reader = Reader::new(body);
    parameters::take(&mut reader, header.params)?;
    let seed = reader.array("seed")?;
    let levels = context.params().levels();
    reader.expect_rest("a public key", limbs_bytes(context.params(), levels))?;
    let b = take_limbs(&mut reader, context, levels, "the public key")?;
    reader.finish()?;
    PublicKey::from_parts(context, seed, b).map_err(|error| WireError::invalid("public key", error))
}

/// Key-switch keys as bytes, in the order of their specifications.
///
/// # Errors
/// [`WireError::ParametersMismatch`] if a key belongs to other parameters than the context.
pub fn encode_evaluation_keys<'a>(
    context: &Context,
    keys: impl IntoIterator<Item = &'a SwitchKey>,
) -> Result<Vec<u8>, WireError> {
    let mut keys: Vec<&SwitchKey> = keys.into_iter().collect();
    keys.sort_by_key(|key| key.spec());
    let hash = parameters::hash_of(context.params());
    let hashes = keys.iter().map(|key| ParamsHash::of(&key.params().0));
    if let Some(found) = hashes.into_iter().find(|&found| found != hash) {
        return Err(WireError::ParametersMismatch {
            expected: hash,
            found,
        });
    }
    let mut body = Vec::new();
    parameters::put(&mut body, context.params());
    body.put_u32(keys.len() as u32);
    for key in &keys {
        let (target, exponent) = match key.spec().target {
            KeyTarget::Relin => (0, 0),
            KeyTarget::Galois(exponent) => (1, exponent),
        };
        body.push(target);
        body.push(match key.spec().variant {
            KeyVariant::Listing1 => 0,
            KeyVariant::Hybrid => 1,
        });
        body.put_u32(exponent);
        body.extend_from_slice(key.seed());
    }
    for key in &keys {
        let stored = key.stored_b(context);
        let stored = stored.map_err(|error| WireError::invalid("evaluation keys", error))?;
        stored.iter().for_each(|digit| put_limbs(&mut body, digit));
    }
    Ok(seal(Kind::EvaluationKeys, hash, &body))
}

/// Reads key-switch keys of the context's parameters.
///
/// # Errors
/// [`WireError`], before anything is allocated if the length is not what the
/// table of keys and the parameters imply.
pub fn decode_evaluation_keys(
    context: &Context,
    bytes: &[u8],
) -> Result<Vec<SwitchKey>, WireError> {
    let expected = parameters::hash_of(context.params());
    let (header, body) = open(bytes, Kind::EvaluationKeys, Some(expected))?;
    let mut reader = Reader::new(body);
    parameters::take(&mut reader, header.params)?;
    let count = reader.count("evaluation keys", ENTRY_BYTES)?;
    let mut table: Vec<(KeySpec, [u8; 32])> = Vec::with_capacity(count);
    let mut limbs = 0;
    for _ in 0..count {
        let (spec, seed) = take_entry(&mut reader, context)?;
        if table.last().is_some_and(|(before, _)| *before >= spec) {
            let why = format!("{spec} is twice there or out of order");
            return Err(WireError::invalid("evaluation keys", why));
        }
        limbs += spec.digits(context.params()) * spec.limbs(context.params());
        table.push((spec, seed));
    }
    reader.expect_rest("evaluation keys", limbs_bytes(context.params(), limbs))?;
    let keys = table
        .into_iter()
        .map(|(spec, seed)| {
            let count = spec.limbs(context.params());
            let b = (0..spec.digits(context.params()))
                .map(|digit| {
                    let name = format!("digit {digit} of {spec}");
                    take_limbs(&mut reader, context, count, &name)
                })
                .collect::<Result<Vec<_>, _>>()?;
            SwitchKey::from_parts(context, spec, seed, b)
                .map_err(|error| WireError::invalid("evaluation keys", error))
        })
        .collect::<Result<Vec<_>, _>>()?;
    reader.finish()?;
    Ok(keys)
}

fn take_entry(
    reader: &mut Reader<'_>,
    context: &Context,
) -> Result<(KeySpec, [u8; 32]), WireError> {
    let target = reader.u8("target")?;
    let variant = match reader.u8("variant")? {
        0 => KeyVariant::Listing1,
        1 => KeyVariant::Hybrid,
        other => {
            return Err(WireError::invalid(
                "variant",
                format!("{other} is not assigned"),
            ));
        }
    };
    let exponent = reader.u32("exponent")?;
    let target = match (target, exponent) {
        (0, 0) => KeyTarget::Relin,
        (1, exponent) => KeyTarget::Galois(exponent),
        other => {
            return Err(WireError::invalid(
                "target",
                format!("{other:?} is not assigned"),
            ));
        }
    };
    let spec = KeySpec { target, variant };
    spec.validate(context.params())
        .map_err(|error| WireError::invalid("evaluation keys", error))?;
    Ok((spec, reader.array("seed")?))
}
