"""Table 2 and what the text says of the hardware: computed from the machine file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cyclotron.reproduction.result import Measured
from cyclotron.reproduction.workbench import Workbench

__all__ = ["budget", "capacities", "shares"]

#: Components of Table 2 by the start of their paths, and whether the table means one of them.
COMPONENTS = {
    "ntt_fu": (("cluster.cc.fu.ntt",), True),
    "automorphism_fu": (("cluster.cc.fu.aut",), True),
    "multiply_fu": (("cluster.cc.fu.mul",), True),
    "add_fu": (("cluster.cc.fu.add",), True),
    "vector_regfile_512kb": (("cluster.cc.regfile",), True),
    "total_compute_16_clusters": (("cluster",), False),
    "scratchpad_16x4mb": (("scratchpad",), False),
    "3xnoc_16x16_512b": (("xbar",), False),
    "2xhbm2_phy": (("offchip",), False),
    "total_memory_system": (("scratchpad", "xbar", "offchip"), False),
    "total_f1": (("",), False),
}
MIB = 2**20
#: The paper's terabyte: its totals come out with this one only.
TERA = 1.024e12


def budget(bench: Workbench) -> Iterator[Measured]:
    """Add Table 2 up from the machine file's components."""
    lines = bench.machine.budget()
    clusters = bench.machine.summary()["clusters"]
    reading = "from the machine file"
    for metric, key in (("area", "area_mm2"), ("tdp", "tdp_w")):
        for name, (prefixes, each) in COMPONENTS.items():
            chosen = [line for line in lines if line["component"].startswith(prefixes)]
            total = sum(line[key] for line in chosen)
            ours = total / sum(line["count"] for line in chosen) if each else total
            yield Measured(f"f1.t2.{name}.{metric}", ours, reading)
        cluster = sum(line[key] for line in lines if line["component"].startswith("cluster"))
        note = "" if metric == "area" else "the printed parts add up to 8.76"
        yield Measured(f"f1.t2.compute_cluster.{metric}", cluster / clusters, reading, note)


def shares(bench: Workbench) -> Iterator[Measured]:
    """Return the shares of the chip's area."""
    lines = bench.machine.budget()
    total = sum(line["area_mm2"] for line in lines)
    for name, prefix in (
        ("fu", "cluster"),
        ("mem", "scratchpad"),
        ("noc", "xbar"),
        ("phy", "offchip"),
    ):
        area = sum(line["area_mm2"] for line in lines if line["component"].startswith(prefix))
        yield Measured(f"f1.text.area_{name}", 100 * area / total)


def capacities(bench: Workbench) -> Iterator[Measured]:
    """Return bandwidths, multipliers and capacities."""
    facts = bench.machine.summary()
    clusters, lanes = facts["clusters"], facts["lanes"]
    hertz = facts["clock_mhz"] * 1e6
    pad = facts["scratchpads"]["spad"]
    network = sum(facts["crossbar_bytes_per_cycle"].values()) * clusters * hertz
    yield Measured("f1.text.noc_bw", network / TERA)
    ports = sum(facts["register_file_unit_ports"])
    yield Measured(
        "f1.text.rf_bw", clusters * ports * lanes * facts["word_bits"] / 8 * hertz / TERA
    )
    memory = facts["offchip"]["hbm"]
    yield Measured("f1.text.hbm_bw", memory["channels"] * memory["gb_per_second"] / 1024)
    vector = facts["n_max"] * facts["word_bits"] // 8
    held = pad["banks"] * pad["kib_per_bank"] * 1024 // vector
    yield Measured("f1.text.spad_vectors", held)
    yield from _multipliers(facts)
    yield Measured("f1.text.moduli", count_primes(facts))


def _multipliers(facts: dict[str, Any]) -> Iterator[Measured]:
    lanes, clusters = facts["lanes"], facts["clusters"]
    stages = lanes.bit_length() - 1
    half = lanes // 2 * (stages - 1)
    unit = 2 * half + lanes
    full = 2 * (lanes // 2 * stages) + lanes
    note = f"a negacyclic transform needs every stage: {lanes // 2 * stages} and {full}"
    yield Measured("f1.text.ntt128_mults", half, note=note)
    yield Measured("f1.text.ntt_mults", unit, note=note)
    units = facts["units"]
    others = (units["mul"]["per_cluster"] + units["add"]["per_cluster"]) * lanes
    tera = clusters * (2 * unit + others) * facts["clock_mhz"] * 1e6 / 1e12
    yield Measured("f1.text.peak_ops", tera)


def count_primes(facts: dict[str, Any]) -> int:
    """Count the primes that the machine computes with: below its word, 1 modulo its step.

    Examples
    --------
    >>> count_primes({"prime_bits_max": 16, "primes_one_mod": 2048})
    5
    """
    top, step = 2 ** facts["prime_bits_max"], facts["primes_one_mod"]
    return sum(map(is_prime, range(step + 1, top, step)))


def is_prime(number: int) -> bool:
    """Tell whether a number below 2^64 is prime (Miller-Rabin).

    The first twelve primes as bases decide every number below 2^64.
    """
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    for base in bases:
        if number % base == 0:
            return number == base
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in bases:
        power = pow(base, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True
