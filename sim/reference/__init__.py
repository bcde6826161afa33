"""The reference: the engine's rules a second time, as objects and SimPy processes, written to be read.

It reads the same spec image as `sim.engine` and shares with it the opcode numbers and the declarations of
the tables, but no code. After any number of instructions it can write the arena that the engine would have;
tests hold the two to each other word for word. Where a rule of the simulation is in doubt, read it here.

>>> from sim.reference import ReferenceEngine
>>> engine = ReferenceEngine()
>>> machine = engine.build(spec.image())
>>> engine.run_until(machine, 1_000_000)
"""

from __future__ import annotations

from .engine import ReferenceEngine
from .machine import Machine

__all__ = ["Machine", "ReferenceEngine"]
