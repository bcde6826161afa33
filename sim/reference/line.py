"""Cache lines and the caches they lie in: who has a copy, what it costs to get one, who waits meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engine.opcodes import ATOMIC, READ
from ..engine.tables import NEVER
from .costs import Costs

if TYPE_CHECKING:
    from .cpu import Cpu


class Socket:
    """A socket's shared cache: `clock` counts the lines that came in."""

    __slots__ = ("clock", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        self.clock = 0


class Core:
    """A core's own cache, which its threads share: `clock` counts the lines that came in."""

    __slots__ = ("clock", "number", "socket")

    def __init__(self, number: int, socket: Socket) -> None:
        self.number = number
        self.socket = socket
        self.clock = 0


class Memory:
    """All lines of a machine: its costs and what is counted over them."""

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self.transfers = 0
        self.reads = 0  # from memory
        self.llc_reads = 0  # from a socket's shared cache

    def transfer_ps(self, to: Core, by: Core) -> int:
        """Handing a line from one core to another."""
        if to is by:
            return self.costs.sibling_ps
        return self.costs.same_socket_ps if to.socket is by.socket else self.costs.other_socket_ps


class Line:
    """A cache line.

    Nobody has touched it; or one core *owns* it and may write; or several cores *share* it and may read.
    It is *under way* until `free`: a core that lacks it waits for its turn, and so do the owner's threads.
    Caches are finite by count: a line whose stamp lies further behind a cache's clock than the cache has
    lines has left it.
    """

    __slots__ = (
        "free", "memory", "number", "owner", "sharers", "socket", "socket_stamp", "stamp", "transfers",
    )

    def __init__(self, memory: Memory, number: int) -> None:
        self.memory = memory
        self.number = number
        self.owner: Core | None = None
        self.sharers: set[Core] = set()
        self.free = 0
        self.stamp = NEVER  # on the owner's clock
        self.socket: Socket | None = None  # the socket that it came to last
        self.socket_stamp = NEVER  # on that socket's clock
        self.transfers = 0

    def access(self, cpu: Cpu, kind: int, now: int) -> int:
        """Read, write or atomically change the line; the time it takes, waiting included."""
        core = cpu.core
        costs = self.memory.costs
        atomic = costs.atomic_ps if kind == ATOMIC else 0
        if self.owner is core:
            wait = max(self.free - now, 0)
            took = wait + self._own(core) + atomic
            self.free = now + took
            return took
        if kind == READ and core in self.sharers:
            return costs.hit_ps
        sibling = cpu.sibling
        if sibling is not None and sibling.fetches(self, kind, now):  # the core has asked for it already
            return sibling.fetch_end - now + costs.hit_ps + atomic
        wait = max(self.free - now, 0)
        occupies = self.owner is not None or kind != READ  # copies of a shared line are read side by side
        took = wait + self._fetch(core, kind) + atomic
        if occupies:
            self.free = now + took
        cpu.fetch_line = self
        cpu.fetch_end = now + took
        cpu.fetch_kind = kind
        return took

    def hand_over(self, by: Core, to: Core, begin: int, permille: int) -> int:
        """Give the line of a released spinlock to the core that waits for it; the time when it has it."""
        took = self.memory.transfer_ps(to, by) * permille // 1000
        self.owner = to
        self.sharers.clear()
        self.free = max(self.free, begin + took)
        self._stamp(to)
        self.socket = to.socket
        self._count_transfer()
        return begin + took

    def _own(self, core: Core) -> int:
        """The owner touches its line: a hit, unless it has left the core's own cache."""
        costs = self.memory.costs
        if costs.l2_lines == 0:
            return costs.hit_ps
        took = costs.hit_ps
        if self._has_left(core):
            took = self._from_beyond(core.socket)
            core.clock += 1
            core.socket.clock += 1
        self._stamp(core)
        return took

    def _fetch(self, core: Core, kind: int) -> int:
        """A core that lacks the line gets it; who owns it and who shares it changes."""
        costs = self.memory.costs
        sole = False  # no other core keeps a copy
        if self.owner is not None:
            sole = self._has_left(self.owner)
            took = self._from_beyond(core.socket) if sole else self.memory.transfer_ps(core, self.owner)
            self._count_transfer()
            if not sole:
                self.sharers = {self.owner}
        elif others := self.sharers - {core}:
            near = sum(other.socket is core.socket for other in others)
            if kind == READ:
                took = costs.shared_read_ps if near else costs.other_socket_ps
            else:
                took = costs.same_socket_ps if near == len(others) else costs.other_socket_ps
            self._count_transfer()
        else:
            took = self._from_beyond(core.socket)
            sole = True
        if kind == READ and not sole:
            self.owner = None
            self.sharers.add(core)
        else:
            self.owner = core
            self.sharers.clear()
        core.clock += 1
        if sole or self.socket is not core.socket:
            core.socket.clock += 1
        self._stamp(core)
        self.socket = core.socket
        return took

    def _from_beyond(self, socket: Socket) -> int:
        """No core's own cache has the line: a shared cache has it, or memory."""
        costs = self.memory.costs
        at = self.socket
        if at is not None and (costs.llc_lines == 0 or at.clock - self.socket_stamp <= costs.llc_lines):
            self.memory.llc_reads += 1
            return costs.shared_read_ps if at is socket else costs.other_socket_ps
        self.memory.reads += 1
        return costs.memory_ps

    def _has_left(self, core: Core) -> bool:
        capacity = self.memory.costs.l2_lines
        return capacity > 0 and core.clock - self.stamp > capacity

    def _stamp(self, core: Core) -> None:
        self.stamp = core.clock
        self.socket_stamp = core.socket.clock

    def _count_transfer(self) -> None:
        self.transfers += 1
        self.memory.transfers += 1
