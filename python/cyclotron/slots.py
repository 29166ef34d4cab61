"""How many slots a scheme has, how they rotate, and which values fit in them.

CKKS has N/2 slots of real numbers in one cyclic row. BGV with a prime t that is
1 modulo 2m (m the largest such power of two, at most N) has m slots of integers
modulo t in two cyclic rows of m/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclotron.errors import ProgramError
from cyclotron.wide import Vector, Wide, exact_numbers

LOG_N_RANGE = range(10, 18)
#: Plaintext moduli below this keep a product of two residues within 64 bits.
T_LIMIT = 2**31


def is_prime(candidate: int) -> bool:
    """Tell whether an integer below 2^31 is prime (trial division)."""
    if candidate < 2 or candidate % 2 == 0:
        return candidate == 2
    return all(candidate % d for d in range(3, int(candidate**0.5) + 1, 2))


@dataclass(frozen=True)
class Slots:
    """The plaintext space of a program.

    Attributes
    ----------
    scheme
        ``"ckks"`` or ``"bgv"``.
    n
        Ring degree N.
    t
        Plaintext modulus; 0 for CKKS.
    count
        Number of slots.
    """

    scheme: str
    n: int
    t: int
    count: int

    @staticmethod
    def of(scheme: str, n: int, t: int | None) -> Slots:
        """Validate a scheme's name, ring degree and plaintext modulus.

        Raises
        ------
        ProgramError
            If one of them is outside its range; the message has no line yet.
        """
        if scheme not in ("bgv", "ckks"):
            raise ProgramError(f'scheme {scheme!r} is unknown; use "bgv" or "ckks"')
        if isinstance(n, bool) or not isinstance(n, int) or n not in {1 << k for k in LOG_N_RANGE}:
            raise ProgramError(f"N = {n!r} must be a power of two from 1024 to 131072")
        if scheme == "ckks":
            if t is not None:
                raise ProgramError("CKKS has no plaintext modulus; leave out t")
            return Slots(scheme, n, 0, n // 2)
        if isinstance(t, bool) or not isinstance(t, int):
            raise ProgramError("BGV needs a plaintext modulus, for example t=65537")
        if not 2 < t < T_LIMIT or not is_prime(t) or t % 4 != 1:
            raise ProgramError(
                f"t = {t} must be a prime below 2^31 and 1 modulo 4, for example 257 or 65537"
            )
        count = 2
        while count < n and (t - 1) % (4 * count) == 0:
            count *= 2
        return Slots(scheme, n, t, count)

    @property
    def log_n(self) -> int:
        """Base-2 logarithm of the ring degree."""
        return self.n.bit_length() - 1

    @property
    def row(self) -> int:
        """Number of slots that one rotation cycles through."""
        return self.count if self.scheme == "ckks" else self.count // 2

    def rotation(self, steps: object) -> int:
        """Return the canonical form of a rotation, in ``[0, row]``.

        In BGV ``row`` (half of the slots) swaps the two rows; a smaller number
        of steps rotates within both.
        """
        if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)):
            raise ProgramError(
                f"a rotation takes a whole number of steps known before encryption, not {steps!r}"
            )
        k = int(steps)
        if self.scheme == "bgv" and abs(k) == self.row:
            return self.row
        if abs(k) >= self.count or (self.scheme == "bgv" and abs(k) > self.row):
            reach = self.row if self.scheme == "bgv" else self.count - 1
            raise ProgramError(
                f"a rotation by {k} steps is out of range; these {self.count} slots "
                f"rotate by -{reach} to {reach}"
            )
        return k % self.row

    def wide_vector(self, values: object, what: str) -> Vector:
        """Do what `vector` does; fractions and decimals keep 106 bits (CKKS)."""
        if not isinstance(values, Wide):
            array = np.array(values)
            if self.scheme == "bgv" or array.ndim != 1 or not exact_numbers(array):
                return self.vector(values, what)
            values = Wide.of(array)
        if self.scheme == "bgv":
            raise ProgramError(f"{what} has numbers of 106 bits, but BGV computes on integers")
        self._check_size(what, values.size, values.high.shape)
        if not values.is_finite:
            raise ProgramError(f"{what} holds NaN, infinity or a value beyond 2^995")
        return values

    def vector(self, values: object, what: str = "a plaintext vector") -> NDArray[Any]:
        """Check a vector of at most ``count`` values and convert it.

        Returns
        -------
        ndarray
            float64 for CKKS, int64 centred in ``(-t/2, t/2]`` for BGV; a copy
            that cannot be written to.
        """
        if isinstance(values, Wide):
            raise ProgramError(
                f"{what} has numbers of 106 bits, which are for encrypted inputs; round it: x.high"
            )
        array = np.array(values)
        if exact_numbers(array):
            array = _rounded(array, what)
        self._check_size(what, array.size, array.shape)
        result = self._numbers(array, what)
        result.flags.writeable = False
        return result

    def _check_size(self, what: str, size: int, shape: tuple[int, ...]) -> None:
        if len(shape) != 1:
            raise ProgramError(f"{what} must have one dimension, not shape {shape}; use its rows")
        if size == 0:
            raise ProgramError(f"{what} is empty")
        if size > self.count:
            raise ProgramError(
                f"{what} has {size} values, but {self.scheme.upper()} at N = {self.n} has "
                f"{self.count} slots; split it, or use a larger N"
            )

    def scalar(self, value: object, what: str = "a scalar") -> float | int:
        """Check one number and convert it to float (CKKS) or a centred int (BGV)."""
        array = np.array(value)
        number = self._numbers(_rounded(array, what) if exact_numbers(array) else array, what)
        return float(number) if self.scheme == "ckks" else int(number)

    def _numbers(self, array: NDArray[Any], what: str) -> NDArray[Any]:
        if np.iscomplexobj(array):
            raise ProgramError(f"{what} is complex; only real values can be plaintext operands")
        if array.dtype.kind not in "buif":
            raise ProgramError(f"{what} must hold numbers, not {_shown(array)}")
        if array.dtype.kind == "f":
            if not np.isfinite(array).all():
                raise ProgramError(f"{what} holds NaN or infinity")
            with np.errstate(over="ignore"):
                array = array.astype(np.float64)  # a half has no room for t, a long double too much
            if not np.isfinite(array).all():
                raise ProgramError(f"{what} holds a value beyond those of float64")
        if self.scheme == "ckks":
            return array.astype(np.float64)
        if array.dtype.kind == "f" and not (array == np.round(array)).all():
            bad = array[array != np.round(array)].flat[0]
            raise ProgramError(
                f"{what} holds {bad}, but BGV computes on integers; round it or use CKKS"
            )
        half = self.t // 2
        least, most = (array.min().item(), array.max().item()) if array.size else (0, 0)
        if most >= self.t or least < -half:
            bad = most if most >= self.t else least
            raise ProgramError(
                f"{what} holds {bad}, outside of -{half} .. {self.t - 1} for t = {self.t}; "
                "reduce it modulo t or choose a larger t"
            )
        return self.centred(array.astype(np.int64))

    def centred(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Reduce integers modulo t into ``(-t/2, t/2]``; leaves CKKS values alone."""
        if self.scheme == "ckks":
            return values
        residue = np.mod(values, self.t)
        return np.where(residue > self.t // 2, residue - self.t, residue)


def _rounded(array: NDArray[Any], what: str) -> NDArray[np.float64]:
    """Round fractions, decimals and what stands among them."""
    try:
        return array.astype(np.float64)
    except OverflowError:
        raise ProgramError(f"{what} holds a value beyond those of float64") from None


def _shown(array: NDArray[Any]) -> str:
    """Show what is no number in an array."""
    for item in array.flat:
        if isinstance(item, int):  # numpy has no type for it
            return f"an integer of {item.bit_length()} bits"
        if not isinstance(item, float):
            text = repr(item.item() if isinstance(item, np.generic) else item)
            return text if len(text) <= 40 else f"{text[:40]}..."
    return str(array.dtype)
