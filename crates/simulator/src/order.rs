//! The order of computing: by cycle, after what each entry depends on.

use std::cmp::Reverse;

use crate::evaluate::Ready;
use crate::graph::NodeId;
use crate::values::Values;

/// Tasks that the outputs need, handed out in batches of independent ones.
///
/// A task is ready when everything it is computed from is. If none is ready,
/// tasks depend on each other in a circle (only schedules that read words while
/// they are overwritten have that); then the earliest goes first.
pub(crate) struct Order {
    /// Tasks by cycle; a task's position is its rank.
    by_rank: Vec<NodeId>,
    /// Rank of every node, `NONE` for those that are no task.
    rank: Vec<u32>,
    /// By rank: sources that are not computed yet.
    waiting: Vec<u32>,
    /// By rank: handed out already.
    started: Vec<bool>,
    /// By rank: where the ranks of its users start in `users`.
    first_user: Vec<u32>,
    users: Vec<u32>,
    ready: Ready,
    /// All tasks of lower rank have been started.
    frontier: u32,
    circular: Vec<NodeId>,
}

const NONE: u32 = u32::MAX;

impl Order {
    pub(crate) fn new(values: &Values<'_>, outputs: &[NodeId]) -> Self {
        let mut rank = vec![NONE; values.len()];
        let mut by_rank = Vec::new();
        let mut open = outputs.to_vec();
        while let Some(node) = open.pop() {
            if values.is_task(node) && rank[node as usize] == NONE {
                rank[node as usize] = 0;
                by_rank.push(node);
                values.sources(node, |source| open.push(source));
            }
        }
        by_rank.sort_unstable_by_key(|&node| (values.start(node), node));
        for (position, &node) in (0..).zip(&by_rank) {
            rank[node as usize] = position;
        }
        let mut order = Self {
            waiting: vec![0; by_rank.len()],
            started: vec![false; by_rank.len()],
            first_user: vec![0; by_rank.len() + 1],
            users: Vec::new(),
            ready: Ready::new(),
            frontier: 0,
            circular: Vec::new(),
            by_rank,
            rank,
        };
        order.connect(values);
        order
    }

    fn connect(&mut self, values: &Values<'_>) {
        for &node in &self.by_rank {
            values.sources(node, |source| {
                if let Some(&rank) = self.rank.get(source as usize).filter(|&&r| r != NONE) {
                    self.first_user[rank as usize + 1] += 1;
                }
            });
        }
        for i in 1..self.first_user.len() {
            self.first_user[i] += self.first_user[i - 1];
        }
        let mut next = self.first_user.clone();
        self.users = vec![0; *next.last().unwrap_or(&0) as usize];
        for (user, &node) in (0..).zip(&self.by_rank) {
            values.sources(node, |source| {
                let rank = self.rank[source as usize];
                if rank != NONE {
                    self.users[next[rank as usize] as usize] = user;
                    next[rank as usize] += 1;
                    self.waiting[user as usize] += 1;
                }
            });
        }
        let ready = (0..)
            .zip(&self.waiting)
            .filter(|(_, waiting)| **waiting == 0);
        self.ready = ready.map(|(rank, _)| Reverse(rank)).collect();
    }

    /// All tasks, by cycle.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.by_rank.iter().copied()
    }

    /// Up to `limit` tasks that do not depend on each other; none only if all are done.
    pub(crate) fn next_batch(&mut self, limit: usize) -> Vec<NodeId> {
        let mut batch = Vec::new();
        while batch.len() < limit {
            let Some(Reverse(rank)) = self.ready.pop() else {
                break;
            };
            if !std::mem::replace(&mut self.started[rank as usize], true) {
                batch.push(self.by_rank[rank as usize]);
            }
        }
        if batch.is_empty() {
            batch.extend(self.break_circle());
        }
        batch
    }

    /// The earliest task that has not started, although its sources are not there.
    fn break_circle(&mut self) -> Option<NodeId> {
        while *self.started.get(self.frontier as usize)? {
            self.frontier += 1;
        }
        self.started[self.frontier as usize] = true;
        let node = self.by_rank[self.frontier as usize];
        self.circular.push(node);
        Some(node)
    }

    /// Tells that a task is computed.
    pub(crate) fn finished(&mut self, node: NodeId) {
        let rank = self.rank[node as usize] as usize;
        let users = self.first_user[rank] as usize..self.first_user[rank + 1] as usize;
        for &user in &self.users[users] {
            let waiting = &mut self.waiting[user as usize];
            *waiting -= 1;
            if *waiting == 0 && !self.started[user as usize] {
                self.ready.push(Reverse(user));
            }
        }
    }

    /// Tasks that went before what they depend on.
    pub(crate) fn circular(&self) -> &[NodeId] {
        &self.circular
    }
}
