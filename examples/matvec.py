"""A 4 x N matrix-vector product on encrypted integers (BGV).

Try ``cyclotron run examples/matvec.py:matvec --on f1``.
"""

import cyclotron
from cyclotron import Encrypted, shape


@cyclotron.program(scheme="bgv", n=16384, t=65537, inputs={"rows": shape(count=4)})
def matvec(rows: list[Encrypted], vector: Encrypted) -> dict[str, Encrypted]:
    """Multiply each row by the vector, and sum over all slots."""
    return {f"product_{i}": (row * vector).inner_sum() for i, row in enumerate(rows)}
