"""Compares results: decrypted outputs with the cleartext twin, ciphertexts limb by limb."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclotron._native import Ciphertext
from cyclotron.errors import UsageError
from cyclotron.graph import Program
from cyclotron.wide import largest

Values = Mapping[str, Any]  # vectors: arrays, or `Wide`
Ciphertexts = Mapping[str, Ciphertext]


def taken(program: Program, decrypted: Values) -> dict[str, Any]:
    """Reduce decrypted outputs to the slots that the program takes, BGV residues centred."""
    result = {}
    for name, output in program.outputs.items():
        values = decrypted[name]
        if output.slots is not None:
            values = values[list(output.slots)]
        result[name] = program.geometry.centred(values)
    return result


def relative_error(outputs: Values, twin: Values) -> float:
    """Return ``max |out - twin| / max |twin|`` over all outputs together.

    Infinite if an output is not finite; the absolute error if the twin is zero.

    Examples
    --------
    >>> relative_error({"y": np.array([1.0, 4.1])}, {"y": np.array([1.0, 4.0])})
    0.025
    """
    difference = max(largest(outputs[n] - twin[n]) for n in twin)
    scale = max(map(largest, twin.values()))
    if not np.isfinite(difference):
        return float("inf")
    return float(f"{difference / scale:.12g}") if scale > 0 else difference


def matches(program: Program, error: float) -> bool:
    """Tell whether an error is none (BGV) or within the program's tolerance (CKKS)."""
    return error == 0 if program.scheme == "bgv" else error <= program.tolerance


def limbs(ciphertexts: Ciphertexts) -> dict[str, NDArray[np.uint64]]:
    """Return every limb under a key ``OUTPUT/cPOLY/LIMB/MODULUS``, as 64-bit words."""
    return {
        f"{name}/c{poly}/{index}/{modulus}": np.asarray(words).astype(np.uint64)
        for name, ciphertext in ciphertexts.items()
        for poly, index, modulus, words in ciphertext.limbs()
    }


def identical(left: Ciphertexts, right: Ciphertexts) -> bool:
    """Tell whether two sets of ciphertexts have the same limbs."""
    a, b = limbs(left), limbs(right)
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)


def digest(runs: list[Ciphertexts]) -> str:
    """Hash all limbs of all runs (SHA-256, keys and little-endian words in order)."""
    hasher = hashlib.sha256()
    for run in runs:
        for key, words in limbs(run).items():
            hasher.update(key.encode() + b"\n" + words.astype("<u8").tobytes())
    return hasher.hexdigest()


def dump(path: Path, runs: list[Ciphertexts]) -> None:
    """Write all limbs to an npz file, keys ``RUN/OUTPUT/cPOLY/LIMB/MODULUS``.

    Equal limbs give equal bytes, so two files can be compared with ``cmp``.
    """
    arrays: dict[str, Any] = {
        f"{number}/{key}": words
        for number, run in enumerate(runs)
        for key, words in limbs(run).items()
    }
    try:
        with path.open("wb") as file:
            np.savez_compressed(file, **arrays)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
