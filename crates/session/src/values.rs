//! Cleartext values, as they come and go.

use std::sync::Arc;

use cyclotron_schemes::{Context, OperandValues, Parameters, Plaintext, Scheme};

use crate::error::SessionError;

/// Slot values: real ones (CKKS) or integers (BGV).
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Real slots.
    Real(Vec<f64>),
    /// Integer slots.
    Integers(Vec<i64>),
}

impl Values {
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Values::Real(values) => values.len(),
            Values::Integers(values) => values.len(),
        }
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
    /// [`SessionError::Values`] for numbers with a fraction in a BGV program.
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
