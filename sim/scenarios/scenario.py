"""A scenario: machine, program and workload under named knobs, and how it is run.

The specs of one scenario differ only in the words of their knobs, so a page needs one image for all settings.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, Protocol

from .. import fitted
from ..engine.jit import Array
from ..engine.native import NativeEngine
from ..engine.tables import REACHED, STATUS_NAMES
from ..knob import Knob, numbers, settings
from ..machine import Machine
from ..result import Metric, Replication, Result, Role, measure
from ..spec import Spec
from ..verifier import verify


class Engine(Protocol):
    """What a host of the engine offers (`sim.engine.native.NativeEngine`, `sim.wasm.host.WasmEngine`)."""

    name: str

    def build(self, spec: Array) -> Array: ...

    def run_until(self, arena: Array, time_ps: int) -> int: ...

    def reset(self, arena: Array) -> None: ...


class RunError(RuntimeError):
    """A run that ended before its time: deadlock, livelock or exhaustion, with where."""


class Scenario:
    """Base of all scenarios; a subclass declares the class attributes and writes `compose`.

    Attributes
    ----------
    name, title, varies
        The contract's name; a sentence; what the seed varies.
    warm_ps, quick_ps, until_ps
        End of the warm-up, of a first estimate, and of a full replication.
    patches
        Names of the knobs that are patches of the thread.
    verified
        True if the tests verify the spec at both ends of every knob; a reader's own scenario is verified when it runs.
    """

    name: str
    title: str
    varies: str
    knobs: tuple[Knob, ...]
    patches: tuple[str, ...]
    metrics: tuple[Metric, ...]
    warm_ps: int
    quick_ps: int
    until_ps: int
    replications: int = 5
    verified: bool = False

    def __init__(self, machine: Machine | None = None, changes: Mapping[str, int] | None = None) -> None:
        self.machine = machine if machine is not None else self.default_machine()
        self.changes = dict(changes or {})

    @property
    def fitted(self) -> dict[str, int]:
        """Constants fitted on this scenario, or on another one of the same machine, by name."""
        return {**fitted.on_machine(self.machine.name), **fitted.constants(self.name)}

    def default_machine(self) -> Machine:
        """The machine that stands for the thread's hosts."""
        raise TypeError("a scenario declares its machine")

    def compose(self, spec: Spec) -> Sequence[Role]:
        """Fill an empty spec; return the roles."""
        raise TypeError("a scenario composes its spec")

    @cached_property
    def _composed(self) -> tuple[Spec, tuple[Role, ...]]:
        spec = Spec([k.name for k in self.knobs])
        roles = tuple(self.compose(spec))
        for metric in self.metrics:
            for term in (*metric.numerator, *metric.denominator):
                if term.startswith("stat:"):
                    spec.stat_number(term.removeprefix("stat:"))
        return spec, roles

    @property
    def spec(self) -> Spec:
        """The spec for all settings."""
        return self._composed[0]

    @property
    def roles(self) -> tuple[Role, ...]:
        """The CPUs with a part to play."""
        return self._composed[1]

    def knob(self, name: str) -> Knob:
        """A knob by name; raises KnobError with the nearest name."""
        settings(self.knobs, {name: next((k.default for k in self.knobs if k.name == name), 0)}, self.name)
        return next(k for k in self.knobs if k.name == name)

    def settings(self, **knobs: Any) -> dict[str, int | str]:
        """All knobs with those given changed; raises KnobError."""
        return settings(self.knobs, knobs, self.name)

    def image(self, seed: int = 1, trace_rows: int = 0, **knobs: Any) -> Array:
        """The spec image at a setting."""
        chosen = numbers(self.knobs, self.settings(**knobs))
        return self.spec.image({**chosen, "seed": seed, "trace_rows": trace_rows})

    def replicate(
        self, engine: Engine, seed: int, until_ps: int | None = None, **knobs: Any
    ) -> tuple[Replication, Array]:
        """One replication and its arena. Raises RunError if the run ends before its time."""
        arena = engine.build(self.image(seed, **knobs))
        for time_ps in (self.warm_ps, until_ps or self.until_ps):
            status = engine.run_until(arena, time_ps)
            if status != REACHED:
                raise RunError(self._ended(arena, status))
            if time_ps == self.warm_ps:
                engine.reset(arena)
        return measure(arena, self.spec, self.metrics, self.roles, seed), arena

    def _ended(self, arena: Array, status: int) -> str:
        from ..engine import tables as T

        pc = int(arena[T.H_FAULT_PC])
        where = ""
        if pc >= 0:
            instruction = self.spec.program.code[pc]
            symbol = self.spec.program.symbols[instruction.symbol]
            where = f" at {instruction.op} {' '.join(instruction.words)} in {symbol} (address {pc})"
        return f"{self.name}: {STATUS_NAMES[status]} at {int(arena[T.H_NOW]) / 1e6:,.3f} us{where}"

    def run(
        self, seed: int = 1, replications: int | None = None, engine: Engine | None = None, threads: int = 2,
        until_ps: int | None = None, **knobs: Any,
    ) -> Result:
        """Run replications with seeds seed, seed + 1, ...: the same numbers on any number of threads.

        Raises
        ------
        KnobError
            for an unknown knob or a setting out of range.
        Unsound
            if the verifier refuses the spec (only asked of scenarios that the tests have not verified).
        RunError
            if a replication ends before its time.
        """
        host: Engine = engine if engine is not None else NativeEngine()
        count = self.replications if replications is None else replications
        if count < 1:
            raise ValueError("a run has at least one replication")
        chosen = self.settings(**knobs)
        if not self.verified:
            verify(self.spec, {**numbers(self.knobs, chosen), "seed": seed, "trace_rows": 0})
        seeds = range(seed, seed + count)

        def one(s: int) -> Replication:
            return self.replicate(host, s, until_ps, **knobs)[0]

        if threads > 1 and count > 1 and host.name == "native":
            with ThreadPoolExecutor(min(threads, count)) as pool:
                done = tuple(pool.map(one, seeds))
        else:
            done = tuple(one(s) for s in seeds)
        units = {m.name: m.unit for m in self.metrics}
        return Result(self.name, chosen, seed, host.name, done, units)

    def listing(self, **knobs: Any) -> str:
        """The program at one setting: keys decided, what cannot be reached left out."""
        from ..listing import listing

        return listing(self.spec, numbers(self.knobs, self.settings(**knobs)))

    def diff(self, key: str, **knobs: Any) -> str:
        """The listing with a switch off against the listing with it on, as a unified diff."""
        from ..listing import diff

        if self.knob(key).kind != "switch":
            raise ValueError(f"{key} is not a switch")
        before = self.listing(**{**knobs, key: 0})
        after = self.listing(**{**knobs, key: 1})
        return diff(before, after, key)


def nearest(name: str, names: Sequence[str]) -> str:
    """A hint at the nearest name, or all of them."""
    near = difflib.get_close_matches(name, names, 1, 0.3)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
