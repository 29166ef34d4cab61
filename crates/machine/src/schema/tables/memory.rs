//! Scratchpads, crossbars and off-chip memories.

use super::super::Kind::{Bandwidth, Bool, Float, Int, Names};
use super::super::Need::{DefaultBool, Optional, Required};
use super::super::TableSpec;
use super::{CLOCK_MULT, MAX_LATENCY, SOURCE, area, field, latency, name, ports, tdp, width};

pub(super) static SCRATCHPAD: TableSpec = TableSpec {
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

pub(super) static XBAR: TableSpec = TableSpec {
    header: "[[xbar]]",
    about: "A crossbar: one input port for each bank or cluster of `from`, one output port for each of `to`. An output port passes one vector at a time; several may take the same input.",
    fields: &[
        name("Name."),
        SOURCE,
        field(
            "from",
            Names { all: true },
            Required,
            "",
            "Scratchpad groups, `\"*\"` for all of them, or the cluster.",
        ),
        field(
            "to",
            Names { all: true },
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

pub(super) static OFFCHIP: TableSpec = TableSpec {
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
            Names { all: true },
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
