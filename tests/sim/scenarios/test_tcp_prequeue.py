"""tcp-prequeue: what carries the loss and its cures, what does not help, and that nothing gets lost."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from sim import scenarios
from sim.engine import tables as T
from sim.engine.jit import Array
from sim.engine.native import NativeEngine
from sim.knob import Knob, numbers
from sim.path.linear import REFERENCE
from sim.result import Replication, queue_rows
from sim.scenarios import tcp_prequeue as thread
from sim.verifier import verify
from tests.sim.engine.agreement import check
from tests.sim.engine.corpus import Case, Slice
from tests.sim.engine.test_equality import engines

ENGINE = NativeEngine()
PREQUEUE = scenarios.load("tcp-prequeue")
KNOBS = PREQUEUE.knobs
SHORT_PS = 1_200_000_000
RPS: dict[str, Any] = {"rfs": 0, "rps_cpus": "all"}
BEFORE: dict[str, Any] = {"drop_dst_early": 0}


@cache
def _steady(items: tuple[tuple[str, Any], ...]) -> Replication:
    return PREQUEUE.replicate(ENGINE, 1, PREQUEUE.quick_ps, **dict(items))[0]


def steady(**knobs: Any) -> Replication:
    """One short replication after the warm-up."""
    return _steady(tuple(sorted(knobs.items())))


def busy(run: Replication, first: int = 0, last: int = thread.CPUS) -> float:
    """Mean busy share of CPUs, percent."""
    return float(np.mean(list(run.cpu.values())[first:last]))


@cache
def _start(items: tuple[tuple[str, Any], ...]) -> Array:
    arena = ENGINE.build(PREQUEUE.image(1, **dict(items)))
    assert ENGINE.run_until(arena, SHORT_PS) == T.REACHED
    return arena


def start(**knobs: Any) -> Array:
    """The first 1.2 ms, warm-up included and nothing forgotten."""
    return _start(tuple(sorted(knobs.items())))


def stats(arena: Array) -> dict[str, int]:
    return {name: int(arena[arena[T.H_AT_STAT] + i]) for i, name in enumerate(PREQUEUE.spec.stats)}


def counts(**knobs: Any) -> tuple[int, ...]:
    arena = start(**knobs)
    return (int(arena[T.H_STEPS]), int(arena[T.H_TRANSFERS]), *stats(arena).values())


def column(arena: Array, table: str, name: str) -> Array:
    """A table's column."""
    spec = PREQUEUE.spec
    at = spec.tables[[t.name for t in spec.tables].index(table)]
    rows = int(arena[arena[T.H_AT_VALUE] + at.domain.count.row])
    first = int(arena[arena[T.H_AT_SET] + at.number])
    return arena[first : first + rows * len(at.columns)].reshape(rows, len(at.columns))[:, at.column(name)]


def queued(arena: Array, name: str) -> int:
    return sum(int(arena[row + T.Q_LENGTH]) for row in queue_rows(arena, PREQUEUE.spec, name))


def others(knob: Knob) -> list[int | str]:
    if knob.choices:
        return [c for c in knob.choices if c != knob.default]
    return [v for v in (knob.low, knob.high) if v != knob.default]


# -- the loss, and what carries it ------------------------------------------------------------------------


def test_before_the_patch_every_packet_visits_the_routes_line_four_times() -> None:
    run = steady(**BEFORE)
    assert run.metrics["dst_visits"] == pytest.approx(4.0, abs=0.1)
    assert run.metrics["dst_atomics"] == pytest.approx(2.0, abs=0.05)


def test_two_loads_that_do_not_merge_make_it_five() -> None:
    run = steady(**BEFORE, merged_reads=0)
    # counted by packets delivered: what waits in the queues when the window ends has made some of its visits
    assert run.metrics["dst_visits"] == pytest.approx(5.0, abs=0.2)
    assert run.metrics["mpps"] < steady(**BEFORE).metrics["mpps"]


def test_the_line_is_a_server_with_a_constant_rate() -> None:
    """The pencil arithmetic: 6 Mpps of four visits are 24 million hand-overs a second, and no more fit."""
    run = steady(**BEFORE)
    assert 20e6 < run.metrics["dst_visits_per_s"] < 25e6
    cheap = steady(**BEFORE, softirq_packet_ns=300)
    assert cheap.metrics["dst_visits_per_s"] == pytest.approx(run.metrics["dst_visits_per_s"], rel=0.06)


def test_before_the_patch_all_cpus_wait_for_that_line() -> None:
    run = steady(**BEFORE)
    waiting = ("ipv4_dst_check", "tcp_prequeue", "tcp_v4_rcv", "dst_release")
    assert busy(run) > 95
    assert sum(run.profile["cpu20"][symbol] for symbol in waiting) > 80
    assert sum(steady().profile["cpu20"].get(symbol, 0.0) for symbol in waiting) < 25


def test_the_patch_gives_more_packets_for_less_than_half_of_the_cpus() -> None:
    before, after = steady(**BEFORE), steady()
    assert after.metrics["mpps"] > 1.5 * before.metrics["mpps"]
    assert busy(after) < 0.5 * busy(before)
    assert after.metrics["dst_atomics"] < 0.1
    assert after.metrics["prequeued_share"] > 95


def test_after_the_patch_the_interrupts_cpus_are_full_and_the_others_are_not() -> None:
    run = steady()
    assert busy(run, 0, thread.QUEUES) > 99
    assert busy(run, thread.QUEUES) < 40


def test_the_layout_of_2023_cures_what_the_count_itself_does_not_cost() -> None:
    """Both atomics stay, but who reads the route waits for nobody."""
    cured = steady(**BEFORE, dst_padding=1)
    assert cured.metrics["dst_atomics"] == pytest.approx(2.0, abs=0.05)
    assert steady(**BEFORE).metrics["mpps"] * 1.2 < cured.metrics["mpps"] < steady().metrics["mpps"]


# -- negative results -------------------------------------------------------------------------------------


def test_without_steering_eight_cpus_do_it_all_and_the_others_stay_idle() -> None:
    """So the thread's 95 % cannot be had without RPS or RFS."""
    before, after = steady(**BEFORE, rfs=0), steady(rfs=0)
    for run in (before, after):
        assert busy(run, 0, thread.QUEUES) > 99
        assert busy(run) < 40
    assert before.metrics["mpps"] < after.metrics["mpps"] < 0.6 * steady().metrics["mpps"]


def test_by_rps_packets_meet_owned_sockets_and_the_backlog_still_counts() -> None:
    run = steady(**RPS)
    assert run.metrics["backlogged_share"] > 30
    assert run.metrics["dst_atomics"] > 0.6
    assert run.metrics["mpps"] < steady().metrics["mpps"]


def test_without_a_prequeue_the_patch_changes_nothing() -> None:
    assert counts(tcp_low_latency=1) == counts(tcp_low_latency=1, **BEFORE)


def test_if_senders_were_the_limit_readers_would_wake_more_often() -> None:
    slow = steady(softirq_packet_ns=100, send_ns=5300)
    assert slow.metrics["packets_per_sleep"] < 0.5 * steady().metrics["packets_per_sleep"]
    assert busy(slow) > busy(steady()) + 10


# -- conservation and bounds ------------------------------------------------------------------------------

SETTINGS = ({}, BEFORE, {"rfs": 0}, {**RPS, **BEFORE}, {"tcp_low_latency": 1}, {"ip_early_demux": 0, "merged_reads": 0})


@pytest.mark.parametrize("knobs", SETTINGS, ids=str)
def test_packets_are_conserved(knobs: dict[str, Any]) -> None:
    arena = start(**knobs)
    stat = stats(arena)
    total = len(column(arena, "sk_buff", "refdst"))
    used = total - queued(arena, "skbuff_head_cache")
    in_hand = 2 * thread.CPUS  # a softirq and a thread of each CPU may hold one
    assert abs(stat["offered"] - queued(arena, "ring") - stat["packets"]) <= in_hand
    assert abs(stat["packets"] - stat["delivered"] - used) <= in_hand
    waiting = (
        "input_pkt_queue", "process_queue", "ucopy.prequeue", "sk_backlog", "backlog in work", "sk_receive_queue",
    )
    assert 0 <= used - sum(queued(arena, name) for name in waiting) <= in_hand


@pytest.mark.parametrize("knobs", SETTINGS, ids=str)
def test_every_reference_that_was_taken_is_held_or_was_dropped(knobs: dict[str, Any]) -> None:
    arena = start(**knobs)
    stat = stats(arena)
    held = int(np.sum(column(arena, "sk_buff", "refdst") == REFERENCE))
    sockets = int(np.sum(column(arena, "sock", "rx_dst")))  # each holds one for good
    dropped = (stat["dst_atomics"] - sockets - held) / 2
    taken = dropped + held
    in_hand = 2 * thread.CPUS  # counted, not yet noted
    left_rcu = stat["prequeued"] + stat["backlogged"]
    assert sockets > 50
    assert -in_hand <= dropped <= stat["delivered"] + in_hand
    assert taken <= left_rcu + in_hand
    if knobs.get("drop_dst_early", 1) == 0:
        assert taken >= left_rcu - in_hand


@pytest.mark.parametrize("knobs", SETTINGS, ids=str)
def test_no_flow_has_more_under_way_than_its_window(knobs: dict[str, Any]) -> None:
    flight = column(start(**knobs), "flight", "packets")
    assert flight.min() >= 0
    assert flight.max() <= 57


def test_rates_stay_below_what_senders_and_drivers_allow() -> None:
    for knobs in ({}, {"send_ns": 8000}):
        chosen = PREQUEUE.settings(**knobs)
        rate = steady(**knobs).metrics["mpps"]
        assert rate < 1.02e3 * thread.CPUS / int(chosen["send_ns"])
        assert rate < 1.02e3 * thread.QUEUES / int(chosen["softirq_packet_ns"])


# -- the program ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("knobs", SETTINGS, ids=str)
def test_the_verifier_passes(knobs: dict[str, Any]) -> None:
    verify(PREQUEUE.spec, {**numbers(KNOBS, PREQUEUE.settings(**knobs)), "seed": 1})


def changed(key: str) -> list[str]:
    """Lines that a key removes or adds."""
    return [x[1:].strip() for x in PREQUEUE.diff(key).splitlines()[2:] if x[0] in "+-" and x[1:].strip()]


def test_the_patch_adds_one_way_through_tcp_prequeue_and_removes_nothing() -> None:
    text = PREQUEUE.diff("drop_dst_early").splitlines()[2:]
    assert [line for line in text if line.startswith("-")] == []
    allowed = (
        "LOAD", "BRANCH", "STORE", "ACCESS  atomic rtable __refcnt", "COUNT   dst_atomics", "JUMP", "tcp_prequeue.",
        "skb_dst_",
    )
    assert all(line.startswith(allowed) for line in changed("drop_dst_early"))


def test_the_layout_moves_fields_of_the_route_and_nothing_else() -> None:
    lines = changed("dst_padding")
    assert lines
    assert all("rtable" in line for line in lines)


@pytest.mark.parametrize("knob", [k for k in KNOBS if k.effect == "acts"], ids=lambda k: k.name)
def test_a_knob_that_acts_changes_what_is_executed_or_transferred(knob: Knob) -> None:
    around = dict(knob.shows_with)
    assert any(counts(**{**around, knob.name: value}) != counts(**around) for value in others(knob))


@pytest.mark.parametrize("knob", [k for k in KNOBS if k.effect == "inert"], ids=lambda k: k.name)
def test_a_knob_that_is_inert_changes_nothing(knob: Knob) -> None:
    assert knob.why
    assert all(counts(**{knob.name: value}) == counts() for value in others(knob))


def test_no_interval_is_zero_wide() -> None:
    result = PREQUEUE.run(replications=3, until_ps=PREQUEUE.warm_ps + 500_000_000)
    assert all(e.low < e.high for e in result.metrics.values())
    assert len({r.steps for r in result.replications}) == 3


def test_golden_numbers() -> None:
    """Instructions, hand-overs and packets of the first 1.2 ms: a change here is a change of the model."""
    golden = {}
    for name, knobs in (("after", {}), ("before", BEFORE), ("rps", RPS)):
        arena = start(**knobs)
        golden[name] = (int(arena[T.H_STEPS]), int(arena[T.H_TRANSFERS]), stats(arena)["delivered"])
    assert golden == {
        "after": (1_318_994, 50_917, 7_626), "before": (909_429, 39_065, 4_526), "rps": (1_208_320, 76_852, 6_431),
    }


def test_the_reference_agrees_where_packets_change_cpu_by_hash() -> None:
    image = PREQUEUE.image(seed=5, trace_rows=200, dst_padding=1, window=8, **RPS)
    machine = check(Case(PREQUEUE.spec, image, (Slice(30_000), Slice(30_000, reset=True))), engines())
    assert machine.steps > 55_000
