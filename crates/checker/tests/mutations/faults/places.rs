//! Wrong addresses, links, clusters and units.

use cyclotron_isa::testing::TestRng;
use cyclotron_isa::{Component, DramContent, Source, StreamOp};
use cyclotron_machine::XbarKind;
use cyclotron_machine::testing::Site;

use super::{Kind, Subject};
use crate::draft::Draft;
use crate::edits::other;

pub(super) const KINDS: &[Kind] = &[
    Kind::new(
        "wrong hint",
        "another limb of a hint is loaded, which enters other products",
        |subject, site, rng| wrong_input(subject, site, rng, true),
    ),
    Kind::new(
        "wrong input limb",
        "another limb of a ciphertext or plaintext is loaded",
        |subject, site, rng| wrong_input(subject, site, rng, false),
    ),
    Kind::new(
        "store into another's slot",
        "the slot belongs to another output or a spilled value",
        wrong_store,
    ),
    Kind::new(
        "wrong destination cluster",
        "the cluster that reads the value does not get it",
        wrong_cluster,
    ),
    Kind::new(
        "wrong source of a route",
        "in this cycle nothing comes from there, or something else",
        |subject, site, rng| {
            let Component::XbarPort { xbar, .. } = subject.component(site) else {
                return None;
            };
            let machine = subject.machine;
            let ports = match machine.xbars[usize::from(xbar)].kind {
                XbarKind::BankToCluster => machine.banks.len() as u64,
                _ => u64::from(machine.clusters),
            };
            let mut draft = subject.draft();
            if let StreamOp::Route { from } = draft.op(site) {
                *from = other(rng, u64::from(*from), ports)? as u16;
            }
            Some(draft)
        },
    ),
    Kind::new(
        "wrong bank of a load or store",
        "the bank that should take or give the vector takes or gives nothing",
        |subject, site, rng| {
            let (StreamOp::Load { .. } | StreamOp::Store { .. }) = subject.op(site) else {
                return None;
            };
            let banks = subject.machine.banks.len() as u64;
            let mut draft = subject.draft();
            if let StreamOp::Load { bank, .. } | StreamOp::Store { bank, .. } = draft.op(site) {
                *bank = other(rng, u64::from(*bank), banks)? as u16;
            }
            Some(draft)
        },
    ),
    Kind::new(
        "instruction in another cluster",
        "its operands are not there",
        |subject, site, rng| {
            let Component::Unit { cluster, unit } = subject.component(site) else {
                return None;
            };
            let clusters = u64::from(subject.machine.clusters);
            let cluster = other(rng, u64::from(cluster), clusters)? as u16;
            let to = Component::Unit { cluster, unit };
            let mut draft = subject.draft();
            draft.relocate(site, *subject.index.stream_of.get(&to)?);
            Some(draft)
        },
    ),
    Kind::new(
        "instruction on a unit of another kind",
        "the unit does not execute it",
        |subject, site, rng| {
            let Component::Unit { cluster, unit } = subject.component(site) else {
                return None;
            };
            let units = subject.machine.units_per_cluster();
            let to = other(rng, u64::from(unit), u64::from(units))? as u16;
            let kind = |unit| {
                let mut kinds = subject.machine.units.iter();
                kinds.position(|kind| (kind.first..kind.first + kind.count).contains(&unit))
            };
            (kind(to) != kind(unit)).then_some(())?;
            let to = Component::Unit { cluster, unit: to };
            let mut draft = subject.draft();
            draft.relocate(site, *subject.index.stream_of.get(&to)?);
            Some(draft)
        },
    ),
];

/// Loads another input of the same sort that lies at the same channel.
fn wrong_input(subject: &Subject<'_>, site: Site, rng: &mut TestRng, hint: bool) -> Option<Draft> {
    let StreamOp::Load { address, .. } = subject.op(site) else {
        return None;
    };
    let dram = &subject.schedule.dram;
    let is_hint = |address: usize| match dram[address].content {
        DramContent::Input(input) => {
            let source = subject.flat.inputs[input as usize].source;
            Some(matches!(source, Source::Hint { .. }))
        }
        DramContent::Output(_) | DramContent::Spill => None,
    };
    let right = address as usize;
    let wrong = rng.index(dram.len());
    let wanted = |address| is_hint(address) == Some(hint);
    let write = *subject.index.family(site).last()?;
    let fits = wrong != right && dram[wrong].channel == dram[right].channel;
    (fits && wanted(right) && wanted(wrong)).then_some(())?;
    subject.missed_life(write)?;
    let mut draft = subject.draft();
    if let StreamOp::Load { address, .. } = draft.op(site) {
        *address = wrong as u32;
    }
    Some(draft)
}

fn wrong_store(subject: &Subject<'_>, site: Site, rng: &mut TestRng) -> Option<Draft> {
    let StreamOp::Store { address, .. } = subject.op(site) else {
        return None;
    };
    let dram = &subject.schedule.dram;
    let wrong = rng.index(dram.len());
    let input = matches!(dram[wrong].content, DramContent::Input(_));
    let fits = wrong != address as usize && dram[wrong].channel == dram[address as usize].channel;
    (fits && !input).then_some(())?;
    let mut draft = subject.draft();
    if let StreamOp::Store { address, .. } = draft.op(site) {
        *address = wrong as u32;
    }
    Some(draft)
}

/// Routes a vector to another cluster, which writes it into the same slot.
fn wrong_cluster(subject: &Subject<'_>, site: Site, rng: &mut TestRng) -> Option<Draft> {
    let Component::XbarPort { xbar, port } = subject.component(site) else {
        return None;
    };
    if subject.machine.xbars[usize::from(xbar)].kind == XbarKind::ClusterToBank {
        return None;
    }
    let write = subject.receiver(site)?;
    subject.missed_life(write)?;
    let cluster = other(rng, u64::from(port), u64::from(subject.machine.clusters))? as u16;
    let port = Component::XbarPort {
        xbar,
        port: cluster,
    };
    let mut draft = subject.draft();
    draft.relocate(site, *subject.index.stream_of.get(&port)?);
    draft.relocate(
        write,
        *subject
            .index
            .stream_of
            .get(&Component::RegFile { cluster })?,
    );
    Some(draft)
}
