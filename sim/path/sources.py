"""Where packets come from: agents that send at a rate, or that keep windows full and wait for the receiver.

An open source sends whatever happens; a closed one stops when its flows' windows are full and goes on a round
trip after the receiver has made room.
"""

from __future__ import annotations

from ..expression import Number, Value
from ..spec import Integer, Reference
from .host import Host
from .registers import FLOW, INDEX, OTHER, K, M, N
from .rss import RssNic


class PoissonSource:
    """One agent a receive queue; gaps are exponential, each packet belongs to a flow drawn at random.

    `gap_ps` is the mean time between two packets of one queue. Flow i belongs to queue i modulo queues, so a
    queue's agent draws among its own flows (RSS must be ``even``). With `burst` each begins with so many packets at
    once, as an overload leaves them in the receive ring. With `on` 0 there are no agents.
    """

    def __init__(self, host: Host, nic: RssNic, gap_ps: Number, burst: Value | None = None, on: Number = 1) -> None:
        p, spec = host.program, host.spec
        per_queue = (nic.flows.count // nic.rxq.count).most(1)
        if burst is not None:
            p.label("poisson_source.burst")
            p.set(K, burst)
            p.branch(K, "<=", 0, "poisson_source")
            p.label("poisson_source.more")
            p.set(FLOW, INDEX)
            p.call("wire")
            p.loop(K, "poisson_source.more")
        p.label("poisson_source")
        p.exponential(M, gap_ps)
        p.work(0, by=M, fs=1000)
        p.uniform(FLOW, per_queue)
        p.alu(FLOW, FLOW, "*", nic.rxq.count)
        p.alu(FLOW, FLOW, "+", INDEX)
        p.alu(FLOW, FLOW, "%", nic.flows.count)
        p.call("wire")
        p.jump("poisson_source")
        entry = "poisson_source" if burst is None else "poisson_source.burst"
        spec.spawn_agents("poisson source", entry, nic.rxq.count * on, stagger=host.value(gap_ps) // 7)


class WindowedSenders:
    """Agents that send small messages over a few flows each, one message every `send_ps`, until windows are full.

    Flow f belongs to sender f modulo senders. `window` messages may be under way in a flow; the receiver gives
    them back by `credit`, and a sender that slept goes on a round trip later, when `low` or fewer are left.
    """

    def __init__(
        self, host: Host, nic: RssNic, *, senders: Number, window: Number, low: Number, send_ps: Number,
        round_trip_ps: Number,
    ) -> None:
        self.host, self.nic = host, nic
        self.low, self.round_trip_ps = host.value(low), round_trip_ps
        spec, p = host.spec, host.program
        self.sender = spec.domain("sender", senders)
        self.flight = spec.table(
            "flight", nic.flows, packets=Integer(0, 1 << 30), sender=Reference(self.sender, none=False)
        )
        spec.init(self.flight, "sender", 0, mod=senders)
        self.next = spec.table("sender", self.sender, flow=Reference(nic.flows, none=False))
        spec.init(self.next, "flow", 0, mod=senders)
        per_sender = (nic.flows.count // senders).most(1)
        p.label("windowed_sender")
        p.set(K, per_sender)
        p.label("windowed_sender.try")  # the flows in turn, beginning after the last one served
        p.load(FLOW, self.next, "flow", INDEX)
        p.alu(N, FLOW, "+", senders)
        p.alu(N, N, "%", nic.flows.count)
        p.store(self.next, "flow", N, INDEX)
        p.load(N, self.flight, "packets", FLOW)
        p.branch(N, "<", window, "windowed_sender.send")
        p.loop(K, "windowed_sender.try")
        p.sleep()
        p.jump("windowed_sender")
        p.label("windowed_sender.send")
        p.add(self.flight, "packets", 1, FLOW)
        p.uniform(M, host.value(send_ps) // 4)
        p.work(host.value(send_ps) * 7 // 8, by=M, fs=1000)
        p.call("wire")
        p.jump("windowed_sender")
        spec.spawn_agents("sender", "windowed_sender", senders, stagger=host.value(send_ps) // 3)

    def credit(self) -> None:
        """Write: one message of FLOW has been taken from its window. Uses N and OTHER."""
        p = self.host.program
        out = p.fresh("credit")
        p.add(self.flight, "packets", -1, FLOW)
        p.load(N, self.flight, "packets", FLOW)
        p.branch(N, "!=", self.low, out)
        p.load(OTHER, self.flight, "sender", FLOW)
        p.wake_agent(OTHER, self.round_trip_ps)
        p.label(out)
