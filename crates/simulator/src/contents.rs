//! Which words each read of a slot sees.

use crate::graph::{Graph, NodeId, Piece, Read, Seen, UNWRITTEN, Write, ZERO};

/// More writes than these in one mixture are given up as zeros: only schedules
/// made to be slow have them.
const MAX_MIXTURE: usize = 64;

/// All writes, by slot and in the order of their starts.
#[derive(Debug)]
pub(crate) struct Contents<'a> {
    writes: &'a [Write],
    /// Of every slot, where its writes begin in `writes`; one more at the end.
    first: Vec<u32>,
    /// For every write, the latest end of it and the earlier ones of its slot.
    latest_end: Vec<u64>,
    words: u32,
}

impl<'a> Contents<'a> {
    /// Sorts the graph's writes.
    pub(crate) fn new(graph: &'a mut Graph, words: usize) -> (Self, &'a [Read]) {
        graph.writes.sort_by_key(|w| (w.location, w.start, w.end()));
        let writes = &graph.writes;
        let mut first = vec![0u32; graph.locations as usize + 1];
        for write in writes {
            first[write.location as usize + 1] += 1;
        }
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        let mut latest_end: Vec<u64> = Vec::with_capacity(writes.len());
        for (i, write) in writes.iter().enumerate() {
            let earlier = match i.checked_sub(1) {
                Some(k) if writes[k].location == write.location => latest_end[k],
                _ => 0,
            };
            latest_end.push(earlier.max(write.end()));
        }
        let contents = Self {
            writes,
            first,
            latest_end,
            words: words as u32,
        };
        (contents, &graph.reads)
    }

    /// What a read sees.
    pub(crate) fn seen(&self, read: &Read) -> Seen {
        let base = self.first[read.location as usize] as usize;
        let end = self.first[read.location as usize + 1] as usize;
        let writes = &self.writes[base..end];
        let read_end = read.start + u64::from(read.span);
        let begun = writes.partition_point(|w| w.start <= read.start);
        // Writes that begin during the read and overtake it.
        let during = writes[begun..]
            .iter()
            .take_while(|w| w.start <= read_end)
            .filter(|w| w.end() <= read_end);
        if during.clone().next().is_none() {
            match begun.checked_sub(1) {
                None => return Seen::Whole(UNWRITTEN),
                Some(k) if self.supersedes(base + k) && writes[k].end() <= read_end => {
                    return Seen::Whole(writes[k].node);
                }
                Some(_) => {}
            }
        }
        let mut candidates: Vec<&Write> = Vec::new();
        for k in (0..begun).rev() {
            candidates.push(&writes[k]);
            if self.supersedes(base + k) && writes[k].end() <= read_end {
                break;
            }
            if candidates.len() > MAX_MIXTURE {
                return Seen::Whole(ZERO);
            }
        }
        candidates.reverse();
        candidates.extend(during.take(MAX_MIXTURE + 1));
        if candidates.len() > MAX_MIXTURE {
            return Seen::Whole(ZERO);
        }
        self.mixture(read, &candidates)
    }

    /// The value of a slot after all writes.
    pub(crate) fn last(&self, location: u32) -> Option<NodeId> {
        let base = self.first[location as usize] as usize;
        let end = self.first[location as usize + 1] as usize;
        self.writes[base..end].last().map(|write| write.node)
    }

    /// Whether a write comes after every earlier one of its slot in every word.
    fn supersedes(&self, index: usize) -> bool {
        let write = &self.writes[index];
        match index.checked_sub(1).map(|k| &self.writes[k]) {
            Some(before) if before.location == write.location => {
                before.start < write.start && self.latest_end[index - 1] < write.end()
            }
            _ => true,
        }
    }

    /// For each word the last of the candidates that is there when it is read.
    /// Of two that write a word at the same time the later in the list stays.
    fn mixture(&self, read: &Read, candidates: &[&Write]) -> Seen {
        let words = i128::from(self.words);
        // The time of word i, in cycles times N.
        let time =
            |start: u64, span: u32, i: i128| i128::from(start) * words + i128::from(span) * i;
        let mut pieces: Vec<Piece> = Vec::new();
        for i in 0..self.words {
            let word = i128::from(i);
            let now = time(read.start, read.span, word);
            let latest = candidates
                .iter()
                .map(|w| (time(w.start, w.span, word), w.node))
                .filter(|(written, _)| *written <= now)
                .max_by_key(|(written, _)| *written);
            let node = latest.map_or(UNWRITTEN, |(_, node)| node);
            match pieces.last_mut() {
                Some(piece) if piece.node == node => piece.to = i + 1,
                _ => pieces.push(Piece {
                    from: i,
                    to: i + 1,
                    node,
                }),
            }
        }
        match pieces[..] {
            [piece] => Seen::Whole(piece.node),
            _ => Seen::Pieces(pieces.into_boxed_slice()),
        }
    }
}

#[cfg(test)]
mod tests {
    use cyclotron_isa::testing::TestRng;

    use super::*;

    const WORDS: u32 = 8;

    /// The definition: word by word, the last write that is there.
    fn expected(writes: &[Write], read: &Read) -> Vec<NodeId> {
        let time = |start: u64, span: u32, i: u32| {
            start * u64::from(WORDS) + u64::from(span) * u64::from(i)
        };
        let word = |i: u32| {
            let now = time(read.start, read.span, i);
            let there = writes.iter().filter(|w| w.location == read.location);
            let there = there.map(|w| (time(w.start, w.span, i), w.start, w.end(), w.node));
            let latest = there.filter(|(written, ..)| *written <= now).max();
            latest.map_or(UNWRITTEN, |(.., node)| node)
        };
        (0..WORDS).map(word).collect()
    }

    fn words(seen: &Seen) -> Vec<NodeId> {
        match seen {
            Seen::Whole(node) => vec![*node; WORDS as usize],
            Seen::Pieces(pieces) => {
                let words = |p: &Piece| vec![p.node; (p.to - p.from) as usize];
                pieces.iter().flat_map(words).collect()
            }
        }
    }

    #[test]
    fn reads_see_words_as_defined() {
        let mut rng = TestRng::new(2);
        let (mut whole, mut mixed) = (0, 0);
        for _ in 0..2000 {
            let mut graph = Graph::new(2);
            for node in 0..rng.below(12) {
                let write = Write {
                    location: rng.below(2) as u32,
                    start: rng.below(60),
                    span: rng.below(24) as u32,
                    node: 2 + node as u32,
                };
                // Which of two equal writes stays is not defined.
                let same = |w: &Write| {
                    (w.location, w.start, w.span) == (write.location, write.start, write.span)
                };
                if !graph.writes.iter().any(same) {
                    graph.writes.push(write);
                }
            }
            for _ in 0..6 {
                graph.reads.push(Read {
                    location: rng.below(2) as u32,
                    start: rng.below(80),
                    span: rng.below(24) as u32,
                    stream: 0,
                    entry: 0,
                });
            }
            let (contents, reads) = Contents::new(&mut graph, WORDS as usize);
            for read in reads {
                let seen = contents.seen(read);
                assert_eq!(words(&seen), expected(contents.writes, read), "{read:?}");
                match seen {
                    Seen::Whole(_) => whole += 1,
                    Seen::Pieces(_) => mixed += 1,
                }
            }
        }
        assert!(whole > 1000 && mixed > 1000, "{whole} {mixed}");
    }
}
