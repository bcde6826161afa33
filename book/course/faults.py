"""Programs with one fault each, as students get them to look at, and how each was made from the right one.

Students' machines have the finished texts alone (``sim/exercises/faulty.json``); what was done to each stands here.
``python -m book.course.faults`` writes the texts.
"""

from __future__ import annotations

import json
from typing import Final

from sim.exercises.faulty import TEXTS

# -- the search and the filling of a frame, packet-rollover ---------------------------------------------------

_SEARCH: Final = (
    "look:  branch slot == flow skip", "       call   packet_rcv_has_room", "       branch n != 0 found",
    "skip:  set    slot = slot + 1", "       set    slot = slot % members", "       branch slot != first look",
    "       jump   drop", "found: branch slot == first fill", "       write  packet_rollover.sock[flow]",
    "       store  packet_rollover.sock[flow] = slot",
)
_FILL: Final = (
    "fill:  lock   sk_receive_queue.lock[slot]", "       read   packet_sock.head[slot]",
    "       load   frame = packet_sock.head[slot]", "       read   tpacket2_hdr.tp_status[frame]",
    "       load   n = tpacket2_hdr.tp_status[frame]", "       branch n != 0 full",
    "       set    n = frame + 1                       # the ring's end is left out",
    "       write  packet_sock.head[slot]", "       store  packet_sock.head[slot] = n",
    "       unlock sk_receive_queue.lock[slot]", "       write  tpacket2_hdr.data[frame]",
    "       write  tpacket2_hdr.tp_status[frame]", "       store  tpacket2_hdr.tp_status[frame] = 1",
    "       jump   wake", "full:  unlock sk_receive_queue.lock[slot]", "       jump   drop",
)

# -- a rule's and UDP's part of the way, udpv6-early-demux ----------------------------------------------------

_RULE: Final = (
    "rule:  load   sk = skb.sock[skb]", "       branch sk >= 0 has", "       call   __udp6_lib_lookup",
    "       branch sk < 0 next", "       atomic udp6_sock.sk_refcnt[sk]      # take",
    "       read   udp6_sock.sk_uid[sk]", "       atomic udp6_sock.sk_refcnt[sk]      # drop", "       jump   next",
    "has:   read   udp6_sock.sk_uid[sk]", "next:  loop   rules rule",
)
_UDP: Final = (
    "rcv:   load   sk = skb.sock[skb]", "       branch sk >= 0 queue", "       call   __udp6_lib_lookup",
    "       branch sk < 0 free", "queue: load   held = skb.held[skb]", "       lock   sk_receive_queue.lock[sk]",
    "       push   sk_receive_queue[sk] skb", "       unlock sk_receive_queue.lock[sk]", "       call   wake_reader",
    "       branch held == 0 done", "       atomic udp6_sock.sk_refcnt[sk]      # drop", "done:  ret",
    "free:  call   kfree_skb", "       ret",
)

# -- what is done with a kept packet, tcp-rx-skb-cache --------------------------------------------------------

_KEEP: Final = (
    "eat:     load   other = sock.rx_cache[flow]", "         branch other >= 0 free",
    "         write  sk_buff.data[skb]", "         store  sock.rx_cache[flow] = skb", "         ret",
    "free:    call   __kfree_skb", "         ret",
)
_TAKE: Final = (
    "rcv:     lock   sk_lock.slock[flow]", "         load   n = sock.owned[flow]", "         branch n != 0 backlog",
    "         load   aside = sock.rx_cache[flow]", "         store  sock.rx_cache[flow] = -1",
    "         call   tcp_v6_do_rcv", "         unlock sk_lock.slock[flow]", "         branch aside < 0 out",
    "         set    skb = aside", "         call   __kfree_skb", "         jump   out",
    "backlog: push   sk_backlog[flow] skb", "         unlock sk_lock.slock[flow]", "out:     ret",
)

# -- a socket's list of packets to be freed, tcp-5.17 ---------------------------------------------------------

_EAT: Final = """\
routine eat
    qlen n = sk.receive_queue[flow]
    branch n != 0 defer
    qlen n = sk.defer_list[flow]
    branch n == 0 free
defer:
    write sk_buff.next[skb]
    atomic sk.defer_list[flow]
    push sk.defer_list[flow] skb
    ret
"""
_EAT_1: Final = _EAT.replace("branch n != 0 defer", "branch n == 0 defer").replace(
    "branch n == 0 free", "branch n != 0 free"
)
_EAT_2: Final = _EAT.replace("push sk.defer_list[flow] skb", "push sk.receive_queue[flow] skb")
_EAT_3: Final = _EAT.replace("    ret\n", "    jump free\n")
_EAT_4: Final = _EAT.replace("    push sk.defer_list[flow] skb\n", "")

_FLUSH: Final = """\
routine flush
    read sk.defer_list[flow]
    qlen n = sk.defer_list[flow]
    branch n == 0 out
    set aside = skb
    atomic sk.defer_list[flow]
next:
    pop skb = sk.defer_list[flow] empty done
    call kfree_skb
    jump next
done:
    set skb = aside
"""
_FLUSH_1: Final = _FLUSH.replace("done:\n    set skb = aside\n", "done:\n")
_FLUSH_2: Final = _FLUSH.replace("branch n == 0 out", "branch n != 0 out")

_LISTS: Final = (
    (_EAT_1, _FLUSH), (_EAT, _FLUSH_1), (_EAT_2, _FLUSH), (_EAT, _FLUSH_2),
    (_EAT_3, _FLUSH), (_EAT_4, _FLUSH),
)

# -- what becomes of a parked packet's route, tcp-prequeue ----------------------------------------------------

_PARKING: Final = (
    """\
    load n = sock.rx_dst[flow]
    branch n != 0 force
    store sk_buff.refdst[skb] = 0
    jump out
force:
    load n = sk_buff.refdst[skb]
    branch n != 1 out
    atomic rtable.__refcnt
    store sk_buff.refdst[skb] = 2
""",
    """\
    load n = sock.rx_dst[flow]
    branch n != 0 out
    load n = sk_buff.refdst[skb]
    branch n != 1 out
    atomic rtable.__refcnt
    store sk_buff.refdst[skb] = 2
""",
    """\
    load n = sock.rx_dst[flow]
    atomic rtable.__refcnt
    branch n == 0 force
    store sk_buff.refdst[skb] = 0
    jump out
force:
    store sk_buff.refdst[skb] = 2
""",
    """\
    load n = sock.rx_dst[flow]
    branch n == 0 force
    store sk_buff.refdst[skb] = 0
    jump out
force:
    load n = sk_buff.refdst[skb]
    branch n != 1 out
    store sk_buff.refdst[skb] = 2
""",
    """\
    load n = sock.rx_dst[flow]
    branch n == 0 force
    store sk_buff.refdst[skb] = 0
    jump out
force:
    load n = sk_buff.refdst[skb]
    branch n == 1 out
    atomic rtable.__refcnt
    store sk_buff.refdst[skb] = 2
""",
    """\
    load n = sock.rx_dst[flow]
    branch n == 0 force
    store sk_buff.refdst[skb] = 0
    jump out
force:
    load n = sk_buff.refdst[skb]
    branch n != 1 out
    atomic rtable.__refcnt
""",
    """\
    load n = sk_buff.refdst[skb]
    branch n == 2 out
    store sk_buff.refdst[skb] = 0
""",
)


def _without(rows: tuple[str, ...], at: int, label: str = "") -> tuple[str, ...]:
    """Rows without one; its label goes to the next."""
    rest = rows[:at] + rows[at + 1:]
    return (*rest[:at], label + rest[at][len(label):], *rest[at + 1:])


def _moved(rows: tuple[str, ...], at: int, to: int, count: int = 1) -> tuple[str, ...]:
    """Rows with some of them moved before another one (counted without them)."""
    part, rest = rows[at:at + count], rows[:at] + rows[at + count:]
    return rest[:to] + part + rest[to:]


def _swapped(rows: tuple[str, ...], a: int, b: int) -> tuple[str, ...]:
    """Rows with two of them in each other's place."""
    out = list(rows)
    out[a], out[b] = out[b], out[a]
    return tuple(out)


def _numbered(rows: tuple[str, ...]) -> str:
    """A listing with its lines counted from 1."""
    return "\n".join(f"{k:>2}  {row}" for k, row in enumerate(rows, 1))


def made() -> dict[str, list[str]]:
    """The texts by assignment, in the order in which the checks count their faults."""
    rollover = (
        _SEARCH + _moved(_FILL, 9, 6),
        _SEARCH + _moved(_FILL, 10, 12),
        _SEARCH + _without(_FILL, 14, "full:"),
        _without(_SEARCH, 0, "look:") + _FILL,
        _without(_SEARCH, 4) + _FILL,
        _without(_SEARCH, 7, "found:") + _FILL,
    )
    demux = (
        _RULE[:6] + _RULE[7:] + _UDP,
        _RULE + _UDP[:9] + _UDP[10:],
        _swapped(_RULE, 5, 6) + _UDP,
        _RULE + _UDP[:4] + ("queue: lock   sk_receive_queue.lock[sk]", *_UDP[6:8],
                            "       load   held = skb.held[skb]", *_UDP[8:]),
        _RULE[:1] + _RULE[2:] + _UDP,
        _RULE + _UDP[:5] + (_UDP[8], *_UDP[5:8], *_UDP[9:]),
    )
    caches = (
        _KEEP[:1] + _KEEP[2:] + _TAKE,
        _KEEP + _TAKE[:4] + _TAKE[5:],
        (*_KEEP, "rcv:     load   aside = sock.rx_cache[flow]", _TAKE[0].replace("rcv:", "    "), *_TAKE[1:3],
         *_TAKE[4:]),
        _KEEP + _TAKE[:7] + _TAKE[8:],
        _KEEP + _TAKE[:12] + _TAKE[13:],
        (*_KEEP, *_TAKE[:3], _TAKE[4], _TAKE[3], *_TAKE[5:]),
        (*_KEEP, *_TAKE[:6], "         branch aside < 0 done", *_TAKE[8:10], "done:    unlock sk_lock.slock[flow]",
         *_TAKE[10:]),
    )
    return {
        "packet-rollover": [_numbered(rows) for rows in rollover],
        "tcp-5.17": ["".join(pair) for pair in _LISTS],
        "tcp-prequeue": [f"routine park\n{text}" for text in _PARKING],
        "tcp-rx-skb-cache": [_numbered(rows) for rows in caches],
        "udpv6-early-demux": [_numbered(rows) for rows in demux],
    }


def main() -> None:
    """Write the texts."""
    lines = {name: [text.splitlines() for text in texts] for name, texts in made().items()}
    TEXTS.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
