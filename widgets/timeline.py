"""A window of a scenario's run as lanes: what each CPU executes, what it waits for, and one packet's way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import traitlets as t

from sim import journey, scenarios
from sim.engine.native import NativeEngine
from sim.layers import layer, present
from sim.places import Places
from sim.trace import ROOM, Window, record
from widgets import still, trace_data
from widgets.base import PathWidget
from widgets.knob_trait import knob_trait

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sim.scenarios import Scenario
    from sim.trace import Row, Trace

US: Final = 1_000_000
SEEDS: Final = 1_000_000
WIDEST_US: Final = 400


class Span(NamedTuple):
    """Where a window begins and how long it is, in us since the run began."""

    start_us: int
    window_us: int


#: Windows by scenario. Where the NIC's ring grows long they lie early, so that packets can be followed from the wire to
#: their end; in the two scenarios with a hundred flows they lie after the start's disorder, where the patch shows. In
#: packet-rollover's trap nothing begins until a reader has its turn.
WINDOWS: Final = {
    "tcp-5.17": Span(100, 160),
    "tcp-prequeue": Span(1_600, 30),
    "tcp-rx-skb-cache": Span(600, 20),
    "packet-rollover": Span(17_000, 20),
    "udpv6-early-demux": Span(50, 200),
    "lab": Span(100, 120),
}
STILL_LANES: Final = 12
STILL_US: Final = 60
STILL_BIRTHS: Final = 60  # marks of packets that can still be told apart


class Timeline(PathWidget):
    """Lanes of CPUs over a window of a run, stepped instruction by instruction or packet by packet.

    Every knob of the scenario is a synced trait of the same name. The page runs the engine itself; `result` is the
    same trace from this process.

    Parameters
    ----------
    scenario
        Name of a scenario (see ``python -m sim list``).
    start_us, window_us
        Where the window begins, in us of simulated time, and how long it is (1 to 400 us).
    seed
        Seed of the run.
    first
        Names of the knobs in sight; by default the thread's patch and those given.
    **knobs
        Values that differ from the scenario's defaults.

    Raises
    ------
    ValueError, traitlets.TraitError
        For an unknown scenario or knob, and for a value out of its range, with what is allowed.

    Examples
    --------
    >>> w = Timeline("tcp-5.17", defer_free=1, mtu=1500)      # doctest: +SKIP
    >>> w.selection["symbol"], w.result.rows[0].took_ps       # doctest: +SKIP
    """

    sidecar = t.Dict().tag(sync=True)
    start_us = t.Int(0, min=0).tag(sync=True)
    window_us = t.Int(20, min=1, max=WIDEST_US).tag(sync=True)
    seed = t.Int(1, min=1, max=SEEDS).tag(sync=True)
    first = t.List(t.Unicode()).tag(sync=True)
    selection = t.Dict().tag(sync=True)

    def __init__(
        self, scenario: str = "tcp-5.17", *, start_us: int | None = None, window_us: int | None = None, seed: int = 1,
        first: tuple[str, ...] | list[str] = (), **knobs: Any,
    ) -> None:
        self._scenario = scenarios.load(scenario)
        self._scenario.settings(**knobs)  # its errors name the nearest knob and the range
        for name in first:
            self._scenario.knob(name)
        span = WINDOWS[scenario]
        sidecar = _sidecar(self._scenario)
        self._kinds = {k["name"]: k for k in sidecar["knobs"]}
        self._taken: tuple[Any, Trace] | None = None
        self.add_traits(**{name: knob_trait(k) for name, k in self._kinds.items()})
        super().__init__(
            sidecar=sidecar, start_us=span.start_us if start_us is None else start_us,
            window_us=span.window_us if window_us is None else window_us, seed=seed,
            first=list(first) or list(dict.fromkeys([self._scenario.patches[0], *knobs])), **knobs,
        )

    @t.validate("start_us")
    def _in_reach(self, proposal: Any) -> int:
        latest = self._scenario.warm_ps // US
        if proposal.value > latest:
            raise t.TraitError(f"start_us is 0 to {latest} (the end of the warm-up), not {proposal.value}")
        return int(proposal.value)

    @property
    def knobs(self) -> dict[str, Any]:
        """The knobs as they are."""
        return {name: getattr(self, name) for name in self._kinds}

    @property
    def result(self) -> Trace:
        """The trace of the window (see `sim.trace.Trace`), from the native engine."""
        wanted = (self.knobs, self.seed, self.start_us, self.window_us)
        if self._taken is None or self._taken[0] != wanted:
            engine = NativeEngine()
            image = self._scenario.image(seed=self.seed, trace_rows=1, **self.knobs)
            places = Places(self._scenario.spec, engine.build(image))
            begin = self.start_us * US
            window = Window(begin, begin + self.window_us * US, ROOM, places.queues(self.sidecar["queues"]))
            self._taken = wanted, record(engine, image, window)
        return self._taken[1]

    def packets(self) -> list[int]:
        """Numbers of the rows of `result` with which packets begin (see `sim.journey`)."""
        return journey.births(self.result.rows, self._scenario.spec)

    def way(self, birth: int) -> tuple[list[journey.Hold], bool]:
        """The way of the packet that begins with a row, and whether it ends in the window."""
        return journey.journey(self.result.rows, self._scenario.spec, birth)

    def arrival(self, birth: int) -> int:
        """The row in which the wire put that packet's first frame on the NIC's ring; -1 if before the window."""
        return journey.arrival(self.result.rows, self._scenario.spec, birth)

    def page_traits(self) -> tuple[str, ...]:
        """All of its state."""
        return ("sidecar", "start_us", "window_us", "seed", "first", "selection", *self._kinds)

    def still(self) -> still.Still:
        """The lanes of the busiest CPUs, coloured by layer, and the queues that change most."""
        from matplotlib.figure import Figure

        trace = self.result
        symbols, code = self._scenario.spec.program.symbols, self._scenario.spec.program.code
        layers = present(symbols)
        by_cpu: dict[int, list[Row]] = {}
        for row in trace.rows:
            if row.took_ps and trace.homes[row.context] >= 0:
                by_cpu.setdefault(trace.homes[row.context], []).append(row)
        busiest = sorted(by_cpu, key=lambda cpu: -sum(row.took_ps for row in by_cpu[cpu]))[:STILL_LANES]
        lanes = sorted(busiest)
        figure = Figure(figsize=(7.2, 1.4 + 0.32 * len(lanes)), layout="constrained")
        axes = figure.subplots()
        for number, name in enumerate(layers):
            for at, cpu in enumerate(lanes):
                spans = _joined(
                    [row for row in by_cpu[cpu] if layer(symbols[code[row.pc].symbol]) == name and not row.spin],
                    trace.start_ps, (trace.end_ps - trace.start_ps) / 1500,
                )
                look = number % len(still.COLOURS)
                axes.broken_barh(spans, (at - 0.4, 0.8), facecolors=still.COLOURS[look], label=name if at == 0 else "")
        for at, cpu in enumerate(lanes):
            spins = _joined([row for row in by_cpu[cpu] if row.spin], trace.start_ps, 0)
            axes.broken_barh(spins, (at - 0.4, 0.8), facecolors="white", edgecolors="#c2185b", hatch="////")
        # The marks are not clipped, so those to the right of the picture must not be there.
        begun = [
            row for row in (trace.rows[n] for n in self.packets())
            if trace.homes[row.context] in lanes and row.time_ps - trace.start_ps <= STILL_US * US
        ]
        if 0 < len(begun) <= STILL_BIRTHS:
            axes.plot(
                [(row.time_ps - trace.start_ps) / US for row in begun],
                [lanes.index(trace.homes[row.context]) - 0.42 for row in begun],
                "v", color="black", markersize=5, clip_on=False, label="a packet begins",
            )
        _dress(axes, lanes, self.sidecar["cpu_roles"], self.window_us)
        figure.legend(loc="outside lower center", ncols=4, fontsize=7, frameon=False)
        return still.render(figure, self._finding(trace, by_cpu, lanes))

    def _finding(self, trace: Trace, by_cpu: dict[int, list[Row]], lanes: list[int]) -> str:
        span = trace.end_ps - trace.start_ps
        busy = "; ".join(
            f"CPU {cpu} busy {100 * sum(min(r.took_ps, trace.end_ps - r.time_ps) for r in by_cpu[cpu]) / span:.0f} %"
            for cpu in lanes
        )
        more = f" and {len(by_cpu) - len(lanes)} more CPUs" if len(by_cpu) > len(lanes) else ""
        drawn = f" The picture shows the first {STILL_US} µs." if self.window_us > STILL_US else ""
        return (
            f"{self._scenario.name}, {self.window_us} µs of simulated time from {self.start_us} µs on: "
            f"{len(trace.rows):,} instructions, {len(self.packets())} packets begin. {busy}{more}.{drawn}"
        )


def _joined(rows: list[Row], start_ps: int, gap_ps: float) -> list[tuple[float, float]]:
    """Spans in us from the window's start; those closer than a gap are one, or a picture would be megabytes."""
    out: list[list[int]] = []
    for row in rows:
        if out and row.time_ps - out[-1][1] <= gap_ps:
            out[-1][1] = row.time_ps + row.took_ps
        else:
            out.append([row.time_ps, row.time_ps + row.took_ps])
    return [((a - start_ps) / US, (b - a) / US) for a, b in out]


def _dress(axes: Axes, lanes: list[int], roles: dict[str, str], window_us: int) -> None:
    axes.set_yticks(range(len(lanes)), [f"CPU {cpu} {roles.get(str(cpu), '')}".strip() for cpu in lanes], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, min(window_us, STILL_US))
    axes.set_xlabel("µs in the window; hatched: spinning for a lock", fontsize=8)
    axes.tick_params(labelsize=8)


def _sidecar(scenario: Scenario) -> dict[str, Any]:
    spec = scenario.spec
    names = list(dict.fromkeys(q.name for q in spec.queues if _told(q.name, q.items.name)))
    return {
        "scenario": scenario.name,
        "knobs": [{**k.to_dict(), "word": spec.knob_word(k.name)} for k in scenario.knobs],
        "queues": names,
        "queue_numbers": [number for number, q in enumerate(spec.queues) if q.name in names],
        "cpu_roles": _roles(scenario),
        "latest_us": scenario.warm_ps // US,
        "widest_us": WIDEST_US,
        "room": ROOM,
        **trace_data.of_spec(spec),
    }


def _told(name: str, items: str) -> bool:
    """Whether a queue is one of packets on their way: no allocator's list, no list of pages."""
    return items in ("skb", "frame") and not name.startswith(("skb", "free descriptors"))


def _roles(scenario: Scenario) -> dict[str, str]:
    """The role of each CPU at the scenario's defaults, where roles have names of their own."""
    from sim.knob import numbers

    chosen = numbers(scenario.knobs, scenario.settings())
    values = scenario.spec.values.evaluate([chosen.get(name, 1) for name in scenario.spec.knobs])
    return {str(values[role.value]): role.name for role in scenario.roles if not role.name.startswith("cpu")}
