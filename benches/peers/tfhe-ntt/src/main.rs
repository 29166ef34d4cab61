//! Measures the crate `tfhe-ntt` for `cyclotron bench kernels`: the driver's protocol of
//! `benches/README.md`, on standard input and output.

mod transform;

use std::collections::BTreeMap;
use std::io::{BufRead, Write, stdin, stdout};
use std::time::Instant;

use serde_json::{Value, json};
use transform::{Direction, Transform, prime_below};

/// A repetition of a short case lasts at least this long.
const BATCH_SECONDS: f64 = 0.02;
/// Sizes of the primes that are measured, and of the transforms.
const BITS: [u32; 5] = [30, 31, 32, 50, 60];
const LOG_N: [u32; 2] = [14, 16];
const DIRECTIONS: [Direction; 3] = [
    Direction::Forward,
    Direction::Inverse,
    Direction::InverseNormalized,
];
const NOTES: [&str; 2] = [
    "inverse leaves out the division by N, which users of the crate fold into the products \
     before it; the variant `normalized` includes it",
    "primes to 32 bits in 32-bit words, larger ones in 64-bit words",
];

/// A case: a direction of a transform.
struct Case {
    direction: Direction,
    log_n: u32,
    prime: u64,
    /// Made at the first request.
    transform: Option<Transform>,
    /// Runs in a repetition; 0 before the first.
    batch: u32,
}

impl Case {
    fn transform(&mut self) -> Result<&mut Transform, String> {
        if self.transform.is_none() {
            let made = Transform::new(1 << self.log_n, self.prime);
            self.transform = Some(made.ok_or_else(|| format!("no plan modulo {}", self.prime))?);
        }
        self.transform.as_mut().ok_or_else(String::new)
    }

    /// Seconds of each repetition.
    fn run(&mut self, repetitions: u64) -> Result<Vec<f64>, String> {
        let (direction, mut batch) = (self.direction, self.batch);
        let transform = self.transform()?;
        let mut clock = |times: u32| {
            let start = Instant::now();
            for _ in 0..times {
                transform.apply(direction);
            }
            start.elapsed().as_secs_f64()
        };
        if batch == 0 {
            clock(4);
            let one = clock(4) / 4.0;
            batch = (BATCH_SECONDS / one).ceil().max(1.0) as u32;
        }
        let seconds = (0..repetitions).map(|_| clock(batch) / f64::from(batch));
        let seconds = seconds.collect();
        self.batch = batch;
        Ok(seconds)
    }
}

type Cases = BTreeMap<String, Case>;

fn cases() -> Result<Cases, String> {
    let mut cases = Cases::new();
    for log_n in LOG_N {
        for bits in BITS {
            let prime =
                prime_below(bits, log_n).ok_or_else(|| format!("no prime of {bits} bits"))?;
            for direction in DIRECTIONS {
                let (kind, variant) = direction.name();
                let name = format!("ntt/{kind}/{bits}bit/n{log_n}{variant}");
                let case = Case {
                    direction,
                    log_n,
                    prime,
                    transform: None,
                    batch: 0,
                };
                cases.insert(name, case);
            }
        }
    }
    Ok(cases)
}

fn hello(cases: &Cases) -> Value {
    let listed: Vec<Value> = cases
        .iter()
        .map(|(name, case)| {
            let log_q = (case.prime as f64).log2();
            let parameters = json!({"log_n": case.log_n, "prime": case.prime, "log_q": log_q});
            json!({"case": name, "parameters": parameters})
        })
        .collect();
    json!({"driver": "tfhe-ntt", "version": "0.7.1", "notes": NOTES, "cases": listed})
}

fn answer(cases: &mut Cases, request: &Value) -> Result<Value, String> {
    let named = |key: &str| request.get(key).and_then(Value::as_str);
    if let Some(set) = named("release") {
        for (name, case) in cases.iter_mut() {
            if set
                .split('/')
                .all(|part| name.split('/').any(|p| p == part))
            {
                case.transform = None;
            }
        }
        return Ok(json!({"release": set}));
    }
    let (kind, name) = match (named("run"), named("check")) {
        (Some(name), _) => ("run", name),
        (None, Some(name)) => ("check", name),
        (None, None) => return Err("a request has one of run, check, release, quit".to_owned()),
    };
    let case = cases
        .get_mut(name)
        .ok_or_else(|| format!("there is no case {name:?}"))?;
    if kind == "run" {
        let repetitions = request
            .get("repetitions")
            .and_then(Value::as_u64)
            .unwrap_or(1);
        return Ok(json!({"run": name, "seconds": case.run(repetitions)?}));
    }
    let (values, expected) = case.transform()?.square()?;
    Ok(json!({"check": name, "values": values, "expected": expected}))
}

fn serve() -> Result<(), String> {
    let suite = std::env::args().skip_while(|arg| arg != "--suite").nth(1);
    if suite.as_deref() != Some("kernels") {
        return Err("--suite must be kernels".to_owned());
    }
    let mut cases = cases()?;
    let say = |line: &Value| {
        let mut out = stdout().lock();
        let written = writeln!(out, "{line}").and_then(|()| out.flush());
        written.map_err(|e| e.to_string())
    };
    say(&hello(&cases))?;
    for line in stdin().lock().lines() {
        let line = line.map_err(|e| e.to_string())?;
        if line.trim().is_empty() {
            continue;
        }
        let reply = match serde_json::from_str::<Value>(&line) {
            Ok(request) if request.get("quit").is_some() => return Ok(()),
            Ok(request) => answer(&mut cases, &request),
            Err(error) => Err(error.to_string()),
        };
        say(&reply.unwrap_or_else(|why| json!({"error": why})))?;
    }
    Ok(())
}

fn main() {
    if let Err(why) = serve() {
        eprintln!("tfhe-ntt: {why}");
        std::process::exit(1);
    }
}
