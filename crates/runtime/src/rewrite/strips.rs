//! Neighbouring instructions that treat every index alike, joined.

use std::collections::BTreeSet;

use cyclotron_isa::kernel::Operation;

use super::uses::Uses;
use super::{Piece, Slot, StripOp, Work};

/// One instruction as strips: its sources are the piece's.
pub(super) fn single(operation: Operation, sources: usize) -> Work {
    let op = StripOp {
        operation,
        dst: 0,
        srcs: (0..sources as u16).map(Slot::Source).collect(),
    };
    Work::Strips {
        ops: vec![op],
        own: 1,
        shared: 0,
    }
}

/// Instructions that are executed together, at most.
const STRIP_OPS: usize = 16;

/// Limbs that pieces of strips read and write, at most: what a processor
/// follows as streams.
const STRIP_LIMBS: usize = 48;

/// Joins neighbouring strips that share operands.
pub(super) fn join(uses: &Uses, pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
    let mut run: Vec<Piece> = Vec::new();
    for piece in pieces {
        if !(matches!(piece.work, Work::Strips { .. }) && belongs(&run, &piece)) {
            joined.extend(join_run(uses, std::mem::take(&mut run)));
        }
        if matches!(piece.work, Work::Strips { .. }) {
            run.push(piece);
        } else {
            joined.push(piece);
        }
    }
    joined.extend(join_run(uses, run));
    joined
}

/// Whether a piece reads something that the run reads or defines, and fits.
fn belongs(run: &[Piece], piece: &Piece) -> bool {
    let shares = |value: &u32| {
        run.iter()
            .any(|other| other.sources.contains(value) || other.results.contains(value))
    };
    let limbs = |piece: &Piece| piece.sources.len() + 1;
    run.len() < STRIP_OPS
        && piece.sources.iter().any(shares)
        && run.iter().map(limbs).sum::<usize>() + limbs(piece) <= STRIP_LIMBS
}

/// One piece for a run of single instructions.
fn join_run(uses: &Uses, run: Vec<Piece>) -> Option<Piece> {
    if run.len() <= 1 {
        return run.into_iter().next();
    }
    let defined: Vec<u32> = run.iter().map(|piece| piece.results[0]).collect();
    let reads_inside = |value: u32| {
        let sources = run.iter().flat_map(|piece| &piece.sources);
        sources.filter(|&&source| source == value).count() as u32
    };
    let is_result = |&value: &u32| {
        let (readings, _) = uses.readers[value as usize];
        uses.returned[value as usize] || readings == 0 || readings > reads_inside(value)
    };
    let (results, inner): (Vec<u32>, Vec<u32>) = defined.iter().partition(|v| is_result(v));
    let own: Vec<u32> = results.iter().chain(&inner).copied().collect();
    let mut sources: Vec<u32> = Vec::new();
    let mut slot = |value: u32| {
        if let Some(at) = own.iter().position(|&v| v == value) {
            return Slot::Own(at as u16);
        }
        let at = sources.iter().position(|&v| v == value).unwrap_or_else(|| {
            sources.push(value);
            sources.len() - 1
        });
        Slot::Source(at as u16)
    };
    let insts = run.iter().map(|piece| piece.insts).sum();
    let readers = |value: u32| run.iter().filter(|p| p.sources.contains(&value)).count();
    let read: BTreeSet<u32> = run.iter().flat_map(|p| &p.sources).copied().collect();
    let foreign = read.iter().filter(|value| !own.contains(value));
    let shared = foreign.filter(|&&value| readers(value) > 1).count();
    let mut ops = Vec::with_capacity(run.len());
    for piece in run {
        let Work::Strips {
            ops: mut single, ..
        } = piece.work
        else {
            unreachable!("runs consist of strips");
        };
        let mut op = single.pop().expect("one instruction");
        op.srcs = piece.sources.iter().map(|&value| slot(value)).collect();
        let Slot::Own(dst) = slot(piece.results[0]) else {
            unreachable!("a run defines its results");
        };
        op.dst = dst;
        ops.push(op);
    }
    Some(Piece {
        work: Work::Strips {
            ops,
            own: own.len(),
            shared,
        },
        sources,
        results,
        insts,
    })
}
