//! What can be measured.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use crate::error::DriverError;
use crate::work::Work;

/// A sample takes at least so long: shorter cases run several times for one.
const SAMPLE: Duration = Duration::from_millis(20);

/// Facts about the parameters that a case really uses.
pub type Facts = serde_json::Map<String, Value>;

/// A case as the first line of the protocol lists it.
#[derive(Debug, Clone, Serialize)]
pub struct Description {
    /// The name, for example `ckks/rotate/n16`.
    pub case: String,
    /// What it uses.
    pub parameters: Facts,
}

/// What a case computed on fixed inputs, and what it should have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// The first 8 results.
    pub values: Vec<Value>,
    /// The first 8 results from the definition.
    pub expected: Vec<Value>,
}

impl Checked {
    /// The first 8 of both.
    pub fn new<T: Clone + Into<Value>>(values: &[T], expected: &[T]) -> Self {
        let head = |values: &[T]| values.iter().take(8).cloned().map(Into::into).collect();
        Self {
            values: head(values),
            expected: head(expected),
        }
    }
}

/// Something that is ready to be measured.
pub trait Case {
    /// Does the work once, result dropped; returns the seconds of it in which
    /// limb instructions were executed, where the runtime tells.
    ///
    /// # Errors
    /// What the work reports.
    fn run(&mut self) -> Result<Option<f64>, DriverError>;

    /// Does the work on the fixed inputs.
    ///
    /// # Errors
    /// What the work reports.
    fn check(&mut self) -> Result<Checked, DriverError>;

    /// The least that the work needs of the machine, where that is counted.
    fn work(&self) -> Option<Work> {
        None
    }

    /// A run stands for so many results: seconds are for one of them.
    fn results(&self) -> u32 {
        1
    }
}

/// A case with the number of runs that make a sample.
pub(crate) struct Timed {
    pub(crate) case: Box<dyn Case>,
    runs: u32,
}

impl Timed {
    /// Warms up, and finds out how often a sample runs.
    pub(crate) fn new(mut case: Box<dyn Case>) -> Result<Self, DriverError> {
        case.run()?;
        let start = Instant::now();
        case.run()?;
        let once = start.elapsed().max(Duration::from_nanos(50));
        let runs = SAMPLE.as_nanos().div_ceil(once.as_nanos()).max(1) as u32;
        Ok(Self { case, runs })
    }

    /// One sample.
    pub(crate) fn sample(&mut self) -> Result<Sample, DriverError> {
        let each = f64::from(self.runs) * f64::from(self.case.results());
        let mut executed = None;
        let start = Instant::now();
        for _ in 0..self.runs {
            if let Some(seconds) = self.case.run()? {
                executed = Some(executed.unwrap_or(0.0) + seconds);
            }
        }
        Ok(Sample {
            seconds: start.elapsed().as_secs_f64() / each,
            executing_seconds: executed.map(|seconds| seconds / each),
        })
    }
}

/// One repetition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    /// Of everything that a user waits for.
    pub seconds: f64,
    /// Of the execution of limb instructions, where the runtime tells.
    pub executing_seconds: Option<f64>,
}

/// The cases of one suite.
pub trait Suite {
    /// What there is to measure.
    fn cases(&self) -> Vec<Description>;

    /// Makes one case ready.
    ///
    /// # Errors
    /// [`DriverError::UnknownCase`], or what stands in the way.
    fn prepare(&mut self, name: &str) -> Result<Box<dyn Case>, DriverError>;

    /// Frees what a parameter set holds besides its cases.
    fn release(&mut self, set: &str);
}

/// Whether a case `SCHEME/OPERATION/SET` belongs to the parameter set `SCHEME/SET`.
pub(crate) fn belongs(case: &str, set: &str) -> bool {
    let words = |text: &str| -> Option<(String, String)> {
        let (first, last) = (text.split('/').next()?, text.rsplit('/').next()?);
        Some((first.to_owned(), last.to_owned()))
    };
    words(case) == words(set)
}

#[cfg(test)]
mod tests {
    use super::belongs;

    #[test]
    fn sets_own_their_cases() {
        assert!(belongs("ckks/rotate/n16", "ckks/n16"));
        assert!(!belongs("bgv/rotate/n14", "ckks/n14"));
        assert!(!belongs("ckks/rotate/n14", "ckks/n14-430"));
    }
}
