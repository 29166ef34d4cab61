"""Measures OpenFHE for `cyclotron bench`: the driver's protocol of benches/README.md."""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from operations import Operands, ParameterSet

VERSION = "1.6.1"
#: A repetition of a short operation lasts at least this long.
BATCH_SECONDS = 0.02

#: glibc is to keep the memory of results that were freed, instead of returning it to the
#: system and faulting it in again.
MALLOC = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 32),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 35),
    "MALLOC_TOP_PAD_": str(1 << 28),
}

NOTES = [
    "the wheel of PyPI, a portable build",
    "every operation allocates its result; glibc is told to keep the memory",
    "special primes are chosen by the library: as many of 60 bits as a digit needs",
    "scales are chosen so that log QP stays within that of the set",
    "encrypt is under the secret key; encode includes the conversion of a Python list, "
    "decrypt does not include that to one",
]

Facts = dict[str, Any]


@dataclass
class Case:
    """An operation on one parameter set."""

    name: str
    operation: str
    parameters: ParameterSet
    batch: int = field(default=0)


class Driver:
    """Answers requests; holds the operands of the sets in use."""

    def __init__(self, sets: list[ParameterSet]) -> None:
        self.sets = {s.name: s for s in sets}
        self.cases = {}
        for parameters in sets:
            for operation in parameters.operations:
                name = f"{parameters.scheme}/{operation}/{parameters.size}"
                self.cases[name] = Case(name, operation, parameters)
        self.operands: dict[str, Operands] = {}

    def hello(self) -> Facts:
        """Return the first line."""
        cases = [{"case": c.name, "parameters": c.parameters.facts()} for c in self.cases.values()]
        return {"driver": "openfhe", "version": VERSION, "notes": NOTES, "cases": cases}

    def answer(self, request: Facts) -> Facts:
        """Answer a request other than quit."""
        if "run" in request:
            name = request["run"]
            return {"run": name, "seconds": self.run(name, request.get("repetitions", 1))}
        if "check" in request:
            case = self.cases[request["check"]]
            values, expected = self.loaded(case).check(case.operation)
            return {"check": case.name, "values": values, "expected": expected}
        if "release" in request:
            self.release(request["release"])
            return {"release": request["release"]}
        raise ValueError("a request has one of run, check, release, quit")

    def run(self, name: str, repetitions: int) -> list[float]:
        """Measure repetitions, each apart."""
        case = self.cases[name]
        operands = self.loaded(case)
        work = operands.work[case.operation]
        if not case.batch:
            clock(work, 1)
            elapsed = clock(work, 1)
            case.batch = 1 if elapsed > BATCH_SECONDS else int(BATCH_SECONDS / elapsed) + 1
        divisor = case.batch * operands.divisor(case.operation)
        return [clock(work, case.batch) / divisor for _ in range(repetitions)]

    def loaded(self, case: Case) -> Operands:
        """Return the operands of a case's set, made on first use."""
        from operations import Operands  # noqa: PLC0415 - see main

        name = case.parameters.name
        if name not in self.operands:
            self.operands[name] = Operands(case.parameters)
        return self.operands[name]

    def release(self, name: str) -> None:
        """Free a set. The library keeps all keys in one place, so all sets go."""
        if name not in self.sets:
            raise ValueError(f"unknown parameter set {name!r}")
        from operations import clear_keys  # noqa: PLC0415 - see main

        if name in self.operands:
            self.operands.clear()
            clear_keys()
            gc.collect()


def clock(work: Callable[[], object], times: int) -> float:
    """Return the seconds that some runs take; a result lives until the next."""
    start = time.perf_counter()
    for _ in range(times):
        result = work()
    elapsed = time.perf_counter() - start
    del result
    return elapsed


def say(line: Facts) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def settle(wanted: dict[str, str]) -> None:
    """Start this process anew unless these environment variables are set."""
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **wanted})


def main() -> None:
    """Serve until the input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--suite", required=True, choices=["operations"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sets", required=True, help="file with the parameter sets")
    parser.add_argument("--spec", help="unused: for programs")
    options = parser.parse_args()
    settle({"OMP_NUM_THREADS": str(options.threads), "OMP_PROC_BIND": "true", **MALLOC})
    # Not before: OpenMP reads its environment when the library is loaded.
    from operations import read_sets  # noqa: PLC0415

    gc.disable()
    driver = Driver(read_sets(options.sets))
    say(driver.hello())
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            request = json.loads(line)
            if request.get("quit"):
                return
            say(driver.answer(request))
        except Exception as error:
            say({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
