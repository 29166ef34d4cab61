"""LoLa-MNIST with plaintext weights as published (CKKS, N = 16384), masks merged into weights.

The network is that of `cyclotron.programs.lola_network`; 8192 slots are seen as
8 blocks of 1024.

*Inputs.* Slot p < 169 holds position p of the window, the rest is zero.

*Convolution.* A map is a sum of 25 ciphertexts times a number. Four rotations
concatenate the five maps to 845 values. Square, and copy them to all 8 blocks
(three rotate-and-adds).

*Dense layer of 100.* 13 plaintext vectors hold 8 rows each, a row a block. Each
product is summed over its block by ten rotate-and-adds: the result stands in the
first slot of the block, and partial sums, which nobody wants, in the others.

*Dense layer of 10.* The published graph masks those partial sums away, gathers
the 13 vectors into one and squares that. Here each vector is squared, and the
weights of the last layer, which are zero everywhere but in the blocks' first
slots, are the mask: one level less, and no gathering. Score k, still spread over
the blocks, is moved k slots to the right of them; three rotate-and-adds then
finish all scores at once.

That is 14 relinearizations and 149 rotations.

References
----------
Brutzkus, Gilad-Bachrach, Elisha: Low Latency Privacy Preserving Inference
(ICML 2019), the network and its packing.
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
    POSITIONS,
    SLOTS,
    Floats,
    begin,
    convolve,
    window_pixels,
)
from cyclotron.programs.workload import Values

BLOCK, BLOCKS = 1024, 8
#: Scales (bits) of the encrypted pixels and of the last layer's weights.
INPUT_BITS, LAST_BITS = 26, 20
#: What the noise analysis must prove. It takes every partial sum for as large as
#: the largest; measured errors are some 4 bits smaller.
PRECISION_BITS = 5.0
#: Plaintext vectors that hold the dense layer of 100, a row a block.
VECTORS = -(-HIDDEN // BLOCKS)


def program(weights: Mapping[str, Floats]) -> Program:
    """Build the program for these weights (shapes: `cyclotron.idx.WEIGHT_SHAPES`)."""
    p, pixels = begin("lola-mnist", INPUT_BITS, PRECISION_BITS)
    maps = convolve(pixels, weights)
    features = reduce(add, (x.rotate(-POSITIONS * m) for m, x in enumerate(maps)))
    features = features + np.repeat(weights["conv_bias"], POSITIONS)

    features = features * features
    for step in (1, 2, 4):
        features = features + features.rotate(-BLOCK * step)

    rows = by_block(weights["dense1"])
    biases = by_block(weights["dense1_bias"].reshape(HIDDEN, 1))
    hidden = [
        (features * row).inner_sum(BLOCK) + bias for row, bias in zip(rows, biases, strict=True)
    ]
    activated = [x * x for x in hidden]

    scores = []
    for k, row in enumerate(weights["dense2"]):
        mask = by_block(row.reshape(HIDDEN, 1))
        parts = (x * plain(w, scale_bits=LAST_BITS) for x, w in zip(activated, mask, strict=True))
        scores.append(reduce(add, parts).rotate(-k))
    total = reduce(add, scores).inner_sum(BLOCKS, stride=BLOCK)
    p.Output(take(total + weights["dense2_bias"], range(CLASSES)), name="scores")
    return p


def by_block(rows: Floats) -> Floats:
    """Lay rows out for slots, a row at the start of a block: ``[vector, slot]``."""
    packed = np.zeros((VECTORS * BLOCKS, BLOCK))
    packed[: len(rows), : rows.shape[1]] = rows
    return packed.reshape(VECTORS, SLOTS)


def pack_image(image: NDArray[np.uint8]) -> Values:
    """Pack an image into the 25 inputs."""
    slot = np.arange(SLOTS)
    return window_pixels(image, np.where(slot < POSITIONS, slot, -1))
