//! Faults at random sites in schedules of real programs.
//!
//! `CYCLOTRON_FAULT_CASES` sets how many of each kind are tried in each schedule,
//! `CYCLOTRON_FAULT_SEED` which.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::io::Write as _;

use cyclotron_checker::{CheckError, check};
use cyclotron_isa::Schedule;
use cyclotron_isa::testing::{HashInputs, TestRng};
use cyclotron_machine::testing::Site;
use cyclotron_ring::{LimbBuf, Ring, Simd};
use cyclotron_simulator::{Options, simulate};

use crate::faults::{Kind, Subject, kinds};
use crate::programs::{Compiled, compiled};

/// Faults of each kind in each schedule, where enough sites allow them.
const CASES: u64 = 12;

/// What became of the faults of a kind.
#[derive(Default)]
struct Row {
    applied: u32,
    /// By class of the first error.
    rejected: BTreeMap<String, u32>,
}

/// An accepted fault.
struct Survivor<'a> {
    kind: &'a Kind,
    compiled: &'a Compiled,
    site: Site,
    schedule: Schedule,
}

#[test]
fn faults_in_schedules_of_real_programs_are_rejected() {
    let cases = setting("CYCLOTRON_FAULT_CASES", CASES);
    let seed = setting("CYCLOTRON_FAULT_SEED", 1);
    let programs = compiled();
    let (kinds, mut survivors) = (kinds(), Vec::new());
    let mut rows: Vec<Row> = kinds.iter().map(|_| Row::default()).collect();
    for compiled in &programs {
        let Compiled {
            flat,
            machine,
            schedule,
            ..
        } = compiled;
        check(flat, schedule, machine).expect("legal before");
        let subject = Subject::new(flat, machine, schedule);
        let mut rng = TestRng::new(seed);
        for (kind, row) in kinds.iter().zip(&mut rows) {
            let mut used = HashSet::new();
            for _ in 0..cases {
                let Some((site, schedule)) = kind.apply(&subject, &mut used, &mut rng) else {
                    break;
                };
                row.applied += 1;
                match check(flat, &schedule, machine) {
                    Err(error) => *row.rejected.entry(class(&error)).or_default() += 1,
                    Ok(_) => survivors.push(Survivor {
                        kind,
                        compiled,
                        site,
                        schedule,
                    }),
                }
            }
        }
    }
    let explained: Vec<String> = survivors.iter().map(|s| s.explain(seed)).collect();
    let table = table(&programs, &kinds, &rows, &explained, seed);
    // Past the test harness, which shows nothing of what passes.
    let _ = std::io::stderr().write_all(table.as_bytes());
    let applied: u32 = rows.iter().map(|row| row.applied).sum();
    assert!(kinds.len() >= 12 && applied >= 300, "{applied} faults");
    for (kind, row) in kinds.iter().zip(&rows) {
        assert!(row.applied >= 10, "{}: {} applied", kind.name, row.applied);
    }
    assert!(survivors.len() as u32 * 100 <= applied, "{explained:#?}");
}

fn setting(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |text| text.parse().expect("a number"))
}

/// The variant's name.
fn class(error: &CheckError) -> String {
    let text = match error {
        CheckError::Entry { fault, .. } => format!("{fault:?}"),
        other => format!("{other:?}"),
    };
    let end = text.find(|c: char| !c.is_alphanumeric());
    text[..end.unwrap_or(text.len())].to_owned()
}

fn table(
    programs: &[Compiled],
    kinds: &[&Kind],
    rows: &[Row],
    explained: &[String],
    seed: u64,
) -> String {
    let mut text = format!("\nfaults in schedules for F1 (CYCLOTRON_FAULT_SEED={seed}) of");
    for Compiled { name, schedule, .. } in programs {
        let entries: usize = schedule.streams.iter().map(|s| s.entries.len()).sum();
        let _ = write!(text, " {name} ({entries} entries);");
    }
    let _ = writeln!(text, "\n{:42} applied rejected  first error", "kind");
    let (mut applied, mut rejected) = (0, 0);
    for (kind, row) in kinds.iter().zip(rows) {
        let found: u32 = row.rejected.values().sum();
        (applied, rejected) = (applied + row.applied, rejected + found);
        let _ = write!(text, "{:42} {:7} {found:8} ", kind.name, row.applied);
        let mut classes: Vec<_> = row.rejected.iter().collect();
        classes.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        for (class, count) in classes {
            let _ = write!(text, " {class} {count}");
        }
        text.push('\n');
    }
    let _ = writeln!(text, "{:42} {applied:7} {rejected:8}", "all");
    for survivor in explained {
        let _ = writeln!(text, "survivor: {survivor}");
    }
    text
}

impl Survivor<'_> {
    /// That it is legal after all: the values that it confuses are equal.
    ///
    /// # Panics
    /// If it is not: simulated, it goes wrong or computes other limbs.
    fn explain(&self, seed: u64) -> String {
        let Survivor {
            kind,
            compiled,
            site,
            schedule,
        } = self;
        let component = schedule.streams[site.stream].component;
        let what = format!(
            "{} at entry {} of {component} in {} ({})",
            kind.name, site.entry, compiled.name, kind.why
        );
        let expected = outputs(compiled, &compiled.schedule, seed);
        assert!(outputs(compiled, schedule, seed) == expected, "{what}");
        format!("{what}: simulated, it computes the same limbs and nothing goes wrong")
    }
}

fn outputs(compiled: &Compiled, schedule: &Schedule, seed: u64) -> Vec<LimbBuf<u32>> {
    let Compiled {
        program,
        flat,
        machine,
        ..
    } = compiled;
    let ring = Ring::new(flat.log_n, &flat.moduli, Simd::detect().expect("a path"));
    let inputs = HashInputs::new(seed, program);
    let ring = ring.expect("a ring");
    let run = simulate(flat, schedule, machine, &ring, &inputs, Options::default());
    let run = run.expect("an accepted schedule decodes");
    assert_eq!(run.violations, []);
    run.outputs
}
