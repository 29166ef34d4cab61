//! Integer constants as residues.

/// A whole f64, of any magnitude, modulo q. Exact: the mantissa is an integer
/// below 2^53 times a power of two.
///
/// # Panics
/// If `value` is not finite.
#[must_use]
pub fn residue_of_f64(value: f64, q: u64) -> u64 {
    assert!(value.is_finite(), "constants are finite");
    let bits = value.abs().to_bits();
    let exponent = (bits >> 52) as i64;
    if exponent == 0 {
        return 0;
    }
    let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
    let shift = exponent - 1075;
    let magnitude = if shift <= 0 {
        // Whole values have no fraction; smaller shifts than -52 mean |value| < 1.
        if shift < -52 {
            0
        } else {
            (mantissa >> -shift) % q
        }
    } else {
        let power = crate::params::pow_mod(2, shift as u64, q);
        crate::params::mul_mod(mantissa % q, power, q)
    };
    if value < 0.0 && magnitude != 0 {
        q - magnitude
    } else {
        magnitude
    }
}

#[cfg(test)]
mod tests {
    use super::residue_of_f64;

    #[test]
    fn whole_numbers_reduce_exactly() {
        let q = 4_294_828_033;
        for value in [
            0.0,
            1.0,
            -1.0,
            4_294_828_033.0,
            -4_294_828_034.0,
            9.0e15,
            -9.0e15,
        ] {
            let want = (value as i128).rem_euclid(i128::from(q));
            assert_eq!(i128::from(residue_of_f64(value, q)), want, "{value}");
        }
        let big = 1.5 * 2f64.powi(100);
        let want = (3u128 << 99) % u128::from(q);
        assert_eq!(u128::from(residue_of_f64(big, q)), want);
        assert_eq!(u128::from(q - residue_of_f64(-big, q)), want);
    }
}
