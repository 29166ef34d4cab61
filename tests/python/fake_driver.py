"""A driver that says what the test that starts it wants to hear.

The arguments before ``--suite`` are the name and a JSON object: ``cases`` (name to
parameters), ``seconds`` of every repetition, and optionally ``values``,
``expected``, ``dies_after`` (answers), ``noise`` (a first line that is no JSON)
and ``refuses`` (a case that is answered by an error).
"""

from __future__ import annotations

import json
import sys
from typing import Any


def answer(request: dict[str, Any], behaviour: dict[str, Any]) -> dict[str, Any]:
    """Answer one request."""
    if behaviour.get("refuses") in request.values():
        return {"error": "out of memory"}
    if "run" in request:
        return {"run": request["run"], "seconds": [behaviour["seconds"]] * request["repetitions"]}
    if "check" in request:
        right = [1, 2, 3]
        return {
            "check": request["check"],
            "values": behaviour.get("values", right),
            "expected": behaviour.get("expected", right),
        }
    if "bound" in request:
        return {"bound": request["bound"], "least": {"seconds": behaviour["seconds"] / 2}}
    return {"release": request.get("release")}


def main() -> None:
    """Serve requests."""
    name, behaviour = sys.argv[1], json.loads(sys.argv[2])
    cases = [{"case": c, "parameters": p} for c, p in behaviour["cases"].items()]
    hello = {"driver": name, "version": "1", "cases": cases, "notes": []}
    say(behaviour.get("noise") or json.dumps(hello))
    for served, line in enumerate(sys.stdin):
        request = json.loads(line)
        if "quit" in request:
            return
        if served == behaviour.get("dies_after"):
            sys.stderr.write("fake trouble\n")
            sys.exit(3)
        say(json.dumps(answer(request, behaviour)))


def say(line: str) -> None:
    """Write one line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
