//! The type of a limb.

use std::fmt;

/// The domain of a residue polynomial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Domain {
    /// Coefficients, index i holds the coefficient of x^i.
    Coeff,
    /// Values: index i holds the value at `psi^(2 brv(i) + 1)`, psi the least
    /// primitive 2N-th root of unity modulo the limb's prime.
    Eval,
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Domain::Coeff => "coeff",
            Domain::Eval => "eval",
        })
    }
}

/// The type of a limb: its prime, by index into the program's table, and its domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LimbType {
    /// Index into [`crate::LimbProgram::moduli`].
    pub modulus: u16,
    /// Coefficient or evaluation domain.
    pub domain: Domain,
}

impl LimbType {
    /// A limb in coefficient domain.
    #[must_use]
    pub fn coeff(modulus: u16) -> Self {
        Self {
            modulus,
            domain: Domain::Coeff,
        }
    }

    /// A limb in evaluation domain.
    #[must_use]
    pub fn eval(modulus: u16) -> Self {
        Self {
            modulus,
            domain: Domain::Eval,
        }
    }
}

impl fmt::Display for LimbType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:m{}", self.domain, self.modulus)
    }
}
