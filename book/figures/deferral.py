"""Tables and pictures of the chapter on deferring the free (patch 17 of the 5.17 series)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from book.figures.svg import Picture
from book.figures.table import Cell, Table

#: Before and after the patch, by the payload of a packet.
Runs = Mapping[str, tuple[Any, Any]]

#: The layers of the reader's profile in the order in which they are drawn, with their colour classes.
LAYERS: Final = (("copy", "c0"), ("free", "c1"), ("socket", "c2"), ("tcp", "c3"))


def span(metric: Any, digits: int = 1) -> str:
    """A mean with its 95 % interval, as a reader writes it."""
    return f"{metric.mean:.{digits}f} ({metric.low:.{digits}f} to {metric.high:.{digits}f})"


def layer_shares(run: Any, role: str, layers: Mapping[str, str]) -> dict[str, float]:
    """A CPU's profile summed by layer, in percent of its time."""
    shares: dict[str, float] = {}
    for symbol, share in run.profile(role).items():
        layer = layers.get(symbol, "other")
        shares[layer] = shares.get(layer, 0.0) + share
    return shares


def rates(runs: Runs) -> Table:
    """Throughput and busy CPUs of both arms."""
    rows: list[list[Cell]] = []
    for payload, (before, after) in runs.items():
        for arm, run in (("before", before), ("after", after)):
            busy = run.cpu["softirq"], run.cpu["reader"]
            rows.append([f"{payload}, {arm}", span(run.gbps), span(run.mpps, 2), *busy])
        rows.append([f"{payload}, gain", f"{after.gbps.mean - before.gbps.mean:+.1f}", None, None, None])
    columns = ["payload", "Gbit/s (95 % interval)", "M packets/s", "softirq CPU, %", "reader CPU, %"]
    return Table("The patch switched off and on, simulated", columns, rows)


def sweep(knob: str, values: Sequence[int], run: Callable[..., Any], **knobs: Any) -> Table:
    """Both arms over the values of one knob."""
    rows: list[list[Cell]] = []
    for value in values:
        before, after = (run(**{knob: value, "defer_free": key}, **knobs) for key in (0, 1))
        rows.append([value, span(before.gbps), span(after.gbps), after.gbps.mean - before.gbps.mean])
    return Table(f"Gbit/s over {knob}", [knob, "before", "after", "gain"], rows)


def compare(settings: Mapping[str, Mapping[str, Any]], run: Callable[..., Any]) -> Table:
    """Both arms at several named settings."""
    rows: list[list[Cell]] = []
    for name, knobs in settings.items():
        before, after = (run(**{**knobs, "defer_free": key}) for key in (0, 1))
        rows.append([name, span(before.gbps), span(after.gbps), after.gbps.mean - before.gbps.mean])
    return Table("Gbit/s with the patch off and on, one circumstance changed at a time",
                 ["setting", "before", "after", "gain"], rows)


def words(runs: Runs, layers: Mapping[str, str]) -> dict[str, str]:
    """What the chapter's sentences quote, by name: rates in Gbit/s, shares in percent of a CPU's time."""
    quoted = {}
    for payload, (before, after) in runs.items():
        name = payload.split()[0].replace(",", "")
        for arm, run in (("before", before), ("after", after)):
            shares = layer_shares(run, "reader", layers)
            quoted[f"{arm}-{name}"] = f"{run.gbps.mean:.1f}"
            quoted[f"copy-{arm}-{name}"] = f"{shares.get('copy', 0):.1f} %"
            quoted[f"free-{arm}-{name}"] = f"{shares.get('free', 0):.1f} %"
            quoted[f"softirq-{arm}-{name}"] = f"{run.cpu['softirq']:.0f} %"
        quoted[f"deferred-{name}"] = f"{after.metrics['deferred_share'].mean:.0f} %"
    return quoted


def reader_time(runs: Runs, layers: Mapping[str, str]) -> Picture:
    """The reader's time for one GRO packet: stacked bars in microseconds."""
    bars = []
    for payload, arms in runs.items():
        for arm, run in zip(("before", "after"), arms, strict=True):
            us = run.metrics["gro_bytes"].mean * 8 / run.gbps.mean / 1000
            bars.append((payload, arm, us, layer_shares(run, "reader", layers)))
    longest = max(us for _, _, us, _ in bars)
    said = "; ".join(
        f"{payload} {arm}: {us:.1f} µs, of which copy {us * shares.get('copy', 0) / 100:.1f} "
        f"and free {us * shares.get('free', 0) / 100:.1f}"
        for payload, arm, us, shares in bars
    )
    picture = Picture(
        62 + 44 * len(bars),
        f"The patch leaves the reader's copy as long as it was and shortens its freeing ({said}).",
    )
    y = 6.0
    for payload, arm, us, shares in bars:
        y += 14
        picture.text(4, y, f"{payload}, {arm}", "strong small")
        picture.text(356, y, f"{us:.1f} µs", "end small")
        x = 4.0
        for layer, colour in LAYERS:
            width = 352 * us / longest * shares.get(layer, 0.0) / 100
            picture.box(x, y + 6, width, 16, colour, 0)
            x += width
        picture.box(4, y + 6, 352 * us / longest, 16, "box", 0)
        y += 30
    for place, (layer, colour) in enumerate(LAYERS):
        picture.box(4 + 72 * place, y + 12, 12, 12, colour, 0)
        picture.text(20 + 72 * place, y + 22, layer, "small")
    picture.text(356, y + 22, "blank: other", "end small quiet")
    return picture
