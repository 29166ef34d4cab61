//! Encoded plaintexts: integer coefficients that become limbs one by one.

use std::sync::Arc;

use cyclotron_ring::{LimbBuf, Modulus, Ring, reduce_signed};

use super::canonical_embedding::Complex;
use crate::context::Context;
use crate::error::SchemeError;
use crate::limbs::{AnyLimb, ClientWord, with_ring};
use crate::scheme::Scheme;

/// Coefficients of this magnitude and above are kept as floating-point numbers.
const NARROW: f64 = 9.2e18;

/// An integer polynomial with the scale or factor of its encoding.
#[derive(Debug, Clone, PartialEq)]
pub struct Plaintext {
    coefficients: Coefficients,
    level: usize,
    scale: f64,
    factor: u64,
}

#[derive(Debug, Clone, PartialEq)]
enum Coefficients {
    /// All below 2^63.
    Narrow(Vec<i64>),
    /// Integers in floating point.
    Wide(Vec<f64>),
}

impl Plaintext {
    /// Encodes complex numbers at `scale` for ciphertexts of `level`: slot j gets
    /// value j, missing slots get 0. Coefficients are rounded to the nearest
    /// integer, halves away from zero.
    ///
    /// # Errors
    /// Too many values, a value that is not finite, or a coefficient that does
    /// not fit the modulus of the level.
    pub fn encode_complex(
        context: &Context,
        values: &[Complex],
        level: usize,
        scale: f64,
    ) -> Result<Self, SchemeError> {
        let embedding = context.embedding()?;
        context.check_level(level)?;
        check_count(values.len(), embedding.slots())?;
        if !(scale.is_finite() && scale > 0.0) {
            return Err(SchemeError::BadScale {
                scale: scale.to_string(),
            });
        }
        if let Some(slot) = values
            .iter()
            .position(|z| !(z.re.is_finite() && z.im.is_finite()))
        {
            let Complex { re, im } = values[slot];
            let value = if im == 0.0 {
                re.to_string()
            } else {
                format!("{re} + {im}i")
            };
            return Err(SchemeError::NotFinite { slot, value });
        }
        let mut coefficients = embedding.coefficients(values, scale);
        coefficients.iter_mut().for_each(|c| *c = c.round());
        Self::fit(context, coefficients, level, scale)
    }

    /// Encodes real numbers; see [`Self::encode_complex`].
    ///
    /// # Errors
    /// The same.
    pub fn encode_real(
        context: &Context,
        values: &[f64],
        level: usize,
        scale: f64,
    ) -> Result<Self, SchemeError> {
        check_count(values.len(), context.embedding()?.slots())?;
        let values: Vec<Complex> = values.iter().map(|&x| Complex::from(x)).collect();
        Self::encode_complex(context, &values, level, scale)
    }

    /// Encodes integers modulo t for BGV ciphertexts of `level` whose correction
    /// factor is `factor`: the slots are `factor` times the values. Integers are
    /// taken modulo t, whatever their size.
    ///
    /// # Errors
    /// Too many values, or a factor that is 0 modulo t.
    pub fn encode_integers(
        context: &Context,
        values: &[i64],
        level: usize,
        factor: u64,
    ) -> Result<Self, SchemeError> {
        let codec = context.slot_codec()?;
        context.check_level(level)?;
        let t = context.params().plaintext_modulus;
        if factor.is_multiple_of(t) {
            return Err(SchemeError::Malformed {
                what: "plaintext",
                why: format!("its correction factor {factor} is 0 modulo {t}"),
            });
        }
        Ok(Self {
            coefficients: Coefficients::Narrow(codec.coefficients(values, factor)?),
            level,
            scale: 1.0,
            factor: factor % t,
        })
    }

    fn fit(
        context: &Context,
        coefficients: Vec<f64>,
        level: usize,
        scale: f64,
    ) -> Result<Self, SchemeError> {
        let largest = coefficients
            .iter()
            .fold(0.0, |max: f64, c| max.max(c.abs()));
        let modulus_bits = context.params().log_q_at(level) - 1.0;
        // A coefficient that overflowed to infinity or NaN does not fit either.
        let coefficient_bits = if coefficients.iter().all(|c| c.is_finite()) {
            libm::log2(largest.max(1.0))
        } else {
            f64::INFINITY
        };
        if coefficient_bits >= modulus_bits {
            return Err(SchemeError::Overflow {
                scale_bits: libm::log2(scale),
                coefficient_bits,
                level,
                modulus_bits,
            });
        }
        let coefficients = if largest < NARROW {
            Coefficients::Narrow(coefficients.iter().map(|&c| c as i64).collect())
        } else {
            Coefficients::Wide(coefficients)
        };
        Ok(Self {
            coefficients,
            level,
            scale,
            factor: 1,
        })
    }

    /// The level whose ciphertexts it fits.
    #[must_use]
    pub fn level(&self) -> usize {
        self.level
    }

    /// The scale (CKKS); 1 for BGV.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The correction factor (BGV); 1 for CKKS.
    #[must_use]
    pub fn factor(&self) -> u64 {
        self.factor
    }

    /// Bytes that the coefficients take.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        8 * self.len()
    }

    fn len(&self) -> usize {
        match &self.coefficients {
            Coefficients::Narrow(c) => c.len(),
            Coefficients::Wide(c) => c.len(),
        }
    }

    /// The coefficients; exact, since wide ones are whole numbers in floating point.
    #[must_use]
    pub fn coefficients_f64(&self) -> Vec<f64> {
        match &self.coefficients {
            Coefficients::Narrow(c) => c.iter().map(|&c| c as f64).collect(),
            Coefficients::Wide(c) => c.clone(),
        }
    }

    /// A limb in evaluation domain, canonical; `limb` is a position in the
    /// extended chain and need not be below the level.
    ///
    /// # Errors
    /// [`SchemeError::NoSuchLimb`] beyond the chain, [`SchemeError::Malformed`]
    /// if the plaintext was made for another ring degree.
    pub fn limb(&self, context: &Context, limb: usize) -> Result<AnyLimb, SchemeError> {
        if limb >= context.params().levels() + context.params().special.len() {
            return Err(SchemeError::NoSuchLimb {
                what: "plaintext".to_owned(),
                digit: 0,
                poly: 0,
                limb,
            });
        }
        if self.len() != context.params().n() {
            return Err(SchemeError::Malformed {
                what: "plaintext",
                why: format!(
                    "it has {} coefficients, not {}",
                    self.len(),
                    context.params().n()
                ),
            });
        }
        Ok(
            with_ring!(context.ring(), ring => ClientWord::wrap_limb(Arc::new(self.limb_of(ring, limb)))),
        )
    }

    /// [`Self::limb`] for a typed ring; with `noise` added to the coefficients first.
    fn limb_of<W: ClientWord>(&self, ring: &Ring<W>, limb: usize) -> LimbBuf<W> {
        let mut dst = LimbBuf::zeroed(ring.n());
        self.residues(ring.arithmetic(limb), &mut dst);
        ring.ntt_in_place(limb, &mut dst);
        dst
    }

    /// The coefficients modulo one prime.
    pub(crate) fn residues<W: ClientWord>(&self, modulus: &Modulus, dst: &mut [W]) {
        match &self.coefficients {
            Coefficients::Narrow(coefficients) => reduce_signed(modulus, dst, coefficients),
            Coefficients::Wide(coefficients) => {
                for (word, &c) in dst.iter_mut().zip(coefficients) {
                    *word = W::from_u64(reduce_whole(modulus, c));
                }
            }
        }
    }

    /// Feeds level, scale, factor and coefficients into a hash.
    pub(crate) fn absorb(&self, hasher: &mut blake3::Hasher) {
        let header = [
            self.level as u64,
            self.scale.to_bits(),
            self.factor,
            self.len() as u64,
        ];
        let mut bytes: Vec<u8> = header.iter().flat_map(|x| x.to_le_bytes()).collect();
        match &self.coefficients {
            Coefficients::Narrow(c) => bytes.extend(c.iter().flat_map(|x| x.to_le_bytes())),
            Coefficients::Wide(c) => bytes.extend(c.iter().flat_map(|x| x.to_bits().to_le_bytes())),
        }
        hasher.update(&bytes);
    }

    /// Refuses a plaintext of another scheme's or other parameters' shape.
    pub(crate) fn check(&self, context: &Context) -> Result<(), SchemeError> {
        context.check_level(self.level)?;
        if self.len() != context.params().n() {
            return Err(SchemeError::Malformed {
                what: "plaintext",
                why: format!(
                    "it has {} coefficients, not {}",
                    self.len(),
                    context.params().n()
                ),
            });
        }
        let bgv = context.params().scheme == Scheme::Bgv;
        if bgv && self.factor >= context.params().plaintext_modulus {
            return Err(SchemeError::Malformed {
                what: "plaintext",
                why: "its correction factor is not below t".to_owned(),
            });
        }
        Ok(())
    }
}

fn check_count(values: usize, slots: usize) -> Result<(), SchemeError> {
    if values <= slots {
        return Ok(());
    }
    Err(SchemeError::TooManySlots {
        values,
        slots,
        hint: String::new(),
    })
}

/// `c mod q` for a whole number c in floating point.
fn reduce_whole(modulus: &Modulus, c: f64) -> u64 {
    let bits = c.abs().to_bits();
    let exponent = (bits >> 52) as i64 - 1075;
    let magnitude = if exponent <= 0 {
        modulus.reduce(c.abs() as u64)
    } else {
        let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
        modulus.mul(mantissa, modulus.pow(2, exponent as u64))
    };
    if c < 0.0 {
        modulus.neg(magnitude)
    } else {
        magnitude
    }
}
