//! The choice of parameters for a program.
//!
//! Chains are tried from the shortest: the first on which the program keeps
//! its levels, its precision and the wished security gives the number of data
//! limbs. Of the digit sizes that this length allows, the one whose lowered
//! program the target is estimated to run fastest is taken.

use cyclotron_isa::{LimbProgram, Op};
use cyclotron_program::{Graph, KeySwitch, Scheme as ProgramScheme};
use cyclotron_schemes::{Parameters, ParametersLiteral, Scheme};

use crate::error::LowerError;
use crate::lowered::{Lowered, lower_with};
use crate::target::{Costs, Target};
use crate::variant::Effort;

/// The longest chain that is tried.
const MAX_LIMBS: usize = 48;
/// Scales of CKKS that are tried, from the most precise, in bits below the widest prime.
const SCALE_STEPS: [u32; 4] = [1, 3, 5, 7];
/// Widest CKKS scale: more does not help programs on f64 data.
const MAX_SCALE_BITS: u32 = 45;

/// What the user asks of the parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Wish {
    /// Bits of precision that every CKKS output must keep.
    pub precision_bits: f64,
    /// 128, 192 or 256.
    pub security: u32,
    /// Number of data limbs, if the user fixes it.
    pub levels: Option<usize>,
    /// log2 of the CKKS scale, if the user fixes it.
    pub scale_bits: Option<f64>,
    /// Why less security is acceptable.
    pub allow_insecure: Option<String>,
}

/// Finds parameters on which `target` runs `graph`, and the lowered program.
///
/// # Errors
/// [`LowerError::NoParameters`] with what the longest chain failed with.
pub fn choose(
    graph: &Graph,
    wish: &Wish,
    target: &Target,
) -> Result<(Parameters, Lowered), LowerError> {
    graph.verify()?;
    let lengths = match wish.levels {
        Some(levels) => levels..=levels,
        None => 1..=MAX_LIMBS,
    };
    let mut last = None;
    for limbs in lengths {
        for shape in shapes(graph, wish, target, limbs) {
            match attempt(graph, wish, target, &shape) {
                Ok((_, lowered)) => {
                    return Ok(fastest_digits(graph, wish, target, &shape, lowered));
                }
                // Longer chains are less secure still: keep the more telling error.
                Err(error @ LowerError::Parameters(_)) if is_insecure(&error) => {
                    let first = last.unwrap_or(error);
                    return if wish.levels.is_some() {
                        Err(first)
                    } else {
                        let why = format!(
                            "{first} (a longer chain is less secure than asked for at N = {}: \
                             use a larger ring)",
                            graph.n()
                        );
                        Err(LowerError::NoParameters {
                            limbs,
                            security: wish.security,
                            last: why,
                        })
                    };
                }
                // What the program lacks tells more than what primes there are.
                Err(LowerError::Parameters(_)) if last.is_some() => {}
                Err(error) => last = Some(error),
            }
        }
    }
    let error = last.unwrap_or(LowerError::NoParameters {
        limbs: MAX_LIMBS,
        security: wish.security,
        last: "no chain of primes exists".to_owned(),
    });
    if wish.levels.is_some() {
        Err(error)
    } else {
        Err(give_up(wish, MAX_LIMBS, &error))
    }
}

fn is_insecure(error: &LowerError) -> bool {
    matches!(
        error,
        LowerError::Parameters(cyclotron_schemes::ParameterError::Insecure { .. })
    )
}

fn give_up(wish: &Wish, limbs: usize, last: &LowerError) -> LowerError {
    LowerError::NoParameters {
        limbs,
        security: wish.security,
        last: last.to_string(),
    }
}

/// A candidate chain.
#[derive(Debug, Clone, Copy)]
struct Shape {
    limbs: usize,
    base: usize,
    scale_bits: f64,
    digit_limbs: usize,
    special: bool,
}

/// Candidate chains of a length: hybrid with digits of one limb, at several scales.
fn shapes(graph: &Graph, wish: &Wish, target: &Target, limbs: usize) -> Vec<Shape> {
    let special = target.variants.contains(&KeySwitch::Hybrid);
    let shape = |base, scale_bits| Shape {
        limbs,
        base,
        scale_bits,
        digit_limbs: 1,
        special,
    };
    if graph.scheme != ProgramScheme::Ckks {
        return vec![shape(limbs, 0.0)];
    }
    let widest = (target.prime_bits - 1).min(MAX_SCALE_BITS);
    let scales = match wish.scale_bits {
        Some(bits) => vec![bits],
        None => SCALE_STEPS
            .iter()
            .map(|step| f64::from(widest + 1 - step))
            .collect(),
    };
    let mut shapes = Vec::new();
    for scale in scales {
        shapes.extend((1..=limbs.min(3)).map(|base| shape(base, scale)));
    }
    shapes
}

fn literal(graph: &Graph, wish: &Wish, target: &Target, shape: &Shape) -> ParametersLiteral {
    let (scheme, t) = match graph.scheme {
        ProgramScheme::Ckks => (Scheme::Ckks, None),
        ProgramScheme::Bgv { plaintext_modulus } => (Scheme::Bgv, Some(plaintext_modulus)),
    };
    let mut literal = ParametersLiteral::new(scheme, graph.log_n);
    let mut bits = vec![target.prime_bits; shape.base];
    if scheme == Scheme::Ckks {
        bits.resize(shape.limbs, shape.scale_bits.round() as u32);
        literal.scale_bits = Some(shape.scale_bits);
        literal.base_limbs = Some(shape.base);
    }
    literal.log_q = Some(bits);
    let special = if shape.special { shape.digit_limbs } else { 0 };
    literal.log_p = Some(vec![target.prime_bits; special]);
    literal.digit_limbs = Some(shape.digit_limbs);
    literal.plaintext_modulus = t;
    literal.word_bits = Some(target.word_bits);
    literal.congruence = Some(target.congruence.max(2 << graph.log_n));
    literal.security = Some(wish.security);
    literal.allow_insecure.clone_from(&wish.allow_insecure);
    literal
}

fn attempt(
    graph: &Graph,
    wish: &Wish,
    target: &Target,
    shape: &Shape,
) -> Result<(Parameters, Lowered), LowerError> {
    let params = Parameters::from_literal(&literal(graph, wish, target, shape))?;
    let lowered = lower_with(graph, &params, target, wish.precision_bits, Effort::Search)?;
    Ok((params, lowered))
}

/// The digit size with the least estimated time, for a chain that works with digits of one limb.
fn fastest_digits(
    graph: &Graph,
    wish: &Wish,
    target: &Target,
    shape: &Shape,
    lowered: Lowered,
) -> (Parameters, Lowered) {
    let params = Parameters::from_literal(&literal(graph, wish, target, shape));
    let params = params.expect("these parameters were made before");
    let mut best = (estimate(&lowered.program, &target.costs), params, lowered);
    let largest = if shape.special { shape.limbs } else { 1 };
    for digit_limbs in 2..=largest {
        let Ok((params, lowered)) = attempt(
            graph,
            wish,
            target,
            &Shape {
                digit_limbs,
                ..*shape
            },
        ) else {
            continue;
        };
        let time = estimate(&lowered.program, &target.costs);
        if time < best.0 {
            best = (time, params, lowered);
        }
    }
    (best.1, best.2)
}

/// Estimated time of a limb program: for a machine the busiest resource, off-chip
/// loads included, and half of what the others do, since phases overlap in part;
/// for a CPU the sum.
#[must_use]
pub fn estimate(program: &LimbProgram, costs: &Costs) -> f64 {
    let load = Op::ALL.len();
    let mut resources = vec![0.0; load + 1];
    let mut calls = vec![0u32; program.procedures.len()];
    program
        .calls
        .iter()
        .for_each(|call| calls[call.procedure as usize] += 1);
    for (procedure, &count) in program.procedures.iter().zip(&calls) {
        let count = f64::from(count);
        for inst in &procedure.insts {
            for (op, times) in simple_operations(inst) {
                for (op, each) in costs.on_vectors(op) {
                    let cost = count * times * each * costs.op[op as usize];
                    resources[costs.resource[op as usize]] += cost;
                }
            }
        }
    }
    // On parts, transforms by each prime take a twist a part.
    let twists = if costs.log_parts > 0 {
        program.moduli.len()
    } else {
        0
    };
    resources[load] += (program.inputs.len() + twists) as f64 * costs.of_load();
    if costs.parallel {
        let busiest = resources.iter().copied().fold(0.0, f64::max);
        busiest + 0.5 * (resources.iter().sum::<f64>() - busiest)
    } else {
        resources.iter().sum()
    }
}

/// An instruction as simple operations, with how many of each.
fn simple_operations(inst: &cyclotron_isa::Inst) -> Vec<(Op, f64)> {
    match inst.op {
        Op::Dot => vec![
            (Op::Mul, f64::from(inst.b)),
            (Op::Add, f64::from(inst.b) - 1.0),
        ],
        Op::BConv => {
            let (sources, targets) = (f64::from(inst.b), f64::from(inst.c));
            vec![
                (Op::MulC, sources * targets),
                (Op::Add, (sources - 1.0) * targets),
            ]
        }
        Op::Mac => vec![(Op::Mul, 1.0), (Op::Add, 1.0)],
        Op::SubMulC => vec![(Op::Sub, 1.0), (Op::MulC, 1.0)],
        op => vec![(op, 1.0)],
    }
}
