"""Sweeps over variants of a machine: performance against area.

A point is a machine with some keys of its file changed. `sweep` compiles programs
for every point, on all cores, and remembers what it finished; `points` reduces the
results to one row a point and marks the Pareto front.
"""

from __future__ import annotations

from cyclotron.exploration.area import area_mm2
from cyclotron.exploration.axis import Axis
from cyclotron.exploration.front import Point, points
from cyclotron.exploration.page import write_exploration
from cyclotron.exploration.sweep import Study, sweep

__all__ = ["Axis", "Point", "Study", "area_mm2", "points", "sweep", "write_exploration"]
