"""The reference as an engine: the methods of `sim.engine.native.NativeEngine`, on machines of objects."""

from __future__ import annotations

from ..engine import tables as T
from .blueprint import Blueprint, Words
from .image import image_of
from .machine import Machine

SLICE_STEPS = 1 << 40


class ReferenceEngine:
    """Builds and runs machines. Where the native engine has an arena this one has a `Machine`; see `read`."""

    name = "reference"

    def build(self, spec: Words) -> Machine:
        """Make the machine of a spec image, at time 0."""
        return Machine(Blueprint(spec))

    def run(self, machine: Machine, steps: int) -> int:
        """Execute at most `steps` instructions (> 0) up to the machine's `until`; return the status."""
        if machine.status > T.REACHED:
            return machine.status
        machine.resume(steps)
        calendar = machine.calendar
        until = min(machine.until, T.INF)
        while calendar.peek() < until:
            calendar.step()
            if machine.paused:
                return machine.status
        # What is left in the calendar may be overtaken turns only: ask the actors.
        if all(actor.time >= T.INF for actor in machine.actors):
            machine.status = T.HALTED if machine.all_stopped() else T.DEADLOCK
        else:
            machine.status = T.REACHED
            if machine.until > machine.now:
                machine.time_moves(machine.until)
        return machine.status

    def run_until(self, machine: Machine, time_ps: int) -> int:
        """Execute up to a time; return the status."""
        machine.until = time_ps
        return self.run(machine, SLICE_STEPS)

    def reset(self, machine: Machine) -> None:
        """Forget the statistics so far: the end of the warm-up."""
        machine.forget()

    def read(self, machine: Machine) -> Words:
        """The arena that the native engine would have now."""
        return image_of(machine)
