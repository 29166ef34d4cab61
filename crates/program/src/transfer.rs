//! How operations change the variance of an error, in the terms of [`crate::noise`].
//!
//! A uniform, *uncentred* residue polynomial has mean q/2 in every coefficient;
//! the polynomial 1 + x + ... + x^(N-1) is 2 / (1 - zeta) at a slot, up to
//! 2N/pi at slot 0. That peak is why hybrid key switching, rescaling and modulus
//! switching centre their digits, and why Listing 1, printed without centring,
//! costs CKKS some seven bits more in slot 0 than elsewhere.

use std::f64::consts::PI;

use crate::chain::{ChainSpec, KeySwitch, log2};
use crate::graph::Scheme;

/// CKKS: the error that no slot exceeds, in standard deviations of its real part.
/// A slot's error is a rounding error times the secret's value there, both about
/// normal, so it has the tail of a Laplace distribution: 12 standard deviations
/// are exceeded by one of 8,192 slots with a probability of 8192 exp(-12 sqrt 2), 2^-11.
pub(crate) const CKKS_TAIL: f64 = 12.0;
/// CKKS: a product of two errors has a heavier tail than either. Its variance is
/// charged with this factor, so that its bound is the product of their bounds:
/// `TAIL sqrt(f v w / 2) = TAIL sqrt(v / 2) TAIL sqrt(w / 2)`.
const ERROR_PRODUCT: f64 = CKKS_TAIL * CKKS_TAIL / 2.0;
/// How operations change the variance.
pub(crate) struct Transfer<'a> {
    pub(crate) chain: &'a ChainSpec,
    n: f64,
    /// Square of t (1 for CKKS).
    pub(crate) t2: f64,
    /// Factor from a coefficient's variance to the tracked one: N for CKKS slots, 1 for BGV.
    pub(crate) spread: f64,
}

impl<'a> Transfer<'a> {
    #[expect(clippy::cast_precision_loss, reason = "noise is an estimate")]
    pub(crate) fn new(chain: &'a ChainSpec) -> Self {
        let n = chain.n() as f64;
        let (t2, spread) = match chain.scheme {
            Scheme::Ckks => (1.0, n),
            Scheme::Bgv {
                plaintext_modulus: t,
            } => ((t as f64).powi(2), 1.0),
        };
        Self {
            chain,
            n,
            t2,
            spread,
        }
    }

    /// A fresh encryption, encoding included. Under the secret key the phase has one
    /// error e; under the public key `e + e' u + e'' s`, with u ternary of variance 2/3.
    pub(crate) fn fresh(&self, public_key: bool) -> f64 {
        let errors = if public_key {
            1.0 + self.n * (2.0 / 3.0 + self.chain.secret_variance)
        } else {
            1.0
        };
        self.spread * self.t2 * (errors * self.chain.sigma.powi(2) + 1.0 / 12.0)
    }

    /// Rounding to an integer polynomial of a two-part ciphertext.
    pub(crate) fn rounding(&self) -> f64 {
        self.spread * self.t2 / 12.0 * (1.0 + self.n * self.chain.secret_variance)
    }

    /// A sum. In slots (CKKS) a value and its rotation have independent errors. In
    /// coefficients (BGV) they do not: the sum over all automorphisms has all of
    /// its error in one coefficient, N times a single one. So amplitudes add up there.
    pub(crate) fn sum(&self, a: f64, b: f64) -> f64 {
        match self.chain.scheme {
            Scheme::Ckks => a + b,
            Scheme::Bgv { .. } => (a.sqrt() + b.sqrt()).powi(2),
        }
    }

    /// Tensor product; `a`, `b` are (variance, scaled magnitude).
    pub(crate) fn tensor(&self, a: (f64, f64), b: (f64, f64)) -> f64 {
        match self.chain.scheme {
            Scheme::Ckks => a.0 * b.1.powi(2) + b.0 * a.1.powi(2) + ERROR_PRODUCT * a.0 * b.0,
            Scheme::Bgv { .. } => 2.0 * self.n * a.0 * b.0,
        }
    }

    /// Product with an encoded plaintext: `ct` as above, `plain` its scaled magnitude.
    pub(crate) fn mul_plain(&self, ct: (f64, f64), plain: f64) -> f64 {
        match self.chain.scheme {
            Scheme::Ckks => ct.0 * plain.powi(2) + (ct.1.powi(2) + ct.0) * self.n / 12.0,
            Scheme::Bgv { .. } => self.n * ct.0 * self.t2 / 12.0,
        }
    }

    /// Rescale or modulus switch by the prime `q`.
    #[expect(clippy::cast_precision_loss, reason = "noise is an estimate")]
    pub(crate) fn rescale(&self, variance: f64, q: u64) -> f64 {
        variance / (q as f64).powi(2) + self.rounding()
    }

    /// CKKS: the error of a slot that a key switch by Listing 1 at `level` does not exceed.
    pub(crate) fn listing1_error(&self, level: usize) -> f64 {
        CKKS_TAIL * (self.key_switch(KeySwitch::Listing1, level) / 2.0).sqrt()
    }

    /// CKKS: the amplitude of the error that all switches at `level` by one hint have in
    /// common, part of what [`Self::key_switch`] gives.
    pub(crate) fn common(&self, variant: KeySwitch, level: usize) -> Option<f64> {
        let listing1 = variant == KeySwitch::Listing1 && self.chain.scheme == Scheme::Ckks;
        listing1.then(|| {
            let digits = self.squares(level) * self.spread * self.chain.sigma.powi(2);
            digits.sqrt() * self.n / PI
        })
    }

    /// The sum of the squares of the primes.
    fn squares(&self, level: usize) -> f64 {
        let data = &self.chain.moduli[..level];
        data.iter().map(|&q| (2.0 * log2(q)).exp2()).sum()
    }

    /// What a key switch at `level` adds.
    pub(crate) fn key_switch(&self, variant: KeySwitch, level: usize) -> f64 {
        let sigma2 = self.chain.sigma.powi(2);
        let data = &self.chain.moduli[..level];
        match variant {
            KeySwitch::Listing1 => {
                let peak = match self.chain.scheme {
                    Scheme::Ckks => (self.n / PI).powi(2) + self.n / 12.0,
                    Scheme::Bgv { .. } => self.n / 3.0,
                };
                self.spread * self.t2 * self.squares(level) * peak * sigma2
            }
            KeySwitch::Hybrid => {
                let p2 = (2.0 * self.chain.log_p()).exp2();
                let digits: f64 = data
                    .chunks(self.chain.digit_limbs)
                    .map(|digit| {
                        let bits: f64 = digit.iter().map(|&q| log2(q)).sum();
                        limbs(digit.len()) * (2.0 * bits).exp2() / 12.0
                    })
                    .sum();
                let errors = self.spread * self.t2 * digits * self.n * sigma2 / p2;
                errors + limbs(self.chain.special.len()) * self.rounding()
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "limb counts are small")]
fn limbs(count: usize) -> f64 {
    count as f64
}
