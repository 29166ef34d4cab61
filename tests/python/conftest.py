"""Fixtures for the tests of the Python package."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED_DATA = Path(os.environ.get("CYCLOTRON_DATA", ROOT.parent / "shared" / "data"))


@dataclass(frozen=True)
class Finished:
    """A finished process of the command."""

    code: int
    out: str
    err: str


Command = Callable[..., Finished]


@pytest.fixture(autouse=True)
def _embedded_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's own data out of the tests that do not ask for it."""
    monkeypatch.delenv("CYCLOTRON_DATA", raising=False)


@pytest.fixture
def cyclotron(tmp_path: Path) -> Command:
    """Return a function that runs the command as a process, in a fresh folder."""

    def call(*words: str | Path, timeout: float = 120) -> Finished:
        done = subprocess.run(
            [sys.executable, "-m", "cyclotron", *map(str, words)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            timeout=timeout,
            check=False,
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    return call
