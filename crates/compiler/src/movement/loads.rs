//! Which value to load next: the one that is read first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Values that wait off-chip, by their next use. Inputs that were never loaded
/// wait in a sorted list, evicted values in a heap.
#[derive(Debug, Default)]
pub(crate) struct LoadQueue {
    /// Inputs in descending order of first use.
    inputs: Vec<(u32, u32)>,
    evicted: BinaryHeap<Reverse<(u32, u32)>>,
}

impl LoadQueue {
    /// Queues the inputs, given as (first use, value).
    pub fn new(mut inputs: Vec<(u32, u32)>) -> Self {
        inputs.sort_unstable_by_key(|&entry| Reverse(entry));
        Self {
            inputs,
            evicted: BinaryHeap::new(),
        }
    }

    /// Queues an evicted value.
    pub fn push(&mut self, next_use: u32, value: u32) {
        self.evicted.push(Reverse((next_use, value)));
    }

    /// The (next use, value) to load next.
    pub fn peek(&self) -> Option<(u32, u32)> {
        let evicted = self.evicted.peek().map(|&Reverse(entry)| entry);
        match (self.inputs.last().copied(), evicted) {
            (Some(input), Some(evicted)) => Some(input.min(evicted)),
            (input, evicted) => input.or(evicted),
        }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.evicted.is_empty()
    }

    /// Removes what [`Self::peek`] returned.
    pub fn pop(&mut self) {
        let next = self.peek();
        if next.is_some() && self.inputs.last().copied() == next {
            self.inputs.pop();
        } else {
            self.evicted.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_in_order_of_next_use() {
        let mut queue = LoadQueue::new(vec![(4, 0), (1, 1), (9, 2)]);
        queue.push(3, 7);
        queue.push(12, 8);
        let mut order = Vec::new();
        while let Some((_, value)) = queue.peek() {
            order.push(value);
            queue.pop();
        }
        assert_eq!(order, [1, 7, 0, 2, 8]);
    }
}
