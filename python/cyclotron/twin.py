"""The cleartext twin: the same graph, executed on numpy vectors.

CKKS values are float64, or `Wide` where an input is; BGV values are exact integers
modulo t. Slots, padding and
rotations follow `cyclotron.slots`; scales, levels and noise do not exist here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cyclotron.errors import program_error
from cyclotron.wide import Inputs, Vector, Wide, largest

if TYPE_CHECKING:
    from cyclotron.graph import Node, Program
    from cyclotron.slots import Slots

#: Largest magnitude of a slot (CKKS): times any scale it is still a float64, and what
#: the encoder computes with.
LARGEST = 2.0**800


def execute(
    program: Program,
    inputs: Inputs,
    record: Callable[[int, Any], None] | None = None,
) -> dict[str, Any]:
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
        takes; float64 (CKKS), int64 in ``(-t/2, t/2]`` (BGV), `Wide` if it depends
        on such an input.
    """
    slots = program.geometry
    bound = {name: _pad(v, slots.count) for name, v in program.bind(inputs).items()}
    operands = [
        bound[p.name] if p.values is None else _pad(p.values, slots.count) for p in program.plains
    ]
    last_use = {arg: i for i, node in enumerate(program.nodes) for arg in node.args}
    values: dict[int, Any] = {}
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


def _apply(slots: Slots, node: Node, args: list[Any], operand: NDArray[Any] | float | None) -> Any:
    """Compute one operation; ``operand`` is the plaintext vector or scalar, if it has one."""
    result: Any
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
            result = x  # real
        case "rescale" | "relinearize":
            result = x
        case unknown:  # pragma: no cover - the handles make no other
            raise AssertionError(unknown)
    return np.mod(result, slots.t) if slots.scheme == "bgv" else result


def _rotate(slots: Slots, x: Any, steps: int) -> Any:
    if isinstance(x, Wide):
        return x.rolled(steps)
    if slots.scheme == "ckks":
        return np.roll(x, -steps)
    rows = x.reshape(2, slots.row)
    rows = rows[::-1] if steps == slots.row else np.roll(rows, -steps, axis=1)
    swapped: NDArray[Any] = rows.reshape(-1)
    return swapped


def _pad(values: Any, count: int) -> Any:
    if isinstance(values, Wide):
        return values.padded(count)
    return np.concatenate([values, np.zeros(count - len(values), values.dtype)])


def magnitudes(program: Program, samples: list[dict[str, Any]]) -> list[float]:
    """Measure the largest magnitude of every node's slots over some inputs.

    The compiler plans the room above values with it (CKKS).

    Raises
    ------
    ProgramError
        At the first line whose values are too large to be encrypted at any scale.
    """
    found = [0.0] * len(program.nodes)
    for sample in samples:

        def record(index: int, value: Vector) -> None:
            magnitude = largest(value)
            if not magnitude <= LARGEST:
                shown = f"reach {magnitude:.3g}" if np.isfinite(magnitude) else "overflow"
                raise program_error(
                    f"values {shown} here with the inputs that were given; magnitudes up to "
                    f"{LARGEST:.2g} can be encrypted: scale the inputs or the constants down",
                    program.nodes[index].span,
                )
            found[index] = max(found[index], magnitude)

        execute(program, sample, record)
    return found


def plain_magnitudes(program: Program, samples: list[dict[str, Any]]) -> list[float]:
    """Measure the largest value of every plaintext input over some inputs; 0 for constants.

    Nothing if the program has no plaintext inputs.
    """
    if not program.plain_inputs:
        return []
    return [
        max((largest(sample[operand.name]) for sample in samples), default=0.0)
        if operand.values is None
        else 0.0
        for operand in program.plains
    ]
