"""Practice on the four single threads: a shared line, a contended lock, look-ups, requests."""

from __future__ import annotations

from typing import Final

from .instance import Given
from .kind import Kind, Step, Trap

KINDS: Final = (
    Kind(
        "line-busy", "How busy a line is", "tcp-prequeue",
        givens=(
            Given("kpps", 1000, 6000, 50), Given("visits", 2, 4), Given("moved_pct", 40, 95, 5),
            Given("transfer_ns", 24, 50),
        ),
        derived=(Step("mpps", "", "Mpps", "kpps / 1000"),),
        text="{mpps} million packets a second visit one reference count {visits} times each, from many CPUs. "
        "{moved_pct} % of the visits find the line elsewhere, and moving it takes {transfer_ns} ns; the "
        "others take the line no time worth counting. Which share of the time is the line on its way? (More "
        "than 100 % says that this rate cannot be.)",
        hint="Count the moves in a second, then the ns that they take.",
        steps=(
            Step("moves", "Moves", "million a second", "mpps * visits * moved_pct / 100"),
            Step("busy_pct", "Share of the time", "%", "moves * transfer_ns / 1000 * 100"),
        ),
        traps=(
            Trap("mpps * visits * transfer_ns / 10", "Some visits find the line where they are."),
            Trap("mpps * moved_pct / 100 * transfer_ns / 10", "A packet visits the line more than once."),
            Trap("moves * transfer_ns / 1000", "That is a fraction: in percent?"),
        ),
    ),
    Kind(
        "wait-for-line", "Waiting for one's turn", "tcp-prequeue",
        givens=(Given("transfer_ns", 24, 90), Given("busy_pct", 40, 95)),
        text="A line is handed over in {transfer_ns} ns, always the same, and is busy with that {busy_pct} % of "
        "the time. Requests come at random. How long does one wait until its own hand-over begins? (For "
        "such a queue, M/D/1, the mean wait is the time of service times u / (2 (1 − u)), where u is the "
        "busy share.)",
        hint="u is a fraction, not a percentage.",
        steps=(
            Step("u", "Busy share", "", "busy_pct / 100"),
            Step("wait_ns", "Mean wait", "ns", "transfer_ns * u / (2 * (1 - u))"),
        ),
        traps=(
            Trap("transfer_ns * u / (1 - u)", "That is the wait if service times vary as much as arrivals do (M/M/1)."),
            Trap("transfer_ns * u / (2 * (1 - u)) + transfer_ns", "That is the wait and the hand-over."),
        ),
    ),
    Kind(
        "spin-time", "Time that is spun away", "packet-rollover",
        givens=(Given("cpus", 4, 16), Given("kpps", 500, 6000, 100), Given("spin_tenths", 80, 450)),
        derived=(Step("mpps", "", "Mpps", "kpps / 1000"), Step("spin_pct", "", "%", "spin_tenths / 10")),
        text="{cpus} CPUs, all full, take in {mpps} million packets a second together. Each spends {spin_pct} % "
        "of its time spinning on locks. How many ns of spinning does a packet cost?",
        hint="How much CPU time is there in a second, over all CPUs?",
        steps=(
            Step("packet_ns", "CPU time for a packet", "ns", "cpus * 1000 / mpps"),
            Step("spin_ns", "Of that spinning", "ns", "packet_ns * spin_pct / 100"),
        ),
        traps=(
            Trap("1000 / mpps * spin_pct / 100", "There is more than one CPU, and each spins."),
            Trap("packet_ns", "Not all of its time is spinning."),
        ),
    ),
    Kind(
        "packet-ring", "A ring of a packet socket", "packet-rollover",
        givens=(
            Given("block_kib", 64, 4096, 64), Given("frame_bytes", 2048, 8192, 2048),
            Given("blocks", 8, 64, 4), Given("kpps", 100, 1200, 20),
        ),
        text="A packet socket maps {blocks} blocks of {block_kib} KiB as its ring, in frames of {frame_bytes} "
        "bytes, a packet a frame. {kpps} thousand packets a second come, and the program reads none. After "
        "how many ms does the first packet roll over to another socket?",
        hint="First the frames: of a block, then of the ring.",
        steps=(
            Step("per_block", "Frames of a block", "frames", "floor(block_kib * 1024 / frame_bytes)"),
            Step("frames", "Frames of the ring", "frames", "blocks * per_block"),
            Step("full_ms", "Until all are full", "ms", "frames / kpps"),
        ),
        traps=(Trap("per_block / kpps", "That is one block."),),
    ),
    Kind(
        "probes", "Locks until there is room", "packet-rollover",
        givens=(Given("full_pct", 8, 92),),
        text="A group has very many sockets. Each is full with a chance of {full_pct} %, whatever the others "
        "are. A packet tries one after the other, and takes the lock of each that it looks at, until it "
        "finds room. How many locks does it take on average?",
        hint="A try succeeds with a certain chance; how many tries until the first success?",
        steps=(
            Step("room_pct", "Chance that a socket has room", "%", "100 - full_pct"),
            Step("locks", "Tries until the first success", "locks", "100 / room_pct"),
        ),
        traps=(
            Trap("full_pct / room_pct", "Those are the tries in vain; the last one takes a lock, too."),
            Trap("100 / full_pct", "A try ends the search when there is room."),
        ),
    ),
    Kind(
        "demux-pays", "When early demux pays", "udpv6-early-demux",
        givens=(Given("cost_ns", 20, 90), Given("saved_ns", 120, 600, 10)),
        text="Early demux looks for the socket before the route, which costs every packet {cost_ns} ns. For a "
        "packet whose socket it finds, {saved_ns} ns are saved later. Which share of the packets must have "
        "a socket that is found, so that it costs nothing on the whole?",
        hint="All pay, some save. When are both sums equal?",
        steps=(Step("share_pct", "Share at which cost and saving are equal", "%", "100 * cost_ns / saved_ns"),),
        traps=(
            Trap(
                "100 * cost_ns / (saved_ns + cost_ns)",
                "The saving is stated before the cost, and all pay the cost: compare the two sums.",
            ),
            Trap("100 * (saved_ns - cost_ns) / saved_ns", "That is the share that need not be found."),
        ),
    ),
    Kind(
        "saved-a-datagram", "The time behind two rates", "udpv6-early-demux",
        givens=(Given("before_mbps", 500, 950, 5), Given("gain_pct", 4, 18), Given("datagram_bytes", 1000, 1460, 10)),
        derived=(Step("after_mbps", "", "Mbit/s", "before_mbps * (100 + gain_pct) / 100"),),
        text="On a slow CPU that is always full, one stream of UDP makes {before_mbps} Mbit/s before a patch and "
        "{after_mbps} after it, in datagrams of {datagram_bytes} bytes. How many ns of a datagram's time "
        "did the patch save?",
        hint="Not the rates can be subtracted, but the times.",
        steps=(
            Step("bits", "Bits of a datagram", "bits", "datagram_bytes * 8"),
            Step("before_ns", "Its time before", "ns", "bits / before_mbps * 1000"),
            Step("after_ns", "Its time after", "ns", "bits / after_mbps * 1000"),
            Step("saved_ns", "Saved", "ns", "before_ns - after_ns"),
        ),
        within_pct=2,
        traps=(Trap("bits / (after_mbps - before_mbps) * 1000", "Subtract times, not rates."),),
    ),
    Kind(
        "requests-in-flight", "Little's law", "tcp-rx-skb-cache",
        givens=(Given("flows", 1000, 20000, 500), Given("ktps", 800, 9500, 100)),
        derived=(Step("mtps", "", "million a second", "ktps / 1000"),),
        text="{flows} connections each have one request on its way at any time, and {mtps} million requests a "
        "second are answered. How many µs pass from a request to the next one of the same connection?",
        hint="Little: what is on its way is the rate times the time.",
        steps=(Step("cycle_us", "From one request to the next", "µs", "flows / mtps"),),
        traps=(Trap("1 / mtps", "That is the time between two requests of all connections."),),
    ),
    Kind(
        "memory-kept", "What a packet a socket adds up to", "tcp-rx-skb-cache",
        givens=(Given("thousands", 10, 900, 10), Given("head_bytes", 512, 1024, 256), Given("skb_bytes", 192, 256, 64)),
        text="Each of {thousands} thousand idle sockets keeps one packet for the next use: an sk_buff of "
        "{skb_bytes} bytes and its data of {head_bytes} bytes. How much memory is that, in MB of a million "
        "bytes?",
        hint="Both parts count.",
        steps=(
            Step("each_bytes", "A socket keeps", "bytes", "head_bytes + skb_bytes"),
            Step("mb", "All keep", "MB", "thousands * each_bytes / 1000"),
        ),
        traps=(Trap("thousands * head_bytes / 1000", "The sk_buff itself is kept, too."),),
    ),
)
