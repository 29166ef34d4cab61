"""The values that a program computes with: `Encrypted` handles and `Plain` operands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cyclotron import span
from cyclotron.errors import program_error
from cyclotron.wide import Wide

if TYPE_CHECKING:
    from cyclotron.graph import Program

__all__ = ["Encrypted", "Operand", "Plain", "Taken", "plain", "take"]


class Plain:
    """A plaintext operand: a constant vector or scalar, or a run-time plaintext input.

    Made by `plain` and by ``Program.PlainInput``; arithmetic with an
    `Encrypted` value encodes it.
    """

    __slots__ = ("index", "is_scalar", "program", "scale_bits", "values")
    __array_ufunc__ = None

    def __init__(
        self,
        values: object,
        scale_bits: float | None,
        *,
        program: Program | None = None,
        index: int | None = None,
    ) -> None:
        if isinstance(values, Wide):
            raise program_error(
                "numbers of 106 bits are for encrypted inputs; round this operand: x.high",
                span.caller(),
            )
        self.values = values if index is not None else np.asarray(values)
        self.is_scalar = index is None and np.ndim(self.values) == 0  # type: ignore[arg-type]
        self.scale_bits = scale_bits
        self.program = program
        self.index = index

    def __add__(self, other: Encrypted) -> Encrypted:
        return other + self if isinstance(other, Encrypted) else NotImplemented

    def __sub__(self, other: Encrypted) -> Encrypted:
        return -other + self if isinstance(other, Encrypted) else NotImplemented

    def __mul__(self, other: Encrypted) -> Encrypted:
        return other * self if isinstance(other, Encrypted) else NotImplemented


class Encrypted:
    """An encrypted value of a program: all slots of one ciphertext.

    Supports ``+``, ``-`` and ``*`` with other encrypted values, numpy vectors
    (shorter ones are padded with zeros) and numbers, ``/`` by numbers and vectors
    with a value for each slot (CKKS), ``**`` with a positive whole exponent, and the
    methods below. A handle is never changed; every operation makes a new one.
    """

    __slots__ = ("node", "program")
    #: Lets ``array * value`` reach `__rmul__` instead of numpy's broadcasting.
    __array_ufunc__ = None

    def __init__(self, program: Program, node: int) -> None:
        self.program = program
        self.node = node

    @property
    def N(self) -> int:  # noqa: N802 - as F1's Listing 2 has it
        """Ring degree."""
        return self.program.N

    @property
    def slots(self) -> int:
        """Number of slots."""
        return self.program.slots

    def __add__(self, other: Operand) -> Encrypted:
        return self.program.apply("add", self, other)

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Encrypted:
        return self.program.apply("sub", self, other)

    def __rsub__(self, other: Operand) -> Encrypted:
        return -self + other

    def __mul__(self, other: Operand) -> Encrypted:
        return self.program.apply("mul", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Encrypted:
        if isinstance(other, (Encrypted, Plain)):
            self._refuse("can be divided by known numbers only; multiply it by a value of 1 / x")
        if self.program.scheme != "ckks":
            self._refuse("is an integer modulo t, which cannot be divided; use CKKS")
        try:
            with np.errstate(divide="ignore", over="ignore"):
                inverse = np.asarray(1.0 / np.asarray(other, dtype=np.float64))
        except (TypeError, ValueError, OverflowError):
            self._refuse("can be divided by numbers of float64 only")
        if inverse.ndim == 1 and inverse.size < self.slots:
            self._refuse(
                f"has {self.slots} slots, and the vector to divide by only {inverse.size} values; "
                "give one for each, such as 1 where the result does not matter"
            )
        return self * inverse

    def __rtruediv__(self, other: object) -> NoReturn:
        self._refuse(
            "is encrypted, so nothing can be divided by it; approximate 1/x by a polynomial"
        )

    def __lt__(self, other: object) -> NoReturn:
        self._refuse("is encrypted, so it cannot be compared")

    __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __lt__
    __hash__ = object.__hash__

    def __neg__(self) -> Encrypted:
        return self.program.unary("neg", self)

    def __pos__(self) -> Encrypted:
        return self

    def __pow__(self, exponent: int) -> Encrypted:
        if isinstance(exponent, bool) or not isinstance(exponent, int) or exponent < 1:
            raise program_error(
                f"the exponent must be a positive whole number, not {exponent!r}", span.caller()
            )
        half = self if exponent == 1 else self ** (exponent // 2)
        if exponent == 1:
            return self
        square = half * half
        return square * self if exponent % 2 else square

    def rotate(self, steps: int) -> Encrypted:
        """Rotate the slots: ``out[i] = in[i + steps]``, cyclically.

        CKKS has one row of N/2 slots. BGV has two rows, which rotate together;
        ``steps`` of half the slots (N/2) swaps them.
        """
        return self.program.rotate(self, steps)

    def inner_sum(self, count: int | None = None, stride: int = 1) -> Encrypted:
        """Sum ``count`` slots that lie ``stride`` apart, by rotate-and-add.

        Slot i of the result is ``in[i] + in[i + stride] + ... +
        in[i + (count - 1) stride]``. Costs log2(count) rotations.

        Parameters
        ----------
        count
            A power of two; all slots unless given.
        stride
            Distance of the summands, a power of two in BGV sums over both rows.
        """
        whole = self.slots if count is None else count
        if (
            isinstance(whole, bool)
            or not isinstance(whole, int)
            or whole < 1
            or whole & (whole - 1)
        ):
            raise program_error(f"the count {whole!r} must be a power of two", span.caller())
        if not isinstance(stride, int) or stride < 1 or whole * stride > self.slots:
            raise program_error(
                f"{whole} summands {stride} apart do not fit in {self.slots} slots", span.caller()
            )
        result, step = self, 1
        while step < whole:
            result = result + result.rotate(step * stride)
            step *= 2
        return result

    def conjugate(self) -> Encrypted:
        """Conjugate every slot (CKKS)."""
        return self.program.unary("conjugate", self)

    def rescale(self) -> Encrypted:
        """Rescale (CKKS) or switch the modulus (BGV) here, instead of where the compiler would."""
        return self.program.unary("rescale", self)

    def relinearize(self) -> Encrypted:
        """Relinearize here, instead of where the compiler would."""
        return self.program.unary("relinearize", self)

    def __bool__(self) -> NoReturn:
        self._refuse("is encrypted, so Python cannot branch on it")

    def __getitem__(self, key: object) -> NoReturn:
        self._refuse("is encrypted, so one slot cannot be read; rotate it, or multiply by a mask")

    def __iter__(self) -> Iterator[Encrypted]:
        self._refuse("is encrypted, so its slots cannot be iterated over")

    def __float__(self) -> NoReturn:
        self._refuse("is encrypted, so it has no value before decryption")

    def __repr__(self) -> str:
        return f"<encrypted value {self.node} of {self.program.name}>"

    def _refuse(self, why: str) -> NoReturn:
        raise program_error(f"this value {why}", span.caller())


Operand = Encrypted | Plain | int | float | NDArray[Any] | list[int] | list[float]


def plain(values: ArrayLike, *, scale_bits: float | None = None) -> Plain:
    """Make a plaintext operand with a scale of its own.

    Parameters
    ----------
    values
        A vector of at most as many values as there are slots, or one number.
    scale_bits
        CKKS: base-2 logarithm of the scale it is encoded at; the compiler
        chooses when it is None. A small one saves modulus and costs precision.
    """
    return Plain(values, scale_bits)


@dataclass(frozen=True)
class Taken:
    """An output of which only some slots matter; made by `take`."""

    value: Encrypted
    slots: tuple[int, ...] | None


def take(value: Encrypted, slots: Iterable[int]) -> Taken:
    """Say which slots of an output hold the result; the client keeps these after decryption."""
    if not isinstance(value, Encrypted):
        raise program_error(
            f"take is of an encrypted value, not {type(value).__name__}", span.caller()
        )
    if not isinstance(slots, Iterable):
        raise program_error(f"the slots to take are {slots!r}; give a list of them", span.caller())
    chosen = tuple(slots)
    if odd := [i for i in chosen if not isinstance(i, (int, np.integer))]:
        raise program_error(f"slot {odd[0]!r} must be a whole number", span.caller())
    chosen = tuple(int(i) for i in chosen)
    wrong = [i for i in chosen if not 0 <= i < value.slots]
    if wrong or not chosen:
        where = f"slot {wrong[0]} does not exist" if wrong else "no slot is taken"
        raise program_error(f"{where}; there are {value.slots} slots", span.caller())
    return Taken(value, chosen)
