"""Receive packet steering: the hop from the NIC's CPU to another CPU's backlog (RPS, or RFS to the reader's CPU).

The packet is queued on the target's ``softnet_data``; interprocessor interrupts are sent when the bottom half
ends, one for each target whose backlog was not already scheduled.
"""

from __future__ import annotations

from ..expression import Value
from ..spec import Integer
from .host import Host
from .registers import CPU, OTHER, SKB, N
from .skbs import Skbs


def rps_target(host: Host, mask: Value, cpus: int) -> Value:
    """The CPU that one flow's hash picks from a mask: the middle one of the CPUs in it (0 for an empty mask).

    The kernel scales the hash to the list of CPUs in the mask. The model has one flow, so its hash is fixed in
    the middle of its range: the pick does not vary with the seed.
    """
    bits = [mask // (1 << i) % 2 for i in range(cpus)]
    count = host.value(0)
    for bit in bits:
        count = count + bit
    wanted = count // 2
    target = host.value(0)
    seen = host.value(0)
    for i, bit in enumerate(bits):
        target = target + bit * seen.is_(wanted) * i
        seen = seen + bit
    return target


class Steering:
    """Writes ``netif_receive_skb`` and the softirq ``process_backlog``; packets go on to ``ip6_rcv``.

    `hop` is 1 if packets change CPU by RPS or RFS, `target` the CPU they go to.
    """

    def __init__(self, host: Host, skbs: Skbs, hop: Value, target: Value) -> None:
        self.host, self.skbs = host, skbs
        spec, p = host.spec, host.program
        lines = spec.struct("softnet_data", host.cpu, {"input_pkt_queue": 0}, 1)
        lock = spec.spinlocks("input_pkt_queue.lock", lines, "input_pkt_queue")
        state = spec.table("softnet_data", host.cpu, scheduled=Integer(0, 1), ipi=Integer(0, 1))
        queue = spec.queue("input_pkt_queue", host.cpu, skbs.skb)
        taken = spec.queue("process_queue", host.cpu, skbs.skb)
        backlog = spec.vector("process_backlog")
        off = 1 - hop
        with p.symbol("netif_receive_skb_internal"):
            p.label("netif_receive_skb")
            p.work(host.cost("netif_receive_ps"))
            with p.where(off, "no rps"):
                p.jump("ip6_rcv")
        with p.symbol("get_rps_cpu"):
            p.work(host.cost("rps_ps"))
            p.set(OTHER, target)
        with p.symbol("enqueue_to_backlog"):
            host.lock(lock, OTHER)
            p.push(queue, SKB, OTHER)
            p.count("rps_packets")
            p.load(N, state, "scheduled", OTHER)
            p.branch(N, "!=", 0, "enqueue_to_backlog.out")
            p.store(state, "scheduled", 1, OTHER)
            p.store(state, "ipi", 1, CPU)
            p.label("enqueue_to_backlog.out")
            p.unlock(lock, OTHER)
            p.ret()
        with p.symbol("net_rps_action_and_irq_enable"):
            p.label("net_rps_action_and_irq_enable")
            with p.where(hop, "rps"):
                p.load(N, state, "ipi", CPU)
                p.branch(N, "==", 0, "net_rps_action.none")
                p.store(state, "ipi", 0, CPU)
                p.work(host.cost("ipi_send_ps"))
                p.count("ipis")
                p.set(OTHER, target)
                p.raise_(backlog, host.cost("ipi_ps"), OTHER)
                p.label("net_rps_action.none")
            p.ret()
        with p.symbol("process_backlog"):
            p.label("process_backlog")
            host.lock(lock, CPU)
            p.splice(queue, taken, CPU, CPU)
            p.qlen(taken, N, CPU)
            p.branch(N, "!=", 0, "process_backlog.some")
            p.store(state, "scheduled", 0, CPU)
            p.unlock(lock, CPU)
            p.end()
            p.label("process_backlog.some")
            p.unlock(lock, CPU)
            p.label("process_backlog.next")
            p.pop(taken, SKB, CPU, empty="process_backlog.more")
            p.read(skbs.struct, "next", SKB)
            p.read(skbs.struct, "data", SKB)
            p.call("ip6_rcv")
            p.jump("process_backlog.next")
            p.label("process_backlog.more")
            p.raise_(backlog)
            p.end()
