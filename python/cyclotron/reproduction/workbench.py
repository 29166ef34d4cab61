"""Programs compiled for a machine and its variants, each once."""

from __future__ import annotations

from typing import Any

from cyclotron import _native, programs
from cyclotron.execution import Compiled, lower, schedule
from cyclotron.options import Options
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
    faithful
        Whether programs switch keys by Listing 1 only, where nothing else is asked for.
    """

    def __init__(
        self, machine: str, progress: Progress | None = None, *, faithful: bool = False
    ) -> None:
        self.name = machine
        self.faithful = faithful
        self.machine = _native.Machine.open(machine, [])
        self.progress = progress or Silent()
        self._compiled: dict[tuple[str, Options], Compiled] = {}

    def compiled(
        self,
        name: str,
        overlays: tuple[str, ...] = (),
        *,
        faithful: bool | None = None,
        phase2: str = "greedy",
    ) -> Compiled:
        """Return a program's schedule on the machine with overlays.

        Variants of the machine get the parameters of the machine itself, so that
        what differs is the hardware.
        """
        faithful = self.faithful if faithful is None else faithful
        options = Options(on=self.name, overlays=overlays, faithful=faithful, phase2=phase2)
        key = (name, options)
        if key not in self._compiled:
            varied = overlays or phase2 != "greedy"
            given = self.compiled(name, faithful=faithful).parameters if varied else None
            workload = programs.find(name)
            program = workload.build({})
            shown = "+".join((self.name, *overlays))
            shown += ", Listing 1 only" if faithful else ""
            shown += "" if phase2 == "greedy" else f", phase 2 by {phase2}"
            with self.progress.phase(f"compiling {name} for {shown}"):
                samples = workload.calibration(program)
                lowered = lower(program, options, samples, given)
                self._compiled[key] = schedule(lowered, options, None)
        return self._compiled[key]

    def schedule(
        self,
        name: str,
        overlays: tuple[str, ...] = (),
        *,
        faithful: bool | None = None,
        phase2: str = "greedy",
    ) -> _native.Schedule:
        """Return what `compiled` returns, the schedule only."""
        made = self.compiled(name, overlays, faithful=faithful, phase2=phase2).schedule
        assert made is not None
        return made

    def report(
        self,
        name: str,
        overlays: tuple[str, ...] = (),
        *,
        faithful: bool | None = None,
        phase2: str = "greedy",
    ) -> dict[str, Any]:
        """Return the report of a program's schedule."""
        return self.schedule(name, overlays, faithful=faithful, phase2=phase2).report()
