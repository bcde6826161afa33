"""Softirqs as Linux 3.17 to 4.11 runs them: inline wherever they may run, even while ksoftirqd waits its turn.

A NIC's interrupt polls its queue at once. What is left after 2 ms is left to ksoftirqd, which shares the CPU with
the program by slices (`Host`'s scheduler rules). Meanwhile each timer tick, and each ``local_bh_enable()`` of the
program, polls the queue once more on the program's time. Kernels from 4.12 to 6.7 wait for ksoftirqd instead.
"""

from __future__ import annotations

from typing import Final

from ..expression import Number
from ..spec import Integer
from .host import Host
from .moderation import Moderation
from .registers import BUDGET, CPU, FRAME, INDEX, OTHER, RXQ, M, N
from .rss import RssNic

NETDEV_BUDGET: Final = 300  # packets of one net_rx_action, 3.17 to 6.19
MAX_SOFTIRQ_PS: Final = 2_000_000_000  # MAX_SOFTIRQ_TIME: afterwards ksoftirqd is woken
TICK_PS: Final = 1_000_000_000  # HZ=1000


class InlineSoftirqs:
    """Writes a NIC's interrupt and poll loop, the timer ticks, and ``local_bh_enable`` for threads.

    The NIC's interrupt must be the spec's first vector (the one that no waiting ksoftirqd holds back), so the NIC
    is declared before anything else that has one. ``inline_passes`` counts passes that a tick or a program began,
    ``softirq_ps`` and ``ksoftirqd_ps`` add up the time of all passes and of ksoftirqd's.
    """

    def __init__(self, host: Host, nic: RssNic, moderation: Moderation) -> None:
        self.host, self.nic, self.moderation = host, nic, moderation
        self.table = host.spec.table(
            "softirq", host.cpu, since=Integer(0, 1 << 53), pending=Integer(0, 1), no_irq=Integer(0, 1),
            ksoftirqd=Integer(0, 1),
        )

    def write_poll(self, receive: str) -> None:
        """Write the two vectors; each packet goes to the subroutine `receive`, which must keep RXQ and BUDGET."""
        host, p, nic, table = self.host, self.host.program, self.nic, self.table
        with p.symbol("handle_irq"):
            p.label("nic_interrupt")
            p.load(N, table, "no_irq", CPU)
            p.branch(N, "==", 0, "nic_interrupt.irq")
            p.store(table, "no_irq", 0, CPU)
            p.count("inline_passes")
            p.jump("__do_softirq")
            p.label("nic_interrupt.irq")
            p.work(host.cost("irq_ps"))
            p.count("interrupts")
            p.jump("__do_softirq")
        with p.symbol("__do_softirq"):
            p.label("net_rx_action")  # as ksoftirqd enters it
            p.count("ksoftirqd_passes")
            p.store(table, "ksoftirqd", 1, CPU)
            p.jump("__do_softirq.begin")
            p.label("__do_softirq")
            p.store(table, "ksoftirqd", 0, CPU)
            p.label("__do_softirq.begin")
            p.load(RXQ, nic.by_cpu, "rxq", CPU)
            p.branch(RXQ, ">=", 0, "net_rx_action.queue")
            p.end()
            p.label("net_rx_action.queue")
            p.store(table, "pending", 0, CPU)
            p.now(N)
            p.store(table, "since", N, CPU)
            p.label("net_rx_action.pass")
            p.set(BUDGET, NETDEV_BUDGET)
        with p.symbol("mlx4_en_poll_rx_cq"):
            p.label("napi_poll")
            p.pop(nic.ring, FRAME, RXQ, empty="napi_complete")
            p.push(nic.descriptors, FRAME, RXQ)
            p.count("packets")
            self.moderation.polled()
            p.call(receive)
            p.loop(BUDGET, "napi_poll")
        with p.symbol("__do_softirq"):
            p.now(N)
            p.load(M, table, "since", CPU)
            p.alu(N, N, "-", M)
            p.branch(N, "<", MAX_SOFTIRQ_PS, "net_rx_action.pass")
            p.call("softirq_time")
            p.store(table, "pending", 1, CPU)
            p.raise_(nic.poll)  # wakeup_softirqd()
            p.end()
        with p.symbol("napi_complete"):
            p.label("napi_complete")
            p.store(nic.napi, "irq_on", 1, RXQ)
            p.qlen(nic.ring, N, RXQ)
            p.branch(N, "==", 0, "napi_complete.out")
            p.store(nic.napi, "irq_on", 0, RXQ)
            self.moderation.interrupt()
            p.label("napi_complete.out")
            p.call("softirq_time")
            p.end()
            p.label("softirq_time")
            p.now(N)
            p.load(M, table, "since", CPU)
            p.alu(N, N, "-", M)
            p.count("softirq_ps", N)
            p.load(M, table, "ksoftirqd", CPU)
            p.branch(M, "==", 0, "softirq_time.out")
            p.count("ksoftirqd_ps", N)
            p.label("softirq_time.out")
            p.ret()

    def enable(self) -> None:
        """Write: a thread enables bottom halves; what is pending runs now, before the thread goes on. Uses N."""
        p = self.host.program
        out = p.fresh("local_bh_enable")
        p.load(N, self.table, "pending", CPU)
        p.branch(N, "==", 0, out)
        p.store(self.table, "no_irq", 1, CPU)
        p.raise_(self.nic.interrupt)
        p.label(out)

    def write_ticks(self) -> None:
        """Write an agent a CPU: a tick matters only while the NIC's queue waits for ksoftirqd."""
        p, spec = self.host.program, self.host.spec
        p.label("tick")
        p.work(TICK_PS)
        p.load(N, self.table, "pending", INDEX)
        p.branch(N, "==", 0, "tick")
        p.store(self.table, "no_irq", 1, INDEX)
        p.set(OTHER, INDEX)
        p.raise_(self.nic.interrupt, 0, OTHER)
        p.jump("tick")
        spec.spawn_agents("tick", "tick", self.host.cpu.count, stagger=TICK_PS // 16)


def slices(length_ps: Number) -> dict[str, Number]:
    """Scheduler rules for two runnable tasks of a CPU, ksoftirqd and a program, that take turns of `length_ps`."""
    return {
        "slice_ps": length_ps, "ksoftirqd_after_ps": length_ps, "ksoftirqd_slice_ps": length_ps,
        "ksoftirqd_blocks_irq": 0,
    }
