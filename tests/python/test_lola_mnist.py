"""LoLa-MNIST: the packed program against a direct forward pass of the network."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from conftest import SHARED_DATA, Command
from numpy.typing import NDArray

from cyclotron import idx
from cyclotron.programs import find
from cyclotron.programs.lola_network import LolaMnist

Floats = NDArray[np.float64]

needs_mnist = pytest.mark.skipif(
    not (SHARED_DATA / "lola-mnist-weights.npz").is_file(), reason="MNIST is not at hand"
)


def forward(weights: dict[str, Floats], image: NDArray[np.uint8]) -> Floats:
    """Evaluate the network in the plainest way: loops over maps and positions."""
    padded = np.zeros((29, 29))
    padded[:28, :28] = image / 256
    flat = np.zeros((5, 13, 13))
    for m in range(5):
        for row in range(13):
            for column in range(13):
                window = padded[2 * row : 2 * row + 5, 2 * column : 2 * column + 5]
                flat[m, row, column] = (window * weights["conv"][m]).sum() + weights["conv_bias"][m]
    hidden = weights["dense1"] @ (flat**2).reshape(-1) + weights["dense1_bias"]
    return np.asarray(weights["dense2"] @ hidden**2 + weights["dense2_bias"])


def with_data(folder: Path | None, name: str = "lola-mnist-packed") -> LolaMnist:
    workload = find(name)
    assert isinstance(workload, LolaMnist)
    workload.use_data(folder)
    return workload


@pytest.mark.parametrize("name", ["lola-mnist", "lola-mnist-packed"])
@pytest.mark.parametrize("folder", [None, pytest.param(SHARED_DATA, marks=needs_mnist)])
def test_twin_equals_the_network_on_20_images(folder: Path | None, name: str) -> None:
    workload = with_data(folder, name)
    program = workload.build({})
    weights = workload.weights()
    exact = forward_all(workload, weights)
    weights["conv"] = np.round(weights["conv"] * 32) / 32
    rounded = forward_all(workload, weights)
    samples = workload.samples(program, 20, {}, np.random.default_rng(0))
    found = [program.twin(sample.inputs) for sample in samples]
    np.testing.assert_allclose([f["scores"] for f in found], rounded, rtol=0, atol=1e-9)
    # Rounding the convolution to the scale it is encoded at changes no class.
    assert workload.interpret(found) == np.argmax(exact, axis=1).tolist()


def forward_all(workload: LolaMnist, weights: dict[str, Floats]) -> list[Floats]:
    return [forward(weights, image) for image in workload.images(20)[0]]


def test_embedded_network_is_accurate() -> None:
    workload = with_data(None)
    weights = workload.weights()
    images, labels = workload.images(100)
    right = [
        int(np.argmax(forward(weights, i))) == int(n) for i, n in zip(images, labels, strict=True)
    ]
    assert sum(right) >= 96


def test_convolution_weights_are_exact_at_their_scale() -> None:
    conv = with_data(None).weights()["conv"] * 32
    assert (conv == np.round(conv)).all()


def test_the_published_packing_has_no_masks() -> None:
    program = with_data(None, "lola-mnist").build({})
    counts = Counter(node.op for node in program.nodes)
    assert counts["input"] == 25
    assert counts["mul"] == 14
    assert counts["rotate"] == 149
    assert counts["mul_plain"] == 13 + 130


def test_operations_are_those_of_the_plan() -> None:
    program = with_data(None).build({})
    counts = Counter(node.op for node in program.nodes)
    assert counts["input"] == 25
    assert counts["mul"] == 6
    assert counts["rotate"] == 15
    assert counts["mul_plain"] == 16
    steps = {node.steps for node in program.nodes if node.op == "rotate"}
    assert steps == {1 << i for i in range(13)}


def test_unused_slots_stay_zero() -> None:
    program = with_data(None).build({})
    hidden = max(i for i, node in enumerate(program.nodes) if node.op == "mul")
    seen: dict[int, Floats] = {}

    def record(index: int, value: Floats) -> None:
        if index == hidden:
            seen[index] = value

    from cyclotron import twin

    sample = with_data(None).samples(program, 1, {}, np.random.default_rng(0))[0]
    twin.execute(program, sample.inputs, record)
    groups = seen[hidden].reshape(64, 128)
    assert (groups[:, 100:] == 0).all()
    np.testing.assert_allclose(groups, np.tile(groups[0], (64, 1)), rtol=1e-12)


def test_labels_and_images_belong_together() -> None:
    images, labels = with_data(None).images(100)
    assert images.shape == (100, 28, 28)
    assert set(labels.tolist()) == set(range(10))
    assert images.max() > 200


def test_weights_file_is_small() -> None:
    from importlib import resources

    with resources.as_file(resources.files("cyclotron") / "assets" / "digits-weights.npz") as path:
        assert path.stat().st_size < 400_000
        assert set(idx.read_weights(path)) == set(idx.WEIGHT_SHAPES)


@pytest.mark.parametrize("on", ["cpu", "f1"])
def test_20_encrypted_images_agree_with_the_twin(on: str, cyclotron: Command) -> None:
    done = cyclotron("run", "lola-mnist", "--images", "20", "--on", on, "--json", timeout=300)
    found = json.loads(done.out)
    assert found["outputs_match_twin"]
    assert found["max_relative_error"] < 0.01
    assert found["predictions"] == found["twin_predictions"]
    assert found.get("limbs_identical_to_cpu", True)
    right = sum(p == n for p, n in zip(found["predictions"], found["labels"], strict=True))
    assert right >= 18
