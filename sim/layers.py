"""The layer of the receive path that a kernel symbol belongs to, for colours and legends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

#: Layers in the order in which a packet meets them, with the beginnings of their symbols' names.
LAYERS: Final = {
    "driver and NAPI": (
        "driver_",
        "asm_",
        "handle_irq",
        "__do_softirq",
        "net_rx_action",
        "napi_poll",
        "napi_complete",
        "mlx",
        "page_pool",
    ),
    "GRO": ("dev_gro", "skb_gro", "napi_gro", "napi_get_frags", "gro_", "inet_gro", "tcp_gro"),
    "steering": (
        "get_rps",
        "enqueue_to_backlog",
        "net_rps",
        "smp_call_function",
        "process_backlog",
        "netif_receive",
        "__netif",
    ),
    "IP": ("ip_", "ip6_", "ip6t_", "ipv4_", "ipv6_", "fib", "dst_", "qtaguid_", "dev_queue_xmit"),
    "TCP and socket": (
        "tcp_",
        "__sk_",
        "skb_try_coalesce",
        "__tcp",
        "__inet",
        "inet",
        "udp",
        "__udp",
        "__skb_recv",
        "packet_",
        "tpacket_",
        "fanout_",
        "sock_",
        "sk_",
        "lock_sock",
        "release_sock",
        "__release_sock",
    ),
    "memory": (
        "rmqueue",
        "put_page",
        "free_",
        "__alloc_skb",
        "__kfree_skb",
        "kfree",
        "skb_release",
        "skb_attempt",
        "skb_defer",
        "alloc_",
        "__alloc_pages",
        "__free_pages",
        "napi_alloc",
        "page_frag",
        "__page_frag",
        "kmem_cache",
        "___slab",
        "__slab",
        "new_slab",
        "get_partial",
        "put_cpu_partial",
        "unfreeze_partials",
        "cache_",
        "__cache",
        "__drain_alien",
    ),
    "copy to user": ("copy_", "__copy", "__skb_datagram", "skb_copy", "_copy", "memcpy", "reader"),
    "locks and scheduler": (
        "_raw_spin",
        "native_queued",
        "__schedule",
        "schedule",
        "try_to_wake",
        "entry_",
        "system_call",
        "sys_",
        "ep_",
        "do_epoll",
        "__skb_wait",
        "hrtimer_",
    ),
}
OTHER: Final = "other"
_LONGER_FIRST: Final = sorted(
    ((beginning, name) for name, beginnings in LAYERS.items() for beginning in beginnings),
    key=lambda pair: -len(pair[0]),
)
#: Symbols whose names begin as another layer's do.
_EXCEPTIONS: Final = {
    "sk_defer_free_flush": "memory",
    "sk_wait_data": "locks and scheduler",
    "tcp_eat_recv_skb": "memory",
}


def present(symbols: Iterable[str]) -> list[str]:
    """The layers of some symbols, in the order of a packet's way."""
    found = {layer(symbol) for symbol in symbols}
    return [name for name in (*LAYERS, OTHER) if name in found]


def layer(symbol: str) -> str:
    """A layer's name; symbols of no known layer belong to ``other``."""
    if symbol in _EXCEPTIONS:
        return _EXCEPTIONS[symbol]
    return next((name for beginning, name in _LONGER_FIRST if symbol.startswith(beginning)), OTHER)
