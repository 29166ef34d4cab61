//! Conversions that the lazy rule inserts: each is made once a value, for all its users.

use crate::chain::log2;
use crate::error::ProgramError;
use crate::placed::{PlacedNode, PlacedOp};
use crate::placement::{LEAST_CORRECTION, Placer};
use crate::residues::{inverse_mod, mul_mod, to_f64};

/// Conversions of one value that several users share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Conversion {
    Relinearized,
    Rescaled,
    Dropped(usize),
    Corrected(usize, u64),
}

impl Placer<'_> {
    fn cached(
        &mut self,
        value: u32,
        conversion: Conversion,
        make: impl FnOnce(&mut Self) -> PlacedNode,
    ) -> u32 {
        if let Some(&done) = self.cache.get(&(value, conversion)) {
            return done;
        }
        let node = make(self);
        let done = self.push(node);
        self.cache.insert((value, conversion), done);
        done
    }

    pub(crate) fn relinearized(&mut self, ct: u32) -> u32 {
        if self.at(ct).parts == 2 {
            return ct;
        }
        let given = ct;
        let ct = self.lifted(given);
        let done = self.cached(ct, Conversion::Relinearized, |p| PlacedNode {
            op: PlacedOp::Relinearize { ct },
            parts: 2,
            origin: p.origin,
            ..p.at(ct)
        });
        self.cache.insert((given, Conversion::Relinearized), done);
        done
    }

    /// The value at a scale at which it survives a key switch by Listing 1, where
    /// that is the only variant: one that rescales lead back from to a canonical scale.
    pub(crate) fn lifted(&mut self, ct: u32) -> u32 {
        let (Some(margin), None) = (self.chain.listing1_margin_bits, self.t()) else {
            return ct;
        };
        let node = self.at(ct);
        let wanted = self.transfer.listing1_error(node.level) * margin.exp2();
        if node.scale >= wanted {
            return ct;
        }
        let mut dropped = 1.0;
        for level in (1..node.level).rev() {
            dropped *= to_f64(self.chain.dropped(level + 1));
            let scale = self.chain.scale(level) * dropped;
            if scale >= wanted && scale / node.scale >= LEAST_CORRECTION {
                return self.corrected(ct, scale / node.scale, scale, 1);
            }
        }
        // Too few limbs: the noise analysis will say so.
        ct
    }

    pub(crate) fn rescaled(&mut self, ct: u32) -> Result<u32, ProgramError> {
        let node = self.at(ct);
        if node.level == 1 {
            return Err(self.out_of_levels());
        }
        let q = self.chain.dropped(node.level);
        let factor = self
            .t()
            .map_or(1, |t| mul_mod(node.factor, inverse_mod(q % t, t), t));
        let scale = if self.t().is_some() {
            1.0
        } else {
            node.scale / to_f64(q)
        };
        Ok(self.cached(ct, Conversion::Rescaled, |p| PlacedNode {
            op: PlacedOp::Rescale { ct },
            origin: p.origin,
            level: node.level - 1,
            scale,
            factor,
            ..node
        }))
    }

    pub(crate) fn dropped(&mut self, ct: u32, level: usize) -> u32 {
        if self.at(ct).level == level {
            return ct;
        }
        self.cached(ct, Conversion::Dropped(level), |p| PlacedNode {
            op: PlacedOp::Drop { ct },
            origin: p.origin,
            level,
            ..p.at(ct)
        })
    }

    /// Two parts, and rescaled (switched) as far as the lazy rule says.
    pub(crate) fn ready_for_mul(&mut self, ct: u32) -> Result<u32, ProgramError> {
        let mut ct = self.relinearized(ct);
        if self.t().is_none() {
            return self.scaled_for_mul(ct);
        }
        loop {
            let node = self.at(ct);
            if node.level == 1 {
                return Ok(ct);
            }
            let q = self.chain.dropped(node.level);
            let now = self.variances[ct as usize];
            let then = self.transfer.rescale(now, q);
            // Bits of noise saved must exceed half the bits of modulus spent.
            if 0.5 * (now / then).log2() <= 0.5 * log2(q) {
                return Ok(ct);
            }
            ct = self.rescaled(ct)?;
        }
    }

    /// CKKS: rescaled while at least half the canonical scale remains.
    pub(crate) fn scaled_for_mul(&mut self, mut ct: u32) -> Result<u32, ProgramError> {
        loop {
            let node = self.at(ct);
            if node.level == 1 {
                // No limb left: fine for a value still at canonical scale.
                let excess = node.scale / self.chain.scale(1);
                return if excess < LEAST_CORRECTION {
                    Ok(ct)
                } else {
                    Err(self.out_of_levels())
                };
            }
            let after = node.scale / to_f64(self.chain.dropped(node.level));
            if after < 0.5 * self.chain.scale(node.level - 1) {
                return Ok(ct);
            }
            let two = self.relinearized(ct);
            ct = self.rescaled(two)?;
        }
    }

    /// The value times the integer nearest to `exact`.
    pub(crate) fn corrected(&mut self, ct: u32, exact: f64, scale: f64, factor: u64) -> u32 {
        let node = self.at(ct);
        let value = exact.round();
        let rounding = (exact - value).abs();
        self.cached(
            ct,
            Conversion::Corrected(node.level, value.to_bits()),
            |p| PlacedNode {
                op: PlacedOp::MulConst {
                    ct,
                    value,
                    rounding,
                },
                origin: p.origin,
                scale,
                factor,
                ..node
            },
        )
    }
}
