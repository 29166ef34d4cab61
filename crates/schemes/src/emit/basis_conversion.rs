//! Conversion between bases and exact division, both centred.

use cyclotron_isa::ProcedureBuilder;

use super::EmitContext;
use crate::params::{inverse_mod, mul_mod};

/// A base of k primes with product Q, and what converting out of it needs.
///
/// The residues of x in the base are turned into limbs of other primes that
/// hold a small representative of x modulo Q. Centred: with S = floor(k Q / 2),
/// x + S is converted, which gives `[x + S]_Q + u Q` with u in [0, k), and S is
/// subtracted again, so that the result's mean is near zero. For k = 1 the
/// result is exactly x in [-Q/2, Q/2).
///
/// With t > 1 the result is `t [x / t]_Q`, which is x modulo Q and 0 modulo t
/// (BGV's divisions).
pub(crate) struct Base<'a> {
    ctx: &'a EmitContext,
    moduli: &'a [u16],
    t: u64,
}

impl<'a> Base<'a> {
    pub(crate) fn new(ctx: &'a EmitContext, moduli: &'a [u16], t: u64) -> Self {
        Self { ctx, moduli, t }
    }

    /// Q without the prime at `skip`, modulo m.
    fn product_without(&self, skip: Option<usize>, m: u64) -> u64 {
        let kept = self
            .moduli
            .iter()
            .enumerate()
            .filter(|&(i, _)| Some(i) != skip);
        kept.fold(1, |acc, (_, &index)| mul_mod(acc, self.ctx.q(index) % m, m))
    }

    /// S = floor(k Q / 2) modulo the odd prime m.
    fn half(&self, m: u64) -> u64 {
        let k = self.moduli.len() as u64;
        let double = mul_mod(k % m, self.product_without(None, m), m);
        let even = (double + m - (k & 1)) % m;
        mul_mod(even, inverse_mod(2, m), m)
    }

    /// The source limbs (coefficient domain), prepared for [`Self::convert`]:
    /// `((x / t) + S) (Q / q_i)^-1 mod q_i`.
    pub(crate) fn prepare(&self, b: &mut ProcedureBuilder<'_>, limbs: &[u32]) -> Vec<u32> {
        let prepare = |(i, (&limb, &index)): (usize, (&u32, &u16))| {
            let q = self.ctx.q(index);
            let hat_inverse = inverse_mod(self.product_without(Some(i), q), q);
            let factor = mul_mod(hat_inverse, inverse_mod(self.t % q, q), q);
            let scaled = if factor == 1 {
                limb
            } else {
                b.mul_c(index, limb, factor)
            };
            b.add_c(scaled, mul_mod(self.half(q), hat_inverse, q))
        };
        limbs
            .iter()
            .zip(self.moduli)
            .enumerate()
            .map(prepare)
            .collect()
    }

    /// Prepared limbs to limbs of the primes `targets`, in coefficient domain.
    pub(crate) fn convert(
        &self,
        b: &mut ProcedureBuilder<'_>,
        prepared: &[u32],
        targets: &[u16],
    ) -> Vec<u32> {
        let entry = |i: usize, target: u16| {
            let p = self.ctx.q(target);
            mul_mod(self.product_without(Some(i), p), self.t % p, p)
        };
        let converted = if let ([only], [index]) = (prepared, self.moduli) {
            let _ = index;
            targets
                .iter()
                .map(|&j| b.mul_c(j, *only, entry(0, j)))
                .collect()
        } else {
            let rows = 0..prepared.len();
            let matrix: Vec<u64> = rows
                .flat_map(|i| targets.iter().map(move |&j| (i, j)))
                .map(|(i, j)| entry(i, j))
                .collect();
            b.bconv(targets, prepared, &matrix)
        };
        let centre = |(limb, &target): (u32, &u16)| {
            let p = self.ctx.q(target);
            b.add_c(limb, (p - mul_mod(self.half(p), self.t % p, p)) % p)
        };
        converted.into_iter().zip(targets).map(centre).collect()
    }
}

/// Divides by the product of the primes `dropped`, rounding to the nearest (for
/// BGV to the nearest that keeps the plaintext, up to that product modulo t).
///
/// # Layout
/// `kept` are limbs of the primes `kept_moduli`, `limbs` of the primes
/// `dropped`, all in evaluation domain; so is the result, on `kept_moduli`.
///
/// # Cost
/// K INTT, l NTT, K premultiplications, K l multiply-accumulates, 3 l element-wise
/// (K dropped, l kept limbs).
pub(crate) fn divide_by(
    ctx: &EmitContext,
    b: &mut ProcedureBuilder<'_>,
    (kept, kept_moduli): (&[u32], &[u16]),
    (limbs, dropped): (&[u32], &[u16]),
) -> Vec<u32> {
    let base = Base::new(ctx, dropped, ctx.division_modulus());
    let coefficients: Vec<u32> = limbs.iter().map(|&limb| b.intt(limb)).collect();
    let prepared = base.prepare(b, &coefficients);
    let finish = |b: &mut ProcedureBuilder<'_>, limb: u32, converted: u32, index: u16| {
        let q = ctx.q(index);
        let remainder = b.ntt(index, converted);
        b.sub_mul_c(
            limb,
            remainder,
            inverse_mod(base.product_without(None, q), q),
        )
    };
    if dropped.len() == 1 {
        // One limb at a time: a machine keeps few intermediates.
        let each = kept.iter().zip(kept_moduli).map(|(&limb, &index)| {
            let converted = base.convert(b, &prepared, &[index]);
            finish(b, limb, converted[0], index)
        });
        return each.collect();
    }
    let converted = base.convert(b, &prepared, kept_moduli);
    let each = kept.iter().zip(converted).zip(kept_moduli);
    each.map(|((&limb, converted), &index)| finish(b, limb, converted, index))
        .collect()
}
