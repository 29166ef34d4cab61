"""The area of a varied machine.

A machine file gives the area of each component as it is. Where a variant changes
the size of a component, its area is scaled: memories with their capacity, crossbars
with their crosspoints (input ports times output ports times width). That is a
first-order model of ours; whoever knows better varies the `area_mm2` too.
"""

from __future__ import annotations

from typing import Any

from cyclotron import _native

__all__ = ["area_mm2"]


def area_mm2(base: _native.Machine, varied: _native.Machine) -> float | None:
    """Return the area of a variant of `base`; None if the file gives none.

    Parameters
    ----------
    base
        The machine whose file the areas come from.
    varied
        The same with some keys changed.
    """
    sizes, before = _sizes(varied.summary()), _sizes(base.summary())
    given = {line["component"]: _each(line) for line in base.budget()}
    total = 0.0
    for line in varied.budget():
        name, area = line["component"], line["area_mm2"]
        if area is None:
            return None
        # An area that was varied itself is what it is.
        if name in sizes and name in before and given.get(name) == _each(line):
            area *= sizes[name] / before[name]
        total += area
    return total


def _each(line: dict[str, Any]) -> float | None:
    return None if line["area_mm2"] is None else round(line["area_mm2"] / line["count"], 9)


def _sizes(facts: dict[str, Any]) -> dict[str, float]:
    """Return what the areas of components are proportional to, by the end of their paths."""
    sizes = {
        f"scratchpad.{name}": pad["kib_per_bank"] for name, pad in facts["scratchpads"].items()
    }
    for name, (inputs, outputs) in facts["crossbar_ports"].items():
        width = facts["crossbar_bytes_per_cycle"][name]
        sizes[f"xbar.{name}"] = inputs * outputs * width
    sizes[f"cluster.{facts['cluster_name']}.regfile"] = facts["register_file_kib"]
    return sizes
