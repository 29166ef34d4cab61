//! Key switching: F1's Listing 1 and hybrid.

use std::ops::Range;

use cyclotron_isa::{LimbType, ProcedureBuilder};

use super::basis_conversion::{Base, divide_by};
use super::{Ct, EmitContext, modulus_index};
use crate::key_spec::KeyVariant;

/// A limb of a hint, by digit, polynomial (0 or 1) and position in the extended chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HintLimb {
    /// Digit of the gadget decomposition.
    pub digit: u16,
    /// 0 for b, 1 for a.
    pub poly: u8,
    /// Position in the extended chain.
    pub limb: u16,
}

/// The hint limbs that a key switch at `level` reads, in the order of its
/// parameters: digit by digit, for each the limbs of b and then of a.
#[must_use]
pub fn hint_limbs(ctx: &EmitContext, variant: KeyVariant, level: usize) -> Vec<HintLimb> {
    let targets = targets(ctx, variant, level);
    let digits = variant.digits_at(&ctx.params, level);
    let mut limbs = Vec::with_capacity(2 * digits * targets.len());
    for digit in 0..digits {
        for poly in 0..2 {
            limbs.extend(targets.iter().map(|&limb| HintLimb {
                digit: modulus_index(digit),
                poly,
                limb,
            }));
        }
    }
    limbs
}

/// The primes that the product with the hint is computed modulo.
fn targets(ctx: &EmitContext, variant: KeyVariant, level: usize) -> Vec<u16> {
    let mut moduli = ctx.data(level);
    if variant == KeyVariant::Hybrid {
        moduli.extend(ctx.special());
    }
    moduli
}

/// Three parts to two. Parameters: the ciphertext, then the hint's limbs.
///
/// # Cost
/// A key switch at that level; see [`automorphism`].
pub fn relinearize(
    ctx: &EmitContext,
    b: &mut ProcedureBuilder<'_>,
    variant: KeyVariant,
    x: &Ct,
) -> Ct {
    let hints = hint_params(ctx, b, variant, x[0].len());
    let [u0, u1] = key_switch(ctx, b, variant, &x[2], &hints);
    let sum = |b: &mut ProcedureBuilder<'_>, x: &[u32], u: Vec<u32>| {
        x.iter().zip(u).map(|(&x, u)| b.add(x, u)).collect()
    };
    vec![sum(b, &x[0], u0), sum(b, &x[1], u1)]
}

/// The key switch from s to s(x^(1/k)), then the automorphism x -> x^k, which
/// takes that to s again. Parameters: the two-part ciphertext, then the hint's
/// limbs.
///
/// The automorphism comes last so that automorphisms of one ciphertext decompose
/// the same polynomial, and each moves 2 l limbs only.
///
/// # Cost
/// 2 l automorphisms, l additions and a key switch. Listing 1: l INTT, l (l - 1)
/// NTT, 2 l^2 multiplications, 2 l (l - 1) additions. Hybrid with K special
/// primes and beta digits: l + 2 K INTT, beta (l + K) - l + 2 l NTT,
/// 2 beta (l + K) multiplications, and the base conversions.
pub fn automorphism(
    ctx: &EmitContext,
    b: &mut ProcedureBuilder<'_>,
    variant: KeyVariant,
    x: &Ct,
    k: u32,
) -> Ct {
    let hints = hint_params(ctx, b, variant, x[0].len());
    let switched = key_switch(ctx, b, variant, &x[1], &hints);
    moved(b, &x[0], switched, k)
}

/// The part of a key switch that automorphisms of one ciphertext share: the
/// digits of its second polynomial `c1` modulo all primes but their own.
/// Results: digit by digit, for each the limbs outside it, in evaluation domain.
///
/// # Cost
/// Listing 1: l INTT, l (l - 1) NTT. Hybrid: l INTT, beta (l + K) - l NTT, and the
/// base conversions.
///
/// # References
/// Halevi and Shoup, *Faster Homomorphic Linear Transformations in HElib*
/// (CRYPTO 2018), Section 4.2 (hoisting).
pub fn decompose(
    ctx: &EmitContext,
    b: &mut ProcedureBuilder<'_>,
    variant: KeyVariant,
    c1: &[u32],
) -> Vec<u32> {
    let targets = targets(ctx, variant, c1.len());
    let digits = Digits::new(ctx, b, variant, c1, &targets);
    let mut limbs = Vec::new();
    for (d, own) in digits.ranges.iter().enumerate() {
        for j in outside(own, targets.len()) {
            limbs.push(digits.limb(b, d, j));
        }
    }
    limbs
}

/// [`automorphism`] of a ciphertext whose digits [`decompose`] has made: the same
/// result. Parameters: the two-part ciphertext, the digits, then the hint's limbs.
///
/// # Cost
/// [`automorphism`]'s less [`decompose`]'s.
pub fn hoisted_automorphism(
    ctx: &EmitContext,
    b: &mut ProcedureBuilder<'_>,
    variant: KeyVariant,
    x: &Ct,
    k: u32,
) -> Ct {
    let level = x[0].len();
    let targets = targets(ctx, variant, level);
    let digits: Vec<Vec<Option<u32>>> = digit_ranges(ctx, variant, level)
        .iter()
        .map(|own| {
            let limb = |j: usize| (!own.contains(&j)).then(|| b.param(LimbType::eval(targets[j])));
            (0..targets.len()).map(limb).collect()
        })
        .collect();
    let hints = hint_params(ctx, b, variant, level);
    let sums = inner_products(b, (level, &targets), &hints, |_, d, j| {
        digits[d][j].unwrap_or_else(|| x[1][j])
    });
    let switched = divide_by_special(ctx, b, level, sums);
    moved(b, &x[0], switched, k)
}

/// The automorphism x -> x^k of `(c0 + u0, u1)`.
fn moved(b: &mut ProcedureBuilder<'_>, c0: &[u32], [u0, u1]: [Vec<u32>; 2], k: u32) -> Ct {
    let first = c0.iter().zip(u0).map(|(&c0, u0)| {
        let sum = b.add(c0, u0);
        b.aut(sum, k)
    });
    let first = first.collect();
    vec![first, u1.into_iter().map(|u1| b.aut(u1, k)).collect()]
}

/// Hint limbs as local values, `[digit][poly][target]`.
type Hints = Vec<[Vec<u32>; 2]>;

fn hint_params(
    ctx: &EmitContext,
    b: &mut ProcedureBuilder<'_>,
    variant: KeyVariant,
    level: usize,
) -> Hints {
    let targets = targets(ctx, variant, level);
    let mut poly = || {
        targets
            .iter()
            .map(|&m| b.param(LimbType::eval(m)))
            .collect::<Vec<u32>>()
    };
    (0..variant.digits_at(&ctx.params, level))
        .map(|_| [poly(), poly()])
        .collect()
}

/// The digits of x, their inner products with the hint, and for hybrid the
/// division by the special primes.
fn key_switch(
    ctx: &EmitContext,
    b: &mut ProcedureBuilder<'_>,
    variant: KeyVariant,
    x: &[u32],
    hints: &Hints,
) -> [Vec<u32>; 2] {
    let targets = targets(ctx, variant, x.len());
    let digits = Digits::new(ctx, b, variant, x, &targets);
    let sums = inner_products(b, (x.len(), &targets), hints, |b, d, j| {
        if digits.ranges[d].contains(&j) {
            x[j]
        } else {
            digits.limb(b, d, j)
        }
    });
    divide_by_special(ctx, b, x.len(), sums)
}

/// The digits of a polynomial before their transforms.
///
/// # References
/// F1 (MICRO 2021), Listing 1: every limb is a digit, read uncentred modulo every
/// prime. Hybrid: Han and Ki, *Better Bootstrapping for Approximate Homomorphic
/// Encryption* (CT-RSA 2020), Section 3; here digits are centred, and a digit of
/// one limb is converted exactly.
struct Digits<'a> {
    /// Positions of every digit's limbs.
    ranges: Vec<Range<usize>>,
    /// What converts every digit; none for Listing 1.
    bases: Vec<Base<'a>>,
    /// By digit: its limbs in coefficient domain, prepared for conversion if they
    /// are converted.
    sources: Vec<Vec<u32>>,
    /// By digit and position of the target: the converted limb, where there is one yet.
    converted: Vec<Vec<Option<u32>>>,
    targets: &'a [u16],
}

impl<'a> Digits<'a> {
    /// Digits of several limbs are converted to all primes at once, digits of one
    /// limb on demand.
    fn new(
        ctx: &'a EmitContext,
        b: &mut ProcedureBuilder<'_>,
        variant: KeyVariant,
        x: &[u32],
        targets: &'a [u16],
    ) -> Self {
        let coefficients: Vec<u32> = x.iter().map(|&limb| b.intt(limb)).collect();
        let ranges = digit_ranges(ctx, variant, x.len());
        let limbs = |range: &Range<usize>| &coefficients[range.clone()];
        let mut digits = Self {
            bases: Vec::new(),
            sources: Vec::new(),
            converted: vec![vec![None; targets.len()]; ranges.len()],
            targets,
            ranges,
        };
        match variant {
            KeyVariant::Listing1 => {
                digits.sources = digits.ranges.iter().map(|r| limbs(r).to_vec()).collect();
            }
            KeyVariant::Hybrid => {
                // The data primes come first among the targets.
                let base = |range: &Range<usize>| Base::new(ctx, &targets[range.clone()], 1);
                digits.bases = digits.ranges.iter().map(base).collect();
                let each = digits.ranges.iter().zip(&digits.bases);
                digits.sources = each
                    .map(|(range, base)| base.prepare(b, limbs(range)))
                    .collect();
                digits.convert_wide(b);
            }
        }
        digits
    }

    /// Converts the digits of several limbs.
    fn convert_wide(&mut self, b: &mut ProcedureBuilder<'_>) {
        for (d, range) in self.ranges.iter().enumerate() {
            if range.len() == 1 {
                continue;
            }
            let outside = outside(range, self.targets.len());
            let moduli: Vec<u16> = outside.iter().map(|&j| self.targets[j]).collect();
            let converted = self.bases[d].convert(b, &self.sources[d], &moduli);
            for (limb, j) in converted.into_iter().zip(outside) {
                self.converted[d][j] = Some(limb);
            }
        }
    }

    /// Digit d modulo target j outside its own limbs, in evaluation domain.
    fn limb(&self, b: &mut ProcedureBuilder<'_>, d: usize, j: usize) -> u32 {
        let target = self.targets[j];
        let limb = self.converted[d][j].unwrap_or_else(|| match self.bases.get(d) {
            Some(base) => base.convert(b, &self.sources[d], &[target])[0],
            None => self.sources[d][0],
        });
        b.ntt(target, limb)
    }
}

/// The positions of the limbs of every digit at a level.
fn digit_ranges(ctx: &EmitContext, variant: KeyVariant, level: usize) -> Vec<Range<usize>> {
    (0..variant.digits_at(&ctx.params, level))
        .map(|d| variant.digit_range(&ctx.params, d, level))
        .collect()
}

/// The positions of targets that are not a digit's own limbs.
fn outside(own: &Range<usize>, targets: usize) -> Vec<usize> {
    (0..targets).filter(|j| !own.contains(j)).collect()
}

/// Divides both inner products by the special primes, if they have limbs of them.
fn divide_by_special(
    ctx: &EmitContext,
    b: &mut ProcedureBuilder<'_>,
    level: usize,
    sums: [Vec<u32>; 2],
) -> [Vec<u32>; 2] {
    let (data, special) = (ctx.data(level), ctx.special());
    sums.map(|sum| match sum.split_at(level) {
        (_, []) => sum,
        (kept, dropped) => divide_by(ctx, b, (kept, &data), (dropped, &special)),
    })
}

/// For every target prime, the inner products of the digits with both polynomials
/// of the hint. Target by target, so that few digits live at once; the special
/// primes, after `level` others, first, because a division waits for all of them.
fn inner_products(
    b: &mut ProcedureBuilder<'_>,
    (level, targets): (usize, &[u16]),
    hints: &Hints,
    mut digit_limb: impl FnMut(&mut ProcedureBuilder<'_>, usize, usize) -> u32,
) -> [Vec<u32>; 2] {
    let mut sums = [vec![0; targets.len()], vec![0; targets.len()]];
    for j in (level..targets.len()).chain(0..level) {
        let digits: Vec<u32> = (0..hints.len()).map(|d| digit_limb(b, d, j)).collect();
        for (poly, sum) in sums.iter_mut().enumerate() {
            let pairs: Vec<(u32, u32)> = digits
                .iter()
                .zip(hints)
                .map(|(&digit, hint)| (digit, hint[poly][j]))
                .collect();
            sum[j] = b.dot(targets[j], &pairs);
        }
    }
    sums
}
