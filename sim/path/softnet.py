"""Steering of many flows: RPS by hash or RFS by table to a CPU's ``softnet_data``, interrupts at the end of a poll.

Each CPU has an input queue under a lock and a pseudo device (``backlog``, a ``napi_struct``) that polls it. The
first packet on an idle CPU's queue puts that device on the sender's list; when the sender's softirq ends, each
CPU on the list gets one interprocessor interrupt.
"""

from __future__ import annotations

from typing import Protocol

from ..engine.tables import TICKET
from ..expression import Number, Value
from ..spec import Domain, Integer, Reference
from .host import Host
from .registers import BUDGET, CPU, FLOW, OTHER, SKB, SLOT, N

WEIGHT_P = 64  # packets of one poll of a backlog, then others get their turn


class Packets(Protocol):
    """The sk_buffs that are steered (`sim.path.linear.LinearSkbs`, `sim.path.request.RequestTcp`)."""

    skb: Domain

    def fetch(self) -> None: ...

    def free(self) -> None: ...


class Softnet:
    """Writes ``netif_receive_skb``, ``net_rps_action_and_irq_enable`` and the softirq ``process_backlog``.

    Parameters
    ----------
    rps, rfs
        1 if packets are spread by hash over all CPUs; 1 if they go to their reader's CPU (which wins).
    reader_cpus
        Readers sit on CPUs 0 to so many - 1 in turn: flow f's on f modulo this (what RFS has learnt).
    kind
        Kind of the queue's lock, TICKET or QUEUED.
    max_backlog
        Packets that a CPU's queue holds (``netdev_max_backlog``); without it none is dropped.
    then
        The subroutine that a packet goes to, in SKB with its flow in FLOW.
    """

    def __init__(
        self, host: Host, skbs: Packets, flows: Domain, *, rps: Value, rfs: Value, reader_cpus: Number,
        kind: Number = TICKET, max_backlog: Number | None = None, then: str = "ip_rcv",
    ) -> None:
        self.host, self.skbs, self.then = host, skbs, then
        self.drops = max_backlog is not None
        self.rps, self.rfs = rps, rfs
        self.hop: Value = rps.most(rfs)
        spec = host.spec
        # the lock and the queue lie on one line, the list of interrupts on one that only its CPU touches
        self.lines = spec.struct("softnet_data", host.cpu, {"input_pkt_queue": 0, "rps_ipi_list": 1}, 2)
        self.lock = spec.spinlocks("input_pkt_queue.lock", self.lines, "input_pkt_queue", kind)
        self.queue = spec.queue("input_pkt_queue", host.cpu, skbs.skb, 1 << 30 if max_backlog is None else max_backlog)
        self.taken = spec.queue("process_queue", host.cpu, skbs.skb)
        napi = spec.domain("backlog napi", host.cpu.count)
        self.napi = spec.table("backlog napi", napi, cpu=Reference(host.cpu, none=False), ipi=Integer(0, 1))
        self.idle = spec.queue("backlog idle", host.cpu, napi)
        self.ipi_list = spec.queue("rps_ipi_list", host.cpu, napi)
        self.scheduled = spec.queue("backlog scheduled", host.cpu, napi)
        self.flow = spec.table(
            "rps_flow", flows, by_hash=Reference(host.cpu, none=False), by_reader=Reference(host.cpu, none=False)
        )
        self.vector = spec.vector("process_backlog")
        spec.init(self.napi, "cpu", 0, mod=host.cpu.count)
        spec.init(self.flow, "by_hash", 0, mod=host.cpu.count, random=True)
        spec.init(self.flow, "by_reader", 0, mod=reader_cpus)
        spec.fill(self.idle, napi.count, div=1)
        self._enqueue()
        self._send_interrupts()
        self._process()

    def _enqueue(self) -> None:
        """The driver's packet goes to ``ip_rcv`` here or to another CPU. Uses N, OTHER and SLOT."""
        host, p = self.host, self.host.program
        with p.symbol("netif_receive_skb_internal"):
            p.label("netif_receive_skb")
            p.work(host.cost("netif_receive_ps"))
            with p.where(1 - self.hop, "no steering"):
                p.jump(self.then)
        with p.symbol("get_rps_cpu"):
            p.work(host.cost("rps_ps"))
            with p.where(self.rfs, "rfs"):
                p.load(OTHER, self.flow, "by_reader", FLOW)
            with p.where(1 - self.rfs, "rps"):
                p.load(OTHER, self.flow, "by_hash", FLOW)
        with p.symbol("enqueue_to_backlog"):
            host.lock(self.lock, OTHER)
            p.push(self.queue, SKB, OTHER, full="enqueue_to_backlog.drop" if self.drops else None)
            p.count("rps_packets")
            p.pop(self.idle, SLOT, OTHER, empty="enqueue_to_backlog.out")
            p.branch(OTHER, "==", CPU, "enqueue_to_backlog.here")
            p.push(self.ipi_list, SLOT, CPU)
            p.jump("enqueue_to_backlog.out")
            p.label("enqueue_to_backlog.here")
            p.push(self.scheduled, SLOT, CPU)
            p.raise_(self.vector)
            p.label("enqueue_to_backlog.out")
            p.unlock(self.lock, OTHER)
            p.ret()
            if self.drops:
                p.label("enqueue_to_backlog.drop")
                p.unlock(self.lock, OTHER)
                p.count("backlog_drops")
                self.skbs.free()
                p.ret()

    def _send_interrupts(self) -> None:
        host, p = self.host, self.host.program
        with p.symbol("net_rps_action_and_irq_enable"):
            p.label("net_rps_action_and_irq_enable")
            p.pop(self.ipi_list, SLOT, CPU, empty="net_rps_action.done")
            p.load(OTHER, self.napi, "cpu", SLOT)
            p.store(self.napi, "ipi", 1, SLOT)
            p.push(self.scheduled, SLOT, OTHER)
            p.work(host.cost("ipi_send_ps"))
            p.count("ipis")
            p.raise_(self.vector, host.cost("ipi_ps"), OTHER)
            p.jump("net_rps_action_and_irq_enable")
            p.label("net_rps_action.done")
            p.ret()

    def _process(self) -> None:
        host, p = self.host, self.host.program
        with p.symbol("smp_call_function_single_interrupt"):
            p.label("process_backlog")
            p.peek(self.scheduled, SLOT, CPU, empty="process_backlog.poll")
            p.load(N, self.napi, "ipi", SLOT)
            p.branch(N, "==", 0, "process_backlog.poll")
            p.store(self.napi, "ipi", 0, SLOT)
            p.work(host.cost("ipi_receive_ps"))
        with p.symbol("process_backlog"):
            p.label("process_backlog.poll")
            p.set(BUDGET, WEIGHT_P)
            p.jump("process_backlog.next")  # what the last poll took and left comes first
            p.label("process_backlog.more")
            host.lock(self.lock, CPU)
            p.splice(self.queue, self.taken, CPU, CPU)
            p.qlen(self.taken, N, CPU)
            p.branch(N, "!=", 0, "process_backlog.some")
            p.pop(self.scheduled, SLOT, CPU, empty="process_backlog.complete")
            p.push(self.idle, SLOT, CPU)
            p.label("process_backlog.complete")
            p.unlock(self.lock, CPU)
            p.end()
            p.label("process_backlog.some")
            p.unlock(self.lock, CPU)
            p.label("process_backlog.next")
            p.pop(self.taken, SKB, CPU, empty="process_backlog.more")
            self.skbs.fetch()
            p.call(self.then)
            p.loop(BUDGET, "process_backlog.next")
            p.raise_(self.vector)  # the weight is used up: others first, this one again
            p.end()
