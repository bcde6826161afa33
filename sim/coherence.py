"""The states of one cache line, access by access: as the engine kept them, or as a protocol with a fault would.

Every core's copy is M (its own, written), E (its own, as in memory), S (one of several) or I (none). The engine keeps
owner and sharers and cannot lose an invalidation, as no shipped processor does. To show what the protocol is for,
`replay` runs the same accesses on a small model of its own in which one invalidation goes missing; it says nothing
about time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from .engine import opcodes as O
from .spec import Spec
from .trace import CORE, HERE, Row, Trace

MODIFIED, EXCLUSIVE, SHARED, INVALID = "MESI"
READ, WRITE, ATOMIC, LOCK, UNLOCK = KINDS = ("read", "write", "atomic", "lock", "unlock")


@dataclass(frozen=True)
class Step:
    """One access to the line.

    Parameters
    ----------
    time_ps, took_ps, wait_ps
        When it began, how long it took, and how much of that the line served others.
    core, cpu, kind
        Who did what; `kind` is one of `KINDS`.
    pc
        The instruction's address.
    source, giver
        Where the line came from (see `sim.trace.SOURCES`); the core that gave it, or -1.
    to
        For an unlock: the core of the waiter that gets the lock, and with it the line; else -1.
    rides
        Whether the core's other thread has the line under way: the access takes part in that one and asks for nothing.
    states
        A letter for each core, afterwards.
    versions
        Of a replay: how many writes each core's copy has seen; -1 for no copy.
    """

    time_ps: int
    took_ps: int
    wait_ps: int
    core: int
    cpu: int
    kind: str
    pc: int
    source: int
    giver: int
    to: int
    rides: bool
    states: str
    versions: tuple[int, ...] = ()


def start(trace: Trace) -> str:
    """The states at a trace's beginning. An owner counts as M: whether it wrote is not recorded."""
    return _letters(trace.cores, trace.owner, trace.sharers, True)


def steps(trace: Trace, spec: Spec) -> list[Step]:
    """The accesses of a trace of one watched line (`sim.trace.Window.watch`), with the states that they leave."""
    out: list[Step] = []
    before, dirty = start(trace), True
    for row in trace.rows:
        kind = _kind(spec, row)
        core = trace.core(row.context)
        if kind != READ:
            dirty = True  # also of one that rides: then the owner has written
        elif row.source != HERE:
            dirty = False
        rides = row.source == HERE and row.after != core and (kind != READ or before[core] == INVALID)
        handed = kind == UNLOCK and row.source == CORE and row.after != core
        giver = row.before if row.source == CORE and row.before not in (-1, core) else -1
        out.append(
            Step(
                row.time_ps, row.took_ps, row.wait_ps, core, trace.homes[row.context], kind, row.pc, row.source,
                giver, row.after if handed else -1, rides, _letters(trace.cores, row.after, row.sharers, dirty),
            )
        )
        before = out[-1].states
    return out


def _kind(spec: Spec, row: Row) -> str:
    one = spec.program.code[row.pc]
    if one.op == "ACCESS":
        return O.ACCESS_KINDS[int(str(one.operands[0]))]
    return one.op.lower()


def _letters(cores: int, owner: int, sharers: int, dirty: bool) -> str:
    if owner >= 0:
        return "".join((MODIFIED if dirty else EXCLUSIVE) if c == owner else INVALID for c in range(cores))
    return "".join(SHARED if sharers >> c & 1 else INVALID for c in range(cores))


def transfers(taken: Sequence[Step]) -> int:
    """How often the line went from core to core."""
    return sum(step.source != HERE and (step.giver >= 0 or step.source == CORE) for step in taken)


@dataclass(frozen=True)
class Fault:
    """An invalidation that goes missing: at which step, and which core keeps its copy."""

    step: int
    core: int


class Line:
    """The protocol of one line: letters and versions of `cores` copies, all invalid at first."""

    def __init__(self, cores: int) -> None:
        self.states = [INVALID] * cores
        self.versions = [-1] * cores
        self.latest = 0

    def access(self, core: int, writes: bool, deaf: int = -1) -> None:
        """Read or write by a core; `deaf` is a core that does not hear the invalidation."""
        others = [c for c in range(len(self.states)) if c != core and self.states[c] != INVALID]
        if self.states[core] == INVALID:
            given = [self.versions[c] for c in others]
            self.versions[core] = max(given, default=self.latest)
            self.states[core] = SHARED if others else EXCLUSIVE
            if not writes:
                for c in others:
                    self.states[c] = SHARED
        if not writes:
            return
        if self.states[core] == SHARED or others:
            # a core that owns the line asks nobody: so after a lost invalidation two may own it
            for c in others if self.states[core] == SHARED else ():
                if c != deaf:
                    self.states[c], self.versions[c] = INVALID, -1
        self.states[core] = MODIFIED
        self.versions[core] += 1
        self.latest = max(self.latest, self.versions[core])


def replay(taken: Sequence[Step], begin: str, fault: Fault | None = None) -> list[Step]:
    """The same accesses on a protocol with a fault, or without one. Steps keep their times but not their costs.

    The states `begin` are those before the first step.
    """
    line = Line(len(begin))
    line.states = list(begin)
    line.versions = [-1 if letter == INVALID else 0 for letter in begin]
    out = []
    for number, step in enumerate(taken):
        before = list(line.states)
        deaf = fault.core if fault is not None and fault.step == number else -1
        if not step.rides:
            line.access(step.core, step.kind != READ, deaf)
        if step.to >= 0:  # the waiter takes the word at once
            line.access(step.to, True)
        hit = before[step.core] != INVALID
        owners = [c for c, letter in enumerate(before) if letter in (MODIFIED, EXCLUSIVE) and c != step.core]
        giver = owners[0] if owners and not hit else -1
        out.append(
            replace(
                step, took_ps=0, wait_ps=0, source=HERE if hit else CORE, giver=giver, states="".join(line.states),
                versions=tuple(line.versions),
            )
        )
    return out


def broken(states: str) -> bool:
    """Whether the states contradict each other: an owner, and anybody else with a copy."""
    owners = sum(states.count(letter) for letter in (MODIFIED, EXCLUSIVE))
    return owners > 1 or (owners == 1 and SHARED in states)


class NoFaultError(ValueError):
    """A sequence in which a lost invalidation would show nowhere."""


#: A fault that is put in early is found before anybody steps; one that shows late is hard to trace back.
EARLIEST: Final = 4
SOON: Final = 13


def place_fault(taken: Sequence[Step], begin: str) -> Fault:
    """A lost invalidation that somebody meets later: the core that kept its copy uses it. Raises NoFaultError."""
    for at_once in (False, True):  # better if others come first, so that the fault shows some steps later
        states = begin
        for number, step in enumerate(taken):
            holders = [c for c, letter in enumerate(states) if letter != INVALID and c != step.core]
            later = [s.core for s in taken[number + 1 : number + SOON] if not s.rides]
            if number >= EARLIEST and step.kind in (WRITE, ATOMIC, LOCK) and not step.rides:
                for core in holders:
                    if core in later and (at_once or later[0] != core):
                        return Fault(number, core)
            states = step.states
    raise NoFaultError("in these steps no core comes back to a copy that a write took from it")
