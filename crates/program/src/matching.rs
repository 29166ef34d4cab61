//! Meeting of operands: one level, one scale or correction factor.

use std::cmp::Ordering;

use crate::error::ProgramError;
use crate::placement::{LEAST_CORRECTION, Placer, SAME_SCALE};
use crate::residues::{centred, inverse_mod, mul_mod, to_f64};

impl Placer<'_> {
    /// Brings a factor of a product to `level`, at the canonical scale if it had that.
    pub(crate) fn lowered(&mut self, ct: u32, level: usize) -> Result<u32, ProgramError> {
        let node = self.at(ct);
        if node.level == level {
            return Ok(ct);
        }
        if self.t().is_some() {
            return self.switched_to(ct, level);
        }
        let drift = node.scale / self.chain.scale(node.level);
        if (0.5..2.0).contains(&drift) {
            let target = self.chain.scale(level);
            if let Some(done) = self.brought(ct, level, target)? {
                return Ok(done);
            }
        }
        Ok(self.dropped(ct, level))
    }

    fn switched_to(&mut self, mut ct: u32, level: usize) -> Result<u32, ProgramError> {
        ct = self.relinearized(ct);
        while self.at(ct).level > level {
            ct = self.rescaled(ct)?;
        }
        Ok(ct)
    }

    /// Two summands at one level and one scale (correction factor).
    pub(crate) fn matched(&mut self, a: u32, b: u32) -> Result<(u32, u32), ProgramError> {
        let (x, y) = (self.at(a), self.at(b));
        if self.t().is_some() {
            return self.matched_bgv(a, b);
        }
        let level = x.level.min(y.level);
        let target = match x.level.cmp(&y.level) {
            Ordering::Less => x.scale,
            Ordering::Greater => y.scale,
            Ordering::Equal => x.scale.max(y.scale),
        };
        if let (Some(a2), Some(b2)) = (
            self.brought(a, level, target)?,
            self.brought(b, level, target)?,
        ) {
            return Ok((a2, b2));
        }
        // Scales too close for an exact factor: meet one level lower, both corrected.
        if level == 1 {
            return Err(self.out_of_levels());
        }
        let spent = to_f64(self.chain.dropped(level));
        let least = x.scale.max(y.scale) * 16.0 * LEAST_CORRECTION / spent;
        let target = self.chain.scale(level - 1).max(least);
        match (
            self.brought(a, level - 1, target)?,
            self.brought(b, level - 1, target)?,
        ) {
            (Some(a), Some(b)) => Ok((a, b)),
            _ => Err(ProgramError::Invalid {
                place: self.graph.place_of(self.origin),
                why: format!(
                    "the operands' scales, 2^{:.2} and 2^{:.2}, cannot be matched; \
                     give their plain factors scale_bits with equal sums",
                    x.scale.log2(),
                    y.scale.log2()
                ),
            }),
        }
    }

    fn matched_bgv(&mut self, a: u32, b: u32) -> Result<(u32, u32), ProgramError> {
        let (x, y) = (self.at(a), self.at(b));
        if x.level >= y.level {
            Ok((self.brought_bgv(a, y.level, y.factor)?, b))
        } else {
            Ok((a, self.brought_bgv(b, x.level, x.factor)?))
        }
    }

    /// The value at a level and correction factor, by a constant before the last switch.
    fn brought_bgv(&mut self, ct: u32, level: usize, factor: u64) -> Result<u32, ProgramError> {
        let t = self.t().expect("BGV");
        let node = self.at(ct);
        if node.level == level {
            if node.factor == factor {
                return Ok(ct);
            }
            let c = mul_mod(factor, inverse_mod(node.factor, t), t);
            return Ok(self.corrected(ct, centred(c, t), node.scale, factor));
        }
        let above = self.switched_to(ct, level + 1)?;
        let node = self.at(above);
        let q = self.chain.dropped(level + 1) % t;
        let wanted = mul_mod(factor, q, t);
        let c = mul_mod(wanted, inverse_mod(node.factor, t), t);
        let above = if c == 1 {
            above
        } else {
            self.corrected(above, centred(c, t), 1.0, wanted)
        };
        let two = self.relinearized(above);
        self.rescaled(two)
    }

    /// CKKS: the value at a level and scale, or `None` if no constant gets there precisely.
    fn brought(&mut self, ct: u32, level: usize, target: f64) -> Result<Option<u32>, ProgramError> {
        let node = self.at(ct);
        let ratio = target / node.scale;
        if (ratio - 1.0).abs() < SAME_SCALE {
            return Ok(Some(self.dropped(ct, level)));
        }
        if node.level == level {
            if ratio < LEAST_CORRECTION {
                return Ok(None);
            }
            return Ok(Some(self.corrected(ct, ratio, target, 1)));
        }
        let q = to_f64(self.chain.dropped(level + 1));
        let c = target * q / node.scale;
        if c >= LEAST_CORRECTION {
            let ct = self.relinearized(ct);
            let above = self.dropped(ct, level + 1);
            let scaled = self.corrected(above, c, target * q, 1);
            return Ok(Some(self.rescaled(scaled)?));
        }
        let two = self.relinearized(ct);
        let once = self.rescaled(two)?;
        self.brought(once, level, target)
    }
}
