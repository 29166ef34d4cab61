"""LoLa-MNIST with plaintext weights (CKKS, N = 16384): classifies an encrypted digit.

The network is a 5x5 convolution of stride 2 with 5 maps (13x13 positions each),
a square, a dense layer of 100, a square, a dense layer of 10.

Packing, for 8192 slots seen as 64 groups of 128
------------------------------------------------
*Inputs.* As in LoLa, the client sends 25 ciphertexts, one for each offset in
the 5x5 kernel, that hold the pixel under that offset at all 169 positions of the
window. Slot ``128 g + c`` holds position ``3 g + (c mod 3)``, so every three
neighbouring slots of group g show the same three positions.

*Convolution.* A map is a sum of 25 ciphertexts times a number. The numbers are
multiples of 2^-5, as in the published implementation, and inputs have a small
scale, so no rescale is needed before the square. The five maps stay apart:
nothing has to be concatenated.

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

import os
from collections.abc import Mapping
from functools import reduce
from importlib import resources
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclotron import idx
from cyclotron.encrypted import plain, take
from cyclotron.errors import UsageError
from cyclotron.graph import Program
from cyclotron.programs.workload import Sample, Values, Workload

Floats = NDArray[np.float64]

N = 16384
GROUP, GROUPS, REACH = 128, 64, 3
POSITIONS, MAPS, HIDDEN, CLASSES = 169, 5, 100, 10
#: Scales (bits) of the encrypted pixels, the convolution's weights and those of the last layer.
INPUT_BITS, CONV_BITS, LAST_BITS = 25, 5, 22
#: What 12 standard deviations of a score's error may be of twice the largest score of the
#: calibration images: 2^-6.7 = 1 %. Measured errors are below 0.1 %.
PRECISION_BITS = 6.7
#: Images that magnitudes are measured on.
CALIBRATION_IMAGES = 16


def lola_mnist(weights: Mapping[str, Floats]) -> Program:
    """Build the program for these weights (shapes: `cyclotron.idx.WEIGHT_SHAPES`).

    The convolution's weights are rounded to multiples of 2^-5; that is part of
    the program, so its cleartext twin rounds them as well.
    """
    p = Program(
        N=N, scheme="ckks", name="lola-mnist", precision_bits=PRECISION_BITS, tolerance=0.01
    )
    pixels = [p.Input(name=f"pixels.{i}", scale_bits=INPUT_BITS) for i in range(25)]
    kernels = np.round(weights["conv"].reshape(MAPS, 25) * 2**CONV_BITS) / 2**CONV_BITS

    squares = []
    for kernel, bias in zip(kernels, weights["conv_bias"], strict=True):
        weighted = [x * plain(w, scale_bits=CONV_BITS) for x, w in zip(pixels, kernel, strict=True)]
        conv = reduce(add, weighted) + float(bias)
        squares.append(conv * conv)

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
    """Pack an image of 28x28 pixels (0..255) into the 25 inputs, pixels divided by 256."""
    padded = np.pad(image.astype(np.float64) / 256, ((0, 1), (0, 1)))
    slot = np.arange(GROUP * GROUPS)
    position = REACH * (slot // GROUP) + slot % GROUP % REACH
    real = position < POSITIONS
    row, column = np.divmod(np.where(real, position, 0), 13)
    return {
        f"pixels.{5 * r + c}": np.where(real, padded[2 * row + r, 2 * column + c], 0.0)
        for r in range(5)
        for c in range(5)
    }


class LolaMnist(Workload):
    """The program with its images: the embedded digits, or MNIST from a folder."""

    def __init__(self) -> None:
        super().__init__("lola-mnist", self._program)
        self.has_images = True
        self._folder: Path | None = None
        if os.environ.get("CYCLOTRON_DATA"):
            self.use_data(Path(os.environ["CYCLOTRON_DATA"]))

    def use_data(self, folder: Path | None) -> None:
        """Read MNIST's test files and ``lola-mnist-weights.npz`` from a folder."""
        if folder is not None:
            self._folder = folder
            self._files()

    def weights(self) -> dict[str, Floats]:
        """Return the weights in use."""
        return idx.read_weights(self._files()[2])

    def images(self, count: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the first ``count`` images and labels."""
        images, labels, _ = self._files()
        return idx.read_images(images, count), idx.read_labels(labels, count)

    def _some_images(self) -> NDArray[np.uint8]:
        path = self._files()[0]
        return idx.read_images(path, min(CALIBRATION_IMAGES, idx.count_images(path)))

    def samples(
        self,
        program: Program,
        count: int,
        given: Mapping[str, NDArray[Any]],
        random: np.random.Generator,
    ) -> list[Sample]:
        """Return the first images; or the one given as the input ``image``."""
        del random
        if given:
            if set(given) != {"image"}:
                raise UsageError("lola-mnist takes one input, image: 28x28 pixels from 0 to 255")
            image = _checked_image(given["image"])
            return [Sample(program.bind(pack_image(image)), None, image)] * count
        images, labels = self.images(count)
        return [
            Sample(program.bind(pack_image(image)), int(label), image)
            for image, label in zip(images, labels, strict=True)
        ]

    def calibration(self, program: Program) -> list[Values]:
        """Return the first images of the data set."""
        return [program.bind(pack_image(i)) for i in self._some_images()]

    def interpret(self, outputs: list[Values]) -> list[int]:
        """Return the digit with the largest score for each set of outputs."""
        return [int(np.argmax(o["scores"])) for o in outputs]

    def facts(self) -> dict[str, Any]:
        """Return where images and weights come from."""
        return {"data": "embedded digits" if self._folder is None else str(self._folder)}

    def _program(self) -> Program:
        return lola_mnist(self.weights())

    def _files(self) -> tuple[Path, Path, Path]:
        if self._folder is None:
            assets = Path(str(resources.files("cyclotron") / "assets"))
            return (
                assets / "digits-images-idx3-ubyte.gz",
                assets / "digits-labels-idx1-ubyte.gz",
                assets / "digits-weights.npz",
            )
        return (
            idx.find(self._folder, "t10k-images-idx3-ubyte"),
            idx.find(self._folder, "t10k-labels-idx1-ubyte"),
            self._folder / "lola-mnist-weights.npz",
        )


def _checked_image(values: NDArray[Any]) -> NDArray[np.uint8]:
    if values.shape != (idx.SIDE, idx.SIDE):
        raise UsageError(f"an image has 28x28 pixels, not shape {values.shape}")
    numbers = values.dtype.kind in "uif" and bool(np.isfinite(values).all())
    if not numbers or values.min() < 0 or values.max() > 255:
        raise UsageError("an image's pixels are numbers from 0 to 255")
    return np.round(values).astype(np.uint8)
