"""The errors that Cyclotron raises on purpose.

All derive from `CyclotronError`; each message says what to change. Anything
else that escapes is a defect of Cyclotron.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclotron._native import (
    CheckError,
    CyclotronError,
    DoesNotFitError,
    FormatError,
    KeyMismatchError,
    MachineError,
    ParameterError,
    ProgramError,
    SimulationError,
)

if TYPE_CHECKING:
    from cyclotron.span import Span

__all__ = [
    "BenchmarkError",
    "CheckError",
    "CyclotronError",
    "DoesNotFitError",
    "FormatError",
    "KeyMismatchError",
    "MachineError",
    "ParameterError",
    "ProgramError",
    "SimulationError",
    "UsageError",
    "program_error",
]


class UsageError(CyclotronError):
    """A function, a command or a file was given something that it cannot use."""


class BenchmarkError(CyclotronError):
    """A driver of a benchmark cannot be built, started or believed."""


def program_error(message: str, span: Span) -> ProgramError:
    """Make the error of a program's line, ``FILE:LINE: MESSAGE``.

    The error also has ``file`` and ``line`` as attributes.
    """
    error = ProgramError(f"{span}: {message}")
    error.file, error.line = span.file, span.line  # type: ignore[attr-defined]
    return error
