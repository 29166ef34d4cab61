"""Cyclotron: homomorphic programs in Python, on the CPU and on simulated accelerators.

>>> import cyclotron
>>> from cyclotron import Encrypted
>>> @cyclotron.program(scheme="bgv", n=1024, t=65537)
... def square(x: Encrypted):
...     return x * x
>>> square.twin({"x": [1, 2, 3]})["output"][:4]
array([1, 4, 9, 0])
"""

from cyclotron._native import (
    Ciphertext,
    Client,
    Encryptor,
    EvaluationKeys,
    Evaluator,
    Graph,
    Machine,
    Parameters,
    Plan,
    PublicKey,
    Schedule,
    __version__,
    doctor,
)
from cyclotron.encrypted import Encrypted, Plain, Taken, plain, take
from cyclotron.errors import (
    CheckError,
    CyclotronError,
    DoesNotFitError,
    FormatError,
    KeyMismatchError,
    MachineError,
    ParameterError,
    ProgramError,
    SimulationError,
    UsageError,
)
from cyclotron.execution import Compiled, RunResult, run, simulate
from cyclotron.execution import compile_program as compile  # noqa: A004 - what it is called
from cyclotron.functions import Add, Mul, Rotate, Sub, log2, relinearize, rescale
from cyclotron.graph import Program
from cyclotron.options import Options
from cyclotron.tracing import ProgramFunction, program, shape
from cyclotron.wide import Wide

__all__ = [
    "Add",
    "CheckError",
    "Ciphertext",
    "Client",
    "Compiled",
    "CyclotronError",
    "DoesNotFitError",
    "Encrypted",
    "Encryptor",
    "EvaluationKeys",
    "Evaluator",
    "FormatError",
    "Graph",
    "KeyMismatchError",
    "Machine",
    "MachineError",
    "Mul",
    "Options",
    "ParameterError",
    "Parameters",
    "Plain",
    "Plan",
    "Program",
    "ProgramError",
    "ProgramFunction",
    "PublicKey",
    "Rotate",
    "RunResult",
    "Schedule",
    "SimulationError",
    "Sub",
    "Taken",
    "UsageError",
    "Wide",
    "__version__",
    "compile",
    "doctor",
    "log2",
    "plain",
    "program",
    "relinearize",
    "rescale",
    "run",
    "shape",
    "simulate",
    "take",
]
