"""Records of benchmarks: the figures with the machine and the versions behind them."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cyclotron import _native
from cyclotron.benchmark.peers import version_of
from cyclotron.errors import BenchmarkError

#: The form of the files.
VERSION = 1


def machine_facts(limits: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the figures depend on besides the code.

    Parameters
    ----------
    limits
        What our driver measured: bandwidths and multiplications per second.
    """
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.machine()}",
        "simd": limits.get("simd"),
        "limits": dict(limits),
    }


def _cpu() -> str:
    """Return the processor's name, with family and model where the name says little."""
    facts: dict[str, str] = {}
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            name, _, value = line.partition(":")
            facts.setdefault(name.strip(), value.strip())
    name = facts.get("model name") or platform.processor() or platform.machine()
    if "cpu family" in facts:
        name += f" (family {facts['cpu family']}, model {facts['model']})"
    return name


def versions(peers: Mapping[str, str]) -> dict[str, str]:
    """Return the versions of ourselves, of compilers and of peers."""
    own = {
        "cyclotron": _native.__version__,
        "rustc": version_of("rustc"),
        "python": platform.python_version(),
    }
    return {**own, **peers}


def commit(root: Path) -> str:
    """Return the commit of the checkout, marked if files differ from it."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(root), *words]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError:
            return ""
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--", ".", ":!benches/record", ":!docs")
    return (git("rev-parse", "HEAD") or "unknown") + (" with changes" if changed else "")


def write(
    root: Path, suite: str, threads: int, facts: Mapping[str, Any], results: Sequence[Any]
) -> Path:
    """Write a record; a later one of the same day, suite and threads replaces it."""
    now = datetime.datetime.now(datetime.timezone.utc)
    path = root / "benches" / "record" / f"{now:%Y-%m-%d}-{suite}-{threads}t.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "version": VERSION,
        "suite": suite,
        "threads": threads,
        "date": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        **facts,
        "results": list(results),
    }
    path.write_text(json.dumps(record, indent=1) + "\n")
    return path


def newest(root: Path) -> list[dict[str, Any]]:
    """Return the newest record of every suite and number of threads."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for path in sorted((root / "benches" / "record").glob("*.json")):
        try:
            record = json.loads(path.read_text())
            key = (str(record["suite"]), int(record["threads"]))
            if record["version"] != VERSION:
                raise ValueError(f"version {record['version']}")
        except (ValueError, KeyError, TypeError) as error:
            raise BenchmarkError(f"{path}: not a record of this version ({error})") from None
        if key not in found or record["date"] >= found[key]["date"]:
            found[key] = record
    order = {"kernels": 0, "operations": 1, "programs": 2}
    return sorted(found.values(), key=lambda r: (order.get(r["suite"], 3), r["threads"]))
