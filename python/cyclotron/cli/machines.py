"""``cyclotron machine list``, ``show`` and ``check``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from cyclotron import _native
from cyclotron.cli import terminal
from cyclotron.errors import MachineError


def list_command(options: argparse.Namespace) -> int:
    """List the shipped machines."""
    names = _native.Machine.shipped()
    if options.json:
        terminal.print_json({"machines": names})
    else:
        print("\n".join(names))
    return 0


def show_command(options: argparse.Namespace) -> int:
    """Show a machine's facts."""
    summary = _native.Machine.open(options.machine, options.overlay).summary()
    if options.json:
        terminal.print_json(summary)
    else:
        print(terminal.pairs(_rows(summary)))
    return 0


def check_command(options: argparse.Namespace) -> int:
    """Check a machine file; a wrong one is a failed check, exit code 1."""
    if not Path(options.machine).is_file():
        _native.Machine.open(options.machine, [])  # a shipped one, or an error: bad input
    try:
        machine = _native.Machine.open(options.machine, options.overlay)
    except MachineError as error:
        print(f"error: {error}", file=sys.stderr)
        if options.json:
            terminal.print_json({"machine": options.machine, "valid": False, "error": str(error)})
        return 1
    if options.json:
        terminal.print_json(
            {"machine": options.machine, "valid": True, "name": machine.name, "hash": machine.hash}
        )
    else:
        print(f"{options.machine}: machine {machine.name} is valid")
    return 0


def _rows(summary: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Flatten nested facts to rows."""
    rows: list[tuple[str, str]] = []
    for key, value in summary.items():
        name = f"{prefix}{key}".replace("_", " ")
        if isinstance(value, dict):
            rows += _rows(value, f"{prefix}{key}.")
        elif isinstance(value, (list, tuple)):
            rows.append((name, ", ".join(map(str, value))))
        else:
            rows.append((name, f"{value:,}" if isinstance(value, int) else str(value)))
    return rows
