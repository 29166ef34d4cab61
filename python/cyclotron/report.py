"""What a run and a schedule are reported as; docs/cli.md explains every field."""

from __future__ import annotations

from typing import Any

from cyclotron import _native, comparison
from cyclotron.execution import Compiled, Run, Stopwatch
from cyclotron.options import Options
from cyclotron.programs.workload import Workload

#: Outputs with at most this many values are part of a report.
SMALL_OUTPUT = 64


def run_report(
    workload: Workload,
    compiled: Compiled,
    options: Options,
    runs: list[Run],
    watch: Stopwatch,
) -> dict[str, Any]:
    """Report finished runs of one compiled program."""
    program = compiled.program
    error = max(run.error for run in runs)
    report = {
        "program": workload.name,
        "on": options.on,
        **identity(compiled, options),
        "runs": len(runs),
        "seconds": {phase: round(value, 6) for phase, value in watch.seconds.items()},
        "outputs_match_twin": comparison.matches(program, error),
        "max_relative_error": error,
        "tolerance": 0.0 if program.scheme == "bgv" else program.tolerance,
        "limbs_sha256": comparison.digest([run.on_machine or run.on_cpu for run in runs]),
        **workload.facts(),
    }
    predictions = workload.interpret([run.outputs for run in runs])
    if predictions is not None:
        report["predictions"] = predictions
        report["twin_predictions"] = workload.interpret([run.twin for run in runs])
        report["labels"] = [run.sample.label for run in runs]
    small = [
        {n: v.tolist() for n, v in run.outputs.items() if v.size <= SMALL_OUTPUT} for run in runs
    ]
    if any(small):
        report["outputs"] = small
    if compiled.schedule is not None:
        report["limbs_identical_to_cpu"] = all(run.identical for run in runs)
        report |= schedule_report(compiled.schedule)
        report["cycles"] = runs[0].simulation.get("cycles", report["cycles"])
    return report


def identity(compiled: Compiled, options: Options) -> dict[str, Any]:
    """Report what was compiled: versions, hashes, seeds, parameters and their security."""
    parameters = compiled.parameters.to_dict()
    described: dict[str, Any] = {
        "version": _native.__version__,
        "program_hash": compiled.graph.hash(),
        "seed": options.seed,
        "deterministic": options.seed is not None,
        "security_bits": parameters.get("security_bits"),
        "security_method": parameters.get("security_method"),
        "insecure_reason": parameters.get("insecure_reason"),
        "parameters": parameters,
        "public_key": compiled.program.public_key,
        "limb_program": compiled.plan.to_dict(),
    }
    if options.faithful:
        described["faithful"] = {
            "with": _limbs(compiled.parameters),
            "without": compiled.unrestricted and _limbs(compiled.unrestricted),
        }
    if compiled.machine is not None:
        described["machine"] = {"name": compiled.machine.name, "hash": compiled.machine.hash}
    return described


def _limbs(parameters: _native.Parameters) -> dict[str, int]:
    """Report the limbs of a fresh ciphertext's parts, and with the special primes."""
    described = parameters.to_dict()
    levels = len(described["moduli"])
    return {"levels": levels, "limbs": levels + len(described["special_moduli"])}


def schedule_report(schedule: _native.Schedule) -> dict[str, Any]:
    """Report a schedule's length, bound, traffic and use of the machine."""
    return {**schedule.report(), "instruction_bytes": schedule.instruction_bytes()}


def succeeded(report: dict[str, Any]) -> bool:
    """Tell whether a run's results are right: as the twin, and limb for limb as on the CPU."""
    same_class = report.get("predictions") == report.get("twin_predictions")
    return bool(
        report["outputs_match_twin"] and report.get("limbs_identical_to_cpu", True) and same_class
    )
