"""Right answers of the assignment on the 5.17 series."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from sim import scenarios
from sim.engine import tables as T
from sim.exercises.defer_list import AWAY, CPU_LIST, locking, with_cpu_list, with_socket_list
from sim.exercises.faulty import texts
from sim.exercises.holes import Bounded
from sim.exercises.instance import Instance
from sim.layout import Layout, Member
from sim.result import Result, queue_rows
from sim.scenarios.scenario import RunError

from . import Verdict, near, partly, question, right, together, wrong
from .routines import same

HEADERS: Final = 72
ON_THE_WIRE: Final = 38
LIMIT: Final = 65_536
LARGE_BYTES: Final = 15 * 4096
#: Functions that give back sk_buffs and pages.
FREEING: Final = ("put_page", "free_unref_page", "__kfree_skb", "free_pcppages_bulk")
COPY: Final = "copy_user_enhanced_fast_string"
FULL_PCT: Final = 97


def segments(instance: Instance) -> int:
    """Segments of a full GRO packet, as `sim.scenarios.tcp_5_17` packs."""
    return (LIMIT - 1 - HEADERS) // instance.number("payload_bytes")


def packet_ns(instance: Instance) -> float:
    """Time of a full GRO packet of small segments at the rate before the patch."""
    return segments(instance) * instance.number("payload_bytes") * 8000 / instance.number("small_mbps")


@question("gro-fill", points=1)
def gro_fill(instance: Instance, answer: int) -> Verdict:
    payload, room = instance.number("payload_bytes"), LIMIT - 1 - HEADERS
    return near(answer, segments(instance), traps=[
        (-(-room // payload), "the last one would bring the packet over the limit"),
        ((LIMIT - 1) // (payload + HEADERS), "merged segments share one set of headers"),
        ((LIMIT - 1) // payload, "the headers count against the limit, too"),
    ], hint="how many bytes are left for payload when one set of headers is in?")


@question("fragment-cost", points=3)
def fragment_cost(instance: Instance, answer: float) -> Verdict:
    count, copy_ns = segments(instance), instance.number("copy_fs") / 1e6
    small, large = packet_ns(instance), LARGE_BYTES * 8000 / instance.number("large_mbps")
    more = count * instance.number("payload_bytes") - LARGE_BYTES
    truth = (small - large - more * copy_ns) / (count - 15)
    return near(answer, truth, relative=0.01, traps=[
        ((small - large) / (count - 15), 0.5, "the two packets do not hold quite the same bytes: what do the others "
         "cost?"),
        ((small - large + more * copy_ns) / (count - 15), 0.5, "a packet with more bytes takes longer for that: on "
         "which side does it stand?"),
        ((small - large - more * copy_ns) / count, "the other packet has fragments, too"),
        (small / count, "this charges a fragment with the copy of its bytes"),
    ], hint="write both packets' times as bytes times one cost plus fragments times another, and subtract")


@question("ceilings", points=3)
def ceilings(instance: Instance, answer: dict[str, Any]) -> Verdict:
    payload, count = instance.number("payload_bytes"), segments(instance)
    left = packet_ns(instance) - count * instance.number("saved_ps") / 1000
    truth = {
        "reader": count * payload * 8 / left,
        "softirq": payload * 8000 / instance.number("softirq_ps"),
        "wire": instance.number("link_gbps") * payload / (payload + HEADERS + ON_THE_WIRE),
    }
    link = instance.number("link_gbps")
    traps: dict[str, list[tuple[float, str]]] = {
        "reader": [(instance.number("small_mbps") / 1000, "this is the rate before: what does the patch take off?")],
        "softirq": [((payload + HEADERS) * 8000 / instance.number("softirq_ps"), "payload was asked for")],
        "wire": [
            (link * payload / (payload + HEADERS), "the wire carries more than IP packets"),
            (link * (payload + HEADERS) / (payload + HEADERS + ON_THE_WIRE), "payload was asked for"),
        ],
    }
    verdicts = {
        name: near(answer[name], value, relative=0.01, traps=traps[name]) for name, value in truth.items()
    }
    lowest = {name for name, value in truth.items() if value <= min(truth.values()) * 1.02}
    verdicts["binds"] = right() if answer["binds"] in lowest else wrong(
        "Another one binds.", "all three have to carry what arrives: which of them gives in first?"
    )
    return together(verdicts)


@lru_cache(maxsize=64)
def run(payload: int, softirq_packet_ns: int, nic_gbps: int, defer_free: int, seed: int = 1) -> Result:
    """The student's machine, five replications."""
    return scenarios.load("tcp-5.17").run(
        mtu=payload + HEADERS, softirq_packet_ns=softirq_packet_ns, link_gbps=nic_gbps, defer_free=defer_free, seed=seed
    )


def own(instance: Instance) -> tuple[int, int, int]:
    """Payload, softirq time and link of the student's machine."""
    return tuple(instance.number(n) for n in ("payload_bytes", "softirq_packet_ns", "nic_gbps"))  # type: ignore[return-value]


@question("reader-bill", points=3)
def reader_bill(instance: Instance, answer: dict[str, float]) -> Verdict:
    before = run(*own(instance), 0)
    profile, merged = before.profile("reader"), before.metrics["gro_segments"].mean
    busy_ns = before.cpu["reader"] / 100 * merged / before.mpps * 1000
    parts = [profile.get(name, 0.0) / 100 * busy_ns for name in FREEING]
    less = [
        (sum(parts) - part, 0.5, "a function that gives something back is not in your sum")
        for part in parts if part > 0.06 * sum(parts)
    ]
    copy_ns = profile[COPY] / 100 * busy_ns
    return together({
        "free_ns": near(answer["free_ns"], sum(parts), relative=0.03, traps=[
            (sum(parts) / merged, "this is for a segment; a GRO packet was asked for"),
            (sum(profile.get(name, 0.0) for name in FREEING), "these are per cent: of how many nanoseconds?"), *less,
        ], hint="a GRO packet takes its segments over the packets a second; which functions return memory?"),
        "copy_ps": near(
            answer["copy_ps"], copy_ns * 1000 / (merged * instance.number("payload_bytes")), relative=0.03,
            traps=[(copy_ns * 1000 / LIMIT, "a packet holds its segments' payload, not 64 KB")],
            hint="the copy's share of a packet's time, over the bytes of the packet",
        ),
    })


@question("prediction", points=2)
def prediction(instance: Instance, answer: float) -> Verdict:
    truth = run(*own(instance), 1).gbps
    off = abs(answer - truth) / truth
    if off <= 0.12:
        return right("A good prediction.")
    side = "high" if answer > truth else "low"
    hint = "take the lowest of three ceilings; work that leaves the reader arrives at the softirq CPU"
    return partly(0.5 if off <= 0.3 else 0, f"Too {side}.", hint)


@question("measurement", points=2)
def measurement(instance: Instance, answer: dict[str, Any]) -> Verdict:
    after = run(*own(instance), 1, instance.number("seed"))
    payload, _, link = own(instance)
    full = [role for role in ("softirq", "reader") if after.cpu[role] > FULL_PCT]
    wire = link * payload / (payload + HEADERS + ON_THE_WIRE)
    binds = "wire" if after.gbps > 0.98 * wire else "both CPUs" if len(full) == 2 else full[0]
    before = run(*own(instance), 0)
    return together({
        "gbps": near(answer["gbps"], after.gbps, relative=0.02, traps=[
            (before.gbps, "this is the run without the patch"),
        ], hint="print the run's metrics"),
        "softirq_pct": near(answer["softirq_pct"], after.cpu["softirq"], absolute=2, hint="a run has a dict `cpu`"),
        "freed_by_softirq_pct": near(
            answer["freed_by_softirq_pct"], after.freed_by_softirq, absolute=6,
            traps=[(100 - after.freed_by_softirq, "this is the reader's share")], hint="look through the run's metrics",
        ),
        "binds": right() if answer["binds"] == binds else wrong(
            "Something else binds.", "compare the rate with the link's payload first, then look at both CPUs"
        ),
    })


@question("neighbours", points=2)
def neighbours(instance: Instance, answer: dict[str, int]) -> Verdict:
    members = [
        Member("stamps", 8 * instance.number("stamps"), 8), Member("name", instance.number("name_bytes"), 1),
        Member("flags", 4), Member("port", 2), Member("bytes", 8), Member("refs", 4), Member("limit", 4),
    ]
    placed = {field.name: field for field in Layout.pack("mine", members, source="an exercise").fields}
    tight = sum(member.size for member in members[:4])
    limit = placed["limit"]
    return together({
        "offset": near(answer["offset"], placed["bytes"].offset, traps=[
            (tight, "the compiler does not place an 8-byte member at any offset"),
        ], hint="place the members one by one; each begins at a multiple of its element's size"),
        "line": near(answer["line"], limit.line, traps=[(limit.line + 1, "lines are counted from 0")],
                     hint="a line is the offset over 64, rounded down"),
        "padding": near(answer["padding"], -limit.offset % 64, traps=[
            (-placed["refs"].offset % 64, "the padding stands before `limit`, not before `refs`"),
        ], hint="how far is it from the offset of `limit` to the next multiple of 64?"),
    })


SETTINGS: Final[tuple[dict[str, Any], ...]] = (
    {"mtu": 1500}, {"mtu": 4168, "recv_size_bytes": 65_536}, {"mtu": 1500, "reader_cpu": "same_cpu"},
    {"mtu": 1500, "gro_max_segs": 1},
)


@lru_cache(maxsize=8)
def _kernels(setting: int) -> Result:
    scenario = scenarios.load("tcp-5.17")
    return scenario.run(defer_free=1, replications=3, until_ps=scenario.quick_ps, **SETTINGS[setting])


@question("defer-bug", points=4)
def defer_bug(instance: Instance, answer: str) -> Verdict:
    if same(answer, texts("tcp-5.17")[instance.number("fault")]):
        return wrong("This is the colleague's list, as it came.", "run it in several settings: what does it do?")
    scenario = with_socket_list(answer)
    for setting, knobs in enumerate(SETTINGS):
        try:
            mine = scenario.run(
                defer_free=1, replications=3, until_ps=scenario.quick_ps, engine=Bounded(), **knobs
            )
        except RunError as error:
            return wrong(f"The run ended early: {_said(error)}.", "who else holds the packet at that moment?")
        right_one = _kernels(setting)
        if mine.mpps < 0.5 * right_one.mpps or mine.gbps > 1.5 * right_one.gbps:
            return wrong(
                "The receiver delivers what never arrived, or hardly anything.", "on which queue does a packet end?"
            )
        if mine.freed_by_softirq < 1 < right_one.freed_by_softirq:
            return wrong("Softirq frees nothing.", "follow one packet from the push to the free")
        if abs(mine.freed_by_softirq - right_one.freed_by_softirq) > 12 or abs(mine.gbps / right_one.gbps - 1) > 0.05:
            return partly(
                0.25, "It runs, but not like the list of 5.17.",
                "in which case shall the reader free a packet on the spot? Try it with GRO off, and on one CPU",
            )
    return right("The list runs like that of 5.17.")


def _said(error: RunError) -> str:
    """What ended a run, without addresses of the program around the holes."""
    return re.sub(r" at (?:[A-Z]+ .*)$", "", str(error).removeprefix("tcp-5.17: "))


@question("cpu-list", points=5)
def cpu_list(instance: Instance, answer: str) -> Verdict:
    scenario = with_cpu_list(answer)
    limit = instance.number("limit")
    arenas, stats = [], []
    for knobs in ({"mtu": 1500}, {"mtu": 1500, "reader_cpu": "same_cpu"}, {"mtu": 1500, "gro_max_segs": 1}):
        try:
            replication, arena = scenario.replicate(
                Bounded(), 1, scenario.until_ps, defer_free=0, defer_per_cpu=1, **knobs
            )
        except RunError as error:
            return wrong(f"The run ended early: {_said(error)}.", "is each packet freed once, and none forgotten?")
        arenas.append(arena)
        stats.append({
            name: int(arena[arena[T.H_AT_STAT] + scenario.spec.stats.index(name)])
            for name in (AWAY, "freed_by_reader", "freed_by_softirq", "gro_packets")
        } | {"copied": replication.metrics["gbps"] > 0})
    peaks = [max(int(arena[at + T.Q_MAX]) for at in queue_rows(arena, scenario.spec, CPU_LIST)) for arena in arenas]
    bulk, alone, crowded = stats
    freed = bulk["freed_by_reader"] + bulk["freed_by_softirq"]
    kept = right() if freed >= 0.9 * bulk["gro_packets"] and bulk["copied"] else wrong(
        "Packets are not freed, or not at all.", "how does a packet that is on the list come off it?"
    )
    if bulk[AWAY] > 0.1 * freed:
        return wrong("The reader still frees packets of another CPU.", "who takes a packet off the list, and when?")
    home = right() if not alone["freed_by_softirq"] else partly(
        0.5, "With one CPU for all, packets still take the detour.", "who allocated this packet?"
    )
    bound = right()
    if peaks[2] > limit:
        bound = wrong(f"A list grew to {peaks[2]} packets.", "ask for the length before you push; protected by what?")
    elif peaks[2] < limit or not crowded[AWAY]:
        bound = wrong("A list is never filled up to the limit.", "how many packets may wait when one more is pushed?")
    unlocked = locking(answer)
    locked = right() if not unlocked else wrong(
        "; ".join(f"line {line}: {reason}" for line, reason in unlocked[:3]) + ".",
        "which two CPUs can be at this list at the same time? And how long may one wait for the other?",
    )
    return together({"kept": kept, "home": home, "bound": bound, "lock": locked})
