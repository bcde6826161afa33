"""udpv6-early-demux: what carries the gain, each objection of the list as a run, and that nothing gets lost."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest

from sim import fit_udpv6_early_demux as fit
from sim import fitted, machine, reported, scenarios
from sim.engine import tables as T
from sim.engine.jit import Array
from sim.engine.native import NativeEngine
from sim.knob import Knob, KnobError, numbers
from sim.result import Replication, line_rows, queue_rows
from sim.scenarios import udpv6_early_demux as thread
from sim.verifier import verify
from tests.sim.engine.agreement import check
from tests.sim.engine.corpus import Case, Slice
from tests.sim.engine.test_equality import engines

ENGINE = NativeEngine()
UDP = scenarios.load(thread.THREAD)
KNOBS = UDP.knobs
STEADY_PS = 60_000_000_000
START_PS = 15_000_000_000

Settings = dict[str, Any]
BEFORE: Settings = {"udp_early_demux": 0}
POSTED: Settings = {"match_any": 1, "rx_dst_cookie": 0}
MERGED: Settings = {}
ROUTED: Settings = {"rx_dst_set": 1}  # as of 4.13
FORWARD: Settings = {"traffic": "forward"}
POLICY: Settings = {"fib_rules": 4, "elsewhere_percent": 50}
DNS: Settings = {"connected": 0, "uid_rules": 0, "calibrated": 0, "datagram_bytes": 100}
#: A name server with several softirq CPUs whose driver is quick, so that the socket's lines are busy.
BUSY_DNS: Settings = {**DNS, "cpus": 4, "sources": 64, "softirq_packet_ns": 1000}


@cache
def _steady(items: tuple[tuple[str, Any], ...]) -> Replication:
    return UDP.replicate(ENGINE, 1, STEADY_PS, **dict(items))[0]


def steady(*settings: Settings, **knobs: Any) -> Replication:
    """One short replication after the warm-up, with settings laid over each other."""
    merged = {name: value for part in (*settings, knobs) for name, value in part.items()}
    return _steady(tuple(sorted(merged.items())))


def metric(name: str, *settings: Settings, **knobs: Any) -> float:
    return steady(*settings, **knobs).metrics[name]


@cache
def _start(items: tuple[tuple[str, Any], ...]) -> Array:
    arena = ENGINE.build(UDP.image(1, **dict(items)))
    assert ENGINE.run_until(arena, START_PS) == T.REACHED
    return arena


def start(**knobs: Any) -> Array:
    """The first milliseconds, warm-up included and nothing forgotten."""
    return _start(tuple(sorted(knobs.items())))


def stats(arena: Array) -> dict[str, int]:
    return {name: int(arena[arena[T.H_AT_STAT] + i]) for i, name in enumerate(UDP.spec.stats)}


def counts(**knobs: Any) -> tuple[int, ...]:
    arena = start(**knobs)
    return (int(arena[T.H_STEPS]), int(arena[T.H_TRANSFERS]), *stats(arena).values())


def queued(arena: Array, name: str) -> int:
    return sum(int(arena[row + T.Q_LENGTH]) for row in queue_rows(arena, UDP.spec, name))


def others(knob: Knob) -> list[int | str]:
    if knob.choices:
        return [c for c in knob.choices if c != knob.default]
    return [v for v in (knob.low, knob.high) if v != knob.default]


# -- the gain ----------------------------------------------------------------------------------------------


def test_before_the_patch_each_rule_and_udp_look_the_socket_up() -> None:
    assert metric("lookups_per_packet", BEFORE) == pytest.approx(5, abs=0.01)
    assert metric("lookups_per_packet", BEFORE, uid_rules=0) == pytest.approx(1, abs=0.01)
    assert metric("lookups_per_packet", BEFORE, uid_rules=32) == pytest.approx(33, abs=0.05)


def test_the_patch_leaves_one_look_up_as_posted_and_none_as_merged() -> None:
    assert metric("lookups_per_packet", POSTED) == pytest.approx(1, abs=0.01)
    assert metric("lookups_per_packet", MERGED) == pytest.approx(0, abs=0.01)


def test_the_fitted_rate_comes_out_and_the_patch_gains() -> None:
    assert metric("mbps", BEFORE) == pytest.approx(800, rel=0.005)
    assert metric("mbps", BEFORE) < metric("mbps", POSTED) < metric("mbps", MERGED)
    assert steady(BEFORE).cpu["softirq"] > 99.9


@pytest.mark.parametrize(("rules", "lookup_ns"), [(1, 1000), (2, 120), (6, 350), (8, 100)])
def test_the_rate_before_stays_what_it_was_whatever_the_rules(rules: int, lookup_ns: int) -> None:
    assert metric("mbps", BEFORE, uid_rules=rules, lookup_ns=lookup_ns) == pytest.approx(800, rel=0.005)


def test_without_calibration_more_rules_cost_more_before_the_patch_and_little_after_it() -> None:
    few, many = {"calibrated": 0, "uid_rules": 2}, {"calibrated": 0, "uid_rules": 12}
    assert metric("mbps", BEFORE, many) < 0.85 * metric("mbps", BEFORE, few)
    assert metric("mbps", POSTED, many) > 0.85 * metric("mbps", POSTED, few)


def test_without_a_rule_the_posted_patch_gains_nothing() -> None:
    assert metric("mbps", POSTED, uid_rules=0) < metric("mbps", BEFORE, uid_rules=0)


def test_a_rate_after_allows_a_curve_of_rules_and_look_ups() -> None:
    assert isinstance(UDP, thread.UdpV6EarlyDemux)
    rows = UDP.allowed_lookups(870, (1, 4, 12, 32), replications=1)
    assert [row["uid_rules"] for row in rows] == [1, 4, 12]
    assert all(row["mbps"] == pytest.approx(870, rel=0.002) for row in rows)
    look_ups = [row["lookup_ns"] for row in rows]
    assert look_ups == sorted(look_ups, reverse=True)
    assert max(row["product_ns"] for row in rows) < 1.2 * (14_500 - 13_333)


# -- the objections ----------------------------------------------------------------------------------------


def test_dumazet_an_unconnected_socket_pays_and_gets_nothing() -> None:
    for patch in (POSTED, MERGED):
        assert metric("mpps", patch, DNS) < metric("mpps", BEFORE, DNS)
    assert metric("demux_found_share", MERGED, DNS) == 0
    assert metric("lookups_per_packet", MERGED, DNS) == pytest.approx(1, abs=0.01)


def test_dumazet_the_posted_patch_moves_a_line_that_nobody_touched() -> None:
    """One more line a packet at the least; the merged code takes no reference on such a socket."""
    name = "refcnt_transfers_per_packet"
    assert metric(name, POSTED, BUSY_DNS) > metric(name, BEFORE, BUSY_DNS) + 1
    assert metric(name, MERGED, BUSY_DNS) < metric(name, BEFORE, BUSY_DNS) + 0.1
    assert metric("mpps", POSTED, BUSY_DNS) < metric("mpps", MERGED, BUSY_DNS) < metric("mpps", BEFORE, BUSY_DNS)
    assert metric(name, POSTED, DNS) == 0  # a single CPU keeps the line


@cache
def served(cpus: int, **knobs: int) -> float:
    """Packets that a name server's softirqs take in on a server's cores, Mpps."""
    server = scenarios.load(thread.THREAD, machine.load("neoverse-n1"))
    server.warm_ps = 1_000_000_000
    load = {"sources": 256, "softirq_packet_ns": 500, "lookup_ns": 60, "offered_mbps": 10000}
    settings: Settings = {**DNS, **load, **knobs}
    return server.replicate(ENGINE, 1, 3_000_000_000, cpus=cpus, **settings)[0].metrics["mpps"]


def test_the_reference_on_any_socket_does_not_scale() -> None:
    posted = served(16, match_any=1, rx_dst_cookie=0) / served(4, match_any=1, rx_dst_cookie=0)
    assert posted < 0.85 * served(16, udp_early_demux=0) / served(4, udp_early_demux=0)
    assert served(16) > 0.95 * served(16, udp_early_demux=0)


def test_miller_when_forwarding_early_demux_is_wasted_work() -> None:
    for patch in (POSTED, MERGED):
        assert metric("demux_found_share", patch, FORWARD) == 0
        assert metric("forwarded_mpps", patch, FORWARD) < 0.995 * metric("forwarded_mpps", BEFORE, FORWARD)


def test_sowa_with_policy_rules_a_cached_route_delivers_what_should_have_gone_on() -> None:
    assert metric("wrong_share", BEFORE, POLICY) == 0
    assert metric("wrong_share", POSTED, POLICY) == 0
    assert metric("wrong_share", MERGED, POLICY) == 0
    assert metric("wrong_share", ROUTED, POLICY) == pytest.approx(50, abs=3)
    assert metric("forwarded_mpps", ROUTED, POLICY) == 0
    assert metric("wrong_share", ROUTED, POLICY, elsewhere_percent=0) == 0
    assert metric("wrong_share", ROUTED, fib_rules=0) == 0


def test_dumazet_a_route_checked_by_nought_is_never_used() -> None:
    assert metric("route_lookups_per_packet", ROUTED) == 0
    assert metric("route_lookups_per_packet", ROUTED, rx_dst_cookie=0) == pytest.approx(1, abs=0.01)
    assert metric("mbps", ROUTED, rx_dst_cookie=0) < metric("mbps", MERGED) < metric("mbps", ROUTED)


def test_in_4_12_nothing_sets_the_route_so_its_cookie_is_not_asked() -> None:
    assert metric("route_lookups_per_packet", MERGED) == pytest.approx(1, abs=0.01)
    assert counts(rx_dst_cookie=0) == counts()


def test_only_the_socket_connected_last_is_found_as_merged() -> None:
    assert metric("demux_found_share", MERGED, sources=8) == pytest.approx(100 / 8, abs=2)
    assert metric("demux_found_share", POSTED, sources=8) == pytest.approx(100, abs=0.1)
    assert metric("mbps", MERGED, sources=8) < metric("mbps", POSTED, sources=8)


def test_a_longer_chain_makes_each_look_up_dearer() -> None:
    assert metric("mbps", BEFORE, sources=32) < metric("mbps", BEFORE, sources=8) < metric("mbps", BEFORE)


# -- knobs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("knob", [k for k in KNOBS if k.effect == "acts"], ids=lambda k: k.name)
def test_a_knob_that_acts_changes_what_is_executed_or_transferred(knob: Knob) -> None:
    around = dict(knob.shows_with)
    base = counts(**around)
    assert any(counts(**{**around, knob.name: value}) != base for value in others(knob))


@pytest.mark.parametrize("knob", [k for k in KNOBS if k.effect == "inert"], ids=lambda k: k.name)
def test_a_knob_that_is_inert_says_why_and_changes_nothing(knob: Knob) -> None:
    assert knob.why
    assert all(counts(**{knob.name: value}) == counts() for value in others(knob))


@pytest.mark.parametrize("knob", KNOBS, ids=lambda k: k.name)
def test_every_end_of_a_knobs_range_is_sound_and_runs(knob: Knob) -> None:
    knob.number(knob.default)
    assert knob.doc.endswith(".")
    for value in (knob.default, *others(knob)):
        around = {**dict(knob.shows_with), knob.name: value}
        verify(UDP.spec, {**numbers(KNOBS, UDP.settings(**around)), "seed": 1, "trace_rows": 0})
        start(**around)


def test_a_machine_has_room_for_as_many_softirq_cpus_as_it_has_less_one() -> None:
    larger = scenarios.load(thread.THREAD, machine.load("neoverse-n1"))
    assert larger.knob("cpus").high == 63
    assert larger.settings(cpus=63)["cpus"] == 63
    with pytest.raises(KnobError, match="1 to 7"):
        UDP.settings(cpus=8)


def test_steering_to_another_cpu_lifts_the_limit() -> None:
    assert metric("mbps", BEFORE, rfs=1) > 1.15 * metric("mbps", BEFORE)


def test_a_program_on_the_full_cpu_starves() -> None:
    assert metric("mbps", BEFORE, reader_cpu="same") < 0.6 * metric("mbps", BEFORE)


def changed(key: str, **knobs: Any) -> tuple[set[str], set[str]]:
    """Functions of which a key takes instructions away, and those to which it adds some."""
    sides: dict[str, set[str]] = {"-": set(), "+": set()}
    for line in UDP.diff(key, **knobs).splitlines()[2:]:
        symbol = re.search(r" {2,}(\S+)$", line[40:])  # named where it differs from the line above
        if line[:1] in sides and symbol:
            sides[line[0]].add(symbol[1])
    return sides["-"], sides["+"]


def test_a_keys_diff_says_what_the_patch_changes_and_nothing_else() -> None:
    demux, put = "udp_v6_early_demux", "ip6_rcv_finish"
    assert changed("udp_early_demux") == (set(), {put, demux, "ip6_dst_check"})
    assert changed("rx_dst_set") == (set(), {"udp6_sk_rx_dst_set"})
    assert changed("rx_dst_cookie") == (set(), {demux})
    assert changed("match_any") == (set(), set())  # within one function
    assert "CALL    __udp6_lib_lookup" in UDP.diff("match_any")


# -- nothing gets lost -------------------------------------------------------------------------------------

SETTINGS: tuple[Settings, ...] = (
    BEFORE, MERGED, POSTED, {**ROUTED, **POLICY}, FORWARD, POLICY, BUSY_DNS, {**BUSY_DNS, **POSTED},
    {"rps_cpus": "all", "sources": 8, "cpus": 2}, {"rfs": 1}, {"reader_cpu": "same"}, {"sources": 32},
    {"rps_cpus": "all", "softirq_packet_ns": 100, "offered_mbps": 5000},
)


def column(arena: Array, table: str, name: str) -> list[int]:
    spec = UDP.spec
    at = next(t for t in spec.tables if t.name == table)
    rows = int(arena[arena[T.H_AT_VALUE] + at.domain.count.row])
    first = int(arena[arena[T.H_AT_SET] + at.number]) + at.column(name)
    return [int(arena[first + i * len(at.columns)]) for i in range(rows)]


@pytest.mark.parametrize("knobs", SETTINGS, ids=lambda k: "-".join(f"{n}={v}" for n, v in k.items()) or "merged")
def test_packets_are_conserved(knobs: Settings) -> None:
    arena = start(**knobs)
    stat = stats(arena)
    in_hand = 8  # a CPU has one packet in hand at most
    assert stat["offered"] == stat["nic_drops"] + stat["packets"] + queued(arena, "ring")
    waiting = queued(arena, "input_pkt_queue") + queued(arena, "process_queue") + stat["backlog_drops"]
    assert 0 <= stat["packets"] - waiting - stat["ip_packets"] <= in_hand
    left_ip = stat["queued"] + stat["rcvbuf_drops"] + stat["forwarded"]
    assert 0 <= stat["ip_packets"] - left_ip <= in_hand
    assert 0 <= stat["queued"] - queued(arena, "sk_receive_queue") - stat["delivered"] <= in_hand
    assert stat["bytes"] == 0 or stat["bytes"] % stat["delivered"] == 0
    assert stat["no_port"] == 0


@pytest.mark.parametrize("knobs", SETTINGS, ids=lambda k: "-".join(f"{n}={v}" for n, v in k.items()) or "merged")
def test_references_and_accounts_balance(knobs: Settings) -> None:
    arena = start(**knobs)
    assert 0 <= stats(arena)["socket_holds"] - stats(arena)["socket_puts"] <= 8  # those of packets in hand
    truesize = thread.TRUESIZE
    owed = sum(column(arena, "sock", "rmem")) - sum(column(arena, "sock", "deficit"))
    assert abs(owed - truesize * queued(arena, "sk_receive_queue")) <= 8 * truesize
    assert all(0 <= x <= thread.RCVBUF + 8 * truesize for x in column(arena, "sock", "rmem"))


def test_a_line_has_an_owner_or_sharers_and_not_both() -> None:
    arena = start(**BUSY_DNS, **POSTED)
    for at in line_rows(arena, UDP.spec, "udp6_sock"):
        shared = arena[at + T.L_SHARERS0] | arena[at + T.L_SHARERS1]
        assert arena[at + T.L_OWNER] < 0 or shared == 0


# -- the same everywhere -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "knobs", [{**BUSY_DNS, **POSTED}, {**ROUTED, **POLICY}, {"rps_cpus": "all", "sources": 4, "cpus": 2}],
    ids=["name server", "policy", "rps"],
)
def test_reference_and_engines_agree(knobs: Settings) -> None:
    slices = (Slice(1), Slice(9_999), Slice(20_000, within_ps=40_000_000), Slice(10_000, reset=True))
    case = Case(UDP.spec, UDP.image(seed=3, trace_rows=200, **knobs), slices)
    assert check(case, engines()).steps > 20_000


def test_golden_integers() -> None:
    arena = start()
    stat = stats(arena)
    assert (int(arena[T.H_STEPS]), int(arena[T.H_TRANSFERS])) == GOLDEN[:2]
    assert (stat["offered"], stat["ip_packets"], stat["delivered"], stat["socket_holds"]) == GOLDEN[2:]


GOLDEN = (229972, 7929, 1300, 1130, 1129, 1130)


def test_the_seed_varies_the_rate() -> None:
    run = UDP.run(replications=3, until_ps=STEADY_PS)
    assert len({r.metrics["mbps"] for r in run.replications}) == 3
    assert run.metrics["mbps"].low < run.metrics["mbps"].mean


# -- constants and figures ---------------------------------------------------------------------------------


def test_the_fit_reads_the_rate_before_and_nothing_else() -> None:
    roles = {f.fit: f.role for f in reported.load(thread.THREAD) if f.fit}
    assert roles == {figure: "fitted" for figure, _ in fit.TARGETS.values()}
    with pytest.raises(KeyError, match="before"):
        fit.fit({}, log=lambda _: None)


@pytest.mark.slow
def test_after_figures_changed_by_half_leave_the_constant_byte_identical() -> None:
    named = {figure for figure, _ in fit.TARGETS.values()}
    changed = {name: x if name in named else 1.5 * x for name, x in reported.values(thread.THREAD).items()}
    rows = [row for row in fitted.records() if row["scenario"] == thread.THREAD]
    assert json.dumps(fit.fit(changed, log=lambda _: None)) == json.dumps(rows)


#: Settings without any patch under which every part of the path is used.
WITHOUT_PATCHES: tuple[Settings, ...] = (
    {}, FORWARD, POLICY, {"rps_cpus": "all", "sources": 8, "cpus": 2, "offered_mbps": 500}
)


@cache
def used_constants() -> dict[str, int]:
    return dict(scenarios.load(thread.THREAD).spec.constants)


@cache
def outcomes(changes: tuple[tuple[str, int], ...]) -> tuple[tuple[int, float], ...]:
    scenario = scenarios.load(thread.THREAD, changes=dict(changes))
    off = dict.fromkeys(scenario.patches, 0)
    runs = (scenario.replicate(ENGINE, 1, 32_000_000_000, **{**off, **knobs})[0] for knobs in WITHOUT_PATCHES)
    return tuple((r.steps, sum(sum(p.values()) for p in r.profile.values()) + sum(r.metrics.values())) for r in runs)


@pytest.mark.parametrize("name", sorted(set(used_constants()) - {"hit_ps", "atomic_ps"}))
def test_every_constant_of_the_path_changes_some_run_without_patches(name: str) -> None:
    """``hit_ps`` and ``atomic_ps`` are the machine's, of which all lines are made."""
    number = used_constants()[name]
    assert outcomes(((name, number + max(1_000, number // 2)),)) != outcomes(())


def test_the_thread_s_settings_are_settings_of_the_scenario() -> None:
    for figure in reported.load(thread.THREAD):
        for knobs in (figure.knobs, figure.before or {}, *figure.settings()):
            UDP.settings(**knobs)
