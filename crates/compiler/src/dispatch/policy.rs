//! What dispatch prefers, and the policies that are tried.

/// Weights and limits of the dispatcher. A *beat* is what one vector takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Policy {
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
    /// Only cones that read the same computed values are joined; else also those that
    /// share the values that most cones read.
    pub alike: bool,
    /// An operand is made no sooner than the instruction of its cone that reads it can start.
    pub in_step: bool,
    /// Cones are issued depth first, what takes longest first; else in the plan's order.
    pub deep: bool,
    /// Transfers arrive periodically: a period is so many 1/128 longer than one takes. 0: at any
    /// time.
    pub period: u64,
    /// By how much priorities are shaken, as a power of two; 0: not at all.
    pub jitter: u32,
    /// What they are shaken with.
    pub salt: u64,
}

impl Policy {
    /// The policy of a trial: a few that do well on many programs, then by turns one that
    /// differs a little from the best so far, and one that is drawn.
    pub fn of_trial(trial: u64, seed: u64, best: Option<&Self>) -> Self {
        let first = Self {
            lookahead: 12,
            transfer: 2,
            by_way: false,
            loads_by_way: false,
            reserve: 1,
            work: 8,
            gang: 2,
            alike: true,
            in_step: false,
            deep: true,
            period: 4,
            jitter: 0,
            salt: 0,
        };
        let by_way = Self {
            lookahead: 20,
            by_way: true,
            loads_by_way: true,
            work: 1,
            gang: 1,
            deep: false,
            period: 0,
            ..first
        };
        let mut random = Random::new(trial, seed);
        match (trial, best) {
            (0, _) => first,
            (1, _) => by_way,
            (2, _) => Self {
                lookahead: 25,
                transfer: 3,
                reserve: 3,
                work: 4,
                alike: false,
                ..first
            },
            (3, _) => Self {
                transfer: 1,
                work: 8,
                gang: 3,
                deep: false,
                in_step: true,
                ..by_way
            },
            (_, Some(best)) if !trial.is_multiple_of(3) => best.neighbour(&mut random),
            _ => Self::draw(&mut random),
        }
    }

    fn draw(random: &mut Random) -> Self {
        Self {
            lookahead: 4 + random.below(28),
            transfer: random.below(8),
            by_way: random.flip(),
            loads_by_way: random.flip(),
            reserve: 1 + random.below(3),
            work: 1 << random.below(5),
            gang: 1 + random.below(3) as usize,
            alike: random.flip(),
            in_step: random.flip(),
            deep: random.flip(),
            period: if random.flip() {
                0
            } else {
                2 + random.below(6)
            },
            jitter: 0,
            salt: 0,
        }
    }

    /// A policy that differs in one or two respects.
    fn neighbour(&self, random: &mut Random) -> Self {
        let mut policy = *self;
        for _ in 0..=random.below(2) {
            match random.below(17) {
                0..=2 => policy.lookahead = (policy.lookahead + random.below(9)).max(8) - 4,
                3 => policy.transfer = (policy.transfer + random.below(5)).saturating_sub(2),
                4 => policy.work = (policy.work << random.below(3)).clamp(2, 64) >> 1,
                5 => policy.gang = 1 + random.below(3) as usize,
                6 => policy.reserve = 1 + random.below(3),
                7 => policy.loads_by_way ^= true,
                8 => policy.in_step ^= true,
                9 => policy.deep ^= true,
                10 => policy.alike ^= true,
                11 => policy.period = random.below(9),
                _ => {
                    policy.jitter = 1 + random.below(9) as u32;
                    policy.salt = random.next();
                }
            }
        }
        policy
    }

    /// What is added to the priority of a cone.
    pub fn shake(&self, cone: u32) -> u64 {
        let mut random = Random::new(u64::from(cone), self.salt);
        if self.jitter == 0 {
            0
        } else {
            random.below(1 << self.jitter)
        }
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn new(stream: u64, seed: u64) -> Self {
        // Not the step of one stream, or each would be the one before less a draw.
        Self(seed.wrapping_add(stream.wrapping_mul(0xd1b5_4a32_d192_ed03)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut state = self.0;
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^ (state >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 1
    }
}
