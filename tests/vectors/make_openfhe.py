"""Writes openfhe_ckks.json and openfhe_bgv.json: keys and ciphertexts made by OpenFHE.

Run with Python 3.10 and the wheel ``openfhe==1.6.1.0.22.4``. The polynomials
that OpenFHE serializes in evaluation domain are interpolated here, term by
term, from its own roots of unity, so the files do not depend on anybody's
transform order. OpenFHE draws its own randomness: a new run gives other files.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import openfhe as fhe

HERE = Path(__file__).parent
RING = 32


def serialized(what: Any) -> dict[str, Any]:
    """Return what OpenFHE writes for an object, as Python values."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "object.json")
        fhe.SerializeToFile(path, what, fhe.JSON)
        data: dict[str, Any] = json.loads(Path(path).read_text())
    return data["value0"]["ptr_wrapper"]["data"]


def pointers(tree: Any, table: dict[int, Any]) -> dict[int, Any]:
    """All shared objects of a serialized tree by their number."""
    if isinstance(tree, dict):
        wrapper = tree.get("ptr_wrapper")
        if isinstance(wrapper, dict) and "data" in wrapper and "id" in wrapper:
            table[wrapper["id"] & 0x7FFFFFFF] = wrapper["data"]
        for child in tree.values():
            pointers(child, table)
    elif isinstance(tree, list):
        for child in tree:
            pointers(child, table)
    return table


def interpolate(values: list[int], q: int, root: int) -> list[int]:
    """Coefficients of the polynomial whose value at root^(2 brv(i) + 1) is values[i]."""
    n = len(values)
    bits = n.bit_length() - 1
    inverse_n = pow(n, -1, q)
    exponents = [2 * int(f"{i:0{bits}b}"[::-1], 2) + 1 for i in range(n)]
    return [
        sum(v * pow(root, -e * k, q) for v, e in zip(values, exponents, strict=True))
        * inverse_n
        % q
        for k in range(n)
    ]


def polynomial(tree: dict[str, Any], table: dict[int, Any]) -> tuple[list[int], list[list[int]]]:
    """Moduli and coefficients, limb by limb, of a serialized double-CRT polynomial."""
    moduli, limbs = [], []
    for tower in tree["v"]:
        vector = tower["v"]["ptr_wrapper"]["data"]
        params = tower["p"]["ptr_wrapper"]
        ring = table[params["id"] & 0x7FFFFFFF]["value0"]
        q, root = ring["cm"]["v"], ring["ru"]["v"]
        assert tower["f"] == 0, "not in evaluation domain"
        assert pow(root, RING, q) == q - 1
        moduli.append(q)
        limbs.append(interpolate(vector["v"], q, root))
    return moduli, limbs


def ciphertext(ct: Any) -> dict[str, Any]:
    """Moduli, scale and coefficients of a ciphertext."""
    tree = serialized(ct)
    table = pointers(tree, {})
    polys = [polynomial(part, table) for part in tree["v"]]
    return {
        "moduli": polys[0][0],
        "scale": tree["s"],
        "factor": tree["si"]["v"],
        "polys": [limbs for _, limbs in polys],
    }


def secret(key: Any) -> list[int]:
    """Centred coefficients of the secret key."""
    tree = serialized(key)
    table = pointers(tree, {})
    part = next(v for v in tree.values() if isinstance(v, dict) and isinstance(v.get("v"), list))
    moduli, limbs = polynomial(part, table)
    return [c - moduli[0] if c > moduli[0] // 2 else c for c in limbs[0]]


def context(params: Any) -> Any:
    params.SetSecurityLevel(fhe.SecurityLevel.HEStd_NotSet)
    params.SetRingDim(RING)
    params.SetMultiplicativeDepth(2)
    params.SetScalingTechnique(fhe.ScalingTechnique.FIXEDMANUAL)
    params.SetKeySwitchTechnique(fhe.KeySwitchTechnique.HYBRID)
    made = fhe.GenCryptoContext(params)
    for feature in ("PKE", "KEYSWITCH", "LEVELEDSHE"):
        made.Enable(getattr(fhe.PKESchemeFeature, feature))
    return made


def write(name: str, data: dict[str, Any]) -> None:
    data = {"made_by": "make_openfhe.py, openfhe 1.6.1.0.22.4", "ring": RING, **data}
    lines = [f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in data.items()]
    (HERE / name).write_text("{\n" + ",\n".join(lines) + "\n}\n")


def ckks() -> None:
    params = fhe.CCParamsCKKSRNS()
    params.SetScalingModSize(40)
    params.SetFirstModSize(50)
    params.SetBatchSize(RING // 2)
    made = context(params)
    keys = made.KeyGen()
    made.EvalMultKeyGen(keys.secretKey)
    values = [0.5, -1.25, 3.0, 0.125] + [(i - 4) / 7 for i in range(12)]
    fresh = made.Encrypt(keys.publicKey, made.MakeCKKSPackedPlaintext(values))
    square = made.Rescale(made.EvalMult(fresh, fresh))
    write(
        "openfhe_ckks.json",
        {
            "secret": secret(keys.secretKey),
            "values": values,
            "fresh": ciphertext(fresh),
            "square": ciphertext(square),
        },
    )


def bgv() -> None:
    params = fhe.CCParamsBGVRNS()
    params.SetPlaintextModulus(65537)
    params.SetScalingModSize(45)
    params.SetFirstModSize(50)
    made = context(params)
    keys = made.KeyGen()
    made.EvalMultKeyGen(keys.secretKey)
    values = [(i * i * 977 - 300) % 65537 for i in range(RING)]
    fresh = made.Encrypt(keys.publicKey, made.MakePackedPlaintext(values))
    square = made.ModReduce(made.EvalMult(fresh, fresh))
    write(
        "openfhe_bgv.json",
        {
            "plaintext_modulus": 65537,
            "secret": secret(keys.secretKey),
            "values": values,
            "fresh": ciphertext(fresh),
            "square": ciphertext(square),
        },
    )


if __name__ == "__main__":
    ckks()
    bgv()
