//! What a worker does with the buffers of a piece of work.

use cyclotron_isa::{Op, kernel, part};
use cyclotron_ring::{LimbBuf, NttEntry, NttExit, Ring, Word};

use crate::rewrite::{Slot, StripOp, Work};

/// Bytes of the strips that instructions executed together write, or read more than
/// once. What is read again, about half of them, stays in the first-level cache;
/// longer strips are fewer beginnings, of which a processor's prefetchers miss most.
const STRIPS_BYTES: usize = 64 << 10;

/// Words of a strip, at least and at most: whole vectors, pages of memory.
const STRIP_WORDS: (usize, usize) = (256, 2048);

/// Computes the results of a piece from its sources.
///
/// `scratch` is a buffer of the worker's, of any length.
pub(crate) fn compute<W: Word>(
    ring: &Ring<W>,
    work: &Work,
    sources: &[&[W]],
    results: &mut [&mut [W]],
    scratch: &mut LimbBuf<W>,
) {
    match work {
        Work::Permute { operation, modulus } => match *sources {
            [a, b] => {
                let map = part::automorphism(operation.scalar as u32, ring.log_n());
                ring.aut_eval_of_sum(*modulus, map, results[0], a, b);
            }
            _ => kernel::apply(ring, *operation, results[0], sources),
        },
        Work::Inverse { .. } | Work::Forward { .. } => {
            let (coefficients, others) = (Some(sources[0]), &sources[1..]);
            transform(ring, work, coefficients, others, results[0]);
        }
        Work::Convert { moduli, matrix } => ring.bconv(moduli, results, sources, matrix),
        Work::Strips { ops, own, shared } => {
            let strip = strip_words::<W>(ring.n(), ops.len(), own + shared);
            let inner = strip * (own - results.len());
            if scratch.len() < inner {
                *scratch = LimbBuf::unspecified(inner);
            }
            let mut start = 0;
            while start < ring.n() {
                let end = (start + strip).min(ring.n());
                strips(ring, ops, (start, end), sources, results, scratch);
                start = end;
            }
        }
    }
}

/// Computes a transform: from `src` to `dst`, or in place; `others` are the
/// sources after the first.
///
/// A transform in place touches half the memory: no other buffer has to come
/// into the cache before it is overwritten.
pub(crate) fn transform<W: Word>(
    ring: &Ring<W>,
    work: &Work,
    src: Option<&[W]>,
    others: &[&[W]],
    dst: &mut [W],
) {
    match *work {
        Work::Inverse { modulus, mul, add } => ring.intt_with(modulus, dst, src, mul, add),
        Work::Forward { modulus, add, exit } => {
            let exit = match exit {
                Some(c) => NttExit::SubMulC {
                    minuend: others[0],
                    c,
                },
                None => NttExit::Canonical,
            };
            ring.ntt_with(modulus, dst, src, NttEntry { add_c: add }, exit);
            if let Some(addend) = others.get(1) {
                ring.add_in_place(modulus, dst, addend);
            }
        }
        _ => unreachable!("no transform"),
    }
}

/// The length of the strips of so many instructions, and limbs that they use more
/// than once.
fn strip_words<W: Word>(n: usize, ops: usize, limbs: usize) -> usize {
    if ops == 1 {
        return n;
    }
    let words = STRIPS_BYTES / (limbs * size_of::<W>());
    let (least, most) = STRIP_WORDS;
    (1 << words.clamp(least, most).ilog2()).min(n)
}

/// Executes instructions on the indices `start..end`.
fn strips<W: Word>(
    ring: &Ring<W>,
    ops: &[StripOp],
    (start, end): (usize, usize),
    sources: &[&[W]],
    results: &mut [&mut [W]],
    scratch: &mut LimbBuf<W>,
) {
    let results = results.iter_mut().map(|limb| &mut limb[start..end]);
    let inner = scratch.chunks_mut(end - start);
    let mut own: Vec<&mut [W]> = results.chain(inner).collect();
    for op in ops {
        let dst = std::mem::take(&mut own[usize::from(op.dst)]);
        let source = |slot: &Slot| match *slot {
            Slot::Source(at) => &sources[usize::from(at)][start..end],
            Slot::Own(at) => &*own[usize::from(at)],
        };
        if op.operation.op == Op::Dot {
            let pairs: Vec<_> = op
                .srcs
                .chunks_exact(2)
                .map(|pair| (source(&pair[0]), source(&pair[1])))
                .collect();
            ring.dot(usize::from(op.operation.modulus), dst, &pairs);
        } else {
            let mut srcs: [&[W]; 3] = [&[]; 3];
            for (src, slot) in srcs.iter_mut().zip(&op.srcs) {
                *src = source(slot);
            }
            kernel::apply(ring, op.operation, dst, &srcs[..op.srcs.len()]);
        }
        own[usize::from(op.dst)] = dst;
    }
}
