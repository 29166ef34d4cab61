"""The runner of benchmarks, with drivers that are made up, and once with ours."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Command

from cyclotron.benchmark import record, tables
from cyclotron.benchmark.agreement import differences, wrong
from cyclotron.benchmark.checkout import built_driver, find_checkout
from cyclotron.benchmark.driver import Check, Driver
from cyclotron.benchmark.peers import Workshop, fill, locate, read_peer, read_peers
from cyclotron.benchmark.program import hand_over
from cyclotron.benchmark.rounds import Result, chosen, measure
from cyclotron.benchmark.samples import Samples, quartiles, speedup, speedup_range
from cyclotron.cli import main
from cyclotron.errors import BenchmarkError
from cyclotron.progress import Silent

FAKE = Path(__file__).with_name("fake_driver.py")
LARGE = {"log_n": 16, "limbs": 24, "special": 8, "digits": 3, "log_qp": 1600.0}
CASE = "ckks/rotate/n16"

Start = Callable[..., Driver]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a made-up driver."""
    with ExitStack() as stack:

        def call(name: str, patience: float = 20, **behaviour: Any) -> Driver:
            behaviour = {"cases": {CASE: LARGE}, "seconds": 0.5, **behaviour}
            command = [sys.executable, str(FAKE), name, json.dumps(behaviour)]
            log = tmp_path / f"{name}.log"
            return stack.enter_context(Driver(name, command, log=log, patience=patience))

        yield call


def run(ours: Driver, *peers: Driver, repetitions: int = 3) -> list[Result]:
    return measure(ours, peers, list(ours.cases), 1, repetitions, lambda *_: None)


def test_result_has_the_documented_shape(start: Start) -> None:
    (result,) = run(start("cyclotron"), start("peer", seconds=2.0))
    shown = json.loads(json.dumps(result.as_json()))
    assert shown["name"] == CASE
    assert shown["parameters"] == LARGE
    assert (shown["threads"], shown["repetitions"]) == (1, 3)
    assert (shown["ours_seconds"], shown["ours_spread"]) == (0.5, 0.0)
    assert (shown["peers"], shown["speedup"]) == ({"peer": 2.0}, {"peer": 4.0})
    assert (shown["bound_seconds"], shown["over_bound"]) == (0.25, 2.0)
    assert shown["correct"]
    assert shown["same_parameters"] == {"peer": True}
    assert shown["failures"] == {}


def test_other_parameters_are_named_and_marked(start: Start) -> None:
    other = {**LARGE, "special": 7, "log_qp": 1620.0}
    (result,) = run(start("cyclotron"), start("peer", cases={CASE: other}))
    shown = result.as_json()
    assert shown["same_parameters"] == {"peer": False}
    assert shown["differences"]["peer"] == [
        "special primes 7 instead of 8",
        "log QP 1620.0 instead of 1600.0",
    ]
    (row,) = tables.rows([shown])
    assert row[-1] == "~1.00x"
    assert any("differs: special primes 7" in line for line in tables.parameter_lines([shown]))


def test_sizes_of_primes_may_differ_a_little() -> None:
    assert not differences(LARGE, {**LARGE, "log_qp": 1599.2})
    assert differences({"prime": 97}, {"prime": 193}) == ["prime 193 instead of 97"]


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        ({"values": [1, 2, 4]}, "peer: result 2 is 4, expected 3"),
        ({"values": [1, 2, 4], "expected": [1, 2, 4]}, "expects something else"),
        ({"values": []}, "0 values instead of 3"),
        ({"refuses": CASE}, "peer: out of memory"),
        ({"dies_after": 2}, "fake trouble"),
        ({"seconds": 0}, "took [0] seconds"),
    ],
)
def test_failing_peer_is_reported_and_the_rest_goes_on(
    start: Start, behaviour: dict[str, Any], why: str
) -> None:
    good, bad = start("good", seconds=1.0), start("peer", **behaviour)
    (result,) = run(start("cyclotron"), bad, good)
    shown = result.as_json()
    assert why in shown["failures"]["peer"]
    assert shown["peers"] == {"good": 1.0}
    assert shown["correct"]
    assert any(why in line for line in tables.failure_lines([shown]))


def test_our_wrong_result_is_no_success(start: Start) -> None:
    (result,) = run(start("cyclotron", values=[1, 2, 2.5]))
    assert result.failure == "result 2 is 2.5, expected 3"
    assert tables.rows([result.as_json()])[0][0].endswith("WRONG")


@pytest.mark.parametrize("behaviour", [{"noise": "hello"}, {"noise": '{"driver": "x"}'}])
def test_driver_that_does_not_speak_the_protocol(start: Start, behaviour: dict[str, str]) -> None:
    with pytest.raises(BenchmarkError, match="list"):
        start("peer", **behaviour)


def test_driver_that_is_not_there_or_silent(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="does not start"):
        Driver("peer", ["/nowhere/driver"], log=tmp_path / "log")
    silent = [sys.executable, "-c", "import time; time.sleep(60)"]
    with pytest.raises(BenchmarkError, match="no sign of its list"):
        Driver("peer", silent, log=tmp_path / "log", patience=0.2)


def test_variants_of_a_peer_are_peers(start: Start) -> None:
    program = "program/lola-mnist"
    ours = start("cyclotron", cases={program: LARGE})
    both = start("peer", cases={program: LARGE, f"{program}/native": {**LARGE, "limbs": 3}})
    (result,) = run(ours, both)
    shown = result.as_json()
    assert shown["same_parameters"] == {"peer": True, "peer-native": False}


def test_values_are_compared_as_the_scheme_says() -> None:
    assert wrong("ckks/add/n14", {}, Check([1.00001], [1.0])) is None
    assert wrong("ckks/add/n14", {}, Check([1.01], [1.0])) is not None
    assert wrong("ckks/add/n14", {}, Check([float("nan")], [1.0])) is not None
    assert wrong("bgv/add/n14", {"plaintext_modulus": 17}, Check([-1], [16])) is None
    assert wrong("bgv/add/n14", {"plaintext_modulus": 17}, Check([-1], [15])) is not None
    large = 2**59 + 1
    assert wrong("ntt/forward/60bit/n14", {}, Check([large], [large - 1])) is not None


def test_statistics() -> None:
    ours, peer = Samples((1.0, 1.0, 2.0)), Samples((3.0, 4.0, 8.0))
    assert (ours.median, ours.spread) == (1.0, 0.5)
    assert speedup(ours, peer) == 4.0
    assert speedup_range(ours, peer) == (3.5, 4.0)
    assert quartiles([7.0]) == (7.0, 7.0)


def test_filter_takes_several_parts() -> None:
    cases = ["ckks/add/n14", "ckks/rotate/n16", "bgv/add/n14"]
    assert chosen(cases, None) == cases
    assert chosen(cases, "rotate, bgv") == cases[1:]


PEER_TOML = """
name = "peer"
version = "1.2"
suites = ["operations"]
needs = ["python{minor}"]
build = [["{{python{minor}}}", "-c", "open('{{cache}}/built', 'w').write('{{threads}}')"]]
run = ["{{python{minor}}}", "{fake}", "peer", '{{"cases": {{}}, "seconds": 1}}']

[environment]
PEER_THREADS = "{{threads}}"
"""


def peer_file(folder: Path, **changes: str) -> Path:
    minor = f"3.{sys.version_info.minor}"
    text = PEER_TOML.format(minor=minor, fake=FAKE)
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path = folder / "benches" / "peers" / "peer" / "peer.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


needs_toml = pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib is of Python 3.11")


@needs_toml
def test_peer_is_built_and_started(tmp_path: Path) -> None:
    peer_file(tmp_path)
    (peer,) = read_peers(tmp_path)
    workshop = Workshop(peer, tmp_path)
    workshop.build()
    assert (tmp_path / "benches/.cache/peer/built").read_text() == "1"
    assert workshop.versions()["peer"] == "1.2"
    with workshop.start("operations", 2, None) as driver:
        assert driver.cases == {}


@needs_toml
def test_peer_that_cannot_be_built_says_why(tmp_path: Path) -> None:
    peer = read_peer(peer_file(tmp_path, **{"open(": "open(1/0,"}))
    with pytest.raises(BenchmarkError, match=r"(?s)peer does not build.*ZeroDivisionError"):
        Workshop(peer, tmp_path).build()
    broken = peer_file(tmp_path / "other", version="edition")
    with pytest.raises(BenchmarkError, match="field 'version' is missing"):
        read_peer(broken)


def test_what_a_peer_needs_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    with pytest.raises(BenchmarkError, match=r"lattigo needs go, .*https://go\.dev"):
        locate("go", "lattigo")
    with pytest.raises(BenchmarkError, match=r"openfhe needs python3\.10, .* pyenv"):
        locate("python3.10", "openfhe")
    with pytest.raises(BenchmarkError, match="nothing defines"):
        fill("{folders}", {"folder": "x"}, "peer")


def test_python_of_pyenv_is_found_though_not_selected(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stand_in = tmp_path / "python3.10"
    stand_in.write_text("#!/bin/sh\nexit 127\n")
    stand_in.chmod(0o755)
    real = tmp_path / "versions" / "3.10.99" / "bin" / "python3.10"
    real.parent.mkdir(parents=True)
    real.touch()
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert locate("python3.10", "openfhe") == str(real)


@needs_toml
def test_shipped_peers_are_described() -> None:
    for peer in read_peers(ROOT):
        assert set(peer.suites) <= {"kernels", "operations", "programs"}
        places = {"folder": "f", "cache": "c", "threads": "1"} | dict.fromkeys(peer.needs, "x")
        for command in (*peer.build, peer.run):
            assert all(fill(word, places, peer.name) for word in command)


def test_records_come_back_as_tables(start: Start, tmp_path: Path) -> None:
    (result,) = run(start("cyclotron"), start("peer"))
    limits = {
        "simd": "avx512",
        "bandwidth": [{"bytes": 1 << 20, "read": 1e10, "copy": 2e10}],
        "ifma": 1e9,
        "vector32": 1e9,
    }
    facts = {
        "commit": "0123456789abcdef",
        "versions": {"peer": "1.2"},
        "machine": record.machine_facts(limits),
    }
    path = record.write(tmp_path, "operations", 1, facts, [result.as_json()])
    assert path.parent == tmp_path / "benches" / "record"
    page = tables.page(record.newest(tmp_path))
    assert "| ckks/rotate/n16 | 500 ms |" in page
    assert "peer 1.2" in page
    marked = f"a\n{tables.BEGIN}\nold\n{tables.END}\nb\n"
    assert "old" not in tables.replace_between(marked, page)
    path.write_text('{"suite": "operations"}')
    with pytest.raises(BenchmarkError, match="not a record"):
        record.newest(tmp_path)


def test_performance_page_shows_the_newest_records() -> None:
    text = (ROOT / "docs" / "performance.md").read_text()
    assert tables.replace_between(text, tables.page(record.newest(ROOT))) == text


def test_outside_a_checkout_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert find_checkout() == ROOT
    monkeypatch.setattr("cyclotron.__file__", str(tmp_path / "cyclotron" / "__init__.py"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BenchmarkError, match="in a checkout of Cyclotron"):
        find_checkout()


def test_command_needs_a_suite(cyclotron: Command) -> None:
    done = cyclotron("bench")
    assert done.code == 2
    assert "kernels, operations or programs" in done.err


def built() -> Path:
    """Return our driver as `cargo test` or the command has built it."""
    cargo = shutil.which("cargo")
    if cargo is not None:
        release = built_driver(ROOT, cargo)
        for path in (release, release.parents[1] / "debug" / release.name):
            if path.is_file():
                return path
    pytest.skip("our driver is not built; `cargo test -p cyclotron-benches` builds it")


def test_command_measures_kernels_for_real(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    driver = built()
    monkeypatch.setattr("cyclotron.cli.bench.build_driver", lambda _: driver)
    words = ["bench", "kernels", "--only", "forward/50bit/n14", "--repetitions", "1", "--json"]
    assert main(words) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert result["name"] == "ntt/forward/50bit/n14"
    assert result["correct"]
    assert result["ours_seconds"] > 0
    assert result["bound_seconds"] > 0


def test_program_is_handed_to_our_driver(tmp_path: Path) -> None:
    handed = hand_over("lola-mnist", tmp_path, Silent())
    command = [str(built()), "--suite", "programs", "--spec", str(handed.ours)]
    with Driver("cyclotron", command, log=tmp_path / "log") as driver:
        (case,) = driver.cases
        assert case == "program/lola-mnist"
        assert wrong(case, driver.cases[case], driver.check(case)) is None
    assert json.loads(handed.peers.read_text())["nodes"]
