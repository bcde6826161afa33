"""Still pictures: what print, EPUB and a page without scripts show in a widget's place."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Mid tones that can be read on a white and on a dark page.
COLOURS = ("#4a8fd4", "#d98a2b", "#4aa86a", "#c9628c", "#8f78d6", "#a89a2a", "#35a3a5", "#9c8672")
HATCHES = ("", "///", "---", "\\\\\\", "|||", "xxx", "...", "+++")


@dataclass(frozen=True)
class Still:
    """A picture in two forms and the finding that it shows, in words."""

    finding: str
    svg: str
    png: bytes


def render(figure: Figure, finding: str) -> Still:
    """Turn a matplotlib figure into a `Still`: inline SVG in the page's own ink, and a PNG on white."""
    from matplotlib import rc_context

    out, raster = io.StringIO(), io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": finding}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    figure.savefig(raster, format="png", dpi=120, facecolor="white")
    svg = out.getvalue()[out.getvalue().index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    # clip paths and markers keep their names, which are hashed; others would repeat on a page
    wanted = set(re.findall(r'#([\w.-]+)[")]', svg))
    svg = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in wanted else "", svg)
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.S)  # its selector is *, and would style the whole page
    svg = svg.replace("#000000", "currentColor")
    label = html.escape(finding, quote=True)
    look = "max-width:100%;height:auto;stroke-linejoin:round;stroke-linecap:butt"
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{label}" style="{look}" ', 1)
    return Still(finding, svg, raster.getvalue())


def arms(
    results: Sequence[Mapping[str, Any]],
    headline: str,
    layers: Mapping[str, str],
    order: Sequence[str],
    reported: Sequence[Sequence[Mapping[str, Any]]],
    names: tuple[str, str] = ("Before the patch", "after the patch"),
) -> Still:
    """Before and after side by side: the rate with its interval, and each CPU's time by layer.

    Parameters
    ----------
    results
        Two results in the JSON form of ``python -m sim run --json``.
    headline
        Name of the metric that is drawn as the rate.
    layers
        Layer of each symbol; a still picture has no room for symbols.
    order
        The layers, in the order in which they are drawn.
    reported
        For each result the reported rows that belong beside its rate.
    names
        What the two sides are called in the text.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    rows = figure.subplots(2, 2, sharex="row", height_ratios=(1, 2))
    for side, (name, result) in enumerate(zip(("Before", "After"), results, strict=True)):
        _rate(rows[0][side], name, result["metrics"][headline], reported[side])
        _stacks(rows[1][side], result, layers, order)
    handles, labels = rows[1][0].get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    figure.legend(unique.values(), unique.keys(), loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    return render(figure, finding(results, headline, names))


def finding(results: Sequence[Mapping[str, Any]], headline: str, names: tuple[str, str]) -> str:
    """The text alternative: both rates with intervals, the change, and how busy each CPU is."""
    before, after = (r["metrics"][headline] for r in results)
    change = 100 * (after["mean"] - before["mean"]) / before["mean"] if before["mean"] else 0.0
    busy = "; ".join(
        f"{role} busy {results[0]['cpu'][role]:.0f} % before and {results[1]['cpu'][role]:.0f} % after"
        for role in results[0]["cpu"]
    )
    rates = (
        f"{name} {_number(m['mean'])} {m['unit']} ({_number(max(0.0, m['low']))} to {_number(m['high'])})"
        for name, m in zip(names, (before, after), strict=True)
    )
    return f"{', '.join(rates)}: {change:+.1f} %. {busy}."


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.1f}"


def _rate(axes: Axes, name: str, metric: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
    half = [[metric["mean"] - metric["low"]], [metric["high"] - metric["mean"]]]
    axes.barh([0], [metric["mean"]], xerr=half, color=COLOURS[0], ecolor="#808080", height=0.6)
    for row in rows:
        axes.axvline(row["reported"], color="#c2185b", linestyle="--")
    if rows:
        stated = "; ".join(f"{row['reported']:g}, {row['role']}" for row in rows)
        axes.set_xlabel(f"dashed: reported {stated}", fontsize=8)
    axes.set_title(f"{name}: {_number(metric['mean'])} {metric['unit']}", fontsize=10)
    axes.set_yticks([])
    axes.tick_params(labelsize=8)


def _stacks(axes: Axes, result: Mapping[str, Any], layers: Mapping[str, str], order: Sequence[str]) -> None:
    for at, (role, profile) in enumerate(result["profile"].items()):
        left = 0.0
        for number, layer in enumerate(order):
            share = sum(v for symbol, v in profile.items() if layers.get(symbol) == layer)
            share *= result["cpu"][role] / 100  # a profile is of busy time
            look = number % len(COLOURS)
            axes.barh([at], [share], left=left, color=COLOURS[look], hatch=HATCHES[look], label=layer, height=0.6)
            left += share
    names = list(result["profile"])
    step = 1 + len(names) // 16  # names of many CPUs would lie on each other
    axes.set_yticks(range(0, len(names), step), names[::step], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the CPU's time", fontsize=8)
    axes.tick_params(labelsize=8)
