//! JSON lines: a request a line in, an answer a line out.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

use crate::case::{Suite, Timed, belongs};
use crate::error::DriverError;
use crate::roofline::Machine;

/// Serves requests until the end of the input or `{"quit": true}`.
///
/// Besides the protocol of `benches/README.md` this driver knows
/// `{"machine": true}`, what the machine can do, and `{"bound": CASE}`, the least
/// time that the machine needs for a case.
///
/// # Errors
/// Input and output only: what is wrong with a request is answered.
pub fn serve(
    suite: &mut dyn Suite,
    threads: usize,
    input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    let hello = json!({
        "driver": "cyclotron",
        "version": env!("CARGO_PKG_VERSION"),
        "cases": suite.cases(),
        "notes": [],
    });
    say(&mut output, &hello)?;
    let mut driver = Driver {
        suite,
        threads,
        ready: BTreeMap::new(),
        machine: None,
    };
    for line in input.lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let answer = match serde_json::from_str::<Value>(&line) {
            Ok(request) if request.get("quit").is_some() => return Ok(()),
            Ok(request) => driver.answer(&request),
            Err(error) => Err(DriverError::Request(error.to_string())),
        };
        let answer = answer.unwrap_or_else(|error| json!({ "error": error.to_string() }));
        say(&mut output, &answer)?;
    }
    Ok(())
}

fn say(output: &mut impl Write, answer: &Value) -> io::Result<()> {
    writeln!(output, "{answer}")?;
    output.flush()
}

struct Driver<'a> {
    suite: &'a mut dyn Suite,
    threads: usize,
    ready: BTreeMap<String, Timed>,
    machine: Option<Machine>,
}

impl Driver<'_> {
    fn answer(&mut self, request: &Value) -> Result<Value, DriverError> {
        let text = |name: &str| request.get(name).and_then(Value::as_str);
        if let Some(case) = text("run") {
            let repetitions = match request.get("repetitions") {
                None => 1,
                Some(count) => count
                    .as_u64()
                    .and_then(|count| u32::try_from(count).ok())
                    .ok_or_else(|| DriverError::Request(format!("{count} repetitions")))?,
            };
            let timed = self.timed(case)?;
            let samples = (0..repetitions).map(|_| timed.sample());
            let samples = samples.collect::<Result<Vec<_>, _>>()?;
            let seconds: Vec<f64> = samples.iter().map(|sample| sample.seconds).collect();
            let executing = samples.iter().map(|sample| sample.executing_seconds);
            let executing: Option<Vec<f64>> = executing.collect();
            return Ok(json!({ "run": case, "seconds": seconds, "executing_seconds": executing }));
        }
        if let Some(case) = text("check") {
            let checked = self.timed(case)?.case.check()?;
            return Ok(json!({
                "check": case, "values": checked.values, "expected": checked.expected,
            }));
        }
        if let Some(case) = text("bound") {
            let work = self.timed(case)?.case.work();
            let bound = work.map(|work| self.machine().bound(&work));
            return Ok(json!({ "bound": case, "work": work, "least": bound }));
        }
        if let Some(set) = text("release") {
            self.ready.retain(|case, _| !belongs(case, set));
            self.suite.release(set);
            return Ok(json!({ "release": set }));
        }
        if request.get("machine").is_some() {
            return Ok(json!({ "machine": self.machine() }));
        }
        Err(DriverError::Request(request.to_string()))
    }

    fn machine(&mut self) -> &Machine {
        self.machine
            .get_or_insert_with(|| Machine::measure(self.threads))
    }

    fn timed(&mut self, case: &str) -> Result<&mut Timed, DriverError> {
        if !self.ready.contains_key(case) {
            let timed = Timed::new(self.suite.prepare(case)?)?;
            self.ready.insert(case.to_owned(), timed);
        }
        self.ready
            .get_mut(case)
            .ok_or_else(|| DriverError::UnknownCase(case.to_owned()))
    }
}
