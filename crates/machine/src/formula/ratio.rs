//! Exact fractions.

use std::fmt;

/// A fraction in lowest terms with a positive denominator. Operations return
/// `None` when the result does not fit 128-bit integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    numerator: i128,
    denominator: i128,
}

impl From<i128> for Ratio {
    fn from(value: i128) -> Self {
        Self {
            numerator: value,
            denominator: 1,
        }
    }
}

impl Ratio {
    fn new(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let divisor = gcd(numerator.checked_abs()?, denominator.checked_abs()?);
        let sign = denominator.signum();
        Some(Self {
            numerator: numerator / divisor * sign,
            denominator: denominator / divisor * sign,
        })
    }

    /// Reads `12`, `6.75` or `-0.5`: digits, at most 18 of them after the point.
    #[must_use]
    pub fn from_decimal(text: &str) -> Option<Self> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || fraction.len() > 18 || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let scale = 10i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let fraction = match fraction {
            "" => 0,
            digits => digits.parse::<i128>().ok()?,
        };
        let value = whole.parse::<i128>().ok()?.checked_mul(scale)?;
        Self::new(sign * value.checked_add(fraction)?, scale)
    }

    /// Whether it is 0.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self.numerator == 0
    }

    pub(super) fn add(self, other: Self) -> Option<Self> {
        let left = self.numerator.checked_mul(other.denominator)?;
        let right = other.numerator.checked_mul(self.denominator)?;
        let denominator = self.denominator.checked_mul(other.denominator)?;
        Self::new(left.checked_add(right)?, denominator)
    }

    pub(super) fn sub(self, other: Self) -> Option<Self> {
        let negative = Self::new(other.numerator.checked_neg()?, other.denominator)?;
        self.add(negative)
    }

    pub(super) fn mul(self, other: Self) -> Option<Self> {
        Self::new(
            self.numerator.checked_mul(other.numerator)?,
            self.denominator.checked_mul(other.denominator)?,
        )
    }

    pub(super) fn div(self, other: Self) -> Option<Self> {
        Self::new(
            self.numerator.checked_mul(other.denominator)?,
            self.denominator.checked_mul(other.numerator)?,
        )
    }

    /// Whether it is at most `other`; false when that cannot be decided in 128 bits.
    pub(super) fn le(self, other: Self) -> bool {
        self.sub(other)
            .is_some_and(|difference| difference.numerator <= 0)
    }

    /// The largest integer that is not above it.
    #[must_use]
    pub fn floor(self) -> i128 {
        self.numerator.div_euclid(self.denominator)
    }

    /// The smallest integer that is not below it.
    #[must_use]
    pub fn ceil(self) -> i128 {
        let exact = self.numerator.rem_euclid(self.denominator) == 0;
        self.floor() + i128::from(!exact)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator == 1 {
            write!(f, "{}", self.numerator)
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }
    }
}

/// At least 1.
fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}
