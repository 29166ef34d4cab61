"""The LoLa-MNIST network: its shape, weights and images, for programs that pack it.

A 5x5 convolution of stride 2 with 5 maps (13x13 positions each; the image is
padded by a row below and a column on the right), a square, a dense layer of
100, a square, a dense layer of 10. As in LoLa, the client sends 25 ciphertexts,
one for each offset in the 5x5 kernel, that hold the pixel under that offset at
all 169 positions of the window.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import reduce
from importlib import resources
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclotron import idx
from cyclotron.encrypted import Encrypted, plain
from cyclotron.errors import UsageError
from cyclotron.graph import Program
from cyclotron.programs.workload import Sample, Values, Workload

Floats = NDArray[np.float64]

N = 16384
SLOTS = N // 2
POSITIONS, MAPS, HIDDEN, CLASSES = 169, 5, 100, 10
#: Scale (bits) of the convolution's weights.
CONV_BITS = 5
#: Images that magnitudes are measured on.
CALIBRATION_IMAGES = 16


def begin(name: str, input_bits: float, precision_bits: float) -> tuple[Program, list[Encrypted]]:
    """Start a program with its 25 encrypted inputs.

    Parameters
    ----------
    name
        The program's name.
    input_bits
        Scale of the encrypted pixels.
    precision_bits
        Bits that the noise analysis must prove for the scores, relative to twice
        the largest score of the calibration images.
    """
    p = Program(N=N, scheme="ckks", name=name, precision_bits=precision_bits, tolerance=0.01)
    return p, [p.Input(name=f"pixels.{i}", scale_bits=input_bits) for i in range(25)]


def convolve(pixels: list[Encrypted], weights: Mapping[str, Floats]) -> list[Encrypted]:
    """Return the five maps of the convolution, without their biases.

    The weights are rounded to multiples of 2^-5, as in the published
    implementation; that is part of the program, so its cleartext twin rounds
    them as well. Inputs have a small scale, so no rescale is needed before the
    square.
    """
    kernels = np.round(weights["conv"].reshape(MAPS, 25) * 2**CONV_BITS) / 2**CONV_BITS
    return [
        reduce(
            add, (x * plain(w, scale_bits=CONV_BITS) for x, w in zip(pixels, kernel, strict=True))
        )
        for kernel in kernels
    ]


def window_pixels(image: NDArray[np.uint8], position: NDArray[np.int64]) -> Values:
    """Pack an image of 28x28 pixels (0..255) into the 25 inputs, pixels divided by 256.

    Parameters
    ----------
    image
        The image.
    position
        Position of the window (0..168) that each slot shows; -1 for a zero.
    """
    padded = np.pad(image.astype(np.float64) / 256, ((0, 1), (0, 1)))
    row, column = np.divmod(np.maximum(position, 0), 13)
    return {
        f"pixels.{5 * r + c}": np.where(position >= 0, padded[2 * row + r, 2 * column + c], 0.0)
        for r in range(5)
        for c in range(5)
    }


class LolaMnist(Workload):
    """The program with its images: the embedded digits, or MNIST from a folder."""

    def __init__(
        self,
        name: str,
        build: Callable[[Mapping[str, Floats]], Program],
        pack: Callable[[NDArray[np.uint8]], Values],
    ) -> None:
        super().__init__(name, self._program)
        self._build, self._pack = build, pack
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
                raise UsageError(f"{self.name} takes one input, image: 28x28 pixels from 0 to 255")
            image = _checked_image(given["image"])
            return [Sample(program.bind(self._pack(image)), None, image)] * count
        images, labels = self.images(count)
        return [
            Sample(program.bind(self._pack(image)), int(label), image)
            for image, label in zip(images, labels, strict=True)
        ]

    def calibration(self, program: Program) -> list[Values]:
        """Return the first images of the data set."""
        return [program.bind(self._pack(i)) for i in self._some_images()]

    def interpret(self, outputs: list[Values]) -> list[int]:
        """Return the digit with the largest score for each set of outputs."""
        return [int(np.argmax(o["scores"])) for o in outputs]

    def facts(self) -> dict[str, Any]:
        """Return where images and weights come from."""
        return {"data": "embedded digits" if self._folder is None else str(self._folder)}

    def _program(self) -> Program:
        return self._build(self.weights())

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
