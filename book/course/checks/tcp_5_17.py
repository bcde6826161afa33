"""Right answers of the assignment on the 5.17 series."""

from __future__ import annotations

from sim.exercises.instance import Instance

from . import Verdict, near, question

HEADERS = 72
LIMIT = 65_536


@question("gro-fill", points=2)
def gro_fill(instance: Instance, answer: int) -> Verdict:
    """As `sim.scenarios.tcp_5_17` packs."""
    payload = instance.number("payload_bytes")
    full = (LIMIT - 1 - HEADERS) // payload
    return near(answer, full, traps=[
        (-(-(LIMIT - 1 - HEADERS) // payload), "the last one would bring the packet over the limit"),
        ((LIMIT - 1) // (payload + HEADERS), "merged segments share one set of headers"),
        ((LIMIT - 1) // payload, "the headers count against the limit, too"),
    ], hint="how many bytes are left for payload when one set of headers is in?")
