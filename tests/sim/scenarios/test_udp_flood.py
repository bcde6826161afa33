"""A scenario of one's own, out of the parts of the path: sixty lines that touch no part."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.engine import tables as T
from sim.engine.native import NativeEngine
from sim.knob import numbers
from sim.verifier import verify
from tests.sim.engine.agreement import check
from tests.sim.engine.corpus import Case, Slice
from tests.sim.engine.test_equality import engines

from . import example_udp_flood

FLOOD = example_udp_flood.UdpFlood()
ENGINE = NativeEngine()


def read(cpus: int, **knobs: int) -> float:
    return FLOOD.replicate(ENGINE, 1, FLOOD.quick_ps, cpus=cpus, **knobs)[0].metrics["read"]


def test_it_is_short() -> None:
    assert len(Path(str(example_udp_flood.__file__)).read_text(encoding="utf-8").splitlines()) <= 60


@pytest.mark.parametrize("cpus", [1, 4, 15])
def test_it_is_sound(cpus: int) -> None:
    verify(FLOOD.spec, {**numbers(FLOOD.knobs, FLOOD.settings(cpus=cpus)), "seed": 1, "trace_rows": 0})


def test_more_cpus_that_drop_leave_less_for_the_one_that_reads() -> None:
    assert read(15) < read(4) < read(2)


def test_without_a_flood_everything_is_read() -> None:
    run = FLOOD.replicate(ENGINE, 1, FLOOD.quick_ps, offered_kpps=500)[0]
    assert run.metrics["dropped"] == 0
    assert run.metrics["read"] == pytest.approx(run.metrics["offered"], rel=0.02)


def test_packets_are_conserved() -> None:
    arena = ENGINE.build(FLOOD.image(1))
    assert ENGINE.run_until(arena, FLOOD.quick_ps) == T.REACHED
    stat = {name: int(arena[arena[T.H_AT_STAT] + i]) for i, name in enumerate(FLOOD.spec.stats)}
    assert stat["rcvbuf_drops"] > 0
    assert 0 <= stat["ip_packets"] - stat["rcvbuf_drops"] - stat["queued"] <= 4
    assert stat["delivered"] <= stat["queued"] <= stat["delivered"] + 212_992 // 768 + 4


def test_reference_and_engines_agree() -> None:
    case = Case(FLOOD.spec, FLOOD.image(seed=2), (Slice(1), Slice(9_999), Slice(10_000, within_ps=20_000_000)))
    assert check(case, engines()).steps >= 10_000
