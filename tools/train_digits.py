"""Trains the digit network that Cyclotron ships, and writes its assets.

The network has exactly the shape of LoLa-MNIST: a 5x5 convolution of stride 2
with five maps on a 28x28 image padded by one zero row below and one zero
column on the right (5x13x13), a square, a dense layer of 100, a square, a dense
layer of 10. It is trained on the *Optical Recognition of Handwritten Digits*
test set of the UCI repository (1,797 real digits of 8x8 pixels, CC BY 4.0),
which scikit-learn bundles, enlarged to 28x28 with pixel values 0..255.

Run ``python tools/train_digits.py`` (needs the ``train`` extra, takes about half
a minute); the same seed gives the same files on the same numpy.
"""

from __future__ import annotations

import argparse
import gzip
import struct
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SIDE = 28
#: Output pixels for each source pixel; 8 x 3 = 24, with a margin of 2 around.
ENLARGE = 3.0
CONV_STEP = 2.0**-5
ASSETS = Path(__file__).resolve().parent.parent / "python" / "cyclotron" / "assets"


def load_digits() -> tuple[Floats, NDArray[np.int64]]:
    """Read the 1,797 images, shape [1797, 8, 8] in 0..16, and their labels."""
    try:
        from sklearn.datasets import load_digits as bundled  # noqa: PLC0415
    except ImportError:
        sys.exit("error: scikit-learn is needed for its digits: pip install 'cyclotron-fhe[train]'")
    digits = bundled()
    return np.asarray(digits.images, np.float64), np.asarray(digits.target, np.int64)


def enlarge(images: Floats, jitter: np.random.Generator | None = None) -> Floats:
    """Enlarge 8x8 images to 28x28 bilinearly, into pixel values 0..255.

    With ``jitter`` every image is also moved, turned and stretched a little.
    """
    count = len(images)
    angle, zoom_y, zoom_x, shift_y, shift_x, shear = np.zeros((6, count))
    if jitter is not None:
        angle = jitter.uniform(-0.18, 0.18, count)
        zoom_y, zoom_x = jitter.uniform(-0.12, 0.12, (2, count))
        shift_y, shift_x = jitter.uniform(-1.8, 1.8, (2, count))
        shear = jitter.uniform(-0.15, 0.15, count)
    centre = (SIDE - 1) / 2
    row, col = np.meshgrid(np.arange(SIDE) - centre, np.arange(SIDE) - centre, indexing="ij")
    y = row[None] - shift_y[:, None, None]
    x = col[None] - shift_x[:, None, None] + shear[:, None, None] * y
    cos, sin = np.cos(angle)[:, None, None], np.sin(angle)[:, None, None]
    source_y = (cos * y - sin * x) / (ENLARGE * (1 + zoom_y[:, None, None])) + 3.5
    source_x = (sin * y + cos * x) / (ENLARGE * (1 + zoom_x[:, None, None])) + 3.5
    padded = np.pad(images, ((0, 0), (4, 5), (4, 5)))
    source_y, source_x = np.clip(source_y + 4, 0, 15), np.clip(source_x + 4, 0, 15)
    top, left = source_y.astype(int), source_x.astype(int)
    down, right = source_y - top, source_x - left
    item = np.arange(count)[:, None, None]
    value = (padded[item, top, left] * (1 - down) + padded[item, top + 1, left] * down) * (
        1 - right
    ) + (padded[item, top, left + 1] * (1 - down) + padded[item, top + 1, left + 1] * down) * right
    return np.asarray(np.clip(np.round(value * 255 / 16), 0, 255), np.float64)


def windows(images: Floats) -> Floats:
    """Collect the 5x5 windows of every image: [B, 28, 28] -> [B, 169, 25], divided by 256."""
    padded = np.pad(images / 256, ((0, 0), (0, 1), (0, 1)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (5, 5), axis=(1, 2))
    return np.ascontiguousarray(view[:, ::2, ::2].reshape(len(images), 169, 25))


class Network:
    """The weights, one forward pass and its gradient."""

    def __init__(self, random: np.random.Generator) -> None:
        self.weights: dict[str, Floats] = {
            "conv": random.normal(0, 0.3, (5, 25)),
            "conv_bias": np.full(5, 0.1),
            "dense1": random.normal(0, 0.03, (100, 845)),
            "dense1_bias": np.full(100, 0.1),
            "dense2": random.normal(0, 0.1, (10, 100)),
            "dense2_bias": np.zeros(10),
        }

    def forward(self, patches: Floats) -> tuple[Floats, tuple[Floats, ...]]:
        """Return the scores [B, 10] and what the gradient needs."""
        w = self.weights
        conv = np.matmul(w["conv"], patches.transpose(0, 2, 1)) + w["conv_bias"][:, None]
        flat = (conv**2).reshape(len(patches), 845)
        hidden = flat @ w["dense1"].T + w["dense1_bias"]
        scores = hidden**2 @ w["dense2"].T + w["dense2_bias"]
        return scores, (conv, flat, hidden)

    def gradient(
        self, patches: Floats, labels: NDArray[np.int64]
    ) -> tuple[dict[str, Floats], float]:
        """Return the gradient of the mean cross entropy, and that entropy."""
        w = self.weights
        scores, (conv, flat, hidden) = self.forward(patches)
        shifted = scores - scores.max(axis=1, keepdims=True)
        probability = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
        item = np.arange(len(labels))
        loss = float(-np.log(probability[item, labels] + 1e-12).mean())
        d_scores = probability
        d_scores[item, labels] -= 1
        d_scores /= len(labels)
        d_hidden = (d_scores @ w["dense2"]) * 2 * hidden
        d_conv = (d_hidden @ w["dense1"]).reshape(conv.shape) * 2 * conv
        return {
            "conv": np.einsum("bmp,bpk->mk", d_conv, patches, optimize=True),
            "conv_bias": d_conv.sum(axis=(0, 2)),
            "dense1": d_hidden.T @ flat,
            "dense1_bias": d_hidden.sum(axis=0),
            "dense2": d_scores.T @ hidden**2,
            "dense2_bias": d_scores.sum(axis=0),
        }, loss

    def accuracy(self, patches: Floats, labels: NDArray[np.int64]) -> float:
        """Return the share of images whose largest score is their label's."""
        return float((self.forward(patches)[0].argmax(axis=1) == labels).mean())


class Adam:
    """Adam with decoupled weight decay and a clipped gradient."""

    def __init__(self, weights: dict[str, Floats], decay: float) -> None:
        self.weights, self.decay, self.steps = weights, decay, 0
        self.mean = {k: np.zeros_like(v) for k, v in weights.items()}
        self.square = {k: np.zeros_like(v) for k, v in weights.items()}

    def step(self, gradient: dict[str, Floats], rate: float, frozen: frozenset[str]) -> None:
        """Take one step of learning rate ``rate`` on all but the frozen weights."""
        self.steps += 1
        norm = float(np.sqrt(sum(float((g**2).sum()) for g in gradient.values())))
        clip = min(1.0, 5.0 / (norm + 1e-12))
        for name, raw in gradient.items():
            if name in frozen:
                continue
            g = raw * clip
            self.mean[name] += 0.1 * (g - self.mean[name])
            self.square[name] += 0.001 * (g**2 - self.square[name])
            mean = self.mean[name] / (1 - 0.9**self.steps)
            square = self.square[name] / (1 - 0.999**self.steps)
            shrink = 0.0 if name.endswith("bias") else self.decay * self.weights[name]
            self.weights[name] -= rate * (mean / (np.sqrt(square) + 1e-8) + shrink)


def train(images: Floats, labels: NDArray[np.int64], seed: int, epochs: int) -> Network:
    """Train on freshly jittered images each epoch; quantize the convolution near the end.

    The last quarter of the epochs runs with the convolution fixed to multiples
    of 2^-5, because the encrypted program multiplies by it at that scale.
    """
    random = np.random.default_rng(seed)
    network = Network(random)
    optimizer = Adam(network.weights, decay=0.02)
    frozen: frozenset[str] = frozenset()
    for epoch in range(epochs):
        if epoch == epochs * 3 // 4:
            for name in ("conv", "conv_bias"):
                network.weights[name] = np.round(network.weights[name] / CONV_STEP) * CONV_STEP
            optimizer.weights, frozen = network.weights, frozenset({"conv", "conv_bias"})
        rate = 2e-3 * 0.5 * (1 + np.cos(np.pi * epoch / epochs))
        patches = windows(enlarge(images, random))
        order, losses = random.permutation(len(images)), []
        for start in range(0, len(images), 64):
            batch = order[start : start + 64]
            gradient, loss = network.gradient(patches[batch], labels[batch])
            optimizer.step(gradient, rate, frozen)
            losses.append(loss)
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}", file=sys.stderr)
    return network


def write_idx(path: Path, values: NDArray[np.uint8]) -> None:
    """Write an array in the IDX format of MNIST, gzipped without a time stamp."""
    header = struct.pack(">HBB", 0, 8, values.ndim) + struct.pack(f">{values.ndim}I", *values.shape)
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write(header + values.tobytes())


def main() -> None:
    """Train, report the accuracy and write the assets."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--epochs", type=int, default=120)
    parser.add_argument("--embed", type=int, default=100, help="test images to ship")
    parser.add_argument("--out", type=Path, default=ASSETS)
    options = parser.parse_args()

    small, labels = load_digits()
    order = np.random.default_rng(options.seed).permutation(len(small))
    test, rest = order[:360], order[360:]
    network = train(small[rest], labels[rest], options.seed, options.epochs)
    stored = {name: value.astype(np.float16) for name, value in network.weights.items()}
    network.weights = {name: value.astype(np.float64) for name, value in stored.items()}

    test_images = enlarge(small[test])
    accuracy = network.accuracy(windows(test_images), labels[test])
    embedded = network.accuracy(
        windows(test_images[: options.embed]), labels[test][: options.embed]
    )
    print(f"accuracy on {len(test)} test images: {accuracy:.4f}")
    print(f"accuracy on the {options.embed} that are shipped: {embedded:.4f}")
    _, (conv, _, hidden) = network.forward(windows(test_images))
    scores = network.forward(windows(test_images))[0]
    print(
        f"largest: conv {abs(conv).max():.2f}, dense1 {abs(hidden).max():.2f}, "
        f"scores {abs(scores).max():.2f}"
    )

    options.out.mkdir(parents=True, exist_ok=True)
    stored["conv"] = stored["conv"].reshape(5, 5, 5)
    np.savez_compressed(options.out / "digits-weights.npz", **stored)  # type: ignore[arg-type]
    write_idx(
        options.out / "digits-images-idx3-ubyte.gz",
        test_images[: options.embed].astype(np.uint8),
    )
    write_idx(
        options.out / "digits-labels-idx1-ubyte.gz",
        labels[test][: options.embed].astype(np.uint8),
    )


if __name__ == "__main__":
    main()
