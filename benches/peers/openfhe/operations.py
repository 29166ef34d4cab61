"""OpenFHE's operations on fixed operands, and the parameters that they really use."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import openfhe

#: Size of the special primes, which the library does not let one choose.
SPECIAL_BITS = 60
STEPS = range(1, 9)
CHECKED_SLOTS = 8
FEATURES = ("PKE", "KEYSWITCH", "LEVELEDSHE")


@dataclass(frozen=True)
class ParameterSet:
    """A set by the sizes of its primes, and what the library makes of it."""

    name: str
    log_n: int
    data_bits: list[int]
    special_bits: list[int]
    scale_bits: int = 0
    plaintext_modulus: int = 0

    @property
    def scheme(self) -> str:
        """``ckks`` or ``bgv``."""
        return self.name.split("/")[0]

    @property
    def size(self) -> str:
        """The last part of a case's name."""
        return self.name.split("/")[1]

    @property
    def operations(self) -> list[str]:
        """The operations that are measured."""
        drop = "rescale" if self.scheme == "ckks" else "mod_switch"
        return [
            "add", "mul_relin", "rotate", "hoisted8", drop,
            "mul_plain", "encode", "encrypt", "decrypt",
        ]  # fmt: skip

    @property
    def digits(self) -> int:
        """Number of key-switch digits."""
        return -(-len(self.data_bits) // len(self.special_bits))

    @property
    def special(self) -> int:
        """Number of special primes that the library takes for the widest digit."""
        return -(-sum(self.data_bits[: len(self.special_bits)]) // SPECIAL_BITS)

    @property
    def first_bits(self) -> int:
        """Size of the first data prime."""
        return max(self.data_bits)

    @property
    def step_bits(self) -> int:
        """Size of the other data primes: log QP stays within the set's."""
        total = sum(self.data_bits) + sum(self.special_bits)
        rest = total - self.first_bits - SPECIAL_BITS * self.special
        return min(rest // (len(self.data_bits) - 1), self.first_bits)

    @cached_property
    def context(self) -> Any:
        """The library's context."""
        kind = openfhe.CCParamsCKKSRNS if self.scheme == "ckks" else openfhe.CCParamsBGVRNS
        p = kind()
        p.SetSecurityLevel(openfhe.SecurityLevel.HEStd_NotSet)
        p.SetRingDim(1 << self.log_n)
        p.SetMultiplicativeDepth(len(self.data_bits) - 1)
        if self.scheme == "bgv":
            p.SetPlaintextModulus(self.plaintext_modulus)
        p.SetFirstModSize(self.first_bits)
        p.SetScalingModSize(self.step_bits)
        p.SetScalingTechnique(openfhe.ScalingTechnique.FIXEDMANUAL)
        p.SetKeySwitchTechnique(openfhe.KeySwitchTechnique.HYBRID)
        p.SetNumLargeDigits(self.digits)
        context = openfhe.GenCryptoContext(p)
        for feature in FEATURES:
            context.Enable(getattr(openfhe.PKESchemeFeature, feature))
        return context

    def facts(self) -> dict[str, Any]:
        """Return what is really used."""
        # The library takes the primes nearest to a power of two; its modulus overflows a float.
        data_bits = [self.first_bits] + [self.step_bits] * (len(self.data_bits) - 1)
        own = (
            {"scale_bits": self.step_bits}
            if self.scheme == "ckks"
            else {"plaintext_modulus": self.plaintext_modulus}
        )
        return {
            "log_n": self.log_n, "limbs": len(data_bits),
            "special": self.special, "digits": self.digits,
            "log_q": sum(data_bits), "log_qp": sum(data_bits) + SPECIAL_BITS * self.special,
            "data_bits": data_bits,
            "special_bits": [SPECIAL_BITS] * self.special,
            **own,
        }  # fmt: skip


def read_sets(path: str) -> list[ParameterSet]:
    """Read the parameter sets."""
    sets = json.loads(Path(path).read_text())
    return [ParameterSet(name, **fields) for name, fields in sorted(sets.items())]


def clear_keys() -> None:
    """Free the evaluation keys of all contexts."""
    openfhe.ClearEvalMultKeys()
    openfhe.CryptoContext.ClearEvalAutomorphismKeys()


class Operands:
    """Keys and fixed inputs of one set, and the operations on them.

    Attributes
    ----------
    work
        For each operation, what is timed: it returns its result.
    """

    def __init__(self, parameters: ParameterSet) -> None:
        self.parameters = parameters
        cc = self.context = parameters.context
        self.keys = cc.KeyGen()
        secret = self.keys.secretKey
        cc.EvalMultKeyGen(secret)
        cc.EvalRotateKeyGen(secret, list(STEPS))
        n = 1 << parameters.log_n
        self.slots = n // 2 if parameters.scheme == "ckks" else n
        values = [[self.input(k, i) for i in range(self.slots)] for k in range(2)]
        x, y = (self.encode(v) for v in values)
        a, b = cc.Encrypt(secret, x), cc.Encrypt(secret, y)
        # At the scale of a product.
        scaled = cc.EvalMult(a, self.encode([type(values[0][0])(1)] * self.slots))
        drop = cc.Rescale if parameters.scheme == "ckks" else cc.ModReduce
        self.work: dict[str, Callable[[], Any]] = {
            "add": lambda: cc.EvalAdd(a, b),
            "mul_relin": lambda: cc.EvalMult(a, b),
            "rotate": lambda: cc.EvalRotate(a, 1),
            "hoisted8": lambda: self.hoisted(a),
            "rescale": lambda: drop(scaled),
            "mod_switch": lambda: drop(scaled),
            "mul_plain": lambda: cc.EvalMult(a, y),
            "encode": lambda: self.encode(values[0]),
            "encrypt": lambda: cc.Encrypt(secret, x),
            "decrypt": lambda: cc.Decrypt(secret, a),
        }

    def input(self, k: int, i: int) -> float | int:
        """Return slot i of input k."""
        value = (7 * i + 13 * k) % 41
        return (value - 20) / 20 if self.parameters.scheme == "ckks" else value

    def encode(self, values: list[Any]) -> Any:
        """Encode at the top level."""
        if self.parameters.scheme == "ckks":
            return self.context.MakeCKKSPackedPlaintext(values)
        return self.context.MakePackedPlaintext(values)

    def hoisted(self, ciphertext: Any) -> list[Any]:
        """Rotate by several steps with one decomposition."""
        cc, order = self.context, 2 << self.parameters.log_n
        digits = cc.EvalFastRotationPrecompute(ciphertext)
        return [cc.EvalFastRotation(ciphertext, step, order, digits) for step in STEPS]

    @staticmethod
    def divisor(operation: str) -> int:
        """Return how many operations one run executes."""
        return len(STEPS) if operation == "hoisted8" else 1

    def check(self, operation: str) -> tuple[list[float], list[float]]:
        """Return the first slots of a result, and what they should be."""
        result = self.work[operation]()
        if operation == "hoisted8":
            result = result[-1]
        if operation == "encode":
            result = self.context.Encrypt(self.keys.secretKey, result)
        if operation != "decrypt":
            result = self.context.Decrypt(self.keys.secretKey, result)
        result.SetLength(self.slots)
        ckks = self.parameters.scheme == "ckks"
        values = result.GetRealPackedValue() if ckks else result.GetPackedValue()
        first = list(values[:CHECKED_SLOTS])
        return first, [self.expected(operation, i) for i in range(CHECKED_SLOTS)]

    def expected(self, operation: str, i: int) -> float | int:
        """Return slot i of an operation's result."""
        x, y = self.input(0, i), self.input(1, i)
        return {
            "add": x + y,
            "mul_relin": x * y,
            "mul_plain": x * y,
            "rotate": self.input(0, i + 1),
            "hoisted8": self.input(0, i + STEPS[-1]),
        }.get(operation, x)
