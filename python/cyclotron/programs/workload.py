"""What the command line runs: a program, its inputs, and what its outputs mean."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclotron.errors import UsageError
from cyclotron.graph import Program
from cyclotron.tracing import ProgramFunction, random_inputs

Values = dict[str, Any]  # vectors: arrays, or `Wide`
Source = Program | ProgramFunction | Callable[..., Program]

#: Random inputs that magnitudes are measured on come from this fixed seed.
CALIBRATION_SEED = 2


@dataclass(frozen=True)
class Sample:
    """One set of inputs, with the right answer and the image where there is one."""

    inputs: Values
    label: int | None = None
    picture: NDArray[np.uint8] | None = None


@dataclass
class Workload:
    """A program as the command line knows it.

    This class is for programs that take any numbers; programs with a data set
    derive from it.
    """

    name: str
    source: Source
    #: Whether ``--images`` and ``--data`` mean something.
    has_images: bool = field(default=False, init=False)

    def build(self, parameters: Mapping[str, Any]) -> Program:
        """Trace the program with these parameters."""
        if isinstance(self.source, Program):
            if parameters:
                raise UsageError(f"{self.name} is a finished program and takes no parameters")
            return self.source
        if isinstance(self.source, ProgramFunction):
            return self.source.build(**parameters)
        try:
            inspect.signature(self.source).bind(**parameters)
        except TypeError as error:
            raise UsageError(f"{self.name}: {error}; see --param NAME=VALUE") from None
        return self.source(**parameters)

    def samples(
        self,
        program: Program,
        count: int,
        given: Mapping[str, NDArray[Any]],
        random: np.random.Generator,
    ) -> list[Sample]:
        """Return ``count`` sets of inputs: the given values, random ones for all others."""
        names = list(program.inputs) + list(program.plain_inputs)
        samples = []
        for _ in range(count):
            drawn = random_inputs(program, random)
            covered = {n for n in names for g in given if n == g or n.startswith(f"{g}.")}
            values = {n: v for n, v in drawn.items() if n not in covered}
            samples.append(Sample(program.bind({**values, **given})))
        return samples

    def calibration(self, program: Program) -> list[Values]:
        """Return inputs to measure magnitudes on: random ones, the largest of each 1 (CKKS)."""
        drawn = random_inputs(program, np.random.default_rng(CALIBRATION_SEED))
        if program.scheme == "ckks":
            drawn = {name: v / np.abs(v).max() for name, v in drawn.items()}
        return [drawn]

    def use_data(self, folder: Path | None) -> None:
        """Take images and weights from a folder; an error unless the program has them."""
        if folder is not None:
            raise UsageError(f"{self.name} has no data set; --data is for lola-mnist")

    def interpret(self, outputs: list[Values]) -> list[int] | None:
        """Return the class that each set of outputs stands for, if outputs are classes."""
        del outputs
        return None

    def facts(self) -> dict[str, Any]:
        """Return what a report should say about data and packing."""
        return {}
