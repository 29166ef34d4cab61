"""``cyclotron explain``: what the compiler made of each Python line."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from cyclotron import span
from cyclotron.cli import run, terminal
from cyclotron.execution import lower
from cyclotron.report import identity

HEADER = (
    "line", "source", "operations", "level", "scale", "noise", "precision", "key switch",
    "instructions",
)  # fmt: skip


def command(options: argparse.Namespace) -> int:
    """Run the command."""
    workload = run.workload_of(options.program, options.data)
    program = workload.build(dict(options.param))
    settings = run.options_of(options)
    with terminal.TerminalProgress().phase("lowering to limb instructions"):
        compiled = lower(program, settings, workload.calibration(program))
    nodes = compiled.plan.explain()
    lines = by_line(nodes)
    report = {
        "program": workload.name,
        "on": settings.on,
        **identity(compiled, settings),
        "lines": lines,
        "nodes": nodes,
    }
    if options.json:
        terminal.print_json(report)
        return 0
    print(f"{workload.name} for {settings.on}")
    print(terminal.pairs(run.identity_rows(report)))
    for file in dict.fromkeys(line["file"] for line in lines):
        rows = [_row(line) for line in lines if line["file"] == file]
        print(f"\n{file}\n{terminal.table(HEADER, rows, 'r  rrrr r')}")
    return 0


def by_line(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Group explained nodes by file and line, in the order of first appearance."""
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for node in nodes:
        groups.setdefault((node["file"], node["line"]), []).append(node)
    return [
        {
            "file": file,
            "line": line,
            "source": span.source_line(span.Span(file, line)),
            "operations": dict(Counter(n["op"] for n in group)),
            "level": _range(group, "level"),
            "scale_bits": _range(group, "scale_bits"),
            "noise_bits": _range(group, "noise_bits"),
            "precision_bits": _range(group, "precision_bits"),
            "variants": sorted({n["variant"] for n in group if n.get("variant")}),
            "instructions": sum(n.get("instructions") or 0 for n in group),
        }
        for (file, line), group in groups.items()
    ]


def _range(group: list[dict[str, Any]], key: str) -> list[float] | None:
    """Return the least and the largest value of a field, or None if no node has it."""
    values = [n[key] for n in group if n.get(key) is not None]
    return [min(values), max(values)] if values else None


def _row(line: dict[str, Any]) -> tuple[str, ...]:
    source = line["source"]
    operations = ", ".join(f"{n} {op}" for op, n in line["operations"].items())
    return (
        str(line["line"]),
        source if len(source) <= 44 else source[:43] + "…",
        operations,
        _text(line["level"], 0),
        _text(line["scale_bits"], 1),
        _text(line["noise_bits"], 1),
        _text(line["precision_bits"], 1),
        ", ".join(line["variants"]),
        f"{line['instructions']:,}",
    )


def _text(bounds: list[float] | None, digits: int) -> str:
    if bounds is None or any(b == float("inf") for b in bounds):
        return ""
    low, high = (f"{b:.{digits}f}" for b in bounds)
    return low if low == high else f"{low}..{high}"
