//! The order of pieces: what reads a value comes soon after what writes it, while
//! the value is in the cache.
//!
//! - Forward transforms modulo the same prime, whose tables are as large as
//!   limbs, follow each other if little else has to come first.
//! - A base conversion comes just before its first reader, and so do strips
//!   that only forward transforms read. Strips bring along the next ones if
//!   these read the same and are ready.
//! - An automorphism or inverse transform of one value follows what writes it.

use super::uses::Uses;
use super::{Piece, Work};

/// Puts pieces in an order in which each comes after what it needs.
pub(super) fn order(uses: &Uses, pieces: Vec<Piece>) -> Vec<Piece> {
    let waits = waiting(uses, &pieces);
    let definer = definers(uses.definer.len(), &pieces);
    let mut ordering = Ordering {
        pieces: pieces.into_iter().map(Some).collect(),
        definer,
        ordered: Vec::new(),
    };
    for (at, waits) in waits.into_iter().enumerate() {
        match ordering.pieces[at].as_ref().map(|piece| &piece.work) {
            Some(&Work::Forward { modulus, .. }) => {
                ordering.place(at);
                ordering.place_alike(at, modulus);
            }
            Some(_) if !waits => ordering.place(at),
            _ => {}
        }
    }
    for at in 0..ordering.pieces.len() {
        ordering.place(at);
    }
    ordering.ordered
}

/// For every value, the piece that defines it.
fn definers(values: usize, pieces: &[Piece]) -> Vec<Option<usize>> {
    let mut definer = vec![None; values];
    for (at, piece) in pieces.iter().enumerate() {
        for &value in &piece.results {
            definer[value as usize] = Some(at);
        }
    }
    definer
}

/// Which pieces wait for their first reader: conversions, and strips that only
/// forward transforms read.
fn waiting(uses: &Uses, pieces: &[Piece]) -> Vec<bool> {
    let mut only_forward = vec![true; uses.definer.len()];
    for piece in pieces {
        if !matches!(piece.work, Work::Forward { .. }) {
            for &value in &piece.sources {
                only_forward[value as usize] = false;
            }
        }
    }
    let for_transform = |value: u32| {
        let at = value as usize;
        only_forward[at] && uses.readers[at].0 > 0 && !uses.returned[at]
    };
    let waits = |piece: &Piece| match piece.work {
        Work::Convert { .. } => true,
        Work::Strips { .. } => piece.results.iter().all(|&value| for_transform(value)),
        _ => false,
    };
    pieces.iter().map(waits).collect()
}

struct Ordering {
    /// Pieces that have no place yet.
    pieces: Vec<Option<Piece>>,
    /// For every value, the piece that defines it.
    definer: Vec<Option<usize>>,
    ordered: Vec<Piece>,
}

/// Pieces that may come before a transform that is moved forward, at most: those
/// of a division by some special primes.
const MOVED_ALONG: usize = 32;

impl Ordering {
    /// Appends a piece, and before it what it needs.
    fn place(&mut self, at: usize) {
        let Some(piece) = self.pieces[at].take() else {
            return;
        };
        for &value in &piece.sources {
            if let Some(before) = self.definer[value as usize] {
                self.place(before);
            }
        }
        let strips = matches!(piece.work, Work::Strips { .. });
        self.ordered.push(piece);
        if strips && self.goes_along(at + 1) {
            self.place(at + 1);
        }
    }

    /// Whether a piece is of strips, reads something that the last piece reads, and
    /// has all it needs.
    fn goes_along(&self, at: usize) -> bool {
        let (Some(Some(piece)), Some(last)) = (self.pieces.get(at), self.ordered.last()) else {
            return false;
        };
        let placed =
            |&value: &u32| self.definer[value as usize].is_none_or(|at| self.pieces[at].is_none());
        matches!(piece.work, Work::Strips { .. })
            && piece
                .sources
                .iter()
                .any(|value| last.sources.contains(value))
            && piece.sources.iter().all(placed)
    }

    /// Appends later transforms modulo the same prime.
    fn place_alike(&mut self, after: usize, modulus: usize) {
        for at in after + 1..self.pieces.len() {
            let alike = self.pieces[at].as_ref().is_some_and(
                |piece| matches!(piece.work, Work::Forward { modulus: m, .. } if m == modulus),
            );
            if alike {
                let mut left = MOVED_ALONG;
                if !self.needs_little(at, &mut left) {
                    return;
                }
                self.place(at);
            }
        }
    }

    /// Whether a piece needs only conversions, inverse transforms and strips that
    /// have no place yet, and not more than `left`.
    fn needs_little(&self, at: usize, left: &mut usize) -> bool {
        let sources = self.pieces[at].iter().flat_map(|piece| &piece.sources);
        let mut before = sources.filter_map(|&value| self.definer[value as usize]);
        before.all(|at| match self.pieces[at].as_ref().map(|p| &p.work) {
            None => true,
            Some(Work::Convert { .. } | Work::Inverse { .. } | Work::Strips { .. })
                if *left > 0 =>
            {
                *left -= 1;
                self.needs_little(at, left)
            }
            Some(_) => false,
        })
    }
}

/// Moves automorphisms and inverse transforms of one computed value to where it
/// is written.
pub(super) fn follow(values: usize, pieces: Vec<Piece>) -> Vec<Piece> {
    let definer = definers(values, &pieces);
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); pieces.len()];
    let mut leaders = Vec::with_capacity(pieces.len());
    for (at, piece) in pieces.iter().enumerate() {
        let computed = piece.sources.iter().filter_map(|&v| definer[v as usize]);
        let computed: Vec<usize> = computed.collect();
        match (&piece.work, &computed[..]) {
            (Work::Permute { .. } | Work::Inverse { .. }, &[only]) => followers[only].push(at),
            _ => leaders.push(at),
        }
    }
    let mut pieces: Vec<Option<Piece>> = pieces.into_iter().map(Some).collect();
    let mut moved = Vec::with_capacity(pieces.len());
    let mut next: Vec<usize> = leaders.into_iter().rev().collect();
    while let Some(at) = next.pop() {
        moved.extend(pieces[at].take());
        next.extend(followers[at].iter().rev());
    }
    moved
}
