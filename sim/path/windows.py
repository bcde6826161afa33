"""The other ends of many bulk flows, and the one link that they share: windows, bursts, loss.

Each flow's sender hands its NIC bursts of packets (TSO), as many as its window has room for. The link carries the
bursts in the order in which they were ready, one after the other, at its rate. An ACK is heard a round trip later.
With windows of one packet, and readers that answer each, the same agents are clients of a request-response service.
"""

from __future__ import annotations

from typing import Final

from ..expression import Number, Value
from ..spec import Integer
from .host import Host
from .registers import FLOW, INDEX, OTHER, RXQ, K, M, N
from .rss import RssNic

MAX_WAIT_PS: Final = 1 << 40  # for the link; longer than all windows together last
JITTER_SHARE: Final = 50  # a burst ends up to this part of its length later: what the seed varies


class BulkSenders:
    """Agents, one a flow, that must be the first of the spec: an ACK wakes them by their flow's number.

    Parameters
    ----------
    window_bytes
        Bytes of a flow that may be unacknowledged.
    frame_bytes, gap_ps
        Payload of a packet, and the time it takes on the wire.
    burst
        Packets of one flow that follow each other on the wire.
    round_trip_ps
        From an ACK leaving to the first packet that it lets through.
    agents
        As many as flows, or 0.
    reply
        1 if an ACK is the answer to a request: the reader writes it by a call of its own.

    A packet that would find no receive descriptor is lost (``nic_drops``); its flow waits a round trip and sends it
    again. Nothing else of congestion control is modelled.
    """

    def __init__(
        self, host: Host, nic: RssNic, *, window_bytes: Value, frame_bytes: Value, gap_ps: Value, burst: Value,
        round_trip_ps: Value, agents: Number, reply: Number = 0,
    ) -> None:
        self.host, self.nic = host, nic
        self.round_trip_ps: Value = round_trip_ps
        self.reply: Value = host.value(reply)
        spec, p = host.spec, host.program
        self.table = spec.table("sender", nic.flows, flight=Integer(0, 1 << 40))
        self.link = spec.table("link", host.one, free_at=Integer(0, 1 << 53))
        p.label("bulk_sender")
        p.set(FLOW, INDEX)
        p.load(N, self.table, "flight", FLOW)
        p.branch(N, "<=", window_bytes - frame_bytes, "bulk_sender.send")
        p.sleep()
        p.jump("bulk_sender")
        p.label("bulk_sender.send")
        p.set(K, window_bytes)
        p.alu(K, K, "-", N)
        p.alu(K, K, "max", 0)
        p.alu(K, K, "//", frame_bytes)
        p.alu(K, K, "min", burst)
        p.alu(K, K, "max", 1)
        self._take_turn(gap_ps)
        p.label("bulk_sender.frame")
        p.work(gap_ps)
        p.load(RXQ, nic.rss, "rxq", FLOW)
        p.qlen(nic.descriptors, N, RXQ)
        p.branch(N, "==", 0, "bulk_sender.lost")
        p.add(self.table, "flight", frame_bytes, FLOW)
        p.call("wire")
        p.loop(K, "bulk_sender.frame")
        p.jump("bulk_sender")
        p.label("bulk_sender.lost")
        p.count("nic_drops")
        p.work(round_trip_ps)
        p.jump("bulk_sender")
        spec.spawn_agents("sender", "bulk_sender", agents, stagger=gap_ps)

    def _take_turn(self, gap_ps: Value) -> None:
        """Wait until the link has carried what was ready earlier; then it is this burst's, of K packets."""
        p = self.host.program
        p.now(N)
        p.load(OTHER, self.link, "free_at")
        p.alu(OTHER, OTHER, "max", N)
        p.uniform(M, gap_ps // JITTER_SHARE * 16)
        p.alu(OTHER, OTHER, "+", M)
        p.alu(M, K, "*", gap_ps)
        p.alu(M, M, "+", OTHER)
        p.alu(M, M, "min", 1 << 53)
        p.store(self.link, "free_at", M)
        p.alu(OTHER, OTHER, "-", N)
        p.alu(OTHER, OTHER, "max", 0)
        p.alu(OTHER, OTHER, "min", MAX_WAIT_PS)
        p.work(0, by=OTHER, fs=1000)

    def acknowledge(self) -> None:
        """Give back R[N] bytes of FLOW's window; its sender hears of it a round trip later. Uses M and OTHER."""
        host, p = self.host, self.host.program
        with p.where(self.reply, "reply"):
            with p.symbol("entry_SYSCALL_64"):
                p.work(host.cost("syscall_ps"))
            with p.symbol("tcp_sendmsg_locked"):
                p.work(host.cost("skb_alloc_ps") + host.cost("skb_free_ps"))
            with p.symbol("dev_queue_xmit"):
                p.work(host.cost("transmit_ps"))
            p.count("transactions")
        p.set(M, 0)
        p.alu(M, M, "-", N)
        p.add(self.table, "flight", M, FLOW)
        p.set(OTHER, FLOW)
        p.wake_agent(OTHER, self.round_trip_ps)
