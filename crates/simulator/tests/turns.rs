//! Banks of register files: what an access that is not served gives, and how
//! busy they are.

mod sum;

use cyclotron_isa::FlatProgram;
use cyclotron_machine::testing::{sum_machine, sum_program};
use cyclotron_machine::{Resolved, Turns};
use cyclotron_simulator::{Options, Simulation, ViolationKind, count};

/// All accesses to its register files take 8 cycles.
fn machine(accesses: u16) -> Resolved {
    let mut machine = sum_machine();
    machine.regfile.turns = Some(Turns {
        banks: 4,
        accesses,
        chunks: 8,
    });
    machine
}

fn run(machine: &Resolved) -> Simulation<u32> {
    sum::run(&[], machine, Options::default()).expect("decodable")
}

#[test]
fn an_entry_that_is_not_served_gives_zeros() {
    let right = run(&sum_machine());
    assert_eq!(right.violation_count, 0);
    // The second operand's write from 49 comes with both reads of the sum; with
    // two accesses a cycle, the sum's unit is the one that gets nothing.
    let served = run(&machine(3));
    assert_eq!(served.violation_count, 0);
    assert!(served.outputs[0].to_vec() == right.outputs[0].to_vec());
    let starved = run(&machine(2));
    let kinds: Vec<_> = starved.violations.iter().map(|v| v.kind).collect();
    assert_eq!(kinds, [ViolationKind::BankConflict]);
    assert!(starved.outputs[0].to_vec() != right.outputs[0].to_vec());
}

#[test]
fn accesses_are_counted() {
    let schedule = sum::schedule(&[]);
    let flat = FlatProgram::new(&sum_program()).expect("flat");
    let counts = count(&flat, &schedule, &machine(3), 4);
    let banks = counts.activity.last().expect("kinds");
    assert_eq!(banks.kind, "register file bank");
    assert_eq!(banks.instances, 2 * 4 * 3, "two register files");
    // Two operands in, one out over the network; two read and one written by the unit.
    assert_eq!(banks.busy_cycles, 6 * 8);
    assert_eq!(banks.buckets.iter().sum::<u64>(), 6 * 8);
    let without = count(&flat, &schedule, &sum_machine(), 4);
    let kinds = |counts: &cyclotron_simulator::Counts| counts.activity.len();
    assert_eq!(kinds(&without) + 1, kinds(&counts));
}
