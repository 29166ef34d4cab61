//! Ciphertexts.

use std::sync::Arc;

use crate::context::Context;
use crate::error::SchemeError;
use crate::limbs::Limbs;
use crate::params::ParamsHash;
use crate::scheme::Scheme;

/// A ciphertext at a level: polynomials in evaluation domain with one canonical
/// limb per data prime `0..level`.
///
/// CKKS: `c0 + c1 s (+ c2 s^2)` is the plaintext at `scale`, plus noise. BGV:
/// it is `factor` times the plaintext modulo t, plus t times noise.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Ciphertext {
    /// Hash of the parameters it belongs to.
    pub params: ParamsHash,
    /// Number of limbs of each polynomial.
    pub level: usize,
    /// Two polynomials, three before relinearization.
    pub polys: Vec<Limbs>,
    /// CKKS: the scale. BGV: 1.
    pub scale: f64,
    /// BGV: the correction factor, in `[1, t)`. CKKS: 1.
    pub factor: u64,
    /// The public seed that `polys[1]` was expanded from, if it was: it can be
    /// stored instead of the polynomial.
    pub seed: Option<[u8; 32]>,
    /// Why insecure parameters were accepted, if they were.
    pub insecure: Option<Arc<str>>,
}

impl Ciphertext {
    /// A ciphertext from limbs, as an evaluator makes it; it takes the
    /// parameters' hash and insecurity tag.
    ///
    /// # Errors
    /// [`SchemeError::Malformed`] if the limbs do not conform; see [`Self::check`].
    pub fn from_limbs(
        context: &Context,
        polys: Vec<Limbs>,
        scale: f64,
        factor: u64,
    ) -> Result<Self, SchemeError> {
        let ciphertext = Self::from_computed_limbs(context, polys, scale, factor)?;
        (0..ciphertext.level).try_for_each(|limb| ciphertext.check_limb(context, limb))?;
        Ok(ciphertext)
    }

    /// [`Self::from_limbs`] without a look at the words: for limbs that an executor
    /// has computed, whose results are canonical. Reading them all once more takes
    /// as long as an addition.
    ///
    /// # Errors
    /// [`SchemeError::Malformed`] if number, length or attributes do not conform.
    pub fn from_computed_limbs(
        context: &Context,
        polys: Vec<Limbs>,
        scale: f64,
        factor: u64,
    ) -> Result<Self, SchemeError> {
        let ciphertext = Self {
            params: context.hash(),
            level: polys.first().map_or(0, Limbs::len),
            polys,
            scale,
            factor,
            seed: None,
            insecure: context.insecure_tag(),
        };
        ciphertext.check_shape(context)?;
        Ok(ciphertext)
    }

    /// Checks that it belongs to the context's parameters and conforms: 2 or 3
    /// polynomials with as many limbs as its level, every word below its prime,
    /// a scale or factor in range, and the parameters' insecurity tag.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::BadLevel`] or
    /// [`SchemeError::Malformed`].
    pub fn check(&self, context: &Context) -> Result<(), SchemeError> {
        self.check_shape(context)?;
        (0..self.level).try_for_each(|limb| self.check_limb(context, limb))
    }

    /// Checks everything but the words of the limbs.
    pub(crate) fn check_shape(&self, context: &Context) -> Result<(), SchemeError> {
        context.check_hash("ciphertext", self.params)?;
        context.check_level(self.level)?;
        let malformed = |why: String| {
            Err(SchemeError::Malformed {
                what: "ciphertext",
                why,
            })
        };
        if !(2..=3).contains(&self.polys.len()) {
            return malformed(format!(
                "it has {} polynomials, not 2 or 3",
                self.polys.len()
            ));
        }
        let params = context.params();
        for (i, poly) in self.polys.iter().enumerate() {
            if poly.len() != self.level || poly.word_bits() != params.word_bits {
                return malformed(format!(
                    "polynomial {i} has {} limbs of {}-bit words, level {} needs {} of {}-bit words",
                    poly.len(),
                    poly.word_bits(),
                    self.level,
                    self.level,
                    params.word_bits
                ));
            }
        }
        let plain_ok = match params.scheme {
            Scheme::Ckks => self.scale.is_finite() && self.scale > 0.0 && self.factor == 1,
            Scheme::Bgv => {
                self.scale == 1.0 && (1..params.plaintext_modulus).contains(&self.factor)
            }
        };
        if !plain_ok {
            return malformed(format!(
                "scale {} or factor {} is out of range",
                self.scale, self.factor
            ));
        }
        if self.insecure.is_some() != params.insecure.is_some() {
            return malformed("its insecurity tag is not that of its parameters".to_owned());
        }
        Ok(())
    }

    /// Checks the words of one limb of every polynomial.
    pub(crate) fn check_limb(&self, context: &Context, limb: usize) -> Result<(), SchemeError> {
        let params = context.params();
        for (i, poly) in self.polys.iter().enumerate() {
            if let Some(at) = poly.fault_in(limb, params.moduli[limb], params.n()) {
                return Err(SchemeError::Malformed {
                    what: "ciphertext",
                    why: format!(
                        "limb {limb} of polynomial {i} is not canonical at index {at} of {}",
                        params.n()
                    ),
                });
            }
        }
        Ok(())
    }

    /// log2 of the scale (CKKS); 0 for BGV.
    #[must_use]
    pub fn scale_bits(&self) -> f64 {
        libm::log2(self.scale)
    }
}
