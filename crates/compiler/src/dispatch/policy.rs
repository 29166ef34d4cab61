//! What dispatch prefers, and the policies that are tried.

/// Weights and limits of the dispatcher. A *beat* is what one vector takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Policy {
    /// Beats by which the clock advances.
    pub quantum: u64,
    /// An instruction is issued at most so many beats before it starts.
    pub lookahead: u64,
    /// Cost of a transfer, in 1/8 beats.
    pub transfer: u64,
    /// The longest way to the end first, instead of the order of the plan.
    pub by_way: bool,
    /// The same for loads.
    pub loads_by_way: bool,
    /// Eighths of the scratchpad that loads leave to results.
    pub reserve: u64,
    /// Most operations of a cone on each unit of a kind.
    pub work: u32,
    /// Most cones that read the same values and are joined.
    pub gang: usize,
}

impl Policy {
    /// The policy of a trial; those after the first few are drawn with `seed`.
    pub fn of_trial(trial: u64, seed: u64) -> Self {
        let first = Self {
            quantum: 1,
            lookahead: 12,
            transfer: 2,
            by_way: false,
            loads_by_way: false,
            reserve: 1,
            work: 8,
            gang: 2,
        };
        let by_way = Self {
            by_way: true,
            loads_by_way: true,
            work: 4,
            ..first
        };
        match trial {
            0 => first,
            1 => by_way,
            2 => Self { work: 2, ..by_way },
            3 => Self {
                lookahead: 24,
                transfer: 4,
                ..first
            },
            _ => Self::draw(trial, seed),
        }
    }

    fn draw(trial: u64, seed: u64) -> Self {
        // SplitMix64.
        let mut state = seed.wrapping_add(trial.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^= state >> 31;
        let mut next = |below: u64| {
            let digit = state % below;
            state /= below;
            digit
        };
        Self {
            quantum: 1,
            lookahead: 6 + next(24),
            transfer: 1 + next(5),
            by_way: next(2) == 1,
            loads_by_way: next(2) == 1,
            reserve: 1,
            work: 1 << next(4),
            gang: 1 + next(3) as usize,
        }
    }
}
