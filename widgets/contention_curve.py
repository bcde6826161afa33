"""Throughput against CPUs for five ways to count: where sharing one line levels off, and where it collapses."""

from __future__ import annotations

from typing import Any, Final

import traitlets as t

from sim import contention, counting, machine
from sim.result import Metric
from widgets import sidecar, still
from widgets.base import PathWidget
from widgets.line_program import MACHINES as MEASURED

#: Machines to choose from: the one of tcp-5.17, and those on which counters were measured.
MACHINES: Final = ("cascade-lake", *MEASURED)
_ARM: Final = "On this processor an atomic add is faster than a move of the line; the engine moves it for each"
_NOTES: Final = {"neoverse-n1": _ARM, "cortex-a72": _ARM}
_RATE: Final = Metric("mops", "M/s", ("stat:operations",), scale=1e6)
_KNOBS: Final[tuple[dict[str, Any], ...]] = (
    {"name": "machine", "kind": "choice", "choices": list(MACHINES), "doc": "Whose costs a line and a lock have."},
    {
        "name": "cpus", "kind": "int", "low": 1, "high": counting.CPUS, "step": 1, "unit": "CPUs",
        "doc": "The marked number of CPUs; nothing runs again.",
    },
    {
        "name": "outside_ns", "kind": "int", "low": 0, "high": 5000, "step": 50, "unit": "ns",
        "doc": "What a CPU does between two counts, on average.",
    },
    {
        "name": "inside_ns", "kind": "int", "low": 0, "high": 500, "step": 10, "unit": "ns",
        "doc": "What it does besides counting while it holds a lock.",
    },
    {
        "name": "transfer_ns", "kind": "int", "low": 5, "high": 300, "step": 1, "unit": "ns",
        "doc": "What handing a line to the next CPU costs.",
    },
    {"name": "seed", "kind": "int", "low": 1, "high": 1000, "step": 1, "doc": "Varies the time between two counts."},
)


class ContentionCurve(PathWidget):
    """Counts of all CPUs together, by the number of CPUs, for an atomic, three locks and private counters.

    Every point is a run of the engine on the program of `sim.counting`; marks are published measurements, which were
    taken with nothing between two counts.

    Parameters
    ----------
    machine
        One of `MACHINES`.
    cpus
        The marked number of CPUs, 1 to 24.
    outside_ns, inside_ns
        What a CPU does between two counts (mean, up to 5,000 ns), and while it holds a lock (up to 500 ns).
    transfer_ns
        Cost of handing the line to another CPU, in ns; the machine's own if not given.
    seed, replications
        First seed, and how many.

    Raises
    ------
    traitlets.TraitError
        For an unknown machine and values out of range.
    """

    sidecar = t.Dict().tag(sync=True)
    machine = t.Enum(MACHINES, default_value=MACHINES[0]).tag(sync=True)
    cpus = t.Int(8, min=1, max=counting.CPUS).tag(sync=True)
    outside_ns = t.Int(1000, min=0, max=5000).tag(sync=True)
    inside_ns = t.Int(0, min=0, max=500).tag(sync=True)
    transfer_ns = t.Int(47, min=5, max=300).tag(sync=True)
    seed = t.Int(1, min=1, max=1000).tag(sync=True)
    replications = t.Int(5, min=2, max=30).tag(sync=True)

    def __init__(
        self, machine: str = MACHINES[0], cpus: int = 8, *, outside_ns: int = 1000, inside_ns: int = 0,
        transfer_ns: int | None = None, seed: int = 1, replications: int = 5,
    ) -> None:
        data = page_data()
        if transfer_ns is None and machine in data["machines"]:
            transfer_ns = round(data["machines"][machine]["costs"]["same_socket_ps"] / 1000)
        super().__init__(
            sidecar=data, machine=machine, cpus=cpus, outside_ns=outside_ns, inside_ns=inside_ns,
            transfer_ns=transfer_ns or 47, seed=seed, replications=replications,
        )

    @property
    def knobs(self) -> dict[str, Any]:
        """What the controls say."""
        return {k["name"]: getattr(self, k["name"]) for k in _KNOBS}

    @property
    def result(self) -> dict[str, counting.Curve]:
        """The curve of each way, for the controls as they are."""
        costs = {**self.sidecar["machines"][self.machine]["costs"], "same_socket_ps": 1000 * self.transfer_ns}
        return {
            way: counting.curve(
                way, counting.COUNTS, costs, 1000 * self.inside_ns, 1000 * self.outside_ns, self.seed,
                self.replications,
            )
            for way in counting.WAYS
        }

    def page_traits(self) -> tuple[str, ...]:
        """All of its state."""
        return ("sidecar", "replications", *self.knobs)

    def still(self) -> still.Still:
        """The curves, with a triangle where one that collapses has its peak."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        axes = figure.subplots()
        for number, (way, curve) in enumerate(self.result.items()):
            points = [e.mean for e in curve.rates.values()]
            dashes = ("-", "--", ":", "-.", (0, (4, 1)))[number]
            axes.plot(list(curve.rates), points, linestyle=dashes, color=still.COLOURS[number], label=_label(way))
            if curve.falls_from:
                axes.plot([curve.peak], [curve.rates[curve.peak].mean], "v", color=still.COLOURS[number])
        axes.set(yscale="log", xlabel="CPUs that count", ylabel="million counts a second")
        axes.legend(fontsize=8, frameon=False, ncols=2)
        axes.set_title(f"{self.machine}, {self.outside_ns:,} ns between two counts", fontsize=10)
        return still.render(figure, "; ".join(_fate(curve) for curve in self.result.values()) + ".")


def _label(way: str) -> str:
    return counting.WAYS[way][0]


def _fate(curve: counting.Curve) -> str:
    peak, last = curve.rates[curve.peak].mean, max(curve.rates)
    if curve.falls_from is None:
        return f"{_label(curve.way)} {'still gains' if curve.gains else 'levels off'} at {peak:.1f} million a second"
    return (
        f"{_label(curve.way)} peaks at {peak:.1f} million a second with {curve.peak} CPUs and has lost "
        f"{curve.lost_pct:.0f} % of that with {last}"
    )


def page_data() -> dict[str, Any]:
    """What a page needs to run the program: places, ways, machines with what was measured, lengths of runs."""
    spec = counting.build()
    return {
        "scenario": "counting",
        "controls": [dict(k) for k in _KNOBS],
        "knobs": [{"name": name, "kind": "int", "word": spec.knob_word(name)} for name in counting.KNOBS],
        "ways": [{"name": way, "label": words} for way, (words, _) in counting.WAYS.items()],
        "machines": {name: _machine(name) for name in MACHINES},
        "counts": list(counting.COUNTS),
        "quick_operations": counting.QUICK_OPERATIONS,
        "operations": counting.OPERATIONS,
        "warm_rounds": counting.WARM_ROUNDS,
        "least_rounds": counting.LEAST_ROUNDS,
        "fall_pct": counting.FALL_PCT,
        "gain_pct": counting.GAIN_PCT,
        "source": contention.SOURCE,
        **sidecar.reduction(spec, [_RATE], []),
    }


def _machine(name: str) -> dict[str, Any]:
    """A machine's costs and, by way, what was measured on the processor that it stands for."""
    rows = {m.operation: m for m in contention.MEASURED if contention.PROCESSORS[m.processor] == name}
    return {
        "processor": next((m.processor for m in rows.values()), ""),
        "note": _NOTES.get(name, ""),
        "costs": counting.costs(machine.load(name)),
        "measured": {
            way: [list(point) for point in rows[operation].ns] if operation in rows else []
            for way, (_, operation) in counting.WAYS.items()
        },
    }
