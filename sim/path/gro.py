"""GRO over many flows: each receive queue holds one packet of a flow, and grows it until a poll ends.

Held packets lie in eight buckets by the flow's hash, at most eight in each; one more sends the oldest of its bucket
up first. A queue that polled its ring empty sends up all that it holds (5.0 and later, net/core/gro.c). So the more
flows take turns on the wire, the fewer segments a packet gets.
"""

from __future__ import annotations

from typing import Final

from ..expression import Value
from ..program import Register
from ..spec import Integer, Reference
from .host import Host
from .pages import Pages
from .registers import BUDGET, CPU, FLOW, FRAME, LEFT, RXQ, SKB, K, N
from .rss import NAPI_POLL_WEIGHT, RssNic
from .skbs import Skbs

HASH_BUCKETS: Final = 8  # GRO_HASH_BUCKETS
MAX_HELD: Final = 8  # MAX_GRO_SKBS, of one bucket

BUCKET: Final = Register(LEFT.number, "bucket")  # a softirq reads nothing for a program: these two are its own
KEPT: Final = Register(FRAME.number, "kept flow")


class Gro:
    """The poll loop of `nic` with GRO; packets that are complete go to ``netif_receive_skb``.

    Parameters
    ----------
    packet_ps
        Driver's and GRO's time of a packet, with what a split buffer adds.
    pages_per_frame
        Pages that a packet's payload fills; 0 if the driver copies it into the sk_buff's own head.
    segments
        Segments after which a held packet goes up; 1 switches GRO off.
    frame_bytes
        Payload of a packet.
    """

    def __init__(
        self, host: Host, nic: RssNic, pages: Pages, skbs: Skbs, *, packet_ps: Value, pages_per_frame: Value,
        segments: Value, frame_bytes: Value,
    ) -> None:
        self.host, self.nic, self.pages, self.skbs = host, nic, pages, skbs
        self.packet_ps, self.pages_per_frame = packet_ps, pages_per_frame
        self.segments, self.frame_bytes = segments, frame_bytes
        self.on: Value = segments.above(1)
        spec = host.spec
        self.bucket = spec.domain("gro bucket", nic.rxq.count * HASH_BUCKETS)
        self.count = spec.table("gro_hash", self.bucket, count=Integer(0, MAX_HELD))
        self.order = spec.queue("gro_hash", self.bucket, nic.flows)  # flows, oldest first; some hold nothing any more
        self.flow = spec.table(
            "gro flow", nic.flows, bucket=Integer(0, HASH_BUCKETS - 1), held=Reference(skbs.skb), listed=Integer(0, 1)
        )
        spec.init(self.flow, "bucket", 0, mod=HASH_BUCKETS, random=True)
        spec.init(self.flow, "held", -1)

    def write_poll(self, flush_deferred: str, symbol: str = "mlx5e_poll_rx_cq") -> None:
        """Write interrupt handler and poll loop; `flush_deferred` is a subroutine called before each poll."""
        host, p, nic = self.host, self.host.program, self.nic
        with p.symbol("asm_common_interrupt"):
            p.label("nic_interrupt")
            p.work(host.cost("irq_ps"))
            p.count("interrupts")
        with p.symbol("net_rx_action"):
            p.label("net_rx_action")
            p.call(flush_deferred)
            p.load(RXQ, nic.by_cpu, "rxq", CPU)
            p.branch(RXQ, ">=", 0, "net_rx_action.queue")
            p.end()
            p.label("net_rx_action.queue")
            p.set(BUDGET, NAPI_POLL_WEIGHT)
            p.jump("napi_poll")
            p.label("napi_poll.again")
            p.loop(BUDGET, "napi_poll")
            p.raise_(nic.poll)
            p.jump("net_rx_action.end")
        with p.symbol(symbol):
            p.label("napi_poll")
            p.pop(nic.ring, FRAME, RXQ, empty="napi_complete_done")
            p.load(FLOW, nic.frames, "flow", FRAME)
            p.push(nic.descriptors, FRAME, RXQ)
            p.work(self.packet_ps)
            p.count("packets")
        with p.where(self.on, "gro"):
            self._receive()
        with p.symbol("napi_get_frags"):
            p.label("napi_get_frags")
            p.call("alloc_skb")
            with p.where(self.pages_per_frame.above(0), "payload in pages"):
                self.skbs.take_pages(self.pages_per_frame)
            p.store(self.skbs.table, "segments", 1, SKB)
            with p.where(self.on, "gro"):
                self._hold()
            p.call("napi_gro_complete")
            p.jump("napi_poll.again")
        with p.symbol("napi_complete_done"):
            p.label("napi_complete_done")
            with p.where(self.on, "gro"):
                p.call("napi_gro_flush")
            p.store(nic.napi, "irq_on", 1, RXQ)
            p.qlen(nic.ring, N, RXQ)
            p.branch(N, "==", 0, "net_rx_action.end")
            p.store(nic.napi, "irq_on", 0, RXQ)  # a packet slipped in: its interrupt waits as any other
            p.raise_(nic.interrupt, nic.coalesce_ps)
        with p.symbol("net_rx_action"):
            p.label("net_rx_action.end")
            p.call("net_rps_action_and_irq_enable")
            p.end()
        self._flush()
        self.skbs.write_complete(self.pages_per_frame, self.frame_bytes)

    def _bucket(self) -> None:
        """K = the bucket of FLOW on this queue."""
        p = self.host.program
        p.load(N, self.flow, "bucket", FLOW)
        p.alu(K, RXQ, "*", HASH_BUCKETS)
        p.alu(K, K, "+", N)

    def _receive(self) -> None:
        """A packet of a flow that has one held is merged into it; it goes up when that is full."""
        host, p, table = self.host, self.host.program, self.skbs.table
        with p.symbol("dev_gro_receive"):
            p.load(SKB, self.flow, "held", FLOW)
            p.branch(SKB, "<", 0, "dev_gro_receive.new")
            p.work(host.cost("gro_merge_ps"))
            with p.where(self.pages_per_frame.above(0), "payload in pages"):
                self.skbs.take_pages(self.pages_per_frame)
            p.add(table, "segments", 1, SKB)
            p.load(N, table, "segments", SKB)
            p.branch(N, "<", self.segments, "napi_poll.again")
            p.store(self.flow, "held", -1, FLOW)
            self._bucket()
            p.add(self.count, "count", -1, K)
            p.count("gro_full")
            p.call("napi_gro_complete")
            p.jump("napi_poll.again")
            p.label("dev_gro_receive.new")
            self._bucket()
            p.load(N, self.count, "count", K)
            p.branch(N, "<", MAX_HELD, "napi_get_frags")
        with p.symbol("gro_flush_oldest"):
            p.set(BUCKET, K)
            p.set(KEPT, FLOW)
            p.call("gro_flush_oldest")
            p.set(FLOW, KEPT)

    def _hold(self) -> None:
        """The new packet in SKB is kept for those of its flow that may follow."""
        p = self.host.program
        p.store(self.flow, "held", SKB, FLOW)
        self._bucket()
        p.add(self.count, "count", 1, K)
        p.load(N, self.flow, "listed", FLOW)
        p.branch(N, "!=", 0, "napi_poll.again")
        p.store(self.flow, "listed", 1, FLOW)
        p.push(self.order, FLOW, K)
        p.jump("napi_poll.again")

    def _flush(self) -> None:
        """The oldest packet of BUCKET goes up, or all that a queue holds."""
        p = self.host.program
        with p.symbol("gro_flush_oldest"):
            p.label("gro_flush_oldest")
            p.pop(self.order, FLOW, BUCKET, empty="gro_flush_oldest.out")
            p.store(self.flow, "listed", 0, FLOW)
            p.load(SKB, self.flow, "held", FLOW)
            p.branch(SKB, "<", 0, "gro_flush_oldest")
            p.store(self.flow, "held", -1, FLOW)
            p.add(self.count, "count", -1, BUCKET)
            p.count("gro_oldest")
            p.call("napi_gro_complete")
            p.label("gro_flush_oldest.out")
            p.ret()
        with p.symbol("napi_gro_flush"):
            p.label("napi_gro_flush")
            p.alu(BUCKET, RXQ, "*", HASH_BUCKETS)
            p.label("napi_gro_flush.next")
            p.alu(BUCKET, BUCKET, "min", self.bucket.count - 1)
            p.pop(self.order, FLOW, BUCKET, empty="napi_gro_flush.bucket")
            p.store(self.flow, "listed", 0, FLOW)
            p.load(SKB, self.flow, "held", FLOW)
            p.branch(SKB, "<", 0, "napi_gro_flush.next")
            p.store(self.flow, "held", -1, FLOW)
            p.count("gro_flushed")
            p.call("napi_gro_complete")
            p.jump("napi_gro_flush.next")
            p.label("napi_gro_flush.bucket")
            p.store(self.count, "count", 0, BUCKET)
            p.alu(BUCKET, BUCKET, "+", 1)
            p.alu(N, BUCKET, "%", HASH_BUCKETS)
            p.branch(N, "!=", 0, "napi_gro_flush.next")
            p.ret()
