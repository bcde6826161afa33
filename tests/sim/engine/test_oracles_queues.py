"""Queues: waits of M/D/1 and M/M/1, Little's law, packets conserved."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sim.engine import tables
from sim.spec import Integer, Spec
from tests.sim.engine.oracle import FLAT, R0, R1, R2, R3, US, Run


def single_server(exponential: bool, capacity: int = 1 << 30) -> Spec:
    """Poisson arrivals of mean gap `gap` at one CPU whose softirq serves each for 1 us, fixed or on average."""
    s = Spec(["gap"])
    p = s.program
    one, item = s.domain("one", 1), s.domain("item", 4_000)
    stamps = s.table("item", item, arrived=Integer(0, tables.INF))
    free, waiting = s.queue("free", one, item), s.queue("waiting", one, item, capacity)
    s.fill(free, 4_000)
    s.cost(**FLAT)
    serve = s.vector("serve")
    with p.symbol("serve"):
        p.label("serve")
        p.pop(waiting, R0, empty="serve.done")
        p.load(R1, stamps, "arrived", R0)
        p.now(R2)
        p.alu(R2, R2, "-", R1)
        p.count("wait", R2)
        if exponential:
            p.exponential(R1, US)
            p.work(0, by=R1, fs=1_000)
        else:
            p.work(US)
        p.now(R2)
        p.load(R1, stamps, "arrived", R0)
        p.alu(R2, R2, "-", R1)
        p.count("sojourn", R2)
        p.count("served")
        p.push(free, R0)
        p.jump("serve")
        p.label("serve.done")
        p.end()
        p.label("arrive")
        p.exponential(R3, s.values.knob("gap"))
        p.work(0, by=R3, fs=1_000)
        p.pop(free, R0)
        p.now(R2)
        p.store(stamps, "arrived", R2, R0)
        p.count("made")
        p.push(waiting, R0, full="arrive.drop")
        p.set(R1, 0)
        p.raise_(serve, 0, R1)
        p.jump("arrive")
        p.label("arrive.drop")
        p.push(free, R0)
        p.count("dropped")
        p.jump("arrive")
    s.spawn_agents("arrivals", "arrive")
    return s


@pytest.mark.parametrize("percent", [30, 60, 80])
@pytest.mark.parametrize("exponential", [False, True], ids=["M/D/1", "M/M/1"])
def test_mean_wait(exponential: bool, percent: int) -> None:
    """Pollaczek and Khinchine: rho / (1 - rho) times the service time, half of it if service is fixed."""
    spec = single_server(exponential)
    waits = []
    for seed in range(12):
        run = Run(spec, 60_000 * US, gap=US * 100 // percent, seed=seed)
        waits.append(run.stat("wait") / run.stat("served") / US)
    load = percent / 100
    expected = load / (1 - load) * (1 if exponential else 0.5)
    error = float(np.std(waits, ddof=1)) / math.sqrt(len(waits))
    assert abs(float(np.mean(waits)) - expected) < 3 * error
    assert error < 0.04 * expected


def test_little() -> None:
    """The area under a queue's length is the sum of its items' waits, those still waiting included."""
    until = 5_000 * US
    run = Run(single_server(True), until, gap=US * 10 // 8, seed=3)
    row = 1  # waiting
    length, since = run.queue(row, tables.Q_LENGTH), run.queue(row, tables.Q_SINCE)
    area = run.queue(row, tables.Q_AREA) + length * (until - since)
    cells, item, still = run.word(tables.H_AT_CELL), run.queue(row, tables.Q_HEAD), 0
    while item >= 0:
        still += until - run.word(cells + item)
        item = run.word(run.queue(row, tables.Q_LINK) + item)
    assert area == run.stat("wait") + still


@pytest.mark.parametrize("capacity", [1, 5])
def test_packets_are_conserved(capacity: int) -> None:
    """Made = delivered + dropped + in flight, at any time."""
    spec = single_server(False, capacity)
    for until in (100 * US, 777 * US, 2_000 * US):
        run = Run(spec, until, gap=US * 10 // 12, seed=1)
        in_flight = 4_000 - run.queue(0, tables.Q_LENGTH)
        assert run.stat("dropped") > 0
        # An item popped by the arrival process at its very event is pushed at the same instant: none is between.
        assert run.stat("made") == run.stat("served") + run.stat("dropped") + in_flight
