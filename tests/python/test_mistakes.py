"""Mistakes that users make: each gets an error that says where and what to change."""

from __future__ import annotations

import json
import resource
import signal
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Command

import cyclotron
from cyclotron import Encrypted, Options, Plain, shape, take


@cyclotron.program(scheme="ckks", n=8192)
def square(x: Encrypted) -> Any:
    return x * x


@cyclotron.program(scheme="bgv", n=4096)
def double(x: Encrypted) -> Any:
    return x + x


def traced(body: Callable[[Encrypted], Any], **settings: Any) -> cyclotron.Program:
    @cyclotron.program(**{"scheme": "ckks", "n": 8192, **settings})
    def program(x: Encrypted) -> Any:
        return body(x)

    return program.build()


@pytest.mark.parametrize("value", [1e155, 1e300, 1e308])
@pytest.mark.filterwarnings("error")
def test_huge_values_are_refused_at_their_line(value: float) -> None:
    with pytest.raises(cyclotron.CyclotronError, match=r"test_mistakes\.py:\d+: ") as caught:
        cyclotron.run(square, {"x": [value]})
    assert "inf" not in str(caught.value)


@pytest.mark.filterwarnings("error")
def test_numbers_of_any_type_are_read_or_refused() -> None:
    for kind in (np.float16, np.float32, np.longdouble, np.int8, np.uint64, bool):
        assert cyclotron.run(double, {"x": np.array([1], kind)}).outputs["output"][0] == 2
    wrong: list[tuple[Any, str]] = [
        (2**64 - 1, "outside of -32768 .. 65536"),
        (10**400, "an integer of 1329 bits"),
        (np.longdouble("1e4000"), "beyond those of float64"),
        ("a", "'a'"),
        (None, "None"),
        (0.5, "round it"),
        (Fraction(10**400), "beyond those of float64"),
    ]
    for value, message in wrong:
        with pytest.raises(cyclotron.UsageError, match=message):
            double.twin({"x": [value]})


#: Not what the types say, on purpose.
WRONG: Any = (cyclotron.plain, take, np.sum, "a")
wrong_plain, wrong_take, wrong_sum, wrong_value = WRONG
WRONG_BODIES: list[tuple[Callable[[Encrypted], Any], str]] = [
    (lambda x: x / x, "divided by known numbers"),
    (lambda x: 1 / x, "approximate 1/x"),
    (lambda x: x / 0, "NaN or infinity"),
    (lambda x: x < 1, "cannot be compared"),
    (lambda x: x == 1, "cannot be compared"),
    (wrong_sum, "ufunc"),
    (lambda x: wrong_take(x, [1.5]), "slot 1.5 must be a whole number"),
    (lambda x: wrong_take(x, 3), "give a list"),
    (lambda _: wrong_take(3, [1]), "not int"),
    (lambda x: x * wrong_plain([1.5], scale_bits="a"), "scale_bits is 'a'"),
    (lambda x: x * cyclotron.plain([1.5], scale_bits=float("nan")), "scale_bits is nan"),
    (lambda x: x * cyclotron.plain([1.5], scale_bits=1000), "from 0 to 120"),
    (lambda x: x * 10**400, "1329 bits"),
    (lambda x: x * wrong_plain(Fraction(10**400)), "beyond those of float64"),
    (lambda x: x * wrong_plain([Fraction(10**400), 1]), "beyond those of float64"),
    (lambda x: x / [2.0, 4.0], "only 2 values"),
    (lambda x: x / np.ones(4095), "only 4095 values"),
    (lambda x: x / 10**400, "numbers of float64"),
    (lambda x: x / wrong_value, "numbers of float64"),
    (lambda _: [], "no output"),
]


@pytest.mark.parametrize(("body", "message"), WRONG_BODIES)
def test_wrong_operations_name_the_users_line(
    body: Callable[[Encrypted], Any], message: str
) -> None:
    with pytest.raises(cyclotron.ProgramError, match=rf"^[^:]*test_mistakes\.py:\d+: .*{message}"):
        traced(body).native()


def test_division_by_numbers_is_multiplication() -> None:
    program = traced(lambda x: x / 4 + x / np.full(4096, 2.0))
    assert program.twin({"x": [1.0]})["output"][0] == 0.75


@pytest.mark.parametrize(
    "settings",
    [
        {"precision_bits": -5},
        {"precision_bits": float("nan")},
        {"precision_bits": "a"},
        {"tolerance": "a"},
        {"tolerance": -1},
        {"tolerance": 10**400},
        {"allow_insecure": 3},
        {"allow_insecure": " "},
        {"name": 3},
        {"inputs": 3},
        {"inputs": {"x": 3}},
        {"inputs": {"x": shape("a")}},  # type: ignore[arg-type]
        {"inputs": {"x": shape(1.5)}},  # type: ignore[arg-type]
        {"inputs": {"x": shape(scale_bits="a")}},  # type: ignore[arg-type]
    ],
    ids=str,
)
def test_wrong_settings_of_a_program_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(cyclotron.ProgramError, match=r"test_mistakes\.py:\d+: "):
        traced(lambda x: x, **settings)


@pytest.mark.parametrize(
    "options",
    [
        {"on": 3}, {"seed": "a"}, {"seed": -1}, {"threads": -1}, {"threads": 1.5},
        {"threads": 10**6}, {"security": 100}, {"levels": 0}, {"levels": 500}, {"effort": 5},
        {"precision_bits": 0}, {"overlays": "a"}, {"allow_insecure": ""},
        {"overlays": None}, {"overlays": 3}, {"overlays": ("a", 1)}, {"security": 128.0},
        {"security": "128"}, {"security": None}, {"keyswitch": "auto"}, {"keyswitch": ["hybrid"]},
        {"phase2": "best"}, {"phase2": None}, {"faithful": 1}, {"faithful": "no"},
        {"precision_bits": 10**400}, {"threads": 10**4000}, {"seed": 10**400},
    ],
    ids=str,
)  # fmt: skip
def test_wrong_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(cyclotron.UsageError, match=next(iter(options))):
        Options(**options)


def test_what_is_no_program_no_samples_and_no_inputs_is_refused() -> None:
    wrong: list[tuple[Callable[[], object], str]] = [
        (
            lambda: weighted.twin({"x": [1], "w": [Fraction(10**400)]}),
            "input 'w' holds a value beyond",
        ),
        (lambda: cyclotron.simulate(square, {"x": [1]}), "not a compiled program"),  # type: ignore[arg-type]
        (lambda: cyclotron.compile(square, samples={"x": [1]}), "list of inputs"),  # type: ignore[dict-item]
        (lambda: square.twin(3), "mapping"),  # type: ignore[arg-type]
        (lambda: square([1, 2]), "homomorphic program"),
    ]
    for call, message in wrong:
        with pytest.raises(cyclotron.CyclotronError, match=message):
            call()


def test_a_decorator_that_is_used_wrongly_says_how() -> None:
    wrong: list[tuple[Any, str]] = [
        (lambda: cyclotron.program(lambda x: x), "with parentheses"),
        (lambda: cyclotron.program(scheme="bgv")(wrong_plain(3)), "made of a function"),
        (lambda: cyclotron.rescale(wrong_plain(3)), "rescale takes an encrypted value"),
        (lambda: square.build(depth=3), "no parameter 'depth'; it has n, t, levels"),
    ]
    for call, message in wrong:
        with pytest.raises(cyclotron.CyclotronError, match=message):
            call()


def test_parameters_that_do_not_exist_name_the_program() -> None:
    with pytest.raises(cyclotron.ParameterError, match=r"^[^:]*test_mistakes\.py:\d+: no param"):
        cyclotron.compile(traced(lambda x: x**256))


def test_files_that_the_system_refuses_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there/x"):
        cyclotron.Schedule.load(str(tmp_path / "there" / "x"))
    compiled = cyclotron.compile(double, on="f1")
    assert compiled.schedule is not None
    for write in (compiled.schedule.write_trace, lambda p: compiled.schedule.save(p, {})):
        with pytest.raises(FileNotFoundError, match="there/x"):
            write(str(tmp_path / "there" / "x"))
    (tmp_path / "cut").write_text("cyclotron_bundle 1\n== mach")
    with pytest.raises(cyclotron.FormatError, match="cut: line 2"):
        cyclotron.Schedule.load(str(tmp_path / "cut"))


def test_inputs_beyond_the_samples_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    compiled = cyclotron.compile(square)
    client = cyclotron.Client.generate(compiled.parameters, None)
    for value, message in ((1e300, "`x`: slot 0 is 1e300;"), (np.nan, "`x`: .*NaN in slot 0")):
        with pytest.raises(cyclotron.CyclotronError, match=message):
            client.encrypt(compiled.plan, {"x": np.array([value])})
    assert capsys.readouterr().err == ""


PROGRAM = """
import cyclotron
from cyclotron import Encrypted

@cyclotron.program(scheme="bgv", n=8192)
def double(x: Encrypted):
    return x + x
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    (tmp_path / "double.py").write_text(PROGRAM)
    return "double.py:double"


def test_files_that_cannot_be_written_are_refused_first(
    cyclotron: Command, program: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("kept")
    run = ("run", program, "--on", "f1")
    for words in (
        (*run, "--dump-limbs", "missing/x.npz"),
        (*run, "--dump-limbs", "."),
        (*run, "--trace", "missing/x"),
        (*run, "--report", "file"),
        (*run, "--report", "file/below"),
        ("compile", program, "--on", "f1", "-o", "missing/x"),
        ("compile", program, "--on", "f1", "-o", "s", "--trace", "file/x"),
        ("reproduce", "f1", "--out", "file"),
    ):
        done = cyclotron(*words)
        assert done.code == 2, words
        assert "cannot be written" in done.err
        assert "folder" in done.err
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == ["double.py", "file"]
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize(
    "change",
    [
        ("n_min = 1024", "n_min = 16384"),
        ("kib = 512", "kib = 16"),
        ("kib_per_bank = 4096", "kib_per_bank = 16"),
    ],
)
def test_a_program_that_does_not_fit_exits_with_3(
    cyclotron: Command, program: str, tmp_path: Path, change: tuple[str, str]
) -> None:
    text = (ROOT / "machines" / "f1.toml").read_text()
    assert change[0] in text
    (tmp_path / "small.toml").write_text(text.replace(*change))
    done = cyclotron("run", program, "--on", "small.toml", "--json")
    assert done.code == 3, done.err
    assert json.loads(done.out)["error"]["kind"] == "DoesNotFitError"
    swept = cyclotron("explore", "small.toml", "--vary", "clusters=1,2", "--program", program)
    assert swept.code == 3, swept.err
    assert "small" in swept.out


def test_wrong_words_of_the_command_line_say_where(
    cyclotron: Command, program: str, tmp_path: Path
) -> None:
    (tmp_path / "text.npy").write_text("hello")
    for words, message in (
        (("run", program, "--param", "n=1000"), "double.py:5: N = 1000"),
        (("run", program, "--input", "x=text.npy"), "no array at all"),
        (("run", program, "--on", "double.py"), "NAME.toml"),
        (("run", program, "--levels", "500"), "levels is 500"),
        (("machine", "check", "missing.toml"), "missing.toml"),
        (("machine", "check", "missing"), "no machine `missing`"),
    ):
        done = cyclotron(*words)
        assert (done.code, message in done.err) == (2, True), (words, done.err)


def test_a_schedule_of_another_program_is_refused(
    cyclotron: Command, program: str, tmp_path: Path
) -> None:
    assert cyclotron("compile", program, "--on", "f1", "-o", "s").code == 0
    (tmp_path / "double.py").write_text(PROGRAM.replace("x + x", "x * x").replace("8192", "4096"))
    done = cyclotron("simulate", "s")
    assert done.code == 2
    assert "double.py:double is not what s was compiled from" in done.err


@cyclotron.program(scheme="ckks", n=8192)
def weighted(x: Encrypted, w: Plain) -> Any:
    return x * w


def test_plaintext_inputs_beyond_the_samples_are_refused() -> None:
    compiled = cyclotron.compile(weighted, on="f1", samples=[{"x": [1], "w": [4, 50]}])
    right = cyclotron.simulate(compiled, {"x": [1], "w": [70]})
    assert right.report["outputs_match_twin"] is True
    with pytest.raises(
        cyclotron.CyclotronError, match=r"`w`: slot 1 is 1000000\.0; .* at most 70\.7"
    ):
        cyclotron.simulate(compiled, {"x": [1], "w": [1, 1e6]})
    loaded = cyclotron.Graph.from_bytes(compiled.graph.to_bytes())
    assert loaded.to_bytes() == compiled.graph.to_bytes()


def test_group_of_inputs_without_count_is_refused() -> None:
    def summed(xs: list[Encrypted]) -> Any:
        return xs[0]

    for form in ({}, {"xs": shape(count="a")}, {"xs": shape(count=0)}):  # type: ignore[arg-type]
        with pytest.raises(cyclotron.ProgramError, match="how many values 'xs' holds"):
            cyclotron.program(inputs=form)(summed).build()


def test_a_machine_with_wider_words_than_ours_runs(
    cyclotron: Command, program: str, tmp_path: Path
) -> None:
    text = (ROOT / "machines" / "f1.toml").read_text()
    for old, new in (("word_bits = 32", "word_bits = 64"), ("bits_max = 32", "bits_max = 64"),
                     ("store_bytes = 4", "store_bytes = 8")):  # fmt: skip
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "wide.toml").write_text(text)
    done = cyclotron("run", program, "--on", "wide.toml", "--json")
    assert done.code == 0, done.err


def test_a_schedule_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    compiled = cyclotron.compile(double, on="f1")
    assert compiled.schedule is not None
    path = tmp_path / "s"
    path.write_text("old")
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    kept = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, unlimited[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            compiled.schedule.save(str(path), {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
        signal.signal(signal.SIGXFSZ, kept)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("s", "old")]
    compiled.schedule.save(str(path), {})
    cyclotron.Schedule.load(str(path)).check()


def test_a_schedule_replaces_a_file_as_far_as_the_folder_allows(tmp_path: Path) -> None:
    compiled = cyclotron.compile(double, on="f1")
    assert compiled.schedule is not None
    # Nothing beside this has room for a longer name.
    for name in ("s", "s" * 255):
        path = tmp_path / name
        path.write_text("old")
        path.chmod(0o640)
        compiled.schedule.save(str(path), {})
        cyclotron.Schedule.load(str(path)).check()
        assert path.stat().st_mode & 0o777 == 0o640
    tmp_path.chmod(0o500)
    try:
        compiled.schedule.save(str(tmp_path / "s"), {"again": "yes"})
    finally:
        tmp_path.chmod(0o700)
    assert len(list(tmp_path.iterdir())) == 2
