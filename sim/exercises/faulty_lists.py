"""Defer lists of a socket with one fault each, for a student to find."""

from __future__ import annotations

from typing import Final

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

_PAIRS: Final = (
    (_EAT_1, _FLUSH), (_EAT, _FLUSH_1), (_EAT_2, _FLUSH), (_EAT, _FLUSH_2),
    (_EAT_3, _FLUSH), (_EAT_4, _FLUSH),
)
FAULTS: Final = len(_PAIRS)


def faulty_list(fault: int) -> str:
    """The routines ``eat`` and ``flush`` with a fault; IndexError if there is no such number."""
    if not 0 <= fault < FAULTS:
        raise IndexError(f"faults are numbered 0 to {FAULTS - 1}")
    return "".join(_PAIRS[fault])
