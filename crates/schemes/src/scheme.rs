//! Which scheme, and which distribution of secrets.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::ParameterError;

/// A homomorphic encryption scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Approximate arithmetic on real and complex numbers, N/2 slots.
    Ckks,
    /// Exact arithmetic modulo a prime t.
    Bgv,
}

impl Scheme {
    /// The name in files and on the command line: `ckks` or `bgv`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Ckks => "ckks",
            Scheme::Bgv => "bgv",
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scheme {
    type Err = ParameterError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "ckks" => Ok(Scheme::Ckks),
            "bgv" => Ok(Scheme::Bgv),
            other => Err(ParameterError::UnknownScheme {
                name: other.to_owned(),
            }),
        }
    }
}

/// The distribution of the secret's coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecretKind {
    /// Uniform in {-1, 0, 1}.
    #[default]
    Dense,
    /// Exactly so many coefficients are -1 or 1, the others are 0.
    Sparse(u32),
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretKind::Dense => f.write_str("dense ternary"),
            SecretKind::Sparse(h) => write!(f, "sparse ternary, weight {h}"),
        }
    }
}
