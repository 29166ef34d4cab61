"""Every vector length of F1, and longer polynomials: the machine computes what CPU and twin do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cyclotron
from cyclotron import Encrypted, Plain
from cyclotron.errors import CyclotronError

DEGREES = (1024, 2048, 4096, 8192, 16384)
#: Two, four and eight vectors.
LONGER = ("ckks", 32768), ("bgv", 65536), ("ckks", 131072)
#: From here on, parameters for one multiplication are secure.
SECURE_FROM = 4096
REASON = "a test of every vector length"


def run(scheme: str, n: int, **settings: Any) -> cyclotron.RunResult:
    t = 65537 if scheme == "bgv" else None

    @cyclotron.program(scheme=scheme, n=n, t=t)
    def mixed(x: Encrypted, y: Encrypted, w: Plain) -> Encrypted:
        return (x * y).rotate(3) + x * w

    rng = np.random.default_rng(n)
    x, y, w = (rng.integers(-40, 40, n // 2) for _ in range(3))
    scale = 1.0 if scheme == "bgv" else 40
    inputs = {name: v / scale for name, v in (("x", x), ("y", y), ("w", w))}
    return cyclotron.run(mixed, inputs, on="f1", seed=1, **settings)


@pytest.mark.parametrize("scheme", ["bgv", "ckks"])
@pytest.mark.parametrize("n", DEGREES)
def test_machine_cpu_and_twin_agree(scheme: str, n: int) -> None:
    reason = None if n >= SECURE_FROM else REASON
    report = run(scheme, n, allow_insecure=reason).report
    assert report["parameters"]["log_n"] == n.bit_length() - 1
    assert report["insecure_reason"] == reason
    assert report["outputs_match_twin"]
    assert report["limbs_identical_to_cpu"]
    assert report["lower_bound_cycles"] <= report["cycles"]


@pytest.mark.parametrize("n", [n for n in DEGREES if n < SECURE_FROM])
def test_short_vectors_are_insecure_and_refused_without_a_reason(n: int) -> None:
    with pytest.raises(CyclotronError, match="allow_insecure"):
        run("bgv", n)


@pytest.mark.parametrize(("scheme", "n"), LONGER)
def test_longer_polynomials_are_several_vectors(scheme: str, n: int) -> None:
    report = run(scheme, n).report
    assert report["parameters"]["log_n"] == n.bit_length() - 1
    assert report["security_bits"] >= 128
    assert report["outputs_match_twin"]
    assert report["limbs_identical_to_cpu"]
    assert report["lower_bound_cycles"] <= report["cycles"]
