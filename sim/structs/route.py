"""The IPv4 route entry: `struct dst_entry` and what `struct rtable` puts behind it.

In 3.16 to 3.18 the reference count begins a line of its own (offset 128), but only with respect to what
stands before it: the whole tail of `rtable` follows on the same line, and softirq reads two fields of that
tail for every packet. In 5.2 to 6.0 the same is so at offset 64. Commit d288a162dd1c (v6.4) put the list of
uncached routes behind the count and the fields that are read on the next line.
"""

from __future__ import annotations

from typing import Final

from sim.layout import Layout, Member

_COUNT: Final = "reference count, changed by every CPU that holds the route"
_GENERATION: Final = "read when a cached route is checked, in early demux and again in tcp_v4_do_rcv"
_TYPE: Final = "read for every packet in ip_rcv_finish"


def _pointer(name: str, comment: str = "") -> Member:
    return Member(name, 8, 8, comment)


def _tail() -> list[Member]:
    return [
        Member("rt_genid", 4, 4, _GENERATION), Member("rt_flags", 4), Member("rt_type", 2, 2, _TYPE),
        Member("rt_is_input", 1), Member("rt_uses_gateway", 1), Member("rt_iif", 4),
    ]


RTABLE_3_17: Final = Layout.pack(
    "rtable-3.17",
    [
        Member("rcu_head", 16, 8), _pointer("child"), _pointer("dev", "device of the route"),
        _pointer("ops", "functions of the address family"), Member("_metrics", 8), Member("expires", 8),
        _pointer("path"), _pointer("from"), _pointer("xfrm"),
        _pointer("input", "called to deliver or forward"),
        _pointer("output", "called to send"), Member("flags", 2), Member("pending_confirm", 2),
        Member("error", 2), Member("obsolete", 2, 2, "says that the entry must be checked"),
        Member("header_len", 2), Member("trailer_len", 2), Member("tclassid", 4),
        Member("__pad_to_align_refcnt", 16, 8, "padding that puts the count at offset 128"),
        Member("__refcnt", 4, 4, _COUNT), Member("__use", 4), Member("lastuse", 8), _pointer("next"),
        *_tail(), Member("rt_gateway", 4), Member("rt_pmtu", 4), Member("rt_uncached", 16, 8),
    ],
    source="include/net/dst.h and include/net/route.h of 3.17.0 (github.com/lexi6725/linux-3.17.0 at "
    "0d353ed372f5); the structs are the same in 3.16 and 3.18",
)

_SHORT_HEAD: Final = [
    _pointer("dev", "device of the route"), _pointer("ops", "functions of the address family"),
    Member("_metrics", 8), Member("expires", 8), _pointer("xfrm"),
    _pointer("input", "called to deliver or forward"),
    _pointer("output", "called to send"), Member("flags", 2),
    Member("obsolete", 2, 2, "says that the entry must be checked"), Member("header_len", 2),
    Member("trailer_len", 2), Member("__refcnt", 4, 4, _COUNT), Member("__use", 4), Member("lastuse", 8),
]

RTABLE_6_0: Final = Layout.pack(
    "rtable-6.0",
    [
        *_SHORT_HEAD, _pointer("lwtstate", "light-weight tunnel, read on every check for one"),
        Member("rcu_head", 16, 8), Member("error", 2), Member("__pad", 2), Member("tclassid", 4), *_tail(),
    ],
    source="include/net/dst.h and include/net/route.h of 5.2.1 (github.com/wangliang-cs/linux-5.2.1 at "
    "fc4ec72ddfe7) and 6.0 (github.com/sun363587351/linux-6.0 at 071a8bf088f3), without the optional tracker",
)

RTABLE_6_4: Final = Layout.pack(
    "rtable-6.4",
    [
        *_SHORT_HEAD, Member("rcu_head", 16, 8), Member("error", 2), Member("__pad", 2),
        Member("tclassid", 4), Member("rt_uncached", 16, 8, "list of uncached routes, moved here as padding"),
        _pointer("rt_uncached_list"),
        _pointer("lwtstate", "light-weight tunnel, read on every check for one"),
        *_tail(),
    ],
    source="include/net/dst.h and include/net/route.h of 6.4.6 (github.com/lewisevans2007/linux-6.4 at "
    "9862bdef2c0d), after commit d288a162dd1c",
)
