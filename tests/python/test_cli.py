"""The command as a user meets it: a process, its exit code, its JSON, its files."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Command

RUN_FIELDS = {
    "program", "on", "seconds", "outputs_match_twin", "max_relative_error", "security_bits",
    "parameters", "seed", "deterministic", "limbs_sha256",
}  # fmt: skip
MACHINE_FIELDS = {
    "limbs_identical_to_cpu", "cycles", "milliseconds", "traffic_bytes", "lower_bound_cycles",
    "schedule_over_bound", "instructions",
}  # fmt: skip


def report(cyclotron: Command, *words: str | Path, code: int = 0) -> dict[str, Any]:
    done = cyclotron(*words, "--json")
    assert done.code == code, done.err
    parsed: dict[str, Any] = json.loads(done.out)
    return parsed


def test_run_on_the_cpu(cyclotron: Command) -> None:
    found = report(cyclotron, "run", ROOT / "examples" / "distance.py:distances", "--seed", "5")
    assert set(found) >= RUN_FIELDS
    assert not set(found) & MACHINE_FIELDS
    assert found["outputs_match_twin"] is True
    assert found["deterministic"] is True
    assert found["security_bits"] >= 128
    assert set(found["seconds"]) >= {"setup", "compile", "encrypt", "evaluate", "decrypt"}
    assert len(found["outputs"][0]["squared_distance"]) == 64


def test_run_on_a_machine(cyclotron: Command) -> None:
    found = report(cyclotron, "run", "matvec", "--param", "n=4096", "--on", "f1")
    assert set(found) >= RUN_FIELDS | MACHINE_FIELDS
    assert found["outputs_match_twin"] is True
    assert found["max_relative_error"] == 0
    assert found["limbs_identical_to_cpu"] is True
    assert found["seed"] is None
    assert found["deterministic"] is False
    assert found["schedule_over_bound"] >= 1
    assert sum(found["traffic_bytes"].values()) > 0


@pytest.mark.parametrize("variant", ["listing1", "hybrid"])
def test_key_switch_variant_can_be_fixed(cyclotron: Command, variant: str) -> None:
    found = report(cyclotron, "explain", "matvec", "--on", "f1", "--keyswitch", variant)
    assert {v for line in found["lines"] for v in line["variants"]} == {variant}


def test_register_pressure_gives_the_same_limbs(cyclotron: Command) -> None:
    words = ("run", "matvec", "--param", "n=4096", "--on", "f1", "--seed", "3")
    greedy, csr = (report(cyclotron, *words, "--phase2", how) for how in ("greedy", "csr"))
    assert csr["limbs_identical_to_cpu"] is True
    assert csr["limbs_sha256"] == greedy["limbs_sha256"]
    assert csr["schedule_over_bound"] >= 1


@pytest.mark.parametrize("on", ["cpu", "f1"])
def test_faithful_key_switching_decrypts(cyclotron: Command, on: str) -> None:
    for words in (("matvec", "--param", "n=4096"), ("lola-mnist-packed",)):
        found = report(cyclotron, "run", *words, "--on", on, "--faithful")
        assert found["outputs_match_twin"] is True
        assert found.get("limbs_identical_to_cpu", True) is True
        assert found["parameters"]["special_moduli"] == []
        needed, free = found["faithful"]["with"], found["faithful"]["without"]
        assert needed["levels"] == needed["limbs"] == len(found["parameters"]["moduli"])
        assert free["levels"] < free["limbs"]
        # A word of 64 bits leaves room for the noise of F1's digits; one of 32 does not.
        assert free["levels"] < needed["levels"] or on == "cpu"


def test_faithful_key_switching_is_refused_where_it_cannot_decrypt(
    cyclotron: Command, tmp_path: Path
) -> None:
    program = tmp_path / "turned.py"
    program.write_text(
        "import cyclotron\n"
        "from cyclotron import Encrypted\n\n"
        "@cyclotron.program(scheme='ckks', n=4096)\n"
        "def turned(x: Encrypted):\n"
        "    return x * x.rotate(1)\n"
    )
    asked = ("explain", f"{program}:turned", "--on", "f1")
    assert cyclotron(*asked).code == 0
    refused = cyclotron(*asked, "--faithful")
    assert refused.code == 2
    assert "turned would not decrypt with Listing-1 key switching alone" in refused.err
    assert "hybrid" in refused.err
    contrary = cyclotron("explain", "matvec", "--faithful", "--keyswitch", "hybrid")
    assert contrary.code == 2
    assert "faithful" in contrary.err


def test_lola_mnist_reports_classes(cyclotron: Command) -> None:
    found = report(cyclotron, "run", "lola-mnist", "--images", "2")
    assert found["predictions"] == found["twin_predictions"] == found["labels"]
    assert found["max_relative_error"] < 0.01
    assert len(found["outputs"][0]["scores"]) == 10


def test_given_inputs_are_used(cyclotron: Command, tmp_path: Path) -> None:
    program = tmp_path / "double.py"
    program.write_text(
        "import cyclotron\n"
        "@cyclotron.program(n=4096, inputs={'x': cyclotron.shape(3)})\n"
        "def double(x: cyclotron.Encrypted):\n"
        "    return cyclotron.take(x + x, range(3))\n"
    )
    np.save(tmp_path / "x.npy", np.array([1, 2, 3]))
    found = report(cyclotron, "run", "double.py:double", "--input", "x=x.npy")
    assert found["outputs"][0]["output"] == [2, 4, 6]


def test_same_seed_same_limbs(cyclotron: Command, tmp_path: Path) -> None:
    words = ("run", "matvec", "--param", "n=4096", "--param", "rows=1")
    one = report(cyclotron, *words, "--seed", "1", "--threads", "1", "--dump-limbs", "one.npz")
    two = report(cyclotron, *words, "--seed", "1", "--threads", "2", "--dump-limbs", "two.npz")
    assert one["limbs_sha256"] == two["limbs_sha256"]
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    with np.load(tmp_path / "one.npz") as limbs:
        assert all(key.startswith("0/product_0/c") for key in limbs)
        assert all(limbs[key].dtype == np.uint64 for key in limbs)


def test_compile_check_simulate(cyclotron: Command, tmp_path: Path) -> None:
    words = ("compile", "matvec", "--param", "n=4096", "--param", "rows=1", "--on", "f1")
    made = report(cyclotron, *words, "-o", "matvec.schedule")
    assert (tmp_path / "matvec.schedule").stat().st_size > 0
    assert report(cyclotron, "check", "matvec.schedule")["legal"] is True
    found = report(cyclotron, "simulate", "matvec.schedule", "--seed", "3")
    assert found["limbs_identical_to_cpu"] is True
    assert found["outputs_match_twin"] is True
    assert found["cycles"] == made["cycles"]


def test_a_schedule_brings_its_machine_but_not_its_source(
    cyclotron: Command, tmp_path: Path
) -> None:
    (tmp_path / "double.py").write_text(
        "import cyclotron\n"
        '@cyclotron.program(scheme="bgv", n=1024, t=65537, allow_insecure="a test")\n'
        "def double(x: cyclotron.Encrypted):\n"
        "    return x + x\n"
    )
    shutil.copy(ROOT / "machines" / "f1.toml", tmp_path / "chip.toml")
    report(cyclotron, "compile", "double.py:double", "--on", "chip.toml", "-o", "double.schedule")
    (tmp_path / "chip.toml").unlink()
    found = report(cyclotron, "simulate", "double.schedule")
    assert found["limbs_identical_to_cpu"] is True
    (tmp_path / "double.py").unlink()
    done = cyclotron("simulate", "double.schedule")
    assert done.code == 2
    assert "was compiled from double.py:double, and there is no file double.py" in done.err
    assert report(cyclotron, "check", "double.schedule")["legal"] is True


@pytest.mark.parametrize("edit", ["cycle", "address", "dropped load", "moduli"])
def test_an_edited_schedule_is_caught(cyclotron: Command, tmp_path: Path, edit: str) -> None:
    words = ("compile", "matvec", "--param", "n=4096", "--param", "rows=1", "--on", "f1")
    cyclotron(*words, "-o", "good.schedule")
    lines = (tmp_path / "good.schedule").read_text().splitlines()
    load = next(i for i, line in enumerate(lines) if re.match(r"@\d+ load ", line))
    if edit == "cycle":
        cycle = int(re.findall(r"@(\d+)", lines[load + 1])[0])
        lines[load + 1] = lines[load + 1].replace(f"@{cycle}", f"@{cycle - 1}")
    elif edit == "address":
        lines[load] = re.sub(r"bank(\d+)$", lambda m: f"bank{int(m[1]) ^ 1}", lines[load])
    elif edit == "dropped load":
        del lines[load]
    else:
        del lines[next(i for i, line in enumerate(lines) if line.startswith("modul"))]
    (tmp_path / "edited.schedule").write_text("\n".join(lines) + "\n")
    for command in ("check", "simulate"):
        done = cyclotron(command, "edited.schedule")
        assert done.code in ((2,) if edit == "moduli" else (1,)), done.out + done.err
        assert "Traceback" not in done.err


def test_explain_covers_every_node(cyclotron: Command) -> None:
    found = report(cyclotron, "explain", "lola-mnist")
    assert sum(sum(line["operations"].values()) for line in found["lines"]) == len(found["nodes"])
    sources = [line["source"] for line in found["lines"]]
    assert "features = features * features" in sources
    text = cyclotron("explain", "lola-mnist").out
    assert "key switch" in text
    assert "130 mul_plain" in text


def test_machine_commands(cyclotron: Command) -> None:
    assert "f1" in report(cyclotron, "machine", "list")["machines"]
    assert report(cyclotron, "machine", "check", "f1")["valid"] is True
    assert report(cyclotron, "machine", "show", "f1")["name"].lower() == "f1"


def test_doctor_tests_itself(cyclotron: Command) -> None:
    found = report(cyclotron, "doctor")
    assert found["self_test"] == "passed"


def test_progress_goes_to_standard_error_only(cyclotron: Command) -> None:
    done = cyclotron("run", "matvec", "--param", "n=4096", "--json")
    json.loads(done.out)


BAD_PROGRAM = """\
import cyclotron
from cyclotron import Encrypted

@cyclotron.program(scheme="ckks", n=4096)
def too_many(x: Encrypted):
    y = x + 1.0
    return y * ([0.5] * 4000)

@cyclotron.program(scheme="ckks", n=4096)
def no_output(x: Encrypted):
    x + x

def not_a_program():
    return 3
"""


@pytest.mark.parametrize(
    ("words", "code", "pattern"),
    [
        ("", 2, "COMMAND"),
        ("rnu matvec", 2, "did you mean 'run'"),
        ("run", 2, "PROGRAM"),
        ("run lola-mist", 2, "did you mean 'lola-mnist'"),
        ("run absent.py:f", 2, "no file absent.py"),
        ("run bad.py:absent", 2, "bad.py has no 'absent'"),
        ("run bad.py:too_manny", 2, "did you mean 'too_many'"),
        ("run bad.py:too_many", 2, "bad.py:7: a plaintext vector has 4000 values.*2048 slots"),
        ("run bad.py:no_output", 2, "returns nothing"),
        ("run bad.py:not_a_program", 2, "not a Program"),
        ("run broken.py:f", 2, "broken.py:2: syntax error"),
        ("run failing.py:f", 2, "failing.py:1: ZeroDivisionError"),
        ("run matvec --on f7", 2, "f7"),
        ("run matvec --on absent.toml", 2, "absent.toml"),
        ("run matvec --param n=1000", 2, "power of two"),
        ("run matvec --param m=1", 2, "m"),
        ("run matvec --images 2", 2, "takes no images"),
        ("run matvec --data .", 2, "no data set"),
        ("run matvec --seed x", 2, "--seed"),
        ("run matvec --precision nan", 2, "number of bits"),
        ("run matvec --threads 0", 2, "--threads"),
        ("run matvec --input vector", 2, "NAME=VALUE"),
        ("run matvec --input vector=absent.npy", 2, "no file absent.npy"),
        ("run matvec --input vector=words.npy", 2, "not a npy file"),
        ("run matvec --input vector=nan.npy", 2, "NaN"),
        ("run matvec --input vektor=ones.npy", 2, "did you mean 'vector'"),
        ("run matvec --param n=4096 --input vector=long.npy", 2, "5000 values.*4096 slots"),
        ("run lola-mnist --data absent", 2, "no folder absent"),
        ("run lola-mnist --data .", 2, "t10k-images"),
        ("run lola-mnist --images 101", 2, "100 images, not 101"),
        ("run lola-mnist --input image=ones.npy", 2, "28x28"),
        ("run examples/matvec.py", 2, "FILE.py:NAME"),
        ("compile matvec --on cpu -o s", 2, "machine"),
        ("compile matvec --param n=4096 --on f1 -o absent/s", 2, "cannot be written: .*no folder"),
        ("check absent.schedule", 2, "no schedule"),
        ("check words.npy", 2, "."),
        ("simulate words.npy", 2, "."),
        ("machine check absent.toml", 2, "absent.toml"),
        ("machine show absent", 2, "absent"),
    ],
)
def test_wrong_use_is_one_clear_error(
    cyclotron: Command, tmp_path: Path, words: str, code: int, pattern: str
) -> None:
    (tmp_path / "bad.py").write_text(BAD_PROGRAM)
    (tmp_path / "broken.py").write_text("x = 1\ndef f(:\n")
    (tmp_path / "failing.py").write_text("1 / 0\n")
    (tmp_path / "words.npy").write_text("these are words")
    np.save(tmp_path / "nan.npy", np.array([np.nan]))
    np.save(tmp_path / "ones.npy", np.ones(3))
    np.save(tmp_path / "long.npy", np.ones(5000))
    done = cyclotron(*words.split())
    assert done.code == code, done.err + done.out
    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert re.search(pattern, done.err)
    assert "Traceback" not in done.err
    assert done.out == ""


def test_errors_are_json_too(cyclotron: Command) -> None:
    done = cyclotron("run", "absent.py:f", "--json")
    error = json.loads(done.out)["error"]
    assert error["exit_code"] == done.code == 2
    assert error["kind"] == "UsageError"


def test_debug_shows_the_traceback(cyclotron: Command) -> None:
    assert "Traceback" in cyclotron("run", "absent.py:f", "--debug").err


def test_help_and_version(cyclotron: Command) -> None:
    assert cyclotron("--version").out.startswith("cyclotron ")
    for words in (["--help"], ["run", "--help"], ["machine", "--help"]):
        done = cyclotron(*words)
        assert done.code == 0
        assert "usage:" in done.out


def test_demo(cyclotron: Command) -> None:
    done = cyclotron("demo", "--seed", "1", timeout=300)
    assert done.code == 0, done.err
    assert "digit from the CPU" in done.out
    assert "identical, limb for limb" in done.out
    assert "All agree." in done.out
