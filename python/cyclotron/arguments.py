"""Checks of arguments: numbers, counts and texts that a user may get wrong.

Each returns the argument, or raises a `ProgramError` that has no line yet: what a
program is made of is refused at the line that wrote it.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np

from cyclotron.errors import ProgramError

Text = TypeVar("Text", str, "str | None")


def number(value: object, what: str, least: float, most: float) -> float:
    """Return a finite number from ``least`` to ``most``, both included."""
    right = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    try:
        right = right and math.isfinite(value) and least <= value <= most  # type: ignore[arg-type, operator]
    except OverflowError:  # an integer beyond float64
        right = False
    if not right:
        raise ProgramError(f"{what} is {_shown(value)}; use a number from {least:g} to {most:g}")
    return float(value)  # type: ignore[arg-type]


def optional_number(value: object, what: str, least: float, most: float) -> float | None:
    """Return None, or what `number` does."""
    return None if value is None else number(value, what, least, most)


def whole(value: object, what: str, least: int, most: int) -> int:
    """Return a whole number from ``least`` to ``most``, both included."""
    right = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not right or not least <= value <= most:  # type: ignore[operator]
        raise ProgramError(f"{what} is {_shown(value)}; use a whole number from {least} to {most}")
    return int(value)  # type: ignore[call-overload, no-any-return]


def flag(value: object, what: str) -> bool:
    """Return True or False."""
    if not isinstance(value, bool):
        raise ProgramError(f"{what} is {value!r}; use True or False")
    return value


def text(value: Text, what: str) -> Text:
    """Return a string, or None where that is allowed, which the type says."""
    if value is not None and not isinstance(value, str):
        raise ProgramError(f"{what} is {value!r}; use a string")
    return value


def _shown(value: object) -> str:
    """Show a wrong argument; Python writes no integers of many thousand digits."""
    long = isinstance(value, int) and value.bit_length() > 256
    return f"an integer of {value.bit_length()} bits" if long else repr(value)  # type: ignore[attr-defined]


#: Largest base-2 logarithm of an encoding's scale.
SCALE_BITS = 120
#: Largest precision that can be asked for.
PRECISION_BITS = 100


def scale_bits(value: object) -> float | None:
    """Return the base-2 logarithm of an encoding's scale, or None for the compiler's choice."""
    return optional_number(value, "scale_bits", 0, SCALE_BITS)


def precision_bits(value: object) -> float | None:
    """Return the precision that a CKKS program asks for, or None."""
    return optional_number(value, "precision_bits", 1, PRECISION_BITS)


def reason(value: str | None) -> str | None:
    """Return why insecure parameters are acceptable, or None."""
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise ProgramError(
            f"allow_insecure is {value!r}; say in words why less security is acceptable, "
            "or leave it out"
        )
    return value
