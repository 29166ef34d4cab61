"""Peers: what ``peer.toml`` says, how they are built and started."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclotron.benchmark.driver import Driver
from cyclotron.errors import BenchmarkError

#: How to come by what peers need, by its name up to a version.
REMEDIES = {
    "go": "install Go 1.24 or newer (https://go.dev/dl)",
    "cargo": "install Rust (https://rustup.rs)",
    "python": "install that version of Python, for example with pyenv",
}

#: Longest build of a peer.
BUILD_SECONDS = 1800


@dataclass(frozen=True)
class Peer:
    """A peer as its ``peer.toml`` describes it; ``benches/README.md`` has the fields."""

    name: str
    version: str
    suites: tuple[str, ...]
    needs: tuple[str, ...]
    build: tuple[tuple[str, ...], ...]
    run: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    folder: Path


def read_peers(root: Path) -> list[Peer]:
    """Read the peers of a checkout, by name."""
    files = sorted((root / "benches" / "peers").glob("*/peer.toml"))
    return [read_peer(path) for path in files]


def read_peer(path: Path) -> Peer:
    """Read one ``peer.toml``."""
    try:
        toml = importlib.import_module("tomllib")
    except ModuleNotFoundError:
        raise BenchmarkError("reading peer.toml needs Python 3.11 or newer") from None
    try:
        fields: dict[str, Any] = toml.loads(path.read_text())
        return Peer(
            name=str(fields["name"]),
            version=str(fields["version"]),
            suites=_words(fields["suites"]),
            needs=_words(fields.get("needs", [])),
            build=tuple(_words(command) for command in fields.get("build", [])),
            run=_words(fields["run"]),
            environment=tuple((str(k), str(v)) for k, v in fields.get("environment", {}).items()),
            folder=path.parent.resolve(),
        )
    except KeyError as error:
        raise BenchmarkError(f"{path}: the field {error} is missing") from None
    except (ValueError, TypeError) as error:
        raise BenchmarkError(f"{path}: {error}") from None


def _words(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise TypeError(f"{value!r} is not a list of words")
    return tuple(value)


class Workshop:
    """Where a peer is built: its cache, and the programs that it needs.

    Raises
    ------
    BenchmarkError
        If a needed program is not there.
    """

    def __init__(self, peer: Peer, root: Path) -> None:
        self.peer = peer
        self.cache = root / "benches" / ".cache" / peer.name
        self._places = {"folder": str(peer.folder), "cache": str(self.cache)}
        self._places |= {name: locate(name, peer.name) for name in peer.needs}

    def build(self) -> None:
        """Run the build commands."""
        self.cache.mkdir(parents=True, exist_ok=True)
        for command in self.peer.build:
            words = self._filled(command, 1)
            try:
                done = subprocess.run(
                    words,
                    cwd=self.cache,
                    env=self._environment(1),
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    timeout=BUILD_SECONDS,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise BenchmarkError(f"{self.peer.name} does not build: {error}") from None
            if done.returncode != 0:
                said = (done.stderr.strip() or done.stdout.strip())[-1000:]
                raise BenchmarkError(
                    f"{self.peer.name} does not build: `{' '.join(words)}` says\n{said}"
                )

    def start(self, suite: str, threads: int, spec: Path | None) -> Driver:
        """Start the peer's driver."""
        command = [*self._filled(self.peer.run, threads), "--suite", suite]
        command += ["--threads", str(threads)]
        if spec is not None:
            command += ["--spec", str(spec)]
        return Driver(
            self.peer.name,
            command,
            environment=self._environment(threads),
            log=self.cache / f"{suite}.log",
        )

    def versions(self) -> dict[str, str]:
        """Return the version of the library and of each needed program."""
        told = {self.peer.name: self.peer.version}
        for name in self.peer.needs:
            told[name] = version_of(self._places[name])
        return told

    def _filled(self, words: tuple[str, ...], threads: int) -> list[str]:
        places = {**self._places, "threads": str(threads)}
        return [fill(word, places, self.peer.name) for word in words]

    def _environment(self, threads: int) -> Mapping[str, str]:
        places = {**self._places, "threads": str(threads)}
        own = {k: fill(v, places, self.peer.name) for k, v in self.peer.environment}
        return {**os.environ, **own}


def fill(word: str, places: Mapping[str, str], peer: str) -> str:
    """Put the places into a word.

    Examples
    --------
    >>> fill("{cache}/driver", {"cache": "/tmp"}, "x")
    '/tmp/driver'
    """

    def place(found: re.Match[str]) -> str:
        if found[1] not in places:
            raise BenchmarkError(f"{peer}: peer.toml asks for {found[0]}, which nothing defines")
        return places[found[1]]

    return re.sub(r"\{([\w.]+)\}", place, word)


def locate(name: str, peer: str) -> str:
    """Return the path of a program that a peer needs."""
    found = shutil.which(name)
    if found is not None and version_of(found):
        return found
    # pyenv's stand-ins are there for versions that are not selected, and fail.
    if name.startswith("python3"):
        pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
        for candidate in sorted(pyenv.glob(f"{name.removeprefix('python')}.*/bin/{name}")):
            return str(candidate)
    remedy = REMEDIES.get(name.rstrip("0123456789."), "install it")
    raise BenchmarkError(f"{peer} needs {name}, which is not there: {remedy}")


def version_of(program: str) -> str:
    """Return the first line of what a program says of its version; nothing if it fails."""
    for word in ("--version", "version"):
        try:
            said = subprocess.run(
                [program, word], capture_output=True, text=True, timeout=30, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        if said.returncode == 0 and said.stdout.strip():
            return said.stdout.strip().splitlines()[0]
    return ""
