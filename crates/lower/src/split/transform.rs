//! Transforms of polynomials of several parts.

use cyclotron_isa::{Inst, LimbType, Op};
use cyclotron_ring::parts;

use super::writer::Writer;

impl Writer<'_> {
    /// The values of a polynomial in coefficient domain, part by part.
    pub(super) fn forward(&mut self, modulus: u16, source: u32) -> Vec<u32> {
        let (coeff, eval) = (LimbType::coeff(modulus), LimbType::eval(modulus));
        let foreign = self.modulus_of(source) != modulus;
        let scaled = self.folds.wanted[source as usize];
        let mut values = self.parts(source).to_vec();
        for depth in 0..self.split.log_parts {
            for (block, low, high) in pairs(depth, values.len()) {
                let mut product = values[high];
                if depth > 0 || !scaled {
                    let r = self.split.primes[&modulus].factor(depth, block);
                    product = self.times(coeff, product, r);
                }
                let mut other = values[low];
                if foreign && depth == 0 {
                    other = self.times(coeff, other, 1);
                }
                values[low] = self.new.emit(Op::Add, coeff, [other, product, 0], 0);
                values[high] = self.new.emit(Op::Sub, coeff, [other, product, 0], 0);
            }
        }
        for (part, value) in values.iter_mut().enumerate() {
            let twist = self.twist(modulus, part);
            let twisted = self.new.emit(Op::Mul, coeff, [*value, twist, 0], 0);
            *value = self.new.emit(Op::Ntt, eval, [twisted, 0, 0], 0);
        }
        values
    }

    /// The coefficients of a polynomial in evaluation domain, part by part: the steps of
    /// [`Self::forward`] undone, `lo = (u + v) / 2` and `hi = (u - v) / 2r` from `u` and
    /// `v`, with all halves at the last step.
    pub(super) fn inverse(&mut self, inst: &Inst) -> Vec<u32> {
        let modulus = inst.modulus;
        let coeff = LimbType::coeff(modulus);
        let arithmetic = self.split.arithmetic(modulus);
        let log_parts = self.split.log_parts;
        let left = self.folds.left[inst.dst as usize];
        let mut values = self.parts(inst.a).to_vec();
        for (part, value) in values.iter_mut().enumerate() {
            let twisted = self.new.emit(Op::Intt, coeff, [*value, 0, 0], 0);
            let twist = self.twist(modulus, parts::inverse(part, log_parts));
            *value = self.new.emit(Op::Mul, coeff, [twisted, twist, 0], 0);
        }
        for depth in (0..log_parts).rev() {
            for (block, low, high) in pairs(depth, values.len()) {
                let (u, v) = (values[low], values[high]);
                let sum = self.new.emit(Op::Add, coeff, [u, v, 0], 0);
                let difference = self.new.emit(Op::Sub, coeff, [u, v, 0], 0);
                (values[low], values[high]) = (sum, difference);
                if depth > 0 {
                    let r = self.split.primes[&modulus].factor(depth, block);
                    values[high] = self.times(coeff, difference, arithmetic.inv(r));
                } else if !left {
                    let [of_low, of_high] = self.split.last_factors(modulus);
                    values[low] = self.times(coeff, sum, of_low);
                    values[high] = self.times(coeff, difference, of_high);
                }
            }
        }
        values
    }
}

/// The parts that are joined at a step: number of the block, lower and upper half of it.
fn pairs(depth: u32, count: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let half = count >> (depth + 1);
    (0..1 << depth).flat_map(move |block| {
        let low = 2 * half * block;
        (low..low + half).map(move |low| (block, low, low + half))
    })
}
