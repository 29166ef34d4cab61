//! The tables of a machine file, version 1.

use super::Kind::{
    Bandwidth, Bool, Choice, Choices, Congruence, Count, Float, Int, Name, Named, Names,
    OpFormulas, Ops, Overlays, Params, PowerOfTwo, Table, Text, Vars,
};
use super::Need::{DefaultBool, DefaultInt, Optional, Required};
use super::{FieldSpec, Kind, Need, TableSpec};
use crate::description::{
    BuiltAs, Dataflow, Issue, KeySwitch, KeySwitchPolicy, OffchipPolicy, Order, SchemeName,
    StreamOwner,
};

const MAX_LATENCY: i64 = 1_000_000;
const MAX_WIDTH: i64 = 1 << 20;

const fn field(
    key: &'static str,
    kind: Kind,
    need: Need,
    unit: &'static str,
    about: &'static str,
) -> FieldSpec {
    FieldSpec {
        key,
        kind,
        need,
        unit,
        about,
    }
}

const fn name(about: &'static str) -> FieldSpec {
    field("name", Name, Required, "", about)
}

const SOURCE: FieldSpec = field(
    "source",
    Text,
    Optional,
    "",
    "Where the table's numbers come from. Not part of the machine's hash.",
);

const fn latency(about: &'static str) -> FieldSpec {
    let kind = Int {
        min: 0,
        max: MAX_LATENCY,
    };
    field("latency", kind, Required, "cycles", about)
}

const fn width(about: &'static str) -> FieldSpec {
    let kind = Int {
        min: 1,
        max: MAX_WIDTH,
    };
    field("bytes_per_cycle", kind, Required, "bytes per cycle", about)
}

const fn ports(key: &'static str, about: &'static str) -> FieldSpec {
    field(key, Int { min: 1, max: 64 }, Required, "ports", about)
}

const CLOCK_MULT: FieldSpec = field(
    "clock_mult",
    Int { min: 1, max: 8 },
    DefaultInt(1),
    "",
    "Clock of the memory over the machine's clock. Ports are counted per cycle of the machine's clock, so this changes no timing.",
);

const fn area(about: &'static str) -> FieldSpec {
    let kind = Float {
        min: 0.0,
        max: 1e5,
        above: false,
    };
    field("area_mm2", kind, Optional, "mm2", about)
}

const fn tdp(about: &'static str) -> FieldSpec {
    let kind = Float {
        min: 0.0,
        max: 1e5,
        above: false,
    };
    field("tdp_w", kind, Optional, "W", about)
}

/// The whole file.
pub(crate) static ROOT: TableSpec = TableSpec {
    header: "",
    about: "The file itself.",
    fields: &[
        field(
            "schema",
            Int { min: 1, max: 1 },
            Required,
            "",
            "Version of this schema.",
        ),
        field(
            "machine",
            Table(&MACHINE),
            Required,
            "",
            "The machine as a whole.",
        ),
        field(
            "cluster",
            Named {
                spec: &CLUSTER,
                min: 1,
                max: 1,
            },
            Required,
            "",
            "The compute clusters: one kind, any number of it.",
        ),
        field(
            "scratchpad",
            Named {
                spec: &SCRATCHPAD,
                min: 1,
                max: 64,
            },
            Required,
            "",
            "Groups of equal scratchpad banks.",
        ),
        field(
            "xbar",
            Named {
                spec: &XBAR,
                min: 0,
                max: 64,
            },
            Optional,
            "",
            "Crossbars between banks and clusters.",
        ),
        field(
            "offchip",
            Named {
                spec: &OFFCHIP,
                min: 1,
                max: 16,
            },
            Required,
            "",
            "Off-chip memories.",
        ),
        field(
            "link",
            Named {
                spec: &LINK,
                min: 0,
                max: 16,
            },
            Optional,
            "",
            "Links to other machines.",
        ),
        field(
            "streams",
            Table(&STREAMS),
            Optional,
            "",
            "The instruction streams.",
        ),
        field(
            "system",
            Table(&SYSTEM),
            Optional,
            "",
            "Several machines that work together.",
        ),
    ],
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
            "The longest vector; at least `n_min`.",
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

static CLUSTER: TableSpec = TableSpec {
    header: "[[cluster]]",
    about: "The compute clusters, all alike.",
    fields: &[
        name("Name, which crossbars refer to."),
        SOURCE,
        field(
            "count",
            Int { min: 1, max: 4096 },
            Required,
            "clusters",
            "How many there are.",
        ),
        field(
            "fu",
            Named {
                spec: &UNIT,
                min: 1,
                max: 64,
            },
            Required,
            "",
            "Kinds of functional unit.",
        ),
        field(
            "regfile",
            Table(&REGFILE),
            Required,
            "",
            "The register file of each cluster.",
        ),
    ],
};

static UNIT: TableSpec = TableSpec {
    header: "[[cluster.fu]]",
    about: "A kind of functional unit in every cluster. A unit does one thing at a time.",
    fields: &[
        name("Name of the kind."),
        SOURCE,
        field(
            "count",
            Count,
            Required,
            "units",
            "How many a cluster has: an integer or a formula.",
        ),
        field(
            "ops",
            OpFormulas { min: 1 },
            Required,
            "cycles",
            "Operations, each with its occupancy: for how long it keeps the unit busy.",
        ),
        field(
            "latency",
            OpFormulas { min: 0 },
            Required,
            "cycles",
            "For the same operations: from the first words in to the first words out. For a multipass operation from the end of the occupancy to the result.",
        ),
        field(
            "multipass",
            Ops,
            Optional,
            "",
            "Operations whose result exists only when all passes are done, so that nothing can be chained to them.",
        ),
        field(
            "reads",
            Int { min: 1, max: 16 },
            Required,
            "vectors",
            "Operands that it reads at a time.",
        ),
        field(
            "writes",
            Int { min: 1, max: 16 },
            Required,
            "vectors",
            "Results that it writes at a time.",
        ),
        field(
            "exclusive_with",
            Names,
            Optional,
            "",
            "Units of the cluster that cannot work while this one does.",
        ),
        field(
            "overlaps_with",
            Names,
            Optional,
            "",
            "Units that work at the same time. All units do unless they exclude each other: this records that the source says so.",
        ),
        field(
            "mod_multipliers",
            Int {
                min: 0,
                max: 1 << 24,
            },
            Optional,
            "multipliers",
            "Modular multipliers in one unit.",
        ),
        field(
            "dsp",
            Int {
                min: 0,
                max: 1 << 24,
            },
            Optional,
            "DSP blocks",
            "DSP blocks in one unit.",
        ),
        area("Area of one unit."),
        tdp("Thermal design power of one unit."),
    ],
};

static REGFILE: TableSpec = TableSpec {
    header: "[cluster.regfile]",
    about: "The register file of each cluster.",
    fields: &[
        SOURCE,
        field(
            "kib",
            Int {
                min: 1,
                max: 1 << 24,
            },
            Required,
            "KiB",
            "Capacity.",
        ),
        field(
            "banks",
            Int { min: 1, max: 1024 },
            Required,
            "banks",
            "Banks that a vector is striped over.",
        ),
        CLOCK_MULT,
        ports("read_ports", "Ports that units read, per cycle."),
        ports("write_ports", "Ports that units write, per cycle."),
        ports("net_read_ports", "Ports that crossbars read, per cycle."),
        ports("net_write_ports", "Ports that crossbars write, per cycle."),
        latency("From a read to the data, and from a unit's output to a readable vector."),
        area("Area of one register file."),
        tdp("Thermal design power of one register file."),
    ],
};

static SCRATCHPAD: TableSpec = TableSpec {
    header: "[[scratchpad]]",
    about: "A group of equal scratchpad banks.",
    fields: &[
        name("Name, which crossbars and off-chip memories refer to."),
        SOURCE,
        field(
            "banks",
            Int { min: 1, max: 4096 },
            Required,
            "banks",
            "Banks in the group.",
        ),
        field(
            "kib_per_bank",
            Int {
                min: 1,
                max: 1 << 24,
            },
            Required,
            "KiB",
            "Capacity of one bank.",
        ),
        width("Width of a port. A transfer takes as long as its narrower end needs."),
        ports("read_ports", "Read ports of a bank, per cycle."),
        ports("write_ports", "Write ports of a bank, per cycle."),
        field(
            "single_port",
            Bool,
            DefaultBool(false),
            "",
            "Reads and writes share one port; `read_ports` and `write_ports` are then 1.",
        ),
        CLOCK_MULT,
        latency("From a read to the data."),
        area("Area of one bank."),
        tdp("Thermal design power of one bank."),
    ],
};

static XBAR: TableSpec = TableSpec {
    header: "[[xbar]]",
    about: "A crossbar: one input port for each bank or cluster of `from`, one output port for each of `to`. An output port passes one vector at a time; several may take the same input.",
    fields: &[
        name("Name."),
        SOURCE,
        field(
            "from",
            Names,
            Required,
            "",
            "Scratchpad groups, `\"*\"` for all of them, or the cluster.",
        ),
        field(
            "to",
            Names,
            Required,
            "",
            "The same. One of `from` and `to` is the cluster; both may be.",
        ),
        width("Width of a port."),
        latency("From input to output port."),
        area("Area of the crossbar."),
        tdp("Thermal design power of the crossbar."),
    ],
};

static OFFCHIP: TableSpec = TableSpec {
    header: "[[offchip]]",
    about: "An off-chip memory of equal, independent channels.",
    fields: &[
        name("Name."),
        SOURCE,
        field(
            "channels",
            Int { min: 1, max: 1024 },
            Required,
            "channels",
            "Channels.",
        ),
        field(
            "gbps",
            Bandwidth { max: 1e6 },
            Required,
            "GB/s",
            "Bandwidth of one channel, in 10^9 bytes per second, or `\"unlimited\"`.",
        ),
        field(
            "latency_cycles",
            Int {
                min: 0,
                max: MAX_LATENCY,
            },
            Required,
            "cycles",
            "From the start of a load to its first words.",
        ),
        field(
            "efficiency",
            Float {
                min: 0.0,
                max: 1.0,
                above: true,
            },
            Required,
            "",
            "Share of the bandwidth that whole-vector transfers reach.",
        ),
        field(
            "attach",
            Names,
            Required,
            "",
            "Scratchpad groups that it loads into and stores from, or `\"*\"`.",
        ),
        field(
            "burst_bytes",
            Int {
                min: 1,
                max: 1 << 30,
            },
            Optional,
            "bytes",
            "Longest burst.",
        ),
        field(
            "outstanding",
            Int {
                min: 1,
                max: 65_535,
            },
            Optional,
            "bursts",
            "Bursts that a channel may have under way; absent: any number.",
        ),
        field(
            "capacity_gib",
            Float {
                min: 0.0,
                max: 1e6,
                above: true,
            },
            Optional,
            "GiB",
            "Capacity of all channels; absent: any.",
        ),
        field(
            "energy_pj_per_bit",
            Float {
                min: 0.0,
                max: 1e4,
                above: false,
            },
            Optional,
            "pJ/bit",
            "Energy of a transferred bit.",
        ),
        area("Area of one channel's interface."),
        tdp("Thermal design power of one channel's interface."),
    ],
};

static LINK: TableSpec = TableSpec {
    header: "[[link]]",
    about: "A link to other machines.",
    fields: &[
        name("Name."),
        SOURCE,
        field(
            "gbit_per_s",
            Float {
                min: 0.0,
                max: 1e6,
                above: true,
            },
            Required,
            "Gbit/s",
            "Bandwidth, in 10^9 bits per second.",
        ),
        field(
            "user_bits",
            Int {
                min: 1,
                max: 1 << 16,
            },
            Optional,
            "bits",
            "Width on the machine's side.",
        ),
        field(
            "user_mhz",
            Float {
                min: 0.0,
                max: 1e5,
                above: true,
            },
            Optional,
            "MHz",
            "Clock on the machine's side.",
        ),
        field(
            "latency_us",
            Float {
                min: 0.0,
                max: 1e9,
                above: false,
            },
            Required,
            "us",
            "From the first bit sent to the first bit received.",
        ),
    ],
};

static STREAMS: TableSpec = TableSpec {
    header: "[streams]",
    about: "The instruction streams.",
    fields: &[
        SOURCE,
        field(
            "components",
            Choices(StreamOwner::WORDS),
            Required,
            "",
            "Components that have a stream of their own.",
        ),
        field(
            "instr_bytes",
            Int { min: 0, max: 4096 },
            Required,
            "bytes",
            "One stream entry in off-chip memory; 0: streams are not fetched from there.",
        ),
        field(
            "issue_overhead_cycles",
            Int {
                min: 0,
                max: MAX_LATENCY,
            },
            DefaultInt(0),
            "cycles",
            "What starting one instruction costs when a host issues it.",
        ),
    ],
};

static SYSTEM: TableSpec = TableSpec {
    header: "[system]",
    about: "Several machines that work together.",
    fields: &[
        SOURCE,
        field(
            "boards",
            Int {
                min: 1,
                max: 65_535,
            },
            Required,
            "machines",
            "How many.",
        ),
        field("topology", Text, Optional, "", "How they are connected."),
        field(
            "parallel",
            Text,
            Optional,
            "",
            "What is distributed over them.",
        ),
    ],
};
