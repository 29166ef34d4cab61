"""Compiles programs for every point of a sweep, on all cores, and can go on later."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclotron import _native, programs
from cyclotron.errors import CyclotronError, UsageError
from cyclotron.execution import lower, schedule
from cyclotron.exploration.area import area_mm2
from cyclotron.exploration.axis import Axis, Change, grid
from cyclotron.options import Options
from cyclotron.progress import Progress, Silent

__all__ = ["Study", "sweep"]


@dataclass(frozen=True)
class Study:
    """What is explored.

    Attributes
    ----------
    machine
        A shipped machine or a path to a machine's TOML file.
    overlays
        Variants applied before the keys are changed.
    axes
        What varies.
    programs
        Names of programs, as on the command line.
    parameters
        Parameters of all programs.
    """

    machine: str
    axes: tuple[Axis, ...]
    programs: tuple[str, ...]
    overlays: tuple[str, ...] = ()
    parameters: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class _Task:
    """One program on one point."""

    study: Study
    changes: tuple[Change, ...]
    program: str
    key: str


def sweep(
    study: Study,
    *,
    store: Path | None = None,
    jobs: int = 0,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Compile every program for every point.

    Parameters
    ----------
    study
        What is explored.
    store
        A file of finished results, one JSON object a line. What it holds is not
        computed again, and what is finished is added to it at once, so that an
        interrupted sweep goes on where it stopped.
    jobs
        Processes; one for each core when 0, none but this one when 1. They share the
        cores: each compiles on its part, or on ``RAYON_NUM_THREADS`` threads.
    progress
        Watches the sweep.

    Returns
    -------
    list of dict
        A row for every point and program, points in the order of the grid. A
        point that a program does not fit has an ``error`` in place of results.

    Raises
    ------
    UsageError
        If the store is damaged.
    CyclotronError
        If a changed machine is not valid, or a program does not exist.
    """
    tasks = _tasks(study)
    finished = _read(store)
    missing = [task for task in tasks if task.key not in finished]
    with (progress or Silent()).phase("exploring") as update:
        done = len(tasks) - len(missing)
        for key, row in _run(missing, jobs):
            finished[key] = row
            _append(store, row)
            done += 1
            update(f"{done} of {len(tasks)}", done / len(tasks))
    return [finished[task.key] for task in tasks]


def _tasks(study: Study) -> list[_Task]:
    """Return all tasks; machines and programs are tried here, before anything runs."""
    base = _native.Machine.open(study.machine, [*study.overlays])
    hashes = {
        name: programs.find(name).build(dict(study.parameters)).native().hash()
        for name in study.programs
    }
    tasks = []
    for changes in grid(study.axes):
        machine = base.vary(changes)
        for name in study.programs:
            identity = [machine.hash, name, hashes[name], changes, _native.__version__]
            digest = hashlib.blake2b(json.dumps(identity).encode(), digest_size=12)
            tasks.append(_Task(study, changes, name, digest.hexdigest()))
    return tasks


def _run(tasks: Sequence[_Task], jobs: int) -> Any:
    """Yield key and row of every task as it finishes."""
    workers = min(jobs or os.cpu_count() or 1, len(tasks))
    if workers <= 1:
        for task in tasks:
            yield task.key, _evaluate(task)
        return
    # A fresh interpreter, because threads of the compiled module do not survive a fork.
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    threads = max(1, (os.cpu_count() or 1) // workers)
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=_limit_threads, initargs=(threads,)
    )
    try:
        with _interrupts_blocked():
            waiting: dict[Future[dict[str, Any]], str] = {
                pool.submit(_evaluate, task): task.key for task in tasks
            }
        while waiting:
            ready, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in ready:
                yield waiting.pop(future), future.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        # What they are at takes long, and is computed again when the sweep goes on.
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        raise
    pool.shutdown()


def _limit_threads(threads: int) -> None:
    """Share the cores out: every process would compile on all of them."""
    os.environ.setdefault("RAYON_NUM_THREADS", str(threads))


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Keep interrupts until later, and from all processes that are started meanwhile.

    A terminal sends an interrupt to all processes of a command, of which only
    the one that started the others is to act on it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _evaluate(task: _Task) -> dict[str, Any]:
    """Compile one program for one point; return its row."""
    study = task.study
    base = _native.Machine.open(study.machine, [*study.overlays])
    machine = base.vary(task.changes)
    row: dict[str, Any] = {
        "key": task.key,
        "machine": machine.name,
        "changes": dict(task.changes),
        "program": task.program,
        "area_mm2": None,
    }
    try:
        row["area_mm2"] = area_mm2(base, machine)
        return row | _measure(task, machine)
    except CyclotronError as error:
        return row | {"error": str(error)}


def _measure(task: _Task, machine: _native.Machine) -> dict[str, Any]:
    workload = programs.find(task.program)
    program = workload.build(dict(task.study.parameters))
    options = Options(on=task.study.machine)
    lowered = lower(program, options, workload.calibration(program), machine=machine)
    made = schedule(lowered, options, None).schedule
    assert made is not None
    report = made.report()
    joules = [line["joules"] for line in made.energy()]
    return {
        "cycles": report["cycles"],
        "milliseconds": report["milliseconds"],
        "schedule_over_bound": report["schedule_over_bound"],
        "bound_resource": report["bound_resource"],
        "traffic_bytes": report["traffic_bytes"]["total"],
        "joules": sum(j for j in joules if j is not None),
    }


def _read(store: Path | None) -> dict[str, dict[str, Any]]:
    """Read finished results; a last line that an interrupt cut off is removed."""
    if store is None or not store.exists():
        return {}
    stored = store.read_bytes()
    whole = stored[: stored.rfind(b"\n") + 1]
    if whole != stored:
        store.write_bytes(whole)
    rows = {}
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            row = json.loads(line)
            rows[row["key"]] = row
        except (ValueError, TypeError, KeyError):
            raise UsageError(f"{store}:{number} is not a result; delete the file") from None
    return rows


def _append(store: Path | None, row: dict[str, Any]) -> None:
    if store is not None:
        with store.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
