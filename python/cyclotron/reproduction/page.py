"""Published figures beside ours, as one page: tables, and Figures 9 to 11 drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from cyclotron.errors import UsageError
from cyclotron.exploration.page import draw, header, lines
from cyclotron.profile import plots, write_report
from cyclotron.profile.page import document, section, table
from cyclotron.profile.tables import write_table
from cyclotron.reproduction import pictures
from cyclotron.reproduction.result import Result
from cyclotron.reproduction.workbench import Workbench

__all__ = ["number", "write_reproduction"]

HEADER = ("figure", "reading", "unit", "published", "ours", "ratio")


def write_reproduction(bench: Workbench, results: Sequence[Result], folder: Path) -> Path:
    """Write ``index.html`` and the results as CSV and Parquet; return the page's path.

    Figures that are among the results are drawn; each program of Figure 9 gets a
    report of its own in a folder of its name.

    Raises
    ------
    UsageError
        If matplotlib or pyarrow is not installed, or the folder cannot be written.
    """
    places = {result.where for result in results}
    body = [*_drawn(bench, places)]
    body += [
        section(place, "", table(HEADER, map(_row, rows), "rrr", folded=False))
        for place, rows in groupby(results, key=_place)
        if not place.startswith("Figure")
    ]
    page = folder / "index.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_table(folder, "results", [result.to_dict() for result in results])
        title = f"{bench.name}: published figures and ours"
        page.write_text(document(title, _subtitle(results), body), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror or error}") from None
    if places & {"Figure 9a", "Figure 9b"}:
        for name, made in pictures.profiles(bench):
            write_report(made, folder / name)
    return page


def _drawn(bench: Workbench, places: set[str]) -> Iterator[str]:
    """Yield the sections of the figures."""
    if "Figure 9a" in places:
        bars = {
            name: {row["kind"]: row["bytes"] for row in made.traffic}
            for name, made in pictures.profiles(bench)
        }
        drawn = plots.compare(
            bars, plots.TRAFFIC_COLOURS, "share of off-chip traffic",
            lambda total: f"{total / 1e6:.3g} MB", shares=True,
        )  # fmt: skip
        yield section("Figure 9a", "Off-chip traffic by class.", drawn)
    if "Figure 9b" in places:
        watts = {name: pictures.watts_by_group(made) for name, made in pictures.profiles(bench)}
        drawn = plots.compare(
            watts, plots.COLOURS, "mean power in watts", lambda total: f"{total:.1f} W"
        )
        yield section("Figure 9b", "Mean power by group of components.", drawn)
    if "Figure 10" in places:
        made = dict(pictures.profiles(bench))[pictures.OVER_TIME]
        text = f"Busy units and off-chip memory over time, {pictures.OVER_TIME}."
        yield section("Figure 10", text, plots.use(made))
    if "Figure 11" in places:
        study, found = pictures.study(bench), pictures.explored(bench)
        rows = table(header(study), lines(found), "r" * (3 + len(study.programs)), folded=False)
        text = f"Performance against area, {pictures.OVER_TIME}; the front is numbered."
        yield section("Figure 11", text, draw(study, found), rows)


def _place(result: Result) -> str:
    return "The text" if result.where.startswith("Section") else result.where


def _subtitle(results: Sequence[Result]) -> str:
    ids = {result.id for result in results}
    return f"{len(ids)} figures; a figure that can be read in several ways has a row for each"


def _row(result: Result) -> tuple[str, ...]:
    where = f" ({result.where})" if result.where.startswith("Section") else ""
    return (
        f"{result.what}{where}",
        "; ".join(text for text in (result.reading, result.note) if text),
        result.unit,
        number(result.published),
        number(result.ours),
        "" if result.ratio is None else f"{result.ratio:.3f}",
    )


def number(value: float | None) -> str:
    """Return a value with four digits, or more before the point; nothing for None.

    Examples
    --------
    >>> number(0.27892), number(20399.1), number(None)
    ('0.2789', '20,399', '')
    """
    if value is None:
        return ""
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
