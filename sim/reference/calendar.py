"""The calendar: whose turn it is next, on SimPy's event queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import simpy
from simpy.events import Event, EventPriority

from ..engine.tables import INF

if TYPE_CHECKING:
    from .actor import Actor


class Turn(Event):
    """An actor's next turn, which its process waits for.

    It *may happen* while the actor rests: nobody has set a time. It *is going to happen* once it has a time:
    it stands in the calendar at (time, actor). It *has happened* when the process goes on; the time is its
    value. If somebody wants the actor earlier than that, the turn is *overtaken* by another one that takes
    over what waits for it, and happens to nobody.
    """

    def __init__(self, calendar: Calendar) -> None:
        self.env = calendar
        self.callbacks = []


class Calendar(simpy.Environment):
    """SimPy's environment in whole picoseconds. Turns at equal times go to the lower actor."""

    def appoint(self, actor: Actor, time: int) -> Turn:
        """A turn for an actor at a time (INF or later: one that may happen), for its process to wait for."""
        actor.time = time
        actor.turn = turn = Turn(self)
        if time < INF:
            turn._ok = True
            turn._value = time
            self.schedule(turn, actor.priority, time - self._now)
        return turn

    def bring_forward(self, actor: Actor, time: int) -> None:
        """Give a waiting actor an earlier turn; the one it has is overtaken."""
        overtaken = actor.turn
        turn = self.appoint(actor, time)
        turn.callbacks, overtaken.callbacks = overtaken.callbacks, []


def priority_of(number: int) -> EventPriority:
    """SimPy's priority of an actor: its number."""
    return EventPriority(number)
