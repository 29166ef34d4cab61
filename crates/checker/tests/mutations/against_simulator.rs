//! Mutated schedules: whatever the checker accepts computes the right limbs,
//! and nearly everything it rejects computes wrong ones when simulated anyway.

use std::collections::{BTreeMap, HashSet};

use cyclotron_checker::{CheckError, Fault, check};
use cyclotron_isa::testing::TestRng;
use cyclotron_isa::{DramContent, Schedule, StreamOp};
use cyclotron_machine::testing::{Memory, ScheduleIndex, Site};
use cyclotron_ring::{Ring, Simd};
use cyclotron_simulator::{Options, simulate};

use crate::arbitrary::{MUTATIONS, Mutation, edge_of_range, mutate};
use crate::case::{Case, LOG_N, case, every_value_matters};
use crate::faults::{Subject, kinds};

#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    accepted: u32,
    wrong_limbs: u32,
    undecodable: u32,
    same_limbs: u32,
}

/// What no simulation can tell from the original: the stated number of cycles
/// moves no data, and units ignore fields that they do not use.
fn is_silent(mutation: Mutation, error: &CheckError) -> bool {
    let unused = |fault: &Fault| matches!(fault, Fault::UnusedField { .. });
    match error {
        CheckError::Cycles { .. } => mutation == Mutation::Cycles,
        CheckError::Entry { fault, .. } => mutation == Mutation::Immediate && unused(fault),
        _ => false,
    }
}

/// Whether an edit touches one entry or its transfer, and nothing else.
fn whole(mutation: Mutation) -> bool {
    !matches!(
        mutation,
        Mutation::Cycles | Mutation::DramContent | Mutation::SwapEntries
    )
}

/// Whether an entry belongs to a transfer whose value is never read where it goes.
fn delivers_nothing(index: &ScheduleIndex, schedule: &Schedule, site: Site) -> bool {
    let family = match index.begun.get(&site) {
        Some(_) => vec![site],
        None => index.family(site),
    };
    let mut lives = family.iter().filter_map(|site| index.begun.get(site));
    family.len() + usize::from(index.begun.contains_key(&site)) > 1
        && lives.all(|&life| !is_needed(index, schedule, life))
}

/// Whether an instruction or an output needs a value where it is.
fn is_needed(index: &ScheduleIndex, schedule: &Schedule, life: usize) -> bool {
    let life = &index.lives[life];
    let is_output = life.memory == Memory::OffChip
        && matches!(
            schedule.dram[life.slot as usize].content,
            DramContent::Output(_)
        );
    is_output
        || life.reads.iter().any(|read| {
            let family = index.family(read.site);
            let mut sent = family.iter().filter_map(|site| index.begun.get(site));
            let entries = &schedule.streams[read.site.stream].entries;
            let reader = entries.get(read.site.entry).expect("a site is an entry");
            matches!(reader.op, StreamOp::Compute { .. })
                || sent.any(|&life| is_needed(index, schedule, life))
        })
}

/// Checks and simulates a mutant, and returns the checker's error, if there is one
/// and no simulation tells of it.
fn judge(case: &Case, mutant: &Schedule, tally: &mut Tally, what: &str) -> Option<CheckError> {
    let Case {
        flat,
        machine,
        ring,
        inputs,
        ..
    } = case;
    let checked = check(flat, mutant, machine);
    let run = simulate(flat, mutant, machine, ring, inputs, Options::default());
    match (checked, run) {
        (Ok(report), Ok(run)) => {
            // A change within the slack, or between equal values.
            assert_eq!(run.outputs, case.expected, "{what} was accepted");
            assert_eq!(run.violations, []);
            assert_eq!(run.cycles, report.cycles);
            tally.accepted += 1;
        }
        (Ok(_), Err(error)) => panic!("{what} was accepted, but {error}"),
        (Err(_), Err(_)) => tally.undecodable += 1,
        (Err(error), Ok(run)) if run.outputs == case.expected => return Some(error),
        (Err(_), Ok(_)) => tally.wrong_limbs += 1,
    }
    None
}

#[test]
fn mutants_are_rejected_or_harmless() {
    let mut tallies: BTreeMap<Mutation, Tally> = BTreeMap::new();
    let mut unread = 0;
    for seed in 0..120 {
        let Some(case) = case(seed).filter(every_value_matters) else {
            continue;
        };
        check(&case.flat, &case.schedule, &case.machine).expect("legal");
        let index = ScheduleIndex::new(&case.schedule, &case.machine);
        let mut rng = TestRng::new(seed);
        for _ in 0..200 {
            let mutation = rng.pick(&MUTATIONS);
            if let Some((mutant, site)) = mutate(&mut rng, &case, mutation) {
                let tally = tallies.entry(mutation).or_default();
                let unseen = judge(&case, &mutant, tally, &format!("{mutation:?}"));
                let Some(error) = unseen else { continue };
                if whole(mutation) && delivers_nothing(&index, &case.schedule, site) {
                    unread += 1;
                } else {
                    tally.same_limbs += u32::from(!is_silent(mutation, &error));
                }
            }
        }
    }
    assert_eq!(tallies.len(), MUTATIONS.len());
    let sum = |of: fn(&Tally) -> u32| tallies.values().map(of).sum::<u32>();
    let rejected = sum(|t| t.wrong_limbs + t.undecodable + t.same_limbs);
    assert!(rejected > 3_000, "{tallies:#?}");
    // What is left are coincidences of the values: a factor 1 in another prime,
    // an automorphism of a constant or of zero, an equal value in another slot.
    let same = sum(|t| t.same_limbs);
    let counts = format!("{same} of {rejected}, {unread} of values that nobody reads");
    assert!(same * 50 < rejected, "{counts}: {tallies:#?}");
    for (mutation, tally) in &tallies {
        let rejected = tally.wrong_limbs + tally.undecodable;
        let few = matches!(mutation, Mutation::Cycles | Mutation::SwapOperands);
        assert!(few || rejected > 25, "{mutation:?}: {tally:?}");
    }
}

/// What is made as a fault is one to the simulator, too, but for the equal values
/// that random programs are full of.
#[test]
fn faults_are_faults_to_the_simulator() {
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for seed in 0..60 {
        let Some(case) = case(seed).filter(every_value_matters) else {
            continue;
        };
        let subject = Subject::new(&case.flat, &case.machine, &case.schedule);
        let mut rng = TestRng::new(seed);
        for kind in kinds() {
            let mut used = HashSet::new();
            for _ in 0..2 {
                let Some((site, mutant)) = kind.apply(&subject, &mut used, &mut rng) else {
                    break;
                };
                let tally = tallies.entry(kind.name).or_default();
                let what = format!("{} at {site:?} of program {seed}", kind.name);
                let unseen = judge(&case, &mutant, tally, &what);
                tally.same_limbs += u32::from(unseen.is_some() && !kind.spares_values);
            }
        }
    }
    assert_eq!(tallies.len(), kinds().len());
    let sum = |of: fn(&Tally) -> u32| tallies.values().map(of).sum::<u32>();
    let wrong = sum(|t| t.wrong_limbs + t.undecodable);
    let not = sum(|t| t.accepted + t.same_limbs);
    assert!(
        wrong > 1_000 && not * 50 < wrong,
        "{not}, {wrong}: {tallies:#?}"
    );
}

/// Schedules that many edits have wrecked, with numbers at the edges: an error
/// or a result, never a panic or a hang.
#[test]
fn wrecks_are_survived() {
    let mut outcomes = [0; 3];
    for seed in 0..30 {
        let Some(case) = case(seed) else { continue };
        let mut rng = TestRng::new(seed);
        for round in 0..20 {
            let mut wreck = Case {
                schedule: case.schedule.clone(),
                flat: case.flat.clone(),
                machine: case.machine.clone(),
                inputs: case.inputs.clone(),
                ring: Ring::new(LOG_N, &case.flat.moduli, Simd::Scalar).expect("a ring"),
                expected: Vec::new(),
            };
            for _ in 0..1 << (round / 2) {
                let mutation = rng.pick(&MUTATIONS);
                if let Some((mutant, _)) = mutate(&mut rng, &wreck, mutation) {
                    wreck.schedule = mutant;
                }
            }
            if round % 4 == 3 {
                edge_of_range(&mut rng, &mut wreck.schedule);
            }
            let Case {
                flat,
                machine,
                ring,
                inputs,
                schedule,
                ..
            } = &wreck;
            let checked = check(flat, schedule, machine);
            let run = simulate(flat, schedule, machine, ring, inputs, Options::default());
            outcomes[match (checked, run) {
                (Ok(_), run) => {
                    assert_eq!(run.expect("decodes").outputs, case.expected);
                    0
                }
                (Err(_), Ok(_)) => 1,
                (Err(_), Err(_)) => 2,
            }] += 1;
        }
    }
    assert!(outcomes[1] > 50 && outcomes[2] > 50, "{outcomes:?}");
}
