//! Before what cycle the loads that an instruction depends on cannot all be there.
//!
//! Of the `a` inputs that an instruction depends on, directly or not, each is loaded at
//! least once before. The channels are `c` and carry one load at a time, for `span`
//! cycles or more, so in any order the load that starts last starts at
//! `(ceil(a / c) - 1) * span` or later. From the start of any of these loads to that of
//! the instruction it takes the shortest way from an input to the instruction, at least:
//! whichever comes last, the instruction starts no sooner than the sum of the two.

use cyclotron_isa::FlatProgram;
use cyclotron_machine::OpTiming;

use super::fabric::{Fabric, Way};
use crate::uses::distinct_sources;

/// Words of the sets of inputs, all together; programs that need more get no releases.
const MOST_WORDS: usize = 1 << 22;

/// The release of every instruction, or of none where nothing is known. `delay` is what an
/// instruction takes to the first chunk of its result.
pub(super) fn releases(
    flat: &FlatProgram,
    timing: &[OpTiming],
    (fabric, channels): (&Fabric, u64),
    delay: impl Fn(OpTiming) -> u64,
) -> Vec<u64> {
    let inputs = flat.inputs.len();
    let words = inputs.div_ceil(64);
    if words.saturating_mul(flat.len()) > MOST_WORDS || channels == 0 {
        return Vec::new();
    }
    let mut needed = vec![0u64; words * flat.len()];
    let mut written: Vec<Way> = Vec::with_capacity(flat.len());
    let release = |inst: usize| {
        let timing = timing[flat.op[inst] as usize];
        let span = u64::from(timing.occupancy);
        let (before, rest) = needed.split_at_mut(words * inst);
        let own = &mut rest[..words];
        let mut shortest = u64::MAX;
        let (sources, n) = distinct_sources(flat, inst);
        for &source in &sources[..n] {
            let way = match flat.definition(source) {
                Some(from) => {
                    let theirs = &before[words * from..][..words];
                    own.iter_mut()
                        .zip(theirs)
                        .for_each(|(own, set)| *own |= set);
                    written[from]
                }
                None => {
                    own[source as usize / 64] |= 1 << (source % 64);
                    fabric.load
                }
            };
            shortest = shortest.min(way.start(span));
        }
        let first = shortest.saturating_add(delay(timing));
        written.push(Way {
            first,
            last: first.saturating_add(span),
        });
        let loads: u64 = own.iter().map(|set| u64::from(set.count_ones())).sum();
        let rounds = loads.div_ceil(channels);
        match rounds {
            0 => 0,
            _ => (rounds - 1) * fabric.channel_span + shortest,
        }
    };
    (0..flat.len()).map(release).collect()
}
