"""``cyclotron demo``: one encrypted digit, on the CPU and on a simulated machine."""

from __future__ import annotations

import argparse
from typing import Any

from cyclotron.cli import run, terminal
from cyclotron.execution import Run, Runner, Stopwatch, compile_workload
from cyclotron.options import Options
from cyclotron.progress import Silent
from cyclotron.report import run_report, succeeded


def command(options: argparse.Namespace) -> int:
    """Run the command."""
    progress, watch = terminal.TerminalProgress(), Stopwatch()
    with watch("setup"):
        workload = run.workload_of("lola-mnist", options.data)
        program = workload.build({})
        samples, _ = run.samples_of(workload, program, options)
    settings = Options(on=options.on, seed=options.seed, threads=options.threads)
    quiet = options.json
    first = samples[0]
    if not quiet and first.picture is not None:
        print("The digit, which only its owner sees:\n")
        print(terminal.picture(first.picture), "\n", flush=True)
    _say(quiet, f"Compiling LoLa-MNIST for the CPU and for {settings.on} ...")
    compiled = compile_workload(workload, program, settings, [], watch, progress)
    runner = Runner(compiled, settings, watch, progress)
    _say(
        quiet,
        "Encrypting, evaluating on the CPU, simulating the same ciphertext cycle by cycle ...",
    )
    runs = [runner.run(sample) for sample in samples]
    report = run_report(workload, compiled, settings, runs, watch)
    report["cpu_predictions"] = _cpu_predictions(runner, workload, runs)
    report["packed"] = _packed(settings, options)
    if quiet:
        terminal.print_json(report)
    else:
        print(_describe(report))
    return 0 if succeeded(report) and report["packed"]["succeeded"] else 1


def _say(quiet: bool, text: str) -> None:
    if not quiet:
        print(text, flush=True)


def _cpu_predictions(runner: Runner, workload: Any, runs: list[Run]) -> list[int] | None:
    """Decrypt what the CPU computed, apart from what the machine computed."""
    decrypted = [runner.decrypt(r.on_cpu) for r in runs]
    predictions: list[int] | None = workload.interpret(decrypted)
    return predictions


def _packed(settings: Options, options: argparse.Namespace) -> dict[str, Any]:
    """Run the same network in our packing, on the first image only."""
    watch = Stopwatch()
    workload = run.workload_of("lola-mnist-packed", options.data)
    program = workload.build({})
    samples, _ = run.samples_of(workload, program, options)
    compiled = compile_workload(workload, program, settings, [], watch, Silent())
    done = [Runner(compiled, settings, watch, Silent()).run(samples[0])]
    report = run_report(workload, compiled, settings, done, watch)
    names = ("program", "cycles", "milliseconds", "predictions", "limbs_identical_to_cpu")
    return {name: report[name] for name in names} | {"succeeded": succeeded(report)}


def _describe(report: dict[str, Any]) -> str:
    """Lay the report out for a newcomer."""
    machine = report["on"].upper() if report["on"].isalnum() else report["on"]

    def digits(values: list[int]) -> str:
        return " ".join(map(str, values))

    seconds = report["seconds"]
    rows = [
        ("digit from the CPU", digits(report["cpu_predictions"])),
        (f"digit from simulated {machine}", digits(report["predictions"])),
        ("digit from the cleartext twin", digits(report["twin_predictions"])),
        (
            f"CPU and {machine} ciphertexts",
            "identical, limb for limb" if report["limbs_identical_to_cpu"] else "DIFFERENT",
        ),
        ("error against the twin", f"{100 * report['max_relative_error']:.4f} %"),
        *run.identity_rows(report),
        ("CPU time", f"{seconds['evaluate'] / report['runs']:.3f} s for each digit"),
        *[
            (f"{machine}: {name}" if name in ("machine time", "lower bound") else name, value)
            for name, value in run.machine_rows(report)
            if name != "CPU ciphertexts"
        ],
        ("all phases", run.seconds_text(seconds)),
        (f"{machine}: in our packing", _packed_text(report["packed"])),
    ]
    verdict = "All agree." if succeeded(report) else "THE RESULTS DIFFER."
    return f"\n{terminal.pairs(rows)}\n\n{verdict}"


def _packed_text(packed: dict[str, Any]) -> str:
    digit = packed["predictions"][0]
    same = "" if packed["succeeded"] else ", BUT THE RESULTS DIFFER"
    cycles, time = packed["cycles"], packed["milliseconds"]
    return f"{cycles:,} cycles, {time:.4f} ms: digit {digit}{same} ({packed['program']})"
