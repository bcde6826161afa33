"""The census: how often what the corpus is for occurs in it, counted on the reference while it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sim.engine import opcodes as O
from sim.engine import tables as T
from sim.reference import Machine
from sim.reference.context import Context
from sim.reference.cpu import Cpu
from sim.reference.instruction import Instruction
from sim.reference.program import resolved

#: What must occur, besides every opcode.
EVENTS = (
    "idle CPU", "spinning CPU", "sleeping thread", "sleeping agent", "throttled softirq", "full queue",
    "empty queue", "filled queue", "drained queue", "IPI", "timer", "interrupt of a device", "ring wrap",
    "woken thread", "woken agent", "wake-up before the sleep", "work in pieces", "busy sibling",
    "ticket handed over", "queued lock handed over", "splice of several", "line from memory",
)


class Census(Counter[str]):
    """Counts by name, over all machines that are watched."""

    def watch(self, machine: Machine) -> Machine:
        """Count what the machine's instructions do from now on."""
        rows = machine.blueprint["code"]
        for address, instruction in enumerate(machine.program):
            op, *words = resolved(rows[address], machine.blueprint.values)
            operands = dict(zip((x.name for x in O.OPCODES[O.NAMES[op]].operands), words, strict=False))
            machine.program[address] = Watched(machine, instruction, O.NAMES[op], operands, self)
        return machine

    def close(self, machine: Machine) -> None:
        """Count what shows at the end of a run."""
        if machine.trace.room:
            self["ring wrap"] += machine.trace.count // machine.trace.room
        self["line from memory"] += machine.memory.reads
        self[f"status {T.STATUS_NAMES[machine.status]}"] += 1

    @contextmanager
    def of_cpus(self) -> Iterator[None]:
        """Count what CPUs do between instructions."""
        pause, enter = Cpu._pause, Cpu._enter_softirq

        def counted_pause(cpu: Cpu, now: int) -> int:
            at = pause(cpu, now)
            self["idle CPU" if cpu.state == T.IDLE else "thread switch"] += 1
            return at

        def counted_enter(cpu: Cpu, now: int) -> bool:
            entered = enter(cpu, now)
            self["softirq" if entered else "throttled softirq"] += 1
            return entered

        Cpu._pause, Cpu._enter_softirq = counted_pause, counted_enter  # type: ignore[method-assign]
        try:
            yield
        finally:
            Cpu._pause, Cpu._enter_softirq = pause, enter  # type: ignore[method-assign]


class Watched(Instruction):
    """An instruction that is counted when it is executed."""

    def __init__(
        self, machine: Machine, instruction: Instruction, name: str, operands: dict[str, int], census: Census
    ) -> None:
        super().__init__(machine, instruction.symbol, {})
        self.ends_turn = instruction.ends_turn
        self.instruction = instruction
        self.name = name
        self.operands = operands
        self.census = census

    def execute(self, actor: Any, context: Context, now: int) -> int:
        """Count, and do what the instruction does."""
        self.census[self.name] += 1
        before = getattr(self, f"before_{self.name.lower()}", None)
        for event in before(actor, context) if before else ():
            self.census[event] += 1
        took = self.instruction.execute(actor, context, now)
        after = getattr(self, f"after_{self.name.lower()}", None)
        for event in after(actor, context) if after else ():
            self.census[event] += 1
        return took

    def _row(self, context: Context, operand: str = "row") -> int:
        return context.registers[self.operands[operand]]

    def _length(self, context: Context) -> tuple[int, int]:
        queue = self.machine.queue_sets[self.operands["queue"]][self._row(context)]
        return len(queue.items), queue.capacity

    def before_push(self, actor: Any, context: Context) -> Iterator[str]:
        length, capacity = self._length(context)
        if length >= capacity:
            yield "full queue"
        elif length + 1 == capacity:
            yield "filled queue"

    def before_pop(self, actor: Any, context: Context) -> Iterator[str]:
        length, _ = self._length(context)
        if length < 2:
            yield "drained queue" if length else "empty queue"

    def before_splice(self, actor: Any, context: Context) -> Iterator[str]:
        if self._length(context)[0] > 1:
            yield "splice of several"

    def before_raise(self, actor: Any, context: Context) -> Iterator[str]:
        number = self._row(context, "cpu") if self.operands["cpu"] >= 0 else actor.number
        if not isinstance(actor, Cpu):
            yield "interrupt of a device"
        elif number != actor.number:
            yield "IPI"
        elif self.operands["delay_ps"] > 0:
            yield "timer"

    def before_wake(self, actor: Any, context: Context) -> Iterator[str]:
        thread = self.operands["who"] == O.THREADS
        number = self._row(context)
        woken = self.machine.threads[number] if thread else self.machine.agents[number].context
        if woken.state == T.SLEEPING:
            yield "woken thread" if thread else "woken agent"

    def before_sleep(self, actor: Any, context: Context) -> Iterator[str]:
        if context.token:
            yield "wake-up before the sleep"
        else:
            yield "sleeping thread" if context.kind == T.THREAD else "sleeping agent"

    def before_unlock(self, actor: Any, context: Context) -> Iterator[str]:
        lock = self.machine.lock_sets[self.operands["locks"]][self._row(context)]
        if lock.waiters:
            yield "ticket handed over" if lock.kind == T.TICKET else "queued lock handed over"

    def before_work(self, actor: Any, context: Context) -> Iterator[str]:
        if isinstance(actor, Cpu) and actor.sibling is not None and actor.sibling.state == T.RUNNING:
            yield "busy sibling"

    def after_work(self, actor: Any, context: Context) -> Iterator[str]:
        if context.left:
            yield "work in pieces"

    def after_lock(self, actor: Any, context: Context) -> Iterator[str]:
        if actor.state == T.SPINNING:
            yield "spinning CPU"


def missing(census: Counter[str], least: int = 100) -> dict[str, int]:
    """What occurs less often than it must."""
    return {name: census[name] for name in (*O.NAMES, *EVENTS) if census[name] < least}
