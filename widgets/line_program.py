"""What the line cost figure runs: the counting program with nothing between two counts, and the measurements.

Four of its ways are shown (see `sim.counting`): those that were measured, and the queued lock.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from sim import contention, counting, machine
from sim.counting import COSTS, build, costs
from sim.engine import tables
from sim.engine.native import NativeEngine
from sim.result import Metric
from widgets import sidecar

CPUS: Final = 16
#: The ways to count, in the order of the knob: name, what it is called on a page, the measured operation.
WAYS: Final = {way: words for way, words in counting.WAYS.items() if way != "plain"}
#: How long each way is simulated, in ps: some hundred operations, long or short, and without the first fetch.
WARM_PS: Final = {"atomic": 10_000_000, "ticket": 40_000_000, "queued": 10_000_000, "private": 1_000_000}
UNTIL_PS: Final = {"atomic": 40_000_000, "ticket": 240_000_000, "queued": 60_000_000, "private": 2_000_000}


def run(way: str, threads: int, machine_costs: dict[str, int]) -> float:
    """Simulate and return the time of one operation as a CPU sees it, in ns."""
    return _run(way, threads, tuple(machine_costs.items()))


@functools.cache
def _run(way: str, threads: int, machine_costs: tuple[tuple[str, int], ...]) -> float:
    spec, engine = build(), NativeEngine()
    knobs = {"threads": threads, "way": list(WAYS).index(way), **dict(machine_costs)}
    arena = engine.build(spec.image(knobs))
    engine.run_until(arena, WARM_PS[way])
    engine.reset(arena)
    engine.run_until(arena, UNTIL_PS[way])
    operations = int(arena[arena[tables.H_AT_STAT] + spec.stat_number("operations")])
    return threads * (UNTIL_PS[way] - WARM_PS[way]) / operations / 1000


def page_data() -> dict[str, Any]:
    """What a page needs to run the spec (see `widgets.sidecar`), and the machines with their measurements."""
    spec = build()
    rate = Metric("mops", "M/s", ("stat:operations",), scale=1e6)
    return {
        "scenario": "line-cost",
        "knobs": [{"name": name, "kind": "int", "word": spec.knob_word(name)} for name in ("threads", "way", *COSTS)],
        "ways": {
            name: {"label": label, "warm_ps": WARM_PS[name], "until_ps": UNTIL_PS[name]}
            for name, (label, _) in WAYS.items()
        },
        "machines": {name: machine_data(name) for name in MACHINES},
        "source": contention.SOURCE,
        "cpus": CPUS,
        **sidecar.reduction(spec, [rate], []),
    }


#: Machines that stand for a processor on which counters were measured.
MACHINES: Final = tuple(name for name in contention.PROCESSORS.values() if name)


def machine_data(name: str) -> dict[str, Any]:
    """A machine's costs and, by way, what was measured on the processor that it stands for."""
    processor = {v: k for k, v in contention.PROCESSORS.items()}[name]
    points = {}
    for way, (_, operation) in WAYS.items():
        rows = [m for m in contention.MEASURED if m.operation == operation and m.processor == processor]
        points[way] = [list(point) for point in rows[0].ns] if rows else []
    return {"processor": processor, "costs": costs(machine.load(name)), "measured": points}
