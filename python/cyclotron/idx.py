"""Reads MNIST's IDX files, gzipped or not, and the weights of a LoLa-MNIST network."""

from __future__ import annotations

import gzip
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cyclotron.errors import UsageError

SIDE = 28
#: Shapes of the arrays of a weights file.
WEIGHT_SHAPES: dict[str, tuple[int, ...]] = {
    "conv": (5, 5, 5),
    "conv_bias": (5,),
    "dense1": (100, 845),
    "dense1_bias": (100,),
    "dense2": (10, 100),
    "dense2_bias": (10,),
}


def read_images(path: Path, count: int) -> NDArray[np.uint8]:
    """Read the first ``count`` images of 28x28 pixels; shape [count, 28, 28].

    Raises
    ------
    UsageError
        If the file is missing, damaged, too short or has images of another shape.
    """
    raw, total = _read(path, "images", (SIDE, SIDE), count)
    if count > total:
        raise UsageError(f"{path} has {total} images, not {count}")
    return raw.reshape(count, SIDE, SIDE)


def count_images(path: Path) -> int:
    """Return how many images of 28x28 pixels a file promises."""
    return _read(path, "images", (SIDE, SIDE), 0)[1]


def read_labels(path: Path, count: int) -> NDArray[np.uint8]:
    """Read the first ``count`` labels, each from 0 to 9."""
    raw, total = _read(path, "labels", (), count)
    if count > total:
        raise UsageError(f"{path} has {total} labels, not {count}")
    if raw.size and raw.max() > 9:
        raise UsageError(f"{path} has the label {raw.max()}; digits are 0 to 9")
    return raw


def read_weights(path: Path) -> dict[str, NDArray[np.float64]]:
    """Read the six arrays of `WEIGHT_SHAPES` from an npz file as float64.

    Raises
    ------
    UsageError
        If the file or an array is missing, damaged, of another shape or not finite.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: np.asarray(stored[name]) for name in WEIGHT_SHAPES if name in stored}
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}") from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise UsageError(f"{path} is not a weights file: {error}") from None
    weights = {}
    for name, shape in WEIGHT_SHAPES.items():
        if name not in arrays:
            raise UsageError(
                f"{path} has no array {name!r}; it must hold {', '.join(WEIGHT_SHAPES)}"
            )
        array = arrays[name]
        if array.shape != shape or array.dtype.kind not in "fiu":
            raise UsageError(f"{name} in {path} has shape {array.shape}, not {shape}")
        if not np.isfinite(array).all():
            raise UsageError(f"{name} in {path} holds NaN or infinity")
        weights[name] = array.astype(np.float64)
    return weights


def find(folder: Path, stem: str) -> Path:
    """Return ``folder/stem`` or ``folder/stem.gz``, whichever exists."""
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    for path in (folder / f"{stem}.gz", folder / stem):
        if path.is_file():
            return path
    raise UsageError(f"{folder} has no {stem}.gz; it must hold MNIST's IDX files")


def _read(
    path: Path, what: str, shape: tuple[int, ...], count: int
) -> tuple[NDArray[np.uint8], int]:
    """Read a header and at most ``count`` items; return them and how many the header promises."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            header = file.read(4 + 4 * (1 + len(shape)))
            if len(header) < 4 + 4 * (1 + len(shape)):
                raise UsageError(f"{path} is too short for an IDX file")
            zero, kind, axes = struct.unpack(">HBB", header[:4])
            if zero != 0 or kind != 8:
                raise UsageError(f"{path} is not an IDX file of bytes")
            if axes != 1 + len(shape):
                raise UsageError(f"{path} has {axes} axes; {what} have {1 + len(shape)}")
            total, *sizes = struct.unpack(f">{axes}I", header[4:])
            if tuple(sizes) != shape:
                raise UsageError(f"{path} has {what} of {sizes[0]}x{sizes[1]} pixels, not 28x28")
            items = min(count, total)
            size = items * int(np.prod(shape))
            body = file.read(size)
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    if len(body) < size:
        raise UsageError(f"{path} ends early: its header promises {total} {what}")
    return np.frombuffer(body, np.uint8), total
