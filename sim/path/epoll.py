"""epoll: one instance a thread, a list of ready sockets under a lock, and a wake-up if the thread sleeps."""

from __future__ import annotations

from ..expression import Number
from ..spec import Domain, Integer, Reference
from .host import Host
from .registers import CPU, FLOW, INDEX, OTHER, K, N


class Epoll:
    """Instances of `readers` threads, reader r pinned on CPU r; flow f belongs to reader f modulo readers.

    Sockets are reported once for each request (edge-triggered); a call takes all that is ready.
    """

    def __init__(self, host: Host, flows: Domain, readers: Number) -> None:
        self.host = host
        spec = host.spec
        self.reader = spec.domain("reader", readers)
        self.lines = spec.struct("eventpoll", self.reader, {"lock": 0, "rdllist": 0, "wq": 1}, 2)
        self.lock = spec.spinlocks("ep->lock", self.lines, "lock")
        self.ready = spec.queue("rdllist", self.reader, flows)
        self.taken = spec.queue("txlist", self.reader, flows)
        self.table = spec.table("eventpoll", self.reader, waiting=Integer(0, 1))
        self.item = spec.table("epitem", flows, reader=Reference(self.reader, none=False))
        self.on = spec.table("reader cpu", self.reader, cpu=Reference(host.cpu, none=False))
        spec.init(self.item, "reader", 0, mod=readers)
        spec.init(self.on, "cpu", 0, mod=readers)

    def report(self) -> None:
        """Write: FLOW has something to read. Uses N, K, OTHER."""
        host, p = self.host, self.host.program
        done, here = p.fresh("ep_poll_callback"), p.fresh("try_to_wake_up")
        with p.symbol("ep_poll_callback"):
            p.load(K, self.item, "reader", FLOW)
            p.work(host.cost("epoll_ps"))
            host.lock(self.lock, K)
            p.push(self.ready, FLOW, K)
            p.unlock(self.lock, K)
            p.load(N, self.table, "waiting", K)
            p.branch(N, "==", 0, done)
        with p.symbol("try_to_wake_up"):
            p.store(self.table, "waiting", 0, K)
            p.count("wakeups")
            p.work(host.cost("wakeup_ps"))
            p.load(OTHER, self.on, "cpu", K)
            p.branch(OTHER, "==", CPU, here)
            p.wake_thread(K, host.cost("ipi_ps"))
            p.jump(done)
            p.label(here)
            p.wake_thread(K)
            p.label(done)

    def wait(self, entry: str) -> None:
        """Write ``epoll_wait()`` at a label: FLOW is the next ready socket; with none, the thread sleeps."""
        host, p = self.host, self.host.program
        with p.symbol("do_epoll_wait"):
            p.label(entry)
            p.pop(self.taken, FLOW, INDEX, empty=f"{entry}.call")
            p.work(host.cost("epoll_ps"))
            p.jump(f"{entry}.event")
            p.label(f"{entry}.call")
            p.work(host.cost("syscall_ps"))
            p.count("epoll_waits")
            host.lock(self.lock, INDEX)
            p.splice(self.ready, self.taken, INDEX, INDEX)
            p.qlen(self.taken, N, INDEX)
            p.branch(N, "!=", 0, f"{entry}.some")
            p.store(self.table, "waiting", 1, INDEX)
            p.unlock(self.lock, INDEX)
            p.sleep()
            p.jump(f"{entry}.call")
            p.label(f"{entry}.some")
            p.unlock(self.lock, INDEX)
            p.jump(entry)
            p.label(f"{entry}.event")
