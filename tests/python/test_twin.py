"""The cleartext twin against independent computations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import cyclotron
from cyclotron import Encrypted, Program, shape, take, twin
from cyclotron.slots import Slots


def centre(value: int, t: int) -> int:
    return (value + t // 2) % t - t // 2


def test_matvec_equals_exact_integers() -> None:
    from cyclotron.programs import find

    p = find("matvec").build({"n": 2048})
    random = np.random.default_rng(1)
    values = {name: random.integers(0, 65537, 2048) - 32768 for name in p.inputs}
    outputs = p.twin(values)
    for i in range(4):
        row, vector = (values[k].astype(object) for k in (f"row.{i}", "vector"))
        exact = centre(int((row * vector).sum()), 65537)
        assert (outputs[f"product_{i}"] == exact).all()


def test_bgv_rotates_two_rows_and_swaps_them() -> None:
    p = Program(N=1024)
    x = p.Input()
    p.Output({"by_3": x.rotate(3), "back": x.rotate(-1), "swap": x.rotate(512)})
    values = np.arange(1024)
    out = p.twin({"input_0": values})
    rows = values.reshape(2, 512)
    assert (out["by_3"].reshape(2, 512) == np.roll(rows, -3, axis=1)).all()
    assert out["back"][0] == 511
    assert out["back"][512] == 1023
    assert (out["swap"] == np.concatenate([values[512:], values[:512]])).all()


def test_ckks_rotates_one_row() -> None:
    p = Program(N=1024, scheme="ckks")
    p.Output(p.Input().rotate(5))
    out = p.twin({"input_0": np.arange(512.0)})["output"]
    assert (out[:3] == [5, 6, 7]).all()
    assert out[-1] == 4


@pytest.mark.parametrize(
    ("t", "n", "slots"), [(65537, 16384, 16384), (257, 16384, 128), (17, 1024, 8)]
)
def test_bgv_slot_counts(t: int, n: int, slots: int) -> None:
    assert Slots.of("bgv", n, t).count == slots


@pytest.mark.parametrize("scheme", ["bgv", "ckks"])
def test_random_programs_equal_their_numpy_reading(scheme: str) -> None:
    random = np.random.default_rng(3)
    for _ in range(50):
        p = Program(N=1024, scheme=scheme)
        values: dict[str, NDArray[Any]] = {}
        pool: list[tuple[Encrypted, NDArray[Any]]] = []
        for i in range(3):
            drawn: NDArray[Any] = random.integers(-50, 50, p.slots)
            values[f"input_{i}"] = drawn
            pool.append(
                (p.Input(), drawn.astype(object) if scheme == "bgv" else drawn.astype(float))
            )
        for _ in range(10):
            pool.append(step(random, p, pool))
        p.Output(pool[-1][0])
        found, expected = p.twin(values)["output"], pool[-1][1]
        if scheme == "bgv":
            assert [centre(int(v), p.t) for v in expected] == found.tolist()
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def step(
    random: np.random.Generator, p: Program, pool: list[tuple[Encrypted, NDArray[Any]]]
) -> tuple[Encrypted, NDArray[Any]]:
    """Draw an operation; return its handle and its value, computed here."""
    (x, a), (y, b) = (pool[i] for i in random.integers(len(pool), size=2))
    k = int(random.integers(1, p.geometry.row))
    v = random.integers(-9, 9, p.slots)
    rows = 1 if p.scheme == "ckks" else 2
    options = [
        lambda: (x + y, a + b),
        lambda: (x - y, a - b),
        lambda: (x * y, a * b),
        lambda: (-x, -a),
        lambda: (x + v, a + v),
        lambda: (v - x, v - a),
        lambda: (x * v, a * v),
        lambda: (3 - x, 3 - a),
        lambda: (x * -2, a * -2),
        lambda: (x.rotate(k), np.roll(a.reshape(rows, -1), -k, axis=1).reshape(-1)),
        lambda: (x**3, a**3),
    ]
    return options[int(random.integers(len(options)))]()


def test_short_vectors_are_padded_with_zeros() -> None:
    @cyclotron.program(scheme="ckks", n=1024)
    def masked(x: Encrypted) -> Encrypted:
        return (x + 1.0) * np.array([1.0, 2.0])

    assert masked.twin({"x": [5.0, 6.0, 7.0]})["output"][:4].tolist() == [6, 14, 0, 0]


def test_take_keeps_the_slots_of_the_result() -> None:
    @cyclotron.program(n=1024, inputs={"x": shape(16)})
    def sums(x: Encrypted) -> dict[str, Any]:
        return {"sum": take(x.inner_sum(4), range(0, 16, 4))}

    assert sums.twin({"x": np.arange(16)})["sum"].tolist() == [6, 22, 38, 54]


def test_bgv_output_is_centred() -> None:
    @cyclotron.program(n=1024, t=12289)
    def double(x: Encrypted) -> Encrypted:
        return x + x

    assert double.twin({"x": [6144, 6145, 12288]})["output"][:3].tolist() == [-1, 1, -2]


def test_magnitudes_are_the_largest_of_every_node() -> None:
    p = Program(N=1024, scheme="ckks")
    x = p.Input()
    p.Output(x * x - 1.0)
    samples = [p.bind({"input_0": [1.0, -3.0]}), p.bind({"input_0": [2.0]})]
    assert twin.magnitudes(p, samples) == [3.0, 9.0, 8.0, 8.0]
