//! Energy is counts times the energy of one event, and agrees with what else is counted.

use cyclotron_isa::testing::{ProgramShape, TestRng, random_program};
use cyclotron_isa::{Component, FlatProgram, Schedule, StreamOp};
use cyclotron_machine::testing::schedule_naively;
use cyclotron_machine::{Bandwidth, Machine, Resolved, Setting, XbarKind};
use cyclotron_ring::primes;
use cyclotron_simulator::{Energy, count, energy, perfetto_trace};

const LOG_N: u32 = 10;

struct Case {
    machine: Machine,
    resolved: Resolved,
    flat: FlatProgram,
    schedule: Schedule,
}

/// F1 with units for every operation, so that random programs need no legalization.
fn machine() -> Machine {
    let word = |text: &str| Setting::Text(text.to_owned());
    let added = [("add", "NEG"), ("mul", "MAC"), ("mul", "SUBMULC")];
    let edits = added.iter().flat_map(|(unit, op)| {
        let key = |what| format!("cluster.cc.fu.{unit}.{what}.{op}");
        [(key("ops"), word("N/E")), (key("latency"), word("lat_mul"))]
    });
    // Three operands of one instruction and a network port, in one bank.
    let accesses = ("cluster.regfile.clock_mult".to_owned(), Setting::from(4));
    let machine = Machine::shipped("f1").expect("shipped");
    machine.with(edits.chain([accesses])).expect("valid")
}

fn case(seed: u64) -> Case {
    case_on(seed, machine())
}

/// F1 with random sizes, bandwidths and powers.
fn variant(seed: u64) -> Machine {
    let mut rng = TestRng::new(seed);
    let watts = [
        "cluster.cc.fu.ntt.tdp_w",
        "cluster.cc.fu.add.tdp_w",
        "cluster.cc.regfile.tdp_w",
        "scratchpad.spad.tdp_w",
        "xbar.s2c.tdp_w",
        "offchip.hbm.tdp_w",
        "offchip.hbm.energy_pj_per_bit",
    ];
    let mut edits: Vec<(&str, Setting)> = watts
        .map(|key| (key, Setting::Number(0.5 + rng.below(1000) as f64 / 100.0)))
        .into();
    edits.push(("clusters", Setting::from(1 + rng.below(16) as i64)));
    let gbps = rng.pick(&[64.0, 128.0, 512.0]);
    edits.push(("offchip.hbm.gbps", Setting::Number(gbps)));
    let latency = Setting::from(1 + rng.below(12) as i64);
    edits.push(("vars.lat_mul", latency));
    machine().with(edits).expect("valid")
}

fn case_on(seed: u64, machine: Machine) -> Case {
    let resolved = machine.resolve(LOG_N).expect("in range");
    let moduli = primes::ntt_primes(1 << 32, 1 << 16, 3);
    let mut shape = ProgramShape::small(LOG_N, 32, &moduli);
    shape.compound = false;
    shape.calls = 8 + TestRng::new(seed).index(8);
    shape.instructions = 50;
    let program = random_program(seed, &shape);
    let flat = FlatProgram::new(&program).expect("flat");
    let schedule = schedule_naively(&flat, &resolved, seed).expect("every operation");
    Case {
        machine,
        resolved,
        flat,
        schedule,
    }
}

fn cases() -> impl Iterator<Item = Case> {
    (0..10).map(case)
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs()
}

fn of(case: &Case) -> Energy {
    energy(&case.schedule, &case.machine, &case.resolved)
}

#[test]
fn every_event_is_counted_and_priced() {
    for case in cases() {
        let energy = of(&case);
        let total: f64 = energy.lines.iter().filter_map(|l| l.joules()).sum();
        assert!(close(energy.joules(""), total));
        let counted = |prefix: &str| -> u64 {
            let lines = energy.lines.iter();
            lines
                .filter(|l| l.component.starts_with(prefix))
                .map(|l| l.count)
                .sum()
        };
        let entries = |wanted: fn(&StreamOp) -> bool| {
            let ops = case.schedule.streams.iter().flat_map(|s| &s.entries);
            ops.filter(|entry| wanted(&entry.op)).count() as u64
        };
        assert_eq!(
            counted("cluster.cc.fu"),
            entries(|op| matches!(op, StreamOp::Compute { .. }))
        );
        assert_eq!(
            counted("xbar"),
            entries(|op| matches!(op, StreamOp::Route { .. }))
        );
    }
}

/// Joules of one entry, from the machine file's powers.
fn joules(case: &Case, component: Component, op: &StreamOp) -> f64 {
    let (machine, resolved) = (&case.machine, &case.resolved);
    let cycle = 1e-6 / machine.clock_mhz;
    let bytes = resolved.vector_bytes as f64;
    let file = &machine.cluster.regfile;
    let file_ports =
        file.read_ports + file.write_ports + file.net_read_ports + file.net_write_ports;
    let file_cycles = f64::from(1 << LOG_N) / f64::from(machine.lanes);
    let access = file.cost.tdp_w.expect("given") * file_cycles * cycle / f64::from(file_ports);
    match (component, op) {
        (_, StreamOp::Compute { op, .. }) => {
            let timing = resolved.timing(*op).expect("executed");
            let unit = &machine.cluster.units[usize::from(timing.unit)];
            let accesses = 1.0 + op.field_sources() as f64;
            let watts = unit.cost.tdp_w.expect("given");
            watts * f64::from(timing.occupancy) * cycle + accesses * access
        }
        (Component::RegFile { .. }, _) => access,
        (Component::Bank { bank }, _) => {
            let bank = resolved.banks[usize::from(bank)];
            let group = &machine.scratchpads[usize::from(bank.group)];
            let cycles = bytes / f64::from(group.bytes_per_cycle);
            let ports = f64::from(bank.reads + bank.writes);
            group.cost.tdp_w.expect("given") * cycles * cycle / ports
        }
        (Component::XbarPort { xbar, .. }, _) => {
            let (xbar, link) = (
                &machine.xbars[usize::from(xbar)],
                &resolved.xbars[usize::from(xbar)],
            );
            let outputs = match link.kind {
                XbarKind::ClusterToBank => resolved.banks.len() as f64,
                _ => f64::from(resolved.clusters),
            };
            xbar.cost.tdp_w.expect("given") * f64::from(link.span) * cycle / outputs
        }
        (Component::Channel { .. }, _) => {
            let memory = &machine.offchip[0];
            let Bandwidth::GbPerSecond(rate) = memory.bandwidth else {
                panic!("F1's is limited");
            };
            let interface = memory.cost.tdp_w.expect("given") * bytes / (rate * 1e9);
            interface + memory.energy_pj_per_bit.expect("given") * 8.0 * bytes * 1e-12
        }
        (component, op) => panic!("{component} does not execute {op:?}"),
    }
}

#[test]
fn the_energies_of_all_entries_sum_to_the_schedules() {
    for seed in 0..20 {
        let case = case_on(seed, variant(seed));
        let mut expected = 0.0;
        for stream in &case.schedule.streams {
            for entry in &stream.entries {
                expected += joules(&case, stream.component, &entry.op);
            }
        }
        let found = of(&case).joules("");
        assert!(close(found, expected), "seed {seed}: {found}, {expected}");
    }
}

#[test]
fn a_unit_spends_its_power_while_it_is_busy_and_the_memory_its_bits() {
    for case in cases() {
        let energy = of(&case);
        let counts = count(&case.flat, &case.schedule, &case.resolved, 1);
        for unit in &case.machine.cluster.units {
            let activity = counts.activity.iter().find(|a| a.kind == unit.name);
            let busy = activity.expect("of this kind").busy_cycles as f64;
            let watts = unit.cost.tdp_w.expect("published");
            let seconds = busy / (case.machine.clock_mhz * 1e6);
            let path = format!("cluster.cc.fu.{}", unit.name);
            assert!(close(energy.joules(&path), watts * seconds), "{path}");
        }
        let bits = 8.0 * counts.traffic.total() as f64;
        let each = case.machine.offchip[0].energy_pj_per_bit.expect("given");
        assert!(close(
            energy.joules("offchip.hbm.memory"),
            bits * each * 1e-12
        ));
    }
}

#[test]
fn twice_the_power_is_twice_the_energy_of_that_component_only() {
    let case = cases().next().expect("a case");
    let before = of(&case);
    for (key, path) in [
        ("cluster.cc.regfile.tdp_w", "cluster.cc.regfile"),
        ("scratchpad.spad.tdp_w", "scratchpad.spad"),
        ("xbar.s2c.tdp_w", "xbar.s2c"),
    ] {
        let lines = before.lines.iter().filter(|l| l.component == path);
        let watts = case.machine.budget(LOG_N).expect("in range");
        let line = watts
            .lines
            .iter()
            .find(|l| l.component == path)
            .expect("listed");
        let doubled = 2.0 * line.each.tdp_w.expect("published");
        let machine = case
            .machine
            .with([(key, Setting::Number(doubled))])
            .expect("valid");
        let after = energy(&case.schedule, &machine, &case.resolved);
        let added: f64 = lines.filter_map(|l| l.joules()).sum();
        assert!(added > 0.0, "{path}");
        assert!(close(after.joules(""), before.joules("") + added), "{path}");
    }
}

#[test]
fn a_trace_has_a_slice_for_every_entry() {
    for case in cases().take(3) {
        let mut bytes = Vec::new();
        perfetto_trace(&case.flat, &case.schedule, &case.resolved, &mut bytes).expect("memory");
        // Top-level fields are all `packet`, number 1, length-delimited.
        let (mut packets, mut at) = (0, 0);
        while at < bytes.len() {
            assert_eq!(bytes[at], 10);
            let (mut length, mut shift) = (0, 0);
            loop {
                at += 1;
                length |= usize::from(bytes[at] & 127) << shift;
                shift += 7;
                if bytes[at] < 128 {
                    break;
                }
            }
            at += 1 + length;
            packets += 1;
        }
        let entries: usize = case.schedule.streams.iter().map(|s| s.entries.len()).sum();
        assert!(packets > 2 * entries);
    }
}
