"""IDX files and weights: right ones are read, wrong ones get one clear error."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from cyclotron import UsageError, idx


def images(count: int, side: int = 28, *, kind: int = 8, axes: int = 3) -> bytes:
    header = struct.pack(">HBB", 0, kind, axes) + struct.pack(">3I", count, side, side)
    return header + bytes(i % 256 for i in range(count * side * side))


@pytest.mark.parametrize("name", ["plain", "packed.gz"])
def test_reads_the_first_images(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(images(3)) if name.endswith("gz") else images(3))
    read = idx.read_images(path, 2)
    assert read.shape == (2, 28, 28)
    assert read[1, 0, 0] == 784 % 256
    assert idx.count_images(path) == 3


@pytest.mark.parametrize(
    ("content", "pattern"),
    [
        (images(3)[:-1], "ends early"),
        (images(2), "2 images, not 3"),
        (images(3, 27), "27x27 pixels"),
        (images(3, kind=13), "not an IDX file"),
        (images(3, axes=1), "1 axes"),
        (b"", "too short"),
        (b"PK\x03\x04" * 9, "not an IDX file"),
        (struct.pack(">HBB3I", 0, 8, 3, 2**32 - 1, 28, 28), "ends early"),
    ],
)
def test_wrong_image_files(tmp_path: Path, content: bytes, pattern: str) -> None:
    path = tmp_path / "images"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=pattern):
        idx.read_images(path, 3)


def test_damaged_gzip(tmp_path: Path) -> None:
    path = tmp_path / "images.gz"
    packed = gzip.compress(images(3))
    for content in (b"not gzip at all", packed[: len(packed) // 2], packed[:40] + b"\xff" * 40):
        path.write_bytes(content)
        with pytest.raises(UsageError, match=r"cannot be read|ends early"):
            idx.read_images(path, 3)


def test_labels_are_digits(tmp_path: Path) -> None:
    path = tmp_path / "labels"
    path.write_bytes(struct.pack(">HBBI", 0, 8, 1, 3) + bytes([1, 2, 11]))
    assert idx.read_labels(path, 2).tolist() == [1, 2]
    with pytest.raises(UsageError, match="label 11"):
        idx.read_labels(path, 3)


def test_wrong_weights(tmp_path: Path) -> None:
    good = {name: np.zeros(shape) for name, shape in idx.WEIGHT_SHAPES.items()}
    cases: list[tuple[dict[str, np.ndarray], str]] = [
        ({k: v for k, v in good.items() if k != "dense2"}, "no array 'dense2'"),
        ({**good, "conv": np.zeros((5, 25))}, r"conv .*shape \(5, 25\)"),
        ({**good, "dense1_bias": np.full(100, np.nan)}, "NaN"),
        ({**good, "conv_bias": np.array(["a"] * 5)}, "conv_bias"),
    ]
    for number, (arrays, pattern) in enumerate(cases):
        path = tmp_path / f"{number}.npz"
        np.savez(path, **arrays)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match=pattern):
            idx.read_weights(path)
    junk = tmp_path / "junk.npz"
    for content in (b"", b"junk", b"PK\x03\x04 broken archive"):
        junk.write_bytes(content)
        with pytest.raises(UsageError, match="not a weights file"):
            idx.read_weights(junk)
    with pytest.raises(UsageError, match="no file"):
        idx.read_weights(tmp_path / "absent.npz")
