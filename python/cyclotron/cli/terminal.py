"""Tables, progress and pictures in a terminal."""

from __future__ import annotations

import json
import math
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclotron.errors import UsageError
from cyclotron.progress import Update

#: Phases shorter than this show nothing.
PATIENCE_SECONDS = 1.0


class TerminalProgress:
    """Shows phases of more than a second on standard error, with their share and time."""

    @contextmanager
    def phase(self, name: str) -> Iterator[Update]:
        """Enter a phase, and show it if it takes long."""
        state: list[tuple[str, float | None]] = [("", None)]
        done = threading.Event()
        start = time.monotonic()
        watcher = threading.Thread(target=_watch, args=(name, state, done, start), daemon=True)
        watcher.start()

        def update(what: str, share: float) -> None:
            state[0] = (what, share)

        try:
            yield update
        finally:
            done.set()
            watcher.join()


def _watch(
    name: str, state: list[tuple[str, float | None]], done: threading.Event, start: float
) -> None:
    """Print the phase once its patience is over, until it is done."""
    if done.wait(PATIENCE_SECONDS):
        return
    live = sys.stderr.isatty()
    if not live:
        print(f"{name} ...", file=sys.stderr, flush=True)
    while not done.wait(0.1 if live else 10.0):
        what, share = state[0]
        text = f"{name}{': ' + what if what else ''}"
        text += "" if share is None else f" {100 * min(max(share, 0.0), 1.0):.0f} %"
        text += f" ({time.monotonic() - start:.0f} s)"
        print(
            f"\r\x1b[K{text}" if live else text,
            end="" if live else "\n",
            file=sys.stderr,
            flush=True,
        )
    ended = f"{name}: {time.monotonic() - start:.1f} s"
    print(f"\r\x1b[K{ended}" if live else ended, file=sys.stderr, flush=True)


def check_writable(option: str, path: Path | None, *, folder: bool = False) -> None:
    """Refuse a path that cannot be written to, before an hour's work is lost over it.

    Parameters
    ----------
    option
        What the path was given as.
    path
        A file, which may exist or not; nothing is checked if there is none.
    folder
        Whether it is a folder, which is made with its parents where it is missing.
    """
    if path is None:
        return
    found = path
    if folder:
        while not found.exists() and found != found.parent:
            found = found.parent
    elif not path.exists():
        found = path.parent
    wrong = None
    if not found.exists():
        wrong = f"there is no folder {found}"
    elif found.is_dir() != (folder or found != path):
        wrong = f"{found} is {'a' if found.is_dir() else 'no'} folder"
    elif not os.access(found, os.W_OK):
        wrong = f"{found} may not be written to"
    if wrong is not None:
        raise UsageError(f"{option} {path} cannot be written: {wrong}")


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], right: str = "") -> str:
    """Lay out a table; ``right`` has an ``r`` at the place of each right-aligned column."""
    cells = [[str(c) for c in row] for row in rows]
    widths = [max(len(r[i]) for r in [list(header), *cells]) for i in range(len(header))]
    aligned = right.ljust(len(header))

    def line(row: Sequence[str]) -> str:
        return "  ".join(
            c.rjust(w) if a == "r" else c.ljust(w)
            for c, w, a in zip(row, widths, aligned, strict=False)
        ).rstrip()

    return "\n".join([line(header), "  ".join("-" * w for w in widths), *map(line, cells)])


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Lay out names and values in two columns, indented."""
    kept = [(name, value) for name, value in rows if value]
    width = max((len(name) for name, _ in kept), default=0)
    return "\n".join(f"  {name.ljust(width)}  {value}" for name, value in kept)


def bytes_text(count: float) -> str:
    """Return a number of bytes with a decimal unit.

    Examples
    --------
    >>> bytes_text(2_621_440)
    '2.62 MB'
    """
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"


def picture(image: NDArray[np.uint8]) -> str:
    """Draw an image of pixels 0..255, two rows of them for each line of text."""
    shades = " ░▒▓█"
    try:
        shades.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        shades = " .:*#"
    height = image.shape[0] // 2 * 2
    halves = image[:height].reshape(-1, 2, image.shape[1]).mean(axis=1)
    return "\n".join(
        "".join(shades[min(int(v * len(shades) / 256), len(shades) - 1)] for v in row).rstrip()
        for row in halves
    )


def print_json(report: dict[str, Any] | list[Any]) -> None:
    """Print a report as one JSON object (or list); numbers that JSON does not have become null."""
    print(json.dumps(_plain(report), indent=2))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, (np.integer, np.floating)):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
