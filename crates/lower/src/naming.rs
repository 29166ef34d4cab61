//! Names of procedures and keys, and the encodings of plain operands.

use cyclotron_program::{PlacedNode, PlacedOp, PlainScale};
use cyclotron_schemes::{KeySpec, KeyVariant};

use crate::lowered::PlainEncoding;

/// The name of an operation's procedure: everything that its instructions depend
/// on. `same`: both operands are one ciphertext, which is passed once.
pub(crate) fn procedure_name(
    op: PlacedOp,
    same: bool,
    shapes: &[(usize, usize)],
    variant: Option<KeyVariant>,
) -> String {
    let level = shapes[0].1;
    let parts: Vec<String> = shapes.iter().map(|(parts, _)| parts.to_string()).collect();
    let base = if same {
        format!("{}-self", op.name())
    } else {
        op.name().to_owned()
    };
    let mut name = format!("{base}[l={level},parts={}", parts.join("+"));
    match op {
        PlacedOp::Automorphism { k, .. } => name.push_str(&format!(",k={k}")),
        PlacedOp::AddPlain { negate: true, .. } => name.push_str(",negate"),
        PlacedOp::AddConst { value, .. } | PlacedOp::MulConst { value, .. } => {
            name.push_str(&format!(",c={value:?}"));
        }
        _ => {}
    }
    if let Some(variant) = variant {
        name.push(',');
        name.push_str(variant.name());
    }
    name.push(']');
    name
}

/// The name of the procedure that decomposes a ciphertext for several automorphisms.
pub(crate) fn decomposition_name(level: usize, variant: KeyVariant) -> String {
    format!("decompose[l={level},{variant}]")
}

/// The name of a procedure that uses such a decomposition.
pub(crate) fn hoisted_name(name: &str) -> String {
    format!("hoisted-{name}")
}

/// The key that an operation needs, in the variant chosen for it.
pub(crate) fn key_spec(op: PlacedOp, variant: Option<KeyVariant>) -> KeySpec {
    let variant = variant.unwrap_or(KeyVariant::Hybrid);
    match op {
        PlacedOp::Automorphism { k, .. } => KeySpec::galois(k, variant),
        _ => KeySpec::relin(variant),
    }
}

/// The plain operand of a placed node and how it is encoded there: a factor at
/// its own scale, a summand at the scale (correction factor) of the ciphertext.
pub(crate) fn encoding_of(node: &PlacedNode) -> Option<(u32, PlainEncoding)> {
    match node.op {
        PlacedOp::MulPlain { plain, scale, .. } => {
            let encoding = match scale {
                PlainScale::Scale(scale) => PlainEncoding::Scale(scale),
                PlainScale::Factor(factor) => PlainEncoding::Factor(factor),
            };
            Some((plain, encoding))
        }
        PlacedOp::AddPlain { plain, .. } if node.factor == 1 && node.scale != 1.0 => {
            Some((plain, PlainEncoding::Scale(node.scale)))
        }
        PlacedOp::AddPlain { plain, .. } => Some((plain, PlainEncoding::Factor(node.factor))),
        _ => None,
    }
}

/// The encoding as a hashable number.
pub(crate) fn encoding_bits(encoding: PlainEncoding) -> u64 {
    match encoding {
        PlainEncoding::Scale(scale) => scale.to_bits(),
        PlainEncoding::Factor(factor) => factor,
    }
}
