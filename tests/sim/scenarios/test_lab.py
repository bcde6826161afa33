"""lab: every kind of socket runs, every knob does what it says, nothing gets lost, and what the threads found shows."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from sim import machine, scenarios
from sim.engine import tables as T
from sim.engine.jit import Array
from sim.engine.native import NativeEngine
from sim.knob import Knob, KnobError, numbers
from sim.result import Replication, queue_rows
from sim.scenarios.lab_knobs import KINDS
from sim.verifier import verify
from tests.sim.engine.agreement import check
from tests.sim.engine.corpus import Case, Slice
from tests.sim.engine.test_equality import engines

ENGINE = NativeEngine()
LAB = scenarios.load("lab")
KNOBS = LAB.knobs
START_PS = 400_000_000

Settings = dict[str, Any]
MANY: Settings = {"flows": 64}
UDP: Settings = {"socket": "udp"}
CONNECTED: Settings = {"socket": "udp_connected"}
FANOUT: Settings = {"socket": "packet_fanout"}


@cache
def _start(items: tuple[tuple[str, Any], ...]) -> Array:
    arena = ENGINE.build(LAB.image(1, **dict(items)))
    status = ENGINE.run_until(arena, START_PS)
    assert status == T.REACHED, T.STATUS_NAMES[status]
    return arena


def start(*settings: Settings, **knobs: Any) -> Array:
    """The first instants, nothing forgotten."""
    merged = {name: value for part in (*settings, knobs) for name, value in part.items()}
    return _start(tuple(sorted(merged.items())))


@cache
def _steady(items: tuple[tuple[str, Any], ...]) -> Replication:
    return LAB.replicate(ENGINE, 1, LAB.quick_ps, **dict(items))[0]


def metric(name: str, *settings: Settings, **knobs: Any) -> float:
    """A reading after the warm-up, with settings laid over each other."""
    merged = {name: value for part in (*settings, knobs) for name, value in part.items()}
    return _steady(tuple(sorted(merged.items()))).metrics[name]


def stats(arena: Array) -> dict[str, int]:
    return {name: int(arena[arena[T.H_AT_STAT] + i]) for i, name in enumerate(LAB.spec.stats)}


def counts(**knobs: Any) -> tuple[int, ...]:
    arena = start(**knobs)
    return (int(arena[T.H_STEPS]), int(arena[T.H_TRANSFERS]), *stats(arena).values())


def queued(arena: Array, name: str) -> int:
    return sum(int(arena[row + T.Q_LENGTH]) for row in queue_rows(arena, LAB.spec, name))


def cells(arena: Array, table: str, column: str) -> list[int]:
    at = next(t for t in LAB.spec.tables if t.name == table)
    rows = int(arena[arena[T.H_AT_VALUE] + at.domain.count.row])
    first = int(arena[arena[T.H_AT_SET] + at.number]) + at.column(column)
    return [int(arena[first + i * len(at.columns)]) for i in range(rows)]


def others(knob: Knob) -> list[int | str]:
    if knob.choices:
        return [c for c in knob.choices if c != knob.default]
    return [v for v in (knob.low, knob.high) if v != knob.default]


# -- knobs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("knob", [k for k in KNOBS if k.effect == "acts"], ids=lambda k: k.name)
def test_a_knob_that_acts_changes_what_is_executed_or_transferred(knob: Knob) -> None:
    around = dict(knob.shows_with)
    base = counts(**around)
    assert any(counts(**{**around, knob.name: value}) != base for value in others(knob))


@pytest.mark.parametrize("knob", [k for k in KNOBS if k.effect != "acts"], ids=lambda k: k.name)
def test_a_knob_that_does_not_act_says_why(knob: Knob) -> None:
    assert knob.why
    if knob.effect == "inert":
        assert all(counts(**{knob.name: value}) == counts() for value in others(knob))
        return
    with pytest.raises(KnobError, match="refuses"):
        LAB.settings(**{knob.name: 1})


def sound(**knobs: Any) -> None:
    verify(LAB.spec, {**numbers(KNOBS, LAB.settings(**knobs)), "seed": 1, "trace_rows": 0})


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_sound(kind: str) -> None:
    sound(socket=kind)
    sound(socket=kind, rps_cpus=4, uid_rules=2, fib_rules=2, rss="hashed", flows=64, mtu=9000, message_bytes=8928)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_sound_with_all_patches(kind: str) -> None:
    sound(socket=kind, **dict.fromkeys(LAB.patches, 1))


@pytest.mark.slow
@pytest.mark.parametrize("knob", KNOBS, ids=lambda k: k.name)
def test_every_end_of_a_knobs_range_is_sound(knob: Knob) -> None:
    if knob.effect == "refused":
        return
    for value in others(knob):
        sound(**{**dict(knob.shows_with), knob.name: value})


@pytest.mark.parametrize("kind", KINDS)
def test_every_end_of_a_knobs_range_runs_with_every_kind(kind: str) -> None:
    for knob in KNOBS:
        if knob.name != "socket" and knob.effect != "refused":
            for value in others(knob):
                arena = ENGINE.build(LAB.image(1, **{"socket": kind, knob.name: value}))
                assert ENGINE.run_until(arena, 60_000_000) == T.REACHED, (knob.name, value)


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_settings_fit_in_64_mb(kind: str) -> None:
    large = {
        "socket": kind, "flows": 512, "rcvbuf": 4194304, "rx_queues": 64, "ring_frames": 4096, "readers": 64,
        "rps_cpus": 16, "message_bytes": 8928, "mtu": 9000, "max_skb_frags": 45,
        "sockets": 2, "cores_per_socket": 28, "threads_per_core": 2,
    }
    for mtu in (1280, 9000):
        assert ENGINE.build(LAB.image(1, **{**large, "mtu": mtu})).nbytes <= 64 << 20


@pytest.mark.parametrize("topology", [(1, 2, 1), (2, 28, 2), (4, 56, 2)])
def test_a_topology_of_ones_own(topology: tuple[int, int, int]) -> None:
    sockets, cores, threads = topology
    own = {"sockets": sockets, "cores_per_socket": cores, "threads_per_core": threads}
    arena = start(own, rx_queues=64, readers=64, rps_cpus=16, flows=128, link_gbps=5)
    assert int(arena[T.H_CPUS]) == min(sockets * cores, 112) * threads
    assert stats(arena)["bytes"] > 0
    sound(**own, rx_queues=64, readers=64, rps_cpus=16)


@pytest.mark.parametrize("name", ["neoverse-n1", "arm64-phone", "zen3-milan"])
def test_any_machine(name: str) -> None:
    other = scenarios.load("lab", machine.load(name))
    assert other.settings()["cores_per_socket"] == other.machine.topology.cores_per_socket
    verify(other.spec, {**numbers(other.knobs, other.settings()), "seed": 1, "trace_rows": 0})
    assert other.replicate(ENGINE, 1, other.quick_ps)[0].metrics["gbps"] > 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["neoverse-n1", "arm64-phone", "zen3-milan"])
def test_a_processor_chosen_by_knob_is_the_machine_given(name: str, kind: str) -> None:
    other = scenarios.load("lab", machine.load(name))
    shape = {"sockets": 2, "cores_per_socket": 4, "threads_per_core": 1}
    given = other.replicate(ENGINE, 1, other.warm_ps + 200_000_000, socket=kind, **shape)[0]
    chosen = LAB.replicate(ENGINE, 1, LAB.warm_ps + 200_000_000, socket=kind, processor=name)[0]
    assert chosen.metrics == given.metrics
    assert chosen.profile == given.profile


def test_a_listing_calls_a_cost_that_follows_the_processor_by_its_name() -> None:
    assert re.search(r"WORK +tcp_rcv_ps 0 0 +tcp_v6_rcv", LAB.listing())


def test_a_cpu_takes_new_packets_only_when_it_has_worked_off_those_it_took() -> None:
    """So no more than twice `netdev_max_backlog` wait for it, however far it lags behind."""
    arena = ENGINE.build(LAB.image(1, socket="udp", readers=1, rx_queues=2, offered_kpps=8000, rps_cpus=2))
    assert ENGINE.run_until(arena, LAB.quick_ps) == T.REACHED
    assert stats(arena)["backlog_drops"] > 0
    for name in ("input_pkt_queue", "process_queue"):
        lengths = [int(arena[row + T.Q_LENGTH]) for row in queue_rows(arena, LAB.spec, name)]
        assert max(lengths) <= LAB.knob("netdev_max_backlog").default


@pytest.mark.parametrize(("place", "cpus"), [("first", {0, 1}), ("other_socket", {4, 5}), ("last", {6, 7})])
def test_rps_spreads_flows_over_the_cpus_of_its_mask(place: str, cpus: set[int]) -> None:
    arena = start(MANY, rps_cpus=2, rps_place=place)
    assert set(cells(arena, "rps_flow", "by_hash")) == cpus


# -- what the threads found --------------------------------------------------------------------------------


def test_flows_that_take_turns_leave_gro_less_to_merge() -> None:
    """A poll that is not overloaded sees few packets of each flow."""
    calm = {"link_gbps": 25, "rx_queues": 1}
    few = metric("gro_segments", calm, flows=1)
    assert few > 1.5 * metric("gro_segments", calm, MANY, burst_segs=1)
    assert metric("gro_segments", calm, MANY, burst_segs=1) < metric("gro_segments", calm, MANY, burst_segs=64)


def test_more_flows_than_a_bucket_holds_send_the_oldest_up() -> None:
    assert stats(start(flows=8, rx_queues=1))["gro_oldest"] == 0
    assert stats(start(flows=256, rx_queues=1, burst_segs=1))["gro_oldest"] > 0


def test_without_gro_a_packet_goes_up_alone() -> None:
    assert metric("gro_segments", gro_max_segs=1) == 1
    assert metric("gbps", gro_max_segs=1) < metric("gbps")


def test_more_queues_carry_more() -> None:
    assert metric("mpps", rx_queues=1) < 0.7 * metric("mpps", rx_queues=2)


def test_a_larger_mtu_carries_more() -> None:
    assert metric("gbps", rx_queues=1, mtu=9000) > 1.2 * metric("gbps", rx_queues=1)


def test_deferred_frees_move_to_the_softirq_and_help_a_reader_that_is_the_bottleneck() -> None:
    one = {"rx_queues": 1, "flows": 1}
    assert metric("freed_by_softirq", one) == 0
    for patch, share in (("defer_free", 30), ("defer_per_cpu", 99)):
        assert metric("freed_by_softirq", one, **{patch: 1}) > share
        assert metric("gbps", one, **{patch: 1}) > 1.1 * metric("gbps", one)


def test_deferred_frees_do_not_help_where_the_softirq_is_the_bottleneck() -> None:
    """Readers that wait for packets free them at once: there is nothing to defer."""
    many = {"rx_queues": 1, "flows": 8}
    assert metric("freed_by_softirq", many, defer_free=1) < 5
    assert metric("gbps", many, defer_free=1) < 1.03 * metric("gbps", many)


def test_a_flood_into_one_socket_grows_no_faster_with_more_cpus() -> None:
    flood = {**UDP, "offered_kpps": 20000, "flows": 64}
    assert metric("read_mpps", flood, rx_queues=8) < metric("read_mpps", flood, rx_queues=2)


def test_each_rule_looks_a_socket_up_unless_early_demux_found_it() -> None:
    rules = {"uid_rules": 4, "flows": 1}
    found = metric("lookups_per_packet", CONNECTED, rules)
    assert found == pytest.approx(0, abs=0.05)
    assert metric("lookups_per_packet", CONNECTED, rules, udp_early_demux=0) == pytest.approx(5, abs=0.05)
    assert metric("lookups_per_packet", UDP, rules) == pytest.approx(5, abs=0.05)
    assert metric("lookups_per_packet", rules) == 0
    assert metric("lookups_per_packet", rules, tcp_early_demux=0) > 0


def test_early_demux_is_wasted_work_for_a_host_that_forwards() -> None:
    forward = {"socket": "forward", "rx_queues": 1}
    assert metric("forwarded_mpps", forward) < metric("forwarded_mpps", forward, udp_early_demux=0)


def test_rps_makes_the_receive_cache_useless_unless_it_is_forced() -> None:
    kept = {"rx_skb_cache": 1}
    assert stats(start(kept))["kept_by_socket"] > 0
    assert stats(start(kept, rps_cpus=4))["kept_by_socket"] == 0
    assert stats(start(kept, rps_cpus=4, force_rx_cache=1))["kept_by_socket"] > 0


def test_a_mark_spares_full_rings_their_probes() -> None:
    full = {**FANOUT, "ring_start": "full", "offered_kpps": 8000, "rx_queues": 4, "reader_cpus": "same"}
    assert stats(start(full))["probes"] / stats(start(full))["packets"] > 1.5
    assert stats(start(full, pressure=1))["probes"] < stats(start(full))["probes"]


def test_rfs_sends_no_interrupts_to_readers_on_the_nics_cpus() -> None:
    assert metric("ipis_per_s", CONNECTED, rfs=1, offered_kpps=200) > 0
    assert metric("ipis_per_s", CONNECTED, rfs=1, offered_kpps=200, reader_cpus="same", readers=1, rx_queues=1) == 0


def test_requests_and_replies_take_turns() -> None:
    rr = {"socket": "tcp_rr", "flows": 16}
    assert metric("transactions_per_s", rr) == pytest.approx(metric("mpps", rr) * 1e6, rel=0.1)
    assert metric("transactions_per_s", rr, round_trip_us=500) < 0.2 * metric("transactions_per_s", rr)


# -- nothing gets lost -------------------------------------------------------------------------------------

CASES: tuple[Settings, ...] = (
    {}, {"flows": 256, "burst_segs": 1, "rss": "hashed"}, {"gro_max_segs": 1, "flows": 1}, {"defer_free": 1},
    {"defer_per_cpu": 1, "rps_cpus": 4}, {"rx_skb_cache": 1}, {"socket": "tcp_rr", "flows": 64}, UDP,
    {**UDP, "message_bytes": 1400, "rps_cpus": 4}, CONNECTED, {**CONNECTED, "rfs": 1}, {"socket": "forward"}, FANOUT,
    {**FANOUT, "ring_start": "full", "message_bytes": 1400},
)


@pytest.mark.parametrize("knobs", CASES, ids=lambda k: "-".join(f"{n}={v}" for n, v in k.items()) or "default")
def test_packets_are_conserved(knobs: Settings) -> None:
    arena = start(knobs)
    stat = stats(arena)
    cpus = int(arena[T.H_CPUS])
    lost = 0 if knobs.get("socket", "tcp_bulk") in ("tcp_bulk", "tcp_rr") else stat["nic_drops"]
    under_way = stat["offered"] - stat["packets"] - queued(arena, "ring") - lost
    assert 0 <= under_way <= 1 + cpus  # one on the wire, and one in the hands of each softirq
    held = [i for i in cells(arena, "gro flow", "held") if i >= 0]
    segments = cells(arena, "sk_buff", "segments")
    assert 0 <= stat["packets"] - stat["gro_segments"] - sum(segments[i] for i in held) <= cpus
    assert len(held) == len(set(held)) == sum(cells(arena, "gro_hash", "count"))
    free = queued(arena, "skbuff_head_cache")
    lists = (
        "input_pkt_queue", "process_queue", "sk_receive_queue", "sk_backlog", "backlog in work", "sk->defer_list",
        "softnet_data.defer_list", "frees in work",
    )
    kept = sum(i >= 0 for i in cells(arena, "sk_rx_skb_cache", "skb"))
    known = free + len(held) + kept + sum(queued(arena, name) for name in lists)
    assert 0 <= len(segments) - known <= 2 * cpus  # what a softirq and a thread have in hand


@pytest.mark.parametrize("knobs", CASES[:7], ids=lambda k: "-".join(f"{n}={v}" for n, v in k.items()) or "default")
def test_windows_are_never_exceeded_and_bytes_are_conserved(knobs: Settings) -> None:
    arena = start(knobs)
    flight = cells(arena, "sender", "flight")
    rcvbuf = int(LAB.settings()["rcvbuf"])
    assert all(0 <= x <= rcvbuf // 2 for x in flight)
    assert sum(flight) + stats(arena)["bytes"] > 0


def test_the_link_is_never_exceeded() -> None:
    for rate in (10, 40):
        assert metric("gbps", link_gbps=rate, rx_queues=4) <= rate


# -- the same everywhere -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_reference_and_engines_agree(kind: str) -> None:
    slices = (Slice(1), Slice(9_999), Slice(15_000, within_ps=40_000_000), Slice(5_000, reset=True))
    knobs: Settings = {"socket": kind, "rps_cpus": 4, "uid_rules": 1, "rss": "hashed", "defer_per_cpu": 1}
    case = Case(LAB.spec, LAB.image(seed=3, trace_rows=200, **knobs), slices)
    assert check(case, engines()).steps > 15_000


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_varies_what_is_measured(kind: str) -> None:
    runs = [LAB.replicate(ENGINE, seed, LAB.quick_ps, socket=kind)[0] for seed in (1, 2)]
    assert runs[0].metrics != runs[1].metrics


def test_golden_integers() -> None:
    got = []
    for kind in KINDS:
        arena = start(socket=kind)
        got.append((kind, int(arena[T.H_STEPS]), int(arena[T.H_TRANSFERS]), stats(arena)["packets"]))
    assert tuple(got) == GOLDEN


GOLDEN: tuple[tuple[str, int, int, int], ...] = (
    ("tcp_bulk", 170035, 5059, 2914),
    ("tcp_rr", 27456, 973, 88),
    ("udp", 147657, 8251, 693),
    ("udp_connected", 115142, 3250, 388),
    ("forward", 122029, 2522, 842),
    ("packet_fanout", 103286, 3138, 524),
)


# -- what a patch changes ----------------------------------------------------------------------------------


def changed(key: str, **knobs: Any) -> set[str]:
    """Functions that a key's diff names."""
    lines = LAB.diff(key, **knobs).splitlines()[2:]
    found = (re.search(r" {2,}(\S+)$", line[40:]) for line in lines if line[:1] in "+-")
    return {x[1] for x in found if x}


def test_a_keys_diff_says_what_the_patch_changes_and_nothing_else() -> None:
    assert changed("rx_skb_cache") <= {"sk_eat_skb", "tcp_v6_rcv", "tcp_eat_recv_skb"}
    assert changed("udp_early_demux") == set()  # TCP's packets do not get there
    assert changed("udp_early_demux", socket="udp") >= {"udp_v6_early_demux"}
    tap = {"packet_rcv_has_room", "fanout_demux_rollover", "packet_poll"}
    assert changed("pressure", socket="packet_fanout") <= tap
    assert "packet_sock" in LAB.diff("pressure", socket="packet_fanout")
