"""Agents: NIC queues and senders, which execute programs without a CPU."""

from __future__ import annotations

from ..engine.tables import INF
from .actor import Actor, Life
from .context import Context
from .machine import Machine


class Agent(Actor):
    """An actor with one context and neither cores nor caches. It has a turn, or it sleeps or has stopped."""

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
            instruction = program[context.pc]
            took = self.execute(instruction, context, now)
            if took == 0 and not instruction.ends_turn and machine.steps != machine.pause_at:
                continue
            now = yield self.calendar.appoint(self, now + took if took >= 0 else INF)

    def summon(self, time: int) -> None:
        """End the agent's sleep at a time."""
        self.calendar.bring_forward(self, time)
