"""Where in the user's own code something was written.

Frames inside this package are skipped, except those of `cyclotron.programs`:
the built-in programs are written like any user's.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

_PACKAGE = str(Path(__file__).resolve().parent) + os.sep
_PROGRAMS = _PACKAGE + "programs" + os.sep
_LIBRARIES = tuple({p + os.sep for n, p in sysconfig.get_paths().items() if n.endswith("lib")})


@dataclass(frozen=True)
class Span:
    """A line of a file; ``file`` is relative to the working directory where it lies below it."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def is_user_file(path: str) -> bool:
    """Tell whether a code object's file name is outside the package, or a built-in program."""
    if path.startswith(_PROGRAMS):
        return os.path.basename(path) not in ("__init__.py", "workload.py")
    return not path.startswith(_PACKAGE)


def display_path(path: str) -> str:
    """Shorten a path: relative to the working directory, or from ``cyclotron/`` if built in."""
    if path.startswith(_PROGRAMS):
        return "cyclotron" + os.sep + path[len(_PACKAGE) :]
    if os.path.isabs(path):
        try:
            relative = os.path.relpath(path)
        except (OSError, ValueError):  # another drive, or a deleted working directory
            return path
        if not relative.startswith(os.pardir):
            return relative
    return path


def source_line(span: Span) -> str:
    """Return the text of the line, stripped; empty when the file is not at hand."""
    path = span.file
    if path.startswith("cyclotron" + os.sep) and not Path(path).exists():
        path = _PACKAGE + path[len("cyclotron") + 1 :]
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError, ValueError):
        return ""
    return lines[span.line - 1].strip() if 0 < span.line <= len(lines) else ""


def caller() -> Span:
    """Return the innermost line of user code on the stack."""
    frame = sys._getframe(1)
    while frame.f_back is not None and not is_user_file(frame.f_code.co_filename):
        frame = frame.f_back
    return Span(display_path(frame.f_code.co_filename), frame.f_lineno)


def of_traceback(traceback: TracebackType | None) -> Span | None:
    """Return the innermost line of user code in a traceback, if there is one.

    A line of an installed library counts only if there is no other.
    """
    span, own = None, False
    while traceback is not None:
        path = traceback.tb_frame.f_code.co_filename
        if is_user_file(path) and not path.startswith("<frozen"):
            installed = path.startswith(_LIBRARIES)
            if not installed or not own:
                span = Span(display_path(path), traceback.tb_lineno)
            own = own or not installed
        traceback = traceback.tb_next
    return span
