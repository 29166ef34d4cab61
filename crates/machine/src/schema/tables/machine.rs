//! The machine as a whole.

use super::super::Kind::{
    Bool, Choice, Choices, Congruence, Float, Int, Overlays, Params, PowerOfTwo, Table, Vars,
};
use super::super::Need::{DefaultBool, Optional, Required};
use super::super::TableSpec;
use super::{SOURCE, field, name};
use crate::words::{
    BuiltAs, Dataflow, Issue, KeySwitch, KeySwitchPolicy, OffchipPolicy, Order, SchemeName,
};

/// The machine as a whole.
pub(crate) static MACHINE: TableSpec = TableSpec {
    header: "[machine]",
    about: "The machine as a whole.",
    fields: &[
        name("The machine's name. An overlay appends `+` and its own."),
        SOURCE,
        field(
            "kind",
            Choice(BuiltAs::WORDS),
            Required,
            "",
            "What it is built as.",
        ),
        field(
            "clock_mhz",
            Float {
                min: 0.0,
                max: 1e5,
                above: true,
            },
            Required,
            "MHz",
            "The clock of every cycle count in the file.",
        ),
        field(
            "word_bits",
            Int { min: 2, max: 64 },
            Required,
            "bits",
            "The words that the units compute on.",
        ),
        field(
            "store_bytes",
            Float {
                min: 0.25,
                max: 16.0,
                above: false,
            },
            Required,
            "bytes",
            "One stored word, padding included: at least `word_bits / 8`. A vector of N words takes N times that, rounded up.",
        ),
        field(
            "lanes",
            PowerOfTwo {
                min: 1,
                max: 1 << 16,
            },
            Required,
            "words per cycle",
            "`E` of the formulas: words that a fully pipelined unit takes each cycle.",
        ),
        field(
            "n_min",
            PowerOfTwo {
                min: 2,
                max: 1 << 20,
            },
            Required,
            "words",
            "The shortest vector.",
        ),
        field(
            "n_max",
            PowerOfTwo {
                min: 2,
                max: 1 << 20,
            },
            Required,
            "words",
            "The longest vector; at least `n_min`. Longer polynomials are several such vectors.",
        ),
        field(
            "issue",
            Choice(Issue::WORDS),
            Required,
            "",
            "Who starts instructions: streams with fixed cycles, or a host computer.",
        ),
        field(
            "schemes",
            Choices(SchemeName::WORDS),
            Required,
            "",
            "Schemes that it supports.",
        ),
        field(
            "moduli",
            Table(&MODULI),
            Required,
            "",
            "Primes that its units can compute with.",
        ),
        field(
            "compiler",
            Table(&COMPILER),
            Optional,
            "",
            "What the compiler may do.",
        ),
        field(
            "params",
            Params,
            Optional,
            "",
            "Parameters that the machine was published with. Nothing is computed from them.",
        ),
        field(
            "vars",
            Vars,
            Optional,
            "",
            "Numbers that formulas may use by name.",
        ),
        field("overlay", Overlays, Optional, "", "Variants, by name."),
    ],
};

static MODULI: TableSpec = TableSpec {
    header: "[machine.moduli]",
    about: "Primes that the units can compute with.",
    fields: &[
        field(
            "bits_max",
            Int { min: 2, max: 64 },
            Required,
            "bits",
            "Length of the longest prime; at most `word_bits`.",
        ),
        field(
            "congruence",
            Congruence,
            Required,
            "",
            "`[1, m]`, m a power of two: every prime is 1 modulo m.",
        ),
        field(
            "count",
            Int {
                min: 1,
                max: 65_535,
            },
            Optional,
            "primes",
            "How many different primes its tables hold; absent: any number.",
        ),
    ],
};

static COMPILER: TableSpec = TableSpec {
    header: "[machine.compiler]",
    about: "What the compiler may do for this machine.",
    fields: &[
        field(
            "order",
            Choice(Order::WORDS),
            Optional,
            "",
            "Order of homomorphic operations: clustered by key-switch hint, or as written.",
        ),
        field(
            "offchip",
            Choice(OffchipPolicy::WORDS),
            Optional,
            "",
            "How off-chip movement is scheduled.",
        ),
        field(
            "keyswitch",
            Choices(KeySwitch::WORDS),
            Optional,
            "",
            "Key-switch variants that it may choose from; absent: any.",
        ),
        field(
            "keyswitch_policy",
            Choice(KeySwitchPolicy::WORDS),
            Optional,
            "",
            "How it chooses.",
        ),
        field(
            "keyswitch_split_kskip",
            Bool,
            DefaultBool(false),
            "",
            "The inner product starts on the limbs that base conversion leaves unchanged.",
        ),
        field(
            "bconv_reuse_premul",
            Bool,
            DefaultBool(false),
            "",
            "The first products of base conversion are computed once and shared.",
        ),
        field(
            "dataflow",
            Choices(Dataflow::WORDS),
            Optional,
            "",
            "Loop orders that it may choose from.",
        ),
    ],
};
