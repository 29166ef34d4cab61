//! Clusters, functional units and register files.

use super::super::Kind::{Bool, Count, Int, Named, Names, OpFormulas, Ops, Table};
use super::super::Need::{DefaultBool, Optional, Required};
use super::super::TableSpec;
use super::{CLOCK_MULT, SOURCE, area, field, latency, name, ports, tdp};

pub(super) static CLUSTER: TableSpec = TableSpec {
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
            Names { all: false },
            Optional,
            "",
            "Units of the cluster that cannot work while this one does.",
        ),
        field(
            "overlaps_with",
            Names { all: false },
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
        field(
            "element_partitioned",
            Bool,
            DefaultBool(false),
            "",
            "Chunk k of every vector is in bank k modulo `banks`, and a bank serves `clock_mult` accesses a cycle, so that the starts of accesses must be staggered. Without it, banks never conflict.",
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
