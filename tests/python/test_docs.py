"""What the documentation shows runs, and what it names exists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Command

from cyclotron.cli.parser import build_parser
from cyclotron.programs import find

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def code(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


def test_python_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = code(ROOT / "README.md", "python")
    names: dict[str, Any] = {}
    exec(compile(block, "README.md", "exec"), names)
    assert capsys.readouterr().out.startswith("32 in ")


def test_program_of_the_guide_runs(cyclotron: Command, tmp_path: Path) -> None:
    (block,) = code(ROOT / "docs" / "add-a-program.md", "python")
    (tmp_path / "poly.py").write_text(block)
    done = cyclotron("run", "poly.py:poly", "--param", "shift=0.25")
    assert done.code == 0, done.err


def test_parties_of_the_guide_run(capsys: pytest.CaptureFixture[str]) -> None:
    page = ROOT / "docs" / "client-and-evaluator.md"
    names: dict[str, Any] = {}
    for block in code(page, "python"):
        exec(compile(block, page.name, "exec"), names)
    assert capsys.readouterr().out.splitlines() == ["32", "[2.  3.5]", "True"]


def test_every_option_is_documented() -> None:
    text = (ROOT / "docs" / "cli.md").read_text()
    commands = build_parser()._subparsers
    assert commands is not None
    options: set[str] = set()
    for parser in next(iter(commands._group_actions)).choices.values():  # type: ignore[union-attr]
        options |= {o for a in parser._actions for o in a.option_strings if o.startswith("--")}
    missing = {o for o in options - {"--help", "--output"} if f"`{o}" not in text}
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("name", ["distance.py:distances", "listing2.py:p", "matvec.py:matvec"])
def test_examples_trace(name: str) -> None:
    program = find(str(ROOT / "examples" / name)).build({})
    assert program.outputs
    assert len(program.nodes) < 1000
