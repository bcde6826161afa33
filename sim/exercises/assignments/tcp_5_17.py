"""What the assignment on the 5.17 series asks."""

from __future__ import annotations

from ..defer_list import with_cpu_list, with_socket_list
from ..faulty import texts
from ..forms import Choice, Number, Parts
from ..instance import Assignment, Given, Picked, Question
from ..routine_form import Routine

_PENCIL = (
    Question(
        "gro-fill",
        "How much GRO packs",
        "On your machine a segment carries {payload_bytes:,} bytes of payload behind 72 bytes of IPv6 and TCP headers. "
        "GRO refuses a segment that would bring the merged packet, one set of headers included, to 65,536 bytes. How "
        "many segments does a full GRO packet hold?",
        Number("segments", 1, 200, whole=True),
        "exact",
    ),
    Question(
        "fragment-cost",
        "What a fragment costs",
        "Before the patch one flow runs at {small_mbps:,} Mbit/s with {payload_bytes:,} bytes of payload in a "
        "segment, and at {large_mbps:,} Mbit/s with 4,096, of which GRO merges 15. Every segment is one fragment. The "
        "reader is the limit both times; it spends a time for each fragment and {copy_fs:,} femtoseconds for each "
        "byte, and nothing else. What does a fragment cost, by the difference of the two?",
        Number("ns", 1, 1000),
        "1 %",
        (Given("copy_fs", 52_000, 78_000, 100),),
    ),
    Question(
        "ceilings",
        "Three ceilings",
        "Take the run with {payload_bytes:,} bytes of payload and {small_mbps:,} Mbit/s as before. Deferring the free "
        "takes {saved_ps:,} ps off each fragment of the reader's work. The softirq CPU needs {softirq_ps:,} ps for a "
        "segment with the patch. The link runs at {link_gbps} Gbit/s; a segment has 72 bytes of headers, and 38 more "
        "on the wire. How many Gbit/s of payload could each of the three carry if the others were no limit, and which "
        "of them binds?",
        Parts({
            "reader": Number("Gbit/s", 1, 1000),
            "softirq": Number("Gbit/s", 1, 1000),
            "wire": Number("Gbit/s", 1, 1000),
            "binds": Choice(("reader", "softirq", "wire")),
        }),
        "1 %",
        (Given("saved_ps", 60_000, 84_000, 100), Given("softirq_ps", 120_000, 150_000, 100),
         Picked("link_gbps", (70, 75, 80, 90, 100))),
    ),
)
_RUN = (
    Question(
        "reader-bill",
        "The reader's bill",
        "`before` is your machine's run without the patch, its profile in percent of a CPU's busy time. (a) How many "
        "nanoseconds does the reader spend for each GRO packet in functions that give back sk_buffs and pages? Locks "
        "are not among them. (b) How many picoseconds does it spend for each byte in the copy itself?",
        Parts({"free_ns": Number("ns", 10, 100_000), "copy_ps": Number("ps for a byte", 1, 1000)}),
        "3 %, more than twice what other seeds would change",
    ),
    Question(
        "prediction",
        "Predict",
        "Before you run anything: how many Gbit/s will your machine, with its link of {nic_gbps} Gbit/s, reach with "
        "`defer_free=1`? Use the bill, and how busy the softirq CPU was.",
        Number("Gbit/s", 1, 200),
        "all points within 12 % of what the run gives, half of them within 30 %",
    ),
    Question(
        "measurement",
        "Measure",
        "Run your machine with the patch, five replications, the first seed {seed}. (a) The mean rate. (b) How busy "
        "is the softirq CPU? (c) Which share of the packets did it free? (d) What binds now? Say `wire` if the rate is "
        "within 2 % of the payload that the link can carry, else name the CPUs that are more than 97 % busy.",
        Parts({
            "gbps": Number("Gbit/s", 1, 200),
            "softirq_pct": Number("%", 0, 100),
            "freed_by_softirq_pct": Number("%", 0, 100),
            "binds": Choice(("softirq", "both CPUs", "reader", "wire")),
        }),
        "2 % of the rate, 2 points of a busy share, 6 points of the freed share; other seeds change less",
        (Given("seed", 1, 5000),),
    ),
    Question(
        "neighbours",
        "Who shares the line",
        "A struct has these members in this order: `u64 stamps[{stamps}]`, `char name[{name_bytes}]`, `u32 flags`, "
        "`u16 port`, `u64 bytes`, `u32 refs`, `u32 limit`. C's rule places each at the next multiple of its element's "
        "size; the struct begins on a line of 64 bytes. (a) At which offset does `bytes` begin? (b) On which line, "
        "counted from 0, does `limit` lie? (c) How many bytes of padding, put right before `limit`, let it begin a "
        "line of its own?",
        Parts({
            "offset": Number("bytes", 0, 1000, whole=True),
            "line": Number("", 0, 20, whole=True),
            "padding": Number("bytes", 0, 64, whole=True),
        }),
        "exact",
        (Given("stamps", 3, 11), Given("name_bytes", 3, 43)),
    ),
)
_WRITE = (
    Question(
        "defer-bug",
        "Find the fault",
        "A colleague wrote the list of patch 17 as two routines: `eat` runs when the reader has copied a packet, "
        "`flush` where softirq looks for packets to free. One of them has one fault (yours is number {fault}). Hand in "
        "both routines with the fault repaired.",
        Routine(with_socket_list),
        "the repaired list runs like that of 5.17 in four settings",
        (Given("fault", 0, len(texts("tcp-5.17")) - 1),),
    ),
    Question(
        "cpu-list",
        "A list that drains where it was filled from",
        "Write the list of a CPU, two routines. `eat`: a packet that another CPU allocated goes on *that* CPU's list, "
        "if fewer than {limit} packets wait there; a packet of the own CPU, one whose CPU is not known (a number below "
        "0), and one that finds the list full are freed at once (`jump free`). `flush` empties the own CPU's list. A "
        "list is touched under its lock only, and no packet is freed while a lock is held.",
        Routine(with_cpu_list),
        "four properties, each worth a share: nothing is lost; packets are freed where they were allocated; the bound "
        "holds; the lock is held where it must be and not longer",
        (Given("limit", 2, 6),),
    ),
)

ASSIGNMENT = Assignment(
    "tcp-5.17",
    "One reader, one softirq: the 5.17 series",
    90,
    machine=(
        Given("softirq_packet_ns", 45, 75), Given("payload_bytes", 1208, 1440, 4), Picked("nic_gbps", (60, 100)),
    ),
    workload=(Given("small_mbps", 48_000, 62_000, 100), Given("large_mbps", 76_000, 90_000, 100)),
    questions=(*_PENCIL, *_RUN, *_WRITE),
)
