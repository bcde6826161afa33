"""The smallest path program: N CPUs do one thing to one cache line, again and again.

Four ways to count an event: an atomic add to a shared counter, a counter under a ticket lock, the same under
a queued lock, and a counter of one's own. The costs of the machine are knobs of the spec, so a page changes
the machine without Python.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from sim import contention, machine
from sim.engine import tables
from sim.engine.native import NativeEngine
from sim.engine.opcodes import CPU_REGISTER
from sim.machine import Machine
from sim.program import Register
from sim.result import Metric
from sim.spec import Spec
from widgets import sidecar

CPU: Final = Register(CPU_REGISTER, "cpu")

CPUS: Final = 16
#: The ways to count, in the order of the knob: name, what it is called on a page, the measured operation.
WAYS: Final = {
    "atomic": ("atomic add", "atomic_add"),
    "ticket": ("ticket lock", "ticket_lock"),
    "queued": ("queued lock", ""),
    "private": ("private counters", "private_add"),
}
#: What the machine decides, as knobs.
COSTS: Final = (
    "hit_ps",
    "same_socket_ps",
    "atomic_ps",
    "ticket_permille",
    "ticket_waiter_permille",
    "queued_permille",
)
#: How long each way is simulated, in ps: some hundred operations, be they long or short.
WARM_PS: Final = {"atomic": 10_000_000, "ticket": 40_000_000, "queued": 10_000_000, "private": 100_000}
UNTIL_PS: Final = {"atomic": 40_000_000, "ticket": 240_000_000, "queued": 60_000_000, "private": 1_000_000}


@functools.cache
def build() -> Spec:
    """The spec; its knobs are `threads` (1 to 16), `way` (a place in `WAYS`) and the costs of `COSTS`."""
    spec = Spec(("threads", "way", *COSTS))
    knob = spec.values.knob
    cpus = spec.domain("cpu", CPUS)
    one = spec.domain("counter", 1)
    counter = spec.struct("counter", one, {"value": 0}, 1)
    own = spec.struct("own", cpus, {"value": 0}, 1)
    ticket_line = spec.struct("ticket", one, {"word": 0}, 1)
    queued_line = spec.struct("queued", one, {"word": 0}, 1)
    ticket = spec.spinlocks("ticket", ticket_line, "word", tables.TICKET)
    queued = spec.spinlocks("queued", queued_line, "word", tables.QUEUED)
    spec.cost(sockets=1, cores_per_socket=CPUS, threads_per_core=1, **{name: knob(name) for name in COSTS})
    spec.cost(
        other_socket_ps=knob("same_socket_ps"),
        shared_read_ps=knob("same_socket_ps"),
        memory_ps=knob("same_socket_ps"),
        sibling_ps=knob("hit_ps"),
        l2_lines=1 << 20,
        llc_lines=1 << 24,
    )
    p = spec.program
    p.label("count")
    with p.symbol("count"):
        for place, way in enumerate(WAYS):
            with p.where(knob("way").is_(place), way):
                if way == "atomic":
                    p.atomic(counter, "value")
                elif way == "private":
                    p.write(own, "value", CPU)
                else:
                    locks = ticket if way == "ticket" else queued
                    p.lock(locks)
                    p.work(knob("hit_ps"))
                    p.unlock(locks)
        p.count("operations")
        p.jump("count")
    spec.spawn_threads("counting", "count", knob("threads"), mod=CPUS)
    return spec


def costs(which: Machine) -> dict[str, int]:
    """The machine's part of the knobs."""
    return {name: which.cost(name) for name in COSTS}


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
