"""What the text says of key switching: sizes and counts, read off lowered programs."""

from __future__ import annotations

from collections.abc import Iterator

from cyclotron.execution import Compiled, lower
from cyclotron.functions import Rotate
from cyclotron.graph import Program
from cyclotron.options import Options
from cyclotron.programs import matvec
from cyclotron.reproduction.microbenchmarks import (
    PLAINTEXT_MODULUS,
    listed,
    steady_state,
)
from cyclotron.reproduction.result import Measured
from cyclotron.reproduction.workbench import Workbench

__all__ = ["facts"]

#: The example of the text.
N, LIMBS = 16384, 16
INSECURE = "the example of Section 2.4: L = 16 at N = 16,384"
MIB = 2**20


def facts(bench: Workbench) -> Iterator[Measured]:
    """Return sizes of hints and ciphertexts, counts and bandwidth of a key switch."""
    program = Program(N=N, t=PLAINTEXT_MODULUS, name="rotation")
    program.Output(Rotate(program.Input(name="x"), 1), name="y")
    plan = _lower(bench, program).plan.to_dict()
    vector = bench.machine.summary()["word_bits"] // 8 * N
    reading = "of the lowered program of one rotation, Listing 1"
    hint = plan["hint_bytes"]
    yield Measured("f1.text.ks_hint", hint / MIB, reading)
    yield Measured("f1.text.ct_size", plan["output_limbs"] * vector / MIB, reading)
    counts = plan["instructions_by_op"]
    transforms = counts["ntt"] + counts["intt"]
    yield Measured("f1.text.ks_ntts", transforms / LIMBS**2, reading)
    # An inner product of k pairs is k multiplications.
    products = hint // vector
    yield Measured("f1.text.ks_muls", products / LIMBS**2, "one for every limb of the hint")
    seconds = steady_state(bench.machine, N, listed("hperm", LIMBS)) * 1e-9
    yield Measured(
        "f1.text.ks_bw",
        hint / seconds / 1e12,
        "hint bytes over the time of the transforms",
        "'about' in the text; at the published rate of transforms it is more",
    )
    product = _lower(bench, matvec.matvec(n=N)).plan.to_dict()
    yield Measured(
        "f1.text.listing2_hints",
        product["hint_bytes"] / MIB,
        f"of the lowered matvec: {len(product['keys'])} keys",
    )


def _lower(bench: Workbench, program: Program) -> Compiled:
    options = Options(on=bench.name, levels=LIMBS, keyswitch="listing1", allow_insecure=INSECURE)
    return lower(program, options, [])
