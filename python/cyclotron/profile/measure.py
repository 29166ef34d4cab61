"""Counts of a schedule, as rows for tables and plots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cyclotron import _native

__all__ = [
    "GROUPS",
    "Profile",
    "computing_share",
    "group_of",
    "profile",
    "unit_use",
]

#: Rows of a table: one dictionary each, all with the same keys.
Rows = list[dict[str, Any]]

#: Buckets of the use over time.
BUCKETS = 240

#: Groups of components in a power breakdown, in the order of plots.
GROUPS = (
    "functional units",
    "register files",
    "scratchpad",
    "network",
    "off-chip interface",
    "off-chip memory",
)

#: Classes of off-chip traffic, in the order of plots: key in a report, name, class.
TRAFFIC = (
    ("hints_compulsory", "hints, compulsory", "hints"),
    ("hints_other", "hints, again", "hints"),
    ("inputs_compulsory", "inputs, compulsory", "inputs and outputs"),
    ("inputs_other", "inputs, again", "inputs and outputs"),
    ("outputs", "outputs", "inputs and outputs"),
    ("intermediate_loads", "intermediates, loads", "intermediates"),
    ("intermediate_stores", "intermediates, stores", "intermediates"),
)

#: The kinds of an activity are the units, and then this one and the other memories.
FIRST_MEMORY = "register file"


@dataclass(frozen=True)
class Profile:
    """What a schedule does.

    Attributes
    ----------
    title
        What was scheduled, and for which machine.
    facts
        The schedule's report (docs/cli.md).
    traffic
        Off-chip bytes by class.
    power
        Counts, picojoules, joules and mean watts by component and event.
    use
        Busy share by kind of component over time, a row for each bucket.
    units
        Kinds of functional unit; the other kinds of `use` are memories and links.
    """

    title: str
    facts: dict[str, Any]
    traffic: Rows
    power: Rows
    use: Rows
    units: tuple[str, ...]

    @property
    def kinds(self) -> list[str]:
        """The kinds of component, units first."""
        return list(dict.fromkeys(row["kind"] for row in self.use))


def profile(schedule: _native.Schedule, title: str, buckets: int = BUCKETS) -> Profile:
    """Count what a schedule does.

    Parameters
    ----------
    schedule
        The schedule.
    title
        What it is of.
    buckets
        Points in time of the use over time.
    """
    facts = schedule.report()
    activity = schedule.activity(buckets)
    return Profile(
        title=title,
        facts=facts,
        traffic=_traffic(facts["traffic_bytes"]),
        power=_power(schedule.energy(), facts["milliseconds"]),
        use=_use(activity),
        units=tuple(_units(activity)),
    )


def _traffic(traffic: dict[str, int]) -> Rows:
    total = max(traffic["total"], 1)
    return [
        {"class": family, "kind": name, "bytes": traffic[key], "share": traffic[key] / total}
        for key, name, family in TRAFFIC
    ]


def _power(energy: Rows, milliseconds: float) -> Rows:
    rows = []
    for line in energy:
        joules = line["joules"] or 0.0
        rows.append(
            {
                "group": group_of(line["component"]),
                "component": line["component"],
                "event": line["event"],
                "count": line["count"],
                "picojoules_each": line["picojoules_each"],
                "joules": joules,
                "watts": joules / milliseconds * 1e3,
            }
        )
    return rows


def _use(activity: dict[str, Any]) -> Rows:
    width, end = activity["bucket_cycles"], activity["cycles"]
    rows = []
    for kind in activity["kinds"]:
        for bucket, busy in enumerate(kind["buckets"]):
            start = bucket * width
            # The last bucket ends with the schedule.
            length = min(width, end - start)
            if length > 0:
                rows.append(
                    {
                        "kind": kind["kind"],
                        "instances": kind["instances"],
                        "cycle": start,
                        "cycles": length,
                        "busy": busy / length,
                        "share": busy / (length * kind["instances"]),
                    }
                )
    return rows


def _units(activity: dict[str, Any]) -> list[str]:
    names = [kind["kind"] for kind in activity["kinds"]]
    return names[: names.index(FIRST_MEMORY)]


def group_of(component: str) -> str:
    """Return the group of a component in a power breakdown.

    Examples
    --------
    >>> group_of("cluster.cc.fu.ntt"), group_of("offchip.hbm.memory")
    ('functional units', 'off-chip memory')
    """
    first, *rest = component.split(".")
    if first == "cluster":
        return "functional units" if "fu" in rest else "register files"
    if first == "offchip":
        return "off-chip memory" if rest[-1] == "memory" else "off-chip interface"
    return "scratchpad" if first == "scratchpad" else "network"


def unit_use(schedule: _native.Schedule) -> float:
    """Return the mean busy share of all functional units."""
    activity = schedule.activity(1)
    names = set(_units(activity))
    units = [kind for kind in activity["kinds"] if kind["kind"] in names]
    busy = sum(kind["busy_cycles"] for kind in units)
    share: float = busy / (activity["cycles"] * sum(kind["instances"] for kind in units))
    return share


def computing_share(schedule: _native.Schedule) -> float:
    """Return the share of the energy that functional units spend."""
    joules = {"functional units": 0.0, "": 0.0}
    for line in schedule.energy():
        joules[""] += line["joules"] or 0.0
        if group_of(line["component"]) == "functional units":
            joules["functional units"] += line["joules"] or 0.0
    return joules["functional units"] / joules[""] if joules[""] else 0.0
