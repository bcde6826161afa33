"""The NIC's receive queue and NAPI: ring, interrupt moderation, poll with a budget, and GRO.

The ring is filled by an agent (the wire and the NIC's DMA engine: no CPU, no caches). It raises the interrupt
``coalesce`` after a packet finds interrupts enabled. The softirq polls until the ring is empty, then enables
interrupts again; after a budget of packets it lets others in and goes on.
"""

from __future__ import annotations

from ..expression import Value
from ..spec import Integer
from .host import Host
from .pages import Pages
from .registers import BUDGET, CPU, FRAME, SKB, N
from .skbs import Skbs

NAPI_POLL_WEIGHT = 64  # packets of one poll, 3.17 to 6.19; then others get their turn


class Nic:
    """One receive queue on CPU 0: vectors ``interrupt`` and ``poll``; complete packets go to ``netif_receive_skb``.

    Parameters
    ----------
    ring_frames
        Receive descriptors.
    pages_per_frame
        Pages that a packet's payload fills.
    gro_segments
        Segments after which a held packet is passed up; 1 switches GRO off.
    packet_ps, split_ps
        Driver and GRO time of a packet, and the extra when it lies in a split buffer.
    coalesce_ps
        Interrupt moderation: how long the NIC waits with an interrupt after a packet.
    """

    def __init__(
        self, host: Host, pages: Pages, skbs: Skbs, *, ring_frames: int, pages_per_frame: Value,
        gro_segments: Value, packet_ps: Value, split_ps: Value, frame_bytes: Value, coalesce_ps: Value,
    ) -> None:
        self.host, self.pages, self.skbs = host, pages, skbs
        self.pages_per_frame, self.gro_segments = pages_per_frame, gro_segments
        self.packet_ps, self.split_ps, self.frame_bytes = packet_ps, split_ps, frame_bytes
        self.coalesce_ps = coalesce_ps
        spec = host.spec
        frame = spec.domain("frame", ring_frames)
        self.descriptors = spec.queue("free descriptors", host.one, frame)
        self.ring = spec.queue("ring", host.one, frame)
        self.gro_list = spec.queue("gro_list", host.cpu, skbs.skb)
        self.napi = spec.table("napi", host.one, irq_on=Integer(0, 1))
        spec.init(self.napi, "irq_on", 1)
        spec.fill(self.descriptors, ring_frames)
        self.interrupt = spec.vector("nic_interrupt")
        self.poll = spec.vector("net_rx_action")

    def write_poll(self, flush_deferred: str | None = None) -> None:
        """Write the interrupt handler and the poll loop; `flush_deferred` is a subroutine called before each poll."""
        host, p = self.host, self.host.program
        with p.symbol("asm_common_interrupt"):
            p.label("nic_interrupt")
            p.work(host.cost("irq_ps"))
            p.count("interrupts")
        with p.symbol("net_rx_action"):
            p.label("net_rx_action")
            p.set(BUDGET, NAPI_POLL_WEIGHT)
            if flush_deferred is not None:
                p.call(flush_deferred)
            p.jump("napi_poll")
            p.label("napi_poll.again")
            p.loop(BUDGET, "napi_poll")
            p.raise_(self.poll)
            p.call("net_rps_action_and_irq_enable")
            p.end()
        with p.symbol("driver_rx_poll"):
            p.label("napi_poll")
            p.pop(self.ring, FRAME, empty="napi_complete_done")
            p.push(self.descriptors, FRAME)
            p.work(self.packet_ps + self.split_ps)
            p.count("packets")
        with p.symbol("dev_gro_receive"):
            p.peek(self.gro_list, SKB, CPU, empty="napi_get_frags")
            p.work(host.cost("gro_merge_ps"))
            p.label("skb_gro_receive")
            self.skbs.take_pages(self.pages_per_frame)
            p.add(self.skbs.table, "segments", 1, SKB)
            p.load(N, self.skbs.table, "segments", SKB)
            p.branch(N, "<", self.gro_segments, "napi_poll.again")
            p.pop(self.gro_list, SKB, CPU, empty="napi_poll.up")
            p.label("napi_poll.up")
            p.call("napi_gro_complete")
            p.jump("napi_poll.again")
            p.label("napi_get_frags")
            p.call("alloc_skb")
            with p.where(self.gro_segments.above(1), "gro"):
                p.push(self.gro_list, SKB, CPU)
            p.jump("skb_gro_receive")
        with p.symbol("napi_complete_done"):
            p.label("napi_complete_done")
            p.pop(self.gro_list, SKB, CPU, empty="napi_complete_done.flushed")
            p.call("napi_gro_complete")
            p.label("napi_complete_done.flushed")
            p.store(self.napi, "irq_on", 1)
            p.qlen(self.ring, N)
            p.branch(N, "==", 0, "net_rx_action.done")
            p.store(self.napi, "irq_on", 0)  # a packet slipped in: its interrupt waits as any other
            p.raise_(self.interrupt, self.coalesce_ps)
        with p.symbol("net_rx_action"):
            p.label("net_rx_action.done")
            p.call("net_rps_action_and_irq_enable")
            p.end()
        self.skbs.write_complete(self.pages_per_frame, self.frame_bytes)
