"""The program followed from every vector and spawn until nothing new is learnt.

What is known is kept for each address and each chain of calls that leads there, so a subroutine is judged
anew for every caller; recursion is refused, so the chains are finite.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Final

from ..engine import opcodes as O
from ..engine import tables as T
from ..spec import Integer
from .image import Image
from .state import State, join
from .steps import Steps
from .types import LEAST, MOST, Known, constant, known

Chain = tuple[int, ...]  # return addresses, outermost first
PATIENCE: Final = 3  # joins at one place before ranges go to thresholds
STEP_LIMIT: Final = 2_000_000


@dataclass(frozen=True)
class Root:
    """Where contexts begin: what kind they are, and what their preset registers hold."""

    kind: int
    name: str
    entry: int
    index: Known
    cpu: Known


@dataclass
class Flow:
    """The analysis of one root. States are known for places: (address, chain of calls)."""

    image: Image
    root: Root
    steps: Steps
    thresholds: list[int]
    known: dict[tuple[int, Chain], State] = field(default_factory=dict)
    joins: dict[tuple[int, Chain], int] = field(default_factory=dict)
    waiting: list[tuple[int, Chain]] = field(default_factory=list)

    def run(self) -> None:
        """Follow the program; raises `Unsound`."""
        registers: list[Known | None] = [None] * O.REGISTERS
        registers[O.INDEX_REGISTER], registers[O.CPU_REGISTER] = self.root.index, self.root.cpu
        self.reach(self.root.entry, (), State(tuple(registers), ()), self.root.entry)
        queued = 0
        while self.waiting:
            address, chain = heapq.heappop(self.waiting)
            queued += 1
            if queued > STEP_LIMIT:
                raise self.image.unsound(address, "the program is too large to be verified")
            state = self.known[address, chain]
            for target, deeper, after in self.steps.step(address, chain, state):
                self.reach(target, deeper, after, address)

    def reach(self, address: int, chain: Chain, state: State, origin: int) -> None:
        """Add a way to a place."""
        if address >= len(self.image.code):
            raise self.image.unsound(origin, "the program ends here: nothing follows")
        place = (address, chain)
        before = self.known.get(place)
        if before is not None:
            count = self.joins[place] = self.joins.get(place, 0) + 1
            joined = join(before, state, address, self.thresholds if count > PATIENCE else None)
            if joined is None:
                raise self.image.unsound(address, self._difference(before, state))
            if joined == before:
                return
            state = joined
        self.known[place] = state
        if place not in self.waiting:
            heapq.heappush(self.waiting, place)

    def _difference(self, before: State, state: State) -> str:
        ways = [", ".join(self.image.name("locks", h.locks) for h in s.held) for s in (before, state)]
        return f"is reached with {ways[0] or 'no lock'} held on one way and {ways[1] or 'no lock'} on another"


def check_program(image: Image) -> None:
    """Follow the program from all roots. Raises `Unsound` with the instruction and the reason."""
    thresholds = _thresholds(image)
    running = {(row[1], row[2]) for row in image.code if row[0] == O.ADD}
    while True:
        steps = Steps(image, running=running)
        size = len(running)
        for root in roots(image):
            steps.kind = root.kind
            Flow(image, root, steps, thresholds).run()
        if len(running) == size:
            return


def roots(image: Image) -> list[Root]:
    """Where contexts begin."""
    every_cpu = known((0, image.cpus - 1), -1, ("cpu",))
    out = []
    for i, row in enumerate(image.sections["vectors"]):
        out.append(Root(T.SOFTIRQ, image.name("vectors", i), row[0], every_cpu, every_cpu))
    for i, row in enumerate(image.sections["spawns"]):
        count = image.value("spawns", i, "count")
        if count < 1:
            continue
        cpu = constant(0)
        if row[0] == T.THREAD:
            base, div, mod, mul = (image.value("spawns", i, name) for name in ("base", "div", "mod", "mul"))
            last = base + min((count - 1) // max(1, div), max(1, mod) - 1) * mul
            cpu = known((min(base, last), max(base, last)), -1, ("cpu",))
        out.append(Root(row[0], image.name("spawns", i), row[1], known((0, count - 1), -1, ("index",)), cpu))
    return out


def _thresholds(image: Image) -> list[int]:
    """Numbers at which a growing range may stop: those compared with, domains' sizes, the ends of types."""
    numbers = {LEAST, -1, 0, 1, MOST}  # 1: where a count of LOOP ends
    for row in image.code:
        if row[0] == O.BRANCH:
            numbers |= {row[4] - 1, row[4], row[4] + 1}
    for i in range(len(image.sections["domains"])):
        numbers |= {image.count(i) - 1, image.count(i)}
    for table in image.spec.tables:
        for kind in table.columns.values():
            if isinstance(kind, Integer):
                numbers |= {kind.low, kind.high}
    return sorted(numbers)

