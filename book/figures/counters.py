"""A fault for the page on the machine: counters of one's own that are not."""

from __future__ import annotations

from collections.abc import Sequence

from book.figures.table import Table
from sim import counting
from sim.engine import tables
from sim.engine.native import NativeEngine
from sim.listing import listing
from sim.machine import load
from sim.spec import Spec


def wrong_index() -> Spec:
    """The counting program in which every CPU adds to the counter of register n, which nobody sets, not to its own."""
    spec = counting.build.__wrapped__()  # a fresh one: the fault must not reach the program that other pages run
    program = spec.program
    at = next(i for i, code in enumerate(program.code) if code.op == "ACCESS" and "own" in code.words)
    kind, lines, _, line = program.code[at].operands
    words = ("write", "own", "n", "value")
    spec.program = program.replaced(at, operands=(kind, lines, counting.N.number, line), words=words)
    return spec


def _knobs(threads: int) -> dict[str, int]:
    machine = counting.costs(load("cascade-lake"))
    return {"threads": threads, "way": list(counting.WAYS).index("private"), **machine, "inside_ps": 0, "outside_ps": 0}


def shown(spec: Spec, threads: int = 16) -> str:
    """The part of the program that runs with counters of one's own."""
    return listing(spec, _knobs(threads))


def rate(spec: Spec, threads: int) -> float:
    """Counts of all CPUs together, million a second."""
    knobs, engine = _knobs(threads), NativeEngine()
    warm_ps, until_ps = 10_000_000, 40_000_000
    arena = engine.build(spec.image({**knobs, "seed": 1}))
    engine.run_until(arena, warm_ps)
    engine.reset(arena)
    engine.run_until(arena, until_ps)
    counted = int(arena[arena[tables.H_AT_STAT] + spec.stat_number("operations")])
    return 1e6 * counted / (until_ps - warm_ps)


def rates(threads: Sequence[int]) -> Table:
    """Both programs on some numbers of CPUs."""
    right, wrong = counting.build(), wrong_index()
    return Table(
        "Counts of all CPUs together, M/s, on one socket of a Cascade Lake server",
        ["CPUs", "the book's program", "the colleague's"],
        [(str(n), rate(right, n), rate(wrong, n)) for n in threads], digits=0,
    )
