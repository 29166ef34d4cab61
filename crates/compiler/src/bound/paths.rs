//! Longest paths through the dataflow, over the least latencies of the machine. An
//! instruction also waits for all loads that it depends on ([`super::release`]).

use cyclotron_isa::{FlatProgram, Op};
use cyclotron_machine::OpTiming;

use super::fabric::{Fabric, Way};
use super::release::releases;
use super::window::Piece;
use crate::abreast::{Report, abreast};
use crate::error::{CompileError, PAUSE, Pause, flow, proceed};

/// Heads and tails of all instructions, and what follows every value.
#[derive(Debug)]
pub(super) struct Paths {
    /// Earliest start.
    pub head: Vec<u64>,
    /// Cycles from the end of an instruction's occupancy to the end of the schedule.
    pub tail: Vec<u64>,
    /// Of every input: what follows once it can be read.
    after: Vec<After>,
    delays: Delays,
}

/// What instructions take.
#[derive(Debug, Clone)]
struct Delays {
    timing: Vec<OpTiming>,
    regfile_latency: u64,
}

impl Delays {
    /// Cycles from an instruction's start to the first chunk of its result.
    fn first(&self, op: Op) -> u64 {
        self.first_by(self.timing[op as usize])
    }

    /// The same of any instruction with this timing.
    fn first_by(&self, timing: OpTiming) -> u64 {
        let passes = if timing.multipass {
            timing.occupancy
        } else {
            0
        };
        u64::from(passes) + u64::from(timing.latency) + self.regfile_latency
    }

    /// Cycles that an instruction occupies its unit.
    fn span(&self, op: Op) -> u64 {
        self.timing[op as usize].occupancy.into()
    }

    /// First chunk and last of the result of an instruction that starts at `head`.
    fn written(&self, op: Op, head: u64) -> Way {
        let first = head + self.first(op);
        let last = first + self.span(op);
        Way { first, last }
    }
}

/// What must follow once a value can be read.
#[derive(Debug, Clone, Copy, Default)]
struct After {
    /// Largest, over the readers, of occupancy plus tail: what follows the
    /// start of a read.
    from_start: u64,
    /// Largest tail: what follows the end of a read.
    from_end: u64,
    read: bool,
    output: bool,
}

impl Paths {
    pub fn new(
        flat: &FlatProgram,
        timing: &[OpTiming],
        live: &[bool],
        (fabric, channels): (&Fabric, u64),
        regfile_latency: u64,
        pause: Pause<'_>,
    ) -> Result<Self, CompileError> {
        let delays = Delays {
            timing: timing.to_vec(),
            regfile_latency,
        };
        let half = |index, report: &mut Report<'_>| {
            let pause: Pause<'_> = &mut || proceed(report(0.0));
            if index == 0 {
                let first = |timing| delays.first_by(timing);
                let release = releases(flat, timing, (fabric, channels), first);
                let head = heads(flat, &delays, (fabric, &release), pause)?;
                return Ok((head, Vec::new()));
            }
            tails(flat, &delays, (fabric, live), pause)
        };
        let halves = abreast(2, half, &mut |_| flow(pause))?;
        let Ok([(head, _), (tail, after)]) = <[_; 2]>::try_from(halves) else {
            unreachable!("there are two halves");
        };
        Ok(Self {
            head,
            tail,
            after,
            delays,
        })
    }

    /// Compulsory loads and stores.
    pub fn channel_pieces(&self, flat: &FlatProgram, fabric: &Fabric) -> Vec<Piece> {
        let span = fabric.channel_span;
        let mut pieces = Vec::new();
        for value in 0..flat.inputs.len() {
            let after = self.after[value];
            let mut end = 0;
            if after.read {
                end = (fabric.load.first + after.from_start).max(fabric.load.last + after.from_end);
            }
            if after.output {
                end = end.max(fabric.pass + span + fabric.channel_latency);
            }
            if after.read || after.output {
                let tail = end.saturating_sub(span);
                pieces.push(Piece {
                    head: 0,
                    work: span,
                    tail,
                });
            }
        }
        for &value in &flat.outputs {
            let head = match flat.definition(value) {
                Some(inst) => self.store_start(flat, inst, fabric),
                None => fabric.pass,
            };
            let tail = fabric.channel_latency;
            pieces.push(Piece {
                head,
                work: span,
                tail,
            });
        }
        pieces
    }

    fn written(&self, flat: &FlatProgram, inst: usize) -> Way {
        self.delays.written(flat.op[inst], self.head[inst])
    }

    /// Earliest start of the store of an instruction's result.
    fn store_start(&self, flat: &FlatProgram, inst: usize, fabric: &Fabric) -> u64 {
        self.written(flat, inst).first + fabric.leave - fabric.channel_span - fabric.channel_latency
    }

    /// One transfer from a bank to a cluster for every input that is read.
    pub fn arrival_pieces(&self, flat: &FlatProgram, fabric: &Fabric) -> Vec<Piece> {
        let span = fabric.transfer_span;
        let inputs = self.after[..flat.inputs.len()]
            .iter()
            .filter(|after| after.read);
        inputs
            .map(|after| {
                let way = fabric.arrive;
                let end = (way.first + after.from_start).max(way.last + after.from_end);
                Piece {
                    head: fabric.loaded,
                    work: span,
                    tail: end.saturating_sub(span),
                }
            })
            .collect()
    }

    /// One transfer from a cluster to a bank for every computed output.
    pub fn departure_pieces(&self, flat: &FlatProgram, fabric: &Fabric) -> Vec<Piece> {
        let mut values: Vec<u32> = flat.outputs.clone();
        values.sort_unstable();
        values.dedup();
        let computed = values.iter().filter_map(|&value| flat.definition(value));
        computed
            .map(|inst| Piece {
                head: self.written(flat, inst).first,
                work: fabric.departure_span,
                tail: fabric.leave.saturating_sub(fabric.departure_span),
            })
            .collect()
    }
}

/// Earliest starts of all instructions, given releases of all or of none.
fn heads(
    flat: &FlatProgram,
    delays: &Delays,
    (fabric, release): (&Fabric, &[u64]),
    pause: Pause<'_>,
) -> Result<Vec<u64>, CompileError> {
    let mut head: Vec<u64> = Vec::with_capacity(flat.len());
    for inst in 0..flat.len() {
        if inst.is_multiple_of(PAUSE) {
            pause()?;
        }
        let span = delays.span(flat.op[inst]);
        let ready = flat.sources(inst).map(|source| {
            let way = match flat.definition(source) {
                Some(definition) => delays.written(flat.op[definition], head[definition]),
                None => fabric.load,
            };
            way.start(span)
        });
        let ready = ready.max().unwrap_or(0);
        head.push(ready.max(release.get(inst).copied().unwrap_or(0)));
    }
    Ok(head)
}

/// Tails of all live instructions, and what follows the inputs.
fn tails(
    flat: &FlatProgram,
    delays: &Delays,
    (fabric, live): (&Fabric, &[bool]),
    pause: Pause<'_>,
) -> Result<(Vec<u64>, Vec<After>), CompileError> {
    let inputs = flat.inputs.len();
    let mut after = vec![After::default(); flat.value_count()];
    flat.outputs
        .iter()
        .for_each(|&v| after[v as usize].output = true);
    let mut tail = vec![0; flat.len()];
    for inst in (0..flat.len()).rev() {
        if inst.is_multiple_of(PAUSE) {
            pause()?;
        }
        if !live[inst] {
            continue;
        }
        let (span, delay) = (delays.span(flat.op[inst]), delays.first(flat.op[inst]));
        let follow = after[inputs + inst];
        // Readers start after the result's first chunk and end after its last.
        let mut rest = delay.max((delay + follow.from_start).saturating_sub(span));
        rest = rest.max(delay + follow.from_end);
        if follow.output {
            rest = rest.max((delay + fabric.leave).saturating_sub(span));
        }
        tail[inst] = rest;
        for source in flat.sources(inst) {
            let after = &mut after[source as usize];
            after.from_start = after.from_start.max(span + rest);
            after.from_end = after.from_end.max(rest);
            after.read = true;
        }
    }
    after.truncate(inputs);
    after.shrink_to_fit();
    Ok((tail, after))
}
