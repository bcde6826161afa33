"""Right answers of the assignment on UDPv6's early demux."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from sim import scenarios
from sim.exercises.assignments.udpv6_early_demux import EFFECTS, LISTINGS
from sim.exercises.early_demux import ANY, BOUND, CONNECTED, FORWARD, OwnEarlyDemux, with_early_demux
from sim.exercises.holes import Bounded
from sim.exercises.instance import Instance
from sim.result import Result

from . import Verdict, fault_found, near, question, right, together, wrong
from .trials import Outcome, RunError, summed

#: Of each listing: the lines that may be named, and the effect.
FAULTS: Final = (((6, 7), 0), ((20,), 1), ((6, 7), 2), ((18,), 3), ((2,), 4), ((16,), 5))
CALL_NS: Final = 2


@question("demux-two-rates", points=3)
def two_rates(instance: Instance, answer: Mapping[str, float]) -> Verdict:
    """n (L + r) - d = what a packet takes less."""
    bits = 8 * instance.number("bytes")
    before, after = bits / instance.number("before_mbps"), bits / instance.number("after_mbps")
    rules, pair = instance.number("rules"), 2 * instance.number("atomic_ns")
    saved = 1000 * (before - after)
    lookup = (saved + pair + CALL_NS) / rules - pair
    in_bytes = "a rate in Mbit/s and a payload in bytes: how many bits are there?"
    return together({
        "before_us": near(answer["before_us"], before, relative=0.005, hint=in_bytes),
        "after_us": near(answer["after_us"], after, relative=0.005, hint=in_bytes),
        "lookup_ns": near(answer["lookup_ns"], lookup, relative=0.03, traps=[
            (saved / rules, 0.5, "each rule saves its two atomics as well, and the patch adds a pair and a call"),
            (saved / rules - pair, 0.7, "what does the patch itself add?"),
            (saved / (rules + 1), "UDP's own look-up is moved, not saved"),
            (saved, "how many look-ups are saved?"),
        ], hint="write the time that is saved as a sum: so many look-ups and pairs of atomics less what is added"),
    })


@question("demux-forward", points=2)
def forward(instance: Instance, answer: Mapping[str, float]) -> Verdict:
    """A rate is one over a time."""
    packet, lookup, limit = instance.number("forward_ns"), instance.number("lookup_ns"), instance.number("limit_pct")
    return together({
        "loss_pct": near(answer["loss_pct"], 100 * lookup / (packet + lookup), relative=0.02, traps=[
            (100 * lookup / packet, 0.5, "that is how much longer a packet takes; the rate falls by a little less"),
        ], hint="rates before and after, then the change"),
        "worst_ns": near(answer["worst_ns"], packet * limit / (100 - limit), relative=0.02, traps=[
            (packet * limit / 100, 0.5, "near, but a rate is one over a time"),
        ], hint="solve the first part for the look-up"),
    })


@question("demux-ceiling", points=2)
def ceiling(instance: Instance, answer: Mapping[str, float]) -> Verdict:
    """Two hand-overs for each packet, one after the other."""
    handover, packet = instance.number("handover_ns"), instance.number("packet_ns")
    exact = packet / (2 * handover)
    cpus = near(answer["cpus"], math.ceil(exact), traps=[
        (math.floor(exact), 0.5, "with so many CPUs the line has still a little time left"),
        (math.ceil(packet / handover), "the line comes over twice for a packet"),
    ], hint="how many packets could so many CPUs take in, and how many does the line let through?")
    if exact == int(exact) and answer["cpus"] == exact + 1:
        cpus = right()
    return together({
        "ceiling_mpps": near(answer["ceiling_mpps"], 1000 / (2 * handover), relative=0.01, traps=[
            (1000 / handover, "taken and dropped: the line comes over twice for a packet"),
        ], hint="one line is in one place at a time"),
        "cpus": cpus,
    })


@question("demux-profile", points=3)
def profile(instance: Instance, answer: Mapping[str, float]) -> Verdict:
    """Shares of a packet's time."""
    share, rules = instance.number("lookup") / 10_000, instance.number("rules")
    packet_us = 1000 / instance.number("kpps")
    saved = share * rules / (rules + 1)
    return together({
        "lookups_us": near(answer["lookups_us"], share * packet_us, relative=0.01,
                           hint="the core is full: what is a packet's time at that rate?"),
        "each_ns": near(answer["each_ns"], 1000 * share * packet_us / (rules + 1), relative=0.01, traps=[
            (1000 * share * packet_us / rules, "somebody looks up besides the rules"),
        ], hint="who looks up, and how often for a packet?"),
        "gain_pct": near(answer["gain_pct"], 100 * saved / (1 - saved), relative=0.01, traps=[
            (100 * saved, 0.5, "that is the time saved; the rate rises by more"),
            (100 * share / (1 - share), "UDP's own look-up stays"),
        ], hint="what is left of a packet's time, and what rate does that give?"),
    })


@cache
def _measured(demux: int, rules: int, lookup_ns: int, traffic: str) -> Result:
    s = scenarios.load("udpv6-early-demux")
    return s.run(udp_early_demux=demux, uid_rules=rules, lookup_ns=lookup_ns, traffic=traffic, calibrated=0,
                 replications=3, until_ps=s.quick_ps)


@question("demux-measure", points=4)
def measure(instance: Instance, answer: Mapping[str, float]) -> Verdict:
    """The same runs."""
    local, routed = (
        [_measured(demux, instance.number("uid_rules"), instance.number("lookup_ns"), traffic) for demux in (0, 1)]
        for traffic in ("local", "forward")
    )
    parts = {"guesses": right()}
    for name, run in zip(("without", "with_demux"), local, strict=True):
        truth = run.metrics["mbps"]
        other = local[name == "without"].metrics["mbps"].mean
        parts[name] = near(
            answer[name], truth.mean, absolute=max(truth.high - truth.low, 0.02 * truth.mean),
            traps=[(other, "is that the run with early demux, or the one without?")],
            hint="your rules and look-up, calibrated=0, three replications, until_ps=s.quick_ps; the metric is `mbps`",
        )
    change = 100 * (routed[1].forwarded_mpps / routed[0].forwarded_mpps - 1)
    parts["forward_change_pct"] = near(
        answer["forward_change_pct"], change, absolute=0.5,
        traps=[(-change, "has the rate risen or fallen?")],
        hint='traffic="forward" with your other knobs; forwarded_mpps with over without, less one, in percent',
    )
    return together(parts)


@question("demux-routine", points=8)
def routine(instance: Instance, answer: str) -> Verdict:
    """What the routine does in five trials."""
    scenario = with_early_demux(answer)
    lost: list[Outcome] = []
    earned = 0.0
    for trial, points in ((_phone, 3), (_chain, 1.5), (_any, 1), (_bound, 1.5), (_router, 1)):
        try:
            outcome = trial(scenario)
        except RunError as error:
            status = str(error).split(" at ")[0].removeprefix("udpv6-early-demux: ")
            return wrong(f"The program came to no end: {status}.", "follow each loop and each branch by hand")
        earned += points / 8 * (1 if outcome is None else outcome[0])
        lost += [outcome] if outcome else []
        if trial is _phone and earned == 0:  # whoever never finds a socket passes the other trials
            break
    return summed(lost, earned)


def _run(scenario: OwnEarlyDemux, **knobs: Any) -> Mapping[str, float]:
    return scenario.replicate(Bounded(), 1, scenario.quick_ps, **knobs)[0].metrics


def _references(m: Mapping[str, float]) -> Outcome | None:
    if abs(m["holds_per_put"] - 1) > 0.02:
        return (0.3, "References are not balanced: what is taken is not what is dropped.",
                "a reference is taken on `sk_refcnt`, and UDP drops it only if the packet's `held` says so")
    return None


def _phone(s: OwnEarlyDemux) -> Outcome | None:
    """One connected socket and four rules."""
    m = _run(s)
    if m["demux_found_share"] < 99:
        return (0, "One connected socket gets all packets, and your routine does not find it.",
                "the first socket of the chain, and its peer beside the packet's remote end; `sk` is the result")
    if m["lookups_per_packet"] > 1.5:
        return (0.3, "The socket is found, and the rules look it up again.", "who reads the packet's `sock`?")
    if m["wrong_socket_share"] > 0:
        return (0, "The packet gets a socket that is not its own.", "what does the packet's `sock` hold?")
    if m["lookups_per_packet"] > 0.05:
        return (0.5, "The full look-up is still made for each packet.", "only the first socket of the chain is asked")
    return _references(m)


def _chain(s: OwnEarlyDemux) -> Outcome | None:
    """Eight connected sockets in one chain."""
    m = _run(s, **CONNECTED)
    if m["wrong_socket_share"] > 0:
        return (0, "With several connected sockets, packets get another flow's socket.",
                "the first socket of the chain is the packet's own only if its peer is the packet's remote end")
    return _references(m)


def _unasked(m: Mapping[str, float], whom: str) -> Outcome | None:
    if m["wrong_socket_share"] > 0:
        return (0, f"{whom}: the packet gets a socket that is not its own.", "what does the packet's `sock` hold?")
    if m["socket_refs_per_packet"] > 0:
        return (0, f"{whom}: references are taken on the one socket that all CPUs share.",
                "a socket without a remote end matches nobody; leave it to UDP")
    if m["mbps"] <= 0:
        return (0, f"{whom}: nothing is delivered any more.", "`sk` stays -1 if no socket is given")
    return None


def _any(s: OwnEarlyDemux) -> Outcome | None:
    """One socket that is not connected, bound to any address, no rule."""
    return _unasked(_run(s, **ANY, uid_rules=0), "A socket that is bound to any address")


def _bound(s: OwnEarlyDemux) -> Outcome | None:
    """The same, bound to the host's address."""
    return _unasked(_run(s, **BOUND, uid_rules=0), "A socket that is bound to this host's address")


def _router(s: OwnEarlyDemux) -> Outcome | None:
    """Packets for another host."""
    m = _run(s, **FORWARD)
    if m["lookups_per_packet"] > 0 or m["socket_refs_per_packet"] > 0:
        return (0, "For packets that only pass through, a full look-up is made in vain.",
                "an empty chain says already that nobody here wants the packet")
    return None


@question("demux-bug", points=3)
def bug(instance: Instance, answer: Mapping[str, Any]) -> Verdict:
    """Where the fault is, and what it does."""
    lines, effect = FAULTS[LISTINGS.index(str(instance["listing"]))]
    return fault_found(
        answer["line"] in lines, answer["effect"] == EFFECTS[effect],
        "whose packet, or which socket, is hurt, and how?",
        "follow a packet with a socket and one without: each reference taken once and dropped once, nothing "
        "used after it was let go, a reader woken after there is something to read",
    )
