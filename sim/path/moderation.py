"""Interrupt moderation that follows the traffic, as mlx4_en's: how long an interrupt waits depends on rate and size.

A few times a second the driver looks how many packets it polled from each ring, and programs the ring's interrupt
to wait for nothing below 400,000 packets a second, for 128 us from 450,000 on, and in between in proportion. For
packets of 256 bytes and less on average it never waits (linux 4.1, drivers/net/ethernet/mellanox/mlx4/en_netdev.c).
"""

from __future__ import annotations

from typing import Final

from ..expression import Number, Value
from ..spec import Integer
from .host import Host
from .registers import INDEX, OTHER, RXQ, M, N
from .rss import RssNic

BEGIN, END, LONGEST_US = 400_000, 450_000, 128  # packets/s of a ring, us
SMALL_BYTES: Final = 256  # MLX4_EN_AVG_PKT_SMALL
SAMPLE_PS: Final = 10_000_000_000  # the driver's is 250 ms: shortened, so that a run sees it


class Moderation:
    """Agents that hold an interrupt back, one a receive queue (the first agents of a spec), and that look at the rate.

    Parameters
    ----------
    adaptive
        1 if the time follows rate and size; otherwise it is `fixed_ps`.
    packet_bytes
        Average length of a packet.
    """

    def __init__(self, host: Host, nic: RssNic, *, adaptive: Value, fixed_ps: Value, packet_bytes: Number) -> None:
        self.host, self.nic = host, nic
        spec, p = host.spec, host.program
        self.table = spec.table(
            "moderation", nic.rxq, polled=Integer(0, 1 << 30), wait=Integer(0, LONGEST_US * 1_000_000)
        )
        spec.init(self.table, "wait", (1 - adaptive) * fixed_ps)
        p.label("moderation")
        p.sleep()
        p.load(M, self.table, "wait", INDEX)
        p.work(0, by=M, fs=1000)
        p.load(OTHER, nic.napi, "cpu", INDEX)
        p.raise_(nic.interrupt, 0, OTHER)
        p.jump("moderation")
        spec.spawn_agents("moderation", "moderation", nic.rxq.count)
        p.label("moderation.sample")
        p.work(SAMPLE_PS)
        with p.where(adaptive * host.value(packet_bytes).above(SMALL_BYTES), "adaptive moderation"):
            p.load(N, self.table, "polled", INDEX)
            p.store(self.table, "polled", 0, INDEX)
            p.alu(N, N, "max", 0)  # the verifier wants bounds before a product
            p.alu(N, N, "min", 1 << 30)
            p.alu(N, N, "*", 1_000_000_000_000 // SAMPLE_PS)
            p.alu(N, N, "-", BEGIN)
            p.alu(N, N, "max", 0)
            p.alu(N, N, "min", END - BEGIN)
            p.alu(N, N, "*", LONGEST_US * 1_000_000 // (END - BEGIN))
            p.store(self.table, "wait", N, INDEX)
        p.jump("moderation.sample")
        spec.spawn_agents("sample", "moderation.sample", nic.rxq.count)

    def interrupt(self) -> None:
        """Write: the queue in RXQ interrupts its CPU when the time is over."""
        self.host.program.wake_agent(RXQ)

    def polled(self) -> None:
        """Write: a packet was polled from the queue in RXQ."""
        self.host.program.add(self.table, "polled", 1, RXQ)
