//! Encoded plaintext operands, and the provider that executors ask for limbs.

use std::collections::HashMap;
use std::sync::Arc;

use cyclotron_isa::{InputProvider, LimbProgram, LimbType, ProviderError, Source};
use cyclotron_ring::LimbBuf;
use cyclotron_schemes::{AnyLimb, ClientWord, Context, PlainOperand, ProgramInputs};
use rayon::prelude::*;

use crate::error::SessionError;
use crate::interface::Interface;

/// Encodings of constant operands are kept between runs up to so many bytes;
/// what does not fit is encoded in every run, when it is needed.
const KEPT_BYTES: u64 = 2 << 30;

/// Limbs of the constant operands of a program, by operand and position.
#[derive(Debug, Default)]
pub(crate) struct EncodedOperands {
    limbs: HashMap<(u32, u16), AnyLimb>,
}

impl EncodedOperands {
    /// Encodes the constant operands of `program`, on all threads of the pool
    /// that this is called from.
    pub(crate) fn new(
        context: &Context,
        program: &LimbProgram,
        interface: &Interface,
        operands: &[PlainOperand],
    ) -> Result<Self, SessionError> {
        let words = (program.n() as u64) << program.log_parts;
        let limb_bytes = words * u64::from(program.word_bits / 8);
        let mut by_operand: Vec<Vec<u16>> = vec![Vec::new(); operands.len()];
        let mut left = KEPT_BYTES / limb_bytes;
        for input in &program.inputs {
            if let Source::Plain { operand, limb } = input.source
                && input.part == 0
                && interface.is_constant(operand as usize)
                && left > 0
            {
                by_operand[operand as usize].push(limb);
                left -= 1;
            }
        }
        let encode = |(operand, limbs): (usize, &Vec<u16>)| {
            let plain = &operands[operand];
            let limb = |&limb: &u16| {
                Ok((
                    (operand as u32, limb),
                    plain.limb(context, usize::from(limb))?,
                ))
            };
            let made = limbs
                .iter()
                .map(limb)
                .collect::<Result<Vec<_>, SessionError>>();
            plain.release();
            made
        };
        let limbs: Vec<Vec<_>> = by_operand
            .par_iter()
            .enumerate()
            .map(encode)
            .collect::<Result<_, _>>()?;
        Ok(EncodedOperands {
            limbs: limbs.into_iter().flatten().collect(),
        })
    }
}

/// The inputs of one run: kept encodings first, everything else from `inputs`.
pub(crate) struct RunInputs<'a> {
    pub(crate) inputs: ProgramInputs,
    pub(crate) encoded: &'a EncodedOperands,
}

impl<W: ClientWord> InputProvider<W> for RunInputs<'_> {
    fn limb(&self, source: Source, ty: LimbType) -> Result<Arc<LimbBuf<W>>, ProviderError> {
        if let Source::Plain { operand, limb } = source
            && let Some(kept) = self.encoded.limbs.get(&(operand, limb))
            && let Some(kept) = W::view_limb(kept)
        {
            return Ok(Arc::clone(kept));
        }
        self.inputs.limb(source, ty)
    }

    fn vouches(&self) -> bool {
        InputProvider::<W>::vouches(&self.inputs)
    }
}
