//! What is sent is received, and every byte is counted once.

use std::collections::BTreeMap;

use cyclotron_isa::{Component, DramContent, Link, StreamOp, Traffic, TrafficClass};
use cyclotron_machine::testing::{Site, busy, entries};
use cyclotron_simulator::count;

use crate::cases::{Case, cases};

/// Entries that satisfy a condition.
fn number(case: &Case, wanted: impl Fn(Component, &StreamOp) -> bool) -> u64 {
    let all = entries(&case.schedule);
    all.filter(|(_, component, _, op)| wanted(*component, op))
        .count() as u64
}

#[test]
fn what_is_sent_is_received() {
    for case in cases(100..140) {
        for x in 0..case.machine.xbars.len() as u16 {
            let link = Link::Xbar(x);
            let sent = number(
                &case,
                |_, op| matches!(op, StreamOp::Read { to, .. } if *to == link),
            );
            let routed = number(
                &case,
                |component, _| matches!(component, Component::XbarPort { xbar, .. } if xbar == x),
            );
            let received = number(
                &case,
                |_, op| matches!(op, StreamOp::Write { from, .. } if *from == link),
            );
            // One vector sent may be routed to several receivers.
            assert!(sent <= routed && routed == received, "{}", case.what);
            assert_eq!(sent == 0, received == 0, "{}", case.what);
        }
        for channel in 0..case.machine.channels.len() as u16 {
            let link = Link::Channel(channel);
            let here = |component| component == Component::Channel { channel };
            let loads = number(&case, |c, op| {
                here(c) && matches!(op, StreamOp::Load { .. })
            });
            let stores = number(&case, |c, op| {
                here(c) && matches!(op, StreamOp::Store { .. })
            });
            let written = number(
                &case,
                |_, op| matches!(op, StreamOp::Write { from, .. } if *from == link),
            );
            let read = number(
                &case,
                |_, op| matches!(op, StreamOp::Read { to, .. } if *to == link),
            );
            assert_eq!((loads, stores), (written, read), "{}", case.what);
        }
    }
}

/// The traffic in vectors, counted by what each transfer moves.
fn traffic(case: &Case) -> Traffic {
    // Loads and stores of each off-chip slot.
    let mut moved: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (.., op) in entries(&case.schedule) {
        match op {
            StreamOp::Load { address, .. } => moved.entry(address).or_default().0 += 1,
            StreamOp::Store { address, .. } => moved.entry(address).or_default().1 += 1,
            _ => {}
        }
    }
    let mut traffic = Traffic::default();
    for (address, (loads, stores)) in moved {
        match case.schedule.dram[address as usize].content {
            DramContent::Input(input) => {
                let source = case.flat.inputs[input as usize].source;
                let (first, other) = match source.traffic_class() {
                    TrafficClass::Hints => {
                        (&mut traffic.hints_compulsory, &mut traffic.hints_other)
                    }
                    _ => (&mut traffic.inputs_compulsory, &mut traffic.inputs_other),
                };
                *first += 1;
                *other += loads - 1;
                assert_eq!(stores, 0);
            }
            DramContent::Output(_) => {
                traffic.outputs += 1;
                traffic.intermediate_stores += stores - 1;
                traffic.intermediate_loads += loads;
            }
            DramContent::Spill => {
                traffic.intermediate_stores += stores;
                traffic.intermediate_loads += loads;
            }
        }
    }
    traffic
}

#[test]
fn every_byte_is_counted_once() {
    let mut spilled = 0;
    for case in cases(100..180) {
        let found = count(&case.flat, &case.schedule, &case.machine, 10);
        let bytes = case.machine.vector_bytes;
        assert_eq!(found.traffic, traffic(&case).scaled(bytes), "{}", case.what);
        let transfers = number(&case, |_, op| {
            matches!(op, StreamOp::Load { .. } | StreamOp::Store { .. })
        });
        assert_eq!(found.traffic.total(), transfers * bytes, "{}", case.what);
        spilled += found.traffic.intermediate_loads;
        let occupied =
            |site: (Site, Component, u64, StreamOp)| busy(&case.machine, site.1, &site.3);
        let occupied: u64 = entries(&case.schedule).map(occupied).sum();
        // Banks of register files are busy while units and ports are.
        let kinds = found
            .activity
            .iter()
            .filter(|a| a.kind != "register file bank");
        let counted: u64 = kinds.map(|kind| kind.busy_cycles).sum();
        assert_eq!(counted, occupied, "{}", case.what);
    }
    assert!(spilled > 0, "some values must be spilled");
}
