//! What security parameters give.
//!
//! For dense ternary secrets and errors of standard deviation 3.19 or more the
//! table of the 2024 guidelines decides ([BCC+24], classical attackers): a
//! modulus not above a row's bound has that row's security. Below 128 bits an
//! own estimate is stated instead, which is a statement about a broken or
//! weakened set, not a recommendation:
//!
//! - the smallest BKZ block size beta with which the primal uSVP attack
//!   succeeds under the 2016 estimate [ADPS16],
//!   `sqrt(beta) sigma <= delta^(2 beta - d - 1) (q^m (sigma / sigma_s)^n)^(1/d)`,
//!   `d = m + n + 1`, over the best number of samples m (at most as many as the
//!   optimum wants; ring samples are not scarce here);
//! - its cost as `2^(0.2786 beta + log2 n + 22.2)`, a line through the costs
//!   that the lattice estimator gives under the MATZOV model for beta from 318 to
//!   852, less 3 bits, so that it also stays below that tool's bounded-distance
//!   and dual-hybrid figures;
//! - block sizes below 60 run on a desk computer and count as 0 bits.
//!
//! Sparse secrets and rings below N = 1024 are unrated.
//!
//! # References
//! [BCC+24] Bossuat et al., Security Guidelines for Implementing Homomorphic
//! Encryption, eprint 2024/463, Table 5.2. [ADPS16] Alkim et al., eprint
//! 2015/1092, Section 6.3.

use std::fmt;

use crate::error::ParameterError;
use crate::params::{Parameters, SIGMA};
use crate::scheme::SecretKind;

/// Largest log2 of the modulus for N = 2^10, 2^11, .. 2^17 at one security level.
struct Row {
    bits: u32,
    max_log_modulus: [u32; 8],
}

/// The table, strongest first; 0 where no modulus qualifies.
const TABLE: [Row; 3] = [
    Row {
        bits: 256,
        max_log_modulus: [0, 27, 56, 114, 230, 462, 929, 1866],
    },
    Row {
        bits: 192,
        max_log_modulus: [0, 36, 73, 147, 297, 597, 1199, 2411],
    },
    Row {
        bits: 128,
        max_log_modulus: [26, 53, 106, 214, 430, 868, 1747, 3523],
    },
];

/// log2 N of the table's first row.
const TABLE_MIN_LOG_N: u32 = 10;

/// Block sizes below this are within everyone's reach.
const PRACTICAL_BLOCK: u32 = 60;

/// How much security, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Security {
    /// Bits of security against classical attackers; none if unrated.
    pub bits: Option<u32>,
    /// The table or the estimate that gave the number.
    pub method: &'static str,
}

impl Security {
    /// The guideline table decided.
    pub const TABLE: &'static str = "Security Guidelines for Implementing Homomorphic Encryption (2024), Table 5.2, ternary secret, classical";
    /// The own estimate of this module decided.
    pub const ESTIMATE: &'static str =
        "own estimate: primal uSVP block size, linear fit of the MATZOV cost, less 3 bits";
    /// Nothing was computed, because the secret is sparse.
    pub const UNRATED_SPARSE: &'static str = "unrated: sparse secret";
    /// Nothing was computed, because the ring is too small.
    pub const UNRATED_SMALL: &'static str = "unrated: ring degree below 1024";

    /// Whether the security is known to reach `wished` bits.
    #[must_use]
    pub fn reaches(&self, wished: u32) -> bool {
        self.method == Self::TABLE && self.bits.is_some_and(|bits| bits >= wished)
    }
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bits {
            Some(bits) if self.method == Self::TABLE => write!(f, "{bits} bits of security"),
            Some(bits) => write!(f, "about {bits} bits of security"),
            None => f.write_str(match self.method {
                Self::UNRATED_SPARSE => "unrated security (sparse secret)",
                _ => "unrated security (ring degree below 1024)",
            }),
        }
    }
}

/// The largest log2 of a modulus with `bits` of security at N = 2^log_n, or
/// none if the table has no such row.
#[must_use]
pub fn max_log_modulus(log_n: u32, bits: u32) -> Option<u32> {
    let row = TABLE.iter().find(|row| row.bits == bits)?;
    let column = log_n.checked_sub(TABLE_MIN_LOG_N)? as usize;
    row.max_log_modulus
        .get(column)
        .copied()
        .filter(|&max| max > 0)
}

/// The security of samples modulo a number of `log_modulus` bits in the ring of degree 2^log_n.
#[must_use]
pub fn security_of(log_n: u32, log_modulus: f64, secret: SecretKind) -> Security {
    if secret != SecretKind::Dense {
        return Security {
            bits: None,
            method: Security::UNRATED_SPARSE,
        };
    }
    if log_n < TABLE_MIN_LOG_N {
        return Security {
            bits: None,
            method: Security::UNRATED_SMALL,
        };
    }
    for row in &TABLE {
        if max_log_modulus(log_n, row.bits).is_some_and(|max| log_modulus <= f64::from(max)) {
            return Security {
                bits: Some(row.bits),
                method: Security::TABLE,
            };
        }
    }
    // The table said no to 128, so an estimate never says yes.
    let bits = estimate(log_n, log_modulus).clamp(0.0, 127.0);
    Security {
        bits: Some(bits as u32),
        method: Security::ESTIMATE,
    }
}

/// The own estimate in bits, see the module's documentation.
#[must_use]
pub fn estimate(log_n: u32, log_modulus: f64) -> f64 {
    let beta = block_size(f64::from(1_u32 << log_n.min(31)), log_modulus);
    if beta < PRACTICAL_BLOCK {
        return 0.0;
    }
    0.2786 * f64::from(beta) + f64::from(log_n) + 22.2 - 3.0
}

/// The smallest block size with which the primal attack succeeds.
fn block_size(n: f64, log_modulus: f64) -> u32 {
    let (mut fails, mut succeeds) = (PRACTICAL_BLOCK - 1, 1 << 16);
    while succeeds - fails > 1 {
        let middle = fails.midpoint(succeeds);
        if attack_succeeds(n, log_modulus, f64::from(middle)) {
            succeeds = middle;
        } else {
            fails = middle;
        }
    }
    if attack_succeeds(n, log_modulus, f64::from(fails)) {
        fails
    } else {
        succeeds
    }
}

/// The 2016 estimate at the best dimension.
fn attack_succeeds(n: f64, log_q: f64, beta: f64) -> bool {
    use std::f64::consts::{E, PI};
    let log_delta =
        libm::log2(libm::pow(PI * beta, 1.0 / beta) * beta / (2.0 * PI * E)) / (2.0 * (beta - 1.0));
    // Dense ternary secrets have variance 2/3.
    let log_xi = libm::log2(SIGMA / libm::sqrt(2.0 / 3.0));
    // Derivative of the right-hand side in d is zero here.
    let best = libm::sqrt(((n + 1.0) * log_q - n * log_xi).max(0.0) / log_delta);
    let d = best.max(n + 2.0);
    let log_volume = ((d - n - 1.0) * log_q + n * log_xi) / d;
    0.5 * libm::log2(beta) + libm::log2(SIGMA) <= (2.0 * beta - d - 1.0) * log_delta + log_volume
}

impl Parameters {
    /// The security of everything that these parameters allow to be published:
    /// ciphertexts and Listing 1 hints modulo Q, hybrid hints modulo QP.
    #[must_use]
    pub fn security(&self) -> Security {
        security_of(self.log_n, self.log_qp(), self.secret)
    }

    /// Refuses a modulus of `log_modulus` bits below the wished security,
    /// unless the parameters give a reason.
    ///
    /// # Errors
    /// [`ParameterError::Insecure`].
    pub fn check_security(
        &self,
        name: &'static str,
        log_modulus: f64,
    ) -> Result<(), ParameterError> {
        let security = security_of(self.log_n, log_modulus, self.secret);
        if security.reaches(self.wished_security) || self.insecure.is_some() {
            return Ok(());
        }
        Err(ParameterError::Insecure {
            log_n: self.log_n,
            modulus: name,
            log_modulus,
            stated: security.to_string(),
            wished: self.wished_security,
            fix: self.security_fix(log_modulus),
        })
    }

    /// The smallest change that reaches the wished security, as the end of a sentence.
    fn security_fix(&self, log_modulus: f64) -> String {
        if self.secret != SecretKind::Dense {
            return " (use a dense secret)".to_owned();
        }
        let here = max_log_modulus(self.log_n, self.wished_security)
            .map(|max| format!("at most {max} bits of modulus at this ring, or "))
            .unwrap_or_default();
        let ring = (self.log_n + 1..TABLE_MIN_LOG_N + 8).find(|&log_n| {
            max_log_modulus(log_n, self.wished_security)
                .is_some_and(|max| log_modulus <= f64::from(max))
        });
        match ring {
            Some(log_n) => format!(" ({here}a ring of log_n = {log_n})"),
            None => format!(" ({here}fewer levels: no ring of the table holds so large a modulus)"),
        }
    }
}

/// Refuses a security level that the table does not have.
pub(crate) fn check_level(wished: u32) -> Result<(), ParameterError> {
    if TABLE.iter().any(|row| row.bits == wished) {
        Ok(())
    } else {
        Err(ParameterError::SecurityLevel { wished })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(log_n: u32, log_modulus: f64) -> Option<u32> {
        security_of(log_n, log_modulus, SecretKind::Dense).bits
    }

    #[test]
    fn every_row_ends_at_its_bound() {
        for row in &TABLE {
            for (column, &max) in row.max_log_modulus.iter().enumerate() {
                if max == 0 {
                    continue;
                }
                let log_n = TABLE_MIN_LOG_N + column as u32;
                assert_eq!(bits(log_n, f64::from(max)), Some(row.bits));
                let above = security_of(log_n, f64::from(max) + 1e-6, SecretKind::Dense);
                assert!(above.bits.unwrap() < row.bits);
                assert!(!above.reaches(row.bits));
            }
        }
    }

    #[test]
    fn published_accelerator_sets_are_weak() {
        // N = 16K with 16 and 24 limbs of 32 bits.
        let security = security_of(14, 512.0, SecretKind::Dense);
        assert_eq!(security.method, Security::ESTIMATE);
        assert!((95..=110).contains(&security.bits.unwrap()), "{security}");
        assert!((60..=75).contains(&bits(14, 768.0).unwrap()));
        assert_eq!(bits(12, 1000.0), Some(0));
    }

    #[test]
    fn sparse_secrets_and_tiny_rings_are_unrated() {
        let sparse = security_of(15, 100.0, SecretKind::Sparse(64));
        assert_eq!((sparse.bits, sparse.reaches(128)), (None, false));
        assert_eq!(bits(9, 10.0), None);
    }

    #[test]
    fn estimate_falls_with_the_modulus() {
        for log_n in 10..=17 {
            let mut last = f64::INFINITY;
            for log_q in (20..2000).step_by(20) {
                let now = estimate(log_n, f64::from(log_q));
                assert!(now <= last && now.is_finite());
                last = now;
            }
        }
    }

    /// Figures of an outside tool, where the data folder has them: `CYCLOTRON_DATA`
    /// names it, by default `../shared/data` beside the repository.
    #[test]
    fn estimate_is_below_the_lattice_estimator_but_near() {
        let folder = std::env::var("CYCLOTRON_DATA").unwrap_or_else(|_| {
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").to_owned()
        });
        let path = std::path::Path::new(&folder).join("lattice-estimator-golden.csv");
        let Ok(text) = std::fs::read_to_string(path) else {
            return;
        };
        let mut best = std::collections::HashMap::new();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            if fields[2] == "ternary" {
                let key = (
                    fields[0].parse::<u32>().unwrap(),
                    fields[1].parse::<u32>().unwrap(),
                );
                let bits: f64 = fields[5].parse().unwrap();
                if fields[3] == "usvp" {
                    let beta: u32 = fields[6].parse().unwrap();
                    assert_eq!(block_size(f64::from(key.0), f64::from(key.1)), beta);
                }
                let least = best.entry(key).or_insert(bits);
                *least = least.min(bits);
            }
        }
        assert!(best.len() > 20);
        for ((n, log_q), outside) in best {
            let ours = estimate(n.ilog2(), f64::from(log_q));
            assert!(
                ours <= outside && ours > outside - 4.0,
                "n {n} log q {log_q}: {ours} {outside}"
            );
        }
    }
}
