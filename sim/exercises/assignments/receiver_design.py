"""What the design project asks."""

from __future__ import annotations

from typing import Final

from ..forms import Choice, Number, Parts, Text
from ..instance import Assignment, Given, Picked, Question
from ..receiver import FORM

CHANGES: Final = {
    "larger MTU": {"mtu": 9000}, "larger GRO packets": {"gro_max_size": 262_144},
    "lists that send packets home": {"defer_per_cpu": 1}, "a pool of pages": {"page_recycling": 1},
}
_SITE: Final = (
    "Your site: a `{processor}` with two packages of eight cores, a link of {link_gbps} Gbit/s, {flows} flows of bulk "
    "TCP. The target is {target_pct} % of the link, as payload that programs get."
)

ASSIGNMENT = Assignment(
    "receiver-design",
    "A receiver for a site of your own",
    90,
    machine=(Picked("processor", ("cascade-lake", "ice-lake-sp", "zen3-milan")),),
    workload=(
        Picked("link_gbps", (100, 200)), Picked("flows", (16, 24, 32)), Given("target_pct", 55, 85),
        Given("price_cpu", 8, 14), Given("price_mtu", 5, 28), Given("price_big", 4, 14), Given("price_lists", 4, 16),
        Given("price_pool", 3, 12), Given("first_queues", 1, 3), Given("first_readers", 1, 3),
    ),
    questions=(
        Question(
            "design-pencil", "Before you run anything",
            _SITE + " Headers of IPv6 and TCP take 72 bytes of a packet. Take {packet_ns} ns of a CPU's time for each "
            "packet that is taken in, and {reader_gbps} Gbit/s for a CPU that reads.\n\n"
            "- `small_mpps`: how many packets a second does the target mean at an MTU of 1500?\n"
            "- `large_mpps`: and at 9000?\n"
            "- `queues`: how many CPUs have to receive at 1500, by this estimate?\n"
            "- `readers`: how many have to read?",
            Parts({
                "small_mpps": Number("Mpps", 0.01, 1000), "large_mpps": Number("Mpps", 0.01, 1000),
                "queues": Number("CPUs", 1, 1000, whole=True), "readers": Number("CPUs", 1, 1000, whole=True),
            }),
            "1 %; CPUs exact", (Given("packet_ns", 110, 240), Given("reader_gbps", 22, 45)),
        ),
        Question(
            "design-first", "What the plain design does",
            "Run your site with the plain design, but with {first_queues} receive queues and {first_readers} readers, "
            "three replications.\n\n"
            "- `gbps`: what does it deliver?\n"
            "- `full`: whose CPUs are full, those that receive (`softirq`) or those that read (`reader`)?\n"
            "- `symbol`, `share_pct`: which function takes the largest share of a *reader's* busy time, and how much?",
            Parts({
                "gbps": Number("Gbit/s", 0, 1000), "full": Choice(("softirq", "reader")), "symbol": Text(80),
                "share_pct": Number("%", 0, 100),
            }),
            "3 % of the rate, 2 points of the share",
        ),
        Question(
            "design-change", "One change",
            "From that design make one of four changes at a time: " + ", ".join(
                f"*{name}* (`{next(iter(change))}={next(iter(change.values()))}`)" for name, change in CHANGES.items()
            ) + ". Guess first which one gains most (`guess`; any honest guess gets its points). Then run all four "
            "with three replications: `best` is the one that gains most, `best_pct` its gain, `worst_pct` the change "
            "by the one that gains least (negative if it loses).",
            Parts({
                "guess": Choice(tuple(CHANGES)), "best": Choice(tuple(CHANGES)), "best_pct": Number("%", -100, 1000),
                "worst_pct": Number("%", -100, 1000),
            }),
            "3 points",
        ),
        Question(
            "design-receiver", "Design the receiver",
            _SITE + "\n\n| what costs | price |\n|---|---:|\n| each CPU that receives, steers or reads (counted once) "
            "| {price_cpu} |\n| an MTU above 1500 | {price_mtu} |\n| GRO packets above 65,536 bytes | {price_big} |\n"
            "| lists that send freed packets home (`defer_per_cpu`) | {price_lists} |\n"
            "| a pool of pages in the driver (`page_recycling`) | {price_pool} |\n\n"
            "Hand in a design, as a dict, that reaches the target: over three replications, the *low* end of the "
            "interval of `gbps` has to be there. The cheaper, the better.",
            FORM, "all points within 10 % of the cheapest that the course has found; fewer up to twice that price",
        ),
    ),
)
