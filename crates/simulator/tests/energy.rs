//! Energy is counts times the energy of one event, and agrees with what else is counted.

use cyclotron_isa::testing::{ProgramShape, TestRng, random_program};
use cyclotron_isa::{FlatProgram, Schedule, StreamOp};
use cyclotron_machine::testing::schedule_naively;
use cyclotron_machine::{Machine, Resolved, Setting};
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
    let machine = Machine::shipped("f1").expect("shipped");
    machine.with(edits).expect("valid")
}

fn case(seed: u64) -> Case {
    let machine = machine();
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
