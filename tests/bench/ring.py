"""What the trace ring costs, on and off.

Where code and arena come to lie changes the speed by several percent, for as long as a process lives. So each
comparison is made in a number of fresh processes, which set the engines up in different orders; the figure is the
median over them, and an engine is compared with a copy of itself to show what such a comparison can tell.

``python -m tests.bench.ring 0`` makes one comparison and prints the speeds as JSON.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from typing import Any

from sim import scenarios
from sim.engine.native import NativeEngine
from tests.bench import startup, untraced
from tests.bench.hosts import InProcess
from tests.bench.line import Line, at_most
from tests.bench.turns import Figure, interleave, rate

SCENARIO = "tcp-5.17"
TRACE_ROWS = 65_536
PROCESSES, ROUNDS, STEPS = 6, 11, 400_000
#: Most percent that the ring may cost while it is off.
OFF = at_most(5)


def compare(order: int, rounds: int = ROUNDS, steps: int = STEPS) -> dict[str, float]:
    """Million instructions a second of CPU time, in this process: without a ring, off, off in a copy, on."""
    scenario = scenarios.load(SCENARIO)
    off, on = scenario.image(), scenario.image(trace_rows=TRACE_ROWS)
    make: dict[str, tuple[Callable[[], Any], Any]] = {
        "none": (lambda: untraced.engine(untraced.WITHOUT), off),
        "off": (NativeEngine, off),
        "same": (lambda: untraced.engine(untraced.SAME), off),
        "on": (NativeEngine, on),
    }
    names = list(make)
    first = order % len(names)
    made = {}
    for name in names[first:] + names[:first]:
        engine, image = make[name]
        made[name] = InProcess(engine(), image, scenario.warm_ps)
    got = interleave({name: (lambda host=host: host.turn(steps)) for name, host in made.items()}, rounds)
    return {name: rate(turns, "cpu").median for name, turns in got.items()}


def lines() -> list[Line]:
    """Off against an engine that has no ring, on against off, and the control."""
    for package in (untraced.WITHOUT, untraced.SAME):
        compiling = untraced.engine(package)
        compiling.build(scenarios.load(SCENARIO).image())
    runs = []
    for order in range(PROCESSES):
        runs.append(json.loads(startup.python(["-m", "tests.bench.ring", str(order)]).printed))

    def cost(slow: str, fast: str) -> list[float]:
        return [100 * (run[fast] / run[slow] - 1) for run in runs]

    control = [abs(x) for x in cost("same", "off")]
    group = f"Trace ring, {SCENARIO}, over {PROCESSES} processes"
    pairs = ("off against an engine without", cost("off", "none"), OFF), ("on against off", cost("on", "off"), None)
    out = []
    for name, costs, target in pairs:
        figure = Figure.of(costs)
        note = f"{min(costs):.1f} to {max(costs):.1f}"
        out.append(Line(group, name, figure.median, "%", target, note, figure.low, figure.high))
    told = f"up to {max(control):.1f}: less than this cannot be told in one process"
    return [*out, Line(group, "the same engine twice, difference", statistics.median(control), "%", None, told)]


if __name__ == "__main__":
    print(json.dumps(compare(int(sys.argv[1]))))
