"""Traces: recording changes nothing, and what is read between two instructions agrees with what the engine counts."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from sim import scenarios
from sim.engine import tables as T
from sim.engine.jit import Array
from sim.engine.native import NativeEngine
from sim.places import Places
from sim.trace import HERE, SOURCES, Trace, Window, record
from sim.wasm.host import WasmEngine

US = 1_000_000
#: Scenarios in settings that have waits: start of the window (us) and its length.
CASES = {
    "tcp-5.17": ({"defer_free": 1}, 300, 40),
    "tcp-prequeue": ({"drop_dst_early": 0}, 30, 6),
    "tcp-rx-skb-cache": ({}, 30, 3),
    "packet-rollover": ({"pressure": 0, "start": "full"}, 2_000, 15),
    "udpv6-early-demux": ({}, 100, 60),
    "lab": ({}, 320, 15),
}
SETS = {
    "tcp-5.17": ("sk_receive_queue", "gro_list", "ring"), "tcp-prequeue": ("ucopy.prequeue", "process_queue"),
    "tcp-rx-skb-cache": ("ring", "under way"), "packet-rollover": ("ring",), "udpv6-early-demux": ("sk_receive_queue",),
    "lab": ("sk_receive_queue", "ring"),
}


def image_of(name: str, trace_rows: int) -> Array:
    return scenarios.load(name).image(trace_rows=trace_rows, **CASES[name][0])


@cache
def taken(name: str) -> tuple[Trace, Places]:
    scenario = scenarios.load(name)
    image = image_of(name, 1)
    places = Places(scenario.spec, NativeEngine().build(image))
    _, start, span = CASES[name]
    window = Window(start * US, (start + span) * US, queues=places.queues(SETS[name]))
    return record(NativeEngine(), image, window), places


@cache
def untraced(name: str) -> tuple[Array, Array]:
    """The arena at both ends of the window, run in one go and without a ring."""
    _, start, span = CASES[name]
    engine = NativeEngine()
    arena = engine.build(image_of(name, 1))
    arena[T.H_TRACE_ROWS] = 0
    engine.run_until(arena, start * US)
    before = arena.copy()
    engine.run_until(arena, (start + span) * US)
    return before, arena


SLOW = {"lab", "tcp-rx-skb-cache"}  # the largest
every = pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in CASES])


@every
def test_a_trace_lists_as_many_instructions_as_the_untraced_run_executes(name: str) -> None:
    before, after = untraced(name)
    code = [one.op for one in scenarios.load(name).spec.program.code]
    trace, _ = taken(name)
    keys = int(after[T.H_STEPS] - before[T.H_STEPS]) - len(trace.rows)
    assert 0 <= keys < len(trace.rows)  # patched branches take no row
    assert all(code[row.pc] != "KEY" for row in trace.rows)
    assert trace.lost == 0
    assert trace.status == "reached"


@every
def test_times_of_symbols_are_those_of_the_engines_profile(name: str) -> None:
    before, after = untraced(name)
    spec = scenarios.load(name).spec
    trace, _ = taken(name)
    symbols, cpus = len(spec.program.symbols), trace.cpus
    at = int(before[T.H_AT_PROFILE])
    charged = (after - before)[at : at + 2 * cpus * symbols].reshape(2, cpus, symbols)
    traced = np.zeros_like(charged)
    for row in trace.rows:
        home = trace.homes[row.context]
        if home >= 0:
            traced[0 if row.context < cpus else 1, home, spec.program.code[row.pc].symbol] += row.took_ps
    locks = {one.symbol for one in spec.program.code if one.op == "LOCK"}  # spins are charged when they end
    exact = [k for k in range(1, symbols) if k not in locks]  # symbol 0 has the switches between threads
    assert charged[:, :, exact].sum() > 0
    assert (charged[:, :, exact] == traced[:, :, exact]).all()


@every
def test_nothing_overlaps_on_a_cpu(name: str) -> None:
    trace, _ = taken(name)
    free = [0] * trace.cpus
    for row in trace.rows:
        home = trace.homes[row.context]
        if home >= 0 and row.took_ps:
            assert row.time_ps >= free[home]
            free[home] = row.time_ps + row.took_ps


@every
def test_an_access_costs_what_the_machine_says_once_its_wait_is_over(name: str) -> None:
    before, _ = untraced(name)
    cost = {n: int(before[T.HEADER.index(f"{n}_ps")]) for n in ("hit", "sibling", "same_socket", "other_socket")}
    far = {int(before[T.HEADER.index(f"{n}_ps")]) for n in ("shared_read", "memory")}
    atomic = int(before[T.H_ATOMIC_PS])
    code = scenarios.load(name).spec.program.code
    trace, _ = taken(name)
    rows = [row for row in trace.rows if code[row.pc].op == "ACCESS"]
    assert {row.source for row in rows} >= {HERE}
    for row in rows:
        rest = row.took_ps - row.wait_ps - (atomic if code[row.pc].words[0] == "atomic" else 0)
        assert rest in {*cost.values(), *far}, (row, SOURCES[row.source])
        assert (rest == cost["hit"]) >= (row.source == HERE)


@every
def test_queues_end_with_the_length_that_the_engine_has(name: str) -> None:
    _, after = untraced(name)
    trace, places = taken(name)
    for queue in SETS[name]:
        at = places.queues([queue])
        assert trace.series(at)[-1][1] == sum(int(after[place + T.Q_LENGTH]) for place in at)
        assert trace.series(at)[0] == (trace.start_ps, sum(trace.lengths[place] for place in at))


def test_who_spins_waits_until_another_releases_the_lock() -> None:
    name = "packet-rollover"
    trace, _ = taken(name)
    code = scenarios.load(name).spec.program.code
    spins = [row for row in trace.rows if row.spin]
    assert len(spins) > 20
    releases = {(row.what, row.time_ps) for row in trace.rows if code[row.pc].op == "UNLOCK"}
    for row in spins:
        assert row.wait_ps == row.took_ps > 0
        end = row.time_ps + row.took_ps
        assert end == trace.end_ps or any(what == row.what and row.time_ps <= t < end for what, t in releases)


def test_webassembly_records_the_same_rows() -> None:
    image = image_of("tcp-prequeue", 1)
    window = Window(20 * US, 21 * US)
    assert record(WasmEngine(), image, window) == record(NativeEngine(), image, window)


def test_a_trace_keeps_the_last_rows_and_says_how_many_are_lost() -> None:
    image = image_of("tcp-5.17", 1)
    whole = record(NativeEngine(), image, Window(300 * US, 302 * US))
    short = record(NativeEngine(), image, Window(300 * US, 302 * US, room=100))
    assert short.rows == whole.rows[-100:]
    assert short.lost == len(whole.rows) - 100


def test_a_watched_line_leaves_only_what_touches_it_and_ends_after_so_many() -> None:
    image = image_of("tcp-5.17", 1)
    scenario = scenarios.load("tcp-5.17")
    line = Places(scenario.spec, NativeEngine().build(image)).field("sock", "sk_lock.slock")
    whole = record(NativeEngine(), image, Window(300 * US, 340 * US))
    touching = [row._replace(sharers=0) for row in whole.rows if row.line == line]
    watched = record(NativeEngine(), image, Window(300 * US, 340 * US, watch=line, events=10))
    assert [row._replace(sharers=0) for row in watched.rows] == touching[:10]
    assert watched.end_ps == watched.rows[-1].time_ps


def test_an_image_without_a_ring_is_refused() -> None:
    with pytest.raises(ValueError, match="trace_rows=1"):
        record(NativeEngine(), image_of("tcp-5.17", 0), Window(0, US))


def test_places_have_the_names_of_the_spec() -> None:
    _, places = taken("tcp-5.17")
    assert places.line(places.field("sock", "sk_lock.slock")).startswith("sock line ")
    assert "sk_lock.slock" in places.line(places.field("sock", "sk_lock.slock"))
    assert places.line(places.field("page", "_refcount", 7)) == "page[7]: _refcount"
    assert places.queue(places.queues(["gro_list"])[1]) == "gro_list[1]"
    with pytest.raises(ValueError, match="'sock'"):
        places.field("sok", "sk_lock.slock")
    with pytest.raises(ValueError, match="rows 0 to 0"):
        places.field("sock", "sk_lock.slock", 1)
    with pytest.raises(ValueError, match="'gro_list'"):
        places.queues(["gro_lst"])
