"""Compare the instructions of the kernels with the recorded counts.

Counts do not depend on what else a machine does, so a slower kernel shows in them where times
would only suggest it. Two kinds are compared, each recorded in one file in ``tests/counts``:

``instructions.json``
    instructions that one call executes, scalar and AVX2, counted by callgrind
    (which knows no AVX-512) in ``crates/schemes/examples/counted.rs``;
``loops.json``
    instructions in the innermost loops of the AVX-512 kernels, read off the assembly that the
    compiler writes: for each number of multiplications in a loop, the longest such loop.

Fewer instructions are no error, more than the tolerance are. Counts of another compiler than
the recorded one are not compared. ``--write`` records the present counts.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "tests" / "counts"
BUILD = ROOT / "target" / "counts"

#: How many more instructions there may be than recorded, as a ratio.
TOLERANCE = 1.03

#: Name of a kernel, or of a kernel and a number of multiplications, to instructions.
Counts = dict[str, int]

#: What says in an assembly file that a function is an AVX-512 kernel, and which: the function
#: that runs it, then its name and that of its arithmetic, each after its length.
KERNEL = re.compile(r"run_(base|ifma).*?7backend(\d+)(\w+)")
ARITHMETIC = re.compile(r"(?:Lazy|Full|Ifma|Shoup|Wide)\d\d")

#: Multiplications of vectors; a loop without any moves data only.
MULTIPLICATION = re.compile(r"v(?:pmul|pmadd52)\w*\s.*%zmm")


def compiler() -> str:
    """Return the compiler's name and version."""
    command = ["rustc", "--version"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def build() -> Path:
    """Build the counted program and the assembly of `ring`; return the folder of both."""
    # This mangling keeps the types that a function is generic over, hence the kernel's name.
    flags = "-C symbol-mangling-version=v0 --emit=asm,link"
    command = ["cargo", "build", "--release", "--quiet", "-p", "cyclotron-schemes"]
    subprocess.run(
        [*command, "--example", "counted", "--target-dir", str(BUILD)],
        cwd=ROOT,
        env={**os.environ, "RUSTFLAGS": flags},
        check=True,
    )
    return BUILD / "release"


def executed(program: Path) -> Counts:
    """Return the instructions that each call of the counted program executes."""
    region = re.search(rb"_RNv\w+_7counted7counted\b", program.read_bytes())
    if region is None:
        raise SystemExit(f"{program} has no symbols")
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind",
            "--quiet",
            "--tool=callgrind",
            "--demangle=no",
            f"--toggle-collect={region[0].decode()}",
            f"--dump-after={region[0].decode()}",
            f"--callgrind-out-file={folder}/profile",
            str(program),
        ]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        counts = []
        for part in range(1, len(run.stdout.split()) + 1):
            profile = Path(folder, f"profile.{part}").read_text()
            total = re.search(r"^(?:summary|totals): (\d+)", profile, re.MULTILINE)
            counts.append(int(total[1]) if total else 0)
    return dict(zip(run.stdout.split(), counts, strict=True))


def functions(assembly: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the symbol and the lines of each AVX-512 kernel in an assembly file."""
    symbol, lines = "", list[str]()
    with assembly.open() as text:
        for line in text:
            if line.startswith("_R") and KERNEL.search(line):
                symbol, lines = line.rstrip(":\n"), []
            elif line.startswith(".Lfunc_end"):
                if symbol:
                    yield symbol, lines
                symbol = ""
            elif symbol:
                lines.append(line.strip())


def innermost_loops(lines: list[str]) -> Iterator[list[str]]:
    """Yield the instructions of each loop that has no other loop inside."""
    code, labels = list[str](), dict[str, int]()
    for line in lines:
        if line.endswith(":"):
            labels[line[:-1]] = len(code)
        elif line and line[0] not in ".#":
            code.append(line)
    ends = dict[int, int]()
    for at, line in enumerate(code):
        jump = re.match(r"j\w+\s+(\.\w+)", line)
        start = labels.get(jump[1], at + 1) if jump else at + 1
        if start <= at:
            ends[start] = at
    for start, end in ends.items():
        if not any(start < other <= end for other in ends):
            yield code[start : end + 1]


def loops(folder: Path) -> Counts:
    """Return the instructions of the innermost loops of all AVX-512 kernels."""
    counts = Counts()
    files = sorted(folder.glob("cyclotron_ring-*.s"), key=lambda path: path.stat().st_mtime)
    # Builds that are out of date may lie beside the last one.
    prefix = files[-1].name.split("-cgu")[0]
    for assembly in folder.glob(f"{prefix}*.s"):
        for symbol, lines in functions(assembly):
            kernel, arithmetic = KERNEL.search(symbol), ARITHMETIC.search(symbol)
            if kernel is None or arithmetic is None:
                continue
            name = f"{kernel[3][: int(kernel[2])]}/{arithmetic[0]}/{kernel[1]}"
            for loop in innermost_loops(lines):
                multiplications = sum(bool(MULTIPLICATION.match(line)) for line in loop)
                if multiplications:
                    key = f"{name}/{multiplications} multiplications"
                    counts[key] = max(counts.get(key, 0), len(loop))
    return counts


def compare(name: str, counts: Counts, version: str, write: bool) -> list[str]:
    """Compare with the record, or replace it; return what has become worse."""
    path = RECORDS / name
    recorded: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    if write:
        record = {"compiler": version, "counts": dict(sorted(counts.items()))}
        path.write_text(json.dumps(record, indent=2) + "\n")
        print(f"{name}: {len(counts)} counts recorded")
        return []
    if recorded.get("compiler") != version:
        print(f"{name}: skipped, recorded with {recorded.get('compiler')}, not {version}")
        return []
    limits: Counts = recorded["counts"]
    both = limits.keys() & counts.keys()
    worse = [
        f"{name}: {key}: {counts[key]} instructions, not {limits[key]}"
        for key in sorted(both)
        if counts[key] > limits[key] * TOLERANCE
    ]
    better = sum(counts[key] * TOLERANCE < limits[key] for key in both)
    print(
        f"{name}: {len(both)} counts compared, {len(worse)} worse, {better} better; "
        f"{len(counts) - len(both)} not recorded, {len(limits) - len(both)} gone"
    )
    return worse


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="record the present counts")
    write: bool = parser.parse_args().write
    version, folder = compiler(), build()
    worse = compare("loops.json", loops(folder / "deps"), version, write)
    if shutil.which("valgrind"):
        counts = executed(folder / "examples" / "counted")
        worse += compare("instructions.json", counts, version, write)
    else:
        print("instructions.json: skipped, valgrind is not installed")
    for line in worse:
        print(line, file=sys.stderr)
    if worse:
        print("if that has to be, record it: make counts", file=sys.stderr)
    return bool(worse)


if __name__ == "__main__":
    sys.exit(main())
