"""A compiled program as a list of operations on ciphertexts, for others to execute.

The compiler's placement (levels, scales, rescales, relinearizations) in the order
of execution, with the values of all operands: what a driver of another library
needs to do the same work, in the format of ``benches/README.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cyclotron import twin
from cyclotron.errors import UsageError
from cyclotron.execution import Compiled


def export(compiled: Compiled, inputs: Mapping[str, ArrayLike]) -> dict[str, Any]:
    """Return a compiled program and its values as plain data, ready for JSON.

    Parameters
    ----------
    compiled
        The program; CKKS.
    inputs
        Values of all inputs, encrypted and plain.

    Returns
    -------
    dict
        ``program``, ``parameters``, ``inputs``, ``plains``, ``nodes`` and
        ``outputs`` with the cleartext twin's results as ``expected``.

    Raises
    ------
    UsageError
        For a scheme other than CKKS.
    """
    program = compiled.program
    if program.scheme != "ckks":
        raise UsageError(f"{program.name} is a {program.scheme} program; only CKKS is exported")
    bound: dict[str, Any] = {**program.bind(inputs)}
    expected = twin.execute(program, bound)
    return {
        "program": program.name,
        "parameters": compiled.parameters.to_dict(),
        "inputs": [{"name": n, "values": _numbers(bound[n])} for n in program.inputs],
        "plains": [
            {"values": _numbers(bound[p.name] if p.values is None else p.values)}
            for p in program.plains
        ],
        "nodes": _nodes(compiled),
        "outputs": [
            {"name": o.name, "slots": o.slots, "expected": expected[o.name].tolist()}
            for o in program.outputs.values()
        ],
    }


#: The operations that refer to a table of the program, and their fields for it.
TABLES = {
    "input": "input",
    "output": "output",
    "add_plain": "plain",
    "mul_plain": "plain",
}


def _nodes(compiled: Compiled) -> list[dict[str, Any]]:
    rows = compiled.plan.explain()
    position = {row["node"]: i for i, row in enumerate(rows)}
    scale_bits = {row["node"]: row["scale_bits"] for row in rows}
    steps = _steps(compiled.program.N)
    nodes = []
    for row in rows:
        op = row["op"]
        node = {
            "op": op,
            "args": [position[a] for a in row["args"]],
            "level": row["level"],
            "scale_bits": row["scale_bits"],
        }
        if op in TABLES:
            node[TABLES[op]] = row["operand"]
        if op == "add_plain":
            node["negate"] = row["negate"]
        if op == "mul_plain":
            node["plain_scale_bits"] = row["scale_bits"] - scale_bits[row["args"][0]]
        if row["value"] is not None:
            node["value"] = row["value"]
        if op == "rotate":
            node["exponent"] = row["exponent"]
            node["steps"] = steps.get(row["exponent"])
        nodes.append(node)
    return nodes


def _steps(n: int) -> dict[int, int]:
    """Map the exponent 5^k mod 2N to the rotation by k slots; conjugation is in none."""
    table, power = {}, 1
    for k in range(n // 2):
        table[power] = k
        power = power * 5 % (2 * n)
    return table


def _numbers(values: NDArray[Any]) -> list[float]:
    """Return values without the zeros at the end."""
    used = np.flatnonzero(values)
    length = used[-1] + 1 if len(used) else 0
    numbers: list[float] = values[:length].astype(np.float64).tolist()
    return numbers
