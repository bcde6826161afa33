"""The path program before and after a key, instruction by instruction, with the time of each in both runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import traitlets as t

from sim import scenarios
from sim.comparison import Row, compare
from sim.engine import tables
from sim.knob import numbers
from sim.result import Metric
from sim.schema import nearest
from sim.timing import PACKETS, RING_ROWS, Timing, timing
from widgets import still
from widgets.pair import PairWidget
from widgets.sidecar import of_scenario

#: Instructions of one kind that a still picture shows; a page shows all.
STILL_ROWS = 24


class ProgramDiff(PairWidget):
    """Two specialised listings side by side: what a key adds, takes away and moves, and what each instruction costs.

    Parameters
    ----------
    scenario
        Name of a scenario (see ``python -m sim list``).
    key
        A switch of the scenario; its own patch if not given.
    seed, replications
        First seed, and how many seeds from it. Instructions are timed with the first.
    **knobs
        Values of other knobs that differ from the scenario's defaults.

    Raises
    ------
    ValueError
        For an unknown scenario, key or knob, and for a value out of its range, with what is allowed.

    Examples
    --------
    >>> w = ProgramDiff("tcp-5.17", "defer_free", mtu=1500)             # doctest: +SKIP
    >>> [row for row in w.rows if row.kind != "same"]                   # doctest: +SKIP
    >>> before, after = w.times                                         # doctest: +SKIP
    """

    key = t.Unicode().tag(sync=True)
    selection = t.Int(-1).tag(sync=True)

    def __init__(
        self, scenario: str = "tcp-5.17", key: str | None = None, *, seed: int = 1, replications: int = 5, **knobs: Any
    ) -> None:
        self._scenario = scenarios.load(scenario)
        self._switches = [k.name for k in self._scenario.knobs if k.kind == "switch" and k.effect != "refused"]
        key = key or self._scenario.patches[0]
        self._check(key)
        if key in knobs:
            raise ValueError(f"{key} is the key: both of its settings are shown")
        self._given = knobs
        self._scenario.settings(**knobs)  # its errors name the nearest knob and the range
        self._timed: tuple[Any, ...] = ()
        self._times: tuple[Timing, Timing] | None = None
        super().__init__(sidecar=self._sidecar(), key=key, seed=seed, replications=replications)

    def _check(self, key: str) -> None:
        if key not in self._switches:
            raise ValueError(f"{key!r} is no switch of {self._scenario.name}; {nearest(key, self._switches)}")

    @t.validate("key")
    def _known(self, proposal: Any) -> str:
        self._check(proposal.value)
        return str(proposal.value)

    def sides(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The key off and on."""
        return {**self._given, self.key: 0}, {**self._given, self.key: 1}

    @property
    def rows(self) -> list[Row]:
        """Instructions of either setting in the order of addresses (see `sim.comparison`)."""
        return self._compared(self.key)

    @property
    def times(self) -> tuple[Timing, Timing]:
        """Times of the instructions in both runs, by address."""
        wanted = (self.sides(), self.seed)
        if self._times is None or self._timed != wanted:
            before, after = (timing(self._scenario, self.seed, **side) for side in self.sides())
            self._times, self._timed = (before, after), wanted
        return self._times

    def extra(self) -> list[dict[str, Any]]:
        """The times, for a front end."""
        return [{"timing": one.to_dict()} for one in self.times]

    def page_traits(self) -> tuple[str, ...]:
        """Everything but the answer of a kernel."""
        return ("sidecar", "key", "selection", "seed", "replications")

    def still(self) -> still.Still:
        """The instructions that differ, with their times for one packet in both runs."""
        from matplotlib.figure import Figure

        rows = [row for row in self.rows if row.kind != "same"]
        costs = [one.packet_ns.sum(axis=0) for one in self.times]
        rows = sorted(rows, key=lambda row: -max(c[row.address] for c in costs))[:STILL_ROWS]
        rows.sort(key=lambda row: row.address)
        figure = Figure(figsize=(7.2, 0.24 * max(len(rows), 1) + 0.94), layout="constrained")
        axes = figure.subplots()
        axes.axis("off")
        axes.set(xlim=(0, 1), ylim=(len(rows) + 0.5, -2.6))
        whole = [f"{cost.sum():,.0f} ns at {one.mpps:.4g} Mpps" for cost, one in zip(costs, self.times, strict=True)]
        span = f"{self.times[0].elapsed_ps / 1e6:,.0f} µs of one run"
        axes.text(0, -2, f"All instructions, for one packet in {span}: before {whole[0]}, after {whole[1]}", fontsize=7)
        for x, words in ((0, "before, ns"), (0.1, "after, ns"), (0.22, f"{self._scenario.name}: {self.key}")):
            axes.text(x, -0.9, words, fontsize=7, fontweight="bold")
        for at, row in enumerate(rows):
            colour = {"removed": "#a3123f", "added": "#1c7a3f", "changed": "#0b5cad"}[row.kind]
            sign = {"removed": "−", "added": "+", "changed": "~"}[row.kind]
            for x, cost, there in ((0, costs[0], row.before), (0.1, costs[1], row.after)):
                axes.text(x, at, f"{cost[row.address]:.2f}" if there is not None else "", fontsize=7)
            text = row.before if row.after is None else row.after
            axes.text(0.2, at, sign, fontsize=8, color=colour)
            axes.text(0.22, at, f"{row.op} {_short(text or '', 62)}", fontsize=7, color=colour, family="monospace")
            axes.text(1, at, row.symbol, fontsize=7, ha="right")
        return still.render(figure, self.finding())

    def finding(self) -> str:
        """The text alternative: how many instructions differ, what they take in which window, and both rates."""
        kinds = [row.kind for row in self.rows]
        parts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("removed", "added", "changed", "same"))
        name = self._scenario.metrics[0].name
        before, after = (r.metrics[name] for r in self.result)
        first, second = self.times
        costs = [float(one.packet_ns.sum()) for one in self.times]
        return (
            f"{self._scenario.name} with {self.key} off and on: of the instructions {parts}. In the "
            f"{first.elapsed_ps / 1e6:,.0f} µs of one run that are timed here, instructions took {costs[0]:,.0f} ns of "
            f"all CPUs for one packet before, at {first.mpps:.4g} Mpps, and {costs[1]:,.0f} ns after, at "
            f"{second.mpps:.4g} Mpps. Mpps counts {self._packets().doc}; context switches are no instructions and come "
            f"on top. In {len(self.result[0].replications)} whole runs {name} goes from {before.mean:,.4g} "
            f"to {after.mean:,.4g} {before.unit}."
        )

    def _packets(self) -> Metric:
        return next(m for m in self._scenario.metrics if m.name == PACKETS)

    def _compared(self, key: str) -> list[Row]:
        knobs = self._scenario.knobs
        both = [numbers(knobs, self._scenario.settings(**{**self._given, key: side})) for side in (0, 1)]
        return compare(self._scenario.spec, *both)

    def _sidecar(self) -> dict[str, Any]:
        spec = self._scenario.spec
        code = spec.program.code
        packets = self._packets()
        base = self._listing()
        return {
            **of_scenario(self._scenario),
            "given": self._given,
            "settings": self._scenario.settings(**self._given),
            "program": [[one.op, one.symbol, base["texts"].get(at, "")] for at, one in enumerate(code)],
            "labels": base["labels"],
            "keys": {key: self._key(key, base) for key in self._switches if key not in self._given},
            "trace": {
                "knob": spec.knob_word("trace_rows"),
                "rows": RING_ROWS,
                "until_ps": self._scenario.quick_ps,
                "size": len(code),
                "locks": [at for at, one in enumerate(code) if one.op == "LOCK"],
                "packets": {"metric": packets.name, "scale": packets.scale, "doc": packets.doc},
                "words": {
                    "row": tables.TRACE_WORDS,
                    "time": tables.T_TIME,
                    "duration": tables.T_DURATION,
                    "context": tables.T_CONTEXT,
                    "pc": tables.T_PC,
                },
            },
        }

    def _listing(self) -> dict[str, Any]:
        """Texts and labels by address at the given setting, from which a page's keys say how they differ."""
        knobs = numbers(self._scenario.knobs, self._scenario.settings(**self._given))
        rows = compare(self._scenario.spec, knobs, knobs)
        return {
            "texts": {row.address: row.before for row in rows},
            "labels": {row.address: list(row.labels) for row in rows if row.labels},
        }

    def _key(self, key: str, base: dict[str, Any]) -> dict[str, Any]:
        """A key for a page: runs of addresses of each side, and texts and labels that are not the listing's."""
        rows = self._compared(key)
        labels = {row.address: list(row.labels) for row in rows}
        usual = base["labels"]
        return {
            "sides": [
                _runs(row.address for row in rows if row.before is not None),
                _runs(row.address for row in rows if row.after is not None),
            ],
            "texts": {
                row.address: [row.before, row.after]
                for row in rows
                if {row.before, row.after} - {None} != {base["texts"].get(row.address)}
            },
            "labels": {at: names for at, names in labels.items() if names != usual.get(at, [])},
        }


def _runs(addresses: Iterable[int]) -> list[list[int]]:
    """Consecutive addresses as [first, last]."""
    out: list[list[int]] = []
    for at in addresses:
        if out and out[-1][1] == at - 1:
            out[-1][1] = at
        else:
            out.append([at, at])
    return out


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
