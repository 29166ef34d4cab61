"""LoLa-MNIST in our packing (CKKS, N = 16384): few rotations, no garbage.

8192 slots seen as 64 groups of 128. The network is that of
`cyclotron.programs.lola_network`.

*Inputs.* Slot ``128 g + c`` holds position ``3 g + (c mod 3)`` of the window, so
every three neighbouring slots of group g show the same three positions.

*Convolution.* The five maps stay apart: nothing has to be concatenated.

*Dense layer of 100.* Row j is computed in the slots ``128 g + j``. Those of group
g see positions 3g, 3g+1 and 3g+2 at distances 0, 1 and 2, in an order that
depends on j only, so three plaintext vectors for each map hold all weights: one
for each distance. Products of equal distance are summed over the maps, rotated
by their distance (two rotations), and the 64 groups are summed by six
rotate-and-adds, which leave the result in every group. Slots 100..127 of a group
are zero throughout.

*Dense layer of 10.* Group k of one plaintext vector holds row k, k < 10. Seven
rotate-and-adds within groups leave score k in slot ``128 k``.

The sum over groups is taken one level lower than the compiler would: there is
precision to spare, and rotations cost less there.

That is 6 relinearizations and 15 rotations, by powers of two only, where the
published packing has 2 and 279; no masks, and no slot ever holds garbage that
could grow.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from cyclotron.encrypted import plain, take
from cyclotron.graph import Program
from cyclotron.programs.lola_network import (
    CLASSES,
    HIDDEN,
    MAPS,
    POSITIONS,
    Floats,
    begin,
    convolve,
    window_pixels,
)
from cyclotron.programs.workload import Values

GROUP, GROUPS, REACH = 128, 64, 3
#: Scales (bits) of the encrypted pixels and of the last layer's weights.
INPUT_BITS, LAST_BITS = 25, 22
#: What the noise analysis must prove: a little more than the tolerance of 1 %.
PRECISION_BITS = 6.7


def program(weights: Mapping[str, Floats]) -> Program:
    """Build the program for these weights (shapes: `cyclotron.idx.WEIGHT_SHAPES`)."""
    p, pixels = begin("lola-mnist-packed", INPUT_BITS, PRECISION_BITS)
    maps = zip(convolve(pixels, weights), weights["conv_bias"], strict=True)
    convolved = [x + float(bias) for x, bias in maps]
    squares = [x * x for x in convolved]
    dense1 = pack_dense1(weights["dense1"])
    parts = [
        reduce(add, (y * dense1[m, distance] for m, y in enumerate(squares)))
        for distance in range(REACH)
    ]
    hidden = parts[0] + parts[1].rotate(1) + parts[2].rotate(2)
    hidden = hidden.rescale().inner_sum(GROUPS, stride=GROUP)
    hidden = hidden + np.tile(np.pad(weights["dense1_bias"], (0, GROUP - HIDDEN)), GROUPS)

    activated = hidden * hidden
    scores = activated * plain(pack_dense2(weights["dense2"]), scale_bits=LAST_BITS)
    scores = scores.inner_sum(GROUP)
    scores = scores + spread(weights["dense2_bias"])
    p.Output(take(scores, range(0, CLASSES * GROUP, GROUP)), name="scores")
    return p


def pack_dense1(rows: Floats) -> Floats:
    """Lay the dense layer of 100 out for slots: ``[map, distance, slot]``.

    The slot ``128 g + j + distance`` of a map meets row j and the position that
    it holds, ``3 g + (j + distance) mod 3``.
    """
    packed = np.zeros((MAPS, REACH, GROUPS, GROUP))
    by_map = rows.reshape(HIDDEN, MAPS, POSITIONS)
    j = np.arange(HIDDEN)
    for distance in range(REACH):
        for g in range(GROUPS):
            position = REACH * g + (j + distance) % REACH
            real = position < POSITIONS
            packed[:, distance, g, j[real] + distance] = by_map[j[real], :, position[real]].T
    return packed.reshape(MAPS, REACH, GROUPS * GROUP)


def pack_dense2(rows: Floats) -> Floats:
    """Lay the dense layer of 10 out for slots: row k in the first 100 slots of group k."""
    return np.pad(rows, ((0, 0), (0, GROUP - HIDDEN))).reshape(-1)


def spread(bias: Floats) -> Floats:
    """Place value k in slot 128 k."""
    packed = np.zeros((CLASSES, GROUP))
    packed[:, 0] = bias
    return packed.reshape(-1)


def pack_image(image: NDArray[np.uint8]) -> Values:
    """Pack an image into the 25 inputs."""
    slot = np.arange(GROUP * GROUPS)
    position = REACH * (slot // GROUP) + slot % GROUP % REACH
    return window_pixels(image, np.where(position < POSITIONS, position, -1))
