"""Client and evaluator as two processes that share nothing but files.

The client keeps its secret key in a folder that the evaluator never gets.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cyclotron

CLIENT = """
import sys
from pathlib import Path
import numpy as np
import cyclotron
from cyclotron import Client, Encrypted, Graph, Parameters, Plan

own, shared = Path(sys.argv[1]), Path(sys.argv[2])

@cyclotron.program(scheme="bgv", n=8192, t=65537)
def program(x: Encrypted, y: Encrypted):
    return (x * y + 7).rotate(3)

if sys.argv[3] == "ask":
    graph = program.build().native()
    parameters = Parameters.choose(graph, machine=None, precision_bits=None, security=128,
                                   levels=None, word_bits=None, allow_insecure=None)
    plan = Plan.lower(graph, parameters, machine=None, keyswitch=None)
    client = Client.generate(parameters, None)
    x, y = np.arange(8192) % 1000, np.arange(8192) % 77
    (own / "client").write_bytes(client.to_bytes())
    (shared / "program").write_bytes(graph.to_bytes())
    (shared / "parameters").write_bytes(parameters.to_bytes())
    (shared / "keys").write_bytes(client.evaluation_keys(plan).to_bytes())
    for name, ciphertext in client.encrypt(plan, {"x": x, "y": y}).items():
        (shared / f"{name}.in").write_bytes(ciphertext.to_bytes())
else:
    parameters = Parameters.from_bytes((shared / "parameters").read_bytes())
    graph = Graph.from_bytes((shared / "program").read_bytes())
    plan = Plan.lower(graph, parameters, machine=None, keyswitch=None)
    client = Client.from_bytes((own / "client").read_bytes())
    result = cyclotron.Ciphertext.from_bytes((shared / "output.out").read_bytes())
    np.save(own / "result.npy", client.decrypt(plan, {"output": result})["output"])
"""

EVALUATOR = """
import sys
from pathlib import Path
from cyclotron import Ciphertext, EvaluationKeys, Evaluator, Graph, Parameters, Plan

shared = Path(sys.argv[1])
parameters = Parameters.from_bytes((shared / "parameters").read_bytes())
graph = Graph.from_bytes((shared / "program").read_bytes())
plan = Plan.lower(graph, parameters, machine=None, keyswitch=None)
keys = EvaluationKeys.from_bytes((shared / "keys").read_bytes())
inputs = {n: Ciphertext.from_bytes((shared / f"{n}.in").read_bytes()) for n in ("x", "y")}
outputs, _ = Evaluator(parameters, keys).run(plan, inputs, {})
assert not hasattr(Evaluator, "decrypt")
for name, ciphertext in outputs.items():
    (shared / f"{name}.out").write_bytes(ciphertext.to_bytes())
"""


def python(code: str, *words: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    own, shared = tmp_path / "own", tmp_path / "shared"
    own.mkdir()
    shared.mkdir()
    return own, shared


def test_client_and_evaluator_share_only_files(folders: tuple[Path, Path]) -> None:
    own, shared = folders
    python(CLIENT, own, shared, "ask")
    python(EVALUATOR, shared)
    python(CLIENT, own, shared, "read")
    x, y = np.arange(8192) % 1000, np.arange(8192) % 77
    rows = ((x * y + 7) % 65537).reshape(2, 4096)
    expected = np.roll(rows, -3, axis=1).reshape(-1)
    assert (np.load(own / "result.npy") % 65537 == expected).all()


def test_keys_of_other_parameters_are_refused(folders: tuple[Path, Path]) -> None:
    own, shared = folders
    python(CLIENT, own, shared, "ask")
    good = (shared / "parameters").read_bytes()
    python(CLIENT.replace("n=8192", "n=4096").replace("8192", "4096"), own, shared, "ask")
    (shared / "parameters").write_bytes(good)
    with pytest.raises(AssertionError, match=r"ParameterError|KeyMismatchError"):
        python(EVALUATOR, shared)


@pytest.mark.parametrize("name", ["keys", "x.in", "parameters", "program"])
def test_damaged_files_are_refused(folders: tuple[Path, Path], name: str) -> None:
    own, shared = folders
    python(CLIENT, own, shared, "ask")
    path = shared / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(AssertionError, match="FormatError"):
        python(EVALUATOR, shared)
    path.write_bytes(content[: len(content) // 3])
    with pytest.raises(AssertionError, match="FormatError"):
        python(EVALUATOR, shared)


SENDER = """
import sys
from pathlib import Path
import numpy as np
from cyclotron import Encryptor, Graph, Parameters, Plan, PublicKey

shared = Path(sys.argv[1])
parameters = Parameters.from_bytes((shared / "parameters").read_bytes())
graph = Graph.from_bytes((shared / "program").read_bytes())
plan = Plan.lower(graph, parameters, machine=None, keyswitch=None)
key = PublicKey.from_bytes((shared / "public").read_bytes())
inputs = {"x": np.arange(8192) % 99, "y": np.arange(8192) % 88}
for name, ciphertext in Encryptor(parameters, key).encrypt(plan, inputs).items():
    (shared / f"{name}.in").write_bytes(ciphertext.to_bytes())
"""

WITH_PUBLIC_KEY = CLIENT.replace("t=65537)", "t=65537, public_key=True)").replace(
    "    for name, ciphertext in client",
    "    (shared / 'public').write_bytes(client.public_key().to_bytes())\n"
    "    for name, ciphertext in client",
)


def test_somebody_else_encrypts_with_the_public_key(folders: tuple[Path, Path]) -> None:
    own, shared = folders
    python(WITH_PUBLIC_KEY, own, shared, "ask")
    of_client = (shared / "x.in").read_bytes()
    python(SENDER, shared)
    assert (shared / "x.in").read_bytes() != of_client
    python(EVALUATOR, shared)
    python(WITH_PUBLIC_KEY, own, shared, "read")
    rows = ((np.arange(8192) % 99) * (np.arange(8192) % 88) + 7).reshape(2, 4096)
    expected = np.roll(rows, -3, axis=1).reshape(-1)
    assert (np.load(own / "result.npy") == expected).all()


def test_public_keys_that_do_not_belong_are_refused(folders: tuple[Path, Path]) -> None:
    own, shared = folders
    python(WITH_PUBLIC_KEY, own, shared, "ask")
    good = {name: (shared / name).read_bytes() for name in ("public", "program", "parameters")}
    damaged = bytearray(good["public"])
    damaged[5000] ^= 1
    for content in (damaged, good["public"][:999], (own / "client").read_bytes()):
        (shared / "public").write_bytes(content)
        with pytest.raises(AssertionError, match="FormatError"):
            python(SENDER, shared)
    # Another client's parameters, and a program that was not planned for the noise.
    (shared / "public").write_bytes(good["public"])
    python(CLIENT, own, shared, "ask")
    with pytest.raises(AssertionError, match="KeyMismatchError"):
        python(SENDER, shared)
    (shared / "parameters").write_bytes(good["parameters"])
    with pytest.raises(AssertionError, match="public_key=True"):
        python(SENDER, shared)
    python(WITH_PUBLIC_KEY.replace("(x * y + 7)", "(x * y * y * x)"), own, shared, "ask")
    (shared / "public").write_bytes(good["public"])
    with pytest.raises(AssertionError, match="KeyMismatchError"):
        python(SENDER, shared)


@pytest.mark.parametrize(("scheme", "on"), [("ckks", "cpu"), ("bgv", "f1"), ("ckks", "f1")])
def test_a_run_encrypts_with_the_public_key_if_the_program_says_so(scheme: str, on: str) -> None:
    @cyclotron.program(scheme=scheme, n=8192, public_key=True)
    def program(x: cyclotron.Encrypted) -> object:
        return x * x

    result = cyclotron.run(program, {"x": [1, 0, 1]}, on=on, seed=4)
    assert result.report["outputs_match_twin"] is True
    assert result.report["public_key"] is True
    assert result.report.get("limbs_identical_to_cpu", True)
    again = cyclotron.run(program, {"x": [1, 0, 1]}, on=on, seed=4)
    assert again.report["limbs_sha256"] == result.report["limbs_sha256"]
    private = cyclotron.run(program.build(public_key=False), {"x": [1, 0, 1]}, on=on, seed=4)
    assert private.report["limbs_sha256"] != result.report["limbs_sha256"]
