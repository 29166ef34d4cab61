"""``cyclotron doctor``: what this computer offers, and whether the installation works."""

from __future__ import annotations

import argparse
import os
import platform
from typing import Any

import numpy as np

from cyclotron import _native
from cyclotron.cli import terminal
from cyclotron.encrypted import Encrypted
from cyclotron.execution import run
from cyclotron.tracing import program


@program(scheme="bgv", n=8192, t=65537, name="self test")
def self_test(x: Encrypted, y: Encrypted) -> Encrypted:
    """Multiply and rotate, on secure parameters."""
    return (x * y).rotate(1)


def command(options: argparse.Namespace) -> int:
    """Run the command."""
    values = np.arange(100)
    with terminal.TerminalProgress().phase("self test"):
        report = run(self_test, {"x": values, "y": values}).report
    passed = bool(report["outputs_match_twin"])
    facts: dict[str, Any] = {
        **_native.doctor(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machines": _native.Machine.shipped(),
        "data": os.environ.get("CYCLOTRON_DATA", "embedded digits"),
        "self_test": "passed" if passed else "FAILED",
    }
    if options.json:
        terminal.print_json(facts)
    else:
        shown = {
            k: ", ".join(map(str, v)) if isinstance(v, list) else str(v) for k, v in facts.items()
        }
        print(terminal.pairs((k.replace("_", " "), v) for k, v in shown.items()))
    return 0 if passed else 1
