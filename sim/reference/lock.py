"""Spinlocks, taken in the order of arrival."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ..engine.opcodes import ATOMIC, WRITE
from ..engine.tables import TICKET
from .line import Line

if TYPE_CHECKING:
    from .cpu import Cpu


class Lock:
    """A spinlock, whose word lies on a line like any other field.

    It is *free* while it has no holder. A CPU that comes while it is *held* joins the waiters and spins; when
    it is *released* the first of them becomes the holder, and goes on when the word has come over to it.
    """

    __slots__ = ("acquired", "contended", "holder", "kind", "line", "number", "wait_ps", "waiters")

    def __init__(self, number: int, line: Line, kind: int) -> None:
        self.number = number
        self.line = line
        self.kind = kind
        self.holder: Cpu | None = None
        self.waiters: deque[Cpu] = deque()
        self.acquired = 0
        self.contended = 0
        self.wait_ps = 0

    def take(self, cpu: Cpu, now: int) -> int | None:
        """Take the lock: the time it takes, or None if the CPU has to spin."""
        took = self.line.access(cpu, ATOMIC, now)
        cpu.locks += 1
        self.acquired += 1
        if self.holder is None:
            self.holder = cpu
            return took
        self.contended += 1
        if self.waiters:
            self.waiters[-1].follower = cpu
        self.waiters.append(cpu)
        return None

    def release(self, cpu: Cpu, now: int) -> None:
        """Release the lock. The store is posted: its CPU does not wait for it, but it takes the line."""
        cpu.locks -= 1
        if not self.waiters:
            self.holder = None
            self.line.access(cpu, WRITE, now)
            return
        self.holder = waiter = self.waiters.popleft()
        at = self.line.hand_over(cpu.core, waiter.core, now, self._permille())
        self.wait_ps += waiter.stop_spinning(at)

    def _permille(self) -> int:
        """A hand-over in transfers: waiters for a ticket read the word again, a queued lock's do not."""
        costs = self.line.memory.costs
        if self.kind == TICKET:
            return costs.ticket_permille + costs.ticket_waiter_permille * len(self.waiters)
        return costs.queued_permille
