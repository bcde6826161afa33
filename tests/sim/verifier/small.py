"""A small spec that programs are written into: sockets, packets, CPUs, and one of everything."""

from __future__ import annotations

from collections.abc import Callable

from sim.program import Register
from sim.spec import Integer, Reference, Spec

R0, R1, R2, R3 = (Register(k, f"r{k}") for k in range(4))
INDEX, CPU = Register(14, "index"), Register(15, "cpu")
Body = Callable[["Small"], None]


class Small:
    """Two CPUs, three sockets, eight packets, one thread, one agent, one vector.

    `thread`, `softirq` and `agent` write the programs; one that is not given only ends or halts.
    """

    def __init__(
        self, thread: Body | None = None, softirq: Body | None = None, agent: Body | None = None
    ) -> None:
        spec = self.spec = Spec(["key", "number"])
        self.p = spec.program
        self.number = spec.values.knob("number")
        self.one = spec.domain("one", 1)
        self.cpu = spec.domain("cpu", 2)
        self.sock = spec.domain("sock", 3)
        self.skb = spec.domain("skb", 8)
        self.page = spec.domain("page", 4)
        self.table = spec.table(
            "sock", self.sock, head=Reference(self.skb), peer=Reference(self.sock, none=False),
            state=Integer(0, 7), bytes=Integer(),
        )
        spec.init(self.table, "head", -1)
        self.lines = spec.struct("sock", self.sock, {"lock": 0, "queue": 1}, 2)
        self.lock = spec.spinlocks("slock", self.lines, "lock")
        self.other = spec.spinlocks("other", self.lines, "queue")
        self.free = spec.queue("free", self.one, self.skb)
        self.backlog = spec.queue("backlog", self.sock, self.skb)
        self.pages = spec.queue("pages", self.one, self.page)
        spec.fill(self.free, 8)
        spec.cost(sockets=1, cores_per_socket=2, threads_per_core=1, hit_ps=1000, same_socket_ps=40_000)
        with self.p.symbol("tcp_v4_rcv"):
            self.p.label("softirq")
            (softirq or (lambda s: s.p.end()))(self)
        with self.p.symbol("tcp_recvmsg"):
            self.p.label("thread")
            (thread or (lambda s: s.p.halt()))(self)
        with self.p.symbol("sender"):
            self.p.label("agent")
            (agent or (lambda s: s.p.halt()))(self)
        spec.vector("softirq")
        spec.spawn_threads("reader", "thread")
        spec.spawn_agents("sender", "agent")
