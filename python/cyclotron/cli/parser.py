"""The commands and their options."""

from __future__ import annotations

import argparse
import ast
import difflib
import re
from pathlib import Path
from typing import Any, NoReturn

from cyclotron import __version__
from cyclotron.arguments import PRECISION_BITS
from cyclotron.cli import (
    bench,
    demo,
    doctor,
    explain,
    explore,
    machines,
    report,
    reproduce,
    run,
    schedules,
)
from cyclotron.errors import UsageError
from cyclotron.reproduction import PAPERS


class ArgumentParser(argparse.ArgumentParser):
    """Reports wrong usage as a `UsageError` of one line."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse found."""
        if found := re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message):
            choices = re.findall(r"[\w-]+", found[2])
            near = difflib.get_close_matches(found[1], choices, 1)
            hint = f"did you mean {near[0]!r}?" if near else "it is one of " + ", ".join(choices)
            message = f"{message.partition(':')[0]}: there is no {found[1]!r}; {hint}"
        raise UsageError(f"{message} (see {self.prog} --help)")


def build_parser() -> ArgumentParser:
    """Build the parser; every command sets ``command`` to a function."""
    parser = ArgumentParser(
        prog="cyclotron",
        description="Run homomorphic programs on the CPU and on simulated accelerators.",
    )
    parser.add_argument("--version", action="version", version=f"cyclotron {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    general = ArgumentParser(add_help=False)
    general.add_argument("--json", action="store_true", help="print one JSON object")
    general.add_argument("--debug", action="store_true", help="show where an error comes from")

    def add(name: str, function: Any, text: str, *parents: ArgumentParser) -> Any:
        made = commands.add_parser(
            name, help=text, description=text, parents=[*parents, general], allow_abbrev=False
        )
        made.set_defaults(command=function)
        return made

    target, inputs = _target_options(), _input_options()
    make = add("run", run.command, "Encrypt, evaluate, decrypt and compare.", target, inputs)
    make.add_argument("--on", default="cpu", metavar="cpu|MACHINE", help="where (default: cpu)")
    _dump_option(make)
    _report_options(make)

    make = add("compile", schedules.compile_command, "Compile a program for a machine.", target)
    make.add_argument("--on", required=True, metavar="MACHINE", help="name or TOML file")
    make.add_argument("-o", "--output", type=Path, required=True, metavar="SCHEDULE")
    _report_options(make)

    make = add("check", schedules.check_command, "Prove that a schedule is legal.")
    make.add_argument("schedule", type=Path, metavar="SCHEDULE")

    make = add("simulate", schedules.simulate_command, "Run a schedule on ciphertexts.", inputs)
    make.add_argument("schedule", type=Path, metavar="SCHEDULE")
    _run_options(make)
    _dump_option(make)
    _report_options(make)

    make = add("report", report.command, "Show what a schedule does.")
    make.add_argument("schedule", type=Path, metavar="SCHEDULE")
    _report_options(make)

    make = add("explain", explain.command, "Show level, scale, noise and cost by line.", target)
    make.add_argument("--on", default="cpu", metavar="cpu|MACHINE")

    make = add("demo", demo.command, "Classify an encrypted digit on the CPU and on F1.", inputs)
    make.add_argument("--on", default="f1", metavar="MACHINE", help="machine (default: f1)")
    _run_options(make)
    _explore_options(add("explore", explore.command, "Compare variants of a machine."))
    _reproduce_options(add("reproduce", reproduce.command, "Compare a paper's figures with ours."))
    _machine_commands(
        add("machine", machines.list_command, "List, show or check machines."), general
    )
    add("doctor", doctor.command, "Say what this computer offers and test the installation.")
    _bench_options(add("bench", bench.command, "Measure kernels, operations or programs."))
    return parser


def _target_options() -> ArgumentParser:
    """Return the options of everything that compiles a program."""
    options = ArgumentParser(add_help=False)
    options.add_argument("program", metavar="PROGRAM", help="a built-in name or FILE.py:NAME")
    options.add_argument(
        "--param",
        action="append",
        default=[],
        type=_parameter,
        metavar="NAME=VALUE",
        help="a parameter of the program, for example n=4096",
    )
    options.add_argument(
        "--overlay", action="append", default=[], metavar="NAME", help="variant of the machine"
    )
    options.add_argument("--security", type=int, choices=(128, 192, 256), default=128)
    options.add_argument(
        "--allow-insecure", metavar="REASON", help="use parameters below the table"
    )
    options.add_argument("--keyswitch", choices=("auto", "listing1", "hybrid"), default="auto")
    options.add_argument(
        "--faithful", action="store_true", help="switch keys as F1 does, by Listing 1 only"
    )
    options.add_argument("--levels", type=_positive, metavar="L", help="limbs of fresh ciphertexts")
    options.add_argument(
        "--precision", type=_bits, metavar="BITS", help="CKKS: precision to plan for"
    )
    options.add_argument("--effort", type=int, choices=(0, 1, 2), default=1, help="of compilation")
    options.add_argument(
        "--phase2", choices=("greedy", "csr"), default="greedy", help="how movement is planned"
    )
    _run_options(options)
    return options


def _input_options() -> ArgumentParser:
    """Return the options that choose inputs."""
    options = ArgumentParser(add_help=False)
    options.add_argument(
        "--input",
        action="append",
        default=[],
        type=_pair,
        metavar="NAME=FILE.npy|random",
        help="values of an input; random ones unless given",
    )
    options.add_argument(
        "--images", type=_positive, metavar="K", help="how many images to classify"
    )
    return options


def _run_options(options: ArgumentParser) -> None:
    options.add_argument(
        "--seed", type=_seed, help="repeatable keys and encryption; for tests only"
    )
    options.add_argument("--threads", type=_positive, default=0, help="CPU threads (default: all)")
    options.add_argument("--data", type=Path, metavar="DIR", help="MNIST and LoLa-MNIST weights")


def _dump_option(options: ArgumentParser) -> None:
    options.add_argument(
        "--dump-limbs", type=Path, metavar="FILE", help="write result ciphertexts to an npz file"
    )


def _report_options(options: ArgumentParser) -> None:
    options.add_argument(
        "--report", type=Path, metavar="DIR", help="write an HTML report, CSV and Parquet tables"
    )
    options.add_argument(
        "--trace", type=Path, metavar="FILE", help="write a trace for ui.perfetto.dev"
    )


def _explore_options(make: ArgumentParser) -> None:
    make.add_argument("machine", metavar="MACHINE", help="a shipped name or a TOML file")
    make.add_argument(
        "--vary", action="append", required=True, metavar="KEY=V,V,...",
        help="a key of the machine file and its values; may be repeated",
    )  # fmt: skip
    make.add_argument(
        "--program", action="append", required=True, metavar="PROGRAM",
        help="a built-in name or FILE.py:NAME; may be repeated",
    )  # fmt: skip
    make.add_argument("--param", action="append", default=[], type=_parameter, metavar="NAME=VALUE")
    make.add_argument("--overlay", action="append", default=[], metavar="NAME")
    make.add_argument("--jobs", type=_positive, default=0, help="processes (default: all cores)")
    make.add_argument("--out", type=Path, metavar="DIR", help="results (default: explore-MACHINE)")


def _reproduce_options(make: ArgumentParser) -> None:
    make.add_argument("paper", choices=PAPERS, metavar="PAPER", help=", ".join(PAPERS))
    which = make.add_mutually_exclusive_group()
    which.add_argument("--table", metavar="K", help="only this table: 4")
    which.add_argument("--figure", metavar="K", help="only this figure: 9a, or 9 for all of it")
    make.add_argument(
        "--faithful", action="store_true", help="all programs with Listing-1 key switching only"
    )
    make.add_argument("--out", type=Path, metavar="DIR", help="also write the results as a page")


def _machine_commands(machine: ArgumentParser, general: ArgumentParser) -> None:
    commands = machine.add_subparsers(metavar="list|show|check")
    commands.add_parser("list", help="list the shipped machines", parents=[general]).set_defaults(
        command=machines.list_command
    )
    for name, function, text in (
        ("show", machines.show_command, "show a machine"),
        ("check", machines.check_command, "check a machine's TOML file"),
    ):
        made = commands.add_parser(name, help=text, parents=[general])
        made.add_argument("machine", metavar="MACHINE", help="a shipped name or a TOML file")
        made.add_argument("--overlay", action="append", default=[], metavar="NAME")
        made.set_defaults(command=function)


def _bench_options(make: ArgumentParser) -> None:
    make.add_argument(
        "suite", nargs="?", choices=tuple(bench.THREADS), help="what to measure (one of them)"
    )
    make.add_argument("--peers", action="store_true", help="build other libraries, and compare")
    make.add_argument("--threads", type=_positive, default=0, help="(default: 1, for programs 2)")
    make.add_argument("--only", metavar="TEXT[,TEXT]", help="cases whose name contains it")
    make.add_argument(
        "--repetitions",
        type=_positive,
        default=bench.REPETITIONS,
        metavar="R",
        help=f"rounds, all sides in turns (default: {bench.REPETITIONS})",
    )
    make.add_argument("--all", action="store_true", help="kernels at every ring degree")
    make.add_argument(
        "--record",
        action=argparse.BooleanOptionalAction,
        help="write to benches/record (default: whole suites with --peers)",
    )
    make.add_argument(
        "--render", action="store_true", help="write the newest records into the documentation"
    )


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _parameter(text: str) -> tuple[str, Any]:
    name, value = _pair(text)
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def _positive(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 2**31:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def _bits(text: str) -> float:
    try:
        bits = float(text)
    except ValueError:
        bits = 0.0
    if not 1 <= bits <= PRECISION_BITS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of bits from 1 to {PRECISION_BITS}"
        )
    return bits


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 2^64 - 1")
    return int(text)
