//! Cleartext values, as they come and go.

use std::sync::Arc;

use cyclotron_schemes::{
    Context, DoubleDouble, OperandValues, Parameters, Plaintext, Scheme, WideComplex,
};

use crate::error::SessionError;

/// Slot values: real ones (CKKS) or integers (BGV).
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Real slots.
    Real(Vec<f64>),
    /// Integer slots.
    Integers(Vec<i64>),
    /// Real slots of 106 bits, for encrypted inputs and results at high scales (CKKS).
    Wide(Vec<DoubleDouble>),
}

impl Values {
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Values::Real(values) => values.len(),
            Values::Integers(values) => values.len(),
            Values::Wide(values) => values.len(),
        }
    }

    /// Real slots of 106 bits: the sums of two f64 each. They are taken as they come, in
    /// any order of size and with overlapping digits.
    ///
    /// # Errors
    /// [`SessionError::Values`] if there are not as many low parts as high ones.
    pub fn wide(name: &str, high: &[f64], low: &[f64]) -> Result<Self, SessionError> {
        if high.len() != low.len() {
            return Err(SessionError::Values {
                name: name.to_owned(),
                why: format!("{} high parts and {} low ones", high.len(), low.len()),
            });
        }
        let sum = |(&a, &b): (&f64, &f64)| {
            // Knuth's sum: `hi` is the nearest f64, `lo` what that leaves, exactly.
            let hi = a + b;
            let seen = hi - a;
            let lo = (a - (hi - seen)) + (b - seen);
            DoubleDouble { hi, lo }
        };
        Ok(Values::Wide(high.iter().zip(low).map(sum).collect()))
    }

    /// The slots with their positions, rounded to f64.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let number = |slot: usize| match self {
            Values::Real(values) => values[slot],
            Values::Integers(values) => values[slot] as f64,
            Values::Wide(values) => values[slot].hi,
        };
        (0..self.len()).map(move |slot| (slot, number(slot)))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values in the form that the scheme encodes. Integers may stand for
    /// reals, and reals for integers where they are whole numbers.
    ///
    /// # Errors
    /// [`SessionError::Values`] for numbers with a fraction in a BGV program, and for
    /// numbers of 106 bits.
    pub fn operand(&self, params: &Parameters, name: &str) -> Result<OperandValues, SessionError> {
        Ok(match (params.scheme, self) {
            (Scheme::Ckks, Values::Real(values)) => OperandValues::Real(values.as_slice().into()),
            (Scheme::Ckks, Values::Integers(values)) => {
                OperandValues::Real(values.iter().map(|&v| v as f64).collect())
            }
            (Scheme::Bgv, Values::Integers(values)) => {
                OperandValues::Integers(values.as_slice().into())
            }
            (Scheme::Bgv, Values::Real(values)) => OperandValues::Integers(whole(values, name)?),
            (_, Values::Wide(_)) => {
                return Err(SessionError::Values {
                    name: name.to_owned(),
                    why: "numbers of 106 bits are for encrypted inputs of CKKS programs; round \
                          them to 53"
                        .to_owned(),
                });
            }
        })
    }

    /// Encodes at a level and a scale (CKKS) or factor (BGV).
    pub(crate) fn encode(
        &self,
        context: &Context,
        name: &str,
        level: usize,
        scale: f64,
        factor: u64,
    ) -> Result<Plaintext, SessionError> {
        if let (Scheme::Ckks, Values::Wide(values)) = (context.params().scheme, self) {
            let im = DoubleDouble::default();
            let values: Vec<_> = values.iter().map(|&re| WideComplex { re, im }).collect();
            return Ok(Plaintext::encode_wide(context, &values, level, scale)?);
        }
        Ok(match self.operand(context.params(), name)? {
            OperandValues::Real(x) => Plaintext::encode_real(context, &x, level, scale)?,
            OperandValues::Complex(z) => Plaintext::encode_complex(context, &z, level, scale)?,
            OperandValues::Integers(x) => Plaintext::encode_integers(context, &x, level, factor)?,
        })
    }
}

/// Above this, f64 does not hold every whole number.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn whole(values: &[f64], name: &str) -> Result<Arc<[i64]>, SessionError> {
    let convert = |(slot, &value): (usize, &f64)| {
        if value.fract() == 0.0 && value.abs() <= EXACT {
            return Ok(value as i64);
        }
        Err(SessionError::Values {
            name: name.to_owned(),
            why: format!(
                "slot {slot} is {value}; BGV computes on whole numbers of at most 53 bits"
            ),
        })
    };
    values.iter().enumerate().map(convert).collect()
}
