"""Values of a run, checked against the inputs that a program declares."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from cyclotron.errors import ProgramError, UsageError
from cyclotron.wide import Given, Inputs, Vector, Wide

if TYPE_CHECKING:
    from cyclotron.graph import Program

__all__ = ["bind"]


def bind(program: Program, values: Inputs) -> dict[str, Vector]:
    """Check run-time values against the declared inputs, encrypted and plain.

    A two-dimensional array called ``x`` stands for the inputs ``x.0``,
    ``x.1``, ... of its rows.

    Parameters
    ----------
    program
        What declares the inputs.
    values
        Inputs by name.

    Returns
    -------
    dict
        A vector for every declared input.

    Raises
    ------
    UsageError
        For an unknown or missing name, or values that do not fit.
    """
    if not isinstance(values, Mapping):
        raise UsageError('inputs are a mapping from names to values, {"x": [1, 2, 3]}')
    lengths = {i.name: i.length for i in program.inputs.values()} | program.plain_inputs
    given: dict[str, Given] = {}
    for name, value in values.items():
        rows = [n for n in lengths if n.startswith(f"{name}.")]
        if name in lengths or not rows:
            given[name] = value
            continue
        size = (value.size,) if isinstance(value, Wide) else np.shape(value)  # type: ignore[arg-type]
        if len(size) != 2 or size[0] != len(rows):
            raise UsageError(f"input {name!r} must have shape ({len(rows)}, values), not {size}")
        given |= dict(zip(rows, value, strict=True))
    for name in given:
        if name not in lengths:
            raise UsageError(
                f"program {program.name!r} has no input {name!r}; {_choices(name, list(lengths))}"
            )
    if missing := [name for name in lengths if name not in given]:
        raise UsageError(f"program {program.name!r} needs a value for input {missing[0]!r}")
    return {name: _bind_one(program, name, given[name], lengths[name]) for name in lengths}


def _bind_one(program: Program, name: str, value: Given, length: int | None) -> Vector:
    read = program.geometry.wide_vector if name in program.inputs else program.geometry.vector
    try:
        vector = read(value, f"input {name!r}")
    except ProgramError as error:
        raise UsageError(str(error)) from None
    if length is not None and len(vector) > length:
        raise UsageError(f"input {name!r} has {len(vector)} values; it takes at most {length}")
    return vector


def _choices(name: str, known: list[str]) -> str:
    if near := difflib.get_close_matches(name, known, 1):
        return f"did you mean {near[0]!r}?"
    shown = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
    return f"it has {shown}" if known else "it has none"
