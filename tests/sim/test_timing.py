"""Times of instructions: what the trace ring says adds up to the engine's own profile, to the picosecond."""

from __future__ import annotations

import numpy as np
import pytest

from sim import scenarios
from sim.engine import tables as T
from sim.engine.native import NativeEngine
from sim.timing import RING_ROWS, Tally, timing


@pytest.mark.parametrize(
    "name", ["lab", "tcp-5.17", *(pytest.param(n, marks=pytest.mark.slow) for n in ("tcp-prequeue", "packet-rollover"))]
)
def test_instructions_add_up_to_the_profile_of_symbols(name: str) -> None:
    s = scenarios.load(name)
    found = timing(s)
    engine = NativeEngine()
    arena = engine.build(s.image())
    engine.run_until(arena, s.warm_ps)
    engine.reset(arena)
    engine.run_until(arena, s.quick_ps)
    symbols, cpus, at = len(s.spec.program.symbols), int(arena[T.H_CPUS]), int(arena[T.H_AT_PROFILE])
    profile = arena[at : at + 2 * cpus * symbols].reshape(2, cpus, symbols).sum(axis=1)
    mine = np.zeros_like(profile)
    for side in (0, 1):
        np.add.at(mine[side], [one.symbol for one in s.spec.program.code], found.time_ps[side])
    assert profile[:, 1:].sum() > s.quick_ps - s.warm_ps
    assert (mine[0] == profile[0]).all()
    assert (mine[1, 1:] == profile[1, 1:]).all()  # symbol 0 holds the context switches, which are no instructions


def test_packets_are_those_of_the_scenarios_metric() -> None:
    s = scenarios.load("tcp-5.17")
    found = timing(s, seed=3, mtu=4168)
    plain = s.run(seed=3, replications=1, until_ps=s.quick_ps, mtu=4168)
    assert found.packets == pytest.approx(plain.mpps * (s.quick_ps - s.warm_ps) / 1e6)
    assert found.packet_ns.sum() == pytest.approx(found.time_ps.sum() / 1000 / found.packets)


def test_a_slice_longer_than_the_ring_is_refused() -> None:
    s = scenarios.load("tcp-5.17")
    engine = NativeEngine()
    arena = engine.build(s.image(1, 100))
    tally = Tally(s.spec, arena)
    arena[T.H_UNTIL] = s.warm_ps
    engine.run(arena, 101)
    with pytest.raises(ValueError, match="101 instructions in a slice, but the ring has 100 rows"):
        tally.take(arena)


def test_how_the_run_is_cut_makes_no_difference() -> None:
    s = scenarios.load("lab")
    engine = NativeEngine()
    tallies = []
    for steps in (RING_ROWS, 777):
        arena = engine.build(s.image(1, RING_ROWS))
        tally = Tally(s.spec, arena)
        arena[T.H_UNTIL] = s.warm_ps // 4
        while engine.run(arena, steps) == T.MORE:
            tally.take(arena)
        tally.take(arena)
        tallies.append(tally)
    assert (tallies[0].time_ps == tallies[1].time_ps).all()
    assert (tallies[0].visits == tallies[1].visits).all()
    assert tallies[0].time_ps.sum() > 0
