//! Computes the values that the outputs need.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::sync::Arc;

use cyclotron_isa::kernel::{self, Operation};
use cyclotron_isa::{FlatProgram, InputProvider, fetch};
use cyclotron_ring::{LimbBuf, Ring, Word};
use rayon::prelude::*;

use crate::error::SimError;
use crate::graph::{NodeId, Origin, ReadId, Seen, UNWRITTEN, ZERO};
use crate::order::Order;
use crate::values::Values;

/// Entries computed side by side; they are independent of each other.
const BATCH: usize = 32;

/// What computing needs to know.
pub(crate) struct Evaluator<'a, W: Word> {
    pub(crate) program: &'a FlatProgram,
    pub(crate) ring: &'a Ring<W>,
    pub(crate) inputs: &'a dyn InputProvider<W>,
    pub(crate) values: &'a Values<'a>,
    pub(crate) pool: Option<rayon::ThreadPool>,
}

type Limb<W> = Arc<LimbBuf<W>>;

/// Limbs that are still needed.
struct Store<W: Word> {
    limbs: Vec<Option<Limb<W>>>,
    uses: Vec<u32>,
    zeros: Limb<W>,
    /// Buffers to be written again.
    free: Vec<LimbBuf<W>>,
}

impl<W: Word> Store<W> {
    /// A limb, zeros if it is not there (a circular operand).
    fn get(&self, node: NodeId) -> &Limb<W> {
        self.limbs[node as usize].as_ref().unwrap_or(&self.zeros)
    }

    fn release(&mut self, node: NodeId) {
        let uses = &mut self.uses[node as usize];
        *uses = uses.saturating_sub(1);
        if *uses == 0
            && let Some(limb) = self.limbs[node as usize].take()
        {
            self.free.extend(Arc::into_inner(limb));
        }
    }

    fn buffer(&mut self) -> LimbBuf<W> {
        let free = self.free.pop();
        free.unwrap_or_else(|| LimbBuf::zeroed(self.zeros.len()))
    }
}

impl<W: Word> Evaluator<'_, W> {
    /// The limbs of `outputs`. Computes in `order`, and tells `progress` the fraction done.
    pub(crate) fn run(
        &self,
        outputs: &[NodeId],
        order: &mut Order,
        progress: &dyn Fn(f64) -> ControlFlow<()>,
    ) -> Result<Vec<LimbBuf<W>>, SimError> {
        let nodes = self.values.len();
        let mut store = Store {
            limbs: vec![None; nodes],
            uses: vec![0; nodes],
            zeros: Arc::new(LimbBuf::zeroed(self.ring.n())),
            free: Vec::new(),
        };
        let mut total = 0usize;
        for node in order.tasks() {
            total += 1;
            self.values
                .sources(node, |source| store.uses[source as usize] += 1);
        }
        for &node in outputs {
            store.uses[node as usize] += 1;
        }
        let mut done = 0;
        while done < total {
            let batch = order.next_batch(BATCH);
            self.compute(&batch, &mut store)?;
            for &node in &batch {
                self.values.sources(node, |source| store.release(source));
                order.finished(node);
            }
            done += batch.len();
            if progress(done as f64 / total as f64).is_break() {
                return Err(SimError::Interrupted);
            }
        }
        self.fetch_inputs(outputs, &mut store)?;
        let limb = |&node: &NodeId| LimbBuf::clone(store.get(node));
        Ok(outputs.iter().map(limb).collect())
    }

    fn compute(&self, batch: &[NodeId], store: &mut Store<W>) -> Result<(), SimError> {
        let mut sources = Vec::new();
        for &node in batch {
            self.values.sources(node, |source| sources.push(source));
        }
        self.fetch_inputs(&sources, store)?;
        let tasks: Vec<_> = batch.iter().map(|&node| (node, store.buffer())).collect();
        let known: &Store<W> = store;
        let task = |(node, mut buffer): (NodeId, LimbBuf<W>)| {
            self.value(node, known, &mut buffer);
            Arc::new(buffer)
        };
        let results: Vec<Limb<W>> = match &self.pool {
            Some(pool) => pool.install(|| tasks.into_par_iter().map(task).collect()),
            None => tasks.into_iter().map(task).collect(),
        };
        for (&node, limb) in batch.iter().zip(results) {
            store.limbs[node as usize] = Some(limb);
        }
        Ok(())
    }

    /// Gets the input limbs among `nodes` that are not there yet.
    fn fetch_inputs(&self, nodes: &[NodeId], store: &mut Store<W>) -> Result<(), SimError> {
        let mut wanted: Vec<(NodeId, u32)> = nodes
            .iter()
            .filter(|&&node| store.limbs[node as usize].is_none())
            .filter_map(|&node| match self.values.origin(node) {
                Origin::Input(input) => Some((node, input)),
                _ => None,
            })
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        let get = |&(_, input): &(NodeId, u32)| {
            let declared = self.program.inputs[input as usize];
            fetch(self.inputs, declared, self.ring)
        };
        let limbs: Result<Vec<_>, _> = match &self.pool {
            Some(pool) => pool.install(|| wanted.par_iter().map(get).collect()),
            None => wanted.iter().map(get).collect(),
        };
        for ((node, _), limb) in wanted.iter().zip(limbs?) {
            store.limbs[*node as usize] = Some(limb);
        }
        Ok(())
    }

    /// Computes a node into a buffer, whatever that holds.
    fn value(&self, node: NodeId, store: &Store<W>, result: &mut LimbBuf<W>) {
        match self.values.origin(node) {
            Origin::Zero | Origin::Input(_) => result.copy_from_slice(store.get(node)),
            Origin::Copy(read) => {
                result.copy_from_slice(&self.seen(self.values.seen(read), store));
            }
            Origin::Compute {
                operation,
                first,
                count,
            } => {
                let operands: [Limb<W>; 3] = std::array::from_fn(|k| {
                    if k < usize::from(count) {
                        self.operand(operation, k, first + k as u32, store)
                    } else {
                        Arc::clone(&store.zeros)
                    }
                });
                let slices = operands.each_ref().map(|limb| &***limb);
                kernel::apply(self.ring, operation, result, &slices[..usize::from(count)]);
            }
        }
    }

    /// An operand; reduced where the operation needs it canonical and it may not be.
    fn operand(&self, operation: Operation, k: usize, read: ReadId, store: &Store<W>) -> Limb<W> {
        let seen = self.values.seen(read);
        let limb = self.seen(seen, store);
        let modulus = usize::from(operation.modulus);
        let q = self.ring.modulus(modulus);
        if operation.op.reads_any_prime(k) || self.values.bound(seen) <= q {
            return limb;
        }
        let mut reduced = LimbBuf::zeroed(self.ring.n());
        self.ring.mul_c(modulus, &mut reduced, &limb, 1);
        Arc::new(reduced)
    }

    /// The words that a read sees.
    fn seen(&self, seen: &Seen, store: &Store<W>) -> Limb<W> {
        match seen {
            Seen::Whole(node) => Arc::clone(store.get(self.values.resolve(*node))),
            Seen::Pieces(pieces) => {
                let mut limb = LimbBuf::zeroed(self.ring.n());
                for piece in pieces {
                    let words = piece.from as usize..piece.to as usize;
                    let source = store.get(self.values.resolve(piece.node));
                    limb[words.clone()].copy_from_slice(&source[words]);
                }
                Arc::new(limb)
            }
        }
    }
}

/// Zeros need no computing.
pub(crate) fn is_zero(node: NodeId) -> bool {
    node == ZERO || node == UNWRITTEN
}

/// Tasks by rank.
pub(crate) type Ready = BinaryHeap<Reverse<u32>>;
