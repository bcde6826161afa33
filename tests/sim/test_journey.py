"""One packet's way: it is born, handed on and given back, and never in two hands at once without a reason."""

from __future__ import annotations

from functools import cache

import pytest

from sim import journey, scenarios
from sim.engine.native import NativeEngine
from sim.spec import Spec
from sim.trace import Trace, Window, record

US = 1_000_000
CASES: dict[str, tuple[dict[str, int | str], int, int]] = {
    "tcp-5.17": ({"defer_free": 1}, 100, 160),
    "tcp-prequeue": ({}, 20, 30),
    "tcp-rx-skb-cache": ({"rx_skb_cache": 0}, 20, 20),
    "packet-rollover": ({"start": "empty"}, 9_600, 12),
    "udpv6-early-demux": ({}, 50, 200),
    "lab": ({}, 100, 120),
}
SLOW = {"lab", "tcp-rx-skb-cache"}  # the largest
every = pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in CASES])


@cache
def taken(name: str) -> tuple[Spec, Trace]:
    knobs, start, span = CASES[name]
    scenario = scenarios.load(name)
    image = scenario.image(trace_rows=1, **knobs)
    return scenario.spec, record(NativeEngine(), image, Window(start * US, (start + span) * US, room=1 << 20))


@every
def test_some_packets_can_be_followed_from_the_wire_to_the_end(name: str) -> None:
    spec, trace = taken(name)
    found = 0
    for birth in journey.births(trace.rows, spec):
        holds, ended = journey.journey(trace.rows, spec, birth)
        wire = journey.arrival(trace.rows, spec, birth)
        if ended and wire >= 0:
            found += 1
            assert trace.homes[trace.rows[wire].context] == -1  # the wire is no CPU
            assert wire < birth == holds[0].first
            assert trace.rows[holds[-1].last].pc in journey.marks(spec).ends
    assert found >= 2


@every
def test_all_rows_of_a_way_have_the_packet_in_hand(name: str) -> None:
    spec, trace = taken(name)
    known = journey.marks(spec)
    for birth in journey.births(trace.rows, spec)[:40]:
        item = trace.rows[birth].item
        holds, _ = journey.journey(trace.rows, spec, birth)
        for hold in holds:
            rows = [r for r in trace.rows[hold.first : hold.last + 1] if r.context == hold.context]
            assert {r.item for r in rows} == {item}
            assert rows[0].pc in known.takes
            assert not any(r.pc in known.gives for r in rows[:-1])


def test_a_packet_of_5_17_goes_from_the_softirq_to_the_reader() -> None:
    spec, trace = taken("tcp-5.17")
    ways = [journey.journey(trace.rows, spec, birth) for birth in journey.births(trace.rows, spec)]
    whole = [holds for holds, ended in ways if ended]
    code, symbols = spec.program.code, spec.program.symbols
    for holds in whole:
        assert trace.homes[holds[0].context] == 0  # the CPU of the NIC's interrupt
        assert holds[0].context == 0
        at = {symbols[code[row.pc].symbol] for h in holds for row in trace.rows[h.first : h.last + 1]}
        assert {"__alloc_skb", "dev_gro_receive", "tcp_queue_rcv", "tcp_recvmsg_locked", "__kfree_skb"} <= at
        assert 1 in {trace.homes[h.context] for h in holds}  # the reader's


def test_without_an_allocator_there_is_no_packet() -> None:
    spec = Spec()
    spec.program.label("start")
    spec.program.halt()
    assert all(not places for places in vars(journey.marks(spec)).values())
    assert journey.births((), spec) == []
