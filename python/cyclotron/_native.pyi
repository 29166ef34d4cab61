"""The compiled module: the whole of what Python sees of the Rust crates.

Arrays are C-contiguous. Every function that can take longer than a moment
releases the interpreter lock, so a progress thread keeps running.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, final, overload

import numpy as np
from numpy.typing import NDArray

from cyclotron.wide import Wide

__all__ = [
    "CheckError",
    "Ciphertext",
    "Client",
    "CyclotronError",
    "DoesNotFitError",
    "Encryptor",
    "EvaluationKeys",
    "Evaluator",
    "FormatError",
    "Graph",
    "KeyMismatchError",
    "Machine",
    "MachineError",
    "ParameterError",
    "Parameters",
    "Plan",
    "ProgramError",
    "PublicKey",
    "Schedule",
    "SimulationError",
    "__version__",
    "doctor",
]

__version__: str

class CyclotronError(Exception): ...
class ProgramError(CyclotronError): ...
class ParameterError(CyclotronError): ...
class MachineError(CyclotronError): ...
class DoesNotFitError(CyclotronError): ...
class KeyMismatchError(CyclotronError): ...
class FormatError(CyclotronError): ...
class CheckError(CyclotronError): ...
class SimulationError(CyclotronError): ...

@final
class Graph:
    def __new__(
        cls,
        name: str,
        scheme: str,
        log_n: int,
        plaintext_modulus: int | None,
        public_key: bool = False,
    ) -> Graph: ...
    def plain(
        self,
        name: str,
        values: NDArray[np.float64] | NDArray[np.int64] | None,
        scale_bits: float | None,
    ) -> int: ...
    def node(
        self,
        op: str,
        args: list[int],
        file: str,
        line: int,
        *,
        name: str | None = None,
        plain: int | None = None,
        value: float | None = None,
        steps: int | None = None,
        scale_bits: float | None = None,
    ) -> int: ...
    def measured(self, magnitudes: list[float], plains: list[float] = ...) -> None: ...
    def text(self) -> str: ...
    def hash(self) -> str: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes) -> Graph: ...

@final
class Machine:
    name: str
    hash: str
    @staticmethod
    def open(name_or_path: str, overlays: list[str]) -> Machine: ...
    def vary(self, changes: Sequence[tuple[str, bool | int | float | str]]) -> Machine: ...
    def timing(self, log_n: int) -> dict[str, dict[str, Any]]: ...
    def budget(self, log_n: int | None = None) -> list[dict[str, Any]]: ...
    @staticmethod
    def shipped() -> list[str]: ...
    def summary(self) -> dict[str, Any]: ...

@final
class Parameters:
    @staticmethod
    def choose(
        graph: Graph,
        *,
        machine: Machine | None,
        precision_bits: float | None,
        security: int = 128,
        levels: int | None,
        word_bits: int | None,
        allow_insecure: str | None,
        keyswitch: str | None = None,
    ) -> Parameters: ...
    @staticmethod
    def from_literal(text_json: str, allow_insecure: str | None) -> Parameters: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes) -> Parameters: ...

@final
class Plan:
    @staticmethod
    def lower(
        graph: Graph,
        parameters: Parameters,
        *,
        machine: Machine | None,
        keyswitch: str | None,
        precision_bits: float | None = None,
    ) -> Plan: ...
    def explain(self) -> list[dict[str, Any]]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def text(self) -> str: ...

_Pair = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Numbers of 106 bits, each the sum of two."""

@final
class Client:
    @staticmethod
    def generate(parameters: Parameters, seed: bytes | None) -> Client: ...
    def evaluation_keys(self, plan: Plan) -> EvaluationKeys: ...
    def public_key(self) -> PublicKey: ...
    def encrypt(
        self, plan: Plan, values: Mapping[str, NDArray[Any] | Wide | _Pair]
    ) -> dict[str, Ciphertext]: ...
    @overload
    def decrypt(
        self, plan: Plan, outputs: dict[str, Ciphertext], wide: Literal[False] = False
    ) -> dict[str, NDArray[Any]]: ...
    @overload
    def decrypt(
        self, plan: Plan, outputs: dict[str, Ciphertext], wide: Literal[True]
    ) -> dict[str, _Pair]: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes) -> Client: ...

@final
class PublicKey:
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes) -> PublicKey: ...

@final
class Encryptor:
    def __new__(
        cls, parameters: Parameters, public_key: PublicKey, seed: bytes | None = None
    ) -> Encryptor: ...
    def encrypt(
        self, plan: Plan, values: Mapping[str, NDArray[Any] | Wide | _Pair]
    ) -> dict[str, Ciphertext]: ...

@final
class EvaluationKeys:
    size_bytes: int
    hash: str
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes) -> EvaluationKeys: ...

@final
class Ciphertext:
    level: int
    scale_bits: float
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes) -> Ciphertext: ...
    def limbs(self) -> list[tuple[int, int, int, NDArray[Any]]]: ...

@final
class Evaluator:
    def __new__(
        cls,
        parameters: Parameters,
        keys: EvaluationKeys,
        threads: int = 0,
        simd: str | None = None,
    ) -> Evaluator: ...
    def prepare(self, plan: Plan) -> None: ...
    def run(
        self, plan: Plan, inputs: dict[str, Ciphertext], plains: dict[str, NDArray[Any]]
    ) -> tuple[dict[str, Ciphertext], dict[str, Any]]: ...
    def interpret(
        self, plan: Plan, inputs: dict[str, Ciphertext], plains: dict[str, NDArray[Any]]
    ) -> dict[str, Ciphertext]: ...
    def simulate(
        self,
        schedule: Schedule,
        inputs: dict[str, Ciphertext],
        plains: dict[str, NDArray[Any]],
        progress: Callable[[str, float], None] | None = None,
    ) -> tuple[dict[str, Ciphertext], dict[str, Any]]: ...

@final
class Schedule:
    machine: Machine
    @staticmethod
    def compile(
        plan: Plan,
        machine: Machine,
        *,
        effort: int = 1,
        phase2: str = "greedy",
        progress: Callable[[str, float], None] | None = None,
    ) -> Schedule: ...
    def check(self) -> dict[str, Any]: ...
    def instruction_bytes(self) -> int: ...
    def write_trace(self, path: str) -> None: ...
    def activity(self, buckets: int) -> dict[str, Any]: ...
    def energy(self) -> list[dict[str, Any]]: ...
    def report(self) -> dict[str, Any]: ...
    def save(self, path: str, meta: dict[str, str]) -> None: ...
    @staticmethod
    def load(path: str) -> Schedule: ...
    def meta(self) -> dict[str, str]: ...

def doctor() -> dict[str, Any]: ...
