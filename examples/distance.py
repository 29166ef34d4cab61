"""Squared distances from an encrypted point to points in the clear (CKKS).

The client sends one point of 8 coordinates, the server holds 64 points. All
squared distances are computed in one ciphertext: the client repeats its point 64
times, the server's points lie side by side.

Try ``cyclotron run examples/distance.py:distances``.
"""

import cyclotron
from cyclotron import Encrypted, Plain, Taken, shape, take

POINTS, COORDINATES = 64, 8
SIZE = POINTS * COORDINATES


@cyclotron.program(
    scheme="ckks",
    n=8192,
    inputs={"point": shape(length=SIZE), "known": shape(length=SIZE)},
)
def distances(point: Encrypted, known: Plain) -> dict[str, Taken]:
    """Return the squared distances; that of point i lies in slot 8 i."""
    difference = point - known
    squared = (difference * difference).inner_sum(COORDINATES)
    return {"squared_distance": take(squared, range(0, SIZE, COORDINATES))}
