"""What a sweep varies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from cyclotron.errors import UsageError

__all__ = ["Axis", "Change", "grid"]

#: A dotted key of a machine file and its value.
Change = tuple[str, bool | int | float | str]


@dataclass(frozen=True)
class Axis:
    """A key of a machine file, and its values.

    Examples
    --------
    >>> Axis.parse("clusters=4,8")
    Axis(key='clusters', values=(4, 8))
    """

    key: str
    values: tuple[bool | int | float | str, ...]

    @classmethod
    def parse(cls, text: str) -> Axis:
        """Read ``KEY=VALUE,VALUE,...``.

        Raises
        ------
        UsageError
            If it is not that, or a value is there twice.
        """
        key, equals, values = text.partition("=")
        words = values.split(",")
        if not equals or not key or not all(words):
            raise UsageError(f"--vary {text}: give KEY=VALUE,VALUE,..., such as clusters=4,8,16")
        read = tuple(_value(word) for word in words)
        if len(set(read)) < len(read):
            raise UsageError(f"--vary {text}: a value is there twice")
        return cls(key, read)


def _value(word: str) -> bool | int | float | str:
    if word in ("true", "false"):
        return word == "true"
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


def grid(axes: Sequence[Axis]) -> list[tuple[Change, ...]]:
    """Return all combinations of values, the last axis running fastest."""
    keys = [axis.key for axis in axes]
    if len(set(keys)) < len(keys):
        raise UsageError("a key is varied twice; give all its values in one --vary")
    combinations = product(*(axis.values for axis in axes))
    return [tuple(zip(keys, values, strict=True)) for values in combinations]
