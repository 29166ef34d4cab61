"""Figures 9 to 11, of which only pictures were published: our numbers of the same."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from cyclotron.exploration import Axis, Point, Study, points, sweep
from cyclotron.profile import Profile, profile
from cyclotron.profile.measure import GROUPS
from cyclotron.reproduction.result import Measured
from cyclotron.reproduction.workbench import Workbench

__all__ = [
    "OVER_TIME",
    "explored",
    "power",
    "profiles",
    "scaling",
    "study",
    "traffic",
    "use",
    "watts_by_group",
]

#: Programs of Figure 9.
PROFILED = ("lola-mnist", "lola-mnist-packed", "matvec")
#: The program of Figure 10.
OVER_TIME = "lola-mnist"
PICTURE = "only a picture was published"


def profiles(bench: Workbench) -> Iterator[tuple[str, Profile]]:
    """Return the profiles of Figure 9, by program."""
    for name in PROFILED:
        yield name, profile(bench.schedule(name), f"{name} on {bench.name}")


def traffic(bench: Workbench) -> Iterator[Measured]:
    """Return Figure 9a: megabytes by class."""
    for name, made in profiles(bench):
        for row in made.traffic:
            reading = f"{name}: {row['kind']}"
            yield Measured("f1.fig9a", row["bytes"] / 1e6, reading, PICTURE, unit="MB")


def power(bench: Workbench) -> Iterator[Measured]:
    """Return Figure 9b: mean watts by group of components."""
    for name, made in profiles(bench):
        for group, value in watts_by_group(made).items():
            yield Measured("f1.fig9b", value, f"{name}: {group}", PICTURE, unit="W")


def watts_by_group(made: Profile) -> dict[str, float]:
    """Return the mean power of each group of components."""
    watts = dict.fromkeys(GROUPS, 0.0)
    for row in made.power:
        watts[row["group"]] += row["watts"]
    return watts


def use(bench: Workbench) -> Iterator[Measured]:
    """Return Figure 10: the mean and the highest use of units and channels, in ten parts."""
    made = profile(bench.schedule(OVER_TIME), OVER_TIME, buckets=10)
    for kind in (*made.units, "channel"):
        rows = [row for row in made.use if row["kind"] == kind]
        for row in rows:
            share = 100 * (row["cycle"] + row["cycles"] / 2) / made.facts["cycles"]
            reading = f"{OVER_TIME}: {kind}, at {share:.0f} % of the time"
            yield Measured("f1.fig10", 100 * row["share"], reading, PICTURE, unit="%")


def scaling(bench: Workbench) -> Iterator[Measured]:
    """Return Figure 11: performance and area of a small sweep, the Pareto front marked."""
    for point in explored(bench):
        if point.area_mm2 is None or point.per_second is None:
            continue
        front = ", on the front" if point.on_front else ""
        reading = f"{point.name}: runs in a second on {point.area_mm2:.1f} mm2{front}"
        yield Measured("f1.fig11", point.per_second, reading, PICTURE, unit="1/s")


@cache
def explored(bench: Workbench) -> tuple[Point, ...]:
    """Return the points of Figure 11, computed once for each workbench."""
    return tuple(points(sweep(study(bench), progress=bench.progress)))


def study(bench: Workbench) -> Study:
    """Return the sweep of Figure 11: clusters, scratchpad banks and memory channels."""
    axes = (
        Axis("clusters", (4, 8, 16)),
        Axis("scratchpad.spad.banks", (8, 16)),
        Axis("offchip.hbm.channels", (1, 2)),
    )
    return Study(bench.name, axes, (OVER_TIME,))
