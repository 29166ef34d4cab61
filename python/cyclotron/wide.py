"""Real numbers of 106 bits: what CKKS slots hold at scales beyond those of float64."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cyclotron.errors import ProgramError

__all__ = ["Given", "Inputs", "Vector", "Wide", "exact_numbers", "largest"]

Floats = NDArray[np.float64]

#: 2^27 + 1 splits 53 bits into 26 and 27.
_SPLITTER = 134217729.0


class Wide:
    """A vector of numbers of 106 bits, each the sum of two float64.

    An input of a CKKS program; results of a run with such an input are of this class,
    too. To use the digits, the input has to be encoded at a scale that has room for
    them: ``shape(scale_bits=90)``. Supports ``+``, ``-`` and ``*`` with vectors and
    numbers (by Dekker's and Knuth's algorithms; errors below 2^-101 of the result, of
    the largest operand in sums), slices, and ``len``.

    Parameters
    ----------
    high, low
        The summands, in any order of size and with overlapping digits; magnitudes
        below 2^995, or results are not finite.

    Examples
    --------
    >>> from fractions import Fraction
    >>> third = Wide.of([Fraction(1, 3)])
    >>> abs((third + third).fractions()[0] - Fraction(2, 3)) < Fraction(1, 2**104)
    True
    """

    __slots__ = ("high", "low")
    #: Lets ``array * wide`` reach `__rmul__` instead of numpy's broadcasting.
    __array_ufunc__ = None

    def __init__(self, high: ArrayLike, low: ArrayLike = 0.0) -> None:
        a, b = np.broadcast_arrays(np.asarray(high, np.float64), np.asarray(low, np.float64))
        with np.errstate(over="ignore", invalid="ignore"):
            #: The number rounded to float64, and what that leaves.
            self.high, self.low = _two_sum(a, b)

    @staticmethod
    def of(values: Wide | NDArray[Any] | Iterable[Any]) -> Wide:
        """Make a vector of integers, floats, fractions or decimals, or of a numpy array.

        Each is rounded to 106 bits. Raises `ProgramError` for anything else.
        """
        if isinstance(values, Wide):
            return values
        if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
            with np.errstate(over="ignore", invalid="ignore"):
                high = values.astype(np.float64)
                if values.dtype.kind == "f":
                    return Wide(high, (values - high).astype(np.float64))
        try:
            exact = [Fraction(v.item() if isinstance(v, np.generic) else v) for v in values]
            rounded = [float(x) for x in exact]
            rest = [float(x - Fraction(h)) for x, h in zip(exact, rounded, strict=True)]
        except (TypeError, ValueError, OverflowError) as error:
            raise ProgramError(f"numbers of 106 bits cannot be made of this: {error}") from None
        return Wide(rounded, rest)

    def fractions(self) -> list[Fraction]:
        """Return the numbers, exactly."""
        pairs = zip(self.high.tolist(), self.low.tolist(), strict=True)
        return [Fraction(high) + Fraction(low) for high, low in pairs]

    def tolist(self) -> list[float]:
        """Return the numbers, rounded to float64."""
        rounded: list[float] = self.high.tolist()
        return rounded

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self.high.size

    @property
    def is_finite(self) -> bool:
        """Whether all are numbers."""
        return bool(np.isfinite(self.high).all() and np.isfinite(self.low).all())

    def padded(self, count: int) -> Wide:
        """Return the vector with zeros behind it, ``count`` numbers in all."""
        zeros = np.zeros(count - self.size)
        return Wide(np.concatenate([self.high, zeros]), np.concatenate([self.low, zeros]))

    def rolled(self, steps: int) -> Wide:
        """Return the vector rotated to the left: number i is number i + steps."""
        return Wide(np.roll(self.high, -steps), np.roll(self.low, -steps))

    def __len__(self) -> int:
        return len(self.high)

    def __getitem__(self, index: Any) -> Wide:
        return Wide(self.high[index], self.low[index])

    def __neg__(self) -> Wide:
        return Wide(-self.high, -self.low)

    def __add__(self, other: Wide | ArrayLike) -> Wide:
        x = other if isinstance(other, Wide) else Wide(other)
        with np.errstate(over="ignore", invalid="ignore"):
            high, rest = _two_sum(self.high, x.high)
            return Wide(high, rest + (self.low + x.low))

    __radd__ = __add__

    def __sub__(self, other: Wide | ArrayLike) -> Wide:
        return self + -(other if isinstance(other, Wide) else Wide(other))

    def __rsub__(self, other: ArrayLike) -> Wide:
        return -self + other

    def __mul__(self, other: Wide | ArrayLike) -> Wide:
        x = other if isinstance(other, Wide) else Wide(other)
        with np.errstate(over="ignore", invalid="ignore"):
            high, rest = _two_product(self.high, x.high)
            return Wide(high, rest + (self.high * x.low + self.low * x.high))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"<{self.size} numbers of 106 bits, about {self.high}>"


#: Values of one input or output; the same, and inputs by name, as users give them.
Vector = NDArray[Any] | Wide
Given = ArrayLike | Wide | Sequence[Fraction | Decimal | float]
Inputs = Mapping[str, Given]


def largest(values: Vector) -> float:
    """Return the largest magnitude, rounded to float64; NaN if one is no number."""
    return float(np.abs(values.high if isinstance(values, Wide) else values).max())


def exact_numbers(array: NDArray[Any]) -> bool:
    """Tell whether an array of objects holds fractions or decimals, and floats or integers."""
    if array.dtype != object:
        return False
    kinds = {type(i.item()) if isinstance(i, np.generic) else type(i) for i in array.flat}
    return bool(kinds & {Fraction, Decimal}) and kinds <= {Fraction, Decimal, int, float}


def _two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return ``a + b`` as its rounding and the exact rest."""
    total = a + b
    seen = total - a
    return total, (a - (total - seen)) + (b - seen)


def _two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return ``a b`` as its rounding and the exact rest."""
    product = a * b
    (ah, al), (bh, bl) = _split(a), _split(b)
    return product, ((ah * bh - product) + ah * bl + al * bh) + al * bl


def _split(a: Floats) -> tuple[Floats, Floats]:
    t = _SPLITTER * a
    high = t - (t - a)
    return high, a - high
