//! Compiles the programs of saved schedules again and prints how good the new ones are.
//!
//! `cargo run --release --example saved -- EFFORT FILE...`, the files from `cyclotron compile -o`.
#![expect(clippy::print_stdout, reason = "a report for people")]

use std::ops::ControlFlow;
use std::time::Instant;

use cyclotron_checker::check;
use cyclotron_compiler::{Options, lower_bound, place, plan_movement};
use cyclotron_isa::{Component, FlatProgram, Schedule, StreamOp, text::Bundle};
use cyclotron_machine::{Machine, Resolved, XbarKind};

fn main() {
    let mut args = std::env::args().skip(1);
    let effort = args.next().and_then(|e| e.parse().ok()).expect("an effort");
    for path in args {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let bundle = Bundle::parse(&text).expect("a bundle");
        let machine = Machine::from_toml(&bundle.machine_toml, "machine").expect("a machine");
        let machine = machine.resolve(bundle.program.log_n).expect("a degree");
        let flat = FlatProgram::new(&bundle.program).expect("legal");
        report(&path, &flat, &machine, effort);
    }
}

fn report(name: &str, flat: &FlatProgram, machine: &Resolved, effort: u8) {
    let start = Instant::now();
    let bound = lower_bound(flat, machine).expect("bound");
    let t0 = start.elapsed();
    let plan = plan_movement(flat, machine, &mut |_| ControlFlow::Continue(())).expect("plan");
    let t1 = start.elapsed();
    let options = Options {
        effort,
        ..Options::default()
    };
    let (schedule, stats) = place(flat, &plan, machine, &options, &mut |_| {
        ControlFlow::Continue(())
    })
    .expect("schedule");
    let t2 = start.elapsed();
    let name = name.rsplit('/').next().unwrap_or(name);
    println!(
        "{name}: n={} cycles={} bound={} ({} {}+{}+{}) ratio={:.3} legal={}",
        flat.len(),
        schedule.cycles,
        bound.cycles,
        bound.resource,
        bound.head,
        bound.work,
        bound.tail,
        schedule.cycles as f64 / bound.cycles as f64,
        check(flat, &schedule, machine).is_ok(),
    );
    println!("  bounds {:?}", bound.by_resource);
    let busy = |k: usize| {
        stats.unit_busy[k] / (u64::from(machine.clusters) * u64::from(machine.units[k].count))
    };
    let units: Vec<String> = (0..machine.units.len())
        .map(|k| format!("{}={}", machine.units[k].name, busy(k)))
        .collect();
    profile(&schedule, machine);
    println!(
        "  busy {} chan={} ports={} fetch/inst={:.2} shared={} wb={} ev={} traffic={:?} | bound {t0:?} move {:?} place {:?}",
        units.join(" "),
        stats.channel_busy / machine.channels.len() as u64,
        stats.arrival_busy / (u64::from(machine.clusters) * u64::from(machine.regfile.net_writes)),
        stats.fetches as f64 / flat.len() as f64,
        stats.shared_reads,
        stats.write_backs,
        stats.evictions,
        plan.traffic,
        t1 - t0,
        t2 - t1,
    );
}

/// Prints how busy each kind of unit, the channels, the ports of each crossbar and the reads of
/// the banks are in every twentieth of the schedule.
fn profile(schedule: &Schedule, machine: &Resolved) {
    const PARTS: u64 = 20;
    let kinds = machine.units.len();
    let mut rows: Vec<(String, u64)> = Vec::new();
    for unit in &machine.units {
        rows.push((unit.name.clone(), u64::from(unit.count * machine.clusters)));
    }
    rows.push(("channels".into(), machine.channels.len() as u64));
    for xbar in &machine.xbars {
        let ports = match xbar.kind {
            XbarKind::ClusterToBank => machine.banks.len() as u64,
            _ => u64::from(machine.clusters),
        };
        rows.push((xbar.name.clone(), ports));
    }
    rows.push(("banks".into(), machine.banks.len() as u64));
    let mut busy = vec![[0u64; PARTS as usize]; rows.len()];
    for stream in &schedule.streams {
        let mut at = 0;
        for entry in &stream.entries {
            at += u64::from(entry.wait);
            let part = (at * PARTS / schedule.cycles.max(1)).min(PARTS - 1) as usize;
            let (row, cycles) = match (stream.component, entry.op) {
                (Component::Unit { .. }, StreamOp::Compute { op, .. }) => {
                    let timing = machine.timing(op).expect("it is executed");
                    (usize::from(timing.unit), timing.occupancy)
                }
                (Component::Channel { channel }, _) => {
                    (kinds, machine.channels[usize::from(channel)].span)
                }
                (Component::XbarPort { xbar, .. }, _) => {
                    let xbar = usize::from(xbar);
                    (kinds + 1 + xbar, machine.xbars[xbar].span)
                }
                (Component::Bank { .. }, StreamOp::Read { .. }) => {
                    (rows.len() - 1, machine.xbars[0].span)
                }
                _ => continue,
            };
            busy[row][part] += u64::from(cycles);
        }
    }
    for ((name, count), busy) in rows.iter().zip(&busy) {
        let share = |cycles: &u64| 100 * PARTS * cycles / (count * schedule.cycles.max(1));
        let shares: Vec<String> = busy.iter().map(|c| format!("{:3}", share(c))).collect();
        println!("  {name:8} % {}", shares.join(" "));
    }
}
