"""Clients of a request-response service: each flow's next request comes a round trip after its reply.

One agent a receive queue keeps the requests that are under way in the order in which they will arrive.
"""

from __future__ import annotations

from ..expression import Number
from ..spec import Integer
from .host import Host
from .registers import FLOW, INDEX, OTHER, RXQ, M, N
from .rss import RssNic


class Clients:
    """Writes the agents ``client`` and ``first_requests``; `reply` is what the service's thread ends with.

    Parameters
    ----------
    round_trip_ps
        From a reply to the next request, with the client's own time.
    first_ps
        Time between the first requests of two flows.
    running
        1 if there are clients, 0 if none.
    """

    def __init__(self, host: Host, nic: RssNic, *, round_trip_ps: Number, first_ps: Number, running: Number) -> None:
        self.host, self.nic, self.round_trip_ps = host, nic, host.value(round_trip_ps)
        spec, p = host.spec, host.program
        self.under_way = spec.queue("under way", nic.rxq, nic.flows)
        self.table = spec.table("request", nic.flows, due=Integer(0, 1 << 53))
        p.label("client.wait")
        p.sleep()
        p.label("client")
        p.pop(self.under_way, FLOW, INDEX, empty="client.wait")
        p.load(M, self.table, "due", FLOW)
        p.now(N)
        p.alu(M, M, "-", N)
        p.branch(M, "<=", 0, "client.send")
        p.alu(M, M, "min", self.round_trip_ps)
        p.work(0, by=M, fs=1000)
        p.label("client.send")
        p.call("wire")
        p.jump("client")
        p.label("first_requests")
        p.set(M, nic.flows.count)
        p.label("first_requests.next")
        p.alu(FLOW, M, "-", 1)
        p.call("wire")
        p.work(first_ps)
        p.loop(M, "first_requests.next")
        p.halt()
        spec.spawn_agents("client", "client", nic.rxq.count * running)
        spec.spawn_agents("first requests", "first_requests", running)

    def reply(self) -> None:
        """Write: FLOW's reply leaves now. Uses N, OTHER and RXQ."""
        p = self.host.program
        done = p.fresh("reply")
        p.load(RXQ, self.nic.rss, "rxq", FLOW)
        p.now(N)
        p.alu(N, N, "+", self.round_trip_ps)
        p.store(self.table, "due", N, FLOW)
        p.push(self.under_way, FLOW, RXQ)
        p.qlen(self.under_way, N, RXQ)
        p.branch(N, "!=", 1, done)
        p.set(OTHER, RXQ)
        p.wake_agent(OTHER)
        p.label(done)

