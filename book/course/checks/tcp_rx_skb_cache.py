"""Right answers of the assignment on the sockets' caches of one sk_buff."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from sim import scenarios
from sim.exercises.assignments.tcp_rx_skb_cache import EFFECTS, LISTINGS
from sim.exercises.instance import Instance
from sim.result import Result

from . import Verdict, fault_found, near, question, right, together, wrong

OBJECTS: Final = 3  # of a request
PAGE, BLOCK = 4096, 32_768
CPUS: Final = 112
UNTIL_PS: Final = 3_600_000_000
#: Of each listing: the lines that may be named, and the effects.
FAULTS: Final = (
    ((2,), (0,)), ((12,), (1,)), ((8,), (0, 1)), ((15,), (2,)), ((19, 20), (3,)), ((11, 12), (0,)),
    ((14, 15, 16, 17), (4,)),
)


def _alien(instance: Instance) -> float:
    nodes = instance.number("nodes")
    return (nodes - 1) / nodes


@question("skb-nodes", points=3)
def nodes(instance: Instance, answer: Mapping[str, float]) -> Verdict:
    """Ordered pairs of nodes, and visits over locks."""
    count, share = instance.number("nodes"), _alien(instance)
    locks = OBJECTS * count * (count - 1)
    visits_per_us = instance.number("rate_kilo") / 1000 * OBJECTS * share
    return together({
        "alien_pct": near(answer["alien_pct"], 100 * share, relative=0.01, traps=[
            (100 / count, "that is the share of the own node"),
        ], hint="an object may come from any node alike"),
        "locks": near(answer["locks"], locks, traps=[
            (locks / 2, "who frees and who owns: the pair has an order"),
            (locks / OBJECTS, "each of the three caches has its own"),
            (OBJECTS * count * count, "a node is not foreign to itself"),
        ], hint="count the pairs of two different nodes in both orders, for each cache"),
        "between_ns": near(answer["between_ns"], 1000 * locks / visits_per_us, relative=0.01, traps=[
            (1000 / visits_per_us, "that is the time between two visits of all locks together"),
            (1000 * locks / visits_per_us * share, "objects of the own node visit no alien lock"),
        ], hint="visits a second of all locks, then of one"),
    })


@question("skb-batch", points=2)
def batch(instance: Instance, answer: Mapping[str, float]) -> Verdict:
    """Home objects in batches, alien ones by the array."""
    share, size, array = _alien(instance), instance.number("batch"), instance.number("array")
    requests = instance.number("requests")
    alien, home = requests * OBJECTS * share, requests * OBJECTS * (1 - share)
    return together({
        "alien_visits": near(answer["alien_visits"], alien, relative=0.01, traps=[
            (requests * share, "a request frees three objects"),
            (alien / array, "each object goes through the lock by itself; only the emptying is in batches"),
        ], hint="each object of another node takes it once"),
        "list_visits": near(answer["list_visits"], home / size + alien / array, relative=0.01, traps=[
            (home / size, "an alien array is emptied under a list lock, too"),
            (alien / array, "the CPU's own array is emptied, too"),
            (requests * OBJECTS / size, "objects of another node do not go through the CPU's own array"),
        ], hint="home objects over the batch, and the others over the array"),
    })


@question("skb-knee", points=4)
def knee(instance: Instance, answer: Mapping[str, float]) -> Verdict:
    """M/D/1."""
    hold, between = instance.number("hold_ns"), instance.number("between_ns")
    longer = hold + instance.number("added_ns")
    times = instance.number("times")

    def wait(s: float) -> float:
        rho = s / between
        return rho * s / (2 * (1 - rho))

    def halved(s: float) -> list[tuple[float, float, str]]:
        return [(2 * wait(s), 0.5, "that is the wait with random times of service; here they are fixed")]

    return together({
        "busy_pct": near(answer["busy_pct"], 100 * hold / between, relative=0.01, hint="held so long, wanted so often"),
        "wait_ns": near(answer["wait_ns"], wait(hold), relative=0.01, traps=[
            *halved(hold), (wait(hold) + hold, "waiting ends when the section begins"),
        ], hint="the utilisation as a number below one"),
        "longer_ns": near(answer["longer_ns"], wait(longer), relative=0.01, traps=[
            *halved(longer), (wait(hold) + longer - hold, "the wait of all who stand in front grows as well"),
        ], hint="both the section and the utilisation grow"),
        "full_pct": near(answer["full_pct"], 100 * 2 * times / (1 + 2 * times), relative=0.01, traps=[
            (100 * times / (1 + times), 0.5, "that is the wait with random times of service"),
        ], hint="set the wait equal to so many sections and solve for the utilisation"),
    })


@question("skb-memory", points=2)
def memory(instance: Instance, answer: Mapping[str, float]) -> Verdict:
    """Whole objects in pages and blocks; at worst each pins its own."""
    sockets = instance.number("sockets") / 1000  # GB
    skb, fragment = instance.number("skb_bytes"), instance.number("fragment_bytes")
    least = sockets * (PAGE / (PAGE // skb) + BLOCK / (BLOCK // fragment))
    most = sockets * (PAGE + BLOCK)
    return together({
        "least_gb": near(answer["least_gb"], least, relative=0.02, traps=[
            (most, "at least: kept packets may lie side by side"),
        ], hint="how many objects does a page hold, how many fragments a block, and what does each then cost?"),
        "most_gb": near(answer["most_gb"], most, relative=0.02, traps=[
            (sockets * BLOCK, "the sk_buff's slab is pinned, too"),
            (sockets * (PAGE + fragment), "a block goes back only when all of it is free"),
        ], hint="what does one kept packet hold back if its neighbours are gone?"),
    })


@question("skb-profile", points=3)
def profile(instance: Instance, answer: Mapping[str, float]) -> Verdict:
    """Shares of busy time."""
    busy, spin = instance.number("busy") / 100, instance.number("spin") / 10_000
    request = CPUS * busy * 1000 / instance.number("kilo")
    return together({
        "request_us": near(answer["request_us"], request, relative=0.01, traps=[
            (request / busy, 0.5, "the CPUs are not busy all the time"), (request / CPUS, "there are 112 CPUs"),
        ], hint="busy time of all CPUs in a second, over the requests in it"),
        "spinning_cpus": near(answer["spinning_cpus"], CPUS * busy * spin, relative=0.01, traps=[
            (CPUS * spin, 0.5, "a share of the busy time, not of all time"),
            (100 * CPUS * busy * spin, "the entries are in hundredths of a percent"),
        ], hint="only one of these functions waits for a lock"),
        "gain_pct": near(answer["gain_pct"], 100 * spin / (1 - spin), relative=0.01, traps=[
            (100 * spin, 0.5, "that is the time saved; the rate rises by a little more"),
        ], hint="what is left of a request's time, and what rate does that give?"),
    })


@cache
def _measured(on: int, rx_queues: int, section_ns: int) -> Result:
    return scenarios.load("tcp-rx-skb-cache").run(
        rx_skb_cache=on, tx_skb_cache=on, rx_queues=rx_queues, lock_section_ns=section_ns, replications=1,
        until_ps=UNTIL_PS,
    )


@question("skb-measure", points=4)
def measure(instance: Instance, answer: Mapping[str, float]) -> Verdict:
    """The same runs."""
    neither, both = (_measured(on, instance.number("rx_queues"), instance.number("section_ns")) for on in (0, 1))
    visit = 1000 * neither.alien_wait / 100 / (neither.alien_frees * neither.mpps)
    rates = answer["neither"], answer["both"]
    gain = wrong("There is no rate to compare with.", "first the two rates") if not all(rates) else near(
        answer["gain_pct"], 100 * (rates[1] / rates[0] - 1), absolute=0.2,
        hint="your rate with both caches over yours with neither, less one, in percent")
    how = "both caches off, both on; your knobs; one replication; until_ps=3_600_000_000"
    return together({
        "guess_pct": right(),
        "neither": near(answer["neither"], neither.mpps, relative=0.03, hint=how),
        "both": near(answer["both"], both.mpps, relative=0.03, hint=how),
        "gain_pct": gain,
        "visit_ns": near(answer["visit_ns"], visit, relative=0.4, traps=[
            (100 * visit, "`alien_wait` is in percent"),
        ], hint="waiting in a second of all CPUs, over visits in a second"),
    })


@question("skb-bug", points=3)
def bug(instance: Instance, answer: Mapping[str, Any]) -> Verdict:
    """Where the fault is, and what it does."""
    lines, effects = FAULTS[LISTINGS.index(str(instance["listing"]))]
    return fault_found(
        answer["line"] in lines, answer["effect"] in [EFFECTS[k] for k in effects],
        "follow one packet that was kept, to its end",
        "a test for a cache of one takes two packets: follow both, and both sides of each branch",
    )
