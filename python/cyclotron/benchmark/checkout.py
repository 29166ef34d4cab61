"""The checkout that benchmarks are built in, and our driver."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import cyclotron
from cyclotron.errors import BenchmarkError

#: What a checkout has and an installed package has not.
MARK = Path("benches") / "Cargo.toml"


def find_checkout() -> Path:
    """Return the root of the checkout: of this package, or around the current folder."""
    package = Path(cyclotron.__file__).resolve()
    here = Path.cwd()
    for folder in (*package.parents[:4], here, *here.parents):
        if (folder / MARK).is_file():
            return folder
    raise BenchmarkError(
        "benchmarks are built from source: run this in a checkout of Cyclotron, after `make setup`"
    )


def build_driver(root: Path) -> Path:
    """Build our driver; return its path."""
    cargo = shutil.which("cargo")
    if cargo is None:
        raise BenchmarkError("building the driver needs Rust (cargo); see https://rustup.rs")
    command = [cargo, "build", "--release", "--quiet", "-p", "cyclotron-benches"]
    built = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if built.returncode != 0:
        raise BenchmarkError(f"the driver does not build:\n{built.stderr.strip()[-2000:]}")
    return built_driver(root, cargo)


def built_driver(root: Path, cargo: str) -> Path:
    """Return where cargo puts our driver."""
    command = [cargo, "metadata", "--format-version", "1", "--no-deps"]
    told = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if told.returncode != 0:
        raise BenchmarkError(f"cargo metadata: {told.stderr.strip()[-500:]}")
    return Path(json.loads(told.stdout)["target_directory"]) / "release" / "cyclotron-driver"
