//! From a checked document to a [`Description`].
//!
//! Every function returns `None` only for a document that was not checked, so a
//! `None` here is a programming error and is reported as one by the caller.

use std::collections::BTreeMap;

use crate::description::{
    Bandwidth, Cluster, CompilerKnobs, Cost, Crossbar, Description, MachineLink, Moduli, Offchip,
    Param, Reach, RegisterFile, Scratchpad, Streams, System, Unit, UnitOp,
};
use crate::formula::{Formula, Ratio};
use crate::tree::{Node, Table, Val};

/// Reads a document that has passed validation.
pub(crate) fn description(root: &Table) -> Option<Description> {
    let machine = root.table("machine")?;
    let offchip = root.tables("offchip").map(offchip_memory);
    Some(Description {
        name: text(machine, "name")?,
        source: text(machine, "source"),
        kind: word(machine, "kind", crate::BuiltAs::from_word)?,
        clock_mhz: float(machine, "clock_mhz")?,
        word_bits: int(machine, "word_bits")?,
        store_bytes: float(machine, "store_bytes")?,
        lanes: int(machine, "lanes")?,
        n_min: int(machine, "n_min")?,
        n_max: int(machine, "n_max")?,
        issue: word(machine, "issue", crate::Issue::from_word)?,
        schemes: words(machine, "schemes", crate::SchemeName::from_word),
        moduli: moduli(machine.table("moduli")?)?,
        compiler: machine.table("compiler").map(compiler).unwrap_or_default(),
        params: params(machine.table("params")),
        vars: variables(root),
        cluster: cluster(root.tables("cluster").next()?)?,
        scratchpads: root
            .tables("scratchpad")
            .map(scratchpad)
            .collect::<Option<_>>()?,
        xbars: root.tables("xbar").map(crossbar).collect::<Option<_>>()?,
        offchip: offchip.collect::<Option<_>>()?,
        links: root.tables("link").map(link).collect::<Option<_>>()?,
        streams: match root.table("streams") {
            Some(table) => Some(streams(table)?),
            None => None,
        },
        system: match root.table("system") {
            Some(table) => Some(system(table)?),
            None => None,
        },
    })
}

/// The variables of the formulas; those with a value that is no number are left out.
pub(crate) fn variables(root: &Table) -> BTreeMap<String, Ratio> {
    let vars = root
        .table("machine")
        .and_then(|machine| machine.table("vars"));
    let number = |node: &Node| match node.value {
        Val::Int(value) => Some(Ratio::from(i128::from(value))),
        Val::Float(value) => Ratio::from_decimal(&value.to_string()),
        _ => None,
    };
    vars.into_iter()
        .flat_map(|vars| &vars.entries)
        .filter_map(|entry| Some((entry.key.clone(), number(&entry.node)?)))
        .collect()
}

/// An integer or the text of a formula.
pub(crate) fn formula(node: &Node) -> Option<Formula> {
    match &node.value {
        Val::Int(value) => Some(Formula::constant(u32::try_from(*value).ok()?)),
        Val::Text(text) => Formula::parse(text).ok(),
        _ => None,
    }
}

/// Names, or all groups.
pub(crate) fn reach(table: &Table, key: &str) -> Option<Reach> {
    match &table.get(key)?.value {
        Val::Text(_) => Some(Reach::AllGroups),
        Val::List(_) => Some(Reach::Named(names(table, key))),
        _ => None,
    }
}

fn text(table: &Table, key: &str) -> Option<String> {
    table.text(key).map(str::to_owned)
}

fn int(table: &Table, key: &str) -> Option<u32> {
    match table.get(key)?.value {
        Val::Int(value) => u32::try_from(value).ok(),
        _ => None,
    }
}

fn float(table: &Table, key: &str) -> Option<f64> {
    match table.get(key)?.value {
        Val::Float(value) => Some(value),
        _ => None,
    }
}

fn flag(table: &Table, key: &str) -> bool {
    matches!(
        table.get(key),
        Some(Node {
            value: Val::Bool(true),
            ..
        })
    )
}

fn word<T>(table: &Table, key: &str, from_word: fn(&str) -> Option<T>) -> Option<T> {
    table.text(key).and_then(from_word)
}

fn words<T>(table: &Table, key: &str, from_word: fn(&str) -> Option<T>) -> Vec<T> {
    names(table, key)
        .iter()
        .filter_map(|text| from_word(text))
        .collect()
}

fn names(table: &Table, key: &str) -> Vec<String> {
    match table.get(key).map(|node| &node.value) {
        Some(Val::List(items)) => items
            .iter()
            .filter_map(Node::as_text)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

fn cost(table: &Table) -> Cost {
    Cost {
        area_mm2: float(table, "area_mm2"),
        tdp_w: float(table, "tdp_w"),
    }
}

fn moduli(table: &Table) -> Option<Moduli> {
    let one_mod = match &table.get("congruence")?.value {
        Val::List(pair) => match pair.get(1)?.value {
            Val::Int(value) => u64::try_from(value).ok()?,
            _ => return None,
        },
        _ => return None,
    };
    Some(Moduli {
        bits_max: int(table, "bits_max")?,
        one_mod,
        count: int(table, "count"),
    })
}

fn compiler(table: &Table) -> CompilerKnobs {
    CompilerKnobs {
        order: word(table, "order", crate::Order::from_word),
        offchip: word(table, "offchip", crate::OffchipPolicy::from_word),
        keyswitch: words(table, "keyswitch", crate::KeySwitch::from_word),
        keyswitch_policy: word(table, "keyswitch_policy", crate::KeySwitchPolicy::from_word),
        keyswitch_split_kskip: flag(table, "keyswitch_split_kskip"),
        bconv_reuse_premul: flag(table, "bconv_reuse_premul"),
        dataflow: words(table, "dataflow", crate::Dataflow::from_word),
    }
}

fn params(table: Option<&Table>) -> BTreeMap<String, Param> {
    let value = |node: &Node| match &node.value {
        Val::Int(value) => Some(Param::Integer(*value)),
        Val::Float(value) => Some(Param::Number(*value)),
        Val::Bool(value) => Some(Param::Flag(*value)),
        Val::List(items) => {
            let integer = |item: &Node| match item.value {
                Val::Int(value) => Some(value),
                _ => None,
            };
            Some(Param::Integers(items.iter().filter_map(integer).collect()))
        }
        _ => None,
    };
    table
        .into_iter()
        .flat_map(|table| &table.entries)
        .filter_map(|entry| Some((entry.key.clone(), value(&entry.node)?)))
        .collect()
}

fn cluster(table: &Table) -> Option<Cluster> {
    Some(Cluster {
        name: text(table, "name")?,
        count: int(table, "count")?,
        units: table.tables("fu").map(unit).collect::<Option<_>>()?,
        regfile: regfile(table.table("regfile")?)?,
    })
}

fn unit(table: &Table) -> Option<Unit> {
    let latency = table.table("latency")?;
    let multipass = names(table, "multipass");
    let timing = |op: &str, occupancy: &Node| {
        Some(UnitOp {
            occupancy: formula(occupancy)?,
            latency: formula(latency.get(op)?)?,
            multipass: multipass.iter().any(|name| name == op),
        })
    };
    let ops = table.table("ops")?.entries.iter();
    Some(Unit {
        name: text(table, "name")?,
        count: formula(table.get("count")?)?,
        ops: ops
            .map(|entry| Some((entry.key.clone(), timing(&entry.key, &entry.node)?)))
            .collect::<Option<_>>()?,
        reads: int(table, "reads")?,
        writes: int(table, "writes")?,
        exclusive_with: names(table, "exclusive_with"),
        overlaps_with: names(table, "overlaps_with"),
        mod_multipliers: int(table, "mod_multipliers"),
        dsp: int(table, "dsp"),
        cost: cost(table),
    })
}

fn regfile(table: &Table) -> Option<RegisterFile> {
    Some(RegisterFile {
        kib: int(table, "kib")?,
        banks: int(table, "banks")?,
        element_partitioned: flag(table, "element_partitioned"),
        clock_mult: int(table, "clock_mult")?,
        read_ports: int(table, "read_ports")?,
        write_ports: int(table, "write_ports")?,
        net_read_ports: int(table, "net_read_ports")?,
        net_write_ports: int(table, "net_write_ports")?,
        latency: int(table, "latency")?,
        cost: cost(table),
    })
}

fn scratchpad(table: &Table) -> Option<Scratchpad> {
    Some(Scratchpad {
        name: text(table, "name")?,
        banks: int(table, "banks")?,
        kib_per_bank: int(table, "kib_per_bank")?,
        bytes_per_cycle: int(table, "bytes_per_cycle")?,
        read_ports: int(table, "read_ports")?,
        write_ports: int(table, "write_ports")?,
        single_port: flag(table, "single_port"),
        clock_mult: int(table, "clock_mult")?,
        latency: int(table, "latency")?,
        cost: cost(table),
    })
}

fn crossbar(table: &Table) -> Option<Crossbar> {
    Some(Crossbar {
        name: text(table, "name")?,
        from: reach(table, "from")?,
        to: reach(table, "to")?,
        bytes_per_cycle: int(table, "bytes_per_cycle")?,
        latency: int(table, "latency")?,
        cost: cost(table),
    })
}

fn offchip_memory(table: &Table) -> Option<Offchip> {
    let bandwidth = match table.get("gbps")?.value {
        Val::Float(value) => Bandwidth::GbPerSecond(value),
        _ => Bandwidth::Unlimited,
    };
    Some(Offchip {
        name: text(table, "name")?,
        channels: int(table, "channels")?,
        bandwidth,
        latency_cycles: int(table, "latency_cycles")?,
        efficiency: float(table, "efficiency")?,
        attach: reach(table, "attach")?,
        burst_bytes: int(table, "burst_bytes"),
        outstanding: int(table, "outstanding"),
        capacity_gib: float(table, "capacity_gib"),
        energy_pj_per_bit: float(table, "energy_pj_per_bit"),
        cost: cost(table),
    })
}

fn link(table: &Table) -> Option<MachineLink> {
    Some(MachineLink {
        name: text(table, "name")?,
        gbit_per_s: float(table, "gbit_per_s")?,
        user_bits: int(table, "user_bits"),
        user_mhz: float(table, "user_mhz"),
        latency_us: float(table, "latency_us")?,
    })
}

fn streams(table: &Table) -> Option<Streams> {
    Some(Streams {
        components: words(table, "components", crate::StreamOwner::from_word),
        instr_bytes: int(table, "instr_bytes")?,
        issue_overhead_cycles: int(table, "issue_overhead_cycles")?,
    })
}

fn system(table: &Table) -> Option<System> {
    Some(System {
        boards: int(table, "boards")?,
        topology: text(table, "topology"),
        parallel: text(table, "parallel"),
    })
}
