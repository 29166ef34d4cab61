"""Tables of results: for a terminal, and for the documentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: Marks of the generated part of a page.
BEGIN = "<!-- begin: cyclotron bench --render -->"
END = "<!-- end: cyclotron bench --render -->"


def time_text(seconds: float) -> str:
    """Return a time with three digits and a unit.

    Examples
    --------
    >>> time_text(0.0001234), time_text(1.5)
    ('123 us', '1.50 s')
    """
    units = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))
    unit, size = next(((u, s) for u, s in units if seconds >= s), units[-1])
    value = seconds / size
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f} {unit}"


def header(results: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the columns: a time and a ratio for each peer that was measured."""
    columns = ["case", "Cyclotron", "spread", "bound", "over"]
    for name in peer_names(results):
        columns += [name, "ratio"]
    return tuple(columns)


def peer_names(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the peers in any of the results, in order of appearance."""
    return list(dict.fromkeys(name for r in results for name in r["peers"]))


def rows(results: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Return a row of texts for each result; ``~`` marks ratios at other parameters."""
    names = peer_names(results)
    return [_row(result, names) for result in results]


def _row(result: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...]:
    bound = result.get("bound_seconds")
    cells = [
        result["name"] if result["correct"] else f"{result['name']} WRONG",
        time_text(result["ours_seconds"]),
        f"{100 * result['ours_spread']:.0f} %",
        "" if bound is None else time_text(bound),
        "" if bound is None else f"{result['ours_seconds'] / bound:.1f}",
    ]
    for name in names:
        if name not in result["peers"]:
            cells += ["", ""]
            continue
        mark = "" if result["same_parameters"][name] else "~"
        ratio = f"{mark}{result['speedup'][name]:.2f}x"
        cells += [time_text(result["peers"][name]), ratio]
    return tuple(cells)


def parameter_lines(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say the parameters of all sides for each parameter set, and where they differ."""
    lines: dict[str, None] = {}
    for result in results:
        if "limbs" not in result["parameters"]:
            continue
        place = _place(result["name"])
        sides = {"Cyclotron": result["parameters"], **result["peers_parameters"]}
        for side, parameters in sides.items():
            lines[f"{place}: {side}: {parameters_text(parameters)}"] = None
        for side, found in result["differences"].items():
            lines[f"{place}: ~ {side} differs: {', '.join(found)}"] = None
    return sorted(lines, key=lambda line: line.partition(":")[0])


def _place(case: str) -> str:
    words = case.split("/")
    return case if words[0] == "program" else f"{words[0]}/{words[-1]}"


def parameters_text(parameters: Mapping[str, Any]) -> str:
    """Return N, limbs, digits and sizes on one line."""
    text = f"N = 2^{parameters.get('log_n')}, {parameters.get('limbs')} limbs"
    if "special" in parameters:
        text += f" + {parameters['special']} special"
    if "digits" in parameters:
        text += f", {parameters['digits']} digits"
    if "log_qp" in parameters:
        text += f", log QP {parameters['log_qp']:.1f}"
    if "plaintext_modulus" in parameters:
        text += f", t = {parameters['plaintext_modulus']}"
    return text


def failure_lines(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say what could not be compared, and why."""
    lines = [f"{r['name']}: ours is wrong: {r['failure']}" for r in results if "failure" in r]
    return lines + [f"{r['name']}: {why}" for r in results for why in r["failures"].values()]


def page(records: Sequence[Mapping[str, Any]]) -> str:
    """Return the results of records as Markdown."""
    return "\n\n".join(_section(record) for record in records)


def _section(record: Mapping[str, Any]) -> str:
    results, machine = record["results"], record["machine"]
    threads = "1 thread" if record["threads"] == 1 else f"{record['threads']} threads"
    versions = ", ".join(f"{name} {text}" for name, text in sorted(record["versions"].items()))
    limits = machine["limits"]
    rates = ", ".join(
        f"{level['read'] / 1e9:.0f} / {level['copy'] / 1e9:.0f} at {level['bytes'] >> 10} KiB"
        for level in limits["bandwidth"]
    )
    columns = header(results)
    lines = [
        f"### {record['suite'].capitalize()}, {threads}",
        "",
        f"{record['date'][:10]}, commit {record['commit'][:10]}"
        f"{' with changes' if 'changes' in record['commit'] else ''}; {machine['cpu']}, "
        f"{machine['simd']}; {versions}.",
        f"Limits: read / copy in GB/s {rates}; multiplications a second: "
        f"{limits['ifma'] / 1e9:.2f} G vectors of 52 bits, {limits['vector32'] / 1e9:.2f} G of "
        "32 bits.",
        "",
        "| " + " | ".join(columns) + " |",
        "| --- " + "| ---: " * (len(columns) - 1) + "|",
        *["| " + " | ".join(row) + " |" for row in rows(results)],
    ]
    for notes in (parameter_lines(results), failure_lines(results)):
        if notes:
            lines += ["", *[f"- {note}" for note in notes]]
    return "\n".join(lines)


def replace_between(text: str, new: str) -> str:
    """Put new text between the marks of a page.

    Raises
    ------
    ValueError
        If the marks are not there.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page lacks {BEGIN} or {END}")
    return f"{before}{BEGIN}\n\n{new}\n\n{END}{after}"
