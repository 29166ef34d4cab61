"""The command ``cyclotron``; docs/cli.md is its reference.

Results go to standard output, progress and errors to standard error. Nothing
else in the package prints.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Sequence

from cyclotron.cli.parser import ArgumentParser, build_parser
from cyclotron.errors import (
    CheckError,
    CyclotronError,
    DoesNotFitError,
    SimulationError,
)

__all__ = ["ArgumentParser", "main"]

#: Exit codes.
OK, WRONG, USAGE, DOES_NOT_FIT, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 70, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    debug, as_json = "--debug" in words, "--json" in words
    try:
        options = build_parser().parse_args(words)
        code: int = options.command(options)
        sys.stdout.flush()
    except CyclotronError as error:
        return _failed(str(error), exit_code(error), debug, as_json, type(error).__name__)
    except KeyboardInterrupt:
        return _failed("interrupted", INTERRUPTED, debug, as_json, "Interrupted")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except SystemExit as leaving:  # --help and --version
        return int(leaving.code or 0)
    except BaseException as error:
        message = (
            f"internal error: {type(error).__name__}: {error} (--debug shows where; please report)"
        )
        return _failed(message, INTERNAL, debug, as_json, "InternalError")
    return code


def exit_code(error: CyclotronError) -> int:
    """Return the exit code of an error."""
    if isinstance(error, (CheckError, SimulationError)):
        return WRONG
    return DOES_NOT_FIT if isinstance(error, DoesNotFitError) else USAGE


def _failed(message: str, code: int, debug: bool, as_json: bool, kind: str) -> int:
    if debug:
        traceback.print_exc()
    print(f"error: {message}", file=sys.stderr)
    if as_json:
        print(json.dumps({"error": {"kind": kind, "message": message, "exit_code": code}}))
    return code
