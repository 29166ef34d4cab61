"""``cyclotron reproduce``: published figures beside ours."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import groupby

from cyclotron.cli import terminal
from cyclotron.reproduction import Result, Workbench, reproduce
from cyclotron.reproduction.page import number, write_reproduction

HEADER = ("id", "published", "ours", "unit", "ratio", "reading")


def command(options: argparse.Namespace) -> int:
    """Run the command."""
    terminal.check_writable("--out", options.out, folder=True)
    bench = Workbench(options.paper, terminal.TerminalProgress(), faithful=options.faithful)
    results = reproduce(options.paper, table=options.table, figure=options.figure, bench=bench)
    if options.out is not None:
        write_reproduction(bench, results, options.out)
    if options.json:
        terminal.print_json([result.to_dict() for result in results])
        return 0
    for where, rows in groupby(results, key=lambda result: result.where):
        print(f"{where}\n{terminal.table(HEADER, map(_row, rows), ' rr r')}\n")
    print(summary(results))
    return 0


def _row(result: Result) -> tuple[str, ...]:
    explained = result.reading or result.what
    if result.ours is None:
        explained = result.note
    return (
        result.id,
        number(result.published),
        number(result.ours),
        result.unit,
        "" if result.ratio is None else f"{result.ratio:.3f}",
        explained,
    )


def summary(results: Sequence[Result]) -> str:
    """Say how many figures come out, each in the reading that comes nearest."""
    best: dict[str, float] = {}
    numbers = [r for r in results if r.published is not None]
    for result in numbers:
        if result.ratio is not None:
            distance = abs(result.ratio - 1)
            best[result.id] = min(best.get(result.id, distance), distance)
    published = len({r.id for r in numbers})
    within = [sum(distance <= limit for distance in best.values()) for limit in (0.01, 0.1)]
    return (
        f"{published} published numbers, each in its nearest reading: {within[0]} within 1 %, "
        f"{within[1]} within 10 %, {len(best) - within[1]} further off, "
        f"{published - len(best)} not produced yet"
    )
