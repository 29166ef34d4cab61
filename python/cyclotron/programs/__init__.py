"""The programs that ship with Cyclotron, and how a program's name is looked up.

A name is a built-in one (``lola-mnist``, ``matvec``) or ``FILE.py:NAME``, where
NAME is a decorated function, a `Program`, or a function that returns one.
"""

from __future__ import annotations

import difflib
import functools
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from cyclotron import span
from cyclotron.errors import CyclotronError, UsageError, program_error
from cyclotron.graph import Program
from cyclotron.programs import lola_mnist, lola_packed, matvec
from cyclotron.programs.lola_network import LolaMnist
from cyclotron.programs.workload import Workload
from cyclotron.tracing import ProgramFunction

__all__ = ["BUILT_IN", "Workload", "find"]

#: The built-in programs by name.
BUILT_IN: dict[str, Callable[[], Workload]] = {
    "lola-mnist": lambda: LolaMnist("lola-mnist", lola_mnist.program, lola_mnist.pack_image),
    "lola-mnist-packed": lambda: LolaMnist(
        "lola-mnist-packed", lola_packed.program, lola_packed.pack_image
    ),
    "matvec": lambda: Workload("matvec", matvec.matvec),
}


def find(name: str) -> Workload:
    """Look a program up by its name on the command line.

    Raises
    ------
    UsageError
        If there is no such program.
    ProgramError
        If its file fails to load, at the line where it does.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]()
    path, colon, member = name.rpartition(":")
    if not colon or not path.endswith(".py"):
        near = difflib.get_close_matches(name, BUILT_IN, 1)
        hint = (
            f"did you mean {near[0]!r}?" if near else f"the built-in ones are {', '.join(BUILT_IN)}"
        )
        raise UsageError(f"there is no program {name!r}; {hint} (one of a file is FILE.py:NAME)")
    module = _load(Path(path))
    if not hasattr(module, member):
        known = [n for n, v in vars(module).items() if isinstance(v, (Program, ProgramFunction))]
        near = difflib.get_close_matches(member, known, 1)
        hint = (
            f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known) or 'no program'}"
        )
        raise UsageError(f"{path} has no {member!r}; {hint}")
    value = getattr(module, member)
    if isinstance(value, (Program, ProgramFunction)):
        return Workload(name, value)
    if inspect.isfunction(value):
        return Workload(name, _checked(name, value))
    raise UsageError(
        f"{name} is {type(value).__name__}, not a program or a function that makes one"
    )


def _load(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(f"cyclotron_user_{path.stem}", path.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    with _user_code(path):
        spec.loader.exec_module(module)
    return module


def _checked(name: str, function: Callable[..., Any]) -> Callable[..., Program]:
    """Wrap a plain function so that what it returns and raises is reported well."""

    @functools.wraps(function)
    def build(**parameters: Any) -> Program:
        with _user_code(Path(name.rpartition(":")[0])):
            made = function(**parameters)
        if not isinstance(made, Program):
            raise UsageError(
                f"{name} returns {type(made).__name__}, not a Program; "
                "decorate it with @cyclotron.program, or return a Program"
            )
        return made

    return build


class _user_code:  # noqa: N801 - reads as a statement
    """Turns what user code raises into a `ProgramError` at the user's line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, CyclotronError) or not isinstance(error, Exception):
            return
        where = span.of_traceback(trace) or span.Span(str(self.path), 1)
        if isinstance(error, SyntaxError) and error.filename:
            where = span.Span(span.display_path(error.filename), error.lineno or 1)
            raise program_error(f"syntax error: {error.msg}", where) from error
        raise program_error(f"{type(error).__name__}: {error}", where) from error
