"""The two global counters of TCP memory and TCP sockets, before and after patch 10 of the 5.17 series.

`tcp_memory_allocated` changes with every few packets that any socket takes or frees; the fields of
`tcp_sockets_allocated` that a CPU reads, when a connection comes or goes, change rarely. The linker decides
where globals lie. The message says that the two often shared a line, and the layout before assumes that
they do; after the patch each begins a line, which is sourced.
"""

from __future__ import annotations

from typing import Final

from sim.layout import Layout, Member

_ALLOCATED: Final = "pages that TCP holds, changed atomically by every CPU"
_SOCKETS: Final = [
    Member("tcp_sockets_allocated.lock", 4), Member("tcp_sockets_allocated.count", 8),
    Member("tcp_sockets_allocated.list", 16, 8),
    Member("tcp_sockets_allocated.counters", 8, 8, "where the CPU's own counter lies, read for every socket"),
]

TCP_COUNTERS_BEFORE: Final = Layout.pack(
    "tcp-counters-before",
    [Member("tcp_memory_allocated", 8, 8, _ALLOCATED), *_SOCKETS],
    source="5.17 series of 15 November 2021, patch 10: the two often share a line; side by side in "
    "net/ipv4/tcp.c, so placed one behind the other",
    status="assumed",
)

TCP_COUNTERS_AFTER: Final = Layout.pack(
    "tcp-counters-after",
    [Member("tcp_memory_allocated", 8, 64, _ALLOCATED), Member(_SOCKETS[0].name, 4, 64), *_SOCKETS[1:]],
    source="5.17 series of 15 November 2021, patch 10: each is aligned to a cache line",
    align=64,
)
