"""Right answers of the assignment on the prequeue."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final

from sim import scenarios
from sim.exercises.faulty import texts
from sim.exercises.instance import Instance
from sim.exercises.parking import PARKED, TAKEN, parked, with_parking
from sim.path.linear import NO_DST, NOREF, REFERENCE
from sim.result import Result
from sim.scenarios.scenario import RunError
from sim.scenarios.tcp_prequeue import CPUS

from . import Verdict, near, partly, question, right, together, wrong
from .routines import same

VISITS: Final = 4
#: Functions that visit the line of the route's count: its reads, and atomics that are inline in their callers.
AT_THE_LINE: Final = ("ipv4_dst_check", "ip_rcv_finish", "dst_release", "tcp_prequeue", "tcp_v4_rcv")
LINE_BYTES: Final = 64
#: Share of parked packets that hold a reference while flows begin: few, but some.
COUNTED: Final = (0.02, 0.4)


def between_ns(instance: Instance) -> float:
    """Time between two visits of the line."""
    return 1e6 / (instance.number("packets_per_ms") * VISITS)


@question("line-rate", points=2)
def line_rate(instance: Instance, answer: dict[str, Any]) -> Verdict:
    visits = answer["visits"]
    count = right() if visits == VISITS else wrong(
        "Another number of visits.", "softirq visits it twice, and so does the thread: which are reads?"
    )
    return together({"visits": count, "every_ns": near(answer["every_ns"], between_ns(instance), relative=0.01, traps=[
        (1e6 / instance.number("packets_per_ms"), "this is the time between two packets"),
        (1e6 / (instance.number("packets_per_ms") * 2), "not only changes are visits"),
        (1e6 / (instance.number("packets_per_ms") * visits), "it follows from your visits, which are others"),
    ], hint="visits a second are packets a second times visits a packet")})


@question("waiting", points=3)
def waiting(instance: Instance, answer: dict[str, float]) -> Verdict:
    rate, busy = instance.number("packets_per_ms"), instance.number("busy_permille") / 1000
    packet = busy * CPUS * 1e6 / rate
    wait = (packet - instance.number("work_ns")) / VISITS
    return together({
        "packet_ns": near(answer["packet_ns"], packet, relative=0.01, traps=[
            (1e6 / rate, "48 threads work at the same time"), (CPUS * 1e6 / rate, "they are not busy all the time"),
        ], hint="busy threads over packets a second"),
        "wait_ns": near(answer["wait_ns"], wait, relative=0.01, traps=[
            (packet / VISITS, "not all of it is waiting"),
            (packet - instance.number("work_ns"), "these are all its visits"),
            ((packet - instance.number("work_ns")) / 2, "it waits at reads as well"),
        ], hint="what is left of the CPU time without the work, over the visits"),
        "waiting": near(answer["waiting"], wait * VISITS * rate / 1e6, relative=0.01, traps=[
            (wait * rate / 1e6, "visits arrive more often than packets"),
        ], hint="Little's law: how many visits begin in a nanosecond, and how long does each wait?"),
    })


@question("hand-over", points=3)
def hand_over(instance: Instance, answer: dict[str, float]) -> Verdict:
    cores, same, other = (instance.number(name) for name in ("cores", "same_ns", "other_ns"))
    mean = ((cores - 1) * same + cores * other) / (2 * cores - 1)
    share = 100 * between_ns(instance) / mean
    return together({
        "mean_ns": near(answer["mean_ns"], mean, relative=0.01, traps=[
            ((same + other) / 2, "a core is not one of its own neighbours"),
        ], hint="how many others are there in each socket?"),
        "share_pct": near(answer["share_pct"], share, relative=0.01, traps=[
            (share / 100, "per cent were asked for"), (100 - share, "these are the visits that found the line there"),
        ], hint="if each visit were a hand-over, how many would fit between two visits?"),
    })


@question("route-layout", points=2)
def route_layout(instance: Instance, answer: dict[str, Any]) -> Verdict:
    places = {
        "obsolete": "obsolete_at", "input": "input_at", "rt_genid": "genid_at", "rt_type": "type_at",
        "rt_gateway": "gateway_at",
    }
    count = instance.number("count_at")
    victims = {name for name, at in places.items() if instance.number(at) // LINE_BYTES == count // LINE_BYTES}
    named = set(answer["victims"])
    wrong_ones = len(named ^ victims)
    share = max(0.0, 1 - wrong_ones / 2)
    found = right() if not wrong_ones else partly(
        share, f"{wrong_ones} of the five are on the wrong side.", "divide each offset by 64 and drop the rest"
    )
    return together({"victims": found, "padding": near(answer["padding"], -(count + 4) % LINE_BYTES, traps=[
        (-count % LINE_BYTES, "the count itself takes four bytes"),
    ], hint="from the byte behind the count to the next multiple of 64")})


@lru_cache(maxsize=64)
def run(same_ns: int, other_ns: int, softirq_packet_ns: int, seed: int = 1, **knobs: int) -> Result:
    """The student's machine, two short replications, as in the notebook."""
    plain = scenarios.load("tcp-prequeue").machine
    machine = plain.with_(same_socket_ps=same_ns * 1000, other_socket_ps=other_ns * 1000)
    scenario = scenarios.load("tcp-prequeue", machine=machine)
    return scenario.run(
        seed=seed, replications=2, until_ps=scenario.quick_ps, softirq_packet_ns=softirq_packet_ns, **knobs
    )


def own(instance: Instance) -> tuple[int, int, int]:
    """Costs of the student's machine."""
    return instance.number("same_ns"), instance.number("other_ns"), instance.number("softirq_packet_ns")


@question("line-bill", points=3)
def line_bill(instance: Instance, answer: dict[str, float]) -> Verdict:
    before = run(*own(instance), drop_dst_early=0)
    busy = math.fsum(before.cpu.values()) / 100
    parts = [
        math.fsum(before.profile(role).get(name, 0.0) * before.cpu[role] / 100 for role in before.cpu) / busy
        for name in AT_THE_LINE
    ]
    share = math.fsum(parts)
    packet_ns = share / 100 * busy * 1000 / before.mpps
    less = [
        (share - part, 0.5, "a function that visits the line is not in your sum: who takes a reference in line?")
        for part in parts if part > 6
    ]
    return together({
        "share_pct": near(answer["share_pct"], share, absolute=4, traps=less,
                          hint="who reads the route's state, who takes a reference, who drops it?"),
        "packet_ns": near(answer["packet_ns"], packet_ns, relative=0.08, traps=[
            (share / 100 * 1000 / before.mpps, "48 threads are at work"),
        ], hint="busy threads times the share, over packets a second"),
    })


@question("padding-prediction", points=2)
def padding_prediction(instance: Instance, answer: float) -> Verdict:
    truth = run(*own(instance), drop_dst_early=0, dst_padding=1).mpps
    off = abs(answer - truth) / truth
    if off <= 0.12:
        return right("A good prediction.")
    return partly(
        0.5 if off <= 0.25 else 0, f"Too {'high' if answer > truth else 'low'}.",
        "how many visits does the count's line get now? And how many packets can the CPUs with interrupts take in?",
    )


@question("padding-measurement", points=3)
def padding_measurement(instance: Instance, answer: dict[str, float]) -> Verdict:
    before = run(*own(instance), drop_dst_early=0).mpps
    padding = run(*own(instance), drop_dst_early=0, dst_padding=1).mpps
    patch = run(*own(instance), drop_dst_early=1).mpps
    share = 100 * (padding - before) / (patch - before)
    return together({
        "padding_mpps": near(
            answer["padding_mpps"], padding, relative=0.05,
            hint="the patch off, which is on by default, and the padding on",
        ),
        "patch_mpps": near(answer["patch_mpps"], patch, relative=0.05, hint="the patch on, the padding off"),
        "share_pct": near(answer["share_pct"], share, absolute=12, traps=[
            (100 * padding / patch, "this compares rates, not gains"), (share / 100, "per cent were asked for"),
        ], hint="a gain is what is more than before"),
    })


@question("parking-bug", points=4)
def parking_bug(instance: Instance, answer: str) -> Verdict:
    if same(answer, texts("tcp-prequeue")[instance.number("fault")]):
        return wrong("This is the colleague's routine, as it came.", "count what it does to the packets: `parked` does")
    try:
        found = parked(with_parking(answer))
    except RunError:
        return wrong("The run ended early.", "is every way through the routine one that ends?")
    all_parked = sum(found[name] for name in PARKED.values())
    counted = found[PARKED[REFERENCE]]
    if not all_parked:
        return wrong("No packet is parked.", "where does the routine lead?")
    bare_pct = 100 * found[PARKED[NOREF]] / all_parked
    if bare_pct:
        return wrong(
            f"{bare_pct:.0f} % of the packets are parked with a route that nobody counts.",
            "what protects the route once softirq has left its RCU section?",
        )
    if found[TAKEN] != counted:
        more = found[TAKEN] > counted
        return wrong(
            "References are taken that nobody will drop." if more else "References will be dropped that nobody took.",
            "follow the count of one route through a packet's life",
        )
    low, high = COUNTED
    if counted > high * all_parked:
        return partly(0.25, "It is safe, and most packets still change the count.", "when may a packet let go?")
    if counted < low * all_parked or not found[PARKED[NO_DST]]:
        return partly(0.25, "No packet keeps its route.", "from where does a new socket get the route that it caches?")
    return right("Safe, balanced, and the common packet changes nothing.")
