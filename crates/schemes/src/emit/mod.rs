//! Homomorphic operations as emitters of limb instructions.
//!
//! Each operation is written once, here, as a function that emits into a
//! [`ProcedureBuilder`]. The CPU runs what it emits, machines schedule it, and
//! analyses count it.
//!
//! All ciphertext limbs are in evaluation domain. A [`Ct`] holds the local
//! values of its parts, part by part and limb by limb; a limb's position is its
//! modulus index.

mod arithmetic;
mod basis_conversion;
mod constant;
mod key_switch;

use cyclotron_isa::{LimbType, ProcedureBuilder};

use crate::params::Parameters;

pub use arithmetic::{
    add, add_constant, add_plain, mul_constant, mul_plain, neg, rescale, sub, sub_plain, tensor,
};
pub use constant::residue_of_f64;
pub use key_switch::{
    HintLimb, automorphism, decompose, hint_limbs, hoisted_automorphism, relinearize,
};

/// A ciphertext inside a procedure: local values `[part][limb]`.
pub type Ct = Vec<Vec<u32>>;

/// What emitters know: the parameters and their extended chain.
#[derive(Debug, Clone)]
pub struct EmitContext {
    /// The parameters.
    pub params: Parameters,
    /// Data primes, then special primes.
    pub extended: Vec<u64>,
}

impl EmitContext {
    /// The context of a set of parameters.
    #[must_use]
    pub fn new(params: &Parameters) -> Self {
        Self {
            params: params.clone(),
            extended: params.extended(),
        }
    }

    /// The prime with this modulus index.
    pub(crate) fn q(&self, modulus: u16) -> u64 {
        self.extended[usize::from(modulus)]
    }

    /// Modulus indices of the data primes of a level.
    pub(crate) fn data(&self, level: usize) -> Vec<u16> {
        (0..level).map(modulus_index).collect()
    }

    /// Modulus indices of the special primes.
    pub(crate) fn special(&self) -> Vec<u16> {
        (self.params.moduli.len()..self.extended.len())
            .map(modulus_index)
            .collect()
    }

    /// t for BGV, 1 for CKKS: what divisions must leave the plaintext a multiple of.
    pub(crate) fn division_modulus(&self) -> u64 {
        self.params.plaintext_modulus.max(1)
    }
}

/// A position in the extended chain as a modulus index.
///
/// # Panics
/// If there are more than 65,535 primes.
pub(crate) fn modulus_index(position: usize) -> u16 {
    u16::try_from(position).expect("a chain has fewer than 2^16 primes")
}

/// Declares a ciphertext of `parts` parts at `level` as parameters, part by part.
pub fn ciphertext_params(b: &mut ProcedureBuilder<'_>, level: usize, parts: usize) -> Ct {
    (0..parts).map(|_| plain_params(b, level)).collect()
}

/// Declares an encoded plaintext at `level` as parameters.
pub fn plain_params(b: &mut ProcedureBuilder<'_>, level: usize) -> Vec<u32> {
    (0..level)
        .map(|i| b.param(LimbType::eval(modulus_index(i))))
        .collect()
}

/// The limbs of a ciphertext in the order of parameters and results.
#[must_use]
pub fn flatten(ct: &Ct) -> Vec<u32> {
    ct.concat()
}
