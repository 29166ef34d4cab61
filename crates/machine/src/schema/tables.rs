//! The tables of a machine file, version 1.

mod cluster;
mod machine;
mod memory;
mod system;

pub(crate) use machine::MACHINE;

use super::Kind::{Float, Int, Name, Named, Table, Text};
use super::Need::{DefaultInt, Optional, Required};
use super::{FieldSpec, Kind, Need, TableSpec};
use cluster::CLUSTER;
use memory::{OFFCHIP, SCRATCHPAD, XBAR};
use system::{LINK, STREAMS, SYSTEM};

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
