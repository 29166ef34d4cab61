//! Addition, multiplication, and division of ciphertexts.

use cyclotron_isa::ProcedureBuilder;

use super::basis_conversion::divide_by;
use super::constant::residue_of_f64;
use super::{Ct, EmitContext, modulus_index};

/// a + b. Missing parts count as zero. At most 3 l additions.
pub fn add(b: &mut ProcedureBuilder<'_>, x: &Ct, y: &Ct) -> Ct {
    let (long, short) = if x.len() >= y.len() { (x, y) } else { (y, x) };
    let sum = |(i, part): (usize, &Vec<u32>)| match short.get(i) {
        None => part.clone(),
        Some(other) => part.iter().zip(other).map(|(&u, &v)| b.add(u, v)).collect(),
    };
    long.iter().enumerate().map(sum).collect()
}

/// a - b. Missing parts count as zero.
pub fn sub(b: &mut ProcedureBuilder<'_>, x: &Ct, y: &Ct) -> Ct {
    let part = |i: usize| match (x.get(i), y.get(i)) {
        (Some(u), Some(v)) => u.iter().zip(v).map(|(&u, &v)| b.sub(u, v)).collect(),
        (Some(u), None) => u.clone(),
        (None, Some(v)) => v.iter().map(|&v| b.neg(v)).collect(),
        (None, None) => Vec::new(),
    };
    (0..x.len().max(y.len())).map(part).collect()
}

/// -a.
pub fn neg(b: &mut ProcedureBuilder<'_>, x: &Ct) -> Ct {
    x.iter()
        .map(|part| part.iter().map(|&u| b.neg(u)).collect())
        .collect()
}

/// The tensor product of two two-part ciphertexts:
/// `(a0 b0, a0 b1 + a1 b0, a1 b1)`. 4 l multiplications, l of them accumulating;
/// 3 l for a square.
pub fn tensor(b: &mut ProcedureBuilder<'_>, x: &Ct, y: &Ct) -> Ct {
    let square = x == y;
    let mut parts = vec![Vec::new(); 3];
    for limb in 0..x[0].len() {
        let m = modulus_index(limb);
        let (x0, x1, y0, y1) = (x[0][limb], x[1][limb], y[0][limb], y[1][limb]);
        parts[0].push(b.mul(m, x0, y0));
        let cross = b.mul(m, x0, y1);
        parts[1].push(if square {
            b.add(cross, cross)
        } else {
            b.mac(cross, x1, y0)
        });
        parts[2].push(b.mul(m, x1, y1));
    }
    parts
}

/// ct + an encoded plaintext. l additions.
pub fn add_plain(b: &mut ProcedureBuilder<'_>, x: &Ct, plain: &[u32]) -> Ct {
    let mut sum = x.clone();
    sum[0] = x[0].iter().zip(plain).map(|(&u, &v)| b.add(u, v)).collect();
    sum
}

/// ct - an encoded plaintext. l subtractions.
pub fn sub_plain(b: &mut ProcedureBuilder<'_>, x: &Ct, plain: &[u32]) -> Ct {
    let mut difference = x.clone();
    difference[0] = x[0].iter().zip(plain).map(|(&u, &v)| b.sub(u, v)).collect();
    difference
}

/// ct * an encoded plaintext. l multiplications a part.
pub fn mul_plain(b: &mut ProcedureBuilder<'_>, x: &Ct, plain: &[u32]) -> Ct {
    let part = |part: &Vec<u32>| {
        let limbs = part.iter().zip(plain).enumerate();
        limbs
            .map(|(i, (&u, &v))| b.mul(modulus_index(i), u, v))
            .collect()
    };
    x.iter().map(part).collect()
}

/// ct + a whole constant in every slot: the constant polynomial has the same
/// value everywhere. l additions of a constant.
pub fn add_constant(ctx: &EmitContext, b: &mut ProcedureBuilder<'_>, x: &Ct, value: f64) -> Ct {
    let mut sum = x.clone();
    let limbs = x[0].iter().enumerate();
    sum[0] = limbs
        .map(|(i, &u)| b.add_c(u, residue_of_f64(value, ctx.extended[i])))
        .collect();
    sum
}

/// ct * a whole constant. l multiplications by a constant a part.
pub fn mul_constant(ctx: &EmitContext, b: &mut ProcedureBuilder<'_>, x: &Ct, value: f64) -> Ct {
    let part = |part: &Vec<u32>| {
        let limbs = part.iter().enumerate();
        let scale = |(i, &u): (usize, &u32)| {
            b.mul_c(modulus_index(i), u, residue_of_f64(value, ctx.extended[i]))
        };
        limbs.map(scale).collect()
    };
    x.iter().map(part).collect()
}

/// Rescale (CKKS) or modulus switch (BGV): drops the last limb, dividing by its prime.
///
/// # Cost
/// A part: 1 INTT, l - 1 NTT, and 4 (l - 1) + 1 element-wise instructions
/// (1 more for BGV).
pub fn rescale(ctx: &EmitContext, b: &mut ProcedureBuilder<'_>, x: &Ct) -> Ct {
    let last = x[0].len() - 1;
    let moduli = ctx.data(last + 1);
    let part = |part: &Vec<u32>| {
        divide_by(
            ctx,
            b,
            (&part[..last], &moduli[..last]),
            (&part[last..], &moduli[last..]),
        )
    };
    x.iter().map(part).collect()
}
