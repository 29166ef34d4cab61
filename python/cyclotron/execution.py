"""Compiles and runs programs: the few calls behind every command and `cyclotron.run`."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cyclotron import _native, comparison, twin
from cyclotron.errors import ParameterError, UsageError
from cyclotron.graph import Program
from cyclotron.options import Options
from cyclotron.programs.workload import Sample, Values, Workload
from cyclotron.progress import Progress, Silent, Update
from cyclotron.tracing import ProgramFunction
from cyclotron.wide import Inputs, Wide

Ciphertexts = dict[str, _native.Ciphertext]


@dataclass
class Stopwatch:
    """Adds up wall-clock seconds by phase."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Time a phase."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


@dataclass(frozen=True)
class Compiled:
    """A program with its parameters and its limb program; on a machine also the schedule.

    ``unrestricted`` are the parameters that a faithful program would have with every
    key-switch variant.
    """

    program: Program
    graph: _native.Graph
    parameters: _native.Parameters
    plan: _native.Plan
    machine: _native.Machine | None
    schedule: _native.Schedule | None
    unrestricted: _native.Parameters | None = None


def lower(
    program: Program,
    options: Options,
    samples: list[Values],
    parameters: _native.Parameters | None = None,
    machine: _native.Machine | None = None,
) -> Compiled:
    """Choose parameters and lower to a limb program, without a schedule.

    Parameters
    ----------
    program
        The program.
    options
        Where and how.
    samples
        Inputs to measure magnitudes on.
    parameters
        Use these, instead of choosing some.
    machine
        The machine, instead of the one that the options name.
    """
    if machine is None and options.on != "cpu":
        machine = _native.Machine.open(options.on, [*options.overlays])
    if machine is None and options.overlays:
        raise UsageError("an overlay needs a machine; give one with --on")
    graph = program.native()
    if program.scheme == "ckks":
        found = twin.magnitudes(program, samples), twin.plain_magnitudes(program, samples)
        graph.measured(*found)
    precision = options.precision_bits or program.precision_bits

    def choose(variant: str | None, levels: int | None) -> _native.Parameters:
        return _native.Parameters.choose(
            graph,
            machine=machine,
            precision_bits=precision,
            security=options.security,
            levels=levels,
            word_bits=None,
            allow_insecure=options.allow_insecure or program.allow_insecure,
            keyswitch=variant,
        )

    levels, unrestricted = options.levels or program.levels, None
    if options.faithful:
        with suppress(ParameterError):
            unrestricted = choose(None, levels)
    with _located(program):
        if parameters is None:
            try:
                parameters = choose(options.variant, levels)
            except ParameterError:
                if not options.faithful or options.levels is not None or levels is None:
                    raise
                parameters = choose(options.variant, None)
        plan = _native.Plan.lower(
            graph,
            parameters,
            machine=machine,
            keyswitch=options.variant,
            precision_bits=precision,
        )
    return Compiled(program, graph, parameters, plan, machine, None, unrestricted)


@contextmanager
def _located(program: Program) -> Iterator[None]:
    """Say where the program stands that no parameters are found for."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(f"{program.written}: {error}") from None


def schedule(compiled: Compiled, options: Options, progress: Update | None) -> Compiled:
    """Compile a lowered program for its machine; as it is on the CPU."""
    if compiled.machine is None:
        return compiled
    made = _native.Schedule.compile(
        compiled.plan,
        compiled.machine,
        effort=options.effort,
        phase2=options.phase2,
        progress=progress,
    )
    return replace(compiled, schedule=made)


class Runner:
    """Keys for one compiled program, and its runs."""

    def __init__(
        self, compiled: Compiled, options: Options, watch: Stopwatch, progress: Progress
    ) -> None:
        self.compiled, self.watch, self.progress = compiled, watch, progress
        with watch("setup"), progress.phase("making keys"):
            seed = None if options.seed is None else client_seed(options.seed)
            self.client = _native.Client.generate(compiled.parameters, seed)
            self.encryptor: _native.Client | _native.Encryptor = self.client
            if compiled.program.public_key:
                key = self.client.public_key()
                self.encryptor = _native.Encryptor(compiled.parameters, key, seed)
            self.keys = self.client.evaluation_keys(compiled.plan)
            self.evaluator = _native.Evaluator(compiled.parameters, self.keys, options.threads)
        with watch("setup"), progress.phase("encoding plaintext operands"):
            self.evaluator.prepare(compiled.plan)

    def run(self, sample: Sample) -> Run:
        """Encrypt, evaluate on the CPU, simulate if there is a machine, decrypt, compare."""
        compiled, program = self.compiled, self.compiled.program
        encrypted = {n: v for n, v in sample.inputs.items() if n in program.inputs}
        plains = {n: v for n, v in sample.inputs.items() if n not in program.inputs}
        with self.watch("encrypt"), self.progress.phase("encrypting"):
            inputs = self.encryptor.encrypt(compiled.plan, encrypted)
        with self.watch("evaluate"), self.progress.phase("evaluating on the CPU"):
            on_cpu, _ = self.evaluator.run(compiled.plan, inputs, plains)
        on_machine: Ciphertexts | None = None
        simulation: dict[str, Any] = {}
        if compiled.schedule is not None:
            with self.watch("simulate"), self.progress.phase("simulating the machine") as update:
                on_machine, simulation = self.evaluator.simulate(
                    compiled.schedule, inputs, plains, update
                )
        results = on_cpu if on_machine is None else on_machine
        with self.watch("decrypt"), self.progress.phase("decrypting"):
            outputs = self.decrypt(results, any(isinstance(v, Wide) for v in encrypted.values()))
        expected = twin.execute(program, sample.inputs)
        error = comparison.relative_error(outputs, expected)
        return Run(sample, outputs, expected, error, on_cpu, on_machine, simulation)

    def decrypt(self, ciphertexts: Ciphertexts, wide: bool = False) -> Values:
        """Decrypt outputs, to 106 bits if asked, and keep the slots that the program takes."""
        plan = self.compiled.plan
        decrypted: Values = (
            {
                name: Wide(*pair)
                for name, pair in self.client.decrypt(plan, ciphertexts, True).items()
            }
            if wide
            else {**self.client.decrypt(plan, ciphertexts)}
        )
        return comparison.taken(self.compiled.program, decrypted)


@dataclass(frozen=True)
class Run:
    """One evaluation: results, the twin's results and the ciphertexts."""

    sample: Sample
    outputs: Values
    twin: Values
    error: float
    on_cpu: Ciphertexts
    on_machine: Ciphertexts | None
    simulation: dict[str, Any]

    @property
    def identical(self) -> bool | None:
        """Whether machine and CPU agree limb by limb; None without a machine."""
        if self.on_machine is None:
            return None
        return comparison.identical(self.on_machine, self.on_cpu)


@dataclass(frozen=True)
class RunResult:
    """What `run` returns.

    Attributes
    ----------
    outputs
        Decrypted results by name: arrays of float64 (CKKS) or int64 (BGV); `Wide` if
        an input was.
    report
        The fields that ``cyclotron run --json`` prints (docs/cli.md).
    """

    outputs: dict[str, Any]
    report: dict[str, Any]


def compile_program(
    program: Program | ProgramFunction,
    *,
    on: str = "cpu",
    samples: Iterable[Inputs] = (),
    allow_insecure: str | None = None,
) -> Compiled:
    """Choose parameters and compile a program; on a machine, also schedule it.

    Exported as ``cyclotron.compile``.

    Parameters
    ----------
    program
        A decorated function or a `Program`.
    on, allow_insecure
        As in `Options`.
    samples
        Inputs of a CKKS program, to measure magnitudes on, besides random ones up to 1.
        Inputs that are larger are refused later: by a factor of more than ``2^(1/d)``
        in a program that is a polynomial of degree d in them.
    """
    built = _built(program)
    workload = Workload(built.name, built)
    options = Options(on=on, allow_insecure=allow_insecure)
    if isinstance(samples, (Mapping, str)) or not isinstance(samples, Iterable):
        raise UsageError('samples are a list of inputs, [{"x": [1, 2, 3]}, ...]')
    bound = [built.bind(sample) for sample in samples]
    return compile_workload(workload, built, options, bound, Stopwatch(), Silent())


def simulate(
    compiled: Compiled,
    inputs: Inputs,
    *,
    seed: int | None = None,
    threads: int = 0,
) -> RunResult:
    """Run a compiled program encrypted, on the CPU and on its machine, and compare.

    Parameters
    ----------
    compiled
        What `compile_program` returned for a machine.
    inputs
        Values of all inputs, encrypted and plain.
    seed, threads
        As in `Options`.
    """
    if not isinstance(compiled, Compiled):
        raise UsageError(
            f"{type(compiled).__name__} is not a compiled program; use cyclotron.compile first"
        )
    if compiled.machine is None:
        raise UsageError('the program was compiled for the CPU; compile it with on="f1"')
    options = Options(on=compiled.machine.name, seed=seed, threads=threads)
    return _run(compiled, inputs, options, Stopwatch())


def _built(program: Program | ProgramFunction) -> Program:
    if isinstance(program, Program):
        return program
    if isinstance(program, ProgramFunction):
        return program.build()
    raise UsageError(
        f"{type(program).__name__} is not a program; give a Program or a function decorated "
        "with @cyclotron.program"
    )


def _run(compiled: Compiled, inputs: Inputs, options: Options, watch: Stopwatch) -> RunResult:
    from cyclotron.report import run_report  # noqa: PLC0415 - the report reads this module's types

    workload = Workload(compiled.program.name, compiled.program)
    bound = compiled.program.bind(inputs)
    done = Runner(compiled, options, watch, Silent()).run(Sample(bound))
    return RunResult(done.outputs, run_report(workload, compiled, options, [done], watch))


def run(
    program: Program | ProgramFunction,
    inputs: Inputs,
    *,
    on: str = "cpu",
    seed: int | None = None,
    threads: int = 0,
    allow_insecure: str | None = None,
) -> RunResult:
    """Encrypt, evaluate and decrypt a program, and compare it with its cleartext twin.

    Parameters
    ----------
    program
        A decorated function or a `Program`.
    inputs
        Values of all inputs, encrypted and plain. Fractions, decimals and `Wide` vectors
        keep 106 bits where an encrypted input of CKKS is encoded at a scale for them.
    on, seed, threads, allow_insecure
        As in `Options`.

    Returns
    -------
    RunResult
        Decrypted outputs and a report. A result that does not match the twin is
        reported, not raised.
    """
    built = _built(program)
    bound = built.bind(inputs)
    options = Options(on=on, seed=seed, threads=threads, allow_insecure=allow_insecure)
    watch = Stopwatch()
    workload = Workload(built.name, built)
    compiled = compile_workload(workload, built, options, [bound], watch, Silent())
    return _run(compiled, inputs, options, watch)


def compile_workload(
    workload: Workload,
    program: Program,
    options: Options,
    inputs: list[Values],
    watch: Stopwatch,
    progress: Progress,
) -> Compiled:
    """Compile a workload's program, magnitudes measured on its samples and on ``inputs``."""
    with watch("setup"), progress.phase("choosing parameters"):
        samples = [*workload.calibration(program), *inputs] if program.scheme == "ckks" else []
    with watch("compile"), progress.phase("lowering to limb instructions"):
        compiled = lower(program, options, samples)
    with watch("compile"), progress.phase(f"compiling for {options.on}") as update:
        return schedule(compiled, options, update)


def client_seed(seed: int) -> bytes:
    """Derive the 32 bytes that a seeded client starts from."""
    return hashlib.blake2b(f"cyclotron client seed {seed}".encode(), digest_size=32).digest()


def data_random(seed: int | None) -> tuple[int, np.random.Generator]:
    """Return a generator for random inputs, and the seed that repeats it."""
    chosen = secrets.randbits(32) if seed is None else seed
    return chosen, np.random.default_rng(chosen)
