//! Encoded plaintexts: integer coefficients that become limbs one by one.

use std::sync::Arc;

use cyclotron_ring::{LimbBuf, Ring, Simd};
use zeroize::Zeroize;

use super::canonical_embedding::Complex;
use super::rounding::{Span, round_all};
use super::wide_coefficients::WideCoefficients;
use super::wide_complex::WideComplex;
use crate::context::Context;
use crate::error::SchemeError;
use crate::error_poly::ErrorPoly;
use crate::limbs::{AnyLimb, ClientWord, with_ring};
use crate::scheme::Scheme;

/// Integers below this are exact in f64.
const EXACT: f64 = 9_007_199_254_740_992.0;

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
    /// All below every prime of the chain, and so below 2^61.
    Narrow(Vec<i64>),
    /// Others.
    Wide(WideCoefficients),
}

impl Plaintext {
    /// Encodes complex numbers at `scale` for ciphertexts of `level`: slot j gets
    /// value j, missing slots get 0. Coefficients are rounded to the nearest
    /// integer, halves away from zero. They are computed in f64; in 106 bits
    /// where one is 2^53 or more, so that nothing is lost at high scales.
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
        check_values(context, values, level, scale)?;
        let simd = with_ring!(context.ring(), ring => ring.simd());
        let mut whole = embedding.coefficients(values, scale);
        let span = round_all(simd, &mut whole);
        if span.finite && span.largest >= EXACT {
            let values: Vec<WideComplex> = values.iter().map(|&z| z.into()).collect();
            let (whole, low) = embedding.wide_coefficients(&values, scale);
            if let Some(span) = wide_span(simd, &whole, &low) {
                return Self::fit(context, (whole, low), span, level, scale);
            }
            // Beyond the range of 106 bits: those of f64 must do.
        }
        Self::fit(context, (whole, Vec::new()), span, level, scale)
    }

    /// Encodes complex numbers of 106 bits; see [`Self::encode_complex`]. All is
    /// computed with 106 bits, whatever the scale.
    ///
    /// # Errors
    /// The same; [`SchemeError::Overflow`] also for coefficients beyond 2^995.
    pub fn encode_wide(
        context: &Context,
        values: &[WideComplex],
        level: usize,
        scale: f64,
    ) -> Result<Self, SchemeError> {
        let embedding = context.embedding()?;
        let narrow: Vec<Complex> = values.iter().map(|z| z.narrow()).collect();
        check_values(context, &narrow, level, scale)?;
        let (whole, low) = embedding.wide_coefficients(values, scale);
        let simd = with_ring!(context.ring(), ring => ring.simd());
        let span = wide_span(simd, &whole, &low).unwrap_or(Span {
            largest: 0.0,
            finite: false,
        });
        Self::fit(context, (whole, low), span, level, scale)
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
        (whole, mut low): (Vec<f64>, Vec<f64>),
        Span { largest, finite }: Span,
        level: usize,
        scale: f64,
    ) -> Result<Self, SchemeError> {
        let modulus_bits = context.params().log_q_at(level) - 1.0;
        // A coefficient that overflowed to infinity or NaN does not fit either.
        let coefficient_bits = if finite {
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
        let smallest_prime = context.params().extended().into_iter().min();
        let coefficients = if largest < smallest_prime.unwrap_or(0) as f64 {
            let mut narrow: Vec<i64> = whole.iter().map(|&c| c as i64).collect();
            for (narrow, low) in narrow.iter_mut().zip(low) {
                *narrow += low as i64;
            }
            Coefficients::Narrow(narrow)
        } else {
            low.resize(whole.len(), 0.0);
            Coefficients::Wide(with_ring!(context.ring(), ring => {
                WideCoefficients::new(ring, whole, low, largest)
            }))
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
        match &self.coefficients {
            Coefficients::Narrow(c) => 8 * c.len(),
            Coefficients::Wide(c) => c.size_bytes(),
        }
    }

    fn len(&self) -> usize {
        match &self.coefficients {
            Coefficients::Narrow(c) => c.len(),
            Coefficients::Wide(c) => c.whole().len(),
        }
    }

    /// The coefficients, rounded to f64; exact below 2^53.
    #[must_use]
    pub fn coefficients_f64(&self) -> Vec<f64> {
        match &self.coefficients {
            Coefficients::Narrow(c) => c.iter().map(|&c| c as f64).collect(),
            Coefficients::Wide(c) => c.whole().iter().zip(c.low()).map(|(a, b)| a + b).collect(),
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

    /// [`Self::limb`] for a typed ring.
    fn limb_of<W: ClientWord>(&self, ring: &Ring<W>, limb: usize) -> LimbBuf<W> {
        let mut dst = LimbBuf::unspecified(ring.n());
        self.residues(ring, limb, &mut dst);
        ring.ntt_in_place(limb, &mut dst);
        dst
    }

    /// The coefficients modulo prime `m`.
    pub(crate) fn residues<W: ClientWord>(&self, ring: &Ring<W>, m: usize, dst: &mut LimbBuf<W>) {
        match &self.coefficients {
            Coefficients::Narrow(coefficients) => ring.reduce_signed(m, dst, coefficients),
            Coefficients::Wide(coefficients) => coefficients.residues(ring, m, dst),
        }
    }

    /// Adds the plaintext to an error, as far as that can be done for all
    /// primes at once; the rest is returned and must be added modulo each.
    pub(crate) fn add_to(&self, error: &mut ErrorPoly) -> Option<&WideCoefficients> {
        match &self.coefficients {
            Coefficients::Narrow(coefficients) => {
                error.add(coefficients);
                None
            }
            Coefficients::Wide(coefficients) => Some(coefficients),
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
        absorb(hasher, &header, |x| x);
        match &self.coefficients {
            Coefficients::Narrow(c) => absorb(hasher, c, |x| x as u64),
            Coefficients::Wide(c) => {
                absorb(hasher, c.whole(), f64::to_bits);
                absorb(hasher, c.low(), f64::to_bits);
            }
        }
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

/// Refuses what cannot be encoded.
fn check_values(
    context: &Context,
    values: &[Complex],
    level: usize,
    scale: f64,
) -> Result<(), SchemeError> {
    context.check_level(level)?;
    check_count(values.len(), context.embedding()?.slots())?;
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
    Ok(())
}

/// The span of sums of whole numbers; nothing if one is not finite.
fn wide_span(simd: Simd, whole: &[f64], low: &[f64]) -> Option<Span> {
    let span = round_all(simd, &mut whole.to_vec());
    (span.finite && low.iter().all(|c| c.is_finite())).then_some(span)
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

/// Feeds words, little-endian, into a hash.
fn absorb<T: Copy>(hasher: &mut blake3::Hasher, words: &[T], bits: impl Fn(T) -> u64) {
    let mut bytes = [0; 8 * 2048];
    for chunk in words.chunks(2048) {
        for (bytes, &word) in bytes.as_chunks_mut().0.iter_mut().zip(chunk) {
            *bytes = bits(word).to_le_bytes();
        }
        hasher.update(&bytes[..8 * chunk.len()]);
    }
    bytes.zeroize();
}
