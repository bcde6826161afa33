"""Practice that the engine answers: predict, then measure. What is stated and what is asked come from runs."""

from __future__ import annotations

from typing import Final

from .instance import Given, Picked
from .kind import Kind, Run, Step, Trap

_TCP: Final = {"socket": "'tcp_bulk'", "flows": "flows", "rx_queues": "queues"}

KINDS: Final = (
    Kind(
        "run-segments", "Fewer segments, more packets", "path",
        givens=(Given("mtu", 1300, 1500, 20), Picked("segs", (1, 2, 3, 4))),
        before=(
            Run(
                "full_gbps", "With full packets", "Gbit/s", "tcp-5.17", "gbps",
                {"defer_free": "0", "mtu": "mtu"},
            ),
        ),
        text="In tcp-5.17, without the patch that defers frees and with an MTU of {mtu}, one flow makes "
        "{full_gbps} Gbit/s when GRO fills its packets. Set `gro_max_segs` to {segs}: with 1 there is no "
        "GRO at all. How many Gbit/s?",
        hint="What is paid once for a merged packet is now paid more often, by both CPUs.",
        within_pct=15,
        after=(
            Run(
                "few_gbps", "With so few segments", "Gbit/s", "tcp-5.17", "gbps",
                {"defer_free": "0", "mtu": "mtu", "gro_max_segs": "segs"},
            ),
        ),
        steps=(),
        traps=(Trap("full_gbps", "It costs something."),),
    ),
    Kind(
        "run-place", "Another seat for the reader", "steering",
        givens=(Given("mtu", 1300, 4168, 4), Picked("where", ("same_cpu", "other_socket"))),
        before=(
            Run(
                "near_gbps", "On another CPU of the package", "Gbit/s", "tcp-5.17", "gbps",
                {"defer_free": "0", "mtu": "mtu"},
            ),
        ),
        text="In tcp-5.17, without the patch that defers frees and with an MTU of {mtu}, the reader on another "
        "CPU of the same package makes {near_gbps} Gbit/s. Let it run at `reader_cpu` = {where}. How many "
        "Gbit/s?",
        hint="On one CPU everything is paid by one; in the other package every line comes from farther away.",
        within_pct=15,
        after=(
            Run(
                "there_gbps", "There", "Gbit/s", "tcp-5.17", "gbps",
                {"defer_free": "0", "mtu": "mtu", "reader_cpu": "where"},
            ),
        ),
        steps=(),
        traps=(Trap("near_gbps", "The place matters."),),
    ),
    Kind(
        "run-defer", "The patch at your packet size", "tcp-5.17",
        givens=(Given("mtu", 1400, 4168, 4),),
        before=(
            Run(
                "before_gbps", "Without the patch", "Gbit/s", "tcp-5.17", "gbps",
                {"defer_free": "0", "mtu": "mtu"},
            ),
        ),
        text="In tcp-5.17, with an MTU of {mtu}, one flow makes {before_gbps} Gbit/s without the patch that "
        "defers frees. How many Gbit/s with it?",
        hint="Fragments that the reader need not free, up to the ceilings of softirq and of the wire.",
        within_pct=6,
        after=(
            Run(
                "after_gbps", "With the patch", "Gbit/s", "tcp-5.17", "gbps",
                {"defer_free": "1", "mtu": "mtu"},
            ),
        ),
        steps=(),
        traps=(Trap("before_gbps", "The patch does something at this size."),),
    ),
    Kind(
        "run-copy", "How much faster without frees?", "tcp-5.17",
        givens=(Given("mtu", 1400, 2200, 4), Picked("deferred", (0, 1))),
        before=(
            Run(
                "freed_gbps", "Pages freed", "Gbit/s", "tcp-5.17", "gbps",
                {"defer_free": "deferred", "mtu": "mtu", "link_gbps": "200"},
            ),
        ),
        text="In tcp-5.17, with `defer_free` = {deferred}, a link of 200 Gbit/s and an MTU of {mtu}, one flow makes "
        "{freed_gbps} Gbit/s. Now the driver keeps its pages (`page_recycling`): nobody frees them to the page "
        "allocator. By how many percent does the rate rise?",
        hint="Deferred or not decides who frees the pages, and so which CPU is the limit. What does it pay for them?",
        within=2,
        after=(
            Run(
                "kept_gbps", "Pages kept", "Gbit/s", "tcp-5.17", "gbps",
                {"defer_free": "deferred", "mtu": "mtu", "link_gbps": "200", "page_recycling": "1"},
            ),
        ),
        steps=(Step("gain_pct", "The change", "%", "100 * (kept_gbps / freed_gbps - 1)"),),
        traps=(Trap("0", "The CPU that is the limit pays for pages: the reader without deferral, softirq with it."),),
    ),
    Kind(
        "run-queues", "More queues for many flows", "steering",
        givens=(Given("flows", 8, 32, 4), Picked("queues", (2, 3, 4))),
        before=(
            Run(
                "one_gbps", "With one queue", "Gbit/s", "lab", "gbps",
                {"socket": "'tcp_bulk'", "flows": "flows", "rx_queues": "1"},
            ),
        ),
        text="In the lab, {flows} bulk flows of TCP make {one_gbps} Gbit/s over one receive queue, on a link of "
        "100. Spread them over {queues} queues. How many Gbit/s?",
        hint="Is the softirq CPU the limit with one queue? What will be the limit then?",
        within_pct=15,
        after=(Run("more_gbps", "With so many", "Gbit/s", "lab", "gbps", _TCP),),
        steps=(),
        traps=(Trap("one_gbps * queues", "Something else becomes the limit before that."),),
    ),
)
