"""Writes encodings.json: CKKS and BGV encodings from their definitions.

CKKS with 60 decimal digits (mpmath 1.4.1), BGV with Python's integers; sums over
all slots, no transform. Deterministic: a new run gives the same file. The parts of
CKKS values are strings: not every reader of JSON rounds decimal fractions rightly.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mpmath

mpmath.mp.dps = 60


def round_half_away(x: Any) -> int:
    return int(mpmath.floor(abs(x) + mpmath.mpf(1) / 2)) * (1 if x >= 0 else -1)


def ckks(log_n: int, scale_bits: int, values: list[tuple[float, float]]) -> dict[str, Any]:
    """Slot j is the value at zeta^(5^j), zeta = exp(i pi / N)."""
    n = 1 << log_n
    roots = [mpmath.expjpi(mpmath.mpf(pow(5, j, 2 * n)) / n) for j in range(n // 2)]
    slots = [mpmath.mpc(*values[j]) if j < len(values) else mpmath.mpc(0) for j in range(n // 2)]
    coefficients = []
    for k in range(n):
        # Slots of a real polynomial come in conjugate pairs.
        total = sum((z * mpmath.conj(r) ** k).real for z, r in zip(slots, roots, strict=True))
        coefficients.append(round_half_away(2 * total / n * mpmath.mpf(2) ** scale_bits))
    return {
        "log_n": log_n,
        "scale_bits": scale_bits,
        "values": [[str(float(part)) for part in value] for value in values],
        "coefficients": [str(c) for c in coefficients],
    }


def bgv(log_n: int, t: int, factor: int, values: list[int]) -> dict[str, Any]:
    """Slot j < m/2 is the value at psi^(5^j), slot m/2 + j at psi^(-5^j), in y = x^(N/m)."""
    n, m = 1 << log_n, 1
    while m < n and (t - 1) % (4 * m) == 0:
        m *= 2
    psi = next(x for x in range(2, t) if pow(x, m, t) == t - 1)
    exponents = [pow(5, j, 2 * m) for j in range(m // 2)]
    exponents += [2 * m - e for e in exponents]
    padded = [v * factor for v in values] + [0] * (m - len(values))
    coefficients = [0] * n
    for k in range(m):
        total = sum(v * pow(psi, -e * k, t) for v, e in zip(padded, exponents, strict=True))
        c = total * pow(m, -1, t) % t
        coefficients[k * (n // m)] = c - t if c > t // 2 else c
    return {
        "log_n": log_n,
        "plaintext_modulus": t,
        "slots": m,
        "factor": factor,
        "values": values,
        "coefficients": coefficients,
    }


def main() -> None:
    small = [(0.5, 0.0), (-1.25, 0.75), (3.0, -2.0), (0.125, 1e-3), (-7.5, 0.0)]
    full = [((j * 37 % 23) / 11 - 1, (j * 17 % 13) / 5 - 1.3) for j in range(16)]
    # Magnitudes far apart, more slots than a vector.
    apart = [(10.0 ** -(j % 9), -(j + 1) / 11 * 2.0 ** -(j % 40)) for j in range(128)]
    data = {
        "made_by": "make_encodings.py, mpmath 1.4.1",
        "ckks": [
            ckks(4, 30, small),
            ckks(5, 30, full),
            ckks(5, 40, [(1.0, 0.0)] * 16),
            ckks(5, 80, full),
            ckks(4, 95, small),
            ckks(8, 62, apart),
            ckks(8, 88, apart),
            ckks(8, 95, apart),
        ],
        "bgv": [
            bgv(4, 97, 1, [1, 2, 3, 4, -5, 6, 7, 96, 97, 1000, -1000]),
            bgv(5, 65537, 1, [i * i * 977 - 300 for i in range(32)]),
            bgv(5, 12289, 5, [i * 7919 for i in range(20)]),
            bgv(6, 97, 1, [i - 8 for i in range(16)]),
            bgv(4, 17, 3, [1, 2, 3, 4, 5, 6, 7, 8]),
            bgv(4, 13, 1, [5, 7]),
        ],
    }
    body = ",\n".join(
        f"  {json.dumps(key)}: [\n    " + ",\n    ".join(json.dumps(x) for x in value) + "\n  ]"
        if isinstance(value, list)
        else f"  {json.dumps(key)}: {json.dumps(value)}"
        for key, value in data.items()
    )
    (Path(__file__).parent / "encodings.json").write_text("{\n" + body + "\n}\n")


if __name__ == "__main__":
    main()
