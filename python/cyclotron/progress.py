"""How long work says where it is. The library prints nothing; the command line does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

#: Called with what is being done and the share that is done, in [0, 1].
Update = Callable[[str, float], None]


class Progress(Protocol):
    """Watches the phases of some work."""

    def phase(self, name: str) -> AbstractContextManager[Update]:
        """Enter a phase; the function that it gives may be called at any time."""


class Silent:
    """Watches nothing."""

    @contextmanager
    def phase(self, name: str) -> Iterator[Update]:
        """Enter a phase that nobody watches."""
        del name
        yield _ignore


def _ignore(what: str, share: float) -> None:
    del what, share
