"""Instructions on what CPUs share: their time, lines, locks and queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engine import tables as T
from ..engine.opcodes import FRONT
from .actor import NO_TURN, Actor
from .context import Context
from .instruction import Instruction
from .line import Line
from .lock import Lock
from .machine import Machine
from .queue import Queue

if TYPE_CHECKING:
    from .cpu import Cpu


class Work(Instruction):
    """Compute; `copy` streams bytes through the caches, and so pushes other lines out."""

    ps: int
    by: int
    fs: int
    copy: int

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        took = context.left
        if took == 0:
            took = self.ps
            if self.by >= 0:
                amount = context.registers[self.by]
                took += amount * self.fs // 1000
                if self.copy:
                    actor.stream(amount)
        return actor.compute(context, took)


class Access(Instruction):
    """Read, write or atomically change a cache line."""

    kind: int
    lines: int
    row: int
    line: int

    def link(self, machine: Machine) -> None:
        self.all_lines, self.per_row = machine.line_sets[self.lines]

    def touches(self, context: Context) -> Line:
        return self.all_lines[context.registers[self.row] * self.per_row + self.line]

    def execute(self, actor: Cpu, context: Context, now: int) -> int:
        line = self.all_lines[context.registers[self.row] * self.per_row + self.line]
        return line.access(actor, self.kind, now)


class TakeLock(Instruction):
    """Take a spinlock, or spin for it."""

    locks: int
    row: int

    def link(self, machine: Machine) -> None:
        self.all_locks: list[Lock] = machine.lock_sets[self.locks]

    def touches(self, context: Context) -> Line:
        return self.all_locks[context.registers[self.row]].line

    def execute(self, actor: Cpu, context: Context, now: int) -> int:
        lock = self.all_locks[context.registers[self.row]]
        took = lock.take(actor, now)
        if took is None:
            actor.start_spinning(lock, now)
            return NO_TURN
        return took


class Unlock(TakeLock):
    """Release a spinlock."""

    ends_turn = True

    def execute(self, actor: Cpu, context: Context, now: int) -> int:
        self.all_locks[context.registers[self.row]].release(actor, now)
        return self.machine.costs.hit_ps


class _OnQueue(Instruction):
    """An instruction on a queue; without a target for the queue that is empty (or full) that ends the run."""

    queue: int
    row: int

    def link(self, machine: Machine) -> None:
        self.all_queues: list[Queue] = machine.queue_sets[self.queue]

    def go_to(self, target: int, actor: Actor, context: Context) -> int:
        """Go on at the target, or end the run if there is none."""
        if target >= 0:
            context.pc = target
        else:
            self.machine.fault(T.EXHAUSTED, actor, context.pc - 1)
        return 0


class Push(_OnQueue):
    """Append an item, or put it in front."""

    item: int
    full: int
    end: int

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        registers = context.registers
        queue = self.all_queues[registers[self.row]]
        item = registers[self.item]
        if len(queue.items) < queue.capacity and item in queue.queued:  # it is on a queue already: chains would cross
            self.machine.fault(T.CORRUPTED, actor, context.pc - 1)
            return 0
        if queue.push(item, self.end == FRONT, now):
            return 0
        return self.go_to(self.full, actor, context)


class Pop(_OnQueue):
    """Take the first item."""

    dst: int
    empty: int

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        queue = self.all_queues[context.registers[self.row]]
        if queue.items:
            context.registers[self.dst] = queue.pop(now)
            return 0
        return self.go_to(self.empty, actor, context)


class Peek(Pop):
    """Look at the first item."""

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        queue = self.all_queues[context.registers[self.row]]
        if queue.items:
            context.registers[self.dst] = queue.items[0]
            return 0
        return self.go_to(self.empty, actor, context)


class Qlen(_OnQueue):
    """A register = the length of a queue."""

    dst: int

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        registers = context.registers
        registers[self.dst] = len(self.all_queues[registers[self.row]].items)
        return 0


class Splice(_OnQueue):
    """Move all items to the tail of another queue."""

    to: int
    to_row: int

    def link(self, machine: Machine) -> None:
        super().link(machine)
        self.all_targets: list[Queue] = machine.queue_sets[self.to]

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        registers = context.registers
        self.all_queues[registers[self.row]].splice(self.all_targets[registers[self.to_row]], now)
        return 0
