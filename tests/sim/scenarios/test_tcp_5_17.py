"""tcp-5.17: the program takes the socket's lock where the kernel of the thread takes it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from sim import scenarios
from sim.engine.native import NativeEngine
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
