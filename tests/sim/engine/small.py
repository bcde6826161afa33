"""Small specs by hand, for golden integers and for results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim.engine import tables as T
from sim.engine.native import NativeEngine
from sim.program import Program, Register
from sim.reference import ReferenceEngine
from sim.spec import Spec
from sim.wasm import stamp
from sim.wasm.host import WasmEngine

R0, R1, R2 = (Register(i, f"r{i}") for i in range(3))
ME = Register(15, "cpu")

#: Round numbers, all different, so that a sum shows what it is made of.
COSTS = {
    "sockets": 1, "cores_per_socket": 2, "threads_per_core": 1,
    "hit_ps": 1_000, "sibling_ps": 5_000, "same_socket_ps": 40_000, "other_socket_ps": 100_000,
    "shared_read_ps": 20_000, "memory_ps": 80_000, "atomic_ps": 6_000,
    "smt_permille": 1_500, "ticket_permille": 1_000, "ticket_waiter_permille": 500, "queued_permille": 1_200,
    "switch_ps": 300_000, "idle_exit_ps": 200_000,
}


def spec(write: Callable[[Spec, Program], None], **costs: int) -> Spec:
    """A spec on two cores of one socket, or what the costs say."""
    new = Spec()
    new.cost(**{**COSTS, **costs})
    write(new, new.program)
    return new


def all_engines() -> list[Any]:
    """The reference, the native engine, and WebAssembly unless its module is stale."""
    return [ReferenceEngine(), NativeEngine(), *([] if stamp.complaint() else [WasmEngine()])]


def run(engine: Any, new: Spec, until: int = T.INF, steps: int = 2_000_000, **knobs: int) -> tuple[int, Any]:
    """Status and arena after at most so many instructions."""
    state = engine.build(new.image(knobs))
    if isinstance(engine, ReferenceEngine):
        state.until = until
        return engine.run(state, steps), engine.read(state)
    state[T.H_UNTIL] = until
    return int(engine.run(state, steps)), state


def word(arena: Any, table: str, row: int, name: str) -> int:
    """A word of an arena by name."""
    names = {"cpu": T.CPU, "context": T.CONTEXT, "line": T.LINE, "lock": T.LOCK, "queue": T.QUEUE}[table]
    at = int(arena[T.HEADER.index(f"at_{table}")])
    return int(arena[at + row * len(names) + names.index(name)])


def profile(arena: Any, new: Spec, row: int) -> dict[str, int]:
    """Picoseconds by symbol, those that are not 0. Rows: the softirqs of all CPUs, then their threads."""
    symbols = new.program.symbols
    at = int(arena[T.H_AT_PROFILE]) + row * len(symbols)
    return {name: int(arena[at + i]) for i, name in enumerate(symbols) if arena[at + i]}
