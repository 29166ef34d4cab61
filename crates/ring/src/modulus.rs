//! Arithmetic modulo one prime on single integers: the definition that every
//! kernel agrees with.
//!
//! # Reduction
//! Barrett with two constants, `mu = floor(2^64 / q)` for integers below 2^64
//! and `ratio = floor(2^128 / q)` for products. In both cases the estimate
//! `T = floor(x mu / 2^64)` of `x / q` satisfies
//! `x/q - T < x/2^64 + 1 < 2`, so `x - T q` lies in `[0, 2q)`: one conditional
//! subtraction is enough, and `2q < 2^62` fits a word.
//!
//! # Constants
//! A constant factor w carries the companion `w' = floor(w 2^b / q)`, b the
//! bits of the word (Shoup's form). For every b-bit x, canonical or not, the
//! estimate `T = floor(x w' / 2^b)` satisfies `x w / q - T < x/2^b + 1 < 2`,
//! so `x w - T q` lies in `[0, 2q)`.
//!
//! Operands that should be canonical and are not give unspecified words but
//! never a panic: a wrong schedule must be executable.

/// A modulus `2 <= q < 2^61` with its reduction constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modulus {
    q: u64,
    /// floor(2^64 / q)
    mu: u64,
    /// floor(2^128 / q)
    ratio: u128,
}

impl Modulus {
    /// The modulus q.
    ///
    /// # Panics
    /// Unless `2 <= q < 2^61`.
    #[must_use]
    pub fn new(q: u64) -> Self {
        assert!((2..1 << 61).contains(&q), "modulus {q} is not in 2..2^61");
        // floor(2^128 / q) = floor((2^128 - 1) / q), except where q is a power of two.
        let ratio = u128::MAX / u128::from(q) + u128::from(q.is_power_of_two());
        let mu = ((1u128 << 64) / u128::from(q)) as u64;
        Self { q, mu, ratio }
    }

    /// The value of the modulus.
    #[inline]
    #[must_use]
    pub fn value(&self) -> u64 {
        self.q
    }

    /// `x mod q`.
    #[inline]
    #[must_use]
    pub fn reduce(&self, x: u64) -> u64 {
        let t = (u128::from(x) * u128::from(self.mu)) >> 64;
        self.correct(x.wrapping_sub((t as u64).wrapping_mul(self.q)))
    }

    /// `x mod q`.
    #[inline]
    #[must_use]
    pub fn reduce_wide(&self, x: u128) -> u64 {
        let (x0, x1) = (x as u64, (x >> 64) as u64);
        let (r0, r1) = (self.ratio as u64, (self.ratio >> 64) as u64);
        let wide = |a: u64, b: u64| u128::from(a) * u128::from(b);
        // Word 2 of the four-word product x * ratio; word 3 is not needed.
        let (low, mid_a, mid_b) = (wide(x0, r0) >> 64, wide(x1, r0), wide(x0, r1));
        let mid = low + u128::from(mid_a as u64) + u128::from(mid_b as u64);
        let t = ((mid >> 64) as u64)
            .wrapping_add((mid_a >> 64) as u64)
            .wrapping_add((mid_b >> 64) as u64)
            .wrapping_add(x1.wrapping_mul(r1));
        self.correct(x0.wrapping_sub(t.wrapping_mul(self.q)))
    }

    /// `a + b mod q` for canonical a, b.
    #[inline]
    #[must_use]
    pub fn add(&self, a: u64, b: u64) -> u64 {
        self.correct(a.wrapping_add(b))
    }

    /// `a - b mod q` for canonical a, b.
    #[inline]
    #[must_use]
    pub fn sub(&self, a: u64, b: u64) -> u64 {
        add_if_negative(a.wrapping_sub(b), self.q)
    }

    /// `-a mod q` for canonical a.
    #[inline]
    #[must_use]
    pub fn neg(&self, a: u64) -> u64 {
        self.sub(0, a)
    }

    /// `a b mod q` for any a, b.
    #[inline]
    #[must_use]
    pub fn mul(&self, a: u64, b: u64) -> u64 {
        self.reduce_wide(u128::from(a) * u128::from(b))
    }

    /// `a^exponent mod q`.
    #[must_use]
    pub fn pow(&self, a: u64, mut exponent: u64) -> u64 {
        let mut base = self.reduce(a);
        let mut result = self.reduce(1);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.mul(result, base);
            }
            base = self.mul(base, base);
            exponent >>= 1;
        }
        result
    }

    /// `a^-1 mod q` for prime q; 0 for a = 0.
    #[must_use]
    pub fn inv(&self, a: u64) -> u64 {
        self.pow(a, self.q - 2)
    }

    /// The residue of a signed integer.
    #[inline]
    #[must_use]
    pub fn from_signed(&self, x: i64) -> u64 {
        let magnitude = self.reduce(x.unsigned_abs());
        if x < 0 {
            self.neg(magnitude)
        } else {
            magnitude
        }
    }

    /// The representative of canonical a in `(-q/2, q/2]`.
    #[inline]
    #[must_use]
    pub fn centered(&self, a: u64) -> i64 {
        debug_assert!(a < self.q);
        if a > self.q / 2 {
            a as i64 - self.q as i64
        } else {
            a as i64
        }
    }

    /// `floor(w 2^bits / q)` for canonical w and 1 to 64 bits: the companion of a
    /// constant factor.
    #[must_use]
    pub fn companion(&self, w: u64, bits: u32) -> u64 {
        debug_assert!(w < self.q && (1..=64).contains(&bits));
        let (r0, r1) = (self.ratio as u64, (self.ratio >> 64) as u64);
        let carry = ((u128::from(w) * u128::from(r0)) >> 64) as u64;
        // floor(w ratio / 2^64) misses floor(w 2^64 / q) by one at most.
        let estimate = w.wrapping_mul(r1).wrapping_add(carry);
        let rest = 0u64.wrapping_sub(estimate.wrapping_mul(self.q));
        (estimate + u64::from(rest >= self.q)) >> (64 - bits)
    }

    /// From `[0, 2q)` to `[0, q)`.
    #[inline]
    pub(crate) fn correct(&self, x: u64) -> u64 {
        add_if_negative(x.wrapping_sub(self.q), self.q)
    }
}

/// `x + q` where the signed integer x is negative, else x. Without a branch:
/// residues are unpredictable.
#[inline(always)]
fn add_if_negative(x: u64, q: u64) -> u64 {
    x.wrapping_add(q & (x as i64 >> 63) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Primes. For the last but one `2^128 / q` is just below an integer, so that
    /// its constants are as wrong as they can be.
    const MODULI: [u64; 9] = [
        2,
        3,
        17,
        257,
        65537,
        4_294_967_291,
        (1 << 50) - 27,
        2_236_667_718_937_281_733,
        (1 << 61) - 1,
    ];

    fn residues(q: u64) -> Vec<u64> {
        let mut xs = vec![
            0,
            1,
            2,
            q / 2,
            q - 1,
            q,
            q + 1,
            2 * q - 1,
            2 * q,
            u64::from(u32::MAX),
            1 << 32,
            (1 << 52) - 1,
            u64::MAX - 1,
            u64::MAX,
        ];
        let mut x = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..if cfg!(miri) { 3 } else { 200 } {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            xs.push(x);
            xs.push(x >> 20);
        }
        xs
    }

    #[test]
    fn reduction_matches_division() {
        for q in MODULI {
            let m = Modulus::new(q);
            for a in residues(q) {
                assert_eq!(m.reduce(a), a % q, "{a} mod {q}");
                for b in residues(q) {
                    let product = u128::from(a) * u128::from(b);
                    assert_eq!(u128::from(m.mul(a, b)), product % u128::from(q));
                }
            }
            assert_eq!(m.reduce_wide(u128::MAX), (u128::MAX % u128::from(q)) as u64);
        }
    }

    #[test]
    fn companions_leave_less_than_two_moduli() {
        for q in MODULI {
            let m = Modulus::new(q);
            for w in residues(q).into_iter().map(|w| w % q) {
                let companion = m.companion(w, 64);
                for bits in [32, 52, 64] {
                    let exact = (u128::from(w) << bits) / u128::from(q);
                    assert_eq!(u128::from(m.companion(w, bits)), exact);
                }
                for x in residues(q) {
                    let t = (u128::from(x) * u128::from(companion)) >> 64;
                    let rest = u128::from(x) * u128::from(w) - t * u128::from(q);
                    assert!(rest < 2 * u128::from(q));
                }
            }
        }
    }

    #[test]
    fn field_axioms_hold_at_the_edges() {
        for q in MODULI {
            let m = Modulus::new(q);
            for a in residues(q).into_iter().map(|a| a % q) {
                assert_eq!(m.add(a, m.neg(a)), 0);
                assert_eq!(m.sub(a, a), 0);
                assert_eq!(m.from_signed(m.centered(a)), a);
                if a != 0 {
                    assert_eq!(m.mul(a, m.inv(a)), 1, "{a}^-1 mod {q}");
                }
            }
            assert_eq!(m.from_signed(i64::MIN), m.neg(m.reduce(1 << 63)));
        }
    }
}
