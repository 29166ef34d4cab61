"""Plots as SVG: traffic, power, use over time, and a Pareto front.

matplotlib is an optional dependency, so it is imported when a plot is drawn.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cyclotron.errors import UsageError
from cyclotron.profile.measure import GROUPS, Profile
from cyclotron.profile.tables import EXTRA

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "TRAFFIC_COLOURS", "compare", "heatmap", "pareto", "power", "traffic", "use"]

INK, FAINT, GRID = "#1f2933", "#66727f", "#dfe4ea"
#: Told apart by people who do not see all colours, and in print.
COLOURS = ("#2f5d9b", "#e08b3e", "#4f9d8b", "#a8517e", "#8d8b4a", "#6b6f9c")
#: Shades of the classes of traffic: what has to be moved is dark, what need not is light.
TRAFFIC_COLOURS = (
    "#2f5d9b", "#9db8dc",
    "#c96f1e", "#f0bd8c", "#8a4a12",
    "#4f9d8b", "#a9d3c8",
)  # fmt: skip
WIDTH = 9.2
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "cyclotron",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "axes.grid": False,
}
#: Shares from which a label fits into a bar.
ROOM = 0.07


@contextmanager
def _figure(height: float, rows: Sequence[float] = (1,)) -> Iterator[tuple[Figure, list[Axes]]]:
    """Open a figure with axes above each other that share the time."""
    try:
        import matplotlib  # noqa: PLC0415 - an optional dependency
        from matplotlib.figure import Figure as Drawing  # noqa: PLC0415
    except ImportError:
        raise UsageError(f"plots need matplotlib; {EXTRA}") from None
    with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Drawing(figsize=(WIDTH, height), layout="constrained")
        axes = figure.subplots(len(rows), 1, sharex=True, height_ratios=rows, squeeze=False)
        yield figure, list(axes[:, 0])


def _svg(figure: Figure) -> str:
    """Return the drawing as an SVG element, without what only files need."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def traffic(profile: Profile) -> str:
    """Draw off-chip bytes by class as one stacked bar (F1's Figure 9a)."""
    total = sum(row["bytes"] for row in profile.traffic)
    with _figure(1.75) as (figure, (axes,)):
        start = 0.0
        for row, colour in zip(profile.traffic, TRAFFIC_COLOURS, strict=True):
            share = row["bytes"] / max(total, 1)
            if share == 0:
                continue
            axes.barh(0, share, left=start, color=colour, height=0.6, label=_traffic_label(row))
            if share > ROOM:
                axes.text(
                    start + share / 2, 0, f"{100 * share:.0f} %",
                    ha="center", va="center", color="white", fontweight="bold",
                )  # fmt: skip
            start += share
        axes.set(xlim=(0, 1), ylim=(-0.4, 0.4), yticks=[], xlabel="share of off-chip traffic")
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_formatter(lambda x, _: f"{100 * x:.0f} %")
        figure.legend(loc="outside upper left", ncols=3, frameon=False, borderaxespad=0.2)
        return _svg(figure)


def _traffic_label(row: dict[str, Any]) -> str:
    return f"{row['kind']} ({row['bytes'] / 1e6:.3g} MB)"


def power(profile: Profile) -> str:
    """Draw mean watts by component, grouped (F1's Figure 9b)."""
    watts: dict[tuple[str, str], float] = {}
    for row in profile.power:
        key = (row["group"], row["component"])
        watts[key] = watts.get(key, 0.0) + row["watts"]
    keys = sorted(watts, key=lambda key: GROUPS.index(key[0]))
    with _figure(0.9 + 0.27 * len(keys)) as (figure, (axes,)):
        most = max([*watts.values(), 1e-12])
        for y, key in enumerate(keys):
            colour = COLOURS[GROUPS.index(key[0])]
            axes.barh(y, watts[key], color=colour, height=0.72)
            axes.text(watts[key] + most * 0.012, y, f"{watts[key]:.2f} W", va="center", color=INK)
        axes.set(
            yticks=range(len(keys)), yticklabels=[component_name(key) for key in keys],
            ylim=(len(keys) - 0.4, -0.6), xlim=(0, most * 1.14), xlabel="mean power in watts",
        )  # fmt: skip
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.xaxis.grid(True, color=GRID)
        axes.set_axisbelow(True)
        return _svg(figure)


def compare(
    bars: Mapping[str, Mapping[str, float]],
    colours: Sequence[str],
    label: str,
    total: Callable[[float], str],
    *,
    shares: bool = False,
) -> str:
    """Draw a stacked bar for each of several programs.

    Parameters
    ----------
    bars
        The parts of each program's bar by name; all bars have the same parts.
    colours
        Of the parts.
    label
        Of the axis.
    total
        Writes the sum of a bar, which stands at its end.
    shares
        Whether all bars are as long, and the axis is in percent.
    """
    parts = list(next(iter(bars.values())))
    sums = {name: sum(bar.values()) or 1.0 for name, bar in bars.items()}
    most = 1.0 if shares else max(sums.values())
    with _figure(1.25 + 0.36 * len(bars)) as (figure, (axes,)):
        starts = dict.fromkeys(bars, 0.0)
        for part, colour in zip(parts, colours, strict=True):
            if not any(bar[part] for bar in bars.values()):
                continue
            lengths = [bars[n][part] / (sums[n] if shares else 1.0) for n in bars]
            axes.barh(
                range(len(bars)), lengths, left=list(starts.values()),
                color=colour, height=0.66, label=part,
            )  # fmt: skip
            for name, length in zip(bars, lengths, strict=True):
                starts[name] += length
        for y, name in enumerate(bars):
            axes.text(starts[name] + 0.01 * most, y, total(sums[name]), va="center", color=INK)
        axes.set(
            yticks=range(len(bars)), yticklabels=list(bars), ylim=(len(bars) - 0.5, -0.5),
            xlim=(0, most * 1.12), xlabel=label,
        )  # fmt: skip
        if shares:
            axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        figure.legend(loc="outside upper left", ncols=4, frameon=False, borderaxespad=0.2)
        return _svg(figure)


def component_name(key: tuple[str, str]) -> str:
    """Return how plots call a component of a group.

    Examples
    --------
    >>> component_name(("functional units", "cluster.cc.fu.ntt"))
    'unit ntt'
    """
    group, path = key
    last = path.removesuffix(".memory").rpartition(".")[2]
    names = {
        "functional units": f"unit {last}",
        "register files": "register files",
        "scratchpad": f"scratchpad {last}",
        "network": f"crossbar {last}",
        "off-chip interface": f"{last} interface",
        "off-chip memory": f"{last} memory",
    }
    return names[group]


def use(profile: Profile) -> str:
    """Draw busy units and off-chip use over time (F1's Figure 10)."""
    times = _times(profile)
    clock = _cycles_per_microsecond(profile)
    with _figure(4.2, (3, 1)) as (figure, (units, memory)):
        stack = [_series(profile, kind, "busy") for kind in profile.units]
        units.stackplot(
            times, stack, labels=profile.units, colors=COLOURS[: len(stack)],
            step="post", linewidth=0,
        )  # fmt: skip
        count = sum(
            {r["kind"]: r["instances"] for r in profile.use if r["kind"] in profile.units}.values()
        )
        units.set(ylabel=f"busy units, of {count}", ylim=(0, None))
        units.yaxis.grid(True, color=GRID)
        units.set_axisbelow(True)
        figure.legend(loc="outside upper left", ncols=len(stack), frameon=False, borderaxespad=0.2)
        share = 100 * _series(profile, "channel", "share")
        memory.fill_between(times, share, step="post", color=INK, linewidth=0)
        memory.set(
            ylabel="off-chip, %", ylim=(0, 100), yticks=(0, 50, 100),
            xlabel=f"time in {clock[1]}", xlim=(0, times[-1]),
        )  # fmt: skip
        return _svg(figure)


def heatmap(profile: Profile) -> str:
    """Draw the busy share of every kind of component over time."""
    kinds = profile.kinds
    table = np.stack([100 * _series(profile, kind, "share")[:-1] for kind in kinds])
    times = _times(profile)
    with _figure(0.9 + 0.28 * len(kinds)) as (figure, (axes,)):
        edges = np.arange(len(kinds) + 1) - 0.5
        image = axes.pcolormesh(
            times, edges, table, cmap="Blues", vmin=0, vmax=100, rasterized=True
        )
        axes.set(
            yticks=range(len(kinds)), yticklabels=kinds, ylim=(len(kinds) - 0.5, -0.5),
            xlabel=f"time in {_cycles_per_microsecond(profile)[1]}", xlim=(0, times[-1]),
        )  # fmt: skip
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        figure.colorbar(image, ax=axes, label="busy, %", pad=0.01, aspect=12)
        return _svg(figure)


def _cycles_per_microsecond(profile: Profile) -> tuple[float, str]:
    """Return cycles of a microsecond, and the unit of the time axis."""
    facts = profile.facts
    return facts["cycles"] / (facts["milliseconds"] * 1e3), "microseconds"


def _times(profile: Profile) -> NDArray[np.float64]:
    """Return where the buckets start, and where the last one ends."""
    first = profile.kinds[0]
    rows = [row for row in profile.use if row["kind"] == first]
    edges = [row["cycle"] for row in rows] + [rows[-1]["cycle"] + rows[-1]["cycles"]]
    return np.array(edges) / _cycles_per_microsecond(profile)[0]


def _series(profile: Profile, kind: str, key: str) -> NDArray[np.float64]:
    """Return a kind's values over time; the last one twice, for steps that end."""
    values = [row[key] for row in profile.use if row["kind"] == kind]
    return np.array([*values, values[-1]])


def pareto(points: Sequence[tuple[float, float, bool]], labels: tuple[str, str]) -> str:
    """Draw performance against area, and the front (F1's Figure 11).

    Parameters
    ----------
    points
        Area, performance, and whether it is on the front, which is numbered by area.
    labels
        Of the two axes.
    """
    with _figure(4.4) as (figure, (axes,)):
        front = sorted(p for p in points if p[2])
        others = [p for p in points if not p[2]]
        axes.plot(
            [p[0] for p in front], [p[1] for p in front],
            color=COLOURS[0], marker="o", markersize=5, label="Pareto front",
        )  # fmt: skip
        if others:
            axes.scatter(
                [p[0] for p in others], [p[1] for p in others],
                s=16, color="#b5bdc7", label="other configurations",
            )  # fmt: skip
        for number, (area, speed, _) in enumerate(front, 1):
            axes.annotate(
                str(number), (area, speed), xytext=(-4, 5), textcoords="offset points",
                fontsize=8.5, fontweight="bold", color=COLOURS[0], ha="right", va="bottom",
            )  # fmt: skip
        axes.set(xlabel=labels[0], ylabel=labels[1])
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.margins(x=0.12, y=0.12)
        axes.grid(True, color=GRID)
        axes.set_axisbelow(True)
        figure.legend(loc="outside upper left", ncols=2, frameon=False, borderaxespad=0.2)
        return _svg(figure)
