//! The order of homomorphic operations: clusters that share a hint.
//!
//! List scheduling over ready operations. Operations without a hint run as
//! soon as they are ready, in the order of the program, because they mostly
//! consume. When none is ready, the hint with most ready operations is taken
//! (the longest remaining chain decides ties) and all of them run. Only
//! operations within a window of the program's order take part; the window
//! shrinks until the values alive and one hint fit the fast memory, or no
//! smaller window helps.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cyclotron_program::PlacedGraph;

use crate::variant::{KeyId, key_of};

/// Dataflow facts that every window shares.
struct Flow<'a> {
    placed: &'a PlacedGraph,
    users: Vec<Vec<u32>>,
    /// Key switches on the longest path to an output.
    depth: Vec<u32>,
}

/// An order of all placed nodes whose live limbs stay below `fast_limbs` if a
/// window achieves that. `hint_limbs` gives the size of the hint of a node.
pub(crate) fn order(
    placed: &PlacedGraph,
    fast_limbs: u64,
    hint_limbs: impl Fn(u32) -> u64,
) -> Vec<u32> {
    let flow = Flow::new(placed);
    let mut window = placed.nodes.len().max(1);
    let mut best: Option<(u64, Vec<u32>)> = None;
    loop {
        let candidate = flow.list(window);
        let peak = flow.peak(&candidate, &hint_limbs);
        if best.as_ref().is_none_or(|(least, _)| peak < *least) {
            best = Some((peak, candidate));
        }
        let (least, _) = best.as_ref().expect("there is a candidate");
        if *least <= fast_limbs || window < 8 {
            return best.expect("there is a candidate").1;
        }
        window /= 2;
    }
}

impl<'a> Flow<'a> {
    fn new(placed: &'a PlacedGraph) -> Self {
        let count = placed.nodes.len();
        let mut users = vec![Vec::new(); count];
        for (index, node) in placed.nodes.iter().enumerate() {
            let (args, arity) = node.op.args();
            for (position, &arg) in args[..arity].iter().enumerate() {
                if position == 0 || args[0] != arg {
                    users[arg as usize].push(index as u32);
                }
            }
        }
        let mut depth = vec![0; count];
        for index in (0..count).rev() {
            let below = users[index]
                .iter()
                .map(|&u| depth[u as usize])
                .max()
                .unwrap_or(0);
            depth[index] = below + u32::from(placed.nodes[index].op.switches_key());
        }
        Self {
            placed,
            users,
            depth,
        }
    }

    /// List scheduling within a window of program order.
    fn list(&self, window: usize) -> Vec<u32> {
        let count = self.placed.nodes.len();
        let mut missing: Vec<u32> = vec![0; count];
        for users in &self.users {
            users.iter().for_each(|&user| missing[user as usize] += 1);
        }
        let mut done = vec![false; count];
        let mut ready = Ready::default();
        let mut entered = 0;
        let mut first_open = 0;
        let mut order = Vec::with_capacity(count);
        while order.len() < count {
            while first_open < count && done[first_open] {
                first_open += 1;
            }
            while entered < count && entered < first_open + window {
                if missing[entered] == 0 {
                    ready.insert(self, entered as u32);
                }
                entered += 1;
            }
            for node in ready.take(self) {
                done[node as usize] = true;
                order.push(node);
                for &user in &self.users[node as usize] {
                    missing[user as usize] -= 1;
                    if missing[user as usize] == 0 && (user as usize) < entered {
                        ready.insert(self, user);
                    }
                }
            }
        }
        order
    }

    /// The most limbs alive at any time, with the current hint.
    fn peak(&self, order: &[u32], hint_limbs: &impl Fn(u32) -> u64) -> u64 {
        let size = |node: u32| {
            let node = &self.placed.nodes[node as usize];
            u64::from(node.parts) * node.level as u64
        };
        let mut left: Vec<usize> = self.users.iter().map(Vec::len).collect();
        let (mut live, mut peak) = (0u64, 0u64);
        for &node in order {
            live += size(node);
            let hint = if self.placed.nodes[node as usize].op.switches_key() {
                hint_limbs(node)
            } else {
                0
            };
            peak = peak.max(live + hint);
            let (args, arity) = self.placed.nodes[node as usize].op.args();
            for (position, &arg) in args[..arity].iter().enumerate() {
                if position > 0 && args[0] == arg {
                    continue;
                }
                left[arg as usize] -= 1;
                if left[arg as usize] == 0 {
                    live -= size(arg);
                }
            }
            if left[node as usize] == 0 {
                live -= size(node);
            }
        }
        peak
    }
}

/// Ready operations: without a hint in program order, the others by key.
#[derive(Default)]
struct Ready {
    free: BTreeSet<u32>,
    by_key: BTreeMap<KeyId, BTreeSet<u32>>,
}

impl Ready {
    fn insert(&mut self, flow: &Flow<'_>, node: u32) {
        match key_of(flow.placed.nodes[node as usize].op) {
            None => self.free.insert(node),
            Some(key) => self.by_key.entry(key).or_default().insert(node),
        };
    }

    /// The next operation without a hint, or the next cluster.
    fn take(&mut self, flow: &Flow<'_>) -> Vec<u32> {
        if let Some(node) = self.free.pop_first() {
            return vec![node];
        }
        let rank = |nodes: &BTreeSet<u32>| {
            let deepest = nodes.iter().map(|&n| flow.depth[n as usize]).max();
            (nodes.len(), deepest, Reverse(nodes.first().copied()))
        };
        let key = self
            .by_key
            .iter()
            .max_by_key(|(_, nodes)| rank(nodes))
            .map(|(&key, _)| key);
        let cluster = key
            .and_then(|key| self.by_key.remove(&key))
            .unwrap_or_default();
        cluster.into_iter().collect()
    }
}
