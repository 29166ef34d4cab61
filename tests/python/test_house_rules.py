"""House rules that a test can enforce: arrows between crates, unsafe, sizes, names, paths."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CRATES = ROOT / "crates"

#: What each crate may depend on, as drawn in ARCHITECTURE.md.
ARROWS: dict[str, set[str]] = {
    "ring": set(),
    "isa": {"ring"},
    "machine": {"isa"},
    "program": set(),
    "schemes": {"ring", "isa"},
    "lower": {"program", "schemes", "ring", "isa", "machine"},
    "compiler": {"isa", "machine"},
    "checker": {"isa", "machine"},
    "simulator": {"isa", "machine", "ring"},
    "runtime": {"isa", "ring"},
    "wire": {"program", "schemes", "isa", "ring"},
}

#: Names that say nothing about what a file holds.
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "data", "v2"}

#: Longest file, in lines.
LONGEST = 1000


def tracked(*patterns: str) -> list[Path]:
    """Return the files of the checkout that match, ignored ones left out."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in listed.splitlines() if (ROOT / line).is_file()]


def dependencies(crate: str) -> set[str]:
    """Return the crates of the workspace that a crate's library depends on."""
    manifest = (CRATES / crate / "Cargo.toml").read_text()
    section = manifest.split("[dependencies]")[1].split("\n[")[0]
    return set(re.findall(r"^cyclotron-([a-z]+)", section, re.MULTILINE))


@pytest.mark.parametrize("crate", sorted(ARROWS))
def test_arrows_point_one_way(crate: str) -> None:
    assert dependencies(crate) <= ARROWS[crate]


def test_every_crate_is_drawn() -> None:
    crates = {path.parent.name for path in CRATES.glob("*/Cargo.toml")}
    assert crates - {"session", "python"} == set(ARROWS)
    for crate in ARROWS:
        assert "pyo3" not in (CRATES / crate / "Cargo.toml").read_text()


def test_unsafe_lives_in_ring() -> None:
    word = re.compile(r"\bunsafe\b(?!_code)")
    for path in tracked("crates/*.rs"):
        if path.is_relative_to(CRATES / "ring"):
            continue
        code = re.sub(r"//.*", "", path.read_text())
        assert not word.search(code), path


def test_files_are_short_and_named_for_what_they_hold() -> None:
    for path in tracked("*.rs", "*.py"):
        lines = path.read_text().count("\n")
        assert lines <= LONGEST, f"{path} has {lines} lines"
        assert path.stem not in VAGUE, path


def test_no_machine_number_hides_in_rust() -> None:
    for crate in ("compiler", "checker", "simulator", "lower"):
        for path in tracked(f"crates/{crate}/src/*.rs"):
            assert not re.search(r'"f1"', path.read_text().split("#[cfg(test)]")[0]), path


def test_paths_in_the_documents_exist() -> None:
    pattern = re.compile(r"`((?:crates|python|machines|docs|examples|tests|tools)/[\w./-]+)`")
    link = re.compile(r"\]\(([\w./-]+)(?:#[\w-]+)?\)")
    for page in tracked("*.md"):
        text = page.read_text()
        for path in pattern.findall(text):
            assert (ROOT / path).exists(), f"{page.name} names {path}"
        for path in link.findall(text):
            assert (page.parent / path).exists(), f"{page.name} links to {path}"
