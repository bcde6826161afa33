"""What the assignment on the sockets' caches of one sk_buff asks."""

from __future__ import annotations

from typing import Final

from ..faulty import texts
from ..forms import Choice, Number, Parts
from ..instance import Assignment, Given, Picked, Question

EFFECTS: Final = (
    "kept packets are lost", "a packet is freed twice", "an index leaves its table", "a lock stays held",
    "the lock is held longer than it must be",
)
#: What a socket's reader does with a packet that it has read, and softirq with the next, as seven colleagues typed it.
LISTINGS: Final = texts("tcp-rx-skb-cache")

ASSIGNMENT = Assignment(
    "tcp-rx-skb-cache",
    "Who frees what another CPU has taken",
    75,
    machine=(
        Picked("nodes", (2, 3, 4, 6, 8)),
        Picked("batch", (16, 27, 54, 60)),
        Given("array", 8, 20),
    ),
    workload=(Given("rate_kilo", 8000, 24000),),
    questions=(
        Question(
            "skb-nodes", "How many objects come from afar",
            "A server with {nodes} memory nodes answers {rate_kilo:,} thousand requests a second, evenly over "
            "all its CPUs. Each request frees three objects, each of a slab cache of its own, on a CPU that has "
            "nothing to do with the one that took it. A free of another node's object goes through an alien lock; "
            "there is one for each cache and each ordered pair of a freeing and an owning node.\n\n"
            "- `alien_pct`: which share of the objects is another node's?\n"
            "- `locks`: how many alien locks are there?\n"
            "- `between_ns`: how much time lies between two visits of one lock, on average?",
            Parts({
                "alien_pct": Number("%", 0, 100), "locks": Number("locks", 1, 10000, whole=True),
                "between_ns": Number("ns", 0.1, 1e6),
            }),
            "1 %; locks exact",
        ),
        Question(
            "skb-batch", "What a batch spares",
            "On the same server a CPU's own array gives {batch} objects at once back to the node when it is full, "
            "under the node's list lock. An alien array holds {array}; when the last of them comes in, all are emptied "
            "into their owner's list under its list lock. For {requests:,} requests:\n\n"
            "- `alien_visits`: how often is an alien lock taken to free?\n"
            "- `list_visits`: how often is a list lock taken, for both reasons together?",
            Parts({name: Number("locks", 0, 1e6) for name in ("alien_visits", "list_visits")}),
            "1 %", (Given("requests", 1000, 9000, 10),),
        ),
        Question(
            "skb-knee", "Near the knee",
            "A lock is held for {hold_ns} ns by each visitor, hand-over included; visitors come at random, "
            "{between_ns} ns apart on average. Take it for a queue with one server and a fixed time of service "
            "(M/D/1): the mean wait is $\\rho s / (2 (1 - \\rho))$.\n\n"
            "- `busy_pct`: which share of the time is it held?\n"
            "- `wait_ns`: how long does a visitor wait on average?\n"
            "- `longer_ns`: how long, if the section takes {added_ns} ns more?\n"
            "- `full_pct`: at which utilisation does a visitor wait {times} times as long as the section lasts?",
            Parts({
                "busy_pct": Number("%", 0, 100), "wait_ns": Number("ns", 0, 1e6), "longer_ns": Number("ns", 0, 1e6),
                "full_pct": Number("%", 0, 100),
            }),
            "1 %",
            (Given("hold_ns", 90, 120), Given("between_ns", 160, 200), Given("added_ns", 10, 30), Given("times", 2, 5)),
        ),
        Question(
            "skb-memory", "One packet is little, one packet each is a lot",
            "A host has {sockets} million idle sockets, each with one packet kept. An sk_buff takes {skb_bytes} bytes "
            "of a slab, a page of 4,096 bytes; its data are a fragment of {fragment_bytes:,} bytes from a block of "
            "32,768 bytes. Slabs and blocks hold whole objects, and go back only when all of them are free.\n\n"
            "- `least_gb`: how much memory do the kept packets pin at least?\n"
            "- `most_gb`: and at most?",
            Parts({name: Number("GB of 1e9 bytes", 0.001, 1e5) for name in ("least_gb", "most_gb")}),
            "2 %",
            (Given("sockets", 1, 8), Picked("skb_bytes", (192, 240, 256, 320)), Given("fragment_bytes", 800, 2200, 20)),
        ),
        Question(
            "skb-profile", "Read a profile",
            "112 CPUs, each {busy} % busy, answer {kilo:,} thousand requests a second without caches. `perf` over all "
            "of them, in hundredths of a percent of the busy time, the largest entries:\n\n"
            "| symbol | share |\n|---|---:|\n| `tcp_sendmsg_locked` | {send} |\n"
            "| `native_queued_spin_lock_slowpath` | {spin} |\n| `cache_alloc_refill` | {refill} |\n"
            "| `__cache_free_alien` | {alien} |\n| `__alloc_skb` | {alloc} |\n\n"
            "- `request_us`: how much CPU time does a request take?\n"
            "- `spinning_cpus`: how many CPUs' worth of time goes into spinning?\n"
            "- `gain_pct`: by how much could the rate rise if nobody spun any more, nothing else changed, and the CPUs "
            "were as busy as now?",
            Parts({
                "request_us": Number("us", 0.01, 1000), "spinning_cpus": Number("CPUs", 0, 112),
                "gain_pct": Number("%", 0, 1000),
            }),
            "1 %",
            (Given("busy", 80, 99), Given("kilo", 6500, 8500, 10), Given("send", 900, 1400), Given("spin", 400, 899),
             Given("refill", 250, 399), Given("alien", 150, 249), Given("alloc", 100, 149)),
        ),
        Question(
            "skb-measure", "Predict, then measure",
            "Take `tcp-rx-skb-cache` with `rx_queues={rx_queues}` and `lock_section_ns={section_ns}`. Guess first how "
            "much both caches together gain over neither (`guess_pct`; any honest guess gets its points). Then run "
            "both settings with one replication up to `until_ps=3_600_000_000`, and hand in the rates (`neither`, "
            "`both`), the gain (`gain_pct`), and for the run without caches the mean wait of one visit to an alien "
            "lock (`visit_ns`): `alien_wait` is in percent of one CPU's time, `alien_frees` are visits a request.",
            Parts({
                "guess_pct": Number("%", -100, 1000), "neither": Number("Mpps", 0, 100), "both": Number("Mpps", 0, 100),
                "gain_pct": Number("%", -100, 1000), "visit_ns": Number("ns", 0, 1e6),
            }),
            "rates 3 %; the gain as your rates give it; the wait 40 %, which is what other seeds change",
            (Picked("rx_queues", (54, 56, 58, 60, 62, 64)), Given("section_ns", 0, 100, 10)),
        ),
        Question(
            "skb-bug", "Find the fault",
            "A colleague has typed the receive cache of a socket: `eat` is what its reader does with a packet that it "
            "has read, while it owns the socket; `rcv` is what softirq does with the next one. There is one mistake: a "
            "line is missing, or stands in the wrong place.\n\n```\n{listing}\n```\n\n"
            "Say at which `line` (the one that stands in the wrong place; if one is missing, the line before which it "
            "is missing), and which `effect` it has.",
            Parts({"line": Number("", 1, 40, whole=True), "effect": Choice(EFFECTS)}),
            "exact; half of the points for each part", (Picked("listing", LISTINGS),),
        ),
    ),
)
