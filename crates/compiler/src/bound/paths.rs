//! Longest paths through the dataflow, over the least latencies of the machine. An
//! instruction also waits for all loads that it depends on ([`super::release`]).

use cyclotron_isa::FlatProgram;
use cyclotron_machine::OpTiming;

use super::fabric::{Fabric, Way};
use super::release::releases;
use super::window::Piece;
use crate::error::{CompileError, PAUSE, Pause};
use crate::uses::distinct_sources;

/// Heads and tails of all instructions, and what follows every value.
#[derive(Debug)]
pub(super) struct Paths {
    /// Earliest start.
    pub head: Vec<u64>,
    /// Cycles from the end of an instruction's occupancy to the end of the schedule.
    pub tail: Vec<u64>,
    /// Of every value: cycles from the earliest start of a reader to the end,
    /// with the reader's occupancy: the largest (occupancy, cycles).
    after: Vec<After>,
    /// First chunk and last of every instruction's result.
    written: Vec<Way>,
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
        let delay = |t: OpTiming| {
            let passes = if t.multipass { t.occupancy } else { 0 };
            u64::from(passes) + u64::from(t.latency) + regfile_latency
        };
        let release = releases(flat, timing, (fabric, channels), delay);
        let inputs = flat.inputs.len();
        let mut head = vec![0; flat.len()];
        let mut written = vec![fabric.load; flat.len()];
        for inst in 0..flat.len() {
            if inst.is_multiple_of(PAUSE) {
                pause()?;
            }
            let timing = timing[flat.op[inst] as usize];
            let span = u64::from(timing.occupancy);
            let (sources, n) = distinct_sources(flat, inst);
            let ready = sources[..n].iter().map(|&source| {
                let way = match flat.definition(source) {
                    Some(definition) => written[definition],
                    None => fabric.load,
                };
                way.start(span)
            });
            head[inst] = ready.max().unwrap_or(0).max(release[inst]);
            let first = head[inst] + delay(timing);
            written[inst] = Way {
                first,
                last: first + span,
            };
        }
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
            let timing = timing[flat.op[inst] as usize];
            let span = u64::from(timing.occupancy);
            let follow = after[inputs + inst];
            // Readers start after the result's first chunk and end after its last.
            let mut rest = delay(timing);
            rest = rest.max((delay(timing) + follow.from_start).saturating_sub(span));
            rest = rest.max(delay(timing) + follow.from_end);
            if follow.output {
                rest = rest.max((delay(timing) + fabric.leave).saturating_sub(span));
            }
            tail[inst] = rest;
            let (sources, n) = distinct_sources(flat, inst);
            for &source in &sources[..n] {
                let after = &mut after[source as usize];
                after.from_start = after.from_start.max(span + rest);
                after.from_end = after.from_end.max(rest);
                after.read = true;
            }
        }
        Ok(Self {
            head,
            tail,
            after,
            written,
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
                Some(inst) => self.store_start(inst, fabric),
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

    /// Earliest start of the store of an instruction's result.
    fn store_start(&self, inst: usize, fabric: &Fabric) -> u64 {
        self.written[inst].first + fabric.leave - fabric.channel_span - fabric.channel_latency
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
                head: self.written[inst].first,
                work: fabric.departure_span,
                tail: fabric.leave.saturating_sub(fabric.departure_span),
            })
            .collect()
    }
}
