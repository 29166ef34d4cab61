//! Programs on parts: polynomials that are longer than a machine's vectors.
//!
//! Where [`crate::LimbProgram::log_parts`] is not 0, a polynomial has P N coefficients,
//! P = 2^`log_parts`, and every value of the program is one of its P parts: N words that
//! instructions treat like a limb of the ring of degree N. What parts are, why transforms
//! and automorphisms of the whole become those of parts, and which vectors are multiplied
//! in between, is written in [`cyclotron_ring::parts`]; words `jN .. (j + 1)N` of a limb are
//! part j, in either domain. Executors need the ring of parts
//! ([`cyclotron_ring::Ring::of_parts`]), and providers give limbs whole.

use cyclotron_ring::Automorphism;

/// Parts have at most 2^15 words: the immediate of an automorphism has 32 bits.
pub const MAX_LOG_N_OF_PARTS: u32 = 15;

/// log2 of the fewest words of a part: what a ring has at least.
pub const MIN_LOG_N_OF_PARTS: u32 = 4;

/// log2 of the most parts of a polynomial.
pub const MAX_LOG_PARTS: u32 = 7;

/// The immediate of an automorphism of vectors of N = 2^`log_n` words: `k + 2N offset`, for
/// k below 2N and the offset below N. It is k where values are whole limbs.
#[must_use]
pub fn immediate(map: Automorphism, log_n: u32) -> u32 {
    map.k | map.offset << (log_n + 1)
}

/// The automorphism with an immediate.
#[must_use]
pub fn automorphism(immediate: u32, log_n: u32) -> Automorphism {
    Automorphism {
        k: immediate & ((2 << log_n) - 1),
        offset: immediate >> (log_n + 1),
    }
}

/// Whether an immediate is that of an automorphism: k odd and below 2N, the offset below
/// N, and 0 for whole limbs.
#[must_use]
pub fn is_automorphism(immediate: u32, log_n: u32, log_parts: u32) -> bool {
    let bits = log_n + 1 + if log_parts == 0 { 0 } else { log_n };
    immediate % 2 == 1 && u64::from(immediate) >> bits == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn immediates_hold_exponent_and_offset() {
        for log_n in [4, 10, MAX_LOG_N_OF_PARTS] {
            let n = 1u32 << log_n;
            for (k, offset) in [(1, 0), (2 * n - 1, n - 1), (n + 1, n / 2)] {
                let map = Automorphism { k, offset };
                let packed = immediate(map, log_n);
                assert_eq!(automorphism(packed, log_n), map);
                assert!(is_automorphism(packed, log_n, 1));
                assert_eq!(is_automorphism(packed, log_n, 0), offset == 0);
                assert!(!is_automorphism(packed ^ 1, log_n, 1));
            }
        }
        assert!(!is_automorphism(1 << 21 | 1, 10, 3));
    }
}
