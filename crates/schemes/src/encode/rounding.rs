//! Rounding of coefficients to integers.

use cyclotron_ring::{Kernel, Simd, run_wide};

/// What rounding learns about all values.
pub(super) struct Span {
    /// The largest magnitude of a value that is a number.
    pub(super) largest: f64,
    /// Whether all are finite.
    pub(super) finite: bool,
}

impl Default for Span {
    fn default() -> Self {
        Self {
            largest: 0.0,
            finite: true,
        }
    }
}

/// Rounds all values to the nearest integers, halves away from zero.
pub(super) fn round_all(simd: Simd, values: &mut [f64]) -> Span {
    let mut span = Span::default();
    let round = RoundAll {
        values,
        span: &mut span,
    };
    run_wide(simd, round);
    span
}

struct RoundAll<'a> {
    values: &'a mut [f64],
    span: &'a mut Span,
}

impl Kernel for RoundAll<'_> {
    #[inline(always)]
    fn run(self) {
        let mut largest = [0.0f64; 8];
        for chunk in self.values.chunks_mut(8) {
            for (value, largest) in chunk.iter_mut().zip(&mut largest) {
                *value = value.round();
                let magnitude = value.abs();
                *largest = if magnitude > *largest {
                    magnitude
                } else {
                    *largest
                };
                // No number is larger than infinity, and NaN is larger than none.
                self.span.finite &= magnitude < f64::INFINITY;
            }
        }
        self.span.largest = largest.into_iter().fold(0.0, f64::max);
    }
}
