"""The program that is measured whole, handed to our driver and to those of peers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cyclotron import placed, programs
from cyclotron.execution import Stopwatch, compile_workload
from cyclotron.options import Options
from cyclotron.progress import Progress

#: Results that a check looks at.
CHECKED = 8

#: What CKKS programs are planned for that ask for nothing.
DEFAULT_PRECISION_BITS = 10.0


@dataclass(frozen=True)
class Handed:
    """Files for the drivers' ``--spec``."""

    ours: Path
    peers: Path


def hand_over(name: str, folder: Path, progress: Progress) -> Handed:
    """Trace a built-in program on its first sample, and write it down for all drivers.

    Parameters
    ----------
    name
        The program.
    folder
        Where the files go.
    progress
        Told of the phases.
    """
    workload = programs.find(name)
    program = workload.build({})
    (sample,) = workload.samples(program, 1, {}, np.random.default_rng(0))
    compiled = compile_workload(workload, program, Options(), [], Stopwatch(), progress)
    exported = placed.export(compiled, sample.inputs)
    folder.mkdir(parents=True, exist_ok=True)
    graph, parameters = folder / f"{name}.program", folder / f"{name}.parameters"
    graph.write_bytes(compiled.graph.to_bytes())
    parameters.write_bytes(compiled.parameters.to_bytes())
    (output,) = exported["outputs"]
    fields: dict[str, Any] = {
        "program": name,
        "graph": str(graph),
        "parameters": str(parameters),
        "precision_bits": program.precision_bits or DEFAULT_PRECISION_BITS,
        "inputs": {entry["name"]: entry["values"] for entry in exported["inputs"]},
        "slots": (output["slots"] or list(range(CHECKED)))[:CHECKED],
        "expected": output["expected"][:CHECKED],
    }
    handed = Handed(folder / f"{name}-own.json", folder / f"{name}.json")
    handed.ours.write_text(json.dumps(fields))
    handed.peers.write_text(json.dumps(exported))
    return handed
