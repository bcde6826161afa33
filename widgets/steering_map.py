"""Flows as threads from the wire through receive queues to CPUs and readers: what RSS, RPS and RFS move."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any, Final

import traitlets as t

from sim import tally
from sim.knob import Knob
from widgets import sidecar, still
from widgets.base import PathWidget

MAX_FLOWS: Final = 32
#: The lab's knobs that the map offers, with what it changes of them.
_OFFERED: Final[dict[str, dict[str, Any]]] = {
    "socket": {"choices": ("tcp_bulk", "tcp_rr", "udp", "udp_connected"), "doc": "What the packets are for."},
    "flows": {"high": MAX_FLOWS},
    "rx_queues": {"high": tally.CPUS},
    "rx_cpus": {},
    "rss": {},
    "rps_cpus": {"high": tally.CPUS},
    "rps_place": {"doc": "Which CPUs those are, if there are any: the last, the first, or those of the other socket."},
    "rfs": {},
    "readers": {
        "high": tally.CPUS,
        "doc": "CPUs on which programs read; flows take them in turn. One UDP socket is read on one CPU all the same.",
    },
    "reader_cpus": {},
}
#: Which rate is written first, by kind of socket.
_HEADLINE: Final = {
    "tcp_bulk": "gbps", "tcp_rr": "transactions_per_s", "udp": "read_mpps", "udp_connected": "read_mpps",
}


@functools.cache
def _lab() -> tally.TalliedLab:
    return tally.TalliedLab()


def _knobs() -> dict[str, Knob]:
    return {name: replace(_lab().knob(name), **changes) for name, changes in _OFFERED.items()}


def _trait(knob: Knob) -> t.TraitType[Any, Any]:
    if knob.kind == "choice":
        return t.Enum(knob.choices, default_value=knob.default, help=knob.doc).tag(sync=True)
    return t.Int(int(knob.default), min=knob.low, max=knob.high, help=knob.doc).tag(sync=True)


class SteeringMap(PathWidget):
    """Which CPU polls, carries up and reads each flow's packets, and how busy that keeps the CPUs.

    A run of the scenario ``lab`` on eight CPUs, with a tally of packets (see `sim.tally`). Each of the lab's knobs that
    the map offers is a synced trait.

    Parameters
    ----------
    seed, replications
        The map is the run of the first seed; the rate is over so many seeds from it.
    follow
        The flow to follow, from 1; 0 follows none.
    **knobs
        ``socket``, ``flows``, ``rx_queues``, ``rx_cpus``, ``rss``, ``rps_cpus``, ``rps_place``, ``rfs``, ``readers``,
        ``reader_cpus``, as in ``lab``, with at most 32 flows and eight CPUs.

    Raises
    ------
    KnobError, traitlets.TraitError
        For an unknown knob and values out of range.

    Examples
    --------
    >>> SteeringMap(rfs=1).result.ways[0].carried      # doctest: +SKIP
    2
    """

    sidecar = t.Dict().tag(sync=True)
    seed = t.Int(1, min=1, max=1000).tag(sync=True)
    follow = t.Int(0, min=0, max=MAX_FLOWS).tag(sync=True)
    replications = t.Int(3, min=2, max=30).tag(sync=True)

    def __init__(self, *, seed: int = 1, replications: int = 3, follow: int = 0, **knobs: Any) -> None:
        offered = _knobs()
        _lab().settings(**{name: value for name, value in knobs.items() if name not in offered})
        others = sorted(set(knobs) - set(offered))
        if others:
            raise ValueError(f"the map has no {', '.join(others)}; it has {', '.join(offered)}")
        self.add_traits(**{name: _trait(knob) for name, knob in offered.items()})
        super().__init__(sidecar=page_data(), seed=seed, replications=replications, follow=follow, **knobs)

    @property
    def knobs(self) -> dict[str, Any]:
        """The lab's knobs as the controls say."""
        return {name: getattr(self, name) for name in _OFFERED}

    @property
    def selection(self) -> int | None:
        """The flow that is followed, from 0 as in `result`; None if none is."""
        return self.follow - 1 if 0 < self.follow <= self.knobs["flows"] else None

    @property
    def result(self) -> tally.Map:
        """Ways, work and rates for the controls as they are."""
        return tally.run(_lab(), self.seed, self.replications, **self.knobs)

    def page_traits(self) -> tuple[str, ...]:
        """All of its state."""
        return ("sidecar", "seed", "follow", "replications", *self.knobs)

    def still(self) -> still.Still:
        """Each CPU's packets polled and carried, and how busy it is."""
        from matplotlib.figure import Figure

        found = self.result
        figure = Figure(figsize=(7.2, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        rows = range(tally.CPUS)
        left.barh([r - 0.2 for r in rows], [w.polled_mpps for w in found.work], 0.38, color=still.COLOURS[0],
                  label="polled from the NIC")
        left.barh([r + 0.2 for r in rows], [w.carried_mpps for w in found.work], 0.38, color=still.COLOURS[1],
                  hatch="///", label="carried to the socket")
        right.barh(list(rows), [w.busy_pct for w in found.work], 0.7, color=still.COLOURS[2])
        left.set_yticks(list(rows), [f"CPU {r}" for r in rows], fontsize=8)
        left.invert_yaxis()
        left.set_xlabel("million packets a second", fontsize=8)
        right.set_xlabel("% of its time busy", fontsize=8)
        right.set_xlim(0, 100)
        left.legend(fontsize=8, frameon=False)
        return still.render(figure, self._finding(found))

    def _finding(self, found: tally.Map) -> str:
        rate = found.result.metrics[_HEADLINE[self.knobs["socket"]]]
        listed = "; ".join(
            f"CPU {i} polls {w.polled_mpps:.2f}, carries up {w.carried_mpps:.2f} million packets a second, busy "
            f"{w.busy_pct:.0f} %" for i, w in enumerate(found.work) if w.busy_pct >= 0.5
        )
        per_s = f"{rate.mean / 1e6:.2f} M/s" if rate.unit == "1/s" else f"{rate.mean:,.1f} {rate.unit}"
        return f"{self.knobs['flows']} flows, {per_s}: {listed}."


def page_data() -> dict[str, Any]:
    """What a page needs to run the tallied lab: knobs with their words, the cells to read, places of everything."""
    lab = _lab()
    spec = lab.spec
    cells = {}
    for name, (where, column, counts) in tally.CELLS.items():
        one = tally.table(spec, where)
        cells[name] = {
            "table": one.number, "column": one.column(column), "columns": len(one.columns),
            "count": one.domain.count.row, "counts": counts,
        }
    quick_warm_ps = lab.warm_ps // 5
    named = set(_HEADLINE.values()) | {"mpps"}
    return {
        "scenario": lab.name,
        "controls": [knob.to_dict() for knob in _knobs().values()],
        "knobs": [{**k.to_dict(), "word": spec.knob_word(k.name)} for k in lab.knobs],
        "masks": {
            place: [tally.rps_mask(n, place) for n in range(tally.CPUS + 1)] for place in lab.knob("rps_place").choices
        },
        "headline": _HEADLINE,
        "cpus": tally.CPUS,
        "max_flows": MAX_FLOWS,
        "warm_ps": lab.warm_ps,
        "until_ps": lab.until_ps,
        "quick_warm_ps": quick_warm_ps,
        "quick_until_ps": quick_warm_ps + (lab.quick_ps - lab.warm_ps) // 2,
        "cells": cells,
        **sidecar.reduction(spec, [m for m in lab.metrics if m.name in named], lab.roles),
    }
