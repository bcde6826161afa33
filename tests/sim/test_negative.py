"""Negative results: where a patch gains nothing, or costs. A model of gains only would not show them.

Each is a short run; `gained` compares both arms on the same seeds.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from sim import scenarios
from sim.result import Result

Settings = dict[str, Any]
#: 4,096 bytes of payload a packet, the thread's second test.
BIG: Settings = {"mtu": 4168}
NAME_SERVER: Settings = {"connected": 0, "uid_rules": 0, "calibrated": 0, "datagram_bytes": 100}


@cache
def _run(thread: str, items: tuple[tuple[str, Any], ...], seeds: int) -> Result:
    scenario = scenarios.load(thread)
    return scenario.run(replications=seeds, until_ps=scenario.quick_ps, **dict(items))


def run(thread: str, seeds: int = 1, **knobs: Any) -> Result:
    """A short run, kept for the next test that asks for it."""
    return _run(thread, tuple(sorted(knobs.items())), seeds)


def gained(thread: str, metric: str, before: Settings, after: Settings, seeds: int = 1) -> float:
    """What `after` gains, percent."""
    old, new = (run(thread, seeds, **knobs).metrics[metric].mean for knobs in (before, after))
    return 100.0 * (new / old - 1.0)


def deferral(seeds: int = 4, key: str = "defer_free", **knobs: Any) -> float:
    """What deferred frees gain in tcp-5.17, percent."""
    on = {"defer_free": 1, "defer_per_cpu": 0} | {key: 1}
    return gained("tcp-5.17", "gbps", {"defer_free": 0, **knobs}, {**on, **knobs}, seeds)


# -- tcp-5.17: who frees ------------------------------------------------------------------------------------


def test_deferral_gains_at_the_threads_settings() -> None:
    """What the negative results are held against."""
    assert deferral() > 10
    assert deferral(**BIG) > 10


def test_frees_deferred_to_the_cpu_that_is_the_bottleneck_lose() -> None:
    """A driver of 150 ns fills the softirq's core; the later form gives it the frees too, whoever has time."""
    before = run("tcp-5.17", 4, defer_free=0, softirq_packet_ns=150)
    assert before.cpu["softirq"] > 99
    assert before.cpu["reader"] < 95
    assert deferral(key="defer_per_cpu", softirq_packet_ns=150) < -5


def test_the_merged_form_leaves_the_frees_with_a_reader_that_has_time() -> None:
    """It defers only while more is queued, so a full softirq is spared: it neither gains nor loses."""
    after = run("tcp-5.17", 4, defer_free=1, softirq_packet_ns=150)
    assert after.metrics["freed_by_softirq"].mean < 5
    assert abs(deferral(softirq_packet_ns=150)) < 4


@pytest.mark.parametrize("knobs", [{}, BIG], ids=["1500", "4168"])
def test_without_gro_deferral_loses(knobs: Settings) -> None:
    """The reader finds its queue empty and frees most packets itself; the list's line and what it pushes cost both."""
    before, after = (run("tcp-5.17", 4, defer_free=key, gro_max_segs=1, **knobs) for key in (0, 1))
    assert before.cpu["softirq"] > 95
    assert after.metrics["freed_by_softirq"].mean < 25
    assert after.transfers_per_packet > 1.2 * before.transfers_per_packet
    assert deferral(gro_max_segs=1, **knobs) < -5


def test_short_gro_packets_turn_the_gain_round_as_well() -> None:
    assert deferral(gro_max_segs=4) < 0


def test_reads_of_64_kb_gain_little() -> None:
    """At the end of each read the socket is released, and what was consumed is freed by the reader after all."""
    small = deferral(recv_size_bytes=65536, **BIG)
    assert small < 0.6 * deferral(**BIG)
    short, long = (run("tcp-5.17", 4, defer_free=1, recv_size_bytes=n, **BIG) for n in (65536, 524288))
    assert short.metrics["freed_by_softirq"].mean < 0.7 * long.metrics["freed_by_softirq"].mean


def test_on_one_cpu_there_is_nobody_to_defer_to() -> None:
    assert deferral(reader_cpu="same_cpu") < 1


# -- tcp-rx-skb-cache: RPS ----------------------------------------------------------------------------------


CACHE, UNCACHED = {"rx_skb_cache": 1}, {"rx_skb_cache": 0}
RR = "tcp-rx-skb-cache"


def test_with_rps_the_receive_cache_stays_off() -> None:
    """The patch asks whether RPS is on, and then does nothing: the runs are the same, event for event."""
    on, off = (run(RR, rps_cpus="all", **cache_) for cache_ in (CACHE, UNCACHED))
    assert [r.steps for r in on.replications] == [r.steps for r in off.replications]
    assert on.metrics == off.metrics


@pytest.mark.parametrize("steering", [{"rps_cpus": "all"}, {"rfs": 1}], ids=["rps", "rfs"])
def test_forced_on_with_rps_the_receive_cache_is_useless(steering: Settings) -> None:
    """The CPU that runs TCP is then not the one that allocated: freeing there is as remote as at the reader's."""
    assert gained(RR, "mpps", {**UNCACHED, **steering}, {**CACHE, **steering, "force_rx_cache": 1}) < 1
    assert gained(RR, "mpps", UNCACHED, CACHE) > 1


# -- udpv6-early-demux: who pays ----------------------------------------------------------------------------


@pytest.mark.parametrize("patch", [{"match_any": 1, "rx_dst_cookie": 0}, {"match_any": 0}], ids=["posted", "merged"])
@pytest.mark.parametrize("traffic", [NAME_SERVER, {"traffic": "forward"}], ids=["unconnected", "forwarding"])
def test_early_demux_costs_where_no_socket_can_be_kept(traffic: Settings, patch: Settings) -> None:
    before, after = {"udp_early_demux": 0, **traffic}, {"udp_early_demux": 1, **traffic, **patch}
    assert gained("udpv6-early-demux", "mpps", before, after) < -0.2


def test_early_demux_gains_where_rules_ask_for_the_socket() -> None:
    assert gained("udpv6-early-demux", "mpps", {"udp_early_demux": 0}, {"udp_early_demux": 1}) > 5


# -- packet-rollover: nothing is full ------------------------------------------------------------------------


def test_with_empty_rings_the_pressure_mark_is_never_set_and_gains_nothing() -> None:
    before, after = ({"pressure": on, "start": "empty", "load_kpps": 1000} for on in (0, 1))
    assert run("packet-rollover", **after).metrics["pressure_changes_per_s"].mean == 0
    assert abs(gained("packet-rollover", "mpps", before, after)) < 1
