//! Which instructions the kernels use.

use std::fmt;
use std::str::FromStr;

use crate::error::RingError;

/// A family of kernels. All families give the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Simd {
    /// Portable code, the definition of every kernel.
    Scalar,
    /// 256-bit vectors.
    Avx2,
    /// 512-bit vectors (AVX-512 F, BW, DQ and VL; IFMA is used where present).
    Avx512,
}

impl Simd {
    /// Every family, slowest first.
    pub const ALL: [Simd; 3] = [Simd::Scalar, Simd::Avx2, Simd::Avx512];

    /// The environment variable that forces a family: `scalar`, `avx2` or `avx512`.
    pub const ENV: &'static str = "CYCLOTRON_SIMD";

    /// The fastest family of this processor, or the one that the environment
    /// variable [`Simd::ENV`] names.
    ///
    /// # Errors
    /// [`RingError::UnknownSimd`] or [`RingError::SimdUnavailable`] if the
    /// variable names no family, or one that the processor lacks.
    pub fn detect() -> Result<Simd, RingError> {
        match std::env::var_os(Self::ENV) {
            Some(name) if !name.is_empty() => name.to_string_lossy().parse::<Simd>()?.require(),
            _ => Ok(Self::best()),
        }
    }

    /// The families that this processor can run, slowest first.
    #[must_use]
    pub fn available() -> Vec<Simd> {
        Self::ALL
            .into_iter()
            .filter(|simd| simd.is_available())
            .collect()
    }

    /// Whether this processor can run the family.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Simd::Scalar => true,
            Simd::Avx2 => crate::arch::has_avx2(),
            Simd::Avx512 => crate::arch::has_avx512(),
        }
    }

    /// The family itself, if the processor can run it.
    ///
    /// # Errors
    /// [`RingError::SimdUnavailable`] if it cannot.
    pub fn require(self) -> Result<Simd, RingError> {
        if self.is_available() {
            return Ok(self);
        }
        let names: Vec<_> = Self::available().iter().map(Simd::to_string).collect();
        Err(RingError::SimdUnavailable {
            simd: self,
            available: names.join(", "),
        })
    }

    /// The name: `scalar`, `avx2` or `avx512`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Simd::Scalar => "scalar",
            Simd::Avx2 => "avx2",
            Simd::Avx512 => "avx512",
        }
    }

    fn best() -> Simd {
        Self::ALL
            .into_iter()
            .rev()
            .find(|simd| simd.is_available())
            .unwrap_or(Simd::Scalar)
    }
}

impl fmt::Display for Simd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Simd {
    type Err = RingError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|simd| simd.name().eq_ignore_ascii_case(name.trim()))
            .ok_or_else(|| RingError::UnknownSimd {
                name: name.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for simd in Simd::ALL {
            assert_eq!(simd.to_string().parse::<Simd>(), Ok(simd));
        }
        assert!(matches!(
            "sse9".parse::<Simd>(),
            Err(RingError::UnknownSimd { .. })
        ));
    }

    #[test]
    fn scalar_is_always_available() {
        assert_eq!(Simd::available().first(), Some(&Simd::Scalar));
        assert!(Simd::best().require().is_ok());
    }
}
