"""Practice on the 5.17 series and on what came after: bytes and fragments, ceilings, lists, wake-ups."""

from __future__ import annotations

from typing import Final

from .instance import Given
from .kind import SEGMENTS, Kind, Step, Trap

KINDS: Final = (
    Kind(
        "cost-of-a-byte", "A rate with its fragments taken out", "tcp-5.17",
        givens=(
            Given("most", 12, 45), Given("payload_bytes", 1240, 4096, 4), Given("fragment_ns", 60, 120, 2),
            Given("copy_ps", 50, 90),
        ),
        derived=(
            Step("segments", "", "segments", SEGMENTS),
            Step("exact_gbps", "", "Gbit/s", "payload_bytes * 8 / (payload_bytes * copy_ps / 1000 + fragment_ns)"),
            Step("gbps", "", "Gbit/s", "floor(exact_gbps * 10 + 0.5) / 10"),
        ),
        text="A reader that is always busy makes {gbps} Gbit/s. Its merged packets hold {segments} segments of "
        "{payload_bytes} bytes, one fragment each, and a fragment costs {fragment_ns} ns besides its bytes. "
        "How many GB/s does it copy while it does nothing but copy?",
        hint="From the packet's time take the fragments away; what is left are the bytes.",
        within_pct=2,
        steps=(
            Step("bytes", "Bytes of a merged packet", "bytes", "segments * payload_bytes"),
            Step("packet_ns", "The reader's time for it", "ns", "bytes * 8 / gbps"),
            Step("copy_ns", "Of that for its bytes", "ns", "packet_ns - segments * fragment_ns"),
            Step("gb_per_s", "Copied a second", "GB/s", "bytes / copy_ns"),
        ),
        traps=(
            Trap("gbps / 8", "The reader does more than copying: take the fragments out."),
            Trap("bytes / (packet_ns - fragment_ns)", "There is more than one fragment."),
        ),
    ),
    Kind(
        "lowest-ceiling", "The lowest of three ceilings", "tcp-5.17",
        givens=(
            Given("payload_bytes", 1240, 4096, 4), Given("reader_ns", 100, 400, 5), Given("softirq_ns", 120, 320, 5),
            Given("link_gbps", 40, 200, 20),
        ),
        text="Segments of {payload_bytes} bytes of payload come over a link of {link_gbps} Gbit/s; headers and "
        "framing add 110 bytes to each on the wire. Softirq needs {softirq_ns} ns for a segment and the "
        "reader {reader_ns} ns, on two CPUs. How many Gbit/s of payload arrive at most?",
        hint="Each of the three allows so many segments a second. Which allows fewest?",
        steps=(
            Step("wire_ns", "A segment's time on the wire", "ns", "(payload_bytes + 110) * 8 / link_gbps"),
            Step("slowest_ns", "The longest of the three times", "ns", "max(max(reader_ns, softirq_ns), wire_ns)"),
            Step("gbps", "Payload a second", "Gbit/s", "payload_bytes * 8 / slowest_ns"),
        ),
        traps=(
            Trap("payload_bytes * 8 / (reader_ns + softirq_ns + wire_ns)", "Wire and CPUs work at the same time."),
            Trap("payload_bytes * 8 / (reader_ns + softirq_ns)", "The CPUs work at the same time."),
            Trap(
                "payload_bytes * 8 / min(min(reader_ns, softirq_ns), wire_ns)",
                "The slowest of them decides, not the fastest.",
            ),
        ),
    ),
    Kind(
        "moved-work", "Work that is moved", "tcp-5.17",
        givens=(
            Given("reader_us_tenths", 60, 95),
            Given("softirq_us_tenths", 35, 58),
            Given("free_tenths", 10, 30),
            Given("cheaper_pct", 20, 60, 5),
        ),
        derived=(
            Step("reader_us", "", "µs", "reader_us_tenths / 10"),
            Step("softirq_us", "", "µs", "softirq_us_tenths / 10"),
            Step("free_us", "", "µs", "free_tenths / 10"),
        ),
        text="For each merged packet the reader's CPU works {reader_us} µs and the softirq CPU {softirq_us} µs; "
        "the slower one sets the rate. A patch moves {free_us} µs of freeing from the reader to softirq, "
        "where the same frees take {cheaper_pct} % less time. By how many percent does the rate rise, if "
        "all frees move? (It may fall: then with a minus.)",
        hint="Two new times; the longer one counts. Compare it with the reader's old one.",
        within=0.5,
        steps=(
            Step("new_reader_us", "The reader, after", "µs", "reader_us - free_us"),
            Step("new_softirq_us", "Softirq, after", "µs", "softirq_us + free_us * (100 - cheaper_pct) / 100"),
            Step("slower_us", "The slower of both", "µs", "max(new_reader_us, new_softirq_us)"),
            Step("gain_pct", "The rate's change", "%", "100 * (reader_us / slower_us - 1)"),
        ),
        traps=(
            Trap("100 * (reader_us / new_reader_us - 1)", "Softirq has more to do now: is it the slower one?"),
            Trap("100 * free_us / reader_us", "The rate is one over the time; and which CPU is the slower one?"),
        ),
    ),
    Kind(
        "struct-lines", "One line instead of two", "tcp-5.17",
        givens=(Given("line", 2, 9), Given("over", 0, 24, 8), Given("before", 8, 32, 8)),
        derived=(
            Step("first", "", "bytes", "64 * line - before"),
            Step("second", "", "bytes", "64 * line + over"),
        ),
        text="For each packet a path reads two fields of 8 bytes each, at offsets {first} and {second} of a "
        "struct that begins on a cache line of 64 bytes. Patches take unused fields of 8 bytes out of the "
        "struct, before both. How many bytes must go at least, so that both fields lie on one line?",
        hint="A field's line is its offset, divided by 64, rounded down. Where does the second one's line begin?",
        within_pct=0,
        steps=(
            Step("begins", "The second field's line begins at", "", "floor(second / 64) * 64"),
            Step("far", "So far into it the field begins", "bytes", "second - begins"),
            Step("out", "With those and its own 8 bytes gone it ends before", "bytes", "far + 8"),
        ),
        traps=(
            Trap("far", "The field would then begin just where the line does, and still be on it."),
            Trap("second - first", "They need not come nearer to each other: both move."),
        ),
    ),
    Kind(
        "deferral-kicks", "Interrupts for a list that grows", "after",
        givens=(Given("limit", 32, 256, 16), Given("ksegs", 1000, 9000, 50), Given("elsewhere_pct", 30, 100, 5)),
        derived=(Step("mpps", "", "Mpps", "ksegs / 1000"),),
        text="Readers free {mpps} million buffers a second, and {elsewhere_pct} % of them belong to one other "
        "CPU. They go to that CPU's list; when {limit} are on it, an interrupt makes it empty the list. It "
        "never does so by itself. How many such interrupts a second does it get?",
        hint="How many buffers go to that list in a second?",
        steps=(
            Step("listed", "Buffers that go to the list", "million a second", "mpps * elsewhere_pct / 100"),
            Step("per_s", "Interrupts a second", "interrupts/s", "listed * 1000000 / limit"),
        ),
        traps=(
            Trap("mpps * 1000000 / limit", "Not all of them belong to that CPU."),
            Trap("listed * 1000000", "There is one interrupt for a whole list."),
        ),
    ),
    Kind(
        "big-tcp", "Fewer, larger packets", "after",
        givens=(
            Given("gbps", 60, 180, 5), Given("small_kib", 48, 60, 4), Given("times", 2, 8),
            Given("packet_ns", 500, 3000, 50),
        ),
        text="TCP takes {packet_ns} ns of a CPU for every merged packet, whatever its size. {gbps} Gbit/s arrive "
        "in packets of {small_kib} KiB, then in packets {times} times as large. Which share of the CPU does "
        "that free, in percent of its whole time?",
        hint="Packets a second in both cases; the difference is saved.",
        steps=(
            Step("per_s", "Small packets a second", "thousand a second", "gbps * 1000000 / (small_kib * 1024 * 8)"),
            Step("before_pct", "Their share of the CPU", "%", "per_s * packet_ns / 10000"),
            Step("freed_pct", "What larger ones free", "%", "before_pct - before_pct / times"),
        ),
        traps=(
            Trap("before_pct", "Larger packets cost something, too."),
            Trap("before_pct / times", "That is what remains."),
        ),
    ),
)
