"""Whether two sides do the same: their parameters, and what they compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cyclotron.benchmark.driver import Check

#: Parameters that both sides must have in common, where both name them.
EXACT = ("log_n", "prime", "limbs", "special", "digits", "plaintext_modulus")

#: Sizes in bits that may differ by this much, because primes of one size differ.
SIZES = ("log_q", "log_qp")
SIZE_SLACK = 2.0

#: Largest error of a real result, in units of the largest expected one (at least 1).
TOLERANCE = 1e-4
PROGRAM_TOLERANCE = 2e-2

#: How parameters are called in messages.
WORDS = {
    "log_n": "log2 N",
    "limbs": "data primes",
    "special": "special primes",
    "digits": "digits",
    "log_q": "log Q",
    "log_qp": "log QP",
    "plaintext_modulus": "t",
    "prime": "prime",
}


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """Say in which parameters a peer differs from us.

    Examples
    --------
    >>> differences({"special": 8, "log_qp": 1600.0}, {"special": 7, "log_qp": 1599.1})
    ['special primes 7 instead of 8']
    """
    found = []
    for name in (*EXACT, *SIZES):
        if name not in ours or name not in theirs:
            continue
        slack = SIZE_SLACK if name in SIZES else 0
        if abs(float(theirs[name]) - float(ours[name])) > slack:
            found.append(f"{WORDS[name]} {theirs[name]} instead of {ours[name]}")
    return found


def wrong(case: str, parameters: Mapping[str, Any], check: Check) -> str | None:
    """Say what is wrong with a result; None if it is right."""
    if not check.values or len(check.values) != len(check.expected):
        return f"{len(check.values)} values instead of {len(check.expected)}"
    exact = not case.startswith(("ckks/", "program/"))
    modulus = parameters.get("plaintext_modulus")
    if exact:
        return _unequal(check.values, check.expected, modulus)
    relative = PROGRAM_TOLERANCE if case.startswith("program/") else TOLERANCE
    scale = max(1.0, *(abs(e) for e in check.expected))
    for slot, (value, expected) in enumerate(zip(check.values, check.expected, strict=True)):
        if not abs(value - expected) <= relative * scale:
            return f"result {slot} is {value:.6g}, expected {expected:.6g}"
    return None


def _unequal(values: Sequence[float], expected: Sequence[float], modulus: int | None) -> str | None:
    """Compare whole numbers, as residues if there is a modulus."""
    for slot, (value, right) in enumerate(zip(values, expected, strict=True)):
        difference = int(value) - int(right)
        if difference % modulus if modulus else difference:
            return f"result {slot} is {value}, expected {right}"
    return None


def same_expectation(
    case: str, parameters: Mapping[str, Any], ours: Check, theirs: Check
) -> str | None:
    """Say in what two drivers expect different results: then they do not do the same."""
    as_value = Check(theirs.expected, ours.expected[: len(theirs.expected)])
    error = wrong(case, parameters, as_value)
    return None if error is None else f"expects something else than we do: {error}"
