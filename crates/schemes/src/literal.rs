//! What a person writes, and how it becomes [`Parameters`].

use serde::{Deserialize, Serialize};

use crate::chain::{self, ChainRequest};
use crate::error::ParameterError;
use crate::params::{Parameters, SIGMA};
use crate::scheme::{Scheme, SecretKind};
use crate::validate::MAX_PRIMES;

/// Parameters as a person writes them, in JSON or any other serde format.
/// Unknown fields are errors. Either `log_q` or `moduli` names the data primes.
///
/// # Examples
/// ```
/// use cyclotron_schemes::Parameters;
///
/// let text = r#"{"scheme": "ckks", "log_n": 13, "log_q": [50, 40, 40],
///                "log_p": [50], "scale_bits": 40}"#;
/// let params = Parameters::from_json(text, None).unwrap();
/// assert_eq!(params.levels(), 3);
/// assert_eq!(params.security().bits, Some(128));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParametersLiteral {
    /// `ckks` or `bgv`.
    pub scheme: Scheme,
    /// log2 of the ring degree.
    pub log_n: u32,
    /// Bits of the data primes, bottom first; the primes are found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_q: Option<Vec<u32>>,
    /// The data primes themselves, bottom first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moduli: Option<Vec<u64>>,
    /// Bits of the special primes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_p: Option<Vec<u32>>,
    /// The special primes themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub special_moduli: Option<Vec<u64>>,
    /// CKKS: log2 of the scale of a fresh ciphertext, between 10 and 60; need not be whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_bits: Option<f64>,
    /// BGV: the plaintext modulus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plaintext_modulus: Option<u64>,
    /// Data primes at the bottom that are never rescaled away. Default: BGV 1;
    /// CKKS the primes at the bottom whose size is not the scale's, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_limbs: Option<usize>,
    /// Data limbs per digit of hybrid key switching. Default: as many as special primes, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digit_limbs: Option<usize>,
    /// `"dense"` (default) or `{"sparse": 64}`.
    #[serde(default)]
    pub secret: SecretKind,
    /// 32 or 64. Default: 32 if every prime fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word_bits: Option<u32>,
    /// Found primes are 1 modulo this power of two, at least 2N. Default: 2N.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congruence: Option<u64>,
    /// The security level asked for: 128 (default), 192 or 256.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security: Option<u32>,
    /// Why less security than asked for is acceptable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_insecure: Option<String>,
}

impl ParametersLiteral {
    /// A literal with nothing but its scheme and ring.
    #[must_use]
    pub fn new(scheme: Scheme, log_n: u32) -> Self {
        Self {
            scheme,
            log_n,
            log_q: None,
            moduli: None,
            log_p: None,
            special_moduli: None,
            scale_bits: None,
            plaintext_modulus: None,
            base_limbs: None,
            digit_limbs: None,
            secret: SecretKind::Dense,
            word_bits: None,
            congruence: None,
            security: None,
            allow_insecure: None,
        }
    }

    fn check_fields(&self) -> Result<(), ParameterError> {
        let field = |field, why: &str| {
            Err(ParameterError::Field {
                field,
                why: why.to_owned(),
            })
        };
        if self.log_q.is_some() == self.moduli.is_some() {
            return field("log_q", "give either `log_q` (bits) or `moduli` (primes)");
        }
        if self.log_p.is_some() && self.special_moduli.is_some() {
            return field("log_p", "give `log_p` or `special_moduli`, not both");
        }
        let counts = [
            self.log_q.as_ref().map(Vec::len),
            self.log_p.as_ref().map(Vec::len),
        ];
        if counts.into_iter().flatten().any(|count| count > MAX_PRIMES) {
            return field("log_q", &format!("a chain has at most {MAX_PRIMES} primes"));
        }
        if let Some(bits) = self.scale_bits.filter(|_| self.scheme == Scheme::Ckks) {
            crate::validate::check_scale_bits(bits)?;
        }
        match self.scheme {
            Scheme::Ckks if self.plaintext_modulus.is_some_and(|t| t != 0) => {
                field("plaintext_modulus", "CKKS has none: leave it out")
            }
            Scheme::Ckks if self.scale_bits.is_none() => field(
                "scale_bits",
                "CKKS needs it: log2 of the scale, for example 40",
            ),
            Scheme::Bgv if self.plaintext_modulus.is_none() => {
                field("plaintext_modulus", "BGV needs it, for example 65537")
            }
            Scheme::Bgv if self.scale_bits.is_some_and(|bits| bits != 0.0) => {
                field("scale_bits", "BGV has no scale: leave it out")
            }
            _ => Ok(()),
        }
    }

    /// Number of primes at the bottom that rescaling leaves.
    fn base_limbs(&self, bits: &[f64]) -> usize {
        self.base_limbs.unwrap_or_else(|| match self.scheme {
            Scheme::Bgv => 1,
            Scheme::Ckks => {
                let scale = self.scale_bits.unwrap_or(0.0);
                let base = bits
                    .iter()
                    .take_while(|&&b| (b - scale).abs() > 0.75)
                    .count();
                base.clamp(1, bits.len().max(1))
            }
        })
    }
}

impl Parameters {
    /// Finds the primes of a literal and checks everything.
    ///
    /// # Errors
    /// What is wrong with the literal, and what to change.
    pub fn from_literal(literal: &ParametersLiteral) -> Result<Self, ParameterError> {
        literal.check_fields()?;
        // Before primes are searched: the search assumes a sane ring.
        crate::validate::check_ring(literal.log_n)?;
        let bits: Vec<f64> = match (&literal.log_q, &literal.moduli) {
            (Some(bits), _) => bits.iter().map(|&b| f64::from(b)).collect(),
            (_, Some(primes)) => primes.iter().map(|&q| libm::log2(q as f64)).collect(),
            _ => Vec::new(),
        };
        let base_limbs = literal.base_limbs(&bits);
        let (moduli, special) = resolve_primes(literal, base_limbs)?;
        let widest = moduli.iter().chain(&special).max().copied().unwrap_or(0);
        let mut params = Self {
            scheme: literal.scheme,
            log_n: literal.log_n,
            digit_limbs: literal.digit_limbs.unwrap_or(special.len().max(1)),
            moduli,
            special,
            base_limbs,
            scale_bits: literal.scale_bits.unwrap_or(0.0),
            plaintext_modulus: literal.plaintext_modulus.unwrap_or(0),
            secret: literal.secret,
            sigma: SIGMA,
            word_bits: literal
                .word_bits
                .unwrap_or(if widest >> 32 == 0 { 32 } else { 64 }),
            wished_security: literal.security.unwrap_or(128),
            insecure: literal.allow_insecure.clone(),
        };
        params.validate()?;
        // The reason is kept only where it is needed: secure parameters carry no tag.
        if params.security().reaches(params.wished_security) {
            params.insecure = None;
        }
        Ok(params)
    }

    /// Reads a literal in JSON. `allow_insecure` is the reason given outside
    /// the text; it wins over the text's own.
    ///
    /// # Errors
    /// The same as [`Self::from_literal`], or the place where the text is not a literal.
    pub fn from_json(text: &str, allow_insecure: Option<&str>) -> Result<Self, ParameterError> {
        let mut literal: ParametersLiteral =
            serde_json::from_str(text).map_err(|error| ParameterError::Literal {
                why: error.to_string(),
            })?;
        if let Some(reason) = allow_insecure {
            literal.allow_insecure = Some(reason.to_owned());
        }
        Self::from_literal(&literal)
    }

    /// The literal that gives exactly these parameters, all primes written out.
    #[must_use]
    pub fn to_literal(&self) -> ParametersLiteral {
        let ckks = self.scheme == Scheme::Ckks;
        ParametersLiteral {
            moduli: Some(self.moduli.clone()),
            special_moduli: Some(self.special.clone()),
            scale_bits: ckks.then_some(self.scale_bits),
            plaintext_modulus: (!ckks).then_some(self.plaintext_modulus),
            base_limbs: Some(self.base_limbs),
            digit_limbs: Some(self.digit_limbs),
            secret: self.secret,
            word_bits: Some(self.word_bits),
            security: Some(self.wished_security),
            allow_insecure: self.insecure.clone(),
            ..ParametersLiteral::new(self.scheme, self.log_n)
        }
    }
}

/// The data primes and special primes of a literal, found or taken as given.
fn resolve_primes(
    literal: &ParametersLiteral,
    base_limbs: usize,
) -> Result<(Vec<u64>, Vec<u64>), ParameterError> {
    let step = literal.congruence.unwrap_or(2 << literal.log_n);
    if !step.is_power_of_two() || step < 2 << literal.log_n {
        return Err(ParameterError::Field {
            field: "congruence",
            why: format!(
                "{step} is not a power of two of at least 2N = {}",
                2_u64 << literal.log_n
            ),
        });
    }
    let request = ChainRequest {
        scheme: literal.scheme,
        step,
        scale_bits: literal.scale_bits.unwrap_or(0.0),
        base_limbs,
        word_bits: literal.word_bits.unwrap_or(64),
        taken: literal
            .moduli
            .iter()
            .chain(&literal.special_moduli)
            .flatten()
            .copied()
            .chain(literal.plaintext_modulus)
            .collect(),
    };
    chain::find(&request, literal.log_q.as_deref(), literal.log_p.as_deref()).map(|found| {
        (
            literal.moduli.clone().unwrap_or(found.moduli),
            literal.special_moduli.clone().unwrap_or(found.special),
        )
    })
}
