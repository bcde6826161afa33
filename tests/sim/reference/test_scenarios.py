"""The scenarios on all engines: the same integers after every slice."""

from __future__ import annotations

import pytest

from sim import scenarios
from sim.engine import tables as T
from sim.engine.native import NativeEngine
from sim.reference import ReferenceEngine
from tests.sim.engine.agreement import check
from tests.sim.engine.corpus import Case, Slice
from tests.sim.engine.test_equality import engines

SLICES = (Slice(1), Slice(9_999), Slice(20_000, within_ps=40_000_000), Slice(10_000, reset=True), Slice(20_000))


@pytest.mark.parametrize("patched", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("name", scenarios.names())
def test_a_scenario_is_the_same_on_all_engines(name: str, patched: bool) -> None:
    scenario = scenarios.load(name)
    knobs = dict.fromkeys(scenario.patches, int(patched))
    case = Case(scenario.spec, scenario.image(seed=3, trace_rows=500, **knobs), SLICES)
    machine = check(case, engines())
    assert machine.steps > 40_000
    assert machine.trace.count == machine.steps


def test_the_reference_measures_what_the_engine_measures() -> None:
    """Warm-up, reset and a stretch of the run, as replications do it."""
    scenario = scenarios.load("tcp-5.17")
    image = scenario.image(seed=1)
    native, reference = NativeEngine(), ReferenceEngine()
    arena, machine = native.build(image), reference.build(image)
    for until in (100_000_000, 200_000_000):
        assert native.run_until(arena, until) == reference.run_until(machine, until) == T.REACHED
        native.reset(arena)
        reference.reset(machine)
    assert (reference.read(machine) == arena).all()
