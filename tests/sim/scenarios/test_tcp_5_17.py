"""tcp-5.17: the program takes the socket's lock where the kernel of the thread takes it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from sim import scenarios
from sim.engine import tables as T
from sim.engine.native import NativeEngine
from sim.reference import ReferenceEngine
from sim.scenarios.scenario import Scenario
from sim.trace import Window, record

US = 1_000_000
WINDOW = Window(400 * US, 520 * US)
ENTRIES = ("lock_sock", "release_sock", "flush_backlog")


def readers(scenario: Scenario, flush_backlog: int) -> tuple[Counter[str], int, int]:
    """How often a reader enters each of `ENTRIES`, takes the socket's lock, and takes a backlog, in the window."""
    program = scenario.spec.program
    image = scenario.image(trace_rows=1, flush_backlog=flush_backlog)
    trace = record(NativeEngine(), image, WINDOW)
    entries = {program.address(name): name for name in ENTRIES}
    first, last = min(entries), program.address("__release_sock.empty")
    calls: Counter[str] = Counter()
    taken = batches = 0
    for row in trace.rows:
        op = program.code[row.pc].op
        calls.update([entries[row.pc]] if row.pc in entries else [])
        taken += op == "LOCK" and first <= row.pc <= last
        batches += op == "SPLICE" and first <= row.pc <= last
    return calls, taken, batches


@pytest.mark.parametrize("flush_backlog", [0, 1])
def test_the_lock_is_taken_once_to_begin_and_once_after_each_batch_of_the_backlog(flush_backlog: int) -> None:
    calls, taken, batches = readers(scenarios.load("tcp-5.17"), flush_backlog)
    assert batches > 3
    assert calls["flush_backlog"] > 0 if flush_backlog else calls["release_sock"] > 0
    assert abs(taken - calls.total() - batches) <= 1  # one turn may begin before the window or end behind it
    assert flush_backlog == bool(calls["flush_backlog"])


@pytest.mark.parametrize("tcp_early_demux", [0, 1])
def test_a_packet_holds_a_reference_from_look_up_to_queue(tcp_early_demux: int) -> None:
    scenario = scenarios.load("tcp-5.17")
    program = scenario.spec.program
    trace = record(NativeEngine(), scenario.image(trace_rows=1, tcp_early_demux=tcp_early_demux), WINDOW)
    counts = [pc for pc, one in enumerate(program.code) if one.words[:4] == ("atomic", "sock", "flow", "sk_refcnt")]
    visits = [row.pc for row in trace.rows if row.pc in counts]
    put = program.address("tcp_v6_rcv.put")
    assert len(visits) > 10
    assert all((first == put) != (then == put) for first, then in pairwise(visits))  # taken, dropped, taken, ...


def acks(**knobs: int) -> tuple[float, float, float]:
    """ACKs a second, those of TCP's input, and the rate in Gbit/s, with the kernel's rules."""
    found = scenarios.load("tcp-5.17").run(replications=2, acks_due=1, **knobs).metrics
    return found["acks_per_s"].mean, found["input_acks_per_s"].mean, found["gbps"].mean


def test_when_the_reader_falls_silent_the_input_of_tcp_speaks() -> None:
    every, by_input, rate = acks(ack_after_backlog=0)
    fewer, more, same = acks(ack_after_backlog=1)
    assert fewer < 0.7 * every
    assert more > 2 * by_input
    assert same == pytest.approx(rate, rel=0.01)


@pytest.mark.parametrize("mss", [1, 129])
def test_no_ack_is_sent_for_less_than_two_segments(mss: int) -> None:
    found = scenarios.load("tcp-5.17").run(replications=1, acks_due=1, gro_max_segs=mss)
    assert 0 < found.metrics["acks_per_s"].mean < found.mpps * 1e6 / 2


def test_a_read_longer_than_the_window_stops_the_sender_unless_an_ack_comes_before_the_backlog() -> None:
    long = {"recv_size_bytes": 4 << 20}
    _, _, rate = acks(ack_after_backlog=0, **long)
    _, by_input, stopped = acks(ack_after_backlog=1, **long)
    _, again, free = acks(ack_after_backlog=1, rcvbuf=16 << 20, **long)
    assert by_input == 0
    assert stopped < 0.9 * rate
    assert again > 0
    assert free == pytest.approx(rate, rel=0.01)


def test_the_window_is_used_up_and_never_exceeded() -> None:
    scenario = scenarios.load("tcp-5.17")
    engine = NativeEngine()
    arena = engine.build(scenario.image(trace_rows=0, acks_due=1))
    sender = next(table for table in scenario.spec.tables if table.name == "sender")
    flight = int(arena[arena[T.H_AT_SET] + sender.number]) + sender.column("flight")
    window = int(scenario.settings()["rcvbuf"]) // 2
    flights = []
    for time_us in range(100, 400, 10):
        engine.run_until(arena, time_us * US)
        flights.append(int(arena[flight]))
    assert max(flights) <= window
    assert max(flights) > window - (1 << 17)


def test_the_reference_agrees_on_acks_that_are_due() -> None:
    image = scenarios.load("tcp-5.17").image(seed=1, acks_due=1, gro_max_segs=8)
    native, reference = NativeEngine(), ReferenceEngine()
    arena, machine = native.build(image), reference.build(image)
    assert native.run_until(arena, 150 * US) == reference.run_until(machine, 150 * US) == T.REACHED
    assert (reference.read(machine) == arena).all()
