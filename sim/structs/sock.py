"""`struct sock` of late 2021, with and without five patches of the 5.17 series.

The members are those of include/net/sock.h between 5.16-rc1 and the series, so `sk_reserved_mem` is there
and the receive and transmit caches of the 2019 patches are gone. Their order is that of
5.15 and 5.19 as DepSurf lists them, with the diffs of the series taken back; the line numbers of those diffs
fit the result. Offsets follow by C's rule for a 64-bit kernel with IPv6, network namespaces, busy
polling, xfrm, BPF, security modules, memory and network cgroups, and no lock debugging. Three things
confirm them: `sk_refcnt` falls on offset 128, as a comment in the header demands; the layout that the
message of patch 20 prints comes out; and the early-demux fields straddle two lines before it, as that
message says.

What is derived shows something that the messages do not say: it is the list head of patch 17 (8 bytes) that
pushes `sk_rx_dst_ifindex` over the boundary. Before patch 17 the three fields lie on one line, though not
on the line of `sk_refcnt`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from sim.layout import Layout, Member

_SOURCE: Final = (
    "5.17 series of 15 November 2021: diffs of include/net/sock.h in patches 5, 6, 8, 17 and 20, and the "
    "offsets 0x88 to 0xbf that patch 20 prints; other members as in 5.15 and 5.19 "
    "(github.com/DepSurf/depsurf.github.io at 224a233c222a, Struct/s/sock.md)"
)


def _words(size: int, *names: str) -> list[Member]:
    return [Member(name, size) for name in names]


_COMMON: Final = [
    Member("skc_addrpair", 8, 8, "addresses, compared in the look-up"), Member("skc_hash", 4),
    Member("skc_portpair", 4, 4, "ports, compared in the look-up"), Member("skc_family", 2),
    Member("skc_state", 1), Member("skc_reuse", 1), Member("skc_bound_dev_if", 4),
    Member("skc_bind_node", 16, 8), *_words(8, "skc_prot", "skc_net"),
    Member("skc_v6_daddr", 16, 4, "IPv6 address of the peer"),
    Member("skc_v6_rcv_saddr", 16, 4, "own IPv6 address, on a line that is hot anyway"),
    *_words(8, "skc_cookie", "skc_flags"), Member("skc_node", 16, 8, "link in the look-up table"),
    *_words(2, "skc_tx_queue_mapping", "skc_rx_queue_mapping"), Member("skc_incoming_cpu", 4),
    Member("sk_refcnt", 4, 4, "reference count"), Member("skc_rxhash", 4),
]
_DEMUX: Final = [
    Member("sk_rx_dst", 8, 8, "input route, read in early demux"),
    Member("sk_rx_dst_ifindex", 4, 4, "its device, read in early demux"),
    Member("sk_rx_dst_cookie", 4, 4, "its generation, read in early demux"),
]
_RECEIVE: Final = [
    Member("sk_lock.slock", 4, 4, "spinlock of the socket"),
    Member("sk_lock.owned", 4, 4, "set while a thread owns the socket"),
    Member("sk_lock.wq", 24, 8), *_words(4, "sk_drops", "sk_rcvlowat"), Member("sk_error_queue", 24, 8),
    Member("sk_receive_queue", 16, 8, "packets that wait for the reader"),
    *_words(4, "sk_receive_queue.qlen", "sk_receive_queue.lock"),
    Member("sk_rmem_alloc", 4, 8, "memory of queued packets, atomic"), Member("sk_backlog.len", 4),
    Member("sk_backlog.head", 8, 8, "packets that met an owned socket"), Member("sk_backlog.tail", 8),
]
_DEFER: Final = [Member("defer_list", 8, 8, "packets to be freed by softirq (patch 17)")]
_POLL: Final = [
    *_words(4, "sk_forward_alloc", "sk_reserved_mem", "sk_ll_usec", "sk_napi_id", "sk_rcvbuf"),
    *_words(8, "sk_filter", "sk_wq"), Member("sk_policy", 16, 8),
]
_TRANSMIT: Final = [
    Member("sk_dst_cache", 8), *_words(4, "sk_omem_alloc", "sk_sndbuf", "sk_wmem_queued", "sk_wmem_alloc"),
    *_words(8, "sk_tsq_flags", "tcp_rtx_queue"), Member("sk_write_queue", 24, 8),
    *_words(4, "sk_peek_off", "sk_write_pending", "sk_dst_pending_confirm", "sk_pacing_status"),
    Member("sk_sndtimeo", 8), Member("sk_timer", 40, 8), *_words(4, "sk_priority", "sk_mark"),
    *_words(8, "sk_pacing_rate", "sk_max_pacing_rate"), Member("sk_frag", 16, 8),
    Member("sk_route_caps", 8, 8, "what the device can do"),
]
_MISCELLANY: Final = [
    *_words(4, "sk_gso_type", "sk_gso_max_size", "sk_allocation", "sk_txhash"),
    *_words(1, "sk_userlocks", "sk_pacing_shift"), *_words(2, "sk_type", "sk_protocol", "sk_gso_max_segs"),
    *_words(8, "sk_lingertime", "sk_prot_creator"), Member("sk_callback_lock", 8, 4),
    *_words(4, "sk_err", "sk_err_soft", "sk_ack_backlog", "sk_max_ack_backlog", "sk_uid"),
    Member("sk_prefer_busy_poll", 1), Member("sk_busy_poll_budget", 2), Member("sk_peer_lock", 4),
]
_BIND: Final = [Member("sk_bind_phc", 4, 4, "clock for time stamps")]
_PEER: Final = [
    *_words(8, "sk_peer_pid", "sk_peer_cred"), Member("sk_rcvtimeo", 8, 8, "how long a reader waits"),
    Member("sk_stamp", 8), Member("sk_tsflags", 2),
]
_END: Final = [
    Member("sk_shutdown", 1), *_words(4, "sk_tskey", "sk_zckey"), *_words(1, "sk_clockid", "sk_txtime_flags"),
    *_words(8, "sk_socket", "sk_user_data", "sk_security"), Member("sk_cgrp_data", 16, 8),
    *_words(8, "sk_memcg", "sk_state_change"), Member("sk_data_ready", 8, 8, "called to wake the reader"),
    *_words(8, "sk_write_space", "sk_error_report"),
    Member("sk_backlog_rcv", 8, 8, "called for each packet of the backlog"),
    *_words(8, "sk_validate_xmit_skb", "sk_destruct", "sk_reuseport_cb", "sk_bpf_storage"),
    Member("sk_rcu", 16, 8),
]


@cache
def sock(
    *,
    drop_forced_caps: bool = False,
    drop_nocaps: bool = False,
    fill_sock_hole: bool = False,
    defer_free: bool = False,
    demux_fields_close: bool = False,
) -> Layout:
    """`struct sock` with any of patches 5, 6, 8, 17 and 20, in this order of the arguments, applied."""
    keys = {
        "drop_forced_caps": drop_forced_caps, "drop_nocaps": drop_nocaps, "fill_sock_hole": fill_sock_hole,
        "defer_free": defer_free, "demux_fields_close": demux_fields_close,
    }
    applied = [key for key, on in keys.items() if on]
    members = [
        *_COMMON,
        *(_DEMUX if demux_fields_close else []),
        *_RECEIVE,
        *(_DEFER if defer_free else []),
        *_POLL,
        *([] if demux_fields_close else _DEMUX),
        *_TRANSMIT,
        *([] if drop_nocaps else [Member("sk_route_nocaps", 8)]),
        *([] if drop_forced_caps else [Member("sk_route_forced_caps", 8)]),
        *_MISCELLANY,
        *(_BIND if fill_sock_hole else []),
        *_PEER,
        *([] if fill_sock_hole else _BIND),
        *_END,
    ]
    return Layout.pack("-".join(["sock-5.16", *applied]), members, source=_SOURCE)
