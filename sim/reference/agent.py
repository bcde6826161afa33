"""Agents: NIC queues and senders, which execute programs without a CPU."""

from __future__ import annotations

from ..engine.tables import INF
from .actor import Actor, Life
from .context import Context
from .machine import Machine


class Agent(Actor):
    """An actor with one context and neither cores nor caches. It has a turn, or it sleeps or has stopped."""

    __slots__ = ("context",)

    def __init__(self, machine: Machine, number: int, context: Context) -> None:
        super().__init__(machine, number)
        self.context = context
        context.home = number

    def live(self) -> Life:
        """Execute instruction after instruction, each when the one before is done."""
        machine = self.machine
        program = machine.program
        context = self.context
        now = yield self.calendar.appoint(self, INF)
        while True:
            if now > machine.now:
                machine.time_moves(now)
            pc = context.pc
            instruction = program[pc]
            context.pc = pc + 1
            context.instructions += 1
            machine.steps += 1
            took = instruction.execute(self, context, now)
            if machine.steps == machine.pause_at:
                machine.pause(self, pc)
            elif took == 0 and not instruction.ends_turn:
                continue
            now = yield self.calendar.appoint(self, now + took if took >= 0 else INF)

    def summon(self, time: int) -> None:
        """End the agent's sleep at a time."""
        self.calendar.bring_forward(self, time)
