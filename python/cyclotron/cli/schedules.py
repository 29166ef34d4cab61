"""``cyclotron compile``, ``check`` and ``simulate``: schedules in files."""

from __future__ import annotations

import argparse
import base64
import json
from dataclasses import asdict
from pathlib import Path

from cyclotron import _native, comparison
from cyclotron.cli import run, terminal
from cyclotron.cli.report import check_paths, load, write_asked
from cyclotron.errors import FormatError, UsageError
from cyclotron.execution import (
    Compiled,
    Runner,
    Stopwatch,
    compile_workload,
    lower,
)
from cyclotron.graph import Program
from cyclotron.options import Options
from cyclotron.programs import Workload
from cyclotron.report import identity, run_report, schedule_report, succeeded


def compile_command(options: argparse.Namespace) -> int:
    """Compile a program and save its schedule with all that is needed to run it again."""
    if options.on == "cpu":
        raise UsageError("schedules are for machines; give one with --on MACHINE")
    check_paths(options)
    watch, progress = Stopwatch(), terminal.TerminalProgress()
    workload = run.workload_of(options.program, options.data)
    program = workload.build(dict(options.param))
    settings = run.options_of(options)
    compiled = compile_workload(workload, program, settings, [], watch, progress)
    assert compiled.schedule is not None
    try:
        compiled.schedule.save(str(options.output), _origin(compiled, options, settings))
    except OSError as error:
        raise UsageError(f"{options.output} cannot be written: {error.strerror or error}") from None
    written = write_asked(compiled.schedule, workload.name, options)
    report = {
        "program": workload.name,
        "on": settings.on,
        "schedule": str(options.output),
        **written,
        **identity(compiled, settings),
        "seconds": {k: round(v, 6) for k, v in watch.seconds.items()},
        **schedule_report(compiled.schedule),
    }
    if options.json:
        terminal.print_json(report)
    else:
        rows = [
            *run.identity_rows(report),
            ("time", run.seconds_text(report["seconds"])),
            *run.machine_rows(report),
        ]
        print(f"{workload.name} for {settings.on}: {options.output}\n{terminal.pairs(rows)}")
    return 0


def check_command(options: argparse.Namespace) -> int:
    """Check a schedule against its machine and its limb program."""
    with terminal.TerminalProgress().phase("checking the schedule"):
        facts = load(options.schedule).check()
    if options.json:
        terminal.print_json({"schedule": str(options.schedule), "legal": True, **facts})
    else:
        rows = [
            (k.replace("_", " "), f"{v:,}" if isinstance(v, int) else str(v))
            for k, v in facts.items()
        ]
        print(f"{options.schedule}: legal, and equal to its limb program\n{terminal.pairs(rows)}")
    return 0


def simulate_command(options: argparse.Namespace) -> int:
    """Run a schedule's program on the CPU and the schedule itself on the same ciphertexts."""
    check_paths(options)
    watch, progress = Stopwatch(), terminal.TerminalProgress()
    schedule = load(options.schedule)
    origin = _read_origin(options.schedule, schedule)
    with watch("setup"):
        try:
            settings = _settings(options, origin)
            param = json.loads(origin["param"])
            parameters = _native.Parameters.from_bytes(base64.b64decode(origin["parameters"]))
        except (ValueError, TypeError, KeyError) as error:
            raise FormatError(f"{options.schedule} has damaged options: {error}") from None
        workload = _workload(options, origin)
        program = workload.build(param)
        _same_program(options.schedule, origin, program)
        samples, data_seed = run.samples_of(workload, program, options)
    with watch("compile"), progress.phase("lowering to limb instructions"):
        known = workload.calibration(program)
        compiled = lower(program, settings, known, parameters, schedule.machine)
    compiled = Compiled(**{**vars(compiled), "schedule": schedule})
    runner = Runner(compiled, settings, watch, progress)
    runs = [runner.run(sample) for sample in samples]
    report = run_report(workload, compiled, settings, runs, watch)
    report["schedule"] = str(options.schedule)
    report |= write_asked(schedule, workload.name, options)
    if data_seed is not None:
        report["data_seed"] = data_seed
    if options.dump_limbs is not None:
        comparison.dump(options.dump_limbs, [r.on_machine or r.on_cpu for r in runs])
    if options.json:
        terminal.print_json(report)
    else:
        print(run.describe(report, runs))
    return 0 if succeeded(report) else 1


def _origin(compiled: Compiled, options: argparse.Namespace, settings: Options) -> dict[str, str]:
    """Return what has to be known to run the schedule again: text values only."""
    return {
        "program": options.program,
        "param": json.dumps(dict(options.param)),
        "data": "" if options.data is None else str(options.data),
        "options": json.dumps(asdict(settings)),
        "parameters": base64.b64encode(compiled.parameters.to_bytes()).decode(),
        "program_hash": compiled.graph.hash(),
        "version": _native.__version__,
    }


def _read_origin(path: Path, schedule: _native.Schedule) -> dict[str, str]:
    origin = schedule.meta()
    for key in ("program", "param", "data", "options", "parameters", "program_hash"):
        if key not in origin:
            raise FormatError(f"{path} does not say its {key}; compile it again")
    return origin


def _workload(options: argparse.Namespace, origin: dict[str, str]) -> Workload:
    """Return the schedule's program, whose source the inputs and the cleartext twin need."""
    name, data = origin["program"], options.data or _path(origin["data"])
    file = _path(name.rpartition(":")[0])
    if file is not None and not file.is_file():
        raise UsageError(
            f"{options.schedule} was compiled from {name}, and there is no file {file}: "
            "simulate it where the program is (`check` and `report` need the schedule only)"
        )
    return run.workload_of(name, data)


def _settings(options: argparse.Namespace, origin: dict[str, str]) -> Options:
    """Return the options that the schedule was compiled with, but the seed and threads of now."""
    stored = json.loads(origin["options"])
    now = {"seed": options.seed, "threads": options.threads, "overlays": tuple(stored["overlays"])}
    return Options(**{**stored, **now})


def _same_program(path: Path, origin: dict[str, str], program: Program) -> None:
    if program.native().hash() != origin["program_hash"]:
        raise UsageError(
            f"{origin['program']} is not what {path} was compiled from; compile it again"
        )


def _path(text: str) -> Path | None:
    return Path(text) if text else None
