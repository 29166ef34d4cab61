//! Parameters as the chain that placement and noise analysis work on.

use cyclotron_program::{ChainSpec, Graph, KeySwitch, Scheme as ProgramScheme};
use cyclotron_schemes::{KeyVariant, Parameters, Scheme, SecretKind};

use crate::error::LowerError;
use crate::target::Target;

/// Bits of precision that a key switch by Listing 1 leaves beyond those of the
/// outputs, for values below 1 and sums of many rotations.
const LISTING1_RESERVE_BITS: f64 = 8.0;

/// The chain of `params` for `target`, after checking that they are for `graph`.
/// Outputs are to have `precision_bits`.
pub(crate) fn chain_spec(
    graph: &Graph,
    params: &Parameters,
    target: &Target,
    precision_bits: f64,
) -> Result<ChainSpec, LowerError> {
    let scheme = match params.scheme {
        Scheme::Ckks => ProgramScheme::Ckks,
        Scheme::Bgv => ProgramScheme::Bgv {
            plaintext_modulus: params.plaintext_modulus,
        },
    };
    if scheme != graph.scheme || params.log_n != graph.log_n {
        return Err(LowerError::Mismatch {
            program: format!("{} at N = {}", graph.scheme, graph.n()),
            parameters: format!("{scheme} at N = {}", params.n()),
        });
    }
    let scales = match params.scheme {
        Scheme::Ckks => params.canonical_scales()[1..].to_vec(),
        Scheme::Bgv => vec![1.0; params.levels()],
    };
    let secret_variance = match params.secret {
        SecretKind::Dense => 2.0 / 3.0,
        SecretKind::Sparse(h) => f64::from(h) / params.n() as f64,
    };
    Ok(ChainSpec {
        scheme,
        log_n: params.log_n,
        moduli: params.moduli.clone(),
        special: params.special.clone(),
        digit_limbs: params.digit_limbs,
        scales,
        sigma: params.sigma,
        secret_variance,
        listing1_margin_bits: (target.variants == [KeySwitch::Listing1])
            .then_some(precision_bits + LISTING1_RESERVE_BITS),
    })
}

/// The variant under the name that keys know.
pub(crate) fn key_variant(variant: KeySwitch) -> KeyVariant {
    match variant {
        KeySwitch::Listing1 => KeyVariant::Listing1,
        KeySwitch::Hybrid => KeyVariant::Hybrid,
    }
}
