"""Tables 3 and 5, and what the text says of whole programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cyclotron import _native
from cyclotron.errors import DoesNotFitError
from cyclotron.profile import measure
from cyclotron.reproduction.result import Measured
from cyclotron.reproduction.workbench import Workbench

__all__ = ["behaviour", "slowdowns", "times"]

#: Published benchmarks and our programs of them, the published packing first.
PROGRAMS = {
    "cifar": (),
    "mnist_pt": ("lola-mnist", "lola-mnist-packed"),
    "mnist_ct": (),
    "logreg": (),
    "dblookup": (),
    "bgvboot": (),
    "ckksboot": (),
}
PACKING = {
    "lola-mnist": "packing as published by LoLa, masks merged into weights",
    "lola-mnist-packed": "packing of our own, with fewer rotations",
}
#: What a benchmark without a program lacks.
MISSING = {
    "cifar": "there is no LoLa-CIFAR program yet",
    "mnist_ct": "there is no LoLa-MNIST program with encrypted weights yet",
    "logreg": "there is no logistic regression program yet",
    "dblookup": "there is no database lookup program yet",
    "bgvboot": "there is no BGV bootstrapping program yet",
    "ckksboot": "there is no CKKS bootstrapping program yet",
}
OVERLAYS = ("lt_ntt", "lt_aut")
#: The overlay with register files whose banks never conflict, and what counts accesses to banks.
IDEAL = "ideal_rf"
BANKS = "register file bank"
#: Programs on which losses are measured.
MEASURED = ("lola-mnist", "lola-mnist-packed", "matvec")
FETCHES = (
    "two fifths of it waits; small programs load nothing twice, so much is computed for "
    "each byte; the paper gives no encoding"
)


def times(bench: Workbench) -> Iterator[Measured]:
    """Return Table 3: milliseconds of the programs that exist."""
    for benchmark, programs in PROGRAMS.items():
        figure = f"f1.t3.{benchmark}.f1"
        if not programs:
            yield Measured(figure, None, note=MISSING[benchmark])
        for name in programs:
            for faithful in (False, True):
                yield _time(bench, figure, name, faithful)


def _time(bench: Workbench, figure: str, name: str, faithful: bool) -> Measured:
    compiled = bench.compiled(name, faithful=faithful)
    report = bench.report(name, faithful=faithful)
    note = f"{limbs(compiled.parameters)} limbs where the paper says L = 4; "
    if compiled.unrestricted is not None:
        note += f"{limbs(compiled.unrestricted)} with a choice of key-switch variants; "
    note += f"{report['schedule_over_bound']:.2f} times its lower bound"
    switching = ", keys switched by Listing 1 only" if faithful else ""
    return Measured(figure, report["milliseconds"], f"{name}: {PACKING[name]}{switching}", note)


def limbs(parameters: _native.Parameters) -> str:
    """Return the number of limbs of ciphertexts, and of special primes."""
    described = parameters.to_dict()
    return f"{len(described['moduli'])} + {len(described['special_moduli'])}"


def slowdowns(bench: Workbench) -> Iterator[Measured]:
    """Return Table 5: how much slower the programs are on variants of the machine."""
    for benchmark, programs in PROGRAMS.items():
        for overlay in OVERLAYS:
            figure = f"f1.t5.{benchmark}.{overlay}"
            if not programs:
                yield Measured(figure, None, note=MISSING[benchmark])
            for name in programs:
                base, varied = bench.report(name), bench.report(name, (overlay,))
                yield Measured(
                    figure,
                    varied["cycles"] / base["cycles"],
                    f"{name}: cycles with the overlay {overlay} over cycles without",
                    f"{varied['schedule_over_bound']:.2f} times the bound with it, "
                    f"{base['schedule_over_bound']:.2f} without; {varied['milliseconds']:.2f} ms, "
                    "where the paper's baseline of 0.17 ms is slower than ours; docs/f1.md "
                    "compares the readings",
                )
        figure = f"f1.t5.{benchmark}.csr"
        if not programs:
            yield Measured(figure, None, note=MISSING[benchmark])
        for name in programs:
            for faithful in (False, True):
                yield _by_pressure(bench, figure, name, faithful)


def _by_pressure(bench: Workbench, figure: str, name: str, faithful: bool) -> Measured:
    switching = ", keys switched by Listing 1 only" if faithful else ""
    reading = f"{name}{switching}: cycles with phase 2 by register pressure over cycles without"
    base = bench.report(name, faithful=faithful)
    try:
        varied = bench.report(name, faithful=faithful, phase2="csr")
    except DoesNotFitError as error:
        return Measured(figure, None, reading, str(error))
    traffic, before = (r["traffic_bytes"]["total"] for r in (varied, base))
    note = f"{traffic / before:.2f} times the off-chip traffic"
    return Measured(figure, varied["cycles"] / base["cycles"], reading, note)


def behaviour(bench: Workbench) -> Iterator[Measured]:
    """Return what the text says of traffic, power and use, for the program that exists."""
    name = "lola-mnist"
    schedule = bench.schedule(name)
    report = schedule.report()
    note = f"of {name} only"
    units = measure.unit_use(schedule)
    yield Measured("f1.text.fu_util", 100 * units, f"mean over all units, {name}", note)
    traffic: dict[str, Any] = report["traffic_bytes"]
    hints = traffic["hints_compulsory"] + traffic["hints_other"]
    yield Measured("f1.text.ksh_share_max", 100 * hints / traffic["total"], name, note)
    compulsory = sum(traffic[k] for k in ("hints_compulsory", "inputs_compulsory", "outputs"))
    more = 100 * (traffic["total"] - compulsory) / compulsory
    computing = 100 * measure.computing_share(schedule)
    for end in ("lo", "hi"):
        yield Measured(f"f1.text.noncompulsory_{end}", more, name, note)
        yield Measured(f"f1.text.compute_power_{end}", computing, name, note)
    yield Measured("f1.text.cifar_interm", None, note=MISSING["cifar"])
    yield Measured("f1.text.bgv_levels", None, note=MISSING["bgvboot"])
    yield from _losses(bench)


def _losses(bench: Workbench) -> Iterator[Measured]:
    """Return what banked register files and the fetching of instructions cost."""
    for name in MEASURED:
        base, ideal = bench.report(name), bench.report(name, (IDEAL,))
        yield Measured(
            "f1.text.rf_loss",
            100 * (base["cycles"] / ideal["cycles"] - 1),
            f"{name}: cycles more than with the overlay {IDEAL}",
            "both schedules are heuristic, so the loss is known to a percent or two; "
            f"{100 * base['utilisation'][BANKS]:.0f} % of the banks' accesses are used",
        )
        fetched = bench.schedule(name).instruction_bytes()
        yield Measured(
            "f1.text.ifetch",
            100 * fetched / base["traffic_bytes"]["total"],
            f"{name}: all streams in our compact encoding",
            f"{fetched / base['entries']:.1f} bytes an entry, {FETCHES}",
        )
