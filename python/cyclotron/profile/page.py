"""An HTML report of one file: no scripts, no network, nothing to install to read it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from cyclotron import _native
from cyclotron.errors import UsageError
from cyclotron.profile import plots
from cyclotron.profile.measure import Profile
from cyclotron.profile.tables import write_table

__all__ = ["document", "section", "table", "write_report"]

STYLE = """
:root { color-scheme: light; }
body { margin: 0; background: #f4f6f8; color: #1f2933;
  font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 960px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 24px; margin: 0 0 2px; }
h2 { font-size: 17px; margin: 0 0 2px; }
p { margin: 0 0 10px; color: #52606d; }
section { background: #fff; border: 1px solid #dfe4ea; border-radius: 8px;
  padding: 16px 20px; margin-top: 18px; }
svg { width: 100%; height: auto; display: block; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: 12px;
  margin: 18px 0 0; }
dl div { background: #fff; border: 1px solid #dfe4ea; border-radius: 8px; padding: 10px 14px; }
dt { color: #66727f; font-size: 13px; }
dd { margin: 0; font-size: 20px; font-variant-numeric: tabular-nums; }
dd small { font-size: 13px; color: #66727f; }
details { margin-top: 10px; }
summary { cursor: pointer; color: #2f5d9b; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin-top: 8px; font-size: 13.5px; min-width: 60%;
  font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 3px 14px 3px 0; border-bottom: 1px solid #eef1f4;
  vertical-align: top; }
th { color: #66727f; font-weight: 600; }
td.number, th.number { text-align: right; white-space: nowrap; }
footer { margin-top: 22px; color: #66727f; font-size: 13px; }
"""


def write_report(profile: Profile, folder: Path) -> Path:
    """Write ``index.html``, and each table as CSV and Parquet; return the page's path.

    Raises
    ------
    UsageError
        If the folder cannot be written, or matplotlib or pyarrow is not installed.
    """
    text = _page(profile)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("traffic", "power", "use"):
            write_table(folder, name, getattr(profile, name))
        page = folder / "index.html"
        page.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror or error}") from None
    return page


def _page(profile: Profile) -> str:
    traffic = [(r["kind"], _mega(r["bytes"]), _percent(r["share"])) for r in profile.traffic]
    power = [
        (r["component"], r["event"], f"{r['count']:,}", _picojoules(r["picojoules_each"]),
         f"{1e6 * r['joules']:,.2f}", f"{r['watts']:.3f}")
        for r in profile.power
    ]  # fmt: skip
    body = [
        _tiles(profile),
        section(
            "Use over time",
            "Busy functional units, stacked by kind, and the busy share of the off-chip channels.",
            plots.use(profile),
        ),
        section(
            "Every component over time",
            "Busy share of each kind of component; of memories, of their ports.",
            plots.heatmap(profile),
            table(("kind", "mean use"), _means(profile), "r"),
        ),
        section(
            "Off-chip traffic",
            "Compulsory is the first load of a hint or input, and the store of an output.",
            plots.traffic(profile),
            table(("class", "megabytes", "share"), traffic, "rr"),
        ),
        section(
            "Power",
            "Energy of the executed events over the time of the schedule. Power that flows "
            "when nothing happens is not known, and not counted.",
            plots.power(profile),
            table(
                ("component", "event", "count", "picojoules each", "microjoules", "watts"),
                power,
                "rrrr",
            ),
        ),
        section("Bounds", "What no schedule of this limb program can beat, by resource.",
                table(("resource", "cycles", "share of the schedule"), _bounds(profile), "rr",
                      folded=False)),
    ]  # fmt: skip
    return document(profile.title, _subtitle(profile.facts), body)


def document(title: str, subtitle: str, body: Iterable[str]) -> str:
    """Return a page with a title, a line below it, and sections."""
    content = "\n".join(body)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escape(title)}</h1>\n<p>{escape(subtitle)}</p>\n{content}\n"
        f"<footer>Made by Cyclotron {escape(_native.__version__)}. The tables are beside this "
        "page, as CSV and Parquet.</footer>\n</main>\n</body>\n</html>\n"
    )


def section(title: str, text: str, *content: str) -> str:
    """Return a section with a heading, a sentence, and plots or tables."""
    inner = "\n".join(content)
    return f"<section>\n<h2>{escape(title)}</h2>\n<p>{escape(text)}</p>\n{inner}\n</section>"


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], right: str = "", *, folded: bool = True
) -> str:
    """Return a table, folded away unless asked for.

    Parameters
    ----------
    header, rows
        The cells.
    right
        As long as there are columns of numbers; these are the last ones.
    folded
        Whether it opens with a click.
    """
    first = len(header) - len(right)

    def line(tag: str, cells: Sequence[str]) -> str:
        number = [' class="number"' if i >= first else "" for i in range(len(cells))]
        shown = (f"<{tag}{n}>{escape(c)}</{tag}>" for c, n in zip(cells, number, strict=True))
        return f"<tr>{''.join(shown)}</tr>"

    lines = "\n".join([line("th", header), *(line("td", row) for row in rows)])
    made = f'<div class="wide"><table>\n{lines}\n</table></div>'
    return f"<details><summary>as a table</summary>{made}</details>" if folded else made


def _tiles(profile: Profile) -> str:
    facts = profile.facts
    units = [row for row in profile.use if row["kind"] in profile.units]
    busy = sum(row["busy"] * row["cycles"] for row in units)
    whole = sum(row["instances"] * row["cycles"] for row in units)
    watts = sum(row["watts"] for row in profile.power)
    microjoules = 1e6 * sum(row["joules"] for row in profile.power)
    tiles = [
        ("time", f"{1e3 * facts['milliseconds']:,.1f} <small>µs</small>"),
        ("cycles", f"{facts['cycles']:,}"),
        ("over the lower bound", f"{facts['schedule_over_bound']:.2f} <small>times</small>"),
        ("functional units busy", f"{100 * busy / max(whole, 1):.1f} <small>%</small>"),
        ("off-chip traffic", f"{_mega(facts['traffic_bytes']['total'])} <small>MB</small>"),
        ("energy", f"{microjoules:,.0f} <small>µJ</small>"),
        ("mean power", f"{watts:.1f} <small>W</small>"),
        ("limb instructions", f"{facts['instructions']:,}"),
    ]
    inner = "\n".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in tiles)
    return f"<dl>\n{inner}\n</dl>"


def _subtitle(facts: dict[str, Any]) -> str:
    return (
        f"{facts['cycles']:,} cycles; the lower bound is {facts['lower_bound_cycles']:,} "
        f"({facts['bound_resource']})"
    )


def _means(profile: Profile) -> list[tuple[str, str]]:
    means = []
    for kind in profile.kinds:
        rows = [row for row in profile.use if row["kind"] == kind]
        busy = sum(row["busy"] * row["cycles"] for row in rows)
        whole = sum(row["instances"] * row["cycles"] for row in rows)
        means.append((kind, _percent(busy / max(whole, 1))))
    return means


def _bounds(profile: Profile) -> list[tuple[str, str, str]]:
    cycles = profile.facts["cycles"]
    bounds = profile.facts["bound_by_resource"]
    return [
        (name, f"{bound:,}", _percent(bound / max(cycles, 1)))
        for name, bound in sorted(bounds.items(), key=lambda item: -item[1])
    ]


def _mega(count: float) -> str:
    return f"{count / 1e6:,.3g}" if count < 1e9 else f"{count / 1e6:,.0f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _picojoules(each: float | None) -> str:
    return "not known" if each is None else f"{each:,.0f}"
