"""``cyclotron bench``: kernels, operations and programs beside those of peers."""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclotron.benchmark import program, record, tables
from cyclotron.benchmark.checkout import build_driver, find_checkout
from cyclotron.benchmark.driver import Driver
from cyclotron.benchmark.peers import Peer, Workshop, read_peers
from cyclotron.benchmark.rounds import Result, chosen, measure
from cyclotron.cli import terminal
from cyclotron.errors import BenchmarkError, UsageError

#: Rounds of a measurement that is believed.
REPETITIONS = 9

#: Threads where nothing is asked for.
THREADS = {"kernels": 1, "operations": 1, "programs": 2}

#: The program of the suite of programs.
PROGRAM = "lola-mnist"

PAGE = Path("docs") / "performance.md"


def command(options: argparse.Namespace) -> int:
    """Run the command."""
    root = find_checkout()
    if options.render:
        return _render(root)
    if options.suite is None:
        raise UsageError("say what to measure: kernels, operations or programs")
    with ExitStack() as stack:
        bench = _Bench(root, options, stack)
        results = bench.measure()
        shown = [result.as_json() for result in results]
        path = bench.record(shown)
    if options.json:
        print(json.dumps(shown, indent=2))
    else:
        print(_describe(shown, bench.failures))
        if path is not None:
            print(f"\nrecorded in {path.relative_to(root)}")
    return 0 if all(result.failure is None for result in results) else 1


def _render(root: Path) -> int:
    """Write the newest records into the documentation."""
    page = root / PAGE
    try:
        text = tables.replace_between(page.read_text(), tables.page(record.newest(root)))
    except (OSError, ValueError) as error:
        raise BenchmarkError(f"{page}: {error}") from None
    page.write_text(text)
    print(f"wrote the newest records into {PAGE}")
    return 0


@dataclass
class _Bench:
    """One run of the command: the drivers, and what became of the peers."""

    root: Path
    options: argparse.Namespace
    stack: ExitStack

    def __post_init__(self) -> None:
        self.suite: str = self.options.suite
        wished = self.options.threads or THREADS[self.suite]
        self.threads = wished if self.options.threads else min(wished, os.cpu_count() or 1)
        self.progress = terminal.TerminalProgress()
        self.cache = self.root / "benches" / ".cache"
        self.cache.mkdir(parents=True, exist_ok=True)
        #: Why peers do not take part.
        self.failures: list[str] = []
        self.versions: dict[str, str] = {}
        self.limits: dict[str, Any] = {}
        #: The program, in its suite.
        self.handed: program.Handed | None = None

    def measure(self) -> list[Result]:
        ours = self._ours()
        cases = chosen(ours.cases, self.options.only)
        if not cases:
            known = ", ".join(list(ours.cases)[:6])
            raise UsageError(f"--only {self.options.only} fits no case; there are {known}, ...")
        peers = self._peers() if self.options.peers else []
        with self.progress.phase("measuring the machine"):
            self.limits = ours.ask({"machine": True})["machine"]
        with self.progress.phase(f"measuring {self.suite}") as update:
            return measure(ours, peers, cases, self.threads, self.options.repetitions, update)

    def _ours(self) -> Driver:
        with self.progress.phase("building the driver"):
            driver = build_driver(self.root)
        words = [str(driver), "--suite", self.suite, "--threads", str(self.threads)]
        if self.suite == "programs":
            self.handed = program.hand_over(PROGRAM, self.cache, self.progress)
            words += ["--spec", str(self.handed.ours)]
        if self.options.all:
            words.append("--all")
        log = self.cache / f"cyclotron-{self.suite}.log"
        return self.stack.enter_context(Driver("cyclotron", words, log=log))

    def _peers(self) -> list[Driver]:
        """Build and start the peers that have the suite; say why others do not take part."""
        spec = None if self.handed is None else self.handed.peers
        drivers = []
        for peer in read_peers(self.root):
            if self.suite not in peer.suites:
                continue
            try:
                drivers.append(self._peer(peer, spec))
            except BenchmarkError as error:
                self.failures.append(str(error))
                print(f"left out: {error}", file=sys.stderr, flush=True)
        return drivers

    def _peer(self, peer: Peer, spec: Path | None) -> Driver:
        workshop = Workshop(peer, self.root)
        with self.progress.phase(f"building {peer.name} {peer.version}"):
            workshop.build()
        driver = self.stack.enter_context(workshop.start(self.suite, self.threads, spec))
        self.versions |= workshop.versions()
        for note in driver.notes:
            print(f"{peer.name}: {note}", file=sys.stderr, flush=True)
        return driver

    def record(self, results: list[dict[str, Any]]) -> Path | None:
        """Write a record: if asked for, or by itself of a whole suite beside its peers."""
        whole = self.options.peers and not self.options.only and not self.options.all
        if not (whole if self.options.record is None else self.options.record):
            return None
        facts = {
            "commit": record.commit(self.root),
            "versions": record.versions(self.versions),
            "machine": record.machine_facts(self.limits),
            "left_out": self.failures,
        }
        return record.write(self.root, self.suite, self.threads, facts, results)


def _describe(results: list[dict[str, Any]], left_out: list[str]) -> str:
    """Lay the results out for people."""
    columns = tables.header(results)
    shown = [terminal.table(columns, tables.rows(results), " " + "r" * len(columns))]
    notes = tables.parameter_lines(results) + tables.failure_lines(results)
    notes += [f"left out: {why}" for why in left_out]
    if notes:
        shown.append("\n".join(notes))
    shown.append(
        "Medians; spread: half of the repetitions lie within; bound: the least that the machine "
        "needs; ratio: peer / Cyclotron, ~ at other parameters."
    )
    return "\n\n".join(shown)
