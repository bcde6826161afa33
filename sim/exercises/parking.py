"""What happens to a packet's route when it is parked, in a student's words: a routine in a hole of tcp-prequeue.

``park`` runs in softirq before the packet goes on the prequeue, in either kernel. A packet's `refdst` says what it
holds of its route: 0 nothing, 1 a pointer that only RCU protects, 2 a counted reference that somebody will drop.

>>> scenario = with_parking('''
... routine park
...     atomic rtable.__refcnt      # as before the patch, but for what the packet remembers
...     store sk_buff.refdst[skb] = 2
... ''')
>>> parked(scenario)["with a counted reference"] > 0
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ..engine import tables as T
from ..path.linear import NO_DST, NOREF, REFERENCE
from ..path.registers import FLOW, SKB, K, M, N
from ..program import Program
from ..scenarios.scenario import RunError
from ..scenarios.tcp_prequeue import TcpPrequeue
from ..spec import Spec
from .assembly import Cell, Field, Words
from .holes import Bounded, Hole, between, fill, named, put

QUEUE: Final = "tcp_prequeue.queue"
UNTIL_PS: Final = 2_000_000_000  # from the start, so that each flow's first packet is in it
TAKEN: Final = "references taken"
#: What parked packets are counted under, by their `refdst`.
PARKED: Final = {
    NO_DST: "without a route", NOREF: "with a route that nobody counts", REFERENCE: "with a counted reference",
}


def _words(spec: Spec) -> Words:
    return Words(
        registers={"skb": SKB, "flow": FLOW, "n": N, "m": M, "k": K},
        fields={"rtable.__refcnt": Field(named(spec.lines, "rtable"), "__refcnt", TAKEN)},
        cells={
            "sock.rx_dst": Cell(named(spec.tables, "sock"), "rx_dst"),
            "sk_buff.refdst": Cell(named(spec.tables, "sk_buff"), "refdst"),
        },
        exits={"out": QUEUE},
    )


#: Behind the counter at the beginning of ``tcp_prequeue()``, up to where the packet is queued.
HOLE: Final = Hole("park", "tcp_prequeue", between("tcp_prequeue", QUEUE, skip=1), _words)


def with_parking(text: str | Sequence[str]) -> TcpPrequeue:
    """tcp-prequeue with a text's routine, whatever ``drop_dst_early`` says.

    Raises RoutineError.
    """
    scenario = TcpPrequeue()
    spec = scenario.spec
    spec.program = put(spec.program, (spec.program.address(QUEUE), spec.program.address(QUEUE) + 1), _count(spec))
    fill(scenario, (HOLE,), text, ({},))
    scenario.verified = True
    return scenario


def parked(scenario: TcpPrequeue, seed: int = 1) -> dict[str, int]:
    """Packets that were parked in the first 2 ms, by what they held of their route, and references that were taken.

    Raises RunError if the run ends early.
    """
    engine = Bounded()
    arena = engine.build(scenario.image(seed))
    status = engine.run_until(arena, UNTIL_PS)
    if status != T.REACHED:
        raise RunError(f"{T.STATUS_NAMES[status]} at {int(arena[T.H_NOW]) / 1e6:,.3f} us")
    at, stats = int(arena[T.H_AT_STAT]), scenario.spec.stats
    return {name: int(arena[at + stats.index(name)]) if name in stats else 0 for name in (*PARKED.values(), TAKEN)}


def _count(spec: Spec) -> Callable[[Program], None]:
    """What counts a packet by its `refdst`, and then does what stood there: a write to the prequeue's line."""
    table, struct = named(spec.tables, "sk_buff"), named(spec.lines, "tcp_sock")

    def write(part: Program) -> None:
        with part.symbol("tcp_prequeue"):
            part.load(N, table, "refdst", SKB)
            for state, stat in PARKED.items():
                part.branch(N, "!=", state, f"exercise.parked.{state}")
                part.count(stat)
                part.label(f"exercise.parked.{state}")
            part.write(struct, "ucopy.prequeue", FLOW)

    return write
