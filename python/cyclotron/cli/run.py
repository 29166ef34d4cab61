"""``cyclotron run``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclotron import comparison, programs
from cyclotron.cli import terminal
from cyclotron.cli.report import check_options, write_asked
from cyclotron.errors import UsageError
from cyclotron.execution import Run, Runner, Stopwatch, compile_workload, data_random
from cyclotron.graph import Program
from cyclotron.options import Options
from cyclotron.programs import Workload
from cyclotron.programs.workload import Sample
from cyclotron.report import run_report, succeeded


def command(options: argparse.Namespace) -> int:
    """Run the command."""
    progress, watch = terminal.TerminalProgress(), Stopwatch()
    check_options(options)
    with watch("setup"):
        workload = workload_of(options.program, options.data)
        program = workload.build(dict(options.param))
        samples, data_seed = samples_of(workload, program, options)
    settings = options_of(options)
    # A data set has its own calibration images, so that `compile` gets the same parameters.
    known = [] if workload.has_images else [s.inputs for s in samples]
    compiled = compile_workload(workload, program, settings, known, watch, progress)
    runner = Runner(compiled, settings, watch, progress)
    runs = [runner.run(sample) for sample in samples]
    report = run_report(workload, compiled, settings, runs, watch)
    if data_seed is not None:
        report["data_seed"] = data_seed
    if compiled.schedule is not None:
        report |= write_asked(compiled.schedule, workload.name, options)
    if options.dump_limbs is not None:
        comparison.dump(options.dump_limbs, [r.on_machine or r.on_cpu for r in runs])
    if options.json:
        terminal.print_json(report)
    else:
        print(describe(report, runs))
    return 0 if succeeded(report) else 1


def workload_of(name: str, data: Path | None) -> Workload:
    """Find a program and give it its data folder."""
    workload = programs.find(name)
    if data is not None:
        workload.use_data(data)
    return workload


def options_of(options: argparse.Namespace) -> Options:
    """Read the compilation options of a command."""
    return Options(
        on=options.on,
        overlays=tuple(options.overlay),
        seed=options.seed,
        threads=options.threads,
        security=options.security,
        allow_insecure=options.allow_insecure,
        keyswitch=None if options.keyswitch == "auto" else options.keyswitch,
        faithful=options.faithful,
        precision_bits=options.precision,
        levels=options.levels,
        effort=options.effort,
        phase2=options.phase2,
    )


def samples_of(
    workload: Workload, program: Program, options: argparse.Namespace
) -> tuple[list[Sample], int | None]:
    """Read or draw the inputs; return them, and the seed of the random ones."""
    if options.images is not None and not workload.has_images:
        raise UsageError(f"{workload.name} takes no images; --images is for lola-mnist")
    for name, value in options.input:
        if value == "random" and not workload.has_images:
            _check_name(program, name)
    given = {name: _load(name, value) for name, value in options.input if value != "random"}
    seed, random = data_random(options.seed)
    samples = workload.samples(program, options.images or 1, given, random)
    return samples, None if workload.has_images else seed


def _check_name(program: Program, name: str) -> None:
    """Refuse a name that is no input, nor the stem of numbered ones."""
    known = [*program.inputs, *program.plain_inputs]
    if name not in known and not any(n.startswith(f"{name}.") for n in known):
        raise UsageError(f"there is no input {name!r}; the inputs are {', '.join(known)}")


def _load(name: str, path: str) -> NDArray[Any]:
    if not path.endswith(".npy"):
        raise UsageError(f"--input {name}={path}: give a file FILE.npy, or random")
    try:
        loaded: NDArray[Any] = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise UsageError(f"--input {name}: there is no file {path}") from None
    except (OSError, ValueError, EOFError) as error:
        why = getattr(error, "strerror", None) or str(error)
        why = "it holds Python objects, or no array at all" if "pickle" in why else why
        raise UsageError(f"--input {name}: {path} is not a npy file of numbers: {why}") from None
    return loaded


def describe(report: dict[str, Any], runs: list[Run]) -> str:
    """Lay a run's report out for people."""
    verdict = "correct" if succeeded(report) else "WRONG"
    exact = report["parameters"]["scheme"] == "bgv"
    agreement = "the same, exactly" if exact else f"within {report['tolerance']:.3g}"
    if not report["outputs_match_twin"]:
        agreement = "DIFFERENT"
    rows = [
        ("cleartext twin", f"{agreement} (relative error {report['max_relative_error']:.2g})"),
        *_digits(report),
        *identity_rows(report),
        ("time", seconds_text(report["seconds"])),
        *machine_rows(report),
    ]
    shown = [f"{report['program']} on {report['on']}: {verdict}", terminal.pairs(rows)]
    if not report.get("predictions"):
        shown.append(_values(runs[0]))
    return "\n".join(shown)


def _digits(report: dict[str, Any]) -> list[tuple[str, str]]:
    if "predictions" not in report:
        return []
    labels = ["?" if label is None else str(label) for label in report["labels"]]
    rows = [
        ("digits", " ".join(map(str, report["predictions"]))),
        ("of the twin", " ".join(map(str, report["twin_predictions"]))),
    ]
    return [*rows, ("labels", " ".join(labels))] if any(x != "?" for x in labels) else rows


def _values(run: Run) -> str:
    rows = []
    for name, values in run.outputs.items():
        head = ", ".join(f"{v:.6g}" for v in values[:6])
        rows.append((name, head + (", ..." if values.size > 6 else "")))
    return "outputs\n" + terminal.pairs(rows)


def identity_rows(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the rows that say which parameters and seeds were used."""
    used = report["parameters"]
    size = f"N = {2 ** used['log_n']}, {len(used['moduli'])} + {len(used['special_moduli'])} limbs"
    modulus = f"log2 Q = {used['log_q']:.1f}, log2 QP = {used['log_qp']:.1f}"
    security = f"{report['security_bits']} bits ({report['security_method']})"
    if report.get("insecure_reason"):
        security += f"; INSECURE: {report['insecure_reason']}"
    seed = "" if report["seed"] is None else f"{report['seed']} (deterministic: for tests only)"
    return [
        ("parameters", f"{used['scheme'].upper()}, {size}, {modulus}"),
        ("key switching", _faithful_text(report)),
        ("security", security),
        ("seed", seed),
    ]


def _faithful_text(report: dict[str, Any]) -> str:
    """Say what faithful key switching needs, and what the choice of variants would."""
    if "faithful" not in report:
        return ""
    own, free = report["faithful"]["with"], report["faithful"]["without"]
    text = f"Listing 1 only: {own['levels']} levels, {own['limbs']} limbs with special ones"
    if free is None:
        return f"{text}; no parameters with a choice of variants"
    return f"{text}; {free['levels']} and {free['limbs']} with a choice of variants"


def machine_rows(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the rows about a schedule, none for a run on the CPU."""
    if "cycles" not in report:
        return []
    rows = []
    if "limbs_identical_to_cpu" in report:
        same = "the same, limb for limb" if report["limbs_identical_to_cpu"] else "DIFFERENT"
        rows.append(("CPU ciphertexts", same))
    bound = f"{report['lower_bound_cycles']:,} cycles"
    if report.get("bound_resource"):
        bound += f" ({report['bound_resource']})"
    return [
        *rows,
        ("machine time", f"{report['cycles']:,} cycles, {report['milliseconds']:.4f} ms"),
        ("lower bound", f"{bound}; schedule / bound = {report['schedule_over_bound']:.3f}"),
        ("off-chip traffic", traffic_text(report["traffic_bytes"])),
        ("report", report.get("report", "")),
        ("trace", report.get("trace", "")),
    ]


def traffic_text(traffic: dict[str, float]) -> str:
    """Return off-chip traffic on one line: the total, then the classes that have any."""
    classes = {k: v for k, v in traffic.items() if k != "total" and v}
    shown = ", ".join(f"{k.replace('_', ' ')} {terminal.bytes_text(v)}" for k, v in classes.items())
    avoidable = any(k.endswith("_other") or k.startswith("intermediate") for k in classes)
    end = "" if avoidable else "; all of it compulsory, no intermediates"
    return f"{terminal.bytes_text(sum(classes.values()))}: {shown}{end}"


def seconds_text(seconds: dict[str, float]) -> str:
    """Return the phases of a run and their seconds on one line."""
    return ", ".join(f"{phase} {value:.2f} s" for phase, value in seconds.items())
