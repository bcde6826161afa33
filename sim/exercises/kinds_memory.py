"""Practice on memory and on reading profiles: copies, refills, buffers, shares of time."""

from __future__ import annotations

from typing import Final

from .instance import Given
from .kind import Kind, Step, Trap

KINDS: Final = (
    Kind(
        "slab-refill", "What a batch saves", "memory",
        givens=(Given("fast_ns", 8, 30), Given("refill_ns", 300, 3000, 50), Given("batch", 8, 64, 4)),
        text="Taking an object from the CPU's own list costs {fast_ns} ns. When the list is empty, a refill "
        "brings {batch} objects and costs {refill_ns} ns on top. What does an object cost on average, if "
        "none is ever given back here?",
        hint="How many objects share one refill?",
        steps=(
            Step("share_ns", "Share of a refill", "ns", "refill_ns / batch"),
            Step("object_ns", "An object, on average", "ns", "fast_ns + share_ns"),
        ),
        traps=(
            Trap("fast_ns + refill_ns", "A refill serves more than one object."),
            Trap("share_ns", "Taking it from the list costs something as well."),
        ),
    ),
    Kind(
        "copy-share", "How busy the copy keeps a CPU", "memory",
        givens=(Given("gbps", 20, 96), Given("copy_tenths", 130, 220, 2)),
        derived=(Step("copy_gb_per_s", "", "GB/s", "copy_tenths / 10"),),
        text="A reader's CPU copies {copy_gb_per_s} GB/s when it does nothing else. {gbps} Gbit/s of payload go "
        "through it. Which share of its time is the copy?",
        hint="First the payload in bytes.",
        steps=(
            Step("gb_per_s", "Payload a second", "GB/s", "gbps / 8"),
            Step("share_pct", "Share of the CPU's time", "%", "100 * gb_per_s / copy_gb_per_s"),
        ),
        traps=(
            Trap("gb_per_s / copy_gb_per_s", "That is a fraction: in percent?"),
            Trap("100 * gbps / copy_gb_per_s", "Are these bits or bytes?"),
        ),
    ),
    Kind(
        "buffer-lasts", "A reader that pauses", "memory",
        givens=(Given("rcvbuf_kib", 208, 6144, 16), Given("truesize", 768, 4608, 256), Given("kpps", 100, 1500, 20)),
        derived=(Step("mpps", "", "Mpps", "kpps / 1000"),),
        text="A UDP socket may hold {rcvbuf_kib} KiB, and each datagram counts with {truesize} bytes of memory, "
        "whatever its payload. {mpps} million a second arrive. The program stops reading for a moment: "
        "after how many µs is the first datagram dropped?",
        hint="How many datagrams fit? The kernel counts memory, not payload.",
        steps=(
            Step("fit", "Datagrams that fit", "datagrams", "floor(rcvbuf_kib * 1024 / truesize)"),
            Step("full_us", "Until the buffer is full", "µs", "fit / mpps"),
        ),
        traps=(Trap("rcvbuf_kib * 1000 / truesize / mpps", "A KiB has 1,024 bytes."),),
    ),
    Kind(
        "free-far-away", "Freed on another CPU", "memory",
        givens=(
            Given("near_ns", 12, 40), Given("transfer_ns", 24, 136), Given("lines", 1, 3),
            Given("far_pct", 10, 90, 5),
        ),
        text="Freeing a buffer costs {near_ns} ns on the CPU that filled it. On another one, {lines} of its "
        "cache lines must be fetched first, {transfer_ns} ns each. {far_pct} % of the buffers are freed on "
        "another CPU. What does a free cost on average?",
        hint="Every free pays the first part; only some pay the second.",
        steps=(
            Step("fetch_ns", "Fetching the lines", "ns", "lines * transfer_ns"),
            Step("mean_ns", "A free, on average", "ns", "near_ns + fetch_ns * far_pct / 100"),
        ),
        traps=(
            Trap("near_ns + fetch_ns", "Not all of them are freed elsewhere."),
            Trap(
                "near_ns * (100 - far_pct) / 100 + fetch_ns * far_pct / 100",
                "A far free pays for the lines and for the free.",
            ),
        ),
    ),
    Kind(
        "share-to-ns", "From a share to a time", "reading",
        givens=(Given("share_tenths", 20, 350), Given("busy_pct", 60, 100), Given("kpps", 400, 6000, 50)),
        derived=(Step("share_pct", "", "%", "share_tenths / 10"), Step("mpps", "", "Mpps", "kpps / 1000")),
        text="A profile of a CPU's busy time gives a symbol {share_pct} %. The CPU is {busy_pct} % busy and "
        "takes in {mpps} million packets a second. How many ns of a packet are spent in that symbol?",
        hint="How many ns of work has a packet in all?",
        steps=(
            Step("packet_ns", "Work for a packet", "ns", "1000 / mpps * busy_pct / 100"),
            Step("symbol_ns", "Of that in the symbol", "ns", "packet_ns * share_pct / 100"),
        ),
        traps=(
            Trap("1000 / mpps * share_pct / 100", "The profile is of busy time, and the CPU is idle now and then."),
            Trap("packet_ns", "That is the packet's time in all symbols."),
        ),
    ),
    Kind(
        "amdahl", "At best", "reading",
        givens=(Given("share_tenths", 50, 450), Given("gbps", 10, 90)),
        derived=(Step("share_pct", "", "%", "share_tenths / 10"),),
        text="A reader's CPU is full, and the rate is {gbps} Gbit/s. Its profile gives a symbol {share_pct} %. "
        "If that symbol cost nothing and nothing else became the limit, what would the rate be?",
        hint="What remains of a packet's time?",
        steps=(
            Step("rest_pct", "What remains of a packet's time", "%", "100 - share_pct"),
            Step("new_gbps", "The rate without it", "Gbit/s", "gbps * 100 / rest_pct"),
        ),
        within_pct=0.5,
        traps=(
            Trap("gbps * (100 + share_pct) / 100", "Less time for a packet: the rate grows by more than that share."),
            Trap("gbps * rest_pct / 100", "The rate grows when a packet takes less time."),
        ),
    ),
    Kind(
        "share-that-grew", "A share that grew", "reading",
        givens=(Given("before_tenths", 100, 400), Given("before_mpps_tenths", 10, 60), Given("gain_pct", 5, 60)),
        derived=(
            Step("before_pct", "", "%", "before_tenths / 10"),
            Step("before_mpps", "", "Mpps", "before_mpps_tenths / 10"),
            Step("after_mpps", "", "Mpps", "before_mpps * (100 + gain_pct) / 100"),
        ),
        text="Before a patch a symbol has {before_pct} % of a CPU's time, at {before_mpps} Mpps; after it the "
        "rate is {after_mpps} Mpps. The CPU is full in both profiles, and the patch does not touch the "
        "symbol: it costs as many ns a packet as before. Which share has it now?",
        hint="The same ns, of a shorter time for a packet.",
        steps=(
            Step("symbol_ns", "The symbol's time for a packet", "ns", "1000 / before_mpps * before_pct / 100"),
            Step("packet_ns", "A packet's time after the patch", "ns", "1000 / after_mpps"),
            Step("after_pct", "The symbol's share after it", "%", "100 * symbol_ns / packet_ns"),
        ),
        traps=(
            Trap("before_pct", "A packet takes less time now, and the symbol takes the same."),
            Trap("before_pct * before_mpps / after_mpps", "It is the other way round: the rest has become smaller."),
        ),
    ),
)
