//! Every kernel on every path against its definition, on millions of cases.
//!
//! A *case* is one tuple of words that an element-wise kernel takes at one
//! index, or one vector that is transformed and compared in full. It counts
//! once, on however many paths it is run. Fixed cases come first: all degrees,
//! the primes next to every border between classes of kernels. Random degrees,
//! primes and words follow until `CYCLOTRON_LAW_CASES` cases are reached.

mod transforms;
mod tuples;

use std::io::Write;
use std::ops::RangeInclusive;
use std::time::Instant;

use cyclotron_ring::prf::{Prf, Seed, stream};
use cyclotron_ring::sampler::uniform;
use cyclotron_ring::{LimbBuf, Ring, Simd, Word, primes};

use super::rings;
pub use transforms::least_root;

/// Cases that are compared at least, whatever the environment says.
const CASES_MIN: u64 = 1_000_000;

/// Cases that are compared unless the environment says another number.
const CASES: u64 = 20_000_000;

/// The environment variable with the number of cases.
const ENV: &str = "CYCLOTRON_LAW_CASES";

/// What has been compared.
#[derive(Debug, Default, Clone, Copy)]
pub struct Tally {
    pub tuples: u64,
    pub transforms: u64,
}

impl Tally {
    fn cases(self) -> u64 {
        self.tuples + self.transforms
    }

    fn add(&mut self, other: Tally) {
        self.tuples += other.tuples;
        self.transforms += other.transforms;
    }
}

/// Rings of one degree and some primes on every path under test, with a source
/// of words and a count of what has been compared.
pub struct Subject<W: Word> {
    pub rings: Vec<Ring<W>>,
    /// The scalar path.
    pub definition: Ring<W>,
    /// The number of the prime under test.
    pub m: usize,
    pub random: Prf,
    pub tally: Tally,
}

impl<W: Word> Subject<W> {
    fn new(log_n: u32, primes: &[u64], seed: u64) -> Self {
        Self {
            rings: rings(log_n, primes),
            definition: Ring::new(log_n, primes, Simd::Scalar).expect("valid primes"),
            m: 0,
            random: stream(&Seed::for_test(seed), "cases", &[u64::from(log_n)]),
            tally: Tally::default(),
        }
    }

    pub fn n(&self) -> usize {
        self.definition.n()
    }

    /// The prime under test.
    pub fn q(&self) -> u64 {
        self.definition.modulus(self.m)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    /// Canonical words, with those at the ends of the range.
    pub fn residues(&mut self) -> LimbBuf<W> {
        let q = self.q();
        self.words(q, &[0, 1, 2 % q, q / 2, q / 2 + 1, q - 2, q - 1])
    }

    /// Any words, with those at the ends of lazy ranges and of multipliers' operands.
    pub fn any_words(&mut self) -> LimbBuf<W> {
        let (q, top) = (self.q(), u64::MAX >> (64 - W::BITS));
        let multiples = [1, 2, 3, 4, 8].map(|k| q.saturating_mul(k));
        let powers = [1 << 31, 1 << 32, 1 << 50, 1 << 51, 1 << 52, 1 << 63];
        let edges: Vec<u64> = [0, 1, top - 1, top]
            .into_iter()
            .chain(multiples.into_iter().flat_map(|x| [x - 1, x, x + 1]))
            .chain(powers.into_iter().flat_map(|x| [x - 1, x]))
            .filter(|&x| x <= top)
            .collect();
        self.words(top, &edges)
    }

    /// Any integer as a constant operand.
    pub fn constant(&mut self) -> u64 {
        let q = self.q();
        let edges = [0, 1, q - 1, q, q + 1, (1 << 52) - 1, u64::MAX];
        match edges.get(self.below(2 * edges.len())) {
            Some(&edge) => edge,
            None => self.random.below(u64::MAX),
        }
    }

    /// Uniform words below `bound`, some of `edges`, or both.
    fn words(&mut self, bound: u64, edges: &[u64]) -> LimbBuf<W> {
        let mut words = LimbBuf::zeroed(self.n());
        // Of the words one in `rarity` is uniform, or one in `rarity` an edge.
        let style = self.below(6);
        if style == 0 {
            words.fill(W::from_u64(edges[self.below(edges.len())]));
            return words;
        }
        uniform(&mut self.random, bound, &mut words);
        for word in words.iter_mut() {
            let is_edge = match style {
                1 => true,
                2 | 3 => self.random.below(16) > 0,
                4 => self.random.below(4) == 0,
                _ => false,
            };
            if is_edge {
                *word = W::from_u64(edges[self.random.below(edges.len() as u64) as usize]);
            }
        }
        words
    }

    /// Compares the results of a kernel on all paths with those expected; `kernel` is given
    /// a ring, the prime's number and a destination with something in it.
    pub fn check(
        &mut self,
        name: &str,
        kernel: impl Fn(&Ring<W>, usize, &mut [W]),
        expected: impl Fn(usize) -> u64,
    ) {
        let expected: LimbBuf<W> = (0..self.n()).map(|i| W::from_u64(expected(i))).collect();
        for ring in &self.rings {
            let mut dst = LimbBuf::zeroed(ring.n());
            dst.fill(W::from_u64(u64::MAX));
            kernel(ring, self.m, &mut dst);
            self.same(name, ring, &dst, &expected);
        }
        self.tally.tuples += self.n() as u64;
    }

    /// Fails, and says where, if the words differ.
    pub fn same(&self, name: &str, ring: &Ring<W>, dst: &[W], expected: &[W]) {
        if let Some(i) = (0..dst.len()).find(|&i| dst[i] != expected[i]) {
            let (is, should) = (dst[i], expected[i]);
            let (kernels, q) = (ring.kernels(self.m), self.q());
            panic!("{name} modulo {q}, index {i}: {is}, not {should}; {kernels} of {ring:?}");
        }
    }
}

/// The least prime = 1 mod `step` above a bound.
fn least_prime_above(bound: u64, step: u64) -> Option<u64> {
    (bound / step..)
        .map(|k| k * step + 1)
        .find(|&p| p > bound && primes::is_prime(p))
}

/// The primes next to every border between classes of kernels, and the least of all.
fn edge_primes<W: Word>(log_n: u32) -> Vec<u64> {
    let step = 2u64 << log_n;
    let borders: &[u32] = match W::BITS {
        32 => &[20, 28, 29, 30, 31, 32],
        _ => &[13, 32, 49, 50, 51, 52, 60, 61],
    };
    let below = borders
        .iter()
        .flat_map(|&bits| primes::ntt_primes(1 << bits, step, 1));
    let above = borders
        .iter()
        .filter_map(|&bits| least_prime_above(1 << bits, step));
    let mut found: Vec<u64> = below
        .chain(above)
        .chain(least_prime_above(1, step))
        .filter(|&q| q >> W::MODULUS_BITS == 0)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// All degrees of the range and all edges, each with a few vectors.
fn fixed_cases<W: Word>(degrees: RangeInclusive<u32>, tally: &mut Tally) {
    for log_n in degrees {
        let primes = edge_primes::<W>(log_n);
        let mut subject = Subject::<W>::new(log_n, &primes, u64::from(log_n));
        for m in 0..primes.len() {
            subject.m = m;
            transforms::agree(&mut subject);
            transforms::fused_agree(&mut subject);
            transforms::monomials_are_powers_of_the_root(&mut subject);
            // These do not depend on the degree.
            if log_n <= 11 {
                tuples::agree(&mut subject);
            }
        }
        tally.add(subject.tally);
    }
}

/// One random degree and random primes.
fn random_cases<W: Word>(round: u64, tally: &mut Tally) {
    let mut choose = stream(&Seed::for_test(round), "round", &[u64::from(W::BITS)]);
    // Vectors are used from 2^6 to 2^10 on.
    let log_n = 5 + choose.below(8) as u32;
    let (edges, step) = (edge_primes::<W>(log_n), 2u64 << log_n);
    let mut primes: Vec<u64> = (0..3)
        .filter_map(|_| match choose.below(2) {
            0 => Some(edges[choose.below(edges.len() as u64) as usize]),
            _ => {
                let bits = 15 + choose.below(u64::from(W::MODULUS_BITS) - 14);
                let below = (1 << (bits - 1)) + choose.below(1 << (bits - 1));
                primes::ntt_primes(below, step, 1).first().copied()
            }
        })
        .collect();
    primes.sort_unstable();
    primes.dedup();
    if primes.is_empty() {
        return;
    }
    let mut subject = Subject::<W>::new(log_n, &primes, round);
    for m in 0..primes.len() {
        subject.m = m;
        transforms::agree(&mut subject);
        transforms::fused_agree(&mut subject);
        tuples::agree(&mut subject);
    }
    tally.add(subject.tally);
}

#[test]
fn every_path_agrees_with_the_definition_on_a_million_cases() {
    let wanted = match std::env::var(ENV) {
        Ok(number) => number.parse().expect("CYCLOTRON_LAW_CASES is a number"),
        Err(_) => CASES,
    };
    let (start, mut tally) = (Instant::now(), Tally::default());
    fixed_cases::<u32>(4..=17, &mut tally);
    fixed_cases::<u64>(4..=17, &mut tally);
    let mut round = 0;
    while tally.cases() < wanted {
        random_cases::<u32>(round, &mut tally);
        random_cases::<u64>(round, &mut tally);
        round += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    // Past the harness, which keeps the output of tests that pass to itself.
    let report = format!(
        "laws: {} tuples and {} transforms on {:?} in {seconds:.1} s\n",
        tally.tuples,
        tally.transforms,
        super::paths()
    );
    std::io::stderr()
        .write_all(report.as_bytes())
        .expect("standard error is open");
    assert!(tally.cases() >= CASES_MIN, "too few cases: {tally:?}");
}
