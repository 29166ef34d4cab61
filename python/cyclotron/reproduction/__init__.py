"""Published results beside ours, number by number.

`reproduce` returns a row for every published figure that can be compared, and
every reading of it. What cannot be produced yet is listed, without a number of
ours and with what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cyclotron.errors import UsageError
from cyclotron.progress import Progress
from cyclotron.reproduction import (
    benchmarks,
    hardware,
    key_switching,
    microbenchmarks,
    pictures,
)
from cyclotron.reproduction.published import PAPERS, Figure, figures
from cyclotron.reproduction.result import Measured, Result
from cyclotron.reproduction.workbench import Workbench

__all__ = ["PAPERS", "Result", "Workbench", "reproduce"]

#: What produces figures, by the starts of their ids.
PRODUCERS: tuple[tuple[str, Callable[[Workbench], Iterator[Measured]]], ...] = (
    ("f1.t2.", hardware.budget),
    ("f1.t3.", benchmarks.times),
    ("f1.t4.", microbenchmarks.throughputs),
    ("f1.t5.", benchmarks.slowdowns),
    ("f1.text.", hardware.shares),
    ("f1.text.", hardware.capacities),
    ("f1.text.", key_switching.facts),
    ("f1.text.", benchmarks.behaviour),
    ("f1.fig9a", pictures.traffic),
    ("f1.fig9b", pictures.power),
    ("f1.fig10", pictures.use),
    ("f1.fig11", pictures.scaling),
)


def reproduce(
    paper: str,
    *,
    table: str | None = None,
    figure: str | None = None,
    bench: Workbench | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Compare a paper's figures with ours.

    Parameters
    ----------
    paper
        ``"f1"``.
    table, figure
        Only this table (``"4"``) or figure (``"9a"``; ``"9"`` for all its parts).
    bench
        Where programs are compiled; one of the paper's machine unless given.
    progress
        Watches compilations.

    Returns
    -------
    list of Result
        In the order of the published tables; a figure with several readings has
        several rows.

    Raises
    ------
    UsageError
        If nothing of such a paper, table or figure is known.
    """
    chosen = _chosen(paper, table, figure)
    bench = bench or Workbench(paper, progress)
    found: dict[str, list[Measured]] = {known.id: [] for known in chosen}
    for start, produce in PRODUCERS:
        if any(known.id.startswith(start) for known in chosen):
            for measured in produce(bench):
                if measured.id in found:
                    found[measured.id].append(measured)
    nothing = "nothing produces it yet"
    return [
        Result.of(known, measured)
        for known in chosen
        for measured in found[known.id] or [Measured(known.id, None, note=nothing)]
    ]


def _chosen(paper: str, table: str | None, figure: str | None) -> list[Figure]:
    known = figures(paper)
    if table is None and figure is None:
        return list(known)
    wanted = f"Table {table}" if figure is None else f"Figure {figure}"
    parts = {wanted} if figure is None else {wanted, *(f"{wanted}{part}" for part in "abc")}
    chosen = [f for f in known if f.where in parts]
    if not chosen:
        places = dict.fromkeys(f.where for f in known if not f.where.startswith("Section"))
        raise UsageError(f"{paper} has no {wanted} here; there are {', '.join(places)}")
    return chosen
