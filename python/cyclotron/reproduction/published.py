"""Published figures: the data that `cyclotron reproduce` compares with."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from cyclotron.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["PAPERS", "Figure", "figures"]

#: The papers with published figures, by the name on the command line.
PAPERS = ("f1",)


@dataclass(frozen=True)
class Figure:
    """A published figure.

    Attributes
    ----------
    id
        Its name, ``f1.t4.ntt.4096.ns``.
    where
        Table, figure or section: ``Table 4``.
    what
        What the number is of.
    value
        The number; None where only a picture was published.
    unit
        Of the value.
    reading
        How the number is read, if there is more than one way.
    """

    id: str
    where: str
    what: str
    value: float | None
    unit: str
    reading: str | None = None


@cache
def figures(paper: str) -> tuple[Figure, ...]:
    """Return the figures of a paper, in the order of their tables.

    Raises
    ------
    UsageError
        If nothing of such a paper is known.

    Examples
    --------
    >>> [f.value for f in figures("f1") if f.id == "f1.t4.hperm.4096.ns"]
    [40]
    """
    if paper not in PAPERS:
        raise UsageError(f"there is no paper {paper!r}; it is one of {', '.join(PAPERS)}")
    file = resources.files("cyclotron") / "assets" / f"{paper}-published.toml"
    read: list[dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))["figure"]
    return tuple(
        Figure(f["id"], f["where"], f["what"], f.get("value"), f["unit"], f.get("reading"))
        for f in read
    )
