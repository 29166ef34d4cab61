"""The installed package: doctests, types, assets, and what importing it costs."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import subprocess
import sys
from importlib import metadata, resources

import numpy as np
import pytest

import cyclotron

MODULES = ["cyclotron"] + [
    module.name
    for module in pkgutil.walk_packages(cyclotron.__path__, "cyclotron.")
    if not module.name.endswith(("_native", "__main__"))
]


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_public_name_exists_and_is_documented() -> None:
    for name in cyclotron.__all__:
        assert hasattr(cyclotron, name)
        if name != "__version__":
            assert getattr(cyclotron, name).__doc__, name


def test_stub_names_everything_of_the_compiled_module() -> None:
    stub = ast.parse((resources.files("cyclotron") / "_native.pyi").read_text())
    declared = {n.name for n in stub.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
    native = importlib.import_module("cyclotron._native")
    for name in declared:
        assert hasattr(native, name), name
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            methods = {m.name for m in node.body if isinstance(m, ast.FunctionDef)}
            missing = {m for m in methods if not hasattr(getattr(native, node.name), m)}
            assert not missing, (node.name, missing)


def test_ships_types_and_assets() -> None:
    files = resources.files("cyclotron")
    for name in ("py.typed", "_native.pyi", "assets/README.md", "assets/digits-weights.npz"):
        assert (files / name).is_file()


def test_distribution_has_the_command() -> None:
    found = metadata.entry_points(group="console_scripts", name="cyclotron")
    assert [entry.value for entry in found] == ["cyclotron.cli:main"]


def test_import_prints_nothing_and_needs_only_numpy() -> None:
    code = (
        "import sys, cyclotron;"
        "print(sorted({m.split('.')[0] for m in sys.modules} & "
        "{'scipy', 'pandas', 'rich', 'sklearn', 'pytest'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert done.stderr == ""


def test_compile_once_and_simulate_twice() -> None:
    @cyclotron.program(scheme="bgv", n=4096, t=65537)
    def dot(x: cyclotron.Encrypted, y: cyclotron.Encrypted) -> cyclotron.Encrypted:
        return (x * y).inner_sum()

    compiled = cyclotron.compile(dot, on="f1")
    for scale in (1, 2):
        inputs = {"x": [scale, 2, 3], "y": [4, 5, 6]}
        result = cyclotron.simulate(compiled, inputs)
        assert result.outputs["output"][0] == 4 * scale + 28
        assert result.report["limbs_identical_to_cpu"]
    with pytest.raises(cyclotron.UsageError, match="CPU"):
        cyclotron.simulate(cyclotron.compile(dot), {"x": [1], "y": [1]})
    with pytest.raises(cyclotron.UsageError, match="not a program"):
        cyclotron.run("dot", {})  # type: ignore[arg-type]
    with pytest.raises(cyclotron.UsageError, match="mapping"):
        cyclotron.run(dot, [1, 2])  # type: ignore[arg-type]


def test_inputs_beyond_the_calibration_are_refused() -> None:
    @cyclotron.program(scheme="ckks", n=8192)
    def square(x: cyclotron.Encrypted) -> cyclotron.Encrypted:
        return x * x

    compiled = cyclotron.compile(square, on="f1", samples=[{"x": [1.0, -2.0]}])
    result = cyclotron.simulate(compiled, {"x": [2.8]})
    assert abs(result.outputs["output"][0] - 7.84) < 0.1
    # 2 sqrt 2: the square may be twice as large as the samples'.
    for value in (3.0, 128.0):
        with pytest.raises(cyclotron.CyclotronError, match=r"inputs of at most 2\.8284"):
            cyclotron.simulate(compiled, {"x": [value]})
    client = cyclotron.Client.generate(compiled.parameters, None)
    with pytest.raises(cyclotron.CyclotronError, match=r"slot 0 is 3\.0; "):
        client.encrypt(compiled.plan, {"x": np.array([3])})
