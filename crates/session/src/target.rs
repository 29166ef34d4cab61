//! What a program is lowered for: a CPU or a machine.

use cyclotron_compiler::Phase2;
use cyclotron_lower::Target;
use cyclotron_machine::{KeySwitch as MachineKeySwitch, Machine, SchemeName};
use cyclotron_program::{Graph, KeySwitch, Scheme};
use cyclotron_schemes::MAX_PRIME_BITS_64;

use crate::error::SessionError;

/// The key-switch variant of this name, if one is named.
///
/// # Errors
/// [`SessionError::Option`] for an unknown name.
pub fn keyswitch(name: Option<&str>) -> Result<Option<KeySwitch>, SessionError> {
    let known = [KeySwitch::Hybrid, KeySwitch::Listing1];
    let Some(name) = name.filter(|&name| name != "auto") else {
        return Ok(None);
    };
    match known.into_iter().find(|variant| variant.name() == name) {
        Some(variant) => Ok(Some(variant)),
        None => Err(SessionError::Option {
            option: "keyswitch",
            value: name.to_owned(),
            known: "hybrid, listing1 or auto".to_owned(),
        }),
    }
}

/// How phase 2 of the compiler works, by name.
///
/// # Errors
/// [`SessionError::Option`] for an unknown name.
pub fn phase2(name: &str) -> Result<Phase2, SessionError> {
    match name {
        "greedy" => Ok(Phase2::Greedy),
        "csr" => Ok(Phase2::Csr),
        _ => Err(SessionError::Option {
            option: "phase2",
            value: name.to_owned(),
            known: "greedy or csr".to_owned(),
        }),
    }
}

/// The target for a graph: `machine`, or the CPU with words of `word_bits`.
/// `only` restricts the key-switch variants.
///
/// # Errors
/// A machine that does not support the program's scheme, ring or variant.
pub(crate) fn target(
    graph: &Graph,
    machine: Option<&Machine>,
    word_bits: u32,
    only: Option<KeySwitch>,
) -> Result<Target, SessionError> {
    let mut target = match machine {
        None => Target::cpu(word_bits),
        Some(machine) => machine_target(graph, machine)?,
    };
    if let Some(only) = only {
        if !target.variants.contains(&only) {
            return Err(SessionError::Unsupported {
                machine: target.name,
                why: format!(
                    "does not switch keys with {}; leave the choice open",
                    only.name()
                ),
            });
        }
        target.variants = vec![only];
    }
    Ok(target)
}

fn machine_target(graph: &Graph, machine: &Machine) -> Result<Target, SessionError> {
    let scheme = match graph.scheme {
        Scheme::Ckks => SchemeName::Ckks,
        Scheme::Bgv { .. } => SchemeName::Bgv,
    };
    if !machine.schemes.contains(&scheme) {
        return Err(SessionError::Unsupported {
            machine: machine.name.clone(),
            why: format!("does not support {}; choose another machine", scheme.word()),
        });
    }
    let variants = variants(machine);
    if variants.is_empty() {
        return Err(SessionError::Unsupported {
            machine: machine.name.clone(),
            why: "lists no key-switch variant that is implemented; add listing1 or hybrid to \
                  compiler.keyswitch"
                .to_owned(),
        });
    }
    let resolved = machine.resolve_for_polynomials(graph.log_n)?;
    let step = machine.moduli.step(graph.log_n);
    // The CPU, which results are compared with, holds primes of so many bits in its words.
    let bits = machine.moduli.bits_max.min(MAX_PRIME_BITS_64);
    let mut target = Target::machine(&resolved, bits, step, variants);
    target.costs.log_parts = graph.log_n - resolved.log_n;
    // Digits kept for several rotations take fast memory: only where the machine asks for it.
    target.hoisting = machine
        .compiler
        .keyswitch
        .contains(&MachineKeySwitch::Hoisted);
    Ok(target)
}

/// The variants that the machine's description allows and phase 1 has.
fn variants(machine: &Machine) -> Vec<KeySwitch> {
    let known = [
        (MachineKeySwitch::Hybrid, KeySwitch::Hybrid),
        (MachineKeySwitch::Listing1, KeySwitch::Listing1),
    ];
    let listed = &machine.compiler.keyswitch;
    known
        .into_iter()
        .filter(|(name, _)| listed.is_empty() || listed.contains(name))
        .map(|(_, variant)| variant)
        .collect()
}
