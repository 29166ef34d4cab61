//! Ciphertexts.
//!
//! # Layout
//! The parameters' block, level u16, polynomials u8 (2 or 3), seeded u8 (1: the
//! second polynomial is stored as the seed that it was expanded from), scale
//! f64, factor u64, the seed if there is one, then the limbs of the stored
//! polynomials, `level` limbs of N words each.

use std::sync::Arc;

use cyclotron_ring::{Ring, Word};
use cyclotron_schemes::{AnyRing, Ciphertext, ClientWord, Context, Limbs, Parameters, expand_mask};

use crate::cursor::{Put, Reader};
use crate::error::WireError;
use crate::frame::{Kind, open, seal};
use crate::parameters;

/// A ciphertext as bytes.
///
/// # Panics
/// If the ciphertext belongs to other parameters than the context's.
#[must_use]
pub fn encode_ciphertext(context: &Context, ciphertext: &Ciphertext) -> Vec<u8> {
    assert_eq!(
        ciphertext.params,
        context.hash(),
        "a ciphertext of these parameters"
    );
    let params = context.params();
    let mut body = Vec::new();
    parameters::put(&mut body, params);
    body.put_u16(ciphertext.level as u16);
    body.push(ciphertext.polys.len() as u8);
    body.push(u8::from(ciphertext.seed.is_some()));
    body.put_f64(ciphertext.scale);
    body.put_u64(ciphertext.factor);
    if let Some(seed) = &ciphertext.seed {
        body.extend_from_slice(seed);
    }
    for (index, poly) in ciphertext.polys.iter().enumerate() {
        if index != 1 || ciphertext.seed.is_none() {
            put_limbs(&mut body, poly);
        }
    }
    seal(Kind::Ciphertext, parameters::hash_of(params), &body)
}

/// What a ciphertext's bytes say before its limbs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CiphertextFields {
    /// Number of limbs of each polynomial.
    pub level: usize,
    /// Number of polynomials, 2 or 3.
    pub polys: usize,
    /// CKKS: the scale. BGV: 1.
    pub scale: f64,
    /// BGV: the correction factor. CKKS: 1.
    pub factor: u64,
    /// The seed of the second polynomial, if that is stored so.
    pub seed: Option<[u8; 32]>,
}

impl CiphertextFields {
    /// Limbs that are stored.
    fn stored(&self) -> usize {
        (self.polys - usize::from(self.seed.is_some())) * self.level
    }
}

/// Reads everything but the limbs: what there is to know without a ring. The
/// length is checked, the residues are not.
///
/// # Errors
/// [`WireError`] if the frame is not well formed, or level and parameters imply
/// another length.
pub fn inspect_ciphertext(bytes: &[u8]) -> Result<(Parameters, CiphertextFields), WireError> {
    let (header, body) = open(bytes, Kind::Ciphertext, None)?;
    let mut reader = Reader::new(body);
    let params = parameters::take(&mut reader, header.params)?;
    let fields = take_fields(&mut reader, &params)?;
    Ok((params, fields))
}

/// Reads a ciphertext of the context's parameters and checks that it conforms.
///
/// # Errors
/// [`WireError`], before anything is allocated if the length is not what level
/// and parameters imply.
pub fn decode_ciphertext(context: &Context, bytes: &[u8]) -> Result<Ciphertext, WireError> {
    let expected = parameters::hash_of(context.params());
    let (header, body) = open(bytes, Kind::Ciphertext, Some(expected))?;
    let mut reader = Reader::new(body);
    parameters::take(&mut reader, header.params)?;
    let fields = take_fields(&mut reader, context.params())?;
    let level = fields.level;
    let mut limbs = (0..fields.stored() / level)
        .map(|poly| take_limbs(&mut reader, context, level, &format!("polynomial {poly}")))
        .collect::<Result<Vec<_>, _>>()?;
    reader.finish()?;
    let invalid = |error| WireError::invalid("ciphertext", error);
    if let Some(seed) = fields.seed {
        limbs.push(expand_mask(context, seed, level).map_err(invalid)?);
    }
    let ciphertext = Ciphertext::from_limbs(context, limbs, fields.scale, fields.factor);
    let mut ciphertext = ciphertext.map_err(invalid)?;
    ciphertext.seed = fields.seed;
    Ok(ciphertext)
}

fn take_fields(
    reader: &mut Reader<'_>,
    params: &Parameters,
) -> Result<CiphertextFields, WireError> {
    let level = usize::from(reader.u16("level")?);
    let polys = usize::from(reader.u8("polynomials")?);
    let seeded = match reader.u8("seeded")? {
        0 => false,
        1 => true,
        other => {
            return Err(WireError::invalid(
                "seeded",
                format!("{other} is not 0 or 1"),
            ));
        }
    };
    let scale = reader.f64("scale")?;
    let factor = reader.u64("factor")?;
    let levels = params.levels();
    if !(1..=levels).contains(&level) {
        let why = format!("{level} is not between 1 and {levels}");
        return Err(WireError::invalid("level", why));
    }
    if !(2..=3).contains(&polys) || (seeded && polys != 2) {
        let why = format!("{polys} (seeded: {seeded}); a ciphertext has 2 or 3, a seeded one 2");
        return Err(WireError::invalid("polynomials", why));
    }
    let seed = if seeded {
        Some(reader.array("seed")?)
    } else {
        None
    };
    let fields = CiphertextFields {
        level,
        polys,
        scale,
        factor,
        seed,
    };
    reader.expect_rest("a ciphertext", limbs_bytes(params, fields.stored()))?;
    Ok(fields)
}

/// Bytes of `count` stored limbs.
pub(crate) fn limbs_bytes(params: &Parameters, count: usize) -> u64 {
    (count * params.n()) as u64 * u64::from(params.word_bits / 8)
}

pub(crate) fn put_limbs(body: &mut Vec<u8>, limbs: &Limbs) {
    match limbs {
        Limbs::W32(limbs) => limbs.iter().for_each(|limb| body.put_limb(limb)),
        Limbs::W64(limbs) => limbs.iter().for_each(|limb| body.put_limb(limb)),
    }
}

/// Reads `count` limbs modulo the first primes of the extended chain.
pub(crate) fn take_limbs(
    reader: &mut Reader<'_>,
    context: &Context,
    count: usize,
    name: &str,
) -> Result<Limbs, WireError> {
    fn take<W: Word + ClientWord>(
        reader: &mut Reader<'_>,
        ring: &Ring<W>,
        count: usize,
        name: &str,
    ) -> Result<Limbs, WireError> {
        let limb = |m: usize| {
            let place = || format!("limb {m} of {name}");
            reader
                .limb::<W>(place, ring.n(), ring.modulus(m))
                .map(Arc::new)
        };
        (0..count)
            .map(limb)
            .collect::<Result<Vec<_>, _>>()
            .map(W::wrap)
    }
    match context.ring() {
        AnyRing::W32(ring) => take(reader, ring, count, name),
        AnyRing::W64(ring) => take(reader, ring, count, name),
    }
}
