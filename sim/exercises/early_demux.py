"""UDPv6's early demux as the student writes it, among connected and unconnected sockets.

The scenario is udpv6-early-demux with two additions. A socket that is not connected may be bound to the host's
address, so that it stands in the table of address and port although it has no remote end. And each packet that
was given a socket by early demux is looked at when UDP gets it: was it the right one?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ..knob import Knob
from ..path.registers import FLOW, SKB, K, M, N
from ..path.udp import HASH_PERCENT, SOCK
from ..program import Program
from ..result import Metric, Role
from ..scenarios.udpv6_early_demux import UdpV6EarlyDemux
from ..spec import Reference, Spec
from .assembly import Cell, Field, Words
from .holes import Hole, between, fill, named, put, vocabulary

GIVEN: Final = 2  # instructions of the function that stay: it counts its calls, and takes the time of a call
CONNECTED: Final = {"connected": 1, "sources": 8}
ANY: Final = {"connected": 0, "sources": 8}
BOUND: Final = {**ANY, "bound_to": "address"}
FORWARD: Final = {"traffic": "forward"}


class OwnEarlyDemux(UdpV6EarlyDemux):
    """The receiver of udpv6-early-demux with a hole where early demux looks for the socket."""

    title = "Early demux as you write it, among connected and unconnected sockets"
    verified = False
    knobs = (
        *(replace(k, effect="inert", why="the look-up of early demux is yours") if k.name == "match_any" else k
          for k in UdpV6EarlyDemux.knobs),
        Knob("bound_to", "any", "What an unconnected socket is bound to: any address, or this host's. One that is "
             "bound to the address stands in the table of address and port.", choices=("any", "address")),
    )
    metrics = (  # type: ignore[assignment]  # mypy takes the base's for a tuple of that length
        *UdpV6EarlyDemux.metrics,
        Metric("wrong_socket_share", "%", ("stat:wrong_sockets",), ("stat:ip_packets",), 100.0,
               "packets that early demux gave another flow's socket"),
        Metric("holds_per_put", "references", ("stat:socket_holds",), ("stat:socket_puts",),
               doc="references taken for each one dropped: 1 if none is lost"),
    )

    def compose(self, spec: Spec) -> Sequence[Role]:
        """As the scenario does, with the look-up of early demux taken out."""
        roles = super().compose(spec)
        knob = spec.values.knob
        socket, flow, one = (named(spec.domains, name) for name in ("socket", "flow", "one"))
        connected, local = knob("connected"), 1 - knob("traffic")
        chain = spec.table("udp_table", one, first=Reference(socket))
        peer = spec.table("udp6_sock", socket, peer=Reference(flow))
        there = local * connected.choose(socket.count, knob("bound_to"))
        spec.init(chain, "first", there - 1)
        spec.init(peer, "peer", connected - 1, mod=socket.count, mul=connected)
        spec.program = put(spec.program, between("udp_v6_early_demux", "skb_orphan", GIVEN)(spec.program), _frame)
        known = spec.program.address("udpv6_rcv.known")
        spec.program = put(spec.program, (known, known), _look)
        spec.program.labels["udpv6_rcv.known"] = known  # what goes there comes by the look
        return roles


def _frame(p: Program) -> None:
    """What stays around the hole: no socket is found until the routine finds one."""
    with p.symbol("udp_v6_early_demux"):
        p.set(SOCK, -1)
        p.label("early_demux.end")
        p.branch(SOCK, "<", 0, "early_demux.none")
        p.count("demux_found")
        p.label("early_demux.none")
        p.ret()


def _look(p: Program) -> None:
    """When UDP gets a packet with a socket: is it the flow's?"""
    by_flow = named(p.spec.tables, "udp flow")
    p.load(N, by_flow, "sock", FLOW)
    p.branch(N, "==", SOCK, "early_demux.right")
    p.count("wrong_sockets")
    p.label("early_demux.right")


def _words(spec: Spec) -> Words:
    struct, refs, table = (named(spec.lines, n) for n in ("udp6_sock", "udp6_sock.sk_refcnt", "udp_table"))
    state, chain, sock = (named(spec.tables, n) for n in ("skb state", "udp_table", "udp6_sock"))
    return Words(
        registers={"skb": SKB, "flow": FLOW, "sk": SOCK, "n": N, "m": M, "k": K},
        fields={
            "udp_table.hash": Field(table, "hash"), "udp_table.hash2": Field(table, "hash2"),
            "udp6_sock.skc_portpair": Field(struct, "skc_portpair"),
            "udp6_sock.skc_v6_rcv_saddr": Field(struct, "skc_v6_rcv_saddr"),
            "udp6_sock.sk_refcnt": Field(refs, "sk_refcnt", "socket_holds"),
        },
        cells={
            "udp_table.first": Cell(chain, "first", "udp_table.hash2"),
            "udp6_sock.peer": Cell(sock, "peer", "udp6_sock.skc_portpair"),
            "skb.sock": Cell(state, "sock"), "skb.held": Cell(state, "held"),
        },
        calls={"__udp6_lib_lookup": "__udp6_lib_lookup"},
        exits={"out": "early_demux.end"},
        costs={"hash": spec.values.knob("lookup_ns") * 1000 * HASH_PERCENT // 100,
               "compare": spec.constants["udp_compare_ps"]},
    )


HOLES: Final = (
    Hole("early_demux", "udp_v6_early_demux", between("udp_v6_early_demux", "early_demux.end", GIVEN + 1), _words),
)


def with_early_demux(text: str | Sequence[str]) -> OwnEarlyDemux:
    """udpv6-early-demux with a text's routine as its early demux; ``udp_early_demux=0`` leaves it out.

    The routine finds the packet in `skb`, its remote end in `flow` and -1 in `sk`. It leaves in `sk` the socket
    that it gives the packet, or -1; ``out`` is behind its end. Raises RoutineError.
    """
    scenario = OwnEarlyDemux()
    fill(scenario, HOLES, text, (CONNECTED, ANY, BOUND, FORWARD))
    scenario.verified = True
    return scenario


def words() -> str:
    """All operations, and what the routine may name: to be printed."""
    return vocabulary(OwnEarlyDemux(), HOLES)
