"""A NIC with several receive queues: RSS spreads flows over them, each interrupts its own CPU.

Packets of small messages and datagrams are not merged by GRO (a pushed segment that finds no held packet is
passed up at once; UDP is not merged by default), so each packet goes up alone. Senders are agents; they call
``wire`` with the flow in FLOW.
"""

from __future__ import annotations

from collections.abc import Callable

from ..expression import Number, Value
from ..spec import Domain, Integer, Reference
from .host import Host
from .registers import BUDGET, CPU, FLOW, FRAME, OTHER, RXQ, N

NAPI_POLL_WEIGHT = 64  # packets of one poll, 3.17 to 6.19; then others get their turn


class RssNic:
    """Receive queues with rings of frames; each frame names its flow.

    Parameters
    ----------
    flows
        Domain of the flows.
    queues
        Number of receive queues; queue q interrupts CPU q * cpu_step.
    ring_frames
        Descriptors of one queue; a packet that finds none is dropped and counted (``nic_drops``).
    coalesce_ps
        How long an interrupt waits after a packet.
    spread
        How RSS assigns flows: ``even`` (flow i to queue i modulo queues) or ``hashed`` (by the seed).
    """

    def __init__(
        self, host: Host, flows: Domain, *, queues: Number, ring_frames: Number, coalesce_ps: Number,
        cpu_step: Number = 1, spread: str = "even",
    ) -> None:
        self.host, self.flows = host, flows
        self.coalesce_ps: Value = host.value(coalesce_ps)
        spec = host.spec
        self.rxq = spec.domain("rxq", queues)
        self.frame = spec.domain("frame", host.value(queues) * ring_frames)
        self.frames = spec.table("frame", self.frame, flow=Reference(flows, none=False))
        self.descriptors = spec.queue("free descriptors", self.rxq, self.frame)
        self.ring = spec.queue("ring", self.rxq, self.frame)
        self.napi = spec.table("napi", self.rxq, irq_on=Integer(0, 1), cpu=Reference(host.cpu, none=False))
        self.by_cpu = spec.table("cpu", host.cpu, rxq=Reference(self.rxq))
        self.rss = spec.table("rss", flows, rxq=Reference(self.rxq, none=False))
        spec.init(self.napi, "irq_on", 1)
        spec.init(self.napi, "cpu", 0, mod=queues, mul=cpu_step)
        # CPU q * step has queue q; the others have none, and nothing ever raises their interrupt
        spec.init(self.by_cpu, "rxq", 0, div=cpu_step, mod=queues)
        spec.init(self.rss, "rxq", 0, mod=queues, random=spread == "hashed")
        spec.fill(self.descriptors, self.frame.count, div=ring_frames)
        self.interrupt = spec.vector("nic_interrupt")
        self.poll = spec.vector("net_rx_action")

    def write_poll(
        self, packet_ps: Number, receive: str, done: str | None = None, symbol: str = "mlx4_en_poll_rx_cq"
    ) -> None:
        """Write interrupt handler and poll loop.

        Each packet costs the driver `packet_ps` and goes to the subroutine `receive` with its flow in FLOW; the
        subroutine must keep RXQ and BUDGET. `done` is a subroutine called when the softirq ends.
        """
        host, p = self.host, self.host.program
        with p.symbol("asm_common_interrupt"):
            p.label("nic_interrupt")
            p.work(host.cost("irq_ps"))
            p.count("interrupts")
        with p.symbol(symbol):
            p.label("net_rx_action")
            p.load(RXQ, self.by_cpu, "rxq", CPU)
            p.branch(RXQ, ">=", 0, "net_rx_action.queue")
            p.end()
            p.label("net_rx_action.queue")
            p.set(BUDGET, NAPI_POLL_WEIGHT)
            p.label("napi_poll")
            p.pop(self.ring, FRAME, RXQ, empty="napi_complete_done")
            p.load(FLOW, self.frames, "flow", FRAME)
            p.push(self.descriptors, FRAME, RXQ)
            p.work(packet_ps)
            p.count("packets")
            p.call(receive)
            p.loop(BUDGET, "napi_poll")
            p.raise_(self.poll)
            p.jump("net_rx_action.end")
            p.label("napi_complete_done")
            p.store(self.napi, "irq_on", 1, RXQ)
            p.qlen(self.ring, N, RXQ)
            p.branch(N, "==", 0, "net_rx_action.end")
            p.store(self.napi, "irq_on", 0, RXQ)
            p.raise_(self.interrupt, self.coalesce_ps)
            p.label("net_rx_action.end")
            if done is not None:
                p.call(done)
            p.end()

    def write_wire(self, interrupt: Callable[[], None] | None = None) -> None:
        """Write the agents' subroutine ``wire``: a packet of FLOW arrives now. Uses FRAME, RXQ, N, OTHER.

        `interrupt` writes what a queue (in RXQ) does to interrupt its CPU; by default that waits for `coalesce_ps`.
        """
        p = self.host.program
        p.label("wire")
        p.load(RXQ, self.rss, "rxq", FLOW)
        p.count("offered")
        p.pop(self.descriptors, FRAME, RXQ, empty="wire.drop")
        p.store(self.frames, "flow", FLOW, FRAME)
        p.push(self.ring, FRAME, RXQ)
        p.load(N, self.napi, "irq_on", RXQ)
        p.branch(N, "==", 0, "wire.out")
        p.store(self.napi, "irq_on", 0, RXQ)
        if interrupt is not None:
            interrupt()
        else:
            p.load(OTHER, self.napi, "cpu", RXQ)
            p.raise_(self.interrupt, self.coalesce_ps, OTHER)
        p.label("wire.out")
        p.ret()
        p.label("wire.drop")
        p.count("nic_drops")
        p.ret()
