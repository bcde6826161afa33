"""The assignments on packet rollover, early demux, the sockets' caches, and the design project."""

from __future__ import annotations

from typing import Any, Final

import pytest

from book.course.checks import checks, judge
from book.course.checks import packet_rollover as rollover
from book.course.checks import tcp_rx_skb_cache as caches
from book.course.checks import udpv6_early_demux as demux
from book.course.checks.cheapest import cheapest
from sim import scenarios
from sim.exercises import assignments
from sim.exercises.receiver import Site, design
from tests.book.course.desk import lost, work_through
from tests.chosen import chosen
from tests.sim.exercises.test_routines import MARK, POSTED, RELEASED

NAMES: Final = ("packet-rollover", "udpv6-early-demux", "tcp-rx-skb-cache", "receiver-design")
FAULTY: Final = {
    "rollover-bug": ("packet-rollover", rollover), "demux-bug": ("udpv6-early-demux", demux),
    "skb-bug": ("tcp-rx-skb-cache", caches),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("who", chosen(["zoë", "student007"], ["zoë"]))
def test_a_whole_notebook_gets_all_points(name: str, who: str) -> None:
    judged = work_through(name, who)
    assert {q: one.text for q, one in judged.items() if one.points != one.of} == {}
    assert list(judged) == list(checks(name))


# -- faults that were put in ---------------------------------------------------------------------------------------


def effects_of(module: Any, place: int) -> tuple[int, ...]:
    """Numbers of the effects that may be named for a listing."""
    effects = module.FAULTS[place][1]
    return effects if isinstance(effects, tuple) else (effects,)


@pytest.mark.parametrize("question", FAULTY)
def test_each_fault_has_one_place_and_half_the_points_for_half_the_answer(question: str) -> None:
    name, module = FAULTY[question]
    assignment = assignments.load(name)
    met = set()
    for who in (f"student{k}" for k in range(100)):
        place = module.LISTINGS.index(assignment.instance(question, who)["listing"])
        if place in met:
            continue
        met.add(place)
        lines = module.FAULTS[place][0]
        effects = effects_of(module, place)
        effect = module.EFFECTS[effects[0]]
        other = next(e for k, e in enumerate(module.EFFECTS) if k not in effects)
        right = {"line": lines[0], "effect": effect}
        whole = judge(name, who, question, right)
        assert whole.points == whole.of
        assert judge(name, who, question, {**right, "line": 1 + max(lines)}).points == whole.of / 2
        assert judge(name, who, question, {**right, "effect": other}).points == whole.of / 2
        assert judge(name, who, question, {"line": 1 + max(lines), "effect": other}).points == 0
    assert met == set(range(len(module.FAULTS)))


@pytest.mark.parametrize("question", FAULTY)
def test_listings_differ_and_each_effect_occurs(question: str) -> None:
    module = FAULTY[question][1]
    assert len(set(module.LISTINGS)) == len(module.LISTINGS) == len(module.FAULTS)
    effects = {effect for place in range(len(module.FAULTS)) for effect in effects_of(module, place)}
    assert effects == set(range(len(module.EFFECTS)))


# -- routines ------------------------------------------------------------------------------------------------------

_TEST = "    branch other != n out\n"


@pytest.mark.parametrize(("text", "points", "words"), [
    (MARK, 8, "Right"),
    ("routine search\n    branch slot == slot skip", 1, "(3 trials went wrong"),
    ("routine has_room\n    work 1", 0, "still asks other CPUs' sockets"),
    (MARK.replace("branch n != 0 skip", "branch n != 0 out"), 0, "still asks other CPUs' sockets"),
    (MARK.replace(_TEST, "").replace("other ^ 1", "n ^ 1"), 7.1, "written by nearly every packet"),
    (MARK.replace(_TEST, "    branch n != 0 out\n    branch other != 0 out\n"), 6, "and the mark is still set"),
    (MARK.partition("routine poll")[0], 7, "stay marked"),
    (MARK.replace("branch k != 0 out", "branch k == 0 out"), 7, "stay marked"),
    (MARK.replace(
        "search\n    read   packet_sock.pressure[slot]\n    load   n = packet_sock.pressure[slot]",
        "search\n    read   packet_sock.pressure[flow]\n    load   n = packet_sock.pressure[flow]",
    ), 3, "lost beside empty rings"),
    ("routine search\nx: jump x", 0, "came to no end: livelock"),
    (MARK.replace("load   other =", "load   othre ="), 0, "no register 'othre'"),
])
def test_a_mark_is_judged_by_what_it_does(text: str, points: float, words: str) -> None:
    judgement = judge("packet-rollover", "ada", "rollover-mark", text)
    assert (judgement.points, words in judgement.text) == (points, True), judgement


@pytest.mark.parametrize(("text", "points", "words"), [
    (RELEASED, 8, "Right"),
    ("work 1", 0, "does not find it"),
    (POSTED, 3, "full look-up is still made"),
    (RELEASED.replace("    branch n != flow out\n", ""), 5, "another flow's socket"),
    (RELEASED.replace("branch n != flow", "branch n < 0 hit\n branch n != flow").replace(
        "    atomic", "hit: atomic"), 6.5, "that all CPUs share"),
    (RELEASED.replace("    store  skb.held[skb] = 1\n", ""), None, "not balanced"),
    (RELEASED.replace("    atomic udp6_sock.sk_refcnt[m]\n", ""), None, "not balanced"),
    (RELEASED.replace("    store  skb.sock[skb] = m\n", ""), None, "rules look it up again"),
    (RELEASED.replace("    set    sk = m\n", ""), 0, "does not find it"),
    (RELEASED.replace("    branch m < 0 out\n", ""), 0, "m may be none"),
    ("x: work 0.001\n jump x", 0, "came to no end"),
])
def test_an_early_demux_is_judged_by_what_it_does(text: str, points: float | None, words: str) -> None:
    judgement = judge("udpv6-early-demux", "ada", "demux-routine", text)
    assert words in judgement.text
    assert judgement.points == points or (points is None and 0 < judgement.points < judgement.of)


# -- usual mistakes ------------------------------------------------------------------------------------------------


def test_usual_mistakes_get_the_hint_that_is_meant_for_them() -> None:
    one = assignments.load("packet-rollover").instance("rollover-locks", "ada")
    asked, members = one.number("asked"), one.number("members")
    said = lost(judge("packet-rollover", "ada", "rollover-locks",
                          {"saved": asked + 1, "lost": members, "marked": asked + 2}))
    for words in ("whoever fills a frame takes the lock once more", "takes its lock again before it drops",
                  "passed over with a look"):
        assert words in said
    rates = assignments.load("udpv6-early-demux").instance("demux-two-rates", "ada")
    before, after = (8 * rates.number("bytes") / rates.number(f"{name}_mbps") for name in ("before", "after"))
    lookup_ns = 1000 * (before - after) / rates.number("rules")
    careless = {"before_us": before / 8, "after_us": after, "lookup_ns": lookup_ns}
    said = lost(judge("udpv6-early-demux", "ada", "demux-two-rates", careless))
    assert "bits and bytes" in said
    assert "each rule saves its two atomics as well" in said
    knee = assignments.load("tcp-rx-skb-cache").instance("skb-knee", "ada")
    rho, hold = knee.number("hold_ns") / knee.number("between_ns"), knee.number("hold_ns")
    wait, times = rho * hold / (1 - rho), knee.number("times")
    said = lost(judge("tcp-rx-skb-cache", "ada", "skb-knee", {
        "busy_pct": 100 * rho, "wait_ns": wait, "longer_ns": wait / 2 + knee.number("added_ns"),
        "full_pct": 100 * times / (1 + times),
    }))
    assert "`wait_ns`: Not quite" in said
    assert "the wait of all who stand in front grows as well" in said
    pencil = assignments.load("receiver-design").instance("design-pencil", "ada")
    target = Site.of(pencil).target_gbps
    said = lost(judge("receiver-design", "ada", "design-pencil", {
        "small_mpps": 1000 * target / 12_000, "large_mpps": 1000 * target / 72_000, "queues": 99,
        "readers": int(target / pencil.number("reader_gbps")),
    }))
    assert "headers are not delivered" in said
    assert "a part of a CPU is a CPU" in said


def test_a_right_part_is_named_and_paid() -> None:
    one = assignments.load("packet-rollover").instance("rollover-locks", "ada")
    judgement = judge("packet-rollover", "ada", "rollover-locks",
                      {"saved": one.number("asked") + 2, "lost": 1, "marked": 1})
    assert judgement.points == 1
    assert "Right: `saved`" in judgement.text


# -- measuring and designing ---------------------------------------------------------------------------------------


def test_runs_with_and_without_a_patch_are_told_apart() -> None:
    judged = work_through("udpv6-early-demux", "ada", ("demux-measure",))["demux-measure"]
    assert judged.points == judged.of
    rules = assignments.load("udpv6-early-demux").instance("demux-measure", "ada")
    without, with_it = (
        demux._measured(k, rules.number("uid_rules"), rules.number("lookup_ns"), "local").mbps for k in (0, 1)
    )
    said = lost(judge("udpv6-early-demux", "ada", "demux-measure", {
        "guess_without": 1, "guess_with": 1, "without": with_it, "with_demux": without, "forward_change_pct": 0,
    }))
    assert said.count("is that the run with early demux, or the one without?") == 2


@pytest.mark.slow
@pytest.mark.parametrize("who", chosen(["student000", "student003", "student004"], ["student003"]))
def test_another_seed_is_no_mistake(who: str) -> None:
    given = assignments.load("packet-rollover").instance("rollover-measure", who)
    s = scenarios.load("packet-rollover")
    knobs = {"start": "full", "load_kpps": given["kpps"], "ring_frames": given["ring_frames"]}
    before, after = (s.run(pressure=k, replications=2, until_ps=s.quick_ps, seed=11, **knobs) for k in (0, 1))
    measured = {"without": before.mpps, "with_mark": after.mpps, "probes": before.probes_per_packet}
    guesses = {"guess_without": 1, "guess_with": 2}
    judged = judge("packet-rollover", who, "rollover-measure", {**guesses, **measured})
    assert judged.points == judged.of, judged.text
    swapped = {**measured, "without": after.mpps, "with_mark": before.mpps}
    assert judge("packet-rollover", who, "rollover-measure", {**guesses, **swapped}).points == judged.of / 2
    given = assignments.load("tcp-rx-skb-cache").instance("skb-measure", who)
    run = {"rx_queues": given["rx_queues"], "lock_section_ns": given["section_ns"], "seed": 11, "replications": 1}
    neither, both = (
        scenarios.load("tcp-rx-skb-cache").run(rx_skb_cache=k, tx_skb_cache=k, until_ps=caches.UNTIL_PS, **run)
        for k in (0, 1)
    )
    judged = judge("tcp-rx-skb-cache", who, "skb-measure", {
        "guess_pct": 1, "neither": neither.mpps, "both": both.mpps, "gain_pct": 100 * (both.mpps / neither.mpps - 1),
        "visit_ns": 10 * neither.alien_wait / (neither.alien_frees * neither.mpps),
    })
    assert judged.points == judged.of, judged.text


def test_a_design_is_judged_by_its_rate_and_its_price() -> None:
    site = Site.of(assignments.load("receiver-design").instance("design-receiver", "ada"))
    price, best = cheapest(site)
    whole = judge("receiver-design", "ada", "design-receiver", dict(best))
    assert whole.points == whole.of
    plain = judge("receiver-design", "ada", "design-receiver", design())
    assert plain.points == 0
    assert "does not reach the target" in lost(plain)
    rich = design(rx_queues=8, readers=8, mtu=9000, gro_max_size=262_144, defer_per_cpu=1, page_recycling=1)
    assert site.price(rich) > 2 * price
    paid = judge("receiver-design", "ada", "design-receiver", rich)
    assert paid.points == pytest.approx(0.4 * paid.of)
    assert "more than the cheapest design known" in lost(paid)
    for judgement in (plain, paid):
        assert str(best["rx_queues"]) + " queues" not in judgement.text


@pytest.mark.slow
@pytest.mark.parametrize("number", chosen(range(15), [0, 7, 14]))
def test_every_site_can_be_served(number: int) -> None:
    site = Site.of(assignments.load("receiver-design").instance("design-receiver", f"student{number:03}"))
    price, best = cheapest(site)
    assert site.price(best) == price
    assert site.run(best).metrics["gbps"].low >= site.target_gbps
