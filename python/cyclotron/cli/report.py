"""``cyclotron report``, and the options ``--report`` and ``--trace`` of other commands."""

from __future__ import annotations

import argparse
from pathlib import Path

from cyclotron import _native
from cyclotron.cli import terminal
from cyclotron.errors import UsageError
from cyclotron.profile import profile, write_report

__all__ = ["check_options", "check_paths", "command", "load", "write_asked"]


def command(options: argparse.Namespace) -> int:
    """Write a report and a trace of a stored schedule."""
    check_paths(options)
    schedule = load(options.schedule)
    if options.report is None and options.trace is None:
        options.report = options.schedule.with_suffix(".report")
    title = schedule.meta().get("program") or options.schedule.stem
    written = write_asked(schedule, title, options)
    if options.json:
        terminal.print_json({"schedule": str(options.schedule), **written})
    else:
        print(terminal.pairs(written.items()))
    return 0


def load(path: Path) -> _native.Schedule:
    """Load a schedule."""
    if not path.is_file():
        raise UsageError(f"there is no schedule {path}; make one with cyclotron compile")
    try:
        return _native.Schedule.load(str(path))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None


def check_options(options: argparse.Namespace) -> None:
    """Refuse a report of a program on the CPU, before anything is computed."""
    for name in ("report", "trace"):
        if getattr(options, name) is not None and options.on == "cpu":
            raise UsageError(f"--{name} is of a schedule; give a machine with --on MACHINE")
    check_paths(options)


def check_paths(options: argparse.Namespace) -> None:
    """Refuse files that could not be written, before anything is computed."""
    terminal.check_writable("--report", options.report, folder=True)
    terminal.check_writable("--trace", options.trace)
    terminal.check_writable("--dump-limbs", getattr(options, "dump_limbs", None))
    terminal.check_writable("-o", getattr(options, "output", None))


def write_asked(
    schedule: _native.Schedule, program: str, options: argparse.Namespace
) -> dict[str, str]:
    """Write what ``--report`` and ``--trace`` ask for; return the paths by option."""
    written = {}
    if options.report is not None:
        machine = schedule.machine.name
        with terminal.TerminalProgress().phase("writing the report"):
            page = write_report(profile(schedule, f"{program} on {machine}"), options.report)
        written["report"] = str(page)
    if options.trace is not None:
        with terminal.TerminalProgress().phase("writing the trace"):
            try:
                schedule.write_trace(str(options.trace))
            except OSError as error:
                reason = error.strerror or error
                raise UsageError(f"{options.trace} cannot be written: {reason}") from None
        written["trace"] = str(options.trace)
    return written
