//! Parameters.
//!
//! # Layout
//! The block that every object bound to parameters starts with, so that it can
//! be read by itself: scheme u8, log2 N u8, word bits u8, security asked for
//! u16, base limbs u16, digit limbs u16, weight of a sparse secret u32 (0:
//! dense), scale bits f64, plaintext modulus u64, counts of data primes u16 and
//! special primes u16, the primes u64 each, and the reason for which less
//! security is acceptable as a string (empty: none).

use cyclotron_schemes::{Parameters, ParametersLiteral, Scheme, SecretKind};

use crate::cursor::{Put, Reader};
use crate::error::WireError;
use crate::frame::{Header, Kind, ParamsHash, open, seal};

/// The hash of parameters as headers carry it.
pub(crate) fn hash_of(params: &Parameters) -> ParamsHash {
    ParamsHash::of(&params.hash().0)
}

/// Parameters as bytes.
#[must_use]
pub fn encode_parameters(params: &Parameters) -> Vec<u8> {
    let mut body = Vec::new();
    put(&mut body, params);
    seal(Kind::Parameters, hash_of(params), &body)
}

/// Reads parameters and checks everything that is checked when they are made:
/// primes, sizes, and security.
///
/// # Errors
/// [`WireError`] if the frame is not well formed or the parameters are not valid.
pub fn decode_parameters(bytes: &[u8]) -> Result<Parameters, WireError> {
    let (header, body) = open(bytes, Kind::Parameters, None)?;
    let mut reader = Reader::new(body);
    let params = take(&mut reader, header.params)?;
    reader.finish()?;
    Ok(params)
}

/// The parameters that an object of any kind belongs to, read from its own block.
///
/// # Errors
/// [`WireError`] if the frame is not well formed, the kind is bound to no
/// parameters, or they are not valid. The rest of the body is not looked at.
pub fn parameters_of(bytes: &[u8]) -> Result<Parameters, WireError> {
    let kind = Header::read(bytes)?.kind;
    if matches!(kind, Kind::Program | Kind::LimbProgram) {
        let expected = Kind::Parameters;
        return Err(WireError::WrongKind {
            expected,
            found: kind,
        });
    }
    let (header, body) = open(bytes, kind, None)?;
    take(&mut Reader::new(body), header.params)
}

/// Writes the block.
pub(crate) fn put(body: &mut Vec<u8>, params: &Parameters) {
    body.push(match params.scheme {
        Scheme::Ckks => 0,
        Scheme::Bgv => 1,
    });
    body.push(params.log_n as u8);
    body.push(params.word_bits as u8);
    body.put_u16(params.wished_security as u16);
    body.put_u16(params.base_limbs as u16);
    body.put_u16(params.digit_limbs as u16);
    body.put_u32(match params.secret {
        SecretKind::Dense => 0,
        SecretKind::Sparse(weight) => weight,
    });
    body.put_f64(params.scale_bits);
    body.put_u64(params.plaintext_modulus);
    body.put_u16(params.moduli.len() as u16);
    body.put_u16(params.special.len() as u16);
    for &prime in params.moduli.iter().chain(&params.special) {
        body.put_u64(prime);
    }
    body.put_string(params.insecure.as_deref().unwrap_or(""));
}

/// Reads the block; the parameters must be those that the header names.
pub(crate) fn take(reader: &mut Reader<'_>, expected: ParamsHash) -> Result<Parameters, WireError> {
    let scheme = match reader.u8("scheme")? {
        0 => Scheme::Ckks,
        1 => Scheme::Bgv,
        other => {
            return Err(WireError::invalid(
                "scheme",
                format!("{other} is not assigned"),
            ));
        }
    };
    let mut literal = ParametersLiteral::new(scheme, u32::from(reader.u8("log2 N")?));
    literal.word_bits = Some(u32::from(reader.u8("word bits")?));
    literal.security = Some(u32::from(reader.u16("security")?));
    literal.base_limbs = Some(usize::from(reader.u16("base limbs")?));
    literal.digit_limbs = Some(usize::from(reader.u16("digit limbs")?));
    literal.secret = match reader.u32("secret")? {
        0 => SecretKind::Dense,
        weight => SecretKind::Sparse(weight),
    };
    let scale_bits = reader.f64("scale")?;
    let plaintext_modulus = reader.u64("plaintext modulus")?;
    literal.scale_bits = Some(scale_bits);
    literal.plaintext_modulus = Some(plaintext_modulus);
    let data = usize::from(reader.u16("data primes")?);
    let special = usize::from(reader.u16("special primes")?);
    literal.moduli = Some(primes(reader, data)?);
    literal.special_moduli = Some(primes(reader, special)?);
    let reason = reader.string("reason for less security")?;
    literal.allow_insecure = (!reason.is_empty()).then(|| reason.to_owned());
    let params = Parameters::from_literal(&literal)
        .map_err(|error| WireError::invalid("parameters", error))?;
    let found = hash_of(&params);
    if found != expected {
        return Err(WireError::ParametersMismatch { expected, found });
    }
    Ok(params)
}

fn primes(reader: &mut Reader<'_>, count: usize) -> Result<Vec<u64>, WireError> {
    let bytes = reader.take("primes", 8 * count as u64)?;
    let prime = |chunk: &[u8]| {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    Ok(bytes.chunks_exact(8).map(prime).collect())
}
