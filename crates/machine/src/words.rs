//! The words of machine files, as enumerations.

/// Defines an enumeration whose variants have a word in the file.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// The words, in the order of the variants.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word that the file uses.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The variant with this word.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

words! {
    /// What a machine is built as.
    BuiltAs {
        /// A chip of its own.
        Asic = "asic",
        /// A programmed FPGA.
        Fpga = "fpga",
    }
}

words! {
    /// Who starts instructions.
    Issue {
        /// Streams with fixed cycles.
        Static = "static",
        /// A host computer, one coarse instruction at a time.
        Host = "host",
    }
}

words! {
    /// A homomorphic encryption scheme.
    SchemeName {
        /// Brakerski, Gentry, Vaikuntanathan.
        Bgv = "BGV",
        /// Cheon, Kim, Kim, Song.
        Ckks = "CKKS",
        /// Gentry, Sahai, Waters.
        Gsw = "GSW",
        /// Bos, Lauter, Loftus, Naehrig.
        Yashe = "YASHE",
    }
}

words! {
    /// Order of homomorphic operations.
    Order {
        /// Independent operations that share a key-switch hint are clustered.
        HintClusters = "hint_clusters",
        /// As written.
        Program = "program",
    }
}

words! {
    /// How off-chip movement is scheduled.
    OffchipPolicy {
        /// Greedy by priority; the value whose next use is furthest is evicted.
        GreedyPriorityBelady = "greedy_priority_belady",
        /// Register-pressure-aware code scheduling, for comparison.
        Csr = "csr",
    }
}

words! {
    /// A way to switch keys.
    KeySwitch {
        /// One digit a limb, no special prime.
        Listing1 = "listing1",
        /// One digit, as many special primes.
        Ghs = "ghs",
        /// Several digits of several limbs, special primes.
        Hybrid = "hybrid",
        /// Hybrid, digits shared by many rotations of one ciphertext.
        Hoisted = "hoisted",
    }
}

words! {
    /// How the key-switch variant is chosen.
    KeySwitchPolicy {
        /// The least estimated time.
        MinEstimatedTime = "min_estimated_time",
        /// The fewest bytes of hints.
        MinHintBytes = "min_hint_bytes",
    }
}

words! {
    /// A loop order of linear transforms.
    Dataflow {
        /// Operation by operation.
        Baseline = "baseline",
        /// Limb by limb.
        Limbflow = "limbflow",
    }
}

words! {
    /// A kind of component that has instruction streams.
    StreamOwner {
        /// Functional units.
        Unit = "fu",
        /// Register files.
        RegFile = "regfile",
        /// Output ports of crossbars.
        XbarPort = "xbar_port",
        /// Scratchpad banks.
        ScratchpadBank = "scratchpad_bank",
        /// Off-chip channels.
        OffchipChannel = "offchip_channel",
        /// Links to other machines.
        Link = "link",
    }
}
