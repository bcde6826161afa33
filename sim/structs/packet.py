"""`struct packet_sock` around the pressure mark of May 2015 (4.1 before, 4.2 after).

Only relations are relied on: which fields share a line. The receive-queue lock lies in the head of `struct
sock`, on line 2, and the fields that tpacket_rcv and the roll-over probe read lie far behind it. The struct
sock in front is that of 4.4, since no listing of 4.1 or 4.2 was found, with timer statistics off; another
configuration moves everything behind it by the same amount. Where the tail falls on its lines is therefore
assumed.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from sim.layout import Layout, Member

_SOCK_BYTES: Final = 704  # the head's members below and the rest of struct sock, rounded up to 64
_RING_TAIL: Final = 160  # the block queue of TPACKET_V3, whose timer depends on the configuration


def _ring(name: str) -> list[Member]:
    return [
        Member(f"{name}.pg_vec", 8, 8, "pages of the ring"),
        Member(f"{name}.head", 4, 4, "next frame to fill; read by each probe, changed under the lock"),
        *(Member(f"{name}.{field}", 4) for field in ("frames_per_block", "frame_size", "frame_max")),
        *(Member(f"{name}.{field}", 4) for field in ("pg_vec_order", "pg_vec_pages", "pg_vec_len")),
        Member(f"{name}.pending_refcnt", 8), Member(f"{name}.prb_bdqc", _RING_TAIL, 8),
    ]


@cache
def packet_sock(*, pressure: bool) -> Layout:
    """The packet socket without or with the field that patch 4 of the roll-over series adds.

    The new field takes four bytes of a hole behind `num`: the fields behind it keep their offsets.
    """
    members = [
        Member("__sk_common", 136, 8), Member("sk_lock", 32, 8),
        Member("sk_receive_queue", 16, 8), Member("sk_receive_queue.qlen", 4),
        Member("sk_receive_queue.lock", 4, 4, "taken for each probe, each packet and each poll"),
        Member("sk_backlog", 24, 8), Member("sk_rest", _SOCK_BYTES - 216, 8),
        Member("fanout", 8, 8, "the group"),
        Member("stats", 12, 4, "packets and drops, changed under the lock"),
        *_ring("rx_ring"), *_ring("tx_ring"),
        Member("copy_thresh", 4), Member("bind_lock", 4), Member("pg_vec_lock", 40, 8),
        Member("running", 4, 4, "bits: running, auxdata, origdev, has_vnet_hdr"),
        *([Member("pressure", 4, 4, "set while the socket has no room; read by every other socket's probe")]
          if pressure else []),
        Member("ifindex", 4), Member("num", 2), Member("rollover", 8, 8, "where the last roll-over ended"),
        Member("mclist", 8), Member("mapped", 4),
        Member("tp_version", 4, 4, "ring version, read by each packet"),
        *(Member(name, 4) for name in ("tp_hdrlen", "tp_reserve", "tp_loss", "tp_tstamp")),
        Member("cached_dev", 8), Member("xmit", 8),
        Member("prot_hook", 64, 64, "how the device reaches the socket"),
    ]
    return Layout.pack(
        "packet-sock-4.2" if pressure else "packet-sock-4.1",
        members,
        source="packet roll-over series of 12 May 2015, patch 4 (diff of net/packet/internal.h); other "
        "members as in 4.4 (github.com/DepSurf/depsurf.github.io at 224a233c222a, Struct/p/packet_sock.md)",
        status="assumed",
        align=64,
    )
