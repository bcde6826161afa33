"""What the assignment on UDPv6's early demux asks."""

from __future__ import annotations

from typing import Final

from ..early_demux import with_early_demux
from ..faulty import texts
from ..forms import Choice, Number, Parts
from ..instance import Assignment, Given, Picked, Question
from ..routine_form import Routine

EFFECTS: Final = (
    "references are never dropped", "a reference is dropped that was never taken", "a socket is used that may be gone",
    "a packet is used that may be gone", "the look-up is made although the socket is known", "a reader sleeps for ever",
)
#: A rule's and UDP's part of the way as six colleagues typed them, one fault in each.
LISTINGS: Final = texts("udpv6-early-demux")

ASSIGNMENT = Assignment(
    "udpv6-early-demux",
    "Looked up once, or once for each rule",
    80,
    machine=(
        Given("atomic_ns", 6, 14),
        Given("handover_ns", 40, 70),
        Given("lookup_ns", 120, 480, 10),
    ),
    workload=(Given("rules", 2, 9),),
    questions=(
        Question(
            "demux-two-rates", "What a look-up costs, from two rates",
            "A phone's one receiving core is full. It takes in a stream of datagrams of {bytes:,} bytes of payload at "
            "{before_mbps} Mbit/s before the patch. {rules} netfilter rules look up each packet's socket, and each "
            "takes and drops a reference: two atomics of {atomic_ns} ns. The patch takes one reference and drops it "
            "once, and adds a call of 2 ns. Afterwards the stream has {after_mbps} Mbit/s.\n\n"
            "- `before_us`, `after_us`: the core's time for a packet, before and after.\n"
            "- `lookup_ns`: what one look-up must have taken, references not counted. (UDP's own look-up is only "
            "moved.)",
            Parts({
                "before_us": Number("us", 0.01, 1000), "after_us": Number("us", 0.01, 1000),
                "lookup_ns": Number("ns", 0.1, 1e5),
            }),
            "0.5 % for the times, 3 % for the look-up",
            (Given("bytes", 900, 1440, 10), Given("before_mbps", 700, 800), Given("after_mbps", 850, 950)),
        ),
        Question(
            "demux-forward", "Who pays",
            "A packet that is only *forwarded* takes {forward_ns:,} ns of a router's core without the patch. Its "
            "look-up by early demux takes {lookup_ns} ns and finds nobody.\n\n"
            "- `loss_pct`: by which part does the rate that the core can forward fall? A positive number.\n"
            "- `worst_ns`: how much may a look-up take at most, if at most {limit_pct} % of the rate may be lost?",
            Parts({"loss_pct": Number("%", 0, 100), "worst_ns": Number("ns", 0, 1e5)}),
            "2 %", (Given("forward_ns", 1500, 12000, 100), Given("limit_pct", 1, 5)),
        ),
        Question(
            "demux-ceiling", "One socket, many CPUs",
            "A name server has one socket that is not connected. {count} CPUs each could take in a packet in "
            "{packet_ns:,} ns, were it not for the socket's reference count: the patch as it was posted takes and "
            "drops a reference for each packet, and each time the count's line has to come over from another CPU in "
            "{handover_ns} ns.\n\n"
            "- `ceiling_mpps`: how many packets a second can the socket take in at most, however many CPUs there are?\n"
            "- `cpus`: from how many CPUs on does that limit what they could do? A whole number.",
            Parts({"ceiling_mpps": Number("Mpps", 0.01, 1000), "cpus": Number("CPUs", 1, 10000, whole=True)}),
            "1 %; the CPUs exact", (Given("count", 16, 64, 4), Given("packet_ns", 600, 2400, 20)),
        ),
        Question(
            "demux-profile", "Read a profile",
            "`perf` on the receiving core, which is full, with {kpps} thousand packets a second, without the patch; "
            "the largest entries, in hundredths of a percent:\n\n"
            "| symbol | share |\n|---|---:|\n| driver and GRO | {driver} |\n| `__udp6_lib_lookup` | {lookup} |\n"
            "| `qtaguid_mt` | {match} |\n| `ip6t_do_table` | {table} |\n| `sock_put` | {put} |\n\n"
            "There are {rules} rules that look up.\n\n"
            "- `lookups_us`: how many microseconds of a packet's time are look-ups?\n"
            "- `each_ns`: what does one look-up take?\n"
            "- `gain_pct`: by how much would the packet rate rise if the rules' look-ups took no time, and nothing "
            "else changed?",
            Parts({
                "lookups_us": Number("us", 0, 1000), "each_ns": Number("ns", 0, 1e5), "gain_pct": Number("%", 0, 1000),
            }),
            "1 %",
            (Given("kpps", 60, 90), Given("driver", 4600, 5200), Given("lookup", 900, 1600), Given("match", 400, 600),
             Given("table", 300, 399), Given("put", 200, 299)),
        ),
        Question(
            "demux-measure", "Predict, then measure",
            "Take `udpv6-early-demux` with `uid_rules={uid_rules}`, `lookup_ns={lookup_ns}`, `calibrated=0`. Predict "
            "by pencil first how many Mbit/s the stream has without early demux and with it (`guess_without`, "
            "`guess_with`; any honest guess gets its points). Then run both with three replications up to the "
            "scenario's `quick_ps`, and hand in what you measured (`without`, `with_demux`). Do the same for "
            "`traffic=\"forward\"`: by how many percent does early demux change `forwarded_mpps` "
            "(`forward_change_pct`, negative if it falls)?",
            Parts({
                **{n: Number("Mbit/s", 0, 10000) for n in ("guess_without", "guess_with", "without", "with_demux")},
                "forward_change_pct": Number("%", -100, 100),
            }),
            "two half widths of the interval, at least 2 %; the change within 0.5 points",
            (Given("uid_rules", 2, 8),),
        ),
        Question(
            "demux-routine", "Write early demux",
            "Write `early_demux`. It is called for each packet before its route is looked up: `skb` is the packet, "
            "`flow` its remote end, and `sk` is -1. It may give the packet a socket: then `sk` is that socket, the "
            "packet's `sock` is set, a reference on it is held, and the packet's `held` says so. Otherwise `sk` stays "
            "-1, and UDP looks the socket up later.\n\n"
            "It has to be right for all of these: connected sockets, of which only the first of the chain is worth a "
            "look; a socket that is not connected and bound to any address; one that is bound to this host's address, "
            "and so stands first in the chain although it has no remote end; packets that are for another host.\n\n"
            "- A packet never gets another flow's socket, and no reference is lost or dropped twice.\n"
            "- With one connected socket no rule looks up any more.\n"
            "- A socket that is not connected gets no reference at all: all CPUs would fight for it.\n"
            "- Nothing that another CPU writes is touched for a packet that gets no socket, and the full look-up is "
            "not made.",
            Routine(with_early_demux), "by what it does in runs that you do not see",
        ),
        Question(
            "demux-bug", "Find the fault",
            "A colleague has typed a rule and the end of a packet's way to its socket, and made one mistake: a line is "
            "missing, or stands in the wrong place. Early demux is on; `held` is 1 if the packet holds a reference. "
            "Once a packet is queued, its reader may take and free it at any time. While a rule works, a socket may "
            "vanish unless somebody holds a reference; while `rcv` works, none does.\n\n```\n{listing}\n```\n\n"
            "Say at which `line` (the one that stands in the wrong place; "
            "if one is missing, the line before which it is missing), and which `effect` it has.",
            Parts({"line": Number("", 1, 40, whole=True), "effect": Choice(EFFECTS)}),
            "exact; half of the points for each part", (Picked("listing", LISTINGS),),
        ),
    ),
)
