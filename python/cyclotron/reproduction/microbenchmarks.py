"""Table 4: reciprocal throughput of single operations.

Three readings, because the published rows do not all follow from one:

*Listed operations*
    What the paper lists for an operation (its Listing 1 and Section 2.2.1, all
    limbs on chip), at the rate of the busiest kind of unit. It is what the paper
    prints: Section 8.1 calls these benchmarks pure compute.
*Compiled program*
    The same of the operations that our emitters give for a program of one
    such operation.
*Scheduled*
    Many independent operations, compiled and scheduled with an unlimited
    off-chip memory: what the on-chip network and the compiler leave of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil

from cyclotron import _native
from cyclotron.execution import Compiled, lower, schedule
from cyclotron.functions import Mul, Rotate, rescale
from cyclotron.graph import Program
from cyclotron.options import Options
from cyclotron.reproduction.result import Measured
from cyclotron.reproduction.workbench import Workbench

__all__ = ["SETS", "listed", "steady_state", "throughputs"]

#: Published sets: ring degree and bits of Q, a limb of 32 bits each.
SETS = {4096: 109, 8192: 218, 16384: 438}
WORD_BITS = 32
INSECURE = "the moduli of Table 4, rounded up to whole 32-bit limbs"
PLAINTEXT_MODULUS = 65537
#: Independent operations of the reading "scheduled".
BATCH = 32


@dataclass(frozen=True)
class Operation:
    """A row of Table 4: what the paper lists, and our program of it."""

    listed: Callable[[int], Mapping[str, int]]
    program: Callable[[int, int], Program] | None
    note: str = ""


def listed(name: str, limbs: int) -> Mapping[str, int]:
    """Return how many limb operations the paper lists for a row.

    Parameters
    ----------
    name
        ``ntt``, ``aut``, ``hmul`` or ``hperm``.
    limbs
        L, the limbs of a ciphertext's polynomials.

    Examples
    --------
    >>> listed("hperm", 4)["ntt"]
    16
    """
    return OPERATIONS[name].listed(limbs)


def steady_state(machine: _native.Machine, n: int, counts: Mapping[str, int]) -> float:
    """Return nanoseconds that the busiest kind of unit needs for these operations.

    Nothing but the units counts: operands are on chip, and there is enough
    independent work to fill all of them.
    """
    busy: dict[str, float] = {}
    for op, timing in machine.timing(n.bit_length() - 1).items():
        cycles = counts.get(op, 0) * timing["occupancy"] / timing["instances"]
        busy[timing["unit"]] = busy.get(timing["unit"], 0.0) + cycles
    nanoseconds: float = max(busy.values()) * 1e3 / machine.summary()["clock_mhz"]
    return nanoseconds


def throughputs(bench: Workbench) -> Iterator[Measured]:
    """Return Table 4 in all readings."""
    more = _native.Machine.open(bench.name, ["t4_legacy"])
    count, legacy = bench.machine.summary()["clusters"], more.summary()["clusters"]
    for n, bits in SETS.items():
        limbs = ceil(bits / WORD_BITS)
        for name, row in OPERATIONS.items():
            figure = f"f1.t4.{name}.{n}.ns"
            operations = row.listed(limbs)
            for machine, clusters in ((bench.machine, count), (more, legacy)):
                if clusters == count or row.program is None:
                    ours = steady_state(machine, n, operations)
                    reading = f"listed operations, L = {limbs}, {clusters} clusters"
                    yield Measured(figure, ours, reading, row.note)
            if row.program is not None:
                yield from _compiled(bench, figure, row.program, n, limbs)


def _compiled(
    bench: Workbench, figure: str, build: Callable[[int, int], Program], n: int, limbs: int
) -> Iterator[Measured]:
    one = _schedule(bench, build(n, 1), limbs, bench.machine)
    assert one.schedule is not None
    counts = one.schedule.report()["instructions_by_op"]
    yield Measured(
        figure,
        steady_state(bench.machine, n, counts),
        "compiled program, at the rate of the busiest units",
        "a digit is not transformed for its own prime; moduli are switched centred",
    )
    names = list(bench.machine.summary()["offchip"])
    unlimited = bench.machine.vary([(f"offchip.{name}.gbps", "unlimited") for name in names])
    many = _schedule(bench, build(n, BATCH), limbs, unlimited)
    assert many.schedule is not None
    yield Measured(
        figure,
        many.schedule.report()["milliseconds"] * 1e6 / BATCH,
        f"{BATCH} independent operations, scheduled with unlimited off-chip bandwidth",
        "not what is printed: 2 L^2 hint vectors keep both crossbars that end in a cluster busy as "
        "long as the transforms take, unless they serve several operations from a register file, "
        f"which holds {_held(bench, n)} vectors; with twice as many operations each takes as long",
    )


def _held(bench: Workbench, n: int) -> int:
    """Return how many vectors a register file holds."""
    facts = bench.machine.summary()
    held: int = facts["register_file_kib"] * 1024 // (n * facts["word_bits"] // 8)
    return held


def _schedule(bench: Workbench, program: Program, limbs: int, machine: _native.Machine) -> Compiled:
    options = Options(on=bench.name, levels=limbs, keyswitch="listing1", allow_insecure=INSECURE)
    lowered = lower(program, options, [])
    varied = Compiled(**{**vars(lowered), "machine": machine})
    with bench.progress.phase(f"scheduling {program.name}"):
        return schedule(varied, options, None)


def _permutations(n: int, count: int) -> Program:
    p = Program(N=n, t=PLAINTEXT_MODULUS, name="permutations")
    for i in range(count):
        p.Output(Rotate(p.Input(name=f"x.{i}"), 1), name=f"y.{i}")
    return p


def _multiplications(n: int, count: int) -> Program:
    p = Program(N=n, t=PLAINTEXT_MODULUS, name="multiplications")
    for i in range(count):
        product = Mul(p.Input(name=f"x.{i}"), p.Input(name=f"y.{i}"))
        p.Output(rescale(product), name=f"z.{i}")
    return p


def _listing1(limbs: int) -> dict[str, int]:
    """Return Listing 1 with a transform for every digit and prime, the digit's own included."""
    return {
        "intt": limbs,
        "ntt": limbs * limbs,
        "mul": 2 * limbs * limbs,
        "add": 2 * limbs * (limbs - 1),
    }


def _listed_permutation(limbs: int) -> dict[str, int]:
    counts = _listing1(limbs)
    return {**counts, "aut": 2 * limbs, "add": counts["add"] + limbs}


def _listed_multiplication(limbs: int) -> dict[str, int]:
    """Tensor, key switch, and a modulus switch of two multiplications for every limb that stays."""
    switch, kept = _listing1(limbs), limbs - 1
    return {
        "intt": switch["intt"] + 2,
        "ntt": switch["ntt"] + 2 * kept,
        "mul": switch["mul"] + 4 * limbs + 4 * kept,
        "add": switch["add"] + 3 * limbs + 2 * kept,
    }


#: The rows, in the order of the table.
OPERATIONS = {
    "ntt": Operation(
        lambda limbs: {"ntt": 2 * limbs},
        None,
        "the printed figure is that of 20 clusters, or of 16 at 1.25 GHz",
    ),
    "aut": Operation(
        lambda limbs: {"aut": 2 * limbs},
        None,
        "the printed figure is that of 20 clusters, or of 16 at 1.25 GHz",
    ),
    "hmul": Operation(
        _listed_multiplication,
        _multiplications,
        "bound by the multipliers: 2 L^2 for the key switch, 4 L for the product, "
        "4 (L - 1) for the modulus switch",
    ),
    "hperm": Operation(
        _listed_permutation,
        _permutations,
        "bound by the transforms: L inverse and L^2 forward",
    ),
}
