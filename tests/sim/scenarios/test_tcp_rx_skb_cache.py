"""tcp-rx-skb-cache: what carries the gain, what does not help, both allocators' rules, and that nothing gets lost."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sim import fit_tcp_rx_skb_cache as fit
from sim import fitted, reported, scenarios
from sim.engine import tables as T
from sim.engine.jit import Array
from sim.engine.native import NativeEngine
from sim.knob import Knob, numbers
from sim.path.slab import ALIEN_LIMIT, SHARED_FACTOR
from sim.result import Replication, queue_rows
from sim.scenarios import tcp_rx_skb_cache as thread
from sim.verifier import verify
from tests.sim.engine.agreement import check
from tests.sim.engine.corpus import Case, Slice
from tests.sim.engine.test_equality import engines

ENGINE = NativeEngine()
SERVICE = scenarios.load("tcp-rx-skb-cache")
KNOBS = SERVICE.knobs
SHORT_PS = 1_600_000_000
STEADY_PS = 3_800_000_000
CACHES = {"skb": 120, "fclone": 54, "head": 24}  # limits of a CPU's array before the patches

Settings = dict[str, Any]
BEFORE: Settings = {"rx_skb_cache": 0, "tx_skb_cache": 0}
RX: Settings = {"rx_skb_cache": 1, "tx_skb_cache": 0}
TX: Settings = {"rx_skb_cache": 0, "tx_skb_cache": 1}
SLUB: Settings = {"allocator": "slub"}
RPS: Settings = {"rps_cpus": "all"}
RFS: Settings = {"rfs": 1}
FORCED: Settings = {"force_rx_cache": 1}


@cache
def _steady(items: tuple[tuple[str, Any], ...]) -> Replication:
    return SERVICE.replicate(ENGINE, 1, STEADY_PS, **dict(items))[0]


def steady(*settings: Settings, **knobs: Any) -> Replication:
    """One short replication after the warm-up, with settings laid over each other."""
    merged = {name: value for part in (*settings, knobs) for name, value in part.items()}
    return _steady(tuple(sorted(merged.items())))


def metric(name: str, *settings: Settings, **knobs: Any) -> float:
    return steady(*settings, **knobs).metrics[name]


@cache
def _start(items: tuple[tuple[str, Any], ...]) -> Array:
    arena = ENGINE.build(SERVICE.image(1, **dict(items)))
    assert ENGINE.run_until(arena, SHORT_PS) == T.REACHED
    return arena


def start(**knobs: Any) -> Array:
    """The first 1.6 ms, warm-up included and nothing forgotten."""
    return _start(tuple(sorted(knobs.items())))


def stats(arena: Array) -> dict[str, int]:
    return {name: int(arena[arena[T.H_AT_STAT] + i]) for i, name in enumerate(SERVICE.spec.stats)}


def counts(**knobs: Any) -> tuple[int, ...]:
    arena = start(**knobs)
    return (int(arena[T.H_STEPS]), int(arena[T.H_TRANSFERS]), *stats(arena).values())


def column(arena: Array, table: str, name: str) -> Array:
    """A table's column."""
    spec = SERVICE.spec
    at = spec.tables[[t.name for t in spec.tables].index(table)]
    rows = int(arena[arena[T.H_AT_VALUE] + at.domain.count.row])
    first = int(arena[arena[T.H_AT_SET] + at.number])
    return arena[first : first + rows * len(at.columns)].reshape(rows, len(at.columns))[:, at.column(name)]


def queued(arena: Array, name: str) -> int:
    return sum(int(arena[row + T.Q_LENGTH]) for row in queue_rows(arena, SERVICE.spec, name))


def longest(arena: Array, name: str) -> int:
    return max(int(arena[row + T.Q_MAX]) for row in queue_rows(arena, SERVICE.spec, name))


def others(knob: Knob) -> list[int | str]:
    if knob.choices:
        return [c for c in knob.choices if c != knob.default]
    return [v for v in (knob.low, knob.high) if v != knob.default]


# -- the gain ----------------------------------------------------------------------------------------------


def test_both_patches_gain_and_each_of_them_does() -> None:
    before, both = metric("mpps", BEFORE), metric("mpps")
    assert before == pytest.approx(8, rel=0.02)
    assert before < metric("mpps", RX) < both
    assert before < metric("mpps", TX) < both
    assert 1.05 < both / before < 1.12


def test_slub_gains_too_and_its_rate_before_was_not_fitted() -> None:
    before, both = metric("mpps", SLUB, BEFORE), metric("mpps", SLUB)
    assert before == pytest.approx(8, rel=0.03)
    assert 1.05 < both / before < 1.12


def test_before_the_patches_three_objects_a_request_are_freed_elsewhere() -> None:
    assert metric("remote_frees", SLUB, BEFORE) == pytest.approx(3, abs=0.1)
    assert metric("alien_frees", BEFORE) == pytest.approx(1.5, abs=0.1)  # half of the three are the other node's


def test_each_patch_takes_its_objects_out_of_the_allocator() -> None:
    assert metric("alien_frees", RX) == pytest.approx(1.0, abs=0.1)
    assert metric("alien_frees", TX) == pytest.approx(0.5, abs=0.1)
    assert metric("alien_frees") < 0.01
    assert metric("remote_frees", SLUB) < 1  # the request's, to an older slab of the same CPU
    assert metric("list_locks") < 0.01


def test_lines_stay_where_they_are_used() -> None:
    assert metric("transfers_per_packet", BEFORE) - metric("transfers_per_packet") > 8


def test_slab_waits_for_alien_locks_and_slub_for_hardly_any() -> None:
    assert metric("alien_wait", BEFORE) > 4 * metric("list_wait", BEFORE)
    assert metric("lock_wait", SLUB, BEFORE) < 0.1 * metric("lock_wait", BEFORE)
    assert metric("lock_wait") < 5


def test_the_gain_lies_on_a_knee_of_the_locks_sections() -> None:
    """Equal steps of a section's length cost ever more before the patches and nothing after both."""
    rates = [metric("mpps", BEFORE, lock_section_ns=ns) for ns in (0, 100, 200, 300)]
    steps = [a - b for a, b in pairwise(rates)]
    assert 0 < steps[0] < steps[1] < steps[2]
    assert metric("mpps", lock_section_ns=300) == pytest.approx(metric("mpps"), rel=0.005)


# -- what does not help ------------------------------------------------------------------------------------


@pytest.mark.parametrize("steering", [RPS, RFS], ids=str)
def test_with_steering_the_receive_cache_stays_off(steering: Settings) -> None:
    assert counts(**steering, **RX) == counts(**steering, **BEFORE)
    assert metric("kept", steering, RX) == 0


@pytest.mark.parametrize("steering", [RPS, RFS], ids=str)
def test_forced_on_it_gains_nothing_since_yet_another_cpu_allocated(steering: Settings) -> None:
    assert metric("kept", steering, RX, FORCED) == pytest.approx(1, abs=0.02)
    assert metric("mpps", steering, RX, FORCED) < 1.005 * metric("mpps", steering, BEFORE)
    assert metric("alien_frees", steering, RX, FORCED) > 0.95 * metric("alien_frees", steering, BEFORE)


def test_without_steering_forcing_it_changes_nothing() -> None:
    assert counts(**FORCED) == counts()


LOOPBACK: Settings = {"workload": "loopback"}


def test_on_loopback_the_cache_keeps_senders_from_using_their_page_again() -> None:
    """The robot's finding: pages held a little longer, hence the zone's lock."""
    assert metric("loopback_pages", LOOPBACK, BEFORE) < 0.05
    assert metric("loopback_pages", LOOPBACK, RX) == pytest.approx(0.5, abs=0.02)
    assert metric("zone_wait", LOOPBACK, RX) > 10 * metric("zone_wait", LOOPBACK, BEFORE) + 100
    assert metric("pair_mbps", LOOPBACK, RX) < 0.97 * metric("pair_mbps", LOOPBACK, BEFORE)


def test_on_loopback_deep_windows_need_the_zone_without_the_cache_too() -> None:
    assert metric("loopback_pages", LOOPBACK, BEFORE, window_messages=16) > 0.4
    assert metric("pair_mbps", LOOPBACK, RX, window_messages=16) > metric(
        "pair_mbps", LOOPBACK, BEFORE, window_messages=16
    )


# -- rules of the allocators -------------------------------------------------------------------------------


def test_slab_keeps_within_its_limits() -> None:
    arena = start(**BEFORE)
    for name, limit in CACHES.items():
        assert longest(arena, f"{name} alien") <= ALIEN_LIMIT
        assert longest(arena, f"{name} array_cache") <= limit // 2 + 1  # a softirq may come between two looks
        assert longest(arena, f"{name} shared") <= SHARED_FACTOR * limit // 2


def test_a_head_is_smaller_with_the_transmit_patch() -> None:
    before, after = start(**BEFORE, **SLUB), start(**TX, **SLUB)
    for arena, objects in ((before, 16), (after, 32)):
        slabs = column(arena, "head object", "slab")
        assert np.bincount(slabs)[0] == objects


GOLDEN = [10809, 15392, 4844, 3057486, 312846]
SETTINGS: list[Settings] = [{}, BEFORE, {**BEFORE, **SLUB}, {**BEFORE, **RPS}, {**RFS, **FORCED, **SLUB}, LOOPBACK]


@pytest.mark.parametrize("knobs", SETTINGS[:-1], ids=str)
def test_a_flow_is_in_one_place(knobs: Settings) -> None:
    arena = start(**knobs)
    count = stats(arena)
    in_the_driver = count["offered"] - count["packets"] - count["nic_drops"] - queued(arena, "ring")
    assert 0 <= in_the_driver <= 56
    places = ("ring", "under way", "rdllist", "txlist", "input_pkt_queue", "process_queue")
    in_hand = thread.FLOWS - sum(queued(arena, name) for name in places)
    assert 0 <= in_hand <= 2 * thread.READERS + thread.READERS


@pytest.mark.parametrize("knobs", SETTINGS, ids=str)
def test_objects_are_conserved(knobs: Settings) -> None:
    """An object is free in one of the allocator's places, in use by a socket or steered, or in a CPU's hands."""
    arena = start(**knobs)
    for name, columns in {"skb": ("rx", "rx_cache"), "fclone": ("tx", "tx_cache")}.items():
        total = len(column(arena, f"{name} object", "slab"))
        free = sum(
            queued(arena, f"{name} {place}")
            for place in ("page freelist", "cpu freelist", "array_cache", "array_cache older", "shared", "alien")
        )
        held = [int(x) for c in columns for x in column(arena, "sock", c) if x >= 0]
        assert len(held) == len(set(held))
        steered = queued(arena, "input_pkt_queue") + queued(arena, "process_queue") if name == "skb" else 0
        assert 0 <= total - free - len(held) - steered <= 2 * thread.READERS


@pytest.mark.parametrize("knobs", SETTINGS, ids=str)
def test_pages_are_conserved(knobs: Settings) -> None:
    arena = start(**knobs)
    users = column(arena, "order-3 page", "users")
    assert users.min() >= 0
    assert len(users) - queued(arena, "zone") - np.count_nonzero(users) in range(2 * thread.READERS)


def test_the_arena_stays_small() -> None:
    assert start().nbytes <= 64 << 20


# -- knobs, keys, agreement --------------------------------------------------------------------------------


@pytest.mark.parametrize("knobs", SETTINGS, ids=str)
def test_the_verifier_passes(knobs: Settings) -> None:
    verify(SERVICE.spec, {**numbers(KNOBS, SERVICE.settings(**knobs)), "seed": 1, "trace_rows": 0})


@pytest.mark.parametrize("knob", [k for k in KNOBS if k.effect == "acts"], ids=lambda k: k.name)
def test_the_verifier_passes_at_both_ends(knob: Knob) -> None:
    for value in others(knob):
        verify(SERVICE.spec, {**numbers(KNOBS, SERVICE.settings(**{knob.name: value})), "seed": 1, "trace_rows": 0})


@pytest.mark.parametrize("knob", [k for k in KNOBS if k.effect == "acts"], ids=lambda k: k.name)
def test_a_knob_that_acts_changes_what_is_executed_or_transferred(knob: Knob) -> None:
    shown = dict(knob.shows_with)
    assert counts(**shown, **{knob.name: others(knob)[-1]}) != counts(**shown)


@pytest.mark.parametrize("knob", [k for k in KNOBS if k.effect == "inert"], ids=lambda k: k.name)
def test_a_knob_that_is_inert_changes_nothing(knob: Knob) -> None:
    assert counts(**{knob.name: others(knob)[-1]}) == counts()


def test_the_receive_patch_is_two_places() -> None:
    diff = SERVICE.diff("rx_skb_cache", tx_skb_cache=0).splitlines()
    lines = [x for x in diff if x[:1] in "+-" and x[1:2] not in "+-"]
    assert any("rx_cache" in x for x in lines if x.startswith("+"))
    assert not any("tx" in x for x in lines)


def test_golden_numbers() -> None:
    arena = start(**BEFORE)
    count = stats(arena)
    assert [count[name] for name in ("transactions", "alien_frees", "list_locks")] == GOLDEN[:3]
    assert [int(arena[T.H_STEPS]), int(arena[T.H_TRANSFERS])] == GOLDEN[3:]


def test_no_interval_is_zero_wide() -> None:
    run = SERVICE.run(replications=2, until_ps=3_300_000_000)
    assert all(e.low < e.high for e in run.metrics.values())


def test_the_constant_was_fitted_on_the_rate_before_and_on_nothing_else() -> None:
    figures = {f.fit or f.id: f for f in reported.figures(fit.THREAD)}
    (row,) = (r for r in fitted.records() if r["scenario"] == fit.THREAD)
    assert row["reported"] == figures[row["figure"]].reported == 8
    assert figures[row["figure"]].role == "fitted"
    with pytest.raises(KeyError):
        fit.fit({})


@pytest.mark.slow
def test_after_figures_changed_by_half_leave_the_constant_byte_identical() -> None:
    changed = {n: v if n == "rate_before" else 1.5 * v for n, v in reported.values(fit.THREAD).items()}
    rows = [r for r in fitted.records() if r["scenario"] == fit.THREAD]
    assert json.dumps(fit.fit(changed, log=lambda _: None)) == json.dumps(rows)


@pytest.mark.parametrize("knobs", [{**BEFORE, **RPS}, {**BEFORE, **SLUB}], ids=str)
def test_the_reference_agrees(knobs: Settings) -> None:
    image = SERVICE.image(seed=5, trace_rows=200, **knobs)
    machine = check(Case(SERVICE.spec, image, (Slice(12_000), Slice(12_000, reset=True))), engines())
    assert machine.steps > 20_000
