//! The benchmark driver; `cyclotron bench` starts it.

use std::io::{self, BufReader, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use cyclotron_benches::{DriverError, Kernels, Operations, Programs, Suite, serve};

const USAGE: &str = "usage: cyclotron-driver --suite kernels|operations|programs [--threads T] \
                     [--spec FILE] [--all]";

#[derive(Default)]
struct Options {
    suite: String,
    threads: usize,
    spec: Option<PathBuf>,
    all: bool,
}

fn options() -> Option<Options> {
    let mut options = Options {
        threads: 1,
        ..Options::default()
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--suite" => options.suite = words.next()?,
            "--threads" => options.threads = words.next()?.parse().ok().filter(|&t| t > 0)?,
            "--spec" => options.spec = Some(words.next()?.into()),
            "--all" => options.all = true,
            _ => return None,
        }
    }
    Some(options)
}

fn suite(options: &Options) -> Result<Box<dyn Suite>, DriverError> {
    match (options.suite.as_str(), &options.spec) {
        ("kernels", _) => Ok(Box::new(Kernels::new(options.all))),
        ("operations", _) => Ok(Box::new(Operations::new(options.threads, options.all)?)),
        ("programs", Some(spec)) => Ok(Box::new(Programs::open(spec, options.threads)?)),
        _ => Err(DriverError::Unsupported(USAGE)),
    }
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        let _ = writeln!(io::stderr(), "{USAGE}");
        return ExitCode::from(2);
    };
    // What is parallel outside the evaluator's own threads keeps to as many.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads);
    let served = pool
        .build_global()
        .map_err(|error| error.to_string())
        .and_then(|()| suite(&options).map_err(|error| error.to_string()))
        .and_then(|mut suite| {
            let (input, output) = (BufReader::new(io::stdin()), io::stdout().lock());
            serve(&mut *suite, options.threads, input, output).map_err(|error| error.to_string())
        });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}
