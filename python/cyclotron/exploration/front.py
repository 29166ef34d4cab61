"""Points of a sweep and their Pareto front."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log
from typing import Any

__all__ = ["Point", "points"]


@dataclass(frozen=True)
class Point:
    """One machine of a sweep.

    Attributes
    ----------
    changes
        What was changed.
    area_mm2
        Its area; None if not known.
    milliseconds
        Of each program; None for one that does not fit.
    per_second
        How often it runs the programs in a second: the geometric mean. None if
        one does not fit.
    on_front
        Whether no smaller or equal machine is faster, and no smaller one as fast.
    """

    changes: dict[str, Any]
    area_mm2: float | None
    milliseconds: dict[str, float | None]
    per_second: float | None
    on_front: bool = False

    @property
    def name(self) -> str:
        """The changes on one line."""
        return ", ".join(f"{key.rpartition('.')[2]} {value}" for key, value in self.changes.items())

    def to_row(self) -> dict[str, Any]:
        """Return one row of a table."""
        times = {f"milliseconds {name}": value for name, value in self.milliseconds.items()}
        return {
            **self.changes,
            "area_mm2": self.area_mm2,
            **times,
            "per_second": self.per_second,
            "pareto": self.on_front,
        }


def points(rows: Iterable[dict[str, Any]]) -> list[Point]:
    """Reduce the results of a sweep to its points, in their order."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row["changes"].items()), []).append(row)
    made = [_point(group) for group in groups.values()]
    return [_marked(point, made) for point in made]


def _point(rows: list[dict[str, Any]]) -> Point:
    times = {row["program"]: row.get("milliseconds") for row in rows}
    known = [value for value in times.values() if value is not None]
    complete = len(known) == len(times)
    mean = exp(sum(log(1e3 / value) for value in known) / len(known)) if complete else None
    return Point(rows[0]["changes"], rows[0]["area_mm2"], times, mean)


def _marked(point: Point, others: list[Point]) -> Point:
    if point.area_mm2 is None or point.per_second is None:
        return point
    for other in others:
        if other.area_mm2 is None or other.per_second is None:
            continue
        as_good = other.area_mm2 <= point.area_mm2 and other.per_second >= point.per_second
        better = other.area_mm2 < point.area_mm2 or other.per_second > point.per_second
        if as_good and better:
            return point
    return Point(point.changes, point.area_mm2, point.milliseconds, point.per_second, True)
