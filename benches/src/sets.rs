//! Parameter sets and the fixed inputs.

use cyclotron_schemes::{Parameters, ParametersLiteral, Scheme};
use serde_json::json;

use crate::case::Facts;
use crate::error::DriverError;

/// The plaintext modulus of the BGV sets.
const PLAINTEXT_MODULUS: u64 = 65_537;

/// Sizes of a set's primes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SetSize {
    /// The last part of the set's name.
    pub name: &'static str,
    /// log2 of the ring degree.
    pub log_n: u32,
    /// Data primes at the bottom, never rescaled away: how many, and their bits.
    pub base: (usize, u32),
    /// The data primes above.
    pub rescale: (usize, u32),
    /// Special primes.
    pub special: (usize, u32),
    /// Who has it.
    pub schemes: &'static [Scheme],
    /// Bits of the words.
    pub word_bits: u32,
    /// Whether it is listed only when everything is asked for.
    pub extra: bool,
}

const BOTH: [Scheme; 2] = [Scheme::Ckks, Scheme::Bgv];

/// The sets of `benches/README.md`, and a small one for tests.
pub(crate) const SIZES: [SetSize; 6] = [
    SetSize {
        name: "n14",
        log_n: 14,
        base: (3, 48),
        rescale: (5, 49),
        special: (1, 49),
        schemes: &BOTH,
        word_bits: 64,
        extra: false,
    },
    SetSize {
        name: "n14-430",
        log_n: 14,
        base: (2, 47),
        rescale: (6, 48),
        special: (1, 48),
        schemes: &BOTH,
        word_bits: 64,
        extra: false,
    },
    SetSize {
        name: "n16",
        log_n: 16,
        base: (2, 50),
        rescale: (22, 50),
        special: (8, 50),
        schemes: &[Scheme::Ckks],
        word_bits: 64,
        extra: false,
    },
    SetSize {
        name: "n14-60bit",
        log_n: 14,
        base: (2, 59),
        rescale: (4, 59),
        special: (2, 60),
        schemes: &[Scheme::Ckks],
        word_bits: 64,
        extra: false,
    },
    SetSize {
        name: "n14-31bit",
        log_n: 14,
        base: (2, 29),
        rescale: (10, 29),
        special: (3, 31),
        schemes: &[Scheme::Bgv],
        word_bits: 32,
        extra: false,
    },
    SetSize {
        name: "n10",
        log_n: 10,
        base: (2, 47),
        rescale: (2, 48),
        special: (2, 48),
        schemes: &BOTH,
        word_bits: 64,
        extra: true,
    },
];

impl SetSize {
    /// The parameters. Rescale primes are those nearest to a scale a little
    /// below their size, so that all of them are below 2^size, as IFMA wants
    /// it, and no level's scale drifts.
    pub(crate) fn parameters(&self, scheme: Scheme) -> Result<Parameters, DriverError> {
        let mut literal = ParametersLiteral::new(scheme, self.log_n);
        let repeat = |(count, bits): (usize, u32)| vec![bits; count];
        literal.log_q = Some([repeat(self.base), repeat(self.rescale)].concat());
        literal.log_p = Some(repeat(self.special));
        literal.base_limbs = Some(self.base.0);
        literal.word_bits = Some(self.word_bits);
        literal.allow_insecure = Some("a benchmark of the set that peers are quoted at".to_owned());
        match scheme {
            Scheme::Ckks => literal.scale_bits = Some(f64::from(self.rescale.1) - 0.01),
            Scheme::Bgv => literal.plaintext_modulus = Some(PLAINTEXT_MODULUS),
        }
        Ok(Parameters::from_literal(&literal)?)
    }
}

/// What the runner compares with the peers' parameters.
pub(crate) fn facts(params: &Parameters) -> Facts {
    let mut facts = Facts::new();
    let digits = params.levels().div_ceil(params.digit_limbs);
    let round = |bits: f64| (bits * 100.0).round() / 100.0;
    facts.insert("log_n".into(), json!(params.log_n));
    facts.insert("limbs".into(), json!(params.levels()));
    facts.insert("special".into(), json!(params.special.len()));
    facts.insert("digits".into(), json!(digits));
    facts.insert("log_q".into(), json!(round(params.log_q())));
    facts.insert("log_qp".into(), json!(round(params.log_qp())));
    match params.scheme {
        Scheme::Ckks => facts.insert("scale_bits".into(), json!(params.scale_bits)),
        Scheme::Bgv => facts.insert("plaintext_modulus".into(), json!(params.plaintext_modulus)),
    };
    facts
}

/// Slots of the fixed input number `k`.
pub(crate) fn input(scheme: Scheme, slots: usize, k: usize) -> Vec<f64> {
    let residue = |i: usize| ((7 * i + 13 * k) % 41) as f64;
    (0..slots)
        .map(|i| match scheme {
            Scheme::Ckks => (residue(i) - 20.0) / 20.0,
            Scheme::Bgv => residue(i),
        })
        .collect()
}
