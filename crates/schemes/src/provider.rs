//! The inputs of a limb program, as executors ask for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cyclotron_isa::{Domain, InputProvider, LimbProgram, LimbType, ProviderError, Source};
use cyclotron_ring::LimbBuf;

use crate::ciphertext::Ciphertext;
use crate::context::Context;
use crate::encode::PlainOperand;
use crate::error::SchemeError;
use crate::limbs::{AnyLimb, ClientWord};
use crate::switch_key::SwitchKey;

/// Ciphertexts, plaintext operands and key-switch keys in the order of a
/// program's tables. Operands are encoded on first use and forgotten when as
/// many limbs were asked for as the program declares; asked again, they are
/// encoded again.
#[derive(Debug)]
pub struct ProgramInputs {
    context: Arc<Context>,
    ciphertexts: Vec<Arc<Ciphertext>>,
    plains: Vec<(PlainOperand, AtomicUsize)>,
    keys: Vec<Arc<SwitchKey>>,
}

impl ProgramInputs {
    /// Inputs for `program`.
    ///
    /// # Errors
    /// A ciphertext or key of other parameters, a malformed ciphertext, or
    /// another number of ciphertexts, operands or keys than the program has.
    pub fn new(
        context: Arc<Context>,
        program: &LimbProgram,
        ciphertexts: Vec<Arc<Ciphertext>>,
        plains: Vec<PlainOperand>,
        keys: Vec<Arc<SwitchKey>>,
    ) -> Result<Self, SchemeError> {
        ciphertexts.iter().try_for_each(|ct| ct.check(&context))?;
        Self::of_checked(context, program, ciphertexts, plains, keys)
    }

    /// [`Self::new`] for ciphertexts whose words were checked, or computed here.
    ///
    /// # Errors
    /// As [`Self::new`], but for words that are no residues.
    pub fn of_checked(
        context: Arc<Context>,
        program: &LimbProgram,
        ciphertexts: Vec<Arc<Ciphertext>>,
        plains: Vec<PlainOperand>,
        keys: Vec<Arc<SwitchKey>>,
    ) -> Result<Self, SchemeError> {
        let counted = [
            ("ciphertexts", ciphertexts.len(), program.ciphertexts.len()),
            ("plaintext operands", plains.len(), program.plains.len()),
            ("key-switch keys", keys.len(), program.keys.len()),
        ];
        for (what, given, wanted) in counted {
            if given != wanted {
                return Err(SchemeError::Malformed {
                    what: "inputs",
                    why: format!(
                        "{given} {what}, the program `{}` has {wanted}",
                        program.name
                    ),
                });
            }
        }
        for ciphertext in &ciphertexts {
            ciphertext.check_shape(&context)?;
        }
        for (key, declared) in keys.iter().zip(&program.keys) {
            context.check_hash("key-switch key", key.params())?;
            let name = key.spec().to_string();
            if name != declared.name {
                return Err(SchemeError::BadKey {
                    key: name,
                    why: format!("the program needs `{}` in its place", declared.name),
                });
            }
        }
        let mut limbs = vec![0; plains.len()];
        for input in &program.inputs {
            if let Source::Plain { operand, .. } = input.source
                && let Some(count) = limbs.get_mut(operand as usize)
            {
                *count += 1;
            }
        }
        Ok(Self {
            context,
            ciphertexts,
            plains: plains
                .into_iter()
                .zip(limbs.into_iter().map(AtomicUsize::new))
                .collect(),
            keys,
        })
    }

    fn find(&self, source: Source) -> Result<(AnyLimb, u16), SchemeError> {
        let missing = |what: &str, poly: u8, digit: u16, limb: u16| SchemeError::NoSuchLimb {
            what: what.to_owned(),
            digit: usize::from(digit),
            poly: usize::from(poly),
            limb: usize::from(limb),
        };
        match source {
            Source::Ciphertext { input, poly, limb } => self
                .ciphertexts
                .get(input as usize)
                .and_then(|c| c.polys.get(usize::from(poly))?.limb(usize::from(limb)))
                .map(|found| (found, limb))
                .ok_or_else(|| missing("ciphertext", poly, 0, limb)),
            Source::Plain { operand, limb } => {
                let (plain, left) = self
                    .plains
                    .get(operand as usize)
                    .ok_or_else(|| missing("plaintext operand", 0, 0, limb))?;
                let found = plain.limb(&self.context, usize::from(limb))?;
                // Saturates: an executor may ask for a limb again.
                let update =
                    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
                if update.is_ok_and(|before| before == 1) {
                    plain.release();
                }
                Ok((found, limb))
            }
            Source::Hint {
                key,
                digit,
                poly,
                limb,
            } => {
                let key = self
                    .keys
                    .get(key as usize)
                    .ok_or_else(|| missing("key-switch key", poly, digit, limb))?;
                let (digit, poly) = (usize::from(digit), usize::from(poly));
                Ok((
                    key.limb(&self.context, digit, poly, usize::from(limb))?,
                    limb,
                ))
            }
            Source::Twist => Err(missing("twist", 0, 0, 0)),
        }
    }
}

impl<W: ClientWord> InputProvider<W> for ProgramInputs {
    fn limb(&self, source: Source, ty: LimbType) -> Result<Arc<LimbBuf<W>>, ProviderError> {
        let (limb, modulus) = self
            .find(source)
            .map_err(|error| ProviderError(Box::new(error)))?;
        if ty != LimbType::eval(modulus) {
            return Err(ProviderError::new(format!(
                "inputs are in {} domain modulo the prime of their position, not {ty}",
                Domain::Eval
            )));
        }
        W::view_limb(&limb).cloned().ok_or_else(|| {
            ProviderError::new(format!(
                "the parameters' words do not have {} bits",
                W::BITS
            ))
        })
    }

    /// Ciphertexts are checked in [`ProgramInputs::new`] or before, keys where they are made
    /// or read; encodings are computed here.
    fn vouches(&self) -> bool {
        true
    }
}
