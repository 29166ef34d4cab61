//! The ranges that each arithmetic states for its transforms, at their ends.
//!
//! Random residues hardly ever bring a butterfly's operands to the ends of
//! their range. Here they are put there: every pair of values next to a border,
//! times factors at the borders. Results must have the right residues and be in
//! the range that the next butterfly relies on.

use super::full32::Full32;
use super::ifma52::Ifma52;
use super::lanes::{Lanes, Lanes32, Lanes64};
use super::lazy32::Lazy32;
use super::shoup64::Shoup64;
use super::transform::{Inner, Place, Set, Transform, V};
use super::wide32::Wide32;
use crate::arch::avx2::Avx2;
use crate::arch::avx512::Avx512;
use crate::modulus::Modulus;
use crate::prf::{Seed, stream};
use crate::primes::{nearest_prime, ntt_primes};
use crate::word::Word;

/// What an arithmetic states.
#[derive(Clone, Copy)]
struct Ranges {
    modulus: Modulus,
    /// Words that enter are below this.
    words: u128,
    /// Words below this enter as they are.
    accepted: u128,
    /// Values before and after a forward stage are below these. They differ where
    /// values grow: then they are those of the last stage.
    forward: [u128; 2],
    /// The same of an inverse transform.
    inverse: [u128; 2],
    /// Of what values of an inverse pass carry a multiple known for each place, if they do.
    carried: Option<u64>,
    /// Bits of a vector's word that are the value; those above are ignored.
    bits: u32,
}

impl Ranges {
    fn q(&self) -> u64 {
        self.modulus.value()
    }

    fn residue(&self, x: u64) -> u64 {
        (u128::from(x) % u128::from(self.q())) as u64
    }

    fn value(&self, word: u64) -> u64 {
        word & (u64::MAX >> (64 - self.bits))
    }

    /// Values below `end` next to multiples of q, to powers of two and to the
    /// end, and some others.
    fn edges(&self, end: u128) -> Vec<u64> {
        let q = u128::from(self.q());
        let mut random = stream(&Seed::for_test(1), "ranges", &[self.q()]);
        let mut edges: Vec<u64> = (0..9)
            .map(|k| k * q)
            .chain((0..3).map(|k| end.saturating_sub(k * q)))
            .chain([31, 32, 51, 52, 63].map(|bit| 1 << bit))
            .flat_map(|x| [x.saturating_sub(1), x, x + 1])
            .chain((0..4).map(|_| u128::from(random.next_u64()) % end))
            .filter(|&x| x < end)
            .map(|x| x as u64)
            .collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    fn pairs(&self, ends: [u128; 2]) -> Vec<(u64, u64)> {
        let [xs, ys] = ends.map(|end| self.edges(end));
        xs.iter()
            .flat_map(|&x| ys.iter().map(move |&y| (x, y)))
            .collect()
    }

    /// The same pairs, and again with all bits that are ignored.
    fn with_ignored_bits(&self, mut pairs: Vec<Words>) -> Vec<Words> {
        let above = !self.value(u64::MAX);
        pairs.extend_from_within(..);
        let half = pairs.len() / 2;
        for (x, y) in &mut pairs[half..] {
            (*x, *y) = (*x | above, *y | above);
        }
        pairs
    }

    /// The least and the largest, and those whose companion is rounded by least and most.
    fn factors(&self) -> Vec<u64> {
        let q = self.q();
        let rounding = |&w: &u64| ((u128::from(w) << self.bits) % u128::from(q)) as u64;
        let candidates = (q / 2 + 1..q - 2).take(3000);
        let least = candidates.clone().min_by_key(rounding);
        let most = candidates.max_by_key(rounding);
        let mut factors = vec![1, 2, q / 2, q - 2, q - 1];
        factors.extend(least.into_iter().chain(most));
        factors
    }
}

/// Two words, of two vectors.
type Words = (u64, u64);

/// Applies a function of two vectors to pairs of words, and says what it makes of each.
fn each<T: Transform>(
    t: T,
    pairs: &[Words],
    f: impl Fn(V<T>, V<T>) -> (V<T>, V<T>),
) -> Vec<(Words, Words)> {
    let lanes = 1 << Set::<T>::LOG_LANES;
    let mut results = Vec::new();
    for chunk in pairs.chunks(lanes) {
        let load = |word: fn(&Words) -> u64| {
            // A chunk that is too short is repeated.
            let words: Vec<Inner<T>> = chunk
                .iter()
                .cycle()
                .take(lanes)
                .map(|pair| Inner::<T>::from_u64(word(pair)))
                .collect();
            t.isa().load(&Set::<T>::blocks(&words)[0])
        };
        let store = |v: V<T>| {
            let mut words = vec![Inner::<T>::default(); lanes];
            t.isa().store(&mut Set::<T>::blocks_mut(&mut words)[0], v);
            words
        };
        let (x, y) = f(load(|pair| pair.0), load(|pair| pair.1));
        let made = store(x).into_iter().zip(store(y));
        let made = made.map(|(x, y)| (x.to_u64(), y.to_u64()));
        results.extend(chunk.iter().copied().zip(made));
    }
    results
}

fn check<T: Transform>(t: T, ranges: Ranges) {
    entering(t, ranges);
    forward(t, ranges);
    leaving(t, ranges);
    inverse(t, ranges);
}

fn splat<T: Transform>(t: T, word: u64) -> V<T> {
    t.isa().splat(Inner::<T>::from_u64(word))
}

fn factor<T: Transform>(t: T, ranges: Ranges, w: u64) -> T::F {
    t.broadcast(T::form(&ranges.modulus, w))
}

/// Words that need not be reduced, and those that are, leave room for a constant.
fn entering<T: Transform>(t: T, ranges: Ranges) {
    let (all, end) = (ranges.words, ranges.forward[0]);
    for add in [0, 1, ranges.q() - 1] {
        for ((x, y), made) in each(t, &ranges.pairs([ranges.accepted, all]), |x, y| {
            assert!(t.accepts(x), "{} below {}", ranges.q(), ranges.accepted);
            let c = splat(t, add);
            (t.enter_add(x, c), t.enter_add(t.enter(y), c))
        }) {
            for (word, made) in [(x, made.0), (y, made.1)].map(|(x, y)| (x, ranges.value(y))) {
                assert!(u128::from(made) < end, "{word} + {add}");
                let sum = ranges.residue(word) + add;
                assert_eq!(ranges.residue(made), ranges.residue(sum), "{word} + {add}");
            }
        }
    }
    // What is accepted may be added to.
    for x in ranges.edges(all) {
        let accepted = t.accepts(splat(t, x));
        let sum = u128::from(x) + u128::from(ranges.q());
        assert!(!accepted || end == all || sum <= end);
    }
}

fn forward<T: Transform>(t: T, ranges: Ranges) {
    let (m, [before, end]) = (ranges.modulus, ranges.forward);
    let pairs = ranges.with_ignored_bits(ranges.pairs([before; 2]));
    for w in ranges.factors() {
        let by = factor(t, ranges, w);
        for ((x, y), (sum, difference)) in each(t, &pairs, |x, y| t.forward(x, y, by)) {
            let (x, y) = (ranges.value(x), ranges.value(y));
            let (sum, difference) = (ranges.value(sum), ranges.value(difference));
            let of = format!("({x}, {y}) by {w} modulo {}", ranges.q());
            assert!(u128::from(sum.max(difference)) < end, "{of}");
            let (x, product) = (ranges.residue(x), m.mul(y, w));
            assert_eq!(ranges.residue(sum), m.add(x, product), "{of}");
            assert_eq!(ranges.residue(difference), m.sub(x, product), "{of}");
        }
    }
}

fn leaving<T: Transform>(t: T, ranges: Ranges) {
    let (m, q) = (ranges.modulus, u128::from(ranges.q()));
    for c in [0, 1, ranges.q() - 1] {
        let by = factor(t, ranges, c);
        for ((x, minuend), made) in each(t, &ranges.pairs([ranges.forward[1], q]), |x, minuend| {
            (t.leave(x), t.leave_sub_mul(x, minuend, by))
        }) {
            let x = ranges.residue(x);
            let scaled = m.mul(m.sub(minuend, x), c);
            assert_eq!(made, (x, scaled), "{x}, {minuend} by {c} modulo {q}");
        }
    }
}

fn inverse<T: Transform>(t: T, ranges: Ranges) {
    let (m, [before, end]) = (ranges.modulus, ranges.inverse);
    let pairs = ranges.with_ignored_bits(ranges.pairs([before; 2]));
    let canonical = ranges.pairs([ranges.q().into(); 2]);
    // What is added to values of left partners.
    let left = each(t, &[(0, 0)], |x, y| (t.to_left(x), y))[0].1.0;
    for w in ranges.factors() {
        let by = factor(t, ranges, w);
        let places = places(ranges, left)
            .into_iter()
            .map(|(place, right, offset)| {
                let right = splat(t, right);
                let made = each(t, &pairs, |x, y| {
                    t.inverse(t.to_left(x), t.isa().add(y, right), by, place)
                });
                (made, offset)
            });
        let entered = each(t, &canonical, |x, y| t.inverse_canonical(x, y, by));
        for (made, offset) in places.chain([(entered, 0)]) {
            for ((x, y), (sum, product)) in made {
                let [x, y] = [x, y].map(|x| ranges.residue(ranges.value(x)));
                let [sum, product] =
                    [sum, product].map(|word| ranges.value(word.wrapping_sub(offset)));
                let of = format!("({x}, {y}) by {w} modulo {}", ranges.q());
                assert!(u128::from(sum.max(product)) < end, "{of}");
                assert_eq!(ranges.residue(sum), m.add(x, y), "{of}");
                assert_eq!(ranges.residue(product), m.mul(m.sub(y, x), w), "{of}");
            }
        }
        finishing(t, ranges, &pairs, w);
    }
}

/// Places of butterflies, with what right partners carry there and what results carry;
/// `left` is what is added to left partners.
fn places(ranges: Ranges, left: u64) -> Vec<(Place, u64, u64)> {
    let place = |stage, group, first| Place {
        stage,
        group,
        first,
    };
    let Some(unit) = ranges.carried else {
        return vec![(place(1, 0, true), 0, left), (Place::ALONE, 0, 0)];
    };
    let mut places = Vec::new();
    for stage in 0..4 {
        for group in 0..1 << stage {
            let carried = carried_by(stage, group);
            let times = |multiple: i64| unit.wrapping_mul(multiple as u64);
            for (first, right) in [(true, 0), (false, carried + 1)] {
                places.push((place(stage, group, first), times(right), times(carried)));
            }
        }
    }
    places
}

/// How often results carry the unit, by recursion: -1 as left partners, else one
/// more than the results that they become.
fn carried_by(stage: u32, group: u32) -> i64 {
    match (stage, group % 2) {
        (0, _) => 0,
        (_, 0) => -1,
        _ => 1 + carried_by(stage - 1, group / 2),
    }
}

fn finishing<T: Transform>(t: T, ranges: Ranges, pairs: &[Words], w: u64) {
    let (m, by, add) = (ranges.modulus, factor(t, ranges, w), ranges.q() - 1);
    let made = each(t, pairs, |x, y| {
        let y = t.isa().add(y, splat(t, ranges.carried.unwrap_or(0)));
        let (x, y) = t.finish(t.to_left(x), y, [by, by]);
        (x, t.finish_add(y, splat(t, add)))
    });
    for ((x, y), made) in made {
        let [x, y] = [x, y].map(|x| ranges.residue(ranges.value(x)));
        let (sum, difference) = (m.mul(m.add(x, y), w), m.mul(m.sub(y, x), w));
        let of = format!("({x}, {y}) by {w} modulo {}", ranges.q());
        assert_eq!(made, (sum, m.add(difference, add)), "{of}");
    }
}

/// The primes at the ends of a class, for the least degree that vectors serve.
fn moduli(below: u64, above: u64) -> impl Iterator<Item = Modulus> {
    let step = 1 << 8;
    let largest = ntt_primes(below, step, 2);
    let least = nearest_prime(above as f64, step, below, &[]).filter(|&q| q > above);
    let next = nearest_prime(2.0 * above as f64, step, below, &[]).filter(|&q| q > above);
    let found = largest.into_iter().chain(least).chain(next);
    found.map(Modulus::new)
}

/// The highest power of two up to a multiple of q: what is below it is seen by its bits.
fn below_bits_of(multiple: u128) -> u128 {
    1 << multiple.ilog2()
}

fn words_of_32_bits<L: Lanes32>(isa: L) {
    for modulus in moduli(Lazy32::<L>::BELOW, 1 << 8) {
        let q = u128::from(modulus.value());
        let ranges = Ranges {
            modulus,
            words: 1 << 32,
            accepted: below_bits_of(3 * q),
            forward: [4 * q; 2],
            inverse: [2 * q; 2],
            carried: None,
            bits: 32,
        };
        check(Lazy32::new(isa, &modulus), ranges);
    }
    for (below, above) in [(1 << 31, 1 << 30), (1 << 32, 1 << 31), (1 << 30, 1 << 8)] {
        for modulus in moduli(below, above) {
            let ranges = Ranges {
                modulus,
                words: 1 << 32,
                accepted: 1 << 32,
                forward: [1 << 32; 2],
                inverse: [u128::from(modulus.value()); 2],
                carried: None,
                bits: 32,
            };
            check(Full32::new(isa, &modulus), ranges);
        }
    }
}

fn words_of_64_bits<L: Lanes64>(isa: L) {
    for (below, above) in [(1 << 61, 1 << 60), (1 << 60, 1 << 50), (1 << 13, 1 << 8)] {
        for modulus in moduli(below, above) {
            let q = u128::from(modulus.value());
            let ranges = Ranges {
                modulus,
                words: 1 << 64,
                accepted: below_bits_of(7 * q),
                forward: [8 * q; 2],
                inverse: [4 * q; 2],
                carried: None,
                bits: 64,
            };
            check(Shoup64::new(isa, &modulus), ranges);
        }
    }
}

#[test]
fn values_stay_in_their_ranges_on_avx2() {
    if let Some(isa) = Avx2::new() {
        words_of_32_bits(isa);
        words_of_64_bits(isa);
    }
}

#[test]
fn values_stay_in_their_ranges_on_avx512() {
    if let Some(isa) = Avx512::<false>::new() {
        words_of_32_bits(isa);
        words_of_64_bits(isa);
    }
}

#[test]
fn values_stay_in_their_ranges_with_52_bit_products() {
    let Some(isa) = Avx512::<true>::new() else {
        return;
    };
    for (below, above) in [
        (Ifma52::<Avx512<true>>::BELOW, 1 << 49),
        (1 << 30, Ifma52::<Avx512<true>>::ABOVE),
    ] {
        for modulus in moduli(below, above) {
            let ranges = Ranges {
                modulus,
                words: 1 << 64,
                accepted: 1 << 51,
                forward: [1 << 52; 2],
                inverse: [2 * u128::from(modulus.value()); 2],
                carried: None,
                bits: 52,
            };
            check(Ifma52::new(isa, &modulus), ranges);
        }
    }
}

/// Stages of the largest degree.
const STAGES: u128 = 17;

#[test]
fn values_of_32_bits_do_not_outgrow_lanes_of_52() {
    let Some(isa) = Avx512::<true>::new() else {
        return;
    };
    for (below, above) in [(1 << 32, 1 << 31), (1 << 30, 1 << 8)] {
        for modulus in moduli(below, above) {
            let q = u128::from(modulus.value());
            let grown = (1 << 32) + q + 2 * q * STAGES;
            let ranges = Ranges {
                modulus,
                words: 1 << 32,
                accepted: 1 << 32,
                forward: [grown - 2 * q, grown],
                inverse: [q << (STAGES - 1), q << STAGES],
                carried: Some(modulus.value() << STAGES),
                bits: 52,
            };
            check(Wide32::new(isa, &modulus), ranges);
        }
    }
}
