//! Key switching: F1's Listing 1 and hybrid.

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

/// The automorphism x -> x^k and the key switch back. Parameters: the
/// two-part ciphertext, then the hint's limbs.
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
    let c1: Vec<u32> = x[1].iter().map(|&u| b.aut(u, k)).collect();
    let [u0, u1] = key_switch(ctx, b, variant, &c1, &hints);
    vec![add_automorphism(b, &x[0], u0, k), u1]
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

fn key_switch(
    ctx: &EmitContext,
    b: &mut ProcedureBuilder<'_>,
    variant: KeyVariant,
    x: &[u32],
    hints: &Hints,
) -> [Vec<u32>; 2] {
    match variant {
        KeyVariant::Listing1 => listing1(ctx, b, x, hints),
        KeyVariant::Hybrid => hybrid(ctx, b, x, hints),
    }
}

/// F1's Listing 1: every limb is a digit, read uncentred modulo every prime.
///
/// # References
/// F1 (MICRO 2021), Listing 1; the limb's own prime reuses the input, as printed.
fn listing1(
    ctx: &EmitContext,
    b: &mut ProcedureBuilder<'_>,
    x: &[u32],
    hints: &Hints,
) -> [Vec<u32>; 2] {
    let y: Vec<u32> = x.iter().map(|&limb| b.intt(limb)).collect();
    inner_products(b, &ctx.data(x.len()), hints, |b, digit, target| {
        if digit == target {
            x[digit]
        } else {
            b.ntt(modulus_index(target), y[digit])
        }
    })
}

/// The digits of a hybrid key switch before their transforms.
///
/// # References
/// Han and Ki, *Better Bootstrapping for Approximate Homomorphic Encryption*
/// (CT-RSA 2020), Section 3. Here digits are centred, and a digit of one limb
/// is converted exactly.
struct Decomposition<'a> {
    /// Positions of every digit's limbs.
    ranges: Vec<std::ops::Range<usize>>,
    bases: Vec<Base<'a>>,
    /// By digit: its limbs, prepared for conversion.
    prepared: Vec<Vec<u32>>,
    /// By digit and position of the target: the converted limb, where there is one yet.
    converted: Vec<Vec<Option<u32>>>,
    targets: &'a [u16],
}

impl<'a> Decomposition<'a> {
    /// Digits of several limbs are converted to all primes at once, digits of one
    /// limb on demand.
    fn new(
        ctx: &'a EmitContext,
        b: &mut ProcedureBuilder<'_>,
        x: &[u32],
        (data, targets): (&'a [u16], &'a [u16]),
    ) -> Self {
        let coefficients: Vec<u32> = x.iter().map(|&limb| b.intt(limb)).collect();
        let ranges = digit_ranges(ctx, x.len());
        let bases: Vec<Base<'_>> = ranges
            .iter()
            .map(|range| Base::new(ctx, &data[range.clone()], 1))
            .collect();
        let prepared: Vec<Vec<u32>> = ranges
            .iter()
            .zip(&bases)
            .map(|(range, base)| base.prepare(b, &coefficients[range.clone()]))
            .collect();
        let convert = |d: usize| {
            let mut limbs = vec![None; targets.len()];
            if ranges[d].len() > 1 {
                let outside = outside(&ranges[d], targets.len());
                let moduli: Vec<u16> = outside.iter().map(|&j| targets[j]).collect();
                let converted = bases[d].convert(b, &prepared[d], &moduli);
                for (limb, j) in converted.into_iter().zip(outside) {
                    limbs[j] = Some(limb);
                }
            }
            limbs
        };
        let converted = (0..ranges.len()).map(convert).collect();
        Self {
            ranges,
            bases,
            prepared,
            converted,
            targets,
        }
    }

    /// Digit d modulo target j outside its own limbs, in evaluation domain.
    fn limb(&self, b: &mut ProcedureBuilder<'_>, d: usize, j: usize) -> u32 {
        let target = self.targets[j];
        let limb = self.converted[d][j]
            .unwrap_or_else(|| self.bases[d].convert(b, &self.prepared[d], &[target])[0]);
        b.ntt(target, limb)
    }
}

/// The positions of the limbs of every digit at a level.
fn digit_ranges(ctx: &EmitContext, level: usize) -> Vec<std::ops::Range<usize>> {
    (0..KeyVariant::Hybrid.digits_at(&ctx.params, level))
        .map(|d| KeyVariant::Hybrid.digit_range(&ctx.params, d, level))
        .collect()
}

/// The positions of targets that are not a digit's own limbs.
fn outside(own: &std::ops::Range<usize>, targets: usize) -> Vec<usize> {
    (0..targets).filter(|j| !own.contains(j)).collect()
}

/// Hybrid key switching: the digits of x, their inner products with the hint,
/// and the division by the special primes.
fn hybrid(
    ctx: &EmitContext,
    b: &mut ProcedureBuilder<'_>,
    x: &[u32],
    hints: &Hints,
) -> [Vec<u32>; 2] {
    let data = ctx.data(x.len());
    let targets = targets(ctx, KeyVariant::Hybrid, x.len());
    let digits = Decomposition::new(ctx, b, x, (&data, &targets));
    let sums = inner_products(b, &targets, hints, |b, d, j| {
        if digits.ranges[d].contains(&j) {
            x[j]
        } else {
            digits.limb(b, d, j)
        }
    });
    divide_by_special(ctx, b, x.len(), sums)
}

/// Divides both inner products by the special primes.
fn divide_by_special(
    ctx: &EmitContext,
    b: &mut ProcedureBuilder<'_>,
    level: usize,
    sums: [Vec<u32>; 2],
) -> [Vec<u32>; 2] {
    let (data, special) = (ctx.data(level), ctx.special());
    sums.map(|sum| {
        let (kept, dropped) = sum.split_at(level);
        divide_by(ctx, b, (kept, &data), (dropped, &special))
    })
}

/// The part of a hybrid key switch that automorphisms of one ciphertext share:
/// the digits of its second polynomial `c1` modulo all primes but their own.
/// Results: digit by digit, for each the limbs outside it, in evaluation domain.
///
/// # Cost
/// l INTT, beta (l + K) - l NTT, and the base conversions.
///
/// # References
/// Halevi and Shoup, *Faster Homomorphic Linear Transformations in HElib*
/// (CRYPTO 2018), Section 4.2 (hoisting).
pub fn decompose(ctx: &EmitContext, b: &mut ProcedureBuilder<'_>, c1: &[u32]) -> Vec<u32> {
    let data = ctx.data(c1.len());
    let targets = targets(ctx, KeyVariant::Hybrid, c1.len());
    let digits = Decomposition::new(ctx, b, c1, (&data, &targets));
    let mut limbs = Vec::new();
    for (d, own) in digits.ranges.iter().enumerate() {
        for j in outside(own, targets.len()) {
            limbs.push(digits.limb(b, d, j));
        }
    }
    limbs
}

/// [`automorphism`] of a ciphertext whose digits [`decompose`] has made.
/// Parameters: the two-part ciphertext, the digits, then the hint's limbs.
///
/// The automorphism of a digit is a digit of the automorphism: both are small,
/// and x -> x^k keeps sums and products. The result may differ from
/// [`automorphism`]'s by an error as small, because converted digits of several
/// limbs are exact only up to a small multiple of their modulus.
///
/// # Cost
/// l + beta (l + K) automorphisms, 2 K INTT, 2 l NTT, 2 beta (l + K)
/// multiplications, and the base conversions of the division.
pub fn hoisted_automorphism(ctx: &EmitContext, b: &mut ProcedureBuilder<'_>, x: &Ct, k: u32) -> Ct {
    let level = x[0].len();
    let targets = targets(ctx, KeyVariant::Hybrid, level);
    let digits: Vec<Vec<Option<u32>>> = digit_ranges(ctx, level)
        .iter()
        .map(|own| {
            let limb = |j: usize| (!own.contains(&j)).then(|| b.param(LimbType::eval(targets[j])));
            (0..targets.len()).map(limb).collect()
        })
        .collect();
    let hints = hint_params(ctx, b, KeyVariant::Hybrid, level);
    let sums = inner_products(b, &targets, &hints, |b, d, j| {
        let limb = digits[d][j].unwrap_or_else(|| x[1][j]);
        b.aut(limb, k)
    });
    let [u0, u1] = divide_by_special(ctx, b, level, sums);
    vec![add_automorphism(b, &x[0], u0, k), u1]
}

/// The automorphism of c0, and u added to it.
fn add_automorphism(b: &mut ProcedureBuilder<'_>, c0: &[u32], u: Vec<u32>, k: u32) -> Vec<u32> {
    let add = |(&c0, u): (&u32, u32)| {
        let moved = b.aut(c0, k);
        b.add(moved, u)
    };
    c0.iter().zip(u).map(add).collect()
}

/// For every target prime, the inner products of the digits with both polynomials
/// of the hint. Target by target, so that few digits live at once.
fn inner_products(
    b: &mut ProcedureBuilder<'_>,
    targets: &[u16],
    hints: &Hints,
    mut digit_limb: impl FnMut(&mut ProcedureBuilder<'_>, usize, usize) -> u32,
) -> [Vec<u32>; 2] {
    let mut sums = [
        Vec::with_capacity(targets.len()),
        Vec::with_capacity(targets.len()),
    ];
    for (j, &target) in targets.iter().enumerate() {
        let digits: Vec<u32> = (0..hints.len()).map(|d| digit_limb(b, d, j)).collect();
        for (poly, sum) in sums.iter_mut().enumerate() {
            let pairs: Vec<(u32, u32)> = digits
                .iter()
                .zip(hints)
                .map(|(&digit, hint)| (digit, hint[poly][j]))
                .collect();
            sum.push(b.dot(target, &pairs));
        }
    }
    sums
}
