"""A driver that passes over every packet itself, to sum or to copy it, as the NICs of small machines need.

The processor's caches see the packet's bytes go by, and the time varies with where the packet lies.
"""

from __future__ import annotations

from ..expression import Number
from .host import Host
from .registers import M

SPREAD_PERCENT = 10  # assumed: a packet takes up to this more or less
SPREAD_STEPS = 128


def write_driver(host: Host, *, packet_ps: Number, packet_bytes: Number, then: str, symbol: str = "driver_rx") -> None:
    """Write the subroutine ``driver_rx``, which takes `packet_ps` in the mean and goes on at `then`. Uses M."""
    p, mean = host.program, host.value(packet_ps)
    with p.symbol(symbol):
        p.label("driver_rx")
        p.work(mean * (100 - SPREAD_PERCENT) // 100)
        p.uniform(M, 2 * SPREAD_STEPS + 1)
        p.work(0, by=M, fs=mean * 1000 // (100 * SPREAD_STEPS) * SPREAD_PERCENT)
        p.set(M, packet_bytes)
        p.work(0, by=M, fs=0, copy=True)
        p.jump(then)
