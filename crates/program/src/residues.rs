//! Arithmetic modulo a plaintext modulus t below 2^53.

#[expect(clippy::cast_precision_loss, reason = "scales are tracked in f64")]
pub(crate) fn to_f64(q: u64) -> f64 {
    q as f64
}

pub(crate) fn mul_mod(a: u64, b: u64, t: u64) -> u64 {
    u64::try_from(u128::from(a) * u128::from(b) % u128::from(t)).expect("below t")
}

/// The inverse modulo the prime t, by Fermat.
pub(crate) fn inverse_mod(a: u64, t: u64) -> u64 {
    let (mut base, mut power, mut result) = (a % t, t - 2, 1);
    while power > 0 {
        if power & 1 == 1 {
            result = mul_mod(result, base, t);
        }
        base = mul_mod(base, base, t);
        power >>= 1;
    }
    result
}

/// A whole f64 modulo t.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the front end admits whole numbers below 2^53 only"
)]
pub(crate) fn residue(value: f64, t: u64) -> u64 {
    (value as i64).rem_euclid(t as i64) as u64
}

/// The representative of least magnitude.
pub(crate) fn centred(c: u64, t: u64) -> f64 {
    if c > t / 2 { -to_f64(t - c) } else { to_f64(c) }
}
