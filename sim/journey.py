"""One packet's way: which rows of a trace are about it, from its sk_buff to the end of that.

A packet is a row of a domain (an sk_buff, a frame of a ring) that is used again and again, so its number alone is
not its name: its life begins with an instruction that takes it from its allocator and ends with one that gives it
back. Between, it is in the hands of a context from the instruction that puts it into the packet's register until
the one that puts it on a queue; the time between two hands is spent waiting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from .program import Instruction
from .spec import Reference, Spec
from .trace import Row

_PACKET: Final = 0  # the register that holds the packet (see `sim.path.registers`)
_OWNERS: Final = frozenset(("skb", "ring frame"))  # domains of packets
#: Where the register stands among the operands of the instructions that write it.
_WRITTEN: Final = {"POP": 2, "PEEK": 2, "LOAD": 3, "SET": 0, "ALU": 1, "RAND": 0, "NOW": 0, "LOOP": 0}
_ALLOCATORS: Final = ("skbuff_head_cache", "skb cpu freelist", "skb array_cache", "skb array_cache older")


class Hold(NamedTuple):
    """A stretch of a packet's way: number of the first and the last row, and whose hands they are."""

    first: int
    last: int
    context: int


@dataclass(frozen=True)
class Marks:
    """What instructions mean for a packet, by address.

    Its life begins or ends; it is taken up, handed on or let go; a frame is put on the NIC's ring or polled from it.
    """

    births: frozenset[int]
    ends: frozenset[int]
    takes: frozenset[int]
    gives: frozenset[int]
    drops: frozenset[int]
    arrivals: frozenset[int]
    polls: frozenset[int]


@cache
def _free_list(name: str, items: str) -> bool:
    return name == "skbuff_head_cache" or (items == "skb" and name.startswith("skb "))


def marks(spec: Spec) -> Marks:
    """The marks of a spec's program."""
    out: dict[str, set[int]] = {name: set() for name in Marks.__dataclass_fields__}
    for at, one in enumerate(spec.program.code):
        for name in _meaning(spec, one):
            out[name].add(at)
    return Marks(**{name: frozenset(places) for name, places in out.items()})


def _meaning(spec: Spec, one: Instruction) -> list[str]:
    symbol = spec.program.symbols[one.symbol]
    ring = one.op in ("LOAD", "STORE") and one.words[0] == "tpacket2_hdr"
    if ring and one.op == "STORE":  # a frame of a ring belongs to the kernel or to the program
        return ["gives"] if one.words[3] == "1" else ["ends"]
    if ring and symbol == "reader":
        return ["takes"]
    if one.words[:2] == ("write", "packet_sock") and one.words[3] == "rx_ring.head":
        return ["births", "takes"]  # the frame that has been found is free
    if one.op == "PUSH" and one.words[0] == "ring":
        return ["arrivals"]
    if one.op == "PUSH" and one.operands[2] == _PACKET:
        queue = next(q for q in spec.queues if q.number == one.operands[0])
        if queue.items.name not in _OWNERS:
            return []
        return ["ends"] if _free_list(queue.name, queue.items.name) else ["gives"]
    if one.op == "POP" and one.words[0] == "ring":  # the driver goes on to the next frame
        return ["drops", "polls"]
    if one.op not in _WRITTEN or one.operands[_WRITTEN[one.op]] != _PACKET:
        return []
    if one.op in ("POP", "PEEK"):
        queue = next(q for q in spec.queues if q.number == one.operands[0])
        if queue.items.name not in _OWNERS:
            return ["drops"]
        return ["births", "takes"] if one.op == "POP" and queue.name in _ALLOCATORS else ["takes"]
    if one.op == "LOAD":
        table = next(t for t in spec.tables if t.number == one.operands[0])
        kind = list(table.columns.values())[int(str(one.operands[1]))]
        if table.name == "packet_sock" or (isinstance(kind, Reference) and kind.domain.name not in _OWNERS):
            return ["drops"]  # the head of a ring is looked at before anything is put there
        return ["takes"]
    return ["takes"]


def births(rows: Sequence[Row], spec: Spec) -> list[int]:
    """Numbers of the rows with which a packet's life begins, those of packets that are given back at once left out."""
    known = marks(spec)
    out = []
    for number, row in enumerate(rows):
        if row.pc in known.births:
            out.append(number)
        elif row.pc in known.ends and out and rows[out[-1]].item == row.item and number == out[-1] + 1:
            out.pop()
    return out


def journey(rows: Sequence[Row], spec: Spec, birth: int) -> tuple[list[Hold], bool]:
    """The way of the packet whose life begins at a row: the hands it is in, in order, and whether it ends here."""
    known = marks(spec)
    item = rows[birth].item
    holding: dict[int, int] = {}  # context -> place in `out` of its stretch
    out: list[Hold] = []
    for number in range(birth, len(rows)):
        row = rows[number]
        if row.item != item:
            holding.pop(row.context, None)
            continue
        if row.pc in known.births and number > birth and row.context not in holding:
            break
        if row.pc in known.drops or (row.pc in known.takes and row.length == 0 and row.value < 0):  # empty queue
            holding.pop(row.context, None)
            continue
        if row.context not in holding:
            if row.pc not in known.takes:
                continue
            holding[row.context] = len(out)
            out.append(Hold(number, number, row.context))
        at = holding[row.context]
        out[at] = out[at]._replace(last=number)
        if row.pc in known.ends:
            return out, True
        if row.pc in known.gives:
            del holding[row.context]
    return out, False


def arrival(rows: Sequence[Row], spec: Spec, birth: int) -> int:
    """The row in which the wire put a packet's first frame on the ring; -1 if that was before the window."""
    known = marks(spec)
    context = rows[birth].context
    polled = next((n for n in range(birth, -1, -1) if rows[n].context == context and rows[n].pc in known.polls), -1)
    if polled < 0:
        return -1
    ring, frame = rows[polled].what, rows[polled].value
    return next(
        (
            n for n in range(polled, -1, -1)
            if rows[n].pc in known.arrivals and rows[n].what == ring and rows[n].value == frame
        ),
        -1,
    )
