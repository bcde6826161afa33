"""A scenario of one's own: a flood of small datagrams, taken in by several CPUs, into one socket with one reader."""

from __future__ import annotations

from collections.abc import Sequence

from sim import machine
from sim.knob import Knob
from sim.machine import Machine
from sim.path.datagrams import DatagramReaders
from sim.path.forward import Routes6
from sim.path.host import Host
from sim.path.ip6 import Ip6
from sim.path.linear import LinearSkbs
from sim.path.rss import RssNic
from sim.path.softnet import Softnet
from sim.path.sources import PoissonSource
from sim.path.udp import UdpSockets
from sim.result import Metric, Role
from sim.scenarios import Scenario
from sim.spec import Spec


class UdpFlood(Scenario):
    """Who pays when more arrives than the reader can take."""

    name, title, varies = "udp-flood", "A flood into one socket", "the gaps between packets"
    warm_ps, quick_ps, until_ps = 1_000_000_000, 2_000_000_000, 4_000_000_000
    patches = ()
    knobs = (
        Knob("cpus", 4, "CPUs that take in packets.", 1, 15, 1, "CPUs"),
        Knob("offered_kpps", 4000, "Packets that arrive.", 10, 20000, 10, "kpps"),
    )
    metrics = (
        Metric("offered", "Mpps", ("stat:offered",), scale=1e6),
        Metric("read", "Mpps", ("stat:delivered",), scale=1e6, doc="datagrams that the program got"),
        Metric("dropped", "Mpps", ("stat:rcvbuf_drops",), scale=1e6, doc="datagrams that found the socket full"),
    )

    def default_machine(self) -> Machine:
        return machine.load("neoverse-n1").with_(cores_per_socket=16)

    def compose(self, spec: Spec) -> Sequence[Role]:
        host = Host(spec, self.machine, {"slice_ps": 3_000_000_000})
        cpus, nothing = host.knob("cpus"), host.value(0)
        flows = spec.domain("flow", 64)
        skbs = LinearSkbs(host, flows, 4096)
        nic = RssNic(host, flows, queues=cpus, ring_frames=256, coalesce_ps=8_000_000)
        udp = UdpSockets(host, skbs, flows, connected=0, lookup_ps=25_000, rcvbuf=212_992, truesize=768)
        nic.write_poll(100_000, "alloc_skb", "net_rps_action_and_irq_enable")
        skbs.write_alloc("netif_receive_skb")
        Softnet(host, skbs, flows, rps=nothing, rfs=nothing, reader_cpus=1)
        routes = Routes6(host, skbs)
        Ip6(host, skbs, udp, routes, early_demux=0)
        routes.write()
        udp.write()
        nic.write_wire()
        PoissonSource(host, nic, cpus * 1_000_000_000 // host.knob("offered_kpps"))
        DatagramReaders(host, udp, cpu=15, datagram_bytes=64)
        return [Role("softirq", host.value(0).row), Role("reader", host.value(15).row)]
