"""Whether engines agree: the same integers after every slice of a case."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.engine import tables as T
from sim.engine.jit import Array
from sim.reference import Machine, ReferenceEngine

from .corpus import Case, Slice

TABLES = {
    "cpu": T.CPU, "context": T.CONTEXT, "line": T.LINE, "lock": T.LOCK, "queue": T.QUEUE, "trace": T.TRACE,
    "code": ("op", "a", "b", "c", "d", "e", "symbol", "mask"),
}


class Disagreement(AssertionError):
    """Two engines differ; the message names the words."""


def name_of_word(arena: Array, at: int) -> str:
    """The name of an arena's word: ``cpu 3 idle_since``."""
    if at < T.HEADER_WORDS:
        return f"header {T.HEADER[at]}"
    places = {name[3:]: int(arena[i]) for i, name in enumerate(T.HEADER) if name.startswith("at_")}
    table = max((name for name in places if places[name] <= at), key=places.__getitem__)
    row = at - places[table]
    if table in TABLES:
        words = TABLES[table]
        return f"{table} {row // len(words)} {words[row % len(words)]}"
    return f"{table} {row}"


def compare(expected: Array, got: Array, name: str) -> None:
    """Raise Disagreement if the arenas differ."""
    if expected.shape != got.shape:
        raise Disagreement(f"{name} has {got.shape[0]} words, the reference {expected.shape[0]}")
    differing = np.flatnonzero(expected != got)
    if differing.size:
        some = [
            f"{name_of_word(expected, int(i))}: reference {expected[i]}, {name} {got[i]}" for i in differing[:8]
        ]
        raise Disagreement(f"{differing.size} words differ: " + "; ".join(some))


def advance(engine: Any, arena: Array, piece: Slice, until: int) -> int:
    """Run a slice on an engine with arenas; its status."""
    if piece.reset:
        engine.reset(arena)
    arena[T.H_UNTIL] = until
    return int(engine.run(arena, piece.steps))


def check(case: Case, engines: list[Any], machine: Machine | None = None) -> Machine:
    """Run a case on the reference and on engines; the reference's machine at the end.

    Raises Disagreement, with the slice and the words, as soon as they differ.
    """
    reference = ReferenceEngine()
    machine = machine or reference.build(case.image)
    arenas = [engine.build(case.image) for engine in engines]
    for engine, arena in zip(engines, arenas, strict=True):
        compare(reference.read(machine), arena, f"{type(engine).__name__} as built")
    for number, piece in enumerate(case.slices):
        until = machine.now + piece.within_ps if piece.within_ps else T.INF
        if piece.reset:
            reference.reset(machine)
        machine.until = until
        status = reference.run(machine, piece.steps)
        expected = reference.read(machine)
        for engine, arena in zip(engines, arenas, strict=True):
            got = advance(engine, arena, piece, until)
            name = f"{type(engine).__name__} after slice {number} of {len(case.slices)}"
            if got != status:
                raise Disagreement(f"{name}: status {T.STATUS_NAMES[got]}, reference {T.STATUS_NAMES[status]}")
            compare(expected, arena, name)
    return machine
