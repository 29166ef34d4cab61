"""Free functions with the names of F1's Listing 2, and their modern forms."""

from __future__ import annotations

from cyclotron import span
from cyclotron.encrypted import Encrypted, Operand, Plain
from cyclotron.errors import program_error

__all__ = ["Add", "Mul", "Rotate", "Sub", "log2", "relinearize", "rescale"]


def Add(x: Operand, y: Operand) -> Encrypted:  # noqa: N802 - F1's name
    """Add; at least one of the operands is encrypted."""
    left, right = _encrypted_first(x, y)
    return left + right


def Sub(x: Operand, y: Operand) -> Encrypted:  # noqa: N802 - F1's name
    """Subtract; at least one of the operands is encrypted."""
    left, right = _encrypted_first(x, y)
    return left - right if left is x else -left + right


def Mul(x: Operand, y: Operand) -> Encrypted:  # noqa: N802 - F1's name
    """Multiply slot by slot; at least one of the operands is encrypted."""
    left, right = _encrypted_first(x, y)
    return left * right


def Rotate(x: Encrypted, steps: int) -> Encrypted:  # noqa: N802 - F1's name
    """Rotate; see `Encrypted.rotate`."""
    return _encrypted("Rotate", x).rotate(steps)


def rescale(x: Encrypted) -> Encrypted:
    """Rescale (CKKS) or switch the modulus (BGV); see `Encrypted.rescale`."""
    return _encrypted("rescale", x).rescale()


def relinearize(x: Encrypted) -> Encrypted:
    """Relinearize; see `Encrypted.relinearize`."""
    return _encrypted("relinearize", x).relinearize()


def log2(n: int) -> int:
    """Return the base-2 logarithm of a power of two, exactly.

    Examples
    --------
    >>> log2(16384)
    14
    """
    if not isinstance(n, int) or n < 1 or n & (n - 1):
        raise program_error(f"log2 takes a power of two, not {n!r}", span.caller())
    return n.bit_length() - 1


def _encrypted(what: str, x: object) -> Encrypted:
    if not isinstance(x, Encrypted):
        raise program_error(f"{what} takes an encrypted value, not {_name(x)}", span.caller())
    return x


def _encrypted_first(x: Operand, y: Operand) -> tuple[Encrypted, Operand]:
    for first, second in ((x, y), (y, x)):
        if isinstance(first, Encrypted):
            return first, second
    raise program_error(
        f"one operand must be encrypted, not {_name(x)} and {_name(y)}", span.caller()
    )


def _name(x: object) -> str:
    return "a plaintext" if isinstance(x, Plain) else type(x).__name__
