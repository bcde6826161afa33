"""Packet sockets whose mark is the student's: three routines in three holes of packet-rollover.

>>> scenario = with_mark('''
... routine search
...     read packet_sock.pressure[slot]     # a line of another CPU
... ''')
>>> "packet_sock slot pressure" in scenario.listing(pressure=1)
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..path.registers import FLOW, OTHER, SLOT, K, M, N
from ..program import Register
from ..scenarios.packet_rollover import PacketRollover
from ..spec import Spec
from .assembly import Cell, Field, Words
from .holes import Hole, fill, keyed, named, vocabulary

PATCH: Final = "pressure"
VERIFIED_AT: Final = ({PATCH: 1}, {PATCH: 1, "sockets": 1, "ring_frames": 64}, {PATCH: 1, "rollover": 0})


def _words(which: int, exits: Sequence[str], *registers: tuple[str, Register]) -> Hole:
    """The hole inside the patch's branch `which`."""
    names = ("has_room", "search", "poll")
    symbols = ("packet_rcv_has_room", "fanout_demux_rollover", "packet_poll")

    def words(spec: Spec) -> Words:
        struct, table = named(spec.lines, "packet_sock"), named(spec.tables, "packet_sock")
        key = [code for code in spec.program.code if code.op == "KEY" and code.words[0] == PATCH][which]
        known = {"out": str(key.operands[1]), "skip": "rollover.skip"}
        return Words(
            registers=dict(registers),
            fields={"packet_sock.pressure": Field(struct, "pressure", "pressure_changes")},
            cells={"packet_sock.pressure": Cell(table, "pressure", "packet_sock.pressure")},
            exits={name: known[name] for name in exits},
        )

    return Hole(names[which], symbols[which], keyed(PATCH, which), words)


#: Where the three routines go, in the order of the program.
HOLES: Final = (
    _words(0, ("out",), ("slot", SLOT), ("n", N), ("other", OTHER)),
    _words(1, ("out", "skip"), ("slot", SLOT), ("flow", FLOW), ("n", N), ("other", OTHER)),
    _words(2, ("out",), ("flow", FLOW), ("k", K), ("n", N), ("m", M)),
)


def with_mark(text: str | Sequence[str]) -> PacketRollover:
    """packet-rollover with a text's routines as its patch: with ``pressure=1`` they run, with 0 they do not.

    has_room
        Runs after a socket was asked: `slot` is the socket, `n` is 1 if its ring has room. `n` has to stay.
    search
        Runs before a socket is asked by another one's CPU: `slot` is the candidate, `flow` the packet's own
        socket. Ends at ``out`` to ask it, at ``skip`` to go on to the next one.
    poll
        Runs in the reader's ``poll()``: `flow` is its socket, `k` is 0 if its ring was found empty.

    Raises RoutineError.
    """
    scenario = PacketRollover()
    fill(scenario, HOLES, text, VERIFIED_AT)
    scenario.verified = True
    return scenario


def words() -> str:
    """All operations, and what each routine may name: to be printed."""
    return vocabulary(PacketRollover(), HOLES)
