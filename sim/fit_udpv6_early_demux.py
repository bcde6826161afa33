"""Fitting for udpv6-early-demux: the driver's time for a packet, on 800 Mbit/s before the patch and nothing else.

`fit` reads the one figure that it is given by name; `write` puts its row beside those of other threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from . import scenarios

THREAD: Final = "udpv6-early-demux"
TARGETS: Final = {
    "softirq_packet_ps": ("before", "the rate before the patch, with the default number and cost of look-ups"),
}
ROUNDS: Final = 3


def fit(figures: Mapping[str, float], log: Callable[[str], None] = print) -> list[dict[str, Any]]:
    """The fitted constant as a row of `fitted.json`. KeyError if `figures` lacks 800 Mbit/s; no other is read.

    The time of a packet is linear in the driver's, so each round adds what is missing.
    """
    figure, why = TARGETS["softirq_packet_ps"]
    want = figures[figure]
    scenario = scenarios.load(THREAD)
    bits = 8 * int(scenario.knob("datagram_bytes").default)
    driver_ns = 10_000
    for round_ in range(ROUNDS):
        rate = scenario.run(replications=3, udp_early_demux=0, softirq_packet_ns=driver_ns).mbps
        log(f"round {round_ + 1}: {rate:.2f} Mbit/s with {driver_ns} ns")
        driver_ns = round((driver_ns + 1000 * bits * (1 / want - 1 / rate)) / 10) * 10
    return [
        {
            "scenario": THREAD, "machine": scenarios.load(THREAD).machine.name, "constant": "softirq_packet_ps",
            "value": driver_ns * 1000, "unit": "ps", "figure": figure, "reported": want, "fitted_on": why,
        }
    ]
