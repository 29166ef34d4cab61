"""Programs compiled for a machine and its variants, each once."""

from __future__ import annotations

from typing import Any

from cyclotron import _native, programs
from cyclotron.execution import Compiled, Options, lower, schedule
from cyclotron.progress import Progress, Silent

__all__ = ["Workbench"]


class Workbench:
    """Compiles built-in programs on demand, and keeps what it compiled.

    Parameters
    ----------
    machine
        A shipped machine or a path to a machine's TOML file.
    progress
        Watches compilations.
    """

    def __init__(self, machine: str, progress: Progress | None = None) -> None:
        self.name = machine
        self.machine = _native.Machine.open(machine, [])
        self.progress = progress or Silent()
        self._compiled: dict[tuple[str, tuple[str, ...]], Compiled] = {}

    def compiled(self, name: str, overlays: tuple[str, ...] = ()) -> Compiled:
        """Return a program's schedule on the machine with overlays.

        Variants of the machine get the parameters of the machine itself, so that
        what differs is the hardware.
        """
        key = (name, overlays)
        if key not in self._compiled:
            parameters = self.compiled(name).parameters if overlays else None
            workload = programs.find(name)
            program = workload.build({})
            options = Options(on=self.name, overlays=overlays)
            shown = "+".join((self.name, *overlays))
            with self.progress.phase(f"compiling {name} for {shown}"):
                lowered = lower(program, options, workload.calibration(program), parameters)
                self._compiled[key] = schedule(lowered, options, None)
        return self._compiled[key]

    def schedule(self, name: str, overlays: tuple[str, ...] = ()) -> _native.Schedule:
        """Return what `compiled` returns, the schedule only."""
        made = self.compiled(name, overlays).schedule
        assert made is not None
        return made

    def report(self, name: str, overlays: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return the report of a program's schedule."""
        return self.schedule(name, overlays).report()
