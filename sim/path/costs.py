"""What the kernel's own instructions cost on the path, apart from lines, locks and copies: with its source.

These are compute times of functions on a server core of 2015 to 2021, at its full clock. A line that has to be
fetched, a lock, a page from the zone are charged by the machine, not here. Few of them are published alone;
an assumed one carries bounds, and the page on validation shows how much of each result rests on it.
"""

from __future__ import annotations

from typing import Final

from ..machine import Constant, Machine

_XDP25 = (
    "Jesper Dangaard Brouer, prototype-kernel blogposts/xdp25_eval_generic_xdp_tx.rst: mlx5 on i7-6700K, "
    "cost per packet by function"
)
_ASSUMED = "assumed: no public figure for this function alone was found"


def _cost(name: str, ps: int, source: str, low: int | None = None, high: int | None = None) -> Constant:
    return Constant(name, ps, "ps", source, low, high)


#: Constants by name, in picoseconds.
COSTS: Final = {
    c.name: c
    for c in (
        _cost("skb_alloc_ps", 24_000, f"{_XDP25}: kmem_cache_alloc 4.9, __build_skb 12.7, build_skb 6.7 ns"),
        _cost("skb_free_ps", 25_000, f"{_ASSUMED}; kmem_cache_free 4.6 ns and the walk over the fragments",
              12_000, 50_000),
        _cost("gro_merge_ps", 4_000, f"{_XDP25}: napi_gro_receive 2.2, dev_gro_receive 1.8 ns"),
        _cost("netif_receive_ps", 40_000, _ASSUMED, 20_000, 80_000),
        _cost("ip_rcv_ps", 50_000, _ASSUMED, 25_000, 100_000),
        _cost("route_lookup_ps", 70_000, _ASSUMED, 35_000, 140_000),
        _cost("socket_lookup_ps", 25_000, _ASSUMED, 12_000, 50_000),
        _cost("tcp_rcv_ps", 60_000, _ASSUMED, 30_000, 120_000),
        _cost("tcp_established_ps", 80_000, _ASSUMED, 40_000, 160_000),
        _cost("tcp_queue_ps", 20_000, _ASSUMED, 10_000, 40_000),
        _cost("tcp_ack_ps", 250_000, f"{_ASSUMED}: building and sending a pure ACK", 125_000, 500_000),
        _cost("prequeue_ps", 15_000, f"{_ASSUMED}: append to the prequeue, account its memory", 8_000, 30_000),
        _cost("coalesce_ps", 12_000, _ASSUMED, 6_000, 24_000),
        _cost("neighbour_gap_ps", 300_000, "chosen: another program charges memory or opens a connection so often",
              100_000, 1_000_000),
        _cost("taken_branch_ps", 400, f"{_ASSUMED}: one taken branch in the fast path, a cycle or two", 200, 1_000),
        _cost("poll_ps", 120_000, f"{_ASSUMED}: ask a socket whether it is readable, with the call", 60_000, 240_000),
        _cost("recvmsg_skb_ps", 40_000, _ASSUMED, 20_000, 80_000),
        _cost("sock_rfree_ps", 8_000, _ASSUMED, 4_000, 16_000),
        _cost("release_sock_ps", 15_000, _ASSUMED, 8_000, 30_000),
        _cost("rps_ps", 40_000, f"{_ASSUMED}: hash, map, enqueue_to_backlog", 20_000, 80_000),
        _cost("ipi_send_ps", 100_000, _ASSUMED, 50_000, 600_000),
        _cost("ipi_receive_ps", 500_000, f"{_ASSUMED}: entry by an interprocessor interrupt, half of a device's",
              250_000, 1_000_000),
        _cost("udp_compare_ps", 2_000, f"{_ASSUMED}: score one more socket of a hash chain", 1_000, 4_000),
        _cost("udp_rcv_ps", 50_000, _ASSUMED, 25_000, 100_000),
        _cost("udp_queue_ps", 20_000, _ASSUMED, 10_000, 40_000),
        _cost("netfilter_rule_ps", 15_000, f"{_ASSUMED}: one rule with an owner match, without a look-up",
              8_000, 30_000),
        _cost("fib_rule_ps", 10_000, f"{_ASSUMED}: one policy rule compared", 5_000, 20_000),
        _cost("forward_ps", 60_000, f"{_ASSUMED}: hop limit, size, header", 30_000, 120_000),
        _cost("transmit_ps", 150_000, f"{_ASSUMED}: neighbour, queueing discipline, driver, completion",
              75_000, 300_000),
        _cost("packet_fanout_ps", 10_000, f"{_ASSUMED}: packet_rcv_fanout without its lines", 5_000, 20_000),
        _cost("packet_has_room_ps", 6_000, f"{_ASSUMED}: the frame's address and status, without lock and lines",
              3_000, 15_000),
        _cost("packet_rollover_step_ps", 1_000, f"{_ASSUMED}: one round of the search, a few cycles", 500, 3_000),
        _cost("tpacket_rcv_ps", 40_000, f"{_ASSUMED}: filter, lengths, time stamp, the frame's header; no lock, no "
              "copy", 20_000, 80_000),
        _cost("memcpy_erms_ps", 14_000, f"{_ASSUMED}: start of a rep movsb, about 35 cycles", 8_000, 25_000),
        _cost("reader_frame_ps", 20_000, f"{_ASSUMED}: a round of the program's loop without its copy and lines, and a "
              "page walk: the ring's pages are as many as the second-level TLB holds", 5_000, 60_000),
        _cost("page_pool_ps", 5_400, "Jesper Dangaard Brouer, xdp-project page_pool07: recycle in softirq, 19 cycles"),
        _cost("page_pool_ring_ps", 15_100, "Jesper Dangaard Brouer, xdp-project page_pool07: by ptr_ring, 54 cycles"),
        _cost("slub_slow_ps", 20_000, f"{_ASSUMED}: ___slab_alloc or put_cpu_partial without lines and locks",
              10_000, 40_000),
        _cost("slab_grow_ps", 600_000, f"{_ASSUMED}: a new slab with its pages and objects", 300_000, 1_200_000),
        _cost("slab_object_ps", 8_000, f"{_ASSUMED}: SLAB takes an object from its slab or gives one back, without "
              "lines", 4_000, 20_000),
        _cost("slab_pointer_ps", 1_500, f"{_ASSUMED}: one of many pointers copied between arrays; 12 ns for a line of "
              "eight, since their transfers overlap", 250, 6_000),
        _cost("epoll_ps", 60_000, f"{_ASSUMED}: one event, queued by softirq or taken by epoll_wait", 30_000, 120_000),
        _cost("transaction_ps", 5_000_000, f"{_ASSUMED}: what a request and its reply cost the reader's CPU beyond the "
              "calls and structures of the model; fitted below", 1_000_000, 15_000_000),
        _cost("split_buffer_ps", 0, f"{_ASSUMED}; fitted below", 0, 60_000),
        _cost("datagram_fragment_ps", 20_000, f"{_ASSUMED}; fitted below", 0, 60_000),
    )
}

#: How many times as long as on a server's core these functions take on another machine's.
CORE_FACTORS: Final = {
    "arm64-phone": Constant(
        "core_factor", 10, "times",
        "assumed: between 2, which is what single instructions cost more on a Cortex-A72 (machine file), and 30, "
        "which is a packet's way to a drop on a Cortex-A53 at 1 GHz (xdp-project areas/arm64, 3.6 to 6.6 us) "
        "against 0.12 us on i7-6700K",
        3, 25,
    ),
}
_BY_MACHINE: Final = ("ipi_send_ps", "ipi_receive_ps")  # times of interrupts, of which the machine has its own


def on_machine(machine: Machine) -> dict[str, int]:
    """The constants of this module as they are on a machine whose core is not a server's; none if it is one."""
    if machine.name not in CORE_FACTORS:
        return {}
    factor = CORE_FACTORS[machine.name].value
    return {c.name: c.value * factor for c in COSTS.values() if c.name not in _BY_MACHINE}
