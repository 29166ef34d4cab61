"""The compiled module: its stub, its errors, and what its objects refuse."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cyclotron import _native as native

INSECURE = "a test on a small ring"
N = 1024
LITERAL = {
    "scheme": "bgv",
    "log_n": 10,
    "log_q": [31, 31, 31],
    "log_p": [31],
    "plaintext_modulus": 65537,
}


def test_stub_is_what_the_module_has() -> None:
    module = ["cyclotron._native", "--ignore-disjoint-bases"]
    command = [sys.executable, "-m", "mypy.stubtest", *module]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def parameters(**changes: Any) -> native.Parameters:
    return native.Parameters.from_literal(json.dumps(LITERAL | changes), INSECURE)


def graph() -> native.Graph:
    """Build ``y = rotate(x * x, 1) + w``, ``w`` given at run time."""
    made = native.Graph("test", "bgv", 10, 65537)
    plain = made.plain("w", None, None)
    x = made.node("input", [], "user.py", 3, name="x")
    square = made.node("mul", [x, x], "user.py", 4)
    moved = made.node("rotate", [square], "user.py", 5, steps=1)
    total = made.node("add_plain", [moved], "user.py", 6, plain=plain)
    made.node("output", [total], "user.py", 7, name="y")
    return made


class Setting:
    """A client and an evaluator with everything to run the graph."""

    def __init__(self) -> None:
        self.parameters = parameters()
        self.plan = native.Plan.lower(graph(), self.parameters, machine=None, keyswitch=None)
        self.client = native.Client.generate(self.parameters, bytes(32))
        self.keys = self.client.evaluation_keys(self.plan)
        self.evaluator = native.Evaluator(self.parameters, self.keys, 1)
        self.inputs = self.client.encrypt(self.plan, {"x": np.arange(N)})
        self.plains: dict[str, NDArray[Any]] = {"w": np.full(N, 5)}


@pytest.fixture(scope="module")
def ready() -> Setting:
    return Setting()


def test_run_interpret_and_simulate_agree(ready: Setting) -> None:
    outputs, stats = ready.evaluator.run(ready.plan, ready.inputs, ready.plains)
    again = ready.evaluator.interpret(ready.plan, ready.inputs, ready.plains)
    assert outputs["y"].to_bytes() == again["y"].to_bytes()
    assert stats["instructions"] == ready.plan.to_dict()["instructions"]
    y = ready.client.decrypt(ready.plan, outputs)["y"]
    rows = (np.arange(N) ** 2).reshape(2, -1)
    assert ((y - np.roll(rows, -1, axis=1).reshape(-1) - 5) % 65537 == 0).all()


@pytest.mark.parametrize("simd", ["scalar", *native.doctor()["simd_available"]])
def test_every_instruction_set_gives_the_same_bytes(ready: Setting, simd: str) -> None:
    evaluator = native.Evaluator(ready.parameters, ready.keys, 2, simd)
    outputs, _ = evaluator.run(ready.plan, ready.inputs, ready.plains)
    expected, _ = ready.evaluator.run(ready.plan, ready.inputs, ready.plains)
    assert outputs["y"].to_bytes() == expected["y"].to_bytes()


def test_limbs_are_residues_of_their_primes(ready: Setting) -> None:
    limbs = ready.inputs["x"].limbs()
    moduli = ready.parameters.to_dict()["moduli"]
    assert [(poly, limb, q) for poly, limb, q, _ in limbs] == [
        (poly, limb, q) for poly in range(2) for limb, q in enumerate(moduli)
    ]
    assert all(words.dtype == np.uint32 and (words < q).all() for _, _, q, words in limbs)
    stored = native.Ciphertext.from_bytes(ready.inputs["x"].to_bytes())
    assert stored.level == ready.inputs["x"].level
    for left, right in zip(stored.limbs(), limbs, strict=True):
        assert (left[3] == right[3]).all()


def test_program_errors_say_file_and_line() -> None:
    short = parameters(log_q=[31])
    with pytest.raises(native.ProgramError, match=r"user\.py:\d") as caught:
        native.Plan.lower(graph(), short, machine=None, keyswitch=None)
    assert caught.value.file == "user.py"  # type: ignore[attr-defined]
    assert caught.value.line in range(3, 8)  # type: ignore[attr-defined]
    made = native.Graph("test", "bgv", 10, 65537)
    with pytest.raises(native.ProgramError, match=r"user\.py:9: fold: unknown operation"):
        made.node("fold", [made.node("input", [], "user.py", 8, name="x")], "user.py", 9)
    with pytest.raises(native.ProgramError, match="operand %7 does not exist"):
        made.node("neg", [7], "user.py", 9)


def test_parameter_errors() -> None:
    with pytest.raises(native.ParameterError, match="allow_insecure"):
        native.Parameters.from_literal(json.dumps(LITERAL), None)
    with pytest.raises(native.ParameterError, match="literal"):
        native.Parameters.from_literal("{", None)
    with pytest.raises(native.ParameterError, match=r"is not prime|NTT"):
        parameters(log_q=None, moduli=[1 << 30])


def test_machine_errors(tmp_path: Path) -> None:
    with pytest.raises(native.MachineError, match="f1"):
        native.Machine.open("f2", [])
    path = tmp_path / "wrong.toml"
    path.write_text("schema = 1\n[machine]\nnme = 'x'\n")
    with pytest.raises(native.MachineError, match=r"wrong\.toml:3"):
        native.Machine.open(str(path), [])


def test_objects_of_other_parameters_are_refused(ready: Setting) -> None:
    other = parameters(log_q=[31, 31, 30])
    plan = native.Plan.lower(graph(), other, machine=None, keyswitch=None)
    client = native.Client.generate(other, bytes(32))
    with pytest.raises(native.KeyMismatchError):
        native.Evaluator(other, ready.keys)
    with pytest.raises(native.KeyMismatchError):
        ready.evaluator.run(plan, ready.inputs, ready.plains)
    with pytest.raises(native.KeyMismatchError):
        client.decrypt(plan, {"y": ready.inputs["x"]})
    stored = native.Ciphertext.from_bytes(ready.inputs["x"].to_bytes())
    with pytest.raises(native.KeyMismatchError):
        client.decrypt(plan, {"y": stored})


def test_a_secret_key_is_refused_wherever_it_does_not_belong(ready: Setting) -> None:
    secret = ready.client.to_bytes()
    for kind in (native.EvaluationKeys, native.Ciphertext, native.Parameters, native.Graph):
        with pytest.raises(native.FormatError, match="SECRET KEY"):
            kind.from_bytes(secret)
    assert "redacted" in repr(ready.client)


def test_stored_objects_read_back(ready: Setting) -> None:
    for stored in (ready.client, ready.keys, ready.inputs["x"], ready.parameters, graph()):
        data = stored.to_bytes()
        again = type(stored).from_bytes(data)
        assert again.to_bytes() == data
        with pytest.raises(native.FormatError):
            type(stored).from_bytes(data[:-1])
    assert ready.keys.size_bytes == len(ready.keys.to_bytes())
    assert graph().hash() == native.Graph.from_bytes(graph().to_bytes()).hash()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "needs a value for encrypted input `x`"),
        ({"z": np.arange(3)}, "no encrypted input `z`"),
        ({"x": np.arange(2000)}, "2000 values"),
        ({"x": np.array([0.5])}, "whole numbers"),
        ({"x": np.zeros((2, 2))}, "2 dimensions"),
        ({"x": np.array(["a"])}, "float64 or int64"),
        ({"x": [1, 2]}, "float64 or int64"),
    ],
)
def test_values_that_cannot_be_encrypted(
    ready: Setting, values: dict[str, Any], message: str
) -> None:
    with pytest.raises(native.CyclotronError, match=message):
        ready.client.encrypt(ready.plan, values)


def test_progress_is_called_and_may_raise(tmp_path: Path) -> None:
    machine = native.Machine.open("f1", [])
    made = graph()
    chosen = native.Parameters.choose(
        made,
        machine=machine,
        precision_bits=None,
        levels=None,
        word_bits=None,
        allow_insecure=INSECURE,
    )
    plan = native.Plan.lower(made, chosen, machine=machine, keyswitch=None)
    seen: list[tuple[str, float]] = []
    schedule = native.Schedule.compile(
        plan, machine, progress=lambda phase, part: seen.append((phase, part))
    )
    assert seen
    assert all(0 <= part <= 1 for _, part in seen)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        native.Schedule.compile(plan, machine, progress=stop)
    path = tmp_path / "schedule"
    schedule.save(str(path), {"note": "kept"})
    loaded = native.Schedule.load(str(path))
    assert loaded.meta() == {"note": "kept"}
    assert loaded.report() == schedule.report()
    path.write_text(path.read_text().replace("== schedule", "== nothing"))
    with pytest.raises(native.FormatError, match="line"):
        native.Schedule.load(str(path))


def test_an_interrupt_abandons_a_run() -> None:
    made = native.Graph("long", "bgv", 13, 65537)
    x = made.node("input", [], "user.py", 1, name="x")
    for _ in range(6000):
        x = made.node("rotate", [x], "user.py", 2, steps=1)
    made.node("output", [x], "user.py", 3, name="y")
    secure = LITERAL | {"log_n": 13, "log_q": [31, 31, 31, 31]}
    chosen = native.Parameters.from_literal(json.dumps(secure), None)
    plan = native.Plan.lower(made, chosen, machine=None, keyswitch="hybrid")
    client = native.Client.generate(chosen, bytes(32))
    evaluator = native.Evaluator(chosen, client.evaluation_keys(plan), 1, "scalar")
    inputs = client.encrypt(plan, {"x": np.arange(8)})
    # A process that a shell started in the background ignores interrupts until told otherwise.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            evaluator.run(plan, inputs, {})
    finally:
        signal.signal(signal.SIGINT, before)
    interrupted = time.monotonic() - start
    # To the end it takes many seconds on any machine.
    assert interrupted < 2
