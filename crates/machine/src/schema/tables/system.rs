//! Links, instruction streams and systems of several machines.

use super::super::Kind::{Choices, Float, Int, Text};
use super::super::Need::{DefaultInt, Optional, Required};
use super::super::TableSpec;
use super::{MAX_LATENCY, SOURCE, field, name};
use crate::words::StreamOwner;

pub(super) static LINK: TableSpec = TableSpec {
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

pub(super) static STREAMS: TableSpec = TableSpec {
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

pub(super) static SYSTEM: TableSpec = TableSpec {
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
