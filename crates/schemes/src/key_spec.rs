//! Names of key-switch keys and the shape of their hints.
//!
//! A hint switches a ciphertext part from one secret, `from`, to another, `to`.
//! It has one pair (b, a) of polynomials per digit of the gadget
//! decomposition: `b = -a to + e + g_d from` (BGV: `t e`), a uniform. Hints are
//! made at the top level; lower levels use sub-blocks of them.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::error::SchemeError;
use crate::params::Parameters;

/// What a key is for, and so what it switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyTarget {
    /// After a multiplication: s^2 to s.
    Relin,
    /// Before the automorphism x -> x^k, which takes s(x^(1/k)) to s: s to
    /// s(x^(1/k)); k odd, below 2N, 1/k its inverse modulo 2N.
    Galois(u32),
}

/// How a key switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyVariant {
    /// F1's Listing 1: one digit per data limb, no special primes.
    /// `g_i` is 1 modulo `q_i` and 0 modulo the other data primes.
    Listing1,
    /// Digits of [`Parameters::digit_limbs`] data limbs, special primes of product P.
    /// `g_d` is P modulo the primes of digit d and 0 modulo every other prime.
    Hybrid,
}

/// A key-switch key: `relin/hybrid`, `relin/listing1`, `galois:25/hybrid`, `galois:25/listing1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeySpec {
    /// What it is for.
    pub target: KeyTarget,
    /// How it switches.
    pub variant: KeyVariant,
}

impl KeySpec {
    /// The key that switches s^2 to s.
    #[must_use]
    pub fn relin(variant: KeyVariant) -> Self {
        Self {
            target: KeyTarget::Relin,
            variant,
        }
    }

    /// The key for the automorphism x -> x^k.
    #[must_use]
    pub fn galois(k: u32, variant: KeyVariant) -> Self {
        Self {
            target: KeyTarget::Galois(k),
            variant,
        }
    }

    /// Number of digits of the top-level hint.
    #[must_use]
    pub fn digits(&self, params: &Parameters) -> usize {
        self.variant.digits_at(params, params.levels())
    }

    /// Number of limbs of each polynomial of the hint: data primes, and for
    /// [`KeyVariant::Hybrid`] the special primes after them.
    #[must_use]
    pub fn limbs(&self, params: &Parameters) -> usize {
        match self.variant {
            KeyVariant::Listing1 => params.levels(),
            KeyVariant::Hybrid => params.levels() + params.special.len(),
        }
    }

    /// Whether the parameters have what the key needs.
    ///
    /// # Errors
    /// [`SchemeError::BadKey`] if a hybrid key is asked for without special
    /// primes, or the automorphism's exponent is not odd and below 2N.
    pub fn validate(&self, params: &Parameters) -> Result<(), SchemeError> {
        let bad = |why: String| SchemeError::BadKey {
            key: self.to_string(),
            why,
        };
        if self.variant == KeyVariant::Hybrid && params.special.is_empty() {
            return Err(bad(
                "these parameters have no special primes; use the listing1 variant or give the \
                 parameters a special prime"
                    .to_owned(),
            ));
        }
        if let KeyTarget::Galois(k) = self.target
            && (k.is_multiple_of(2) || u64::from(k) >= 2 * params.n() as u64)
        {
            return Err(bad(format!(
                "the exponent must be odd and below 2N = {}",
                2 * params.n()
            )));
        }
        Ok(())
    }
}

impl KeyTarget {
    /// The exponent 1/k modulo 2N of the automorphism that undoes this key's; 1 for
    /// relinearization.
    pub(crate) fn before(self, n: usize) -> u32 {
        match self {
            KeyTarget::Relin => 1,
            // k k = 1 modulo 8, and every step doubles the bits that are right.
            KeyTarget::Galois(k) => {
                let newton = |x: u32, _| x.wrapping_mul(2u32.wrapping_sub(k.wrapping_mul(x)));
                (0..4).fold(k, newton) & (2 * n - 1) as u32
            }
        }
    }
}

impl KeyVariant {
    /// Number of digits at `level` (its number of data limbs).
    #[must_use]
    pub fn digits_at(self, params: &Parameters, level: usize) -> usize {
        match self {
            KeyVariant::Listing1 => level,
            KeyVariant::Hybrid => level.div_ceil(params.digit_limbs),
        }
    }

    /// The data limbs of digit `digit` at `level`.
    #[must_use]
    pub fn digit_range(self, params: &Parameters, digit: usize, level: usize) -> Range<usize> {
        match self {
            KeyVariant::Listing1 => digit..(digit + 1).min(level),
            KeyVariant::Hybrid => {
                digit * params.digit_limbs..((digit + 1) * params.digit_limbs).min(level)
            }
        }
    }

    /// The name in key names: `listing1` or `hybrid`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            KeyVariant::Listing1 => "listing1",
            KeyVariant::Hybrid => "hybrid",
        }
    }
}

impl fmt::Display for KeyVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for KeyVariant {
    type Err = SchemeError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "listing1" => Ok(KeyVariant::Listing1),
            "hybrid" => Ok(KeyVariant::Hybrid),
            other => Err(SchemeError::BadKey {
                key: other.to_owned(),
                why: "a key-switch variant is `listing1` or `hybrid`".to_owned(),
            }),
        }
    }
}

impl fmt::Display for KeySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.target {
            KeyTarget::Relin => write!(f, "relin/{}", self.variant),
            KeyTarget::Galois(k) => write!(f, "galois:{k}/{}", self.variant),
        }
    }
}

impl FromStr for KeySpec {
    type Err = SchemeError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let bad = |why: &str| SchemeError::BadKey {
            key: name.to_owned(),
            why: why.to_owned(),
        };
        let (target, variant) = name
            .split_once('/')
            .ok_or_else(|| bad("expected `relin/VARIANT` or `galois:K/VARIANT`"))?;
        let variant = variant.parse()?;
        let target = match target.strip_prefix("galois:") {
            Some(k) => KeyTarget::Galois(
                k.parse()
                    .map_err(|_| bad("the exponent after `galois:` is not a number below 2^32"))?,
            ),
            None if target == "relin" => KeyTarget::Relin,
            None => return Err(bad("expected `relin/VARIANT` or `galois:K/VARIANT`")),
        };
        let spec = Self { target, variant };
        if spec.to_string() == name {
            Ok(spec)
        } else {
            Err(bad("write the exponent without sign and leading zeros"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for name in [
            "relin/hybrid",
            "relin/listing1",
            "galois:25/hybrid",
            "galois:32767/listing1",
        ] {
            assert_eq!(name.parse::<KeySpec>().unwrap().to_string(), name);
        }
        for name in [
            "relin",
            "galois:x/hybrid",
            "galois:-1/hybrid",
            "relin/ghs",
            "galois:+5/hybrid",
            "rotate:5/hybrid",
        ] {
            assert!(name.parse::<KeySpec>().is_err(), "{name}");
        }
    }
}
