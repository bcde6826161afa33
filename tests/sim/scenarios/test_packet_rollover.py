"""packet-rollover: two lasting states, what the mark changes in them, and that no packet gets lost uncounted."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from sim import reported, scenarios
from sim.engine import tables as T
from sim.engine.jit import Array
from sim.engine.native import NativeEngine
from sim.knob import Knob, KnobError, numbers
from sim.result import Replication, queue_rows
from sim.scenarios.packet_rollover import CPUS
from sim.verifier import verify
from tests.sim.engine.agreement import check
from tests.sim.engine.corpus import Case, Slice
from tests.sim.engine.test_equality import engines

ENGINE = NativeEngine()
ROLLOVER = scenarios.load("packet-rollover")
KNOBS = ROLLOVER.knobs
SHORT_PS = 3_000_000_000
BEFORE: dict[str, Any] = {"pressure": 0}
EMPTY: dict[str, Any] = {"start": "empty"}
ROOM, TPACKET = "_raw_spin_lock (packet_rcv_has_room)", "_raw_spin_lock (tpacket_rcv)"


@cache
def _steady(items: tuple[tuple[str, Any], ...]) -> Replication:
    return ROLLOVER.replicate(ENGINE, 1, ROLLOVER.quick_ps, **dict(items))[0]


def steady(**knobs: Any) -> Replication:
    """One short replication after the warm-up."""
    return _steady(tuple(sorted(knobs.items())))


@cache
def _start(items: tuple[tuple[str, Any], ...]) -> Array:
    arena = ENGINE.build(ROLLOVER.image(1, **dict(items)))
    assert ENGINE.run_until(arena, SHORT_PS) == T.REACHED
    return arena


def start(**knobs: Any) -> Array:
    """The first 3 ms, warm-up included and nothing forgotten."""
    return _start(tuple(sorted(knobs.items())))


def stats(arena: Array) -> dict[str, int]:
    return {name: int(arena[arena[T.H_AT_STAT] + i]) for i, name in enumerate(ROLLOVER.spec.stats)}


def counts(**knobs: Any) -> tuple[int, ...]:
    arena = start(**knobs)
    return (int(arena[T.H_STEPS]), int(arena[T.H_TRANSFERS]), *stats(arena).values())


def column(arena: Array, table: str, column: str) -> Array:
    spec = ROLLOVER.spec
    at = spec.tables[[t.name for t in spec.tables].index(table)]
    rows = int(arena[arena[T.H_AT_VALUE] + at.domain.count.row])
    first = int(arena[arena[T.H_AT_SET] + at.number])
    return arena[first : first + rows * len(at.columns)].reshape(rows, len(at.columns))[:, at.column(column)]


def share(run: Replication, *symbols: str) -> float:
    """Part of the busy time of all CPUs, percent."""
    return reported.Reading("profile:*:" + "+".join(symbols)).value(run)


def others(knob: Knob) -> list[int | str]:
    if knob.choices:
        return [c for c in knob.choices if c != knob.default]
    return [v for v in (knob.low, knob.high) if v != knob.default]


# -- two lasting states ------------------------------------------------------------------------------------


def test_full_rings_last_without_the_patch_and_cpus_spin_for_each_others_locks() -> None:
    run = steady(**BEFORE)
    assert run.metrics["own_full"] > 80
    assert run.metrics["mpps"] < 1.0
    assert share(run, ROOM, TPACKET) > 50
    assert share(run, ROOM) > 1.5 * share(run, TPACKET)
    assert share(run, "reader") < 3


def test_empty_rings_last_too_at_the_same_load() -> None:
    run = steady(**BEFORE, **EMPTY)
    assert run.metrics["own_full"] < 1
    assert run.metrics["mpps"] == pytest.approx(3.5, rel=0.03)
    assert share(run, ROOM, TPACKET) < 3


def test_with_the_patch_full_rings_drain() -> None:
    run = steady()
    assert run.metrics["mpps"] > 3.3
    assert share(run, ROOM, TPACKET) < 3


def test_after_the_patch_probing_costs_as_much_as_delivering() -> None:
    run = steady(**EMPTY)
    assert share(run, ROOM) == pytest.approx(share(run, TPACKET), rel=0.2)
    assert share(run, "reader") > share(run, "memcpy_erms") > share(run, ROOM, TPACKET)


def test_less_load_lets_full_rings_drain_without_the_patch() -> None:
    assert steady(**BEFORE, load_kpps=1000).metrics["own_full"] < 5


def test_without_the_flag_no_other_socket_is_asked() -> None:
    run = steady(**BEFORE, rollover=0)
    assert run.metrics["probes_per_packet"] == 0
    assert run.metrics["rolled_over"] == 0
    assert run.metrics["mpps"] > 3 * steady(**BEFORE).metrics["mpps"]


def test_with_the_patch_a_packet_asks_few_sockets() -> None:
    assert stats(start())["probes"] < 0.4 * stats(start(**BEFORE))["probes"]


# -- conservation and bounds --------------------------------------------------------------------------------

SETTINGS = (
    {}, BEFORE, EMPTY, {"rollover": 0}, {"sockets": 3, **BEFORE}, {"ring_frames": 64, "pause_frames": 100},
    {"packages": 1},
)


@pytest.mark.parametrize("knobs", SETTINGS, ids=str)
def test_packets_are_conserved(knobs: dict[str, Any]) -> None:
    arena = start(**knobs)
    stat = stats(arena)
    waiting = sum(int(arena[row + T.Q_LENGTH]) for row in queue_rows(arena, ROLLOVER.spec, "ring"))
    assert stat["offered"] == waiting + stat["packets"] + stat["nic_drops"]
    assert 0 <= stat["packets"] - stat["delivered"] - stat["ring_drops"] <= CPUS
    full = int(np.sum(column(arena, "tpacket2_hdr", "user")))
    chosen = ROLLOVER.settings(**knobs)
    frames = int(chosen["sockets"]) * int(chosen["ring_frames"])
    at_first = frames if chosen["start"] == "full" else 0
    assert abs(at_first + stat["delivered"] - stat["read"] - full) <= 2 * CPUS  # noted, not yet counted


@pytest.mark.parametrize("knobs", SETTINGS, ids=str)
def test_bounds(knobs: dict[str, Any]) -> None:
    stat = stats(start(**knobs))
    sockets = int(ROLLOVER.settings(**knobs)["sockets"])
    assert stat["probes"] <= stat["packets"] * sockets + CPUS * sockets
    assert stat["rolled_over"] + stat.get("rollover_failed", 0) <= stat["own_full"]
    assert stat["ksoftirqd_ps"] <= stat["softirq_ps"] <= CPUS * SHORT_PS


# -- the program --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("knobs", SETTINGS, ids=str)
def test_the_verifier_passes(knobs: dict[str, Any]) -> None:
    verify(ROLLOVER.spec, {**numbers(KNOBS, ROLLOVER.settings(**knobs)), "seed": 1})


def test_the_patch_adds_reads_and_changes_of_the_mark_and_nothing_else() -> None:
    text = [x for x in ROLLOVER.diff("pressure").splitlines()[2:] if x[0] in "+-" and x[1:].strip()]
    assert len(text) > 10
    assert [line for line in text if line.startswith("-")] == []
    for line in (x[1:].strip() for x in text):
        touches = line.startswith(("ACCESS", "LOAD", "STORE", "COUNT"))
        assert "pressure" in line if touches else line.startswith(("BRANCH", "ALU", "packet_", "rollover.", "without"))


@pytest.mark.parametrize("knob", [k for k in KNOBS if k.effect == "acts"], ids=lambda k: k.name)
def test_a_knob_that_acts_changes_what_is_executed_or_transferred(knob: Knob) -> None:
    around = {k: v for k, v in knob.shows_with if k != "slice_ms"}
    if knob.name == "slice_ms":
        around["ring_frames"] = 64
    short = [counts(**{**around, knob.name: value}) for value in others(knob)]
    if all(c == counts(**around) for c in short):  # what only shows after a turn of ksoftirqd or a sample of the rate
        found = [steady(**{**around, knob.name: value}).steps for value in others(knob)]
        assert any(steps != steady(**around).steps for steps in found)


@pytest.mark.parametrize("knob", [k for k in KNOBS if k.effect == "inert"], ids=lambda k: k.name)
def test_a_knob_that_is_inert_changes_nothing(knob: Knob) -> None:
    assert knob.why
    assert all(counts(**{knob.name: value}) == counts() for value in others(knob))


@pytest.mark.parametrize("knob", [k for k in KNOBS if k.effect == "refused"], ids=lambda k: k.name)
def test_a_knob_that_is_refused_says_why(knob: Knob) -> None:
    assert ROLLOVER.settings(**{knob.name: knob.default})
    with pytest.raises(KnobError, match="RPS and RFS are disabled"):
        ROLLOVER.settings(**{knob.name: 1})


def test_no_interval_is_zero_wide() -> None:
    result = ROLLOVER.run(replications=2, until_ps=ROLLOVER.warm_ps + 500_000_000, ring_frames=64, load_kpps=2000)
    assert all(e.low < e.high for e in result.metrics.values())
    assert len({r.steps for r in result.replications}) == 2


def test_the_trap_is_moved_by_the_seed() -> None:
    """The NIC's ring never runs empty there: what varies is each packet's time."""
    steps = {steps_of(seed) for seed in (1, 2)}
    assert len(steps) == 2


def steps_of(seed: int) -> int:
    arena = ENGINE.build(ROLLOVER.image(seed, **BEFORE))
    assert ENGINE.run_until(arena, SHORT_PS) == T.REACHED
    return int(arena[T.H_STEPS])


def test_an_arena_is_small() -> None:
    assert ENGINE.build(ROLLOVER.image(1, ring_frames=4096)).nbytes < 16e6


def test_golden_numbers() -> None:
    """Instructions, hand-overs, packets delivered in the first 3 ms: a change here is a change of the model."""
    golden = {}
    for name, knobs in (("after", {}), ("before", BEFORE), ("empty", EMPTY)):
        arena = start(**knobs)
        golden[name] = (int(arena[T.H_STEPS]), int(arena[T.H_TRANSFERS]), stats(arena)["delivered"])
    assert golden == {
        "after": (2_061_197, 6_233, 762), "before": (1_561_075, 142_656, 0), "empty": (1_172_757, 14, 10_307),
    }


@pytest.mark.parametrize("knobs", [BEFORE, {"pause_frames": 10, "start": "empty"}], ids=str)
def test_the_reference_agrees(knobs: dict[str, Any]) -> None:
    image = ROLLOVER.image(seed=5, trace_rows=200, ring_frames=64, slice_ms=1, **knobs)
    machine = check(Case(ROLLOVER.spec, image, (Slice(30_000), Slice(30_000, reset=True))), engines())
    assert machine.steps > 55_000
