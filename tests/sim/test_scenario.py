"""Scenarios: repeatable from the seed, moved by the seed and by every knob that claims to act."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sim import scenarios
from sim.engine import tables
from sim.engine.native import NativeEngine
from sim.knob import Knob, KnobError
from sim.result import Result
from sim.scenarios import Scenario

ENGINE = NativeEngine()
KNOBS = scenarios.load("tcp-5.17").knobs


def counts(scenario: Scenario, **knobs: Any) -> tuple[int, ...]:
    """Instructions, transfers of lines and every counter of the program, in one replication."""
    replication, arena = scenario.replicate(ENGINE, 1, **knobs)
    stats = arena[arena[tables.H_AT_STAT] :][: len(scenario.spec.stats)]
    return (replication.steps, int(arena[tables.HEADER.index("transfers")]), *map(int, stats))


def others(knob: Knob) -> list[int | str]:
    """Settings that differ from the default: all of a switch or a choice, the two ends of a range."""
    if knob.choices:
        return [c for c in knob.choices if c != knob.default]
    return [v for v in (knob.low, knob.high) if v != knob.default]


def test_the_same_numbers_on_one_thread_and_on_two(tcp: Scenario, after: Result) -> None:
    single = tcp.run(replications=3, until_ps=tcp.quick_ps, threads=1, defer_free=1, mtu=1500)
    assert single.to_dict() == after.to_dict()


def test_replications_differ_by_their_seed(after: Result) -> None:
    assert [r.seed for r in after.replications] == [1, 2, 3]
    assert len({r.steps for r in after.replications}) == 3


def test_a_seed_is_a_replication_wherever_it_stands(tcp: Scenario, after: Result) -> None:
    late = tcp.run(seed=3, replications=1, until_ps=tcp.quick_ps)
    assert late.replications[0] == after.replications[2]


@pytest.mark.parametrize("mtu", [1500, 4168])
@pytest.mark.parametrize("defer_free", [0, 1])
def test_the_seed_varies_what_is_measured_at_every_setting_of_the_thread(
    tcp: Scenario, mtu: int, defer_free: int
) -> None:
    """Not each metric: a rate is counted in whole GRO packets, and equal numbers of those are no surprise."""
    run = tcp.run(replications=3, mtu=mtu, defer_free=defer_free)
    assert len({tuple(r.metrics.values()) for r in run.replications}) == 3
    assert len({r.metrics["transfers_per_packet"] for r in run.replications}) == 3


@pytest.mark.parametrize("knob", [k for k in KNOBS if k.effect == "acts"], ids=lambda k: k.name)
def test_a_knob_that_acts_changes_what_is_executed_or_transferred(tcp: Scenario, knob: Knob) -> None:
    around = dict(knob.shows_with)
    base = counts(tcp, **around)
    assert any(counts(tcp, **{**around, knob.name: value}) != base for value in others(knob))


@pytest.mark.parametrize("knob", KNOBS, ids=lambda k: k.name)
def test_every_end_of_a_knobs_range_runs(tcp: Scenario, knob: Knob) -> None:
    for value in others(knob):
        assert tcp.replicate(ENGINE, 1, tcp.quick_ps, **{knob.name: value})[0].status == "reached"


@pytest.mark.parametrize("knob", KNOBS, ids=lambda k: k.name)
def test_a_default_lies_in_its_own_range_and_every_knob_is_explained(knob: Knob) -> None:
    knob.number(knob.default)
    assert knob.doc.endswith(".")
    assert knob.effect in ("acts", "inert", "refused")
    assert knob.effect == "acts" or knob.why


def test_a_changed_constant_changes_the_run(tcp: Scenario) -> None:
    dearer = scenarios.load("tcp-5.17", changes={"copy_fs_per_byte": 100_000})
    run = {"replications": 1, "until_ps": tcp.quick_ps, "mtu": 4168}
    assert dearer.run(**run).gbps < tcp.run(**run).gbps


def test_packets_are_conserved(tcp: Scenario) -> None:
    """What was polled and is neither copied nor queued was never more than the rings and queues can hold."""
    _, arena = tcp.replicate(ENGINE, 1, tcp.quick_ps)
    stat = {name: int(arena[arena[tables.H_AT_STAT] + i]) for i, name in enumerate(tcp.spec.stats)}
    in_flight = 2 * 3_145_728 // 2 // 1428
    assert abs(stat["packets"] - stat["bytes"] / 1428) <= in_flight
    assert np.all(arena[arena[tables.H_AT_STAT] :][: len(tcp.spec.stats)] >= 0)


@pytest.mark.parametrize(
    ("knobs", "words"),
    [({"mtuu": 1}, "did you mean mtu"), ({"mtu": 100}, "1,280 to 9,000"), ({"reader_cpu": "moon"}, "same_socket")],
)
def test_a_mistyped_run_is_refused_before_it_starts(tcp: Scenario, knobs: dict[str, Any], words: str) -> None:
    with pytest.raises(KnobError, match=words):
        tcp.run(**knobs)


def test_a_run_without_replications_is_refused(tcp: Scenario) -> None:
    with pytest.raises(ValueError, match="at least one replication"):
        tcp.run(replications=0)


def test_an_unknown_scenario_is_told_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"did you mean tcp-5\.17"):
        scenarios.load("tcp5.17")
