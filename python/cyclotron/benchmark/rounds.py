"""Measures cases on all sides in turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cyclotron.benchmark.agreement import differences, same_expectation, wrong
from cyclotron.benchmark.driver import Check, Driver
from cyclotron.benchmark.samples import Samples, speedup, speedup_range
from cyclotron.errors import BenchmarkError

#: Called with a case and the share of all cases that is done.
Watch = Callable[[str, float], None]


@dataclass
class Side:
    """What one peer did in a case."""

    parameters: dict[str, Any]
    samples: Samples | None = None
    differences: list[str] = field(default_factory=list)
    #: Why there is no comparison.
    failure: str | None = None


@dataclass
class Result:
    """A measured case."""

    case: str
    parameters: dict[str, Any]
    threads: int
    ours: Samples
    #: Why our result is wrong, if it is.
    failure: str | None
    peers: dict[str, Side]
    #: The part in which limb instructions were executed, where it is known.
    executing: Samples | None
    #: The least seconds that the machine needs, and what they are made of.
    bound: dict[str, float] | None

    @property
    def bound_seconds(self) -> float | None:
        """The least seconds that the machine needs, where that is known."""
        return None if self.bound is None else self.bound["seconds"]

    def as_json(self) -> dict[str, Any]:
        """Return the object of ``--json`` and of records."""
        measured = {n: s for n, s in self.peers.items() if s.samples is not None}
        times = {n: s.samples for n, s in measured.items() if s.samples is not None}
        shown: dict[str, Any] = {
            "name": self.case,
            "parameters": self.parameters,
            "threads": self.threads,
            "repetitions": len(self.ours.seconds),
            "correct": self.failure is None,
            "ours_seconds": self.ours.median,
            "ours_spread": self.ours.spread,
            "peers": {n: t.median for n, t in times.items()},
            "peers_spread": {n: t.spread for n, t in times.items()},
            "peers_parameters": {n: s.parameters for n, s in self.peers.items()},
            "speedup": {n: speedup(self.ours, t) for n, t in times.items()},
            "speedup_range": {n: list(speedup_range(self.ours, t)) for n, t in times.items()},
            "same_parameters": {n: not s.differences for n, s in measured.items()},
            "differences": {n: s.differences for n, s in measured.items() if s.differences},
            "failures": {n: s.failure for n, s in self.peers.items() if s.failure is not None},
        }
        if self.executing is not None:
            shown["ours_executing_seconds"] = self.executing.median
        if self.failure is not None:
            shown["failure"] = self.failure
        if self.bound is not None:
            shown["bound_seconds"] = self.bound["seconds"]
            shown["bound"] = self.bound
            shown["over_bound"] = self.ours.median / self.bound["seconds"]
        return shown


def chosen(cases: Iterable[str], only: str | None) -> list[str]:
    """Return the cases that contain the filter, or one of several parted by commas."""
    parts = [part.strip() for part in only.split(",")] if only else [""]
    return [case for case in cases if any(part in case for part in parts)]


def parameter_set(case: str) -> str:
    """Return the parameter set of a case.

    Examples
    --------
    >>> parameter_set("ckks/rotate/n16")
    'ckks/n16'
    """
    words = case.split("/")
    return f"{words[0]}/{words[-1]}"


def measure(
    ours: Driver,
    peers: Sequence[Driver],
    cases: Sequence[str],
    threads: int,
    repetitions: int,
    watch: Watch,
) -> list[Result]:
    """Measure cases; what a parameter set holds is freed when its cases are done."""
    results = []
    alive = list(peers)
    for index, case in enumerate(cases):
        watch(case, index / len(cases))
        results.append(_case(ours, alive, case, threads, repetitions))
        done = parameter_set(case)
        if index + 1 == len(cases) or parameter_set(cases[index + 1]) != done:
            for driver in [ours, *alive]:
                _release(driver, done)
    return results


def _release(driver: Driver, done: str) -> None:
    try:
        driver.release(done)
    except BenchmarkError:
        # Nothing to free, or a driver that is gone: its next case tells.
        return


@dataclass(frozen=True)
class _Entry:
    """A peer's case that is compared with one of ours."""

    label: str
    peer: Driver
    case: str


def entries(peers: Sequence[Driver], case: str) -> list[_Entry]:
    """Return what peers have for a case: the same, and variants named behind it."""
    found = []
    for peer in peers:
        for theirs in peer.cases:
            if theirs == case:
                found.append(_Entry(peer.name, peer, theirs))
            elif theirs.startswith(f"{case}/"):
                variant = theirs.removeprefix(f"{case}/")
                found.append(_Entry(f"{peer.name}-{variant}", peer, theirs))
    return found


def _case(
    ours: Driver, peers: Sequence[Driver], case: str, threads: int, repetitions: int
) -> Result:
    """Check a case on all sides, then measure it in rounds."""
    parameters = ours.cases[case]
    own = ours.check(case)
    sides, taking_part = {}, []
    for entry in entries(peers, case):
        theirs = entry.peer.cases[entry.case]
        side = Side(theirs, differences=differences(parameters, theirs))
        side.failure = _failure(entry, parameters, own)
        sides[entry.label] = side
        if side.failure is None:
            taking_part.append(entry)
    seconds: dict[str, list[float]] = {entry.label: [] for entry in taking_part}
    our_seconds: list[float] = []
    executing: list[float] = []
    for _ in range(repetitions):
        times = ours.times(case)
        our_seconds += times.seconds
        executing += times.executing
        for entry in list(taking_part):
            try:
                seconds[entry.label] += entry.peer.seconds(entry.case)
            except BenchmarkError as error:
                sides[entry.label].failure = str(error)
                taking_part.remove(entry)
    for entry in taking_part:
        sides[entry.label].samples = Samples(tuple(seconds[entry.label]))
    return Result(
        case,
        parameters,
        threads,
        Samples(tuple(our_seconds)),
        wrong(case, parameters, own),
        sides,
        Samples(tuple(executing)) if executing else None,
        ours.ask({"bound": case}).get("least"),
    )


def _failure(entry: _Entry, parameters: dict[str, Any], own: Check) -> str | None:
    """Say why a peer's case cannot be compared with ours; None if it can."""
    name, theirs = entry.label, entry.peer.cases[entry.case]
    try:
        check = entry.peer.check(entry.case)
    except BenchmarkError as error:
        return str(error)
    if mistake := wrong(entry.case, theirs, check):
        return f"{name}: {mistake}"
    # Words of transforms depend on the prime.
    if theirs.get("prime") != parameters.get("prime"):
        return None
    if mistake := same_expectation(entry.case, parameters, own, check):
        return f"{name} {mistake}"
    return None
