"""The exported list of operations computes what the program computes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclotron import Encrypted, Program, placed, plain
from cyclotron.execution import Compiled, lower
from cyclotron.options import Options
from cyclotron.programs import workload

SLOTS = 512
X = np.linspace(-1, 1, SLOTS)
Y = np.cos(np.arange(SLOTS))


def compiled() -> Compiled:
    program = Program(N=2 * SLOTS, scheme="ckks", name="small", allow_insecure="a test")
    x, y = program.Input(name="x"), program.Input(name="y")
    z: Encrypted = x * y + (x * Y).rotate(3) - np.arange(4.0)
    z = (z * 0.75 + 1.5) * plain([0.5] * SLOTS, scale_bits=20)
    program.Output(-z.rotate(-1) - y, name="z")
    inputs = workload.Workload("small", program).calibration(program)
    return lower(program, Options(), inputs)


def vector(row: dict[str, Any]) -> NDArray[np.float64]:
    """Return exported values with the zeros that were left out."""
    values = np.zeros(SLOTS)
    values[: len(row["values"])] = row["values"]
    return values


def apply(
    exported: dict[str, Any], node: dict[str, Any], args: list[NDArray[np.float64]], grown: float
) -> NDArray[np.float64]:
    """Compute one exported operation; ``grown`` is the factor by which the scale grows."""
    x = args[0] if args else vector(exported["inputs"][node["input"]])
    operand = vector(exported["plains"][node["plain"]]) if "plain" in node else np.zeros(0)
    value = node.get("value", 0.0)
    results: dict[str, Callable[[], NDArray[np.float64]]] = {
        "add": lambda: x + args[1],
        "sub": lambda: x - args[1],
        "mul": lambda: x * args[1],
        "neg": lambda: -x,
        "add_plain": lambda: x - operand if node["negate"] else x + operand,
        "mul_plain": lambda: x * operand,
        "add_const": lambda: x + value / 2.0 ** node["scale_bits"],
        "mul_const": lambda: x * value / grown,
        "rotate": lambda: np.roll(x, -node["steps"]),
    }
    return results.get(node["op"], lambda: x)()


def execute(exported: dict[str, Any]) -> dict[str, NDArray[np.float64]]:
    """Execute exported operations on vectors, and check levels and scales on the way."""
    values: list[NDArray[np.float64]] = []
    outputs = {}
    nodes = exported["nodes"]
    for node in nodes:
        before = [nodes[a] for a in node["args"]]
        grown = 2.0 ** (node["scale_bits"] - before[0]["scale_bits"]) if before else 1.0
        values.append(apply(exported, node, [values[a] for a in node["args"]], grown))
        if len(before) == 2:
            assert before[0]["level"] == before[1]["level"] == node["level"]
        if node["op"] == "mul_plain":
            assert abs(2.0 ** node["plain_scale_bits"] / grown - 1) < 1e-12
        if node["op"] == "rescale":
            dropped = exported["parameters"]["moduli"][node["level"]]
            assert abs(dropped * grown - 1) < 1e-9
        if node["op"] == "output":
            outputs[exported["outputs"][node["output"]]["name"]] = values[-1]
    return outputs


def test_exported_operations_compute_the_program() -> None:
    exported = placed.export(compiled(), {"x": X, "y": Y})
    exported = json.loads(json.dumps(exported))
    expected = exported["outputs"][0]["expected"]
    found = execute(exported)["z"]
    assert np.abs(expected).max() > 0.5
    # Scaled constants are rounded to integers, nothing else is.
    np.testing.assert_allclose(found, expected, atol=1e-5)
    operations = {node["op"] for node in exported["nodes"]}
    assert {"rotate", "mul", "mul_plain", "add_plain", "rescale", "relinearize"} <= operations
