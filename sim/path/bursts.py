"""Senders that share a CPU: each fills one flow's window, then the next one gets the CPU, as processes do.

Several processes of a CPU write small messages, each until its send buffer is full or its time slice is over. An
acknowledgement makes room; a process that waits for room is runnable again when a third of its buffer is free.
"""

from __future__ import annotations

from typing import Final

from ..expression import Number, Value
from ..spec import Domain, Integer, Reference
from .host import Host
from .registers import BUDGET, FLOW, INDEX, OTHER, RXQ, K, M, N
from .rss import RssNic

BUFFER_FREE: Final = 3  # sk_stream_write_space: writable again when a third of the buffer is free


class BurstSenders:
    """Agents, one a sending CPU; flow f belongs to sender f modulo `senders`.

    Parameters
    ----------
    window
        Packets that a flow may have under way: its send buffer.
    send_ps
        What one message costs the sending CPU; the time varies by an eighth up and down.
    slice_packets
        After so many messages in a row another flow of the CPU has its turn.
    round_trip_ps
        From an ACK leaving until the first packet that it lets through arrives.

    A packet that would find no receive descriptor is lost (``nic_drops``): its flow waits a round trip and sends it
    again. So a ring that is too short limits what is under way, as congestion control does; nothing else of it is
    modelled.
    """

    def __init__(
        self, host: Host, nic: RssNic, *, senders: int, window: Value, send_ps: Value, slice_packets: Number,
        round_trip_ps: int,
    ) -> None:
        self.host = host
        self.low: Value = window - (window + (BUFFER_FREE - 1)) // BUFFER_FREE
        self.round_trip_ps = round_trip_ps
        spec, p, flows = host.spec, host.program, nic.flows
        sender = spec.domain("sender", senders)
        self.flight = spec.table(
            "flight", flows, packets=Integer(0, 1 << 30), full=Integer(0, 1), ready=Integer(0, 1 << 53),
            sender=Reference(sender, none=False),
        )
        self.current = spec.table("sender", sender, flow=Reference(flows, none=False))
        spec.init(self.flight, "sender", 0, mod=senders)
        spec.init(self.current, "flow", 0, mod=senders)
        per_sender = (flows.count // senders).most(1)
        p.label("sender")
        p.set(K, per_sender)
        p.set(M, 0)
        p.label("sender.try")  # the flows in turn, beginning with the last one served
        p.load(FLOW, self.current, "flow", INDEX)
        p.load(N, self.flight, "full", FLOW)
        p.branch(N, "!=", 0, "sender.other")
        p.now(N)
        p.load(OTHER, self.flight, "ready", FLOW)
        p.branch(OTHER, "<=", N, "sender.run")
        p.alu(M, OTHER, "-", N)  # its ACK is on the way
        p.label("sender.other")
        self._next_flow(senders, flows)
        p.loop(K, "sender.try")
        p.branch(M, ">", 0, "sender.soon")
        p.sleep()
        p.jump("sender")
        p.label("sender.soon")
        p.alu(M, M, "min", round_trip_ps)
        p.work(0, by=M, fs=1000)
        p.jump("sender")
        p.label("sender.run")
        p.set(BUDGET, slice_packets)
        p.label("sender.send")
        p.load(N, self.flight, "packets", FLOW)
        p.branch(N, ">=", window, "sender.full")
        p.uniform(M, send_ps // 4)
        p.work(send_ps * 7 // 8, by=M, fs=1000)
        p.load(RXQ, nic.rss, "rxq", FLOW)
        p.qlen(nic.descriptors, N, RXQ)
        p.branch(N, "==", 0, "sender.lost")
        p.add(self.flight, "packets", 1, FLOW)
        p.call("wire")
        p.loop(BUDGET, "sender.send")
        self._next_flow(senders, flows)
        p.jump("sender")
        p.label("sender.full")
        p.store(self.flight, "full", 1, FLOW)
        p.jump("sender")
        p.label("sender.lost")  # no descriptor: what was lost is sent again a round trip later, and nothing before it
        p.count("nic_drops")
        self._in_a_round_trip()
        p.jump("sender")
        spec.spawn_agents("sender", "sender", senders, stagger=send_ps // 3)

    def _next_flow(self, senders: int, flows: Domain) -> None:
        p = self.host.program
        p.alu(N, FLOW, "+", senders)
        p.alu(N, N, "%", flows.count)
        p.store(self.current, "flow", N, INDEX)

    def _in_a_round_trip(self) -> None:
        p = self.host.program
        p.now(N)
        p.alu(N, N, "+", self.round_trip_ps)
        p.store(self.flight, "ready", N, FLOW)

    def credit(self) -> None:
        """Write: an ACK for R[N] packets of FLOW leaves. Uses N, M and OTHER."""
        p = self.host.program
        out = p.fresh("credit")
        p.set(M, 0)
        p.alu(M, M, "-", N)
        p.add(self.flight, "packets", M, FLOW)
        p.load(N, self.flight, "full", FLOW)
        p.branch(N, "==", 0, out)
        p.load(N, self.flight, "packets", FLOW)
        p.branch(N, ">", self.low, out)
        p.store(self.flight, "full", 0, FLOW)
        self._in_a_round_trip()
        p.load(OTHER, self.flight, "sender", FLOW)
        p.wake_agent(OTHER, self.round_trip_ps)
        p.label(out)
