"""Sweeps: every point once, resumed where they stopped, and the front is a front."""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

from cyclotron import _native
from cyclotron.errors import CyclotronError, UsageError
from cyclotron.exploration import Axis, Study, area_mm2, points, sweep
from cyclotron.progress import Silent, Update

STUDY = Study(
    machine="f1",
    axes=(Axis("clusters", (4, 16)), Axis("scratchpad.kib_per_bank", (64, 4096))),
    programs=("matvec",),
    parameters=(("n", 4096), ("rows", 2)),
)


def test_a_sweep_covers_the_grid_and_remembers_it(tmp_path: Path) -> None:
    store = tmp_path / "results.jsonl"
    rows = sweep(STUDY, store=store, jobs=1)
    assert [tuple(row["changes"].values()) for row in rows] == [
        (4, 64), (4, 4096), (16, 64), (16, 4096),
    ]  # fmt: skip
    lines = store.read_text().splitlines()
    assert len(lines) == 4
    # As if it had been interrupted while it wrote the third result.
    store.write_text("\n".join(lines[:2]) + "\n" + lines[2][:20])
    assert sweep(STUDY, store=store, jobs=2) == rows
    assert [json.loads(line)["key"] for line in lines[:2]] == [
        json.loads(line)["key"] for line in store.read_text().splitlines()[:2]
    ]
    before = store.read_bytes()
    assert sweep(STUDY, store=store, jobs=1) == rows
    assert store.read_bytes() == before


def test_a_finished_point_is_not_computed_again(tmp_path: Path) -> None:
    store = tmp_path / "results.jsonl"
    sweep(STUDY, store=store, jobs=1)
    marked = store.read_text().replace('"cycles": ', '"cycles": 1')
    store.write_text(marked)
    again = sweep(STUDY, store=store, jobs=1)
    assert all(str(row["cycles"]).startswith("1") for row in again)
    store.write_text("no result\n" + marked)
    with pytest.raises(UsageError, match=r"results\.jsonl:1 is not a result"):
        sweep(STUDY, store=store, jobs=1)


class Interrupting(Silent):
    """Interrupts this process soon after the first point, when others are being compiled."""

    def __init__(self) -> None:
        self.timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        self.workers: list[multiprocessing.process.BaseProcess] = []

    @contextmanager
    def phase(self, name: str) -> Iterator[Update]:
        del name

        def update(what: str, share: float) -> None:
            del what, share
            if not self.workers:
                self.workers = [*multiprocessing.active_children()]
                self.timer.start()

        yield update


def test_an_interrupt_ends_the_processes_of_a_sweep(tmp_path: Path) -> None:
    store = tmp_path / "results.jsonl"
    axes = (Axis("clusters", (2, 4, 8, 16)),)
    # A process that a shell started in the background ignores interrupts until told otherwise.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    watch = Interrupting()
    others = set(multiprocessing.active_children())
    try:
        with pytest.raises(KeyboardInterrupt):
            sweep(Study("f1", axes, ("lola-mnist",)), store=store, jobs=2, progress=watch)
    finally:
        watch.timer.cancel()
        signal.signal(signal.SIGINT, before)
    workers = set(watch.workers) - others
    assert len(workers) == 2
    for worker in workers:
        worker.join(60)
        # One that had finished its work would end with 0.
        assert worker.exitcode == -signal.SIGTERM
    assert 0 < len(store.read_text().splitlines()) < 4


def environment(task: Any) -> dict[str, Any]:
    """Stand in for the evaluation of a task."""
    return {"key": task.key, "threads": os.environ.get("RAYON_NUM_THREADS")}


@pytest.mark.parametrize("wish", [None, "7"])
def test_processes_share_the_cores(monkeypatch: pytest.MonkeyPatch, wish: str | None) -> None:
    module = importlib.import_module("cyclotron.exploration.sweep")
    monkeypatch.setattr(module, "_evaluate", environment)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    if wish is None:
        monkeypatch.delenv("RAYON_NUM_THREADS", raising=False)
    else:
        monkeypatch.setenv("RAYON_NUM_THREADS", wish)
    assert {row["threads"] for row in sweep(STUDY, jobs=2)} == {wish or "3"}
    assert os.environ.get("RAYON_NUM_THREADS") == wish


def test_what_does_not_fit_is_listed_with_the_reason() -> None:
    axes = (Axis("scratchpad.kib_per_bank", (16, 4096)),)
    rows = sweep(Study("f1", axes, ("matvec",), parameters=(("rows", 1),)), jobs=1)
    assert "bank" in rows[0]["error"]
    assert "cycles" in rows[1]
    found = points(rows)
    assert [point.per_second is None for point in found] == [True, False]
    assert [point.on_front for point in found] == [False, True]


def test_the_front_holds_what_nothing_beats() -> None:
    def row(area: float, time: float | None) -> dict[str, object]:
        return {"changes": {"k": area}, "program": "p", "area_mm2": area, "milliseconds": time}

    found = points([row(10, 2.0), row(20, 1.0), row(30, 1.0), row(40, 0.5), row(5, None)])
    assert [point.on_front for point in found] == [True, True, False, True, False]
    assert found[1].per_second == pytest.approx(1000)


def test_areas_grow_with_sizes() -> None:
    base = _native.Machine.open("f1", [])
    whole = area_mm2(base, base)
    assert whole == pytest.approx(base.summary()["area_mm2"])
    half = area_mm2(base, base.vary([("scratchpad.kib_per_bank", 2048)]))
    pad = next(x["area_mm2"] for x in base.budget() if x["component"] == "scratchpad.spad")
    assert whole is not None
    assert half == pytest.approx(whole - pad / 2)
    given = [("scratchpad.kib_per_bank", 2048), ("scratchpad.spad.area_mm2", 3.0)]
    assert area_mm2(base, base.vary(given)) == pytest.approx(whole - pad + 16 * 3.0)
    few = base.vary([("clusters", 8)])
    lines = {x["component"]: x["area_mm2"] for x in base.budget()}
    clusters = sum(area for name, area in lines.items() if name.startswith("cluster"))
    to_and_fro, between = lines["xbar.s2c"] + lines["xbar.c2s"], lines["xbar.c2c"]
    expected = whole - clusters / 2 - to_and_fro / 2 - between * 3 / 4
    assert area_mm2(base, few) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["clusters", "clusters=", "=4", "clusters=4,,8", "clusters=4,4"])
def test_bad_axes_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Axis.parse(text)


def test_a_key_that_does_not_exist_stops_before_anything_runs(tmp_path: Path) -> None:
    study = Study("f1", (Axis("clusterz", (4,)),), ("matvec",))
    with pytest.raises(CyclotronError, match="clusterz"):
        sweep(study, store=tmp_path / "r.jsonl", jobs=1)
    assert not (tmp_path / "r.jsonl").exists()


def test_the_command_draws_the_front(cyclotron: Command, tmp_path: Path) -> None:
    words = ("explore", "f1", "--vary", "clusters=4,16", "--program", "matvec",
             "--param", "n=4096", "--param", "rows=2", "--out", "found")  # fmt: skip
    done = cyclotron(*words, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert len(found["points"]) == len(found["results"]) == 2
    assert any(point["pareto"] for point in found["points"])
    for name in ("index.html", "points.csv", "points.parquet", "results.jsonl"):
        assert (tmp_path / "found" / name).stat().st_size > 0
    text = cyclotron(*words).out
    assert "area mm2" in text
    assert cyclotron("explore", "f1", "--vary", "clusters=0", "--program", "matvec").code == 2
