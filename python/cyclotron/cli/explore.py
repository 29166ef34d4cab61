"""``cyclotron explore``: performance against area over variants of a machine."""

from __future__ import annotations

import argparse
from pathlib import Path

from cyclotron.cli import terminal
from cyclotron.errors import UsageError
from cyclotron.exploration import Axis, Study, points, sweep, write_exploration
from cyclotron.exploration.page import header, lines

#: Exit code where no program runs on any variant.
NOTHING_FITS = 3


def command(options: argparse.Namespace) -> int:
    """Run the command."""
    study = Study(
        machine=options.machine,
        axes=tuple(Axis.parse(text) for text in options.vary),
        programs=tuple(dict.fromkeys(options.program)),
        overlays=tuple(options.overlay),
        parameters=tuple(options.param),
    )
    folder = options.out or Path(f"explore-{Path(options.machine).stem}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror or error}") from None
    rows = sweep(
        study,
        store=folder / "results.jsonl",
        jobs=options.jobs,
        progress=terminal.TerminalProgress(),
    )
    found = points(rows)
    page = write_exploration(study, found, folder)
    code = 0 if any("error" not in row for row in rows) else NOTHING_FITS
    errors = {row["error"]: row for row in rows if "error" in row}
    if options.json:
        terminal.print_json(
            {
                "machine": options.machine,
                "overlays": list(study.overlays),
                "programs": list(study.programs),
                "page": str(page),
                "results": rows,
                "points": [point.to_row() for point in found],
            }
        )
        return code
    right = " " * len(study.axes) + "r" * (2 + len(study.programs))
    print(terminal.table(header(study), lines(found), right))
    for message, row in errors.items():
        print(f"{row['program']} with {row['changes']}: {message}")
    print(f"\n{page}: the front as a plot; tables as CSV and Parquet beside it")
    return code
