"""What a sweep found, as tables and as a page."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cyclotron.errors import UsageError
from cyclotron.exploration.front import Point
from cyclotron.exploration.sweep import Study
from cyclotron.profile import plots
from cyclotron.profile.page import document, section, table
from cyclotron.profile.tables import write_table

__all__ = ["draw", "header", "lines", "write_exploration"]


def write_exploration(study: Study, found: Sequence[Point], folder: Path) -> Path:
    """Write ``index.html`` with the Pareto plot, and the points as CSV and Parquet.

    Raises
    ------
    UsageError
        If matplotlib or pyarrow is not installed, or the folder cannot be written.
    """
    names = ", ".join(study.programs)
    machine = "+".join((study.machine, *study.overlays))
    numbers = "r" * (2 + len(study.programs)) + "r"
    body = [
        section(
            "Performance against area",
            "A point is on the front if no other machine is both as small and as fast; "
            "the table has its number.",
            draw(study, found),
        ),
        section(
            "Points",
            "Areas of memories and crossbars grow with their size (docs/reproduction.md).",
            table(header(study), lines(found), numbers, folded=False),
        ),
    ]
    title = f"Variants of {machine}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_table(folder, "points", [point.to_row() for point in found])
        page = folder / "index.html"
        subtitle = f"{len(found)} machines, running {names}"
        page.write_text(document(title, subtitle, body), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror or error}") from None
    return page


def draw(study: Study, found: Sequence[Point]) -> str:
    """Draw performance against area; nothing if no point is known."""
    speed = "runs in a second" if len(study.programs) == 1 else "runs in a second (geometric mean)"
    known = [
        (p.area_mm2, p.per_second, p.on_front)
        for p in found
        if p.area_mm2 is not None and p.per_second is not None
    ]
    return plots.pareto(known, ("area in mm²", speed)) if known else ""


def header(study: Study) -> list[str]:
    """Return the heads of `lines`."""
    keys = [axis.key for axis in study.axes]
    return [*keys, "area mm2", *(f"{name} ms" for name in study.programs), "per second", "front"]


def lines(found: Sequence[Point]) -> list[list[str]]:
    """Return a line of text cells for each point, the smallest first; the front is numbered."""
    number = itertools.count(1)
    ordered = sorted(found, key=lambda p: (p.area_mm2 is None, p.area_mm2 or 0.0))
    return [
        [
            *(str(value) for value in point.changes.values()),
            _text(point.area_mm2, ".1f"),
            *(_text(value, ".4f") for value in point.milliseconds.values()),
            _text(point.per_second, ",.0f"),
            str(next(number)) if point.on_front else "",
        ]
        for point in ordered
    ]


def _text(value: Any, form: str) -> str:
    return "-" if value is None else format(value, form)
