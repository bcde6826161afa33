"""What one contended cache line costs: N CPUs count events in four ways, beside what was measured."""

from __future__ import annotations

from typing import Any

import traitlets as t

from widgets import line_program as program
from widgets import still
from widgets.base import PathWidget


class LineCost(PathWidget):
    """Cost of one count by the number of CPUs: an atomic add, two kinds of lock, private counters.

    The lines are runs of the engine on a program of four instructions; the marks are published measurements.

    Parameters
    ----------
    machine
        One of the machines that stand for a measured processor (see `widgets.line_program.MACHINES`).
    threads
        CPUs that count at once, 1 to 16.
    transfer_ns
        Cost of handing the line to another CPU, in ns; the machine's own if not given.

    Raises
    ------
    traitlets.TraitError
        For an unknown machine and values out of range.
    """

    sidecar = t.Dict().tag(sync=True)
    machine = t.Enum(program.MACHINES, default_value=program.MACHINES[0]).tag(sync=True)
    threads = t.Int(4, min=1, max=program.CPUS).tag(sync=True)
    transfer_ns = t.Int(20, min=5, max=300).tag(sync=True)

    def __init__(self, machine: str = program.MACHINES[0], threads: int = 4, transfer_ns: int | None = None) -> None:
        sidecar = program.page_data()
        if transfer_ns is None and machine in sidecar["machines"]:
            transfer_ns = round(sidecar["machines"][machine]["costs"]["same_socket_ps"] / 1000)
        super().__init__(sidecar=sidecar, machine=machine, threads=threads, transfer_ns=transfer_ns or 20)

    @property
    def knobs(self) -> dict[str, Any]:
        """What the controls say."""
        return {"machine": self.machine, "threads": self.threads, "transfer_ns": self.transfer_ns}

    @property
    def result(self) -> dict[str, float]:
        """Time of one count for each way, in ns, as one of the counting CPUs sees it."""
        return {way: self._ns(way, self.threads) for way in program.WAYS}

    def page_traits(self) -> tuple[str, ...]:
        """All of its state."""
        return ("sidecar", "machine", "threads", "transfer_ns")

    def still(self) -> still.Still:
        """The curves and the measured points."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.2, 3.4), layout="constrained")
        axes = figure.subplots()
        counts = (1, 2, 3, 4, 6, 8, 12, 16)
        for number, (way, (label, _)) in enumerate(program.WAYS.items()):
            colour = still.COLOURS[number]
            axes.plot(counts, [self._ns(way, n) for n in counts], "-", color=colour, label=label)
            points = self.sidecar["machines"][self.machine]["measured"][way]
            axes.plot([p[0] for p in points], [p[1] for p in points], "s^Dx"[number], color=colour)
        axes.set(yscale="log", xlabel="CPUs that count", ylabel="ns for one count")
        axes.legend(fontsize=8, frameon=False)
        axes.set_title(f"{self.machine}: lines are simulated, marks measured", fontsize=10)
        now = "; ".join(f"{program.WAYS[way][0]} {ns:.0f} ns" for way, ns in self.result.items())
        return still.render(figure, f"Cost of one count with {self.threads} CPUs on {self.machine}: {now}.")

    def _ns(self, way: str, threads: int) -> float:
        costs = {**self.sidecar["machines"][self.machine]["costs"], "same_socket_ps": 1000 * self.transfer_ns}
        return program.run(way, threads, costs)
