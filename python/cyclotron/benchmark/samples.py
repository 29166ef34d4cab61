"""Samples of a time, and how two sides compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Samples:
    """Seconds of the repetitions of one side, in the order of the rounds."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median."""
        return median(self.seconds)

    @property
    def spread(self) -> float:
        """Distance of the quartiles over the median: half of all repetitions lie within."""
        low, high = quartiles(self.seconds)
        return (high - low) / self.median


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the first and the third quartile, between neighbours where they fall there.

    Examples
    --------
    >>> quartiles([4.0, 1.0, 2.0, 3.0, 5.0])
    (2.0, 4.0)
    """
    ordered = sorted(values)

    def at(share: float) -> float:
        place = share * (len(ordered) - 1)
        below = int(place)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (place - below) * (ordered[above] - ordered[below])

    return at(0.25), at(0.75)


def speedup(ours: Samples, peer: Samples) -> float:
    """Return how many times faster we are: the ratio of the medians."""
    return peer.median / ours.median


def speedup_range(ours: Samples, peer: Samples) -> tuple[float, float]:
    """Return the quartiles of the ratios within the rounds.

    Both sides of a round ran one after the other, so what slows the machine
    down for a while slows both.
    """
    return quartiles([p / o for o, p in zip(ours.seconds, peer.seconds, strict=True)])
