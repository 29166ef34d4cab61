//! Streams under construction: register-file slots are filled in at the end.

use cyclotron_isa::{FlatProgram, Link, NO_SLOT, NONE, Schedule, StreamOp};
use cyclotron_machine::Resolved;

use super::copies::Copies;
use crate::error::CompileError;
use crate::placement::streams::Recorder;

/// An entry whose register-file slots are still numbers of copies.
#[derive(Debug, Clone, Copy)]
pub(super) enum Draft {
    /// An instruction on a unit of a cluster.
    Compute {
        inst: u32,
        cluster: u16,
        unit: u16,
        dst: u32,
        src: [u32; 3],
    },
    /// A register file sends a copy.
    Read { copy: u32, to: Link },
    /// A register file receives a copy.
    Write { copy: u32, from: Link },
}

/// Drafts with their cycles and ends.
#[derive(Debug, Default)]
pub(super) struct Drafts {
    list: Vec<(u64, Draft)>,
}

impl Drafts {
    pub fn push(&mut self, at: u64, draft: Draft) {
        self.list.push((at, draft));
    }

    /// Fills in the slots and gives the streams.
    pub fn finish(
        self,
        mut recorder: Recorder,
        copies: &Copies,
        flat: &FlatProgram,
        machine: &Resolved,
    ) -> Result<Schedule, CompileError> {
        let slots = copies.slots(machine.clusters, machine.regfile.slots);
        let slot = |copy: u32| {
            if copy == NONE {
                NO_SLOT
            } else {
                slots[copy as usize]
            }
        };
        for (at, draft) in self.list {
            match draft {
                Draft::Compute {
                    inst,
                    cluster,
                    unit,
                    dst,
                    src,
                } => {
                    let inst = inst as usize;
                    let op = StreamOp::Compute {
                        op: flat.op[inst],
                        modulus: flat.modulus[inst],
                        dst: slot(dst),
                        src: src.map(slot),
                        imm: flat.imm[inst],
                    };
                    let end = copies.get(dst).written_end;
                    recorder.unit(cluster, unit, at, op, end);
                }
                Draft::Read { copy, to } => {
                    let op = StreamOp::Read {
                        slot: slot(copy),
                        to,
                    };
                    recorder.regfile(copies.get(copy).cluster, at, op, at);
                }
                Draft::Write { copy, from } => {
                    let op = StreamOp::Write {
                        slot: slot(copy),
                        from,
                    };
                    let end = copies.get(copy).written_end;
                    recorder.regfile(copies.get(copy).cluster, at, op, end);
                }
            }
        }
        recorder.finish(flat, machine)
    }
}
