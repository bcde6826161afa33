"""What the assignment on the prequeue and the route's reference count asks."""

from __future__ import annotations

from typing import Final

from ..faulty import texts
from ..forms import Choice, Number, Parts, Several
from ..instance import Assignment, Given, Question
from ..parking import with_parking
from ..routine_form import Routine

#: Members of the route in the question on its layout, in their order.
READ: Final = ("obsolete", "input", "rt_genid", "rt_type", "rt_gateway")

_PENCIL = (
    Question(
        "line-rate",
        "The rate of a line",
        "Your receiver of 48 hardware threads takes in {packets_per_ms:,} packets a millisecond, without the patch. "
        "Two loads of one line that stand close are one visit. (a) How many times does a parked packet visit the line "
        "of the route's count, from early demux until it is freed? (b) How many nanoseconds lie between two visits?",
        Parts({"visits": Number("visits", 1, 20, whole=True), "every_ns": Number("ns", 0.1, 1e6)}),
        "1 %",
    ),
    Question(
        "waiting",
        "Who stands in line",
        "All 48 hardware threads together are {busy_permille} per mille busy at that rate. The work for a packet, "
        "without any waiting, is {work_ns:,} ns of CPU time. (a) How much CPU time goes into a packet? (b) How long "
        "does a packet wait at each visit, if it waits nowhere else? (c) How many hardware threads stand in line at a "
        "moment?",
        Parts({
            "packet_ns": Number("ns", 1, 1e6), "wait_ns": Number("ns", 0, 1e6), "waiting": Number("threads", 0, 48),
        }),
        "1 %",
        (Given("busy_permille", 930, 990), Given("work_ns", 1500, 2600, 10)),
    ),
    Question(
        "hand-over",
        "Lucky visits",
        "Your machine has two sockets of {cores} cores. A line goes to a core of the same socket in {same_ns} ns, to "
        "one of the other socket in {other_ns} ns. (a) How long does a hand-over take on average, if the next core is "
        "any of the others with the same chance? (b) At your rate, which share of the visits can have been "
        "hand-overs, if they come one after the other and the line never rests?",
        Parts({"mean_ns": Number("ns", 1, 1000), "share_pct": Number("%", 0, 1000)}),
        "1 %",
        (Given("cores", 10, 18),),
    ),
    Question(
        "route-layout",
        "Victims",
        "In your kernel the route's count, 4 bytes long, begins at offset {count_at}. Every packet reads `obsolete` at "
        "{obsolete_at}, `input` at {input_at}, `rt_genid` at {genid_at}, `rt_type` at {type_at} and `rt_gateway` at "
        "{gateway_at}; none straddles a line of 64 bytes. (a) Which of them share the count's line? (b) How many bytes "
        "of padding right behind the count let what follows begin on the next line?",
        Parts({
            "victims": Several(Choice(READ), 0, len(READ)), "padding": Number("bytes", 0, 64, whole=True),
        }),
        "exact",
        (Given("count_at", 128, 236, 4), Given("obsolete_at", 40, 124, 4), Given("input_at", 128, 184, 8),
         Given("genid_at", 240, 264, 4), Given("type_at", 268, 284, 4), Given("gateway_at", 288, 336, 4)),
    ),
)
_RUN = (
    Question(
        "line-bill",
        "The line's bill",
        "`before` is your machine without the patch. Take the profiles of all 48 hardware threads together, each "
        "weighed with how busy it is. (a) Which share of all busy time is spent in functions that visit the route's "
        "line? Five functions do; atomics that the compiler puts into their callers count there. (b) How much CPU "
        "time is that for a packet?",
        Parts({"share_pct": Number("%", 0, 100), "packet_ns": Number("ns", 1, 1e6)}),
        "4 points of the share, 8 % of the time; other seeds change less",
    ),
    Question(
        "padding-prediction",
        "Predict",
        "Not the patch, but the layout of 2023: `dst_padding=1` moves what packets read to another line, and the count "
        "stays where it is. How many million packets a second will your machine take in?",
        Number("Mpps", 0.1, 60),
        "all points within 12 % of what the run gives, half of them within 25 %",
    ),
    Question(
        "padding-measurement",
        "Measure",
        "Run your machine twice more, with the settings of `before` (`**machine`): once with `dst_padding=1`, and once "
        "with the patch (`drop_dst_early=1`) instead. Hand in the rate with the padding, the rate with the patch, and "
        "which share of the patch's gain the padding brings.",
        Parts({
            "padding_mpps": Number("Mpps", 0.1, 60), "patch_mpps": Number("Mpps", 0.1, 60),
            "share_pct": Number("%", -100, 300),
        }),
        "5 % of the rates, 12 points of the share; other seeds change less",
    ),
)
_WRITE = (
    Question(
        "parking-bug",
        "Find the fault",
        "A colleague wrote what the patch does to a packet's route before the packet is parked, for sockets with and "
        "without a cached route. The routine has one fault (yours is number {fault}). Hand in the routine with the "
        "fault repaired.",
        Routine(with_parking),
        "three properties: no packet is parked with a route that nobody counts; as many references are taken as "
        "packets will drop; the patch still does what it is for, and no more",
        (Given("fault", 0, len(texts("tcp-prequeue")) - 1),),
    ),
)

ASSIGNMENT = Assignment(
    "tcp-prequeue",
    "A count that every CPU changes",
    75,
    machine=(Given("same_ns", 36, 52), Given("other_ns", 95, 130), Given("softirq_packet_ns", 450, 600, 5)),
    workload=(Given("packets_per_ms", 5200, 6800, 5),),
    questions=(*_PENCIL, *_RUN, *_WRITE),
)
