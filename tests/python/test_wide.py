"""Numbers of 106 bits, from Python through encryption and back."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import cyclotron
from cyclotron import Encrypted, Plain, Wide, shape
from cyclotron.wide import exact_numbers

#: What a sum or product of 106 bits may be wrong by, relative to its operands.
ROUNDING = Fraction(1, 2**101)


def fractions(count: int, seed: int) -> list[Fraction]:
    draw = random.Random(seed)
    return [Fraction(draw.randint(-(2**120), 2**120), 3 * 2**118) for _ in range(count)]


def test_arithmetic_against_fractions() -> None:
    a, b = fractions(200, 1), fractions(200, 2)
    x, y = Wide.of(a), Wide.of(b)
    for found, exact in (
        (x + y, [u + v for u, v in zip(a, b, strict=True)]),
        (x - y, [u - v for u, v in zip(a, b, strict=True)]),
        (x * y, [u * v for u, v in zip(a, b, strict=True)]),
        (-x, [-u for u in a]),
        (np.full(200, 0.1) * x - 2, [u * Fraction(0.1) - 2 for u in a]),
        (1.5 - x.rolled(3)[:7], [Fraction(3, 2) - u for u in a[3:10]]),
    ):
        for left, right in zip(found.fractions(), exact, strict=True):
            assert abs(left - right) <= 4 * ROUNDING


def test_what_it_is_made_of() -> None:
    exact: list[Any] = [Fraction(1, 3), Decimal("0.1"), 7, 0.5, 2**100 + 1]
    for found, value in zip(Wide.of(exact).fractions(), exact, strict=True):
        assert abs(found - Fraction(value)) <= Fraction(value) * ROUNDING
    long = np.array([1, 3], np.longdouble) / 3
    assert (Wide.of(long).high + np.longdouble(1) * Wide.of(long).low == long).all()
    assert Wide([2.0**-60], [1.0]).high[0] == 1.0
    for wrong in (["a"], [None], 3, [float("nan")], [10**400]):
        with pytest.raises(cyclotron.ProgramError, match="106 bits"):
            Wide.of(wrong)  # type: ignore[arg-type]


def test_numbers_of_numpy_may_stand_among_fractions() -> None:
    @cyclotron.program(scheme="ckks", n=8192)
    def same(x: Encrypted) -> Any:
        return x

    given: list[Any] = [Fraction(1, 3), np.float64(0.5), np.int64(2), np.float32(0.25)]
    found = same.twin({"x": given})["output"]
    assert isinstance(found, Wide)
    expected = [Fraction(1, 3), Fraction(1, 2), Fraction(2), Fraction(1, 4)]
    for number, exact in zip(found.fractions()[:4], expected, strict=True):
        assert abs(number - exact) <= exact * ROUNDING
    # Ordinary arrays are not looked through number by number.
    assert not exact_numbers(np.ones(4))
    assert not exact_numbers(np.array([np.float64(0.5), 1], object))


@cyclotron.program(
    scheme="ckks",
    n=8192,
    precision_bits=66,
    inputs={"x": shape(scale_bits=90), "y": shape(scale_bits=90)},
)
def combine(x: Encrypted, y: Encrypted) -> Any:
    return (x - 3 * y).rotate(1) + x


@pytest.mark.parametrize("on", ["cpu", "f1"])
def test_digits_beyond_float64_survive_encryption(on: str) -> None:
    x, y = fractions(4, 3), fractions(4, 4)
    result = cyclotron.run(combine, {"x": x, "y": Wide.of(y)}, on=on)
    assert result.report["outputs_match_twin"] is True
    assert 0 < result.report["max_relative_error"] < 2.0**-65
    exact = [x[i + 1] - 3 * y[i + 1] + x[i] for i in range(3)]
    found = result.outputs["output"][:3].fractions()
    assert all(abs(f - e) < Fraction(1, 2**65) for f, e in zip(found, exact, strict=True))
    rounded = cyclotron.run(combine, {"x": [float(v) for v in x], "y": [float(v) for v in y]})
    narrow = rounded.outputs["output"]
    assert isinstance(narrow, np.ndarray)
    assert all(abs(Fraction(f) - e) > 2**-60 for f, e in zip(narrow[:3], exact, strict=True))


def test_client_takes_and_gives_pairs() -> None:
    compiled = cyclotron.compile(combine)
    client = cyclotron.Client.generate(compiled.parameters, None)
    keys = client.evaluation_keys(compiled.plan)
    third = Wide.of([Fraction(1, 3)])
    for given in (third, (third.high, third.low)):
        inputs = client.encrypt(compiled.plan, {"x": given, "y": np.zeros(1)})
        outputs, _ = cyclotron.Evaluator(compiled.parameters, keys).run(compiled.plan, inputs, {})
        found = Wide(*client.decrypt(compiled.plan, outputs, wide=True)["output"])
        assert abs(found.fractions()[0] - Fraction(1, 3)) < Fraction(1, 2**65)
        narrow = client.decrypt(compiled.plan, outputs)["output"]
        assert abs(narrow[0] - found.high[0]) < 2.0**-50


@cyclotron.program(scheme="ckks", n=8192)
def scaled(x: Encrypted, w: Plain) -> Any:
    return x * w


@cyclotron.program(scheme="bgv", n=8192)
def exact(x: Encrypted) -> Any:
    return x + x


def test_where_they_cannot_be_used_they_are_refused_or_rounded() -> None:
    third = Wide.of([Fraction(1, 3)])
    with pytest.raises(cyclotron.UsageError, match=r"'w' .* encrypted inputs"):
        scaled.twin({"x": [1], "w": third})
    assert scaled.twin({"x": [1], "w": [Fraction(1, 3)]})["output"][0] == 1 / 3
    with pytest.raises(cyclotron.UsageError, match="BGV"):
        exact.twin({"x": third})
    for wrong, message in (
        (Wide(np.zeros((2, 2))), "one dimension"),
        (Wide([]), "empty"),
        (Wide(np.zeros(5000)), "5000 values"),
        (Wide([1e308], [1e308]), "NaN"),
    ):
        with pytest.raises(cyclotron.UsageError, match=message):
            combine.twin({"x": wrong, "y": [1]})

    @cyclotron.program(scheme="ckks", n=8192)
    def constant(x: Encrypted) -> Any:
        return x * third  # type: ignore[operator]

    with pytest.raises(cyclotron.ProgramError, match=r"test_wide\.py:\d+: .*round"):
        constant.build()
