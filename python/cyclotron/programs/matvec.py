"""F1's Listing 2: a 4 x N matrix-vector product in BGV.

Each row of the matrix and the vector are one ciphertext of N values. A row times
the vector, summed over all slots by log2(N) rotate-and-adds, is one entry of the
product; it ends up in every slot. The 4 products share the hint of the
multiplication, and the four sums those of the log2(N) rotations.
"""

from __future__ import annotations

from cyclotron.encrypted import Encrypted
from cyclotron.functions import Add, Mul, Rotate, log2
from cyclotron.graph import Program


def matvec(n: int = 16384, rows: int = 4, t: int = 65537) -> Program:
    """Build the program.

    Parameters
    ----------
    n
        Ring degree and length of the vectors, a power of two from 1024 to 16384
        (of which `t` must be 1 modulo 2n).
    rows
        Number of rows of the matrix.
    t
        Plaintext modulus.
    """
    p = Program(N=n, t=t, name="matvec")
    matrix = [p.Input(name=f"row.{i}") for i in range(rows)]
    vector = p.Input(name="vector")

    def inner_sum(x: Encrypted) -> Encrypted:
        for i in range(log2(p.slots)):
            x = Add(x, Rotate(x, 1 << i))
        return x

    for i in range(rows):
        product = Mul(matrix[i], vector)
        p.Output(inner_sum(product), name=f"product_{i}")
    return p
