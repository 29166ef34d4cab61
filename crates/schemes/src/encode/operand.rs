//! Plaintext operands that are encoded on first use.

use std::sync::{Arc, Mutex, PoisonError};

use super::canonical_embedding::Complex;
use super::plaintext::Plaintext;
use crate::context::Context;
use crate::error::SchemeError;
use crate::limbs::AnyLimb;

/// Values of a plaintext operand, shared with the program that holds them.
#[derive(Debug, Clone, PartialEq)]
pub enum OperandValues {
    /// Real slots (CKKS).
    Real(Arc<[f64]>),
    /// Complex slots (CKKS).
    Complex(Arc<[Complex]>),
    /// Integer slots (BGV).
    Integers(Arc<[i64]>),
}

/// A plaintext operand at a level and a scale (CKKS) or correction factor
/// (BGV). It is encoded when its first limb is asked for; limbs are made one by
/// one and not kept, [`Self::release`] forgets the encoding.
#[derive(Debug)]
pub struct PlainOperand {
    name: Option<String>,
    values: OperandValues,
    level: usize,
    scale: f64,
    factor: u64,
    encoded: Mutex<Option<Arc<Plaintext>>>,
}

impl PlainOperand {
    /// An operand that will be encoded at `level` with `scale` (CKKS; ignored
    /// for BGV) or `factor` (BGV; ignored for CKKS).
    #[must_use]
    pub fn new(values: OperandValues, level: usize, scale: f64, factor: u64) -> Self {
        Self {
            name: None,
            values,
            level,
            scale,
            factor,
            encoded: Mutex::new(None),
        }
    }

    /// The operand with a name, which its errors then carry.
    #[must_use]
    pub fn with_name(self, name: &str) -> Self {
        Self {
            name: Some(name.to_owned()),
            ..self
        }
    }

    /// The encoding, made on first use. Threads that ask at the same time may
    /// both encode; the results are equal.
    ///
    /// # Errors
    /// What encoding reports; values of the other scheme's kind.
    pub fn plaintext(&self, context: &Context) -> Result<Arc<Plaintext>, SchemeError> {
        let held = |slot: &Mutex<Option<Arc<Plaintext>>>| {
            slot.lock().unwrap_or_else(PoisonError::into_inner).clone()
        };
        if let Some(plaintext) = held(&self.encoded) {
            return Ok(plaintext);
        }
        let plaintext = Arc::new(self.encode(context).map_err(|error| match &self.name {
            Some(name) => SchemeError::Operand {
                name: name.clone(),
                error: Box::new(error),
            },
            None => error,
        })?);
        *self.encoded.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&plaintext));
        Ok(plaintext)
    }

    fn encode(&self, context: &Context) -> Result<Plaintext, SchemeError> {
        match &self.values {
            OperandValues::Real(x) => Plaintext::encode_real(context, x, self.level, self.scale),
            OperandValues::Complex(z) => {
                Plaintext::encode_complex(context, z, self.level, self.scale)
            }
            OperandValues::Integers(x) => {
                Plaintext::encode_integers(context, x, self.level, self.factor)
            }
        }
    }

    /// A limb in evaluation domain.
    ///
    /// # Errors
    /// What encoding reports, or a limb beyond the chain.
    pub fn limb(&self, context: &Context, limb: usize) -> Result<AnyLimb, SchemeError> {
        self.plaintext(context)?.limb(context, limb)
    }

    /// Forgets the encoding; the next limb encodes again.
    pub fn release(&self) {
        *self.encoded.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
