"""Practice on the machine, on a packet's way and on steering: lines, rates, rings, interrupts, segments."""

from __future__ import annotations

from typing import Final

from .instance import Given
from .kind import SEGMENTS, Kind, Step, Trap

KINDS: Final = (
    Kind(
        "line-bound", "What one line allows", "machine",
        givens=(Given("transfer_ns", 21, 140), Given("transfers", 2, 6)),
        text="Every packet, on whatever CPU, needs {transfers} hand-overs of one cache line. A hand-over takes "
        "{transfer_ns} ns, and the next begins when the last one has ended. How many packets a second can "
        "all CPUs together not exceed?",
        hint="One line does one thing at a time: first the time for which a packet occupies it.",
        steps=(
            Step("busy_ns", "A packet occupies the line for", "ns", "transfers * transfer_ns"),
            Step("mpps", "Packets a second, at most", "Mpps", "1000 / busy_ns"),
        ),
        traps=(
            Trap("1000 / transfer_ns", "That is the number of hand-overs, not of packets."),
            Trap("busy_ns", "That is the time of a packet. How many fit into a second?"),
        ),
    ),
    Kind(
        "ticket-hand-over", "A lock that pays for its queue", "machine",
        givens=(Given("transfer_ns", 24, 90), Given("waiters", 2, 12), Given("inside_ns", 50, 400, 10)),
        text="With a ticket lock, the line of the lock word goes to every waiting CPU at each release: a "
        "hand-over takes {transfer_ns} ns for each of the {waiters} CPUs that wait all the time. The holder "
        "works {inside_ns} ns with the lock. How often a second is the lock taken?",
        hint="From one taking to the next there pass the work and the hand-over.",
        steps=(
            Step("hand_over_ns", "Hand-over to the next holder", "ns", "waiters * transfer_ns"),
            Step("turn_ns", "From one taking to the next", "ns", "inside_ns + hand_over_ns"),
            Step("mops", "Takings a second", "million a second", "1000 / turn_ns"),
        ),
        traps=(
            Trap("1000 / inside_ns", "The hand-over takes time, too."),
            Trap("1000 / (inside_ns + transfer_ns)", "Each waiter makes the hand-over longer."),
            Trap("1000 * waiters / turn_ns", "Waiters do not work side by side: the lock sees to that."),
        ),
    ),
    Kind(
        "lines-of-counters", "Counters side by side", "machine",
        givens=(Given("cpus", 6, 112), Given("counter_bytes", 8, 24, 8)),
        text="An array has a counter of {counter_bytes} bytes for each of {cpus} CPUs and begins at the "
        "beginning of a cache line of 64 bytes. How many more lines does it take if every counter gets a "
        "line of its own?",
        hint="Count the lines of the packed array first; a line that is used in part counts.",
        within_pct=0,
        steps=(
            Step("packed", "Lines of the packed array", "lines", "ceil(cpus * counter_bytes / 64)"),
            Step("more", "Lines that padding adds", "lines", "cpus - packed"),
        ),
        traps=(
            Trap("cpus", "Some lines are there without padding."),
            Trap("cpus - floor(cpus * counter_bytes / 64)", "The last line is used only in part, and counts."),
        ),
    ),
    Kind(
        "cycles-a-packet", "The budget of a packet", "path",
        givens=(Given("mhz", 1800, 4200, 100), Given("kpps", 600, 9000, 50)),
        derived=(Step("ghz", "", "GHz", "mhz / 1000"), Step("mpps", "", "Mpps", "kpps / 1000")),
        text="A core runs at {ghz} GHz and takes in {mpps} million packets a second, which keeps it busy all the "
        "time. How many cycles does a packet take?",
        hint="How many cycles has a second, and how many packets?",
        steps=(Step("cycles", "Cycles of a packet", "cycles", "ghz * 1000 / mpps"),),
        traps=(Trap("1000 / mpps", "That is its time in ns. How many cycles has a ns?"),),
    ),
    Kind(
        "wire-packets", "Packets on the wire", "path",
        givens=(Given("mtu", 1280, 9000, 20), Given("link_gbps", 10, 200, 10)),
        text="A link of {link_gbps} Gbit/s carries full IP packets of {mtu} bytes. Ethernet adds 38 bytes to "
        "each: header, checksum, preamble and the gap. How many packets a second arrive at most?",
        hint="The wire is busy with the packet and with what Ethernet adds.",
        steps=(
            Step("wire_bytes", "Bytes on the wire for a packet", "bytes", "mtu + 38"),
            Step("packet_ns", "A packet's time on the wire", "ns", "wire_bytes * 8 / link_gbps"),
            Step("mpps", "Packets a second", "Mpps", "1000 / packet_ns"),
        ),
        within_pct=0.5,
        traps=(
            Trap("1000 * link_gbps / (mtu * 8)", "Ethernet's own bytes take time, too."),
            Trap("1000 * link_gbps / wire_bytes", "Are these bits or bytes?"),
        ),
    ),
    Kind(
        "goodput", "What is left for payload", "path",
        givens=(Given("mtu", 1280, 9000, 20), Given("link_gbps", 10, 200, 10)),
        text="A link of {link_gbps} Gbit/s is full of TCP packets over IPv6 with an MTU of {mtu} bytes. Of those "
        "bytes 72 are headers of IPv6 and TCP; on the wire Ethernet adds 38. How many Gbit/s of payload is "
        "that?",
        hint="Which share of the bytes on the wire is payload?",
        within_pct=0.2,
        steps=(
            Step("payload_bytes", "Payload of a packet", "bytes", "mtu - 72"),
            Step("wire_bytes", "Bytes on the wire for a packet", "bytes", "mtu + 38"),
            Step("gbps", "Payload a second", "Gbit/s", "link_gbps * payload_bytes / wire_bytes"),
        ),
        traps=(
            Trap("link_gbps * payload_bytes / mtu", "Ethernet's own bytes take time, too."),
            Trap("link_gbps * mtu / wire_bytes", "The headers of IPv6 and TCP are no payload."),
        ),
    ),
    Kind(
        "ring-fills", "How long a ring lasts", "path",
        givens=(Given("ring", 256, 4096, 256), Given("kpps", 800, 9500, 100), Given("served_pct", 0, 80, 10)),
        derived=(Step("mpps", "", "Mpps", "kpps / 1000"), Step("served_mpps", "", "Mpps", "mpps * served_pct / 100")),
        text="A receive ring has {ring} descriptors, all free. {mpps} million packets a second arrive, and "
        "softirq takes out {served_mpps} million a second. After how many µs is the ring full?",
        hint="What fills the ring is the difference.",
        steps=(
            Step("excess_mpps", "The ring fills at", "Mpps", "mpps - served_mpps"),
            Step("full_us", "Until it is full", "µs", "ring / excess_mpps"),
        ),
        traps=(Trap("ring / mpps", "Softirq takes packets out meanwhile."),),
    ),
    Kind(
        "interrupts", "Interrupts that are saved", "path",
        givens=(Given("usecs", 4, 100, 2), Given("frames", 8, 128, 8), Given("kpps", 200, 3000, 50)),
        derived=(Step("mpps", "", "Mpps", "kpps / 1000"),),
        text="A NIC interrupts when {usecs} µs have passed since the last interrupt, or as soon as {frames} "
        "packets are waiting, whichever comes first. Packets come evenly, {mpps} million a second, and each "
        "interrupt is served at once. How many interrupts a second are that?",
        hint="Which of the two conditions is met first?",
        steps=(
            Step("collect_us", "Until so many packets are there", "µs", "frames / mpps"),
            Step("between_us", "Between two interrupts", "µs", "min(usecs, collect_us)"),
            Step("per_s", "Interrupts a second", "interrupts/s", "1000000 / between_us"),
        ),
        traps=(
            Trap("1000000 / max(usecs, collect_us)", "Which of the two conditions is met first?"),
            Trap("mpps * 1000000", "That would be an interrupt for each packet."),
        ),
    ),
    Kind(
        "big-chain", "A chain of sk_buffs", "path",
        givens=(
            Given("payload_bytes", 1240, 1460, 4), Given("limit", 65536, 524288, 16384),
            Given("frags", 17, 45, 28),
        ),
        text="With BIG TCP, GRO merges IPv6 segments of {payload_bytes} bytes, headers of 72 bytes come once, "
        "and the packet must stay below {limit} bytes. A segment is one fragment, and an sk_buff holds "
        "{frags}. How many sk_buffs has the chain of a full packet?",
        hint="First the segments: which whole number of them still fits?",
        within_pct=0,
        steps=(
            Step("segments", "Segments of a full packet", "segments", "floor((limit - 1 - 72) / payload_bytes)"),
            Step("sk_buffs", "sk_buffs that hold them", "sk_buffs", "ceil(segments / frags)"),
        ),
        traps=(
            Trap("segments", "Those are the segments; each is a fragment."),
            Trap("floor(segments / frags)", "The last sk_buff is not full, and counts."),
        ),
    ),
    Kind(
        "gro-time", "A merged packet's time", "path",
        givens=(Given("most", 8, 45), Given("payload_bytes", 1240, 4096, 4), Given("gbps_tenths", 300, 980)),
        derived=(Step("segments", "", "segments", SEGMENTS), Step("gbps", "", "Gbit/s", "gbps_tenths / 10")),
        text="A reader takes {gbps} Gbit/s of payload out of a socket and is busy all the time. Each merged "
        "packet holds {segments} segments of {payload_bytes} bytes. How many µs does it spend on one?",
        hint="A Gbit/s is a bit in a ns.",
        steps=(
            Step("bits", "Bits of a merged packet", "bits", "segments * payload_bytes * 8"),
            Step("packet_us", "The reader's time for it", "µs", "bits / gbps / 1000"),
        ),
        traps=(
            Trap("payload_bytes * 8 / gbps / 1000", "That is one segment's time."),
            Trap("bits / 8 / gbps / 1000", "Are these bits or bytes?"),
        ),
    ),
    Kind(
        "rps-hop", "Is the hop worth it?", "steering",
        givens=(
            Given("driver_ns", 60, 160, 5), Given("stack_ns", 300, 900, 10), Given("hop_ns", 40, 150, 5),
            Given("targets", 2, 6),
        ),
        text="One CPU takes packets from the NIC ({driver_ns} ns each) and runs the protocols ({stack_ns} ns "
        "each). With RPS it hands them, evenly, to {targets} other CPUs that run the protocols. The hop "
        "costs {hop_ns} ns on the CPU that sends and as much on the one that receives. How many Mpps does "
        "that make at most?",
        hint="Two limits: the CPU that sends, and all that receive, together. The lower one counts.",
        steps=(
            Step("send_mpps", "The CPU that sends allows", "Mpps", "1000 / (driver_ns + hop_ns)"),
            Step("receive_mpps", "Those that receive allow, together", "Mpps", "targets * 1000 / (stack_ns + hop_ns)"),
            Step("mpps", "The lower of both", "Mpps", "min(send_mpps, receive_mpps)"),
        ),
        traps=(
            Trap("max(send_mpps, receive_mpps)", "Both limits hold, so the lower one counts."),
            Trap("1000 / (driver_ns + stack_ns)", "That is the rate without RPS."),
            Trap("min(1000 / driver_ns, targets * 1000 / stack_ns)", "The hop costs something, on both sides."),
        ),
    ),
    Kind(
        "uneven-queues", "The fullest queue decides", "steering",
        givens=(Given("queues", 4, 16), Given("share_pct", 26, 60), Given("kpps", 500, 2500, 50)),
        derived=(Step("each_mpps", "", "Mpps", "kpps / 1000"),),
        text="The packets of a server come over {queues} queues, and the CPU of each can take in {each_mpps} "
        "million a second. By bad luck of the hash, {share_pct} % of the packets come to one queue. At "
        "which total rate does that CPU begin to lose packets?",
        hint="What is the total when the share of that queue is just what its CPU can do?",
        steps=(Step("mpps", "The total at which that queue is full", "Mpps", "each_mpps * 100 / share_pct"),),
        traps=(
            Trap("queues * each_mpps", "That would be so if all queues had the same."),
            Trap("each_mpps * share_pct / 100", "The total is more than what one queue gets."),
        ),
    ),
)
