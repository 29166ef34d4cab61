"""The DSL: what programs may say, and what is refused at the user's own line."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import cyclotron
from cyclotron import Add, Encrypted, Mul, Plain, Program, Rotate, Sub, plain, shape, take


def ckks() -> Program:
    return Program(N=1024, scheme="ckks")


def operations(program: Program) -> Counter[str]:
    return Counter(node.op for node in program.nodes)


def line_here() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def test_listing_2_reads_as_printed() -> None:
    text = (ROOT / "examples" / "listing2.py").read_text()
    for line in (
        "p = Program(N=16384)",
        "M_rows = [p.Input(L=16) for i in range(4)]",
        "V = p.Input(L=16)",
        "def innerSum(X):",
        "for i in range(log2(p.N)):",
        "X = Add(X, Rotate(X, 1 << i))",
        "prod = Mul(M_rows[i], V)",
        "output[i] = innerSum(prod)",
    ):
        assert line in text
    names: dict[str, Any] = {}
    exec(compile(text, "listing2.py", "exec"), names)
    p: Program = names["p"]
    assert p.levels == 16
    assert operations(p) == {"input": 5, "mul": 4, "rotate": 56, "add": 56, "output": 4}
    # 15 hints: the multiplication's, and one for each of 14 rotations, the row swap included.
    assert {n.steps for n in p.nodes if n.op == "rotate"} == {1 << i for i in range(14)}


def test_operators_and_operands_choose_the_operation() -> None:
    p = ckks()
    x, y = p.Input(), p.Input()
    vector, w = np.array([1.0, 2.0]), p.PlainInput(name="w")
    expected = {
        "add": x + y, "sub": x - y, "mul": x * y, "neg": -x,
        "add_plain": vector + x, "sub_plain": x - vector, "mul_plain": vector * x,
        "add_scalar": x + 1.5, "mul_scalar": 2 * x,
        "rotate": x.rotate(-3), "conjugate": x.conjugate(),
        "rescale": cyclotron.rescale(x), "relinearize": cyclotron.relinearize(x),
    }  # fmt: skip
    for op, value in expected.items():
        assert p.nodes[value.node].op == op
    assert p.nodes[(x - 2).node].value == -2
    assert p.nodes[(w * x).node].op == "mul_plain"
    assert p.nodes[(x * plain(3.25, scale_bits=8)).node].scale_bits == 8
    assert p.plains[p.nodes[(x * plain(vector, scale_bits=20)).node].plain or 0].scale_bits == 20
    assert sum([x, y]).node == len(p.nodes) - 1  # type: ignore[union-attr]
    assert operations(p)["add"] == 2


def test_equal_constants_are_encoded_once() -> None:
    p = ckks()
    x = p.Input()
    for _ in range(3):
        x = x * np.array([1.0, 2.0])
    x = x + plain([1.0, 2.0], scale_bits=9)
    assert len(p.plains) == 2


def test_rotations_are_canonical() -> None:
    p, q = ckks(), Program(N=1024)
    x, y = p.Input(), q.Input()
    assert x.rotate(0) is x
    assert p.nodes[x.rotate(-1).node].steps == 511
    assert q.nodes[y.rotate(-1).node].steps == 511
    assert q.nodes[y.rotate(512).node].steps == 512
    assert q.nodes[y.rotate(-512).node].steps == 512


def test_inner_sum_costs_a_logarithm() -> None:
    p = Program(N=2048)
    x = p.Input()
    x.inner_sum()
    assert operations(p)["rotate"] == 11
    x.inner_sum(8, stride=16)
    assert [n.steps for n in p.nodes if n.op == "rotate"][-3:] == [16, 32, 64]


def test_decorated_functions_name_inputs_and_outputs() -> None:
    @cyclotron.program(scheme="ckks", n=2048, inputs={"xs": shape(10, count=3)})
    def weighted(xs: list[Encrypted], w: Plain, *, power: int = 1) -> dict[str, Encrypted]:
        return {"total": reduce(add, (x**power for x in xs)) * w, "first": xs[0]}

    p = weighted.build(power=2)
    assert p.name == "weighted"
    assert list(p.inputs) == ["xs.0", "xs.1", "xs.2"]
    assert p.plain_inputs == {"w": None}
    assert list(p.outputs) == ["total", "first"]
    assert operations(p)["mul"] == 3
    assert weighted.build(n=4096).N == 4096


def test_decorated_functions_compose() -> None:
    @cyclotron.program(n=1024)
    def square(x: Encrypted) -> Encrypted:
        return x * x

    @cyclotron.program(n=1024)
    def fourth(x: Encrypted) -> tuple[Encrypted, Encrypted]:
        return square(square(x)), x

    p = fourth.build()
    assert operations(p) == {"input": 1, "mul": 2, "output": 2}
    assert list(p.outputs) == ["output_0", "output_1"]


def refusals() -> dict[str, tuple[Callable[[], object], str]]:
    """Return for each case an expression on one line, and what its error must say."""
    p, q = ckks(), Program(N=1024)
    x, y = p.Input(name="x"), q.Input(name="y")
    return {
        "nan": (lambda: x + np.array([1.0, np.nan]), "NaN"),
        "infinite scalar": (lambda: x * float("inf"), "NaN or infinity"),
        "too many": (lambda: x * np.zeros(513), "513 values.*512 slots"),
        "shape": (lambda: x + np.zeros((2, 2)), r"shape \(2, 2\)"),
        "empty": (lambda: x + np.zeros(0), "empty"),
        "complex": (lambda: x + np.array([1j]), "complex"),
        "words": (lambda: x + np.array(["a"]), "numbers"),
        "fraction": (lambda: y + np.array([1.5]), "BGV computes on integers"),
        "too large": (lambda: y * 65537, "outside.*t = 65537"),
        "too small": (lambda: y + np.array([-32769]), "outside"),
        "mixing": (lambda: x + y, "another program"),
        "steps": (lambda: x.rotate(1.5), "whole number of steps"),  # type: ignore[arg-type]
        "encrypted steps": (lambda: x.rotate(x), "known before"),  # type: ignore[arg-type]
        "far": (lambda: y.rotate(513), "out of range"),
        "conjugate": (lambda: 2 * y.conjugate(), "CKKS"),
        "branch": (lambda: 1 if x else 0, "branch"),
        "index": (lambda: x[0], "one slot"),
        "iterate": (lambda: list(x), "iterated"),
        "power": (lambda: x**0, "exponent"),
        "count": (lambda: x.inner_sum(3), "power of two"),
        "sum range": (lambda: x.inner_sum(512, stride=2), "do not fit"),
        "rotate array": (lambda: Rotate(np.zeros(3), 1), "encrypted value"),  # type: ignore[arg-type]
        "no operand": (lambda: Add(1, 2), "must be encrypted"),
        "slot": (lambda: take(x, [512]), "slot 512"),
        "output": (lambda: p.Output(3), "must be an encrypted value"),  # type: ignore[arg-type]
        "twice": (lambda: p.Input(name="x"), "two inputs"),
        "length": (lambda: p.Input(length=1000), "512 slots"),
        "degree": (lambda: Program(N=1000), "power of two"),
        "modulus": (lambda: Program(N=1024, t=65536), "prime"),
        "scheme": (lambda: Program(scheme="bfv"), "bgv"),
        "levels": (lambda: p.Input(L=0), "limbs"),
    }  # fmt: skip


@pytest.mark.parametrize("case", refusals())
def test_refused_at_the_users_line(case: str) -> None:
    expression, pattern = refusals()[case]
    with pytest.raises(cyclotron.ProgramError, match=pattern) as caught:
        expression()
    line = expression.__code__.co_firstlineno
    assert re.match(rf".*test_dsl\.py:{line}: ", str(caught.value))
    assert caught.value.line == line  # type: ignore[attr-defined]


def test_nodes_know_the_line_that_wrote_them() -> None:
    p = ckks()
    x = p.Input()

    def helper(value: Encrypted) -> Encrypted:
        return Mul(value, value)

    inside = helper.__code__.co_firstlineno + 1
    y = Sub(helper(x), x).inner_sum(2)
    here = line_here() - 1
    spans = {node.op: node.span for node in p.nodes}
    assert spans["mul"].line == inside
    assert [spans[op].line for op in ("sub", "rotate", "add")] == [here] * 3
    assert spans["sub"].file.endswith("test_dsl.py")
    assert y.program is p


def test_inputs_and_outputs_of_a_decorated_function_are_at_its_definition() -> None:
    @cyclotron.program(n=1024)
    def product(x: Encrypted, y: Encrypted) -> Encrypted:
        return x * y

    line = product.function.__code__.co_firstlineno
    spans = {node.op: node.span.line for node in product.build().nodes}
    assert spans == {"input": line, "mul": line + 2, "output": line}


def test_built_in_programs_count_as_user_code() -> None:
    from cyclotron.programs import find

    p = find("matvec").build({"n": 1024})
    assert {node.span.file for node in p.nodes} == {"cyclotron/programs/matvec.py"}


@pytest.mark.parametrize(
    ("values", "pattern"),
    [
        ({}, "needs a value for input 'rows.0'"),
        ({"rows": np.zeros((2, 4))}, r"must have shape \(3, values\)"),
        ({"rows": np.zeros((3, 4)), "vektor": [1]}, "did you mean 'vector'"),
        ({"rows": np.zeros((3, 4)), "vector": np.zeros(600)}, "600 values"),
        ({"rows": np.zeros((3, 4)), "vector": np.zeros(9)}, "at most 8"),
        ({"rows": np.zeros((3, 4)), "vector": [np.inf]}, "NaN or infinity"),
    ],
)
def test_run_time_values_are_checked(values: dict[str, Any], pattern: str) -> None:
    @cyclotron.program(scheme="ckks", n=1024, inputs={"rows": shape(count=3), "vector": shape(8)})
    def product(rows: list[Encrypted], vector: Plain) -> list[Encrypted]:
        return [row * vector for row in rows]

    with pytest.raises(cyclotron.UsageError, match=pattern):
        product.twin(values)


def test_a_function_that_fails_is_reported_at_its_line() -> None:
    @cyclotron.program(n=1024)
    def broken(x: Encrypted) -> Encrypted:
        return x.rotat(1)  # type: ignore[attr-defined, no-any-return]

    line = broken.function.__code__.co_firstlineno + 2
    with pytest.raises(cyclotron.ProgramError, match=rf"test_dsl\.py:{line}: AttributeError"):
        broken.build()


def test_a_function_must_return_something() -> None:
    @cyclotron.program(n=1024)
    def nothing(x: Encrypted) -> None:
        x * x

    with pytest.raises(cyclotron.ProgramError, match="returns nothing"):
        nothing.build()
