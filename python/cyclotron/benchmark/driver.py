"""A driver: the process that does the work of one side."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO, TypeGuard

from cyclotron.errors import BenchmarkError

#: Longest wait for an answer: making keys of a large set takes minutes in some libraries.
PATIENCE_SECONDS = 900.0

#: Lines of a driver's standard error that an error message repeats.
TAIL = 4


@dataclass(frozen=True)
class Times:
    """Seconds of repetitions."""

    seconds: list[float]
    #: The part in which the work itself was executed, where a driver tells.
    executing: list[float]


@dataclass(frozen=True)
class Check:
    """What a driver computed on the fixed inputs, and what it should have."""

    values: list[float]
    expected: list[float]


class Driver:
    """A running driver; a context manager that ends it.

    Parameters
    ----------
    name
        What the side is called in tables.
    command
        What to start.
    environment
        Variables of the process; ours if None.
    log
        File for what the driver writes to standard error.
    patience
        Seconds to wait for an answer.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        log: Path,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self.name, self._log, self._patience = name, log, patience
        self._lines: queue.Queue[str | None] = queue.Queue()
        try:
            with log.open("w") as errors:
                self._process = subprocess.Popen(
                    list(command),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                    bufsize=1,
                    env=None if environment is None else dict(environment),
                )
        except OSError as error:
            raise BenchmarkError(f"{name}: the driver does not start: {error}") from None
        assert self._process.stdout is not None
        threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True).start()
        try:
            hello = self._answer("its list of cases")
            self.version = str(hello.get("version", ""))
            self.notes = [str(note) for note in hello.get("notes", [])]
            self.cases: dict[str, dict[str, Any]] = {
                case["case"]: dict(case["parameters"]) for case in hello["cases"]
            }
        except (KeyError, TypeError) as error:
            self.close()
            raise BenchmarkError(f"{name}: the first line lists no cases ({error})") from None
        except BenchmarkError:
            self.close()
            raise

    def seconds(self, case: str, repetitions: int = 1) -> list[float]:
        """Run a case; return the seconds of each repetition."""
        return self.times(case, repetitions).seconds

    def times(self, case: str, repetitions: int = 1) -> Times:
        """Run a case; return the times of each repetition."""
        answer = self.ask({"run": case, "repetitions": repetitions})
        seconds, executing = answer.get("seconds"), answer.get("executing_seconds")
        if not _are_times(seconds, repetitions):
            raise BenchmarkError(f"{self.name}: {case} took {seconds!r} seconds")
        return Times(seconds, executing if _are_times(executing, repetitions) else [])

    def check(self, case: str) -> Check:
        """Return what a case computes on the fixed inputs."""
        answer = self.ask({"check": case})
        try:
            return Check(list(answer["values"]), list(answer["expected"]))
        except (KeyError, TypeError):
            raise BenchmarkError(f"{self.name}: {case} has no values to check") from None

    def release(self, parameter_set: str) -> None:
        """Free what a parameter set holds."""
        self.ask({"release": parameter_set})

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request; return the answer, or raise the error that it is."""
        shown = json.dumps(request)
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(shown + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise BenchmarkError(f"{self.name}: the driver has ended{self._last_words()}") from None
        answer = self._answer(f"an answer to {shown}")
        if "error" in answer:
            raise BenchmarkError(f"{self.name}: {answer['error']}")
        return answer

    def _listen(self, output: TextIO) -> None:
        for line in output:
            self._lines.put(line)
        self._lines.put(None)

    def _answer(self, what: str) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=self._patience)
        except queue.Empty:
            self._process.kill()
            raise BenchmarkError(
                f"{self.name}: no sign of {what} for {self._patience:.0f} s"
            ) from None
        if line is None:
            self._process.wait()
            raise BenchmarkError(
                f"{self.name}: the driver ended (code {self._process.returncode}) instead of "
                f"giving {what}{self._last_words()}"
            )
        try:
            answer = json.loads(line)
        except json.JSONDecodeError:
            answer = None
        if not isinstance(answer, dict):
            raise BenchmarkError(f"{self.name}: {line.strip()[:200]!r} is not {what}")
        return answer

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines()[-TAIL:]
        return ": " + " | ".join(lines) if lines else ""

    def close(self) -> None:
        """End the process: politely, then at once."""
        try:
            if self._process.stdin is not None and not self._process.stdin.closed:
                self._process.stdin.write('{"quit": true}\n')
                self._process.stdin.close()
            self._process.wait(timeout=10)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Driver:
        """Return the driver."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """End the driver."""
        self.close()


def _are_times(values: Any, count: int) -> TypeGuard[list[float]]:
    """Tell whether these are so many positive numbers."""
    return (
        isinstance(values, list)
        and len(values) == count
        and all(isinstance(value, (int, float)) and value > 0 for value in values)
    )
