"""The cleartext twin: the same graph, executed on numpy vectors.

CKKS values are float64, BGV values exact integers modulo t. Slots, padding and
rotations follow `cyclotron.slots`; scales, levels and noise do not exist here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from cyclotron.graph import Node, Program
    from cyclotron.slots import Slots


def execute(
    program: Program,
    inputs: Mapping[str, ArrayLike],
    record: Callable[[int, NDArray[Any]], None] | None = None,
) -> dict[str, NDArray[Any]]:
    """Execute a program in the clear.

    Parameters
    ----------
    program
        The program.
    inputs
        A vector for each encrypted and each run-time plaintext input; shorter
        ones are padded with zeros.
    record
        Called with each node's number and value.

    Returns
    -------
    dict
        For each output its vector over all slots, or over those the program
        takes; float64 (CKKS), int64 in ``(-t/2, t/2]`` (BGV).
    """
    slots = program.geometry
    bound = {name: _pad(v, slots.count) for name, v in program.bind(inputs).items()}
    operands = [
        bound[p.name] if p.values is None else _pad(p.values, slots.count) for p in program.plains
    ]
    last_use = {arg: i for i, node in enumerate(program.nodes) for arg in node.args}
    values: dict[int, NDArray[Any]] = {}
    outputs = {}
    for index, node in enumerate(program.nodes):
        if node.op == "input":
            assert node.name is not None
            values[index] = bound[node.name]
        elif node.op == "output":
            assert node.name is not None
            taken = program.outputs[node.name].slots
            value = values[index] = values[node.args[0]]
            outputs[node.name] = slots.centred(value if taken is None else value[list(taken)])
        else:
            args = [values[a] for a in node.args]
            operand = operands[node.plain] if node.plain is not None else node.value
            with np.errstate(over="ignore", invalid="ignore"):
                values[index] = _apply(slots, node, args, operand)
        if record is not None:
            record(index, values[index])
        for arg in (*node.args, index):
            if last_use.get(arg, index) == index:
                values.pop(arg, None)
    return outputs


def _apply(
    slots: Slots, node: Node, args: list[NDArray[Any]], operand: NDArray[Any] | float | None
) -> NDArray[Any]:
    """Compute one operation; ``operand`` is the plaintext vector or scalar, if it has one."""
    result: NDArray[Any]
    x = args[0]
    y: Any = args[1] if len(args) == 2 else operand
    match node.op.removesuffix("_plain").removesuffix("_scalar"):
        case "add":
            result = x + y
        case "sub":
            result = x - y
        case "mul":
            result = x * y
        case "neg":
            result = -x
        case "rotate":
            assert node.steps is not None
            return _rotate(slots, x, node.steps)
        case "conjugate":
            result = np.conj(x)
        case "rescale" | "relinearize":
            result = x
        case unknown:  # pragma: no cover - the handles make no other
            raise AssertionError(unknown)
    return np.mod(result, slots.t) if slots.scheme == "bgv" else result


def _rotate(slots: Slots, x: NDArray[Any], steps: int) -> NDArray[Any]:
    if slots.scheme == "ckks":
        return np.roll(x, -steps)
    rows = x.reshape(2, slots.row)
    rows = rows[::-1] if steps == slots.row else np.roll(rows, -steps, axis=1)
    swapped: NDArray[Any] = rows.reshape(-1)
    return swapped


def _pad(values: NDArray[Any], count: int) -> NDArray[Any]:
    return np.concatenate([values, np.zeros(count - len(values), values.dtype)])


def magnitudes(program: Program, samples: list[dict[str, NDArray[Any]]]) -> list[float]:
    """Measure the largest magnitude of every node's slots over some inputs.

    The compiler plans the room above values with it (CKKS).
    """
    largest = [0.0] * len(program.nodes)
    for sample in samples:

        def record(index: int, value: NDArray[Any]) -> None:
            largest[index] = max(largest[index], float(np.abs(value).max()))

        execute(program, sample, record)
    return largest
