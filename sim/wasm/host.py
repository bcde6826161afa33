"""The WebAssembly engine in Python: the page's module, run by wasmtime, with the native engine's methods.

Tests use it to hold the page to the native engine, word for word. It also answers where Numba has not
compiled yet, since the committed module loads in a fraction of a second.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import wasmtime

from sim.engine.tables import H_UNTIL, MORE

from .object import PAGE
from .stamp import ENGINE

Words = npt.NDArray[np.int64]

WORD: Final = 8  # bytes
LINE: Final = 64
SLICE_STEPS: Final = 1_000_000  # between two slices an interrupt (Ctrl-C) is noticed
LARGEST_ARENA: Final = (64 << 20) // WORD  # words
NO_SPEC: Final = np.zeros(0, np.int64)


class WasmError(RuntimeError):
    """The module trapped, or an arena does not fit; the message says which."""


@cache
def _loaded(path: Path, changed: int) -> tuple[wasmtime.Engine, wasmtime.Module]:
    """The compiled module of a file, once for a process; `changed` is the file's time of change in ns."""
    config = wasmtime.Config()
    config.memory_may_move = False  # views of an arena stay valid
    engine = wasmtime.Engine(config)
    return engine, wasmtime.Module.from_file(engine, str(path))


class Home:
    """One instance of the module: a memory with a spec and the arena built from it.

    NumPy keeps it alive through ``__array_interface__`` as long as a view of the arena exists.
    """

    def __init__(self, path: Path, spec: Words, words: int = 0) -> None:
        engine, module = _loaded(path, path.stat().st_mtime_ns)
        self.store = wasmtime.Store(engine)
        provided = {name: self._function(kind, name) for name, kind in _functions(module).items()}
        instance = wasmtime.Instance(self.store, module, list(provided.values()))
        exports: Any = instance.exports(self.store)
        self._entry: Any = exports["entry"]
        self._memory: Any = exports["memory"]
        self.spec_at: int = exports["base"].value(self.store)
        self.spec_words = len(spec)
        self.arena_at = (self.spec_at + spec.nbytes + LINE - 1) // LINE * LINE
        self.words = 0
        self._grow(self.arena_at)
        if spec.size:
            self._memory.write(self.store, spec.tobytes(), self.spec_at)
        self.resize(words)

    def resize(self, words: int) -> None:
        """Make room for an arena of so many words; what is new is zero."""
        if words > LARGEST_ARENA:
            size = f"{words * WORD / (1 << 20):,.0f} MB"
            raise WasmError(f"the arena needs {size}, more than {LARGEST_ARENA * WORD >> 20} MB")
        self._grow(self.arena_at + words * WORD)
        self.words = words

    def call(self, steps: int) -> int:
        """Call the entry on this memory's arena and spec."""
        try:
            at = (self.arena_at, self.words, self.spec_at, self.spec_words)
            return int(self._entry(self.store, *at, steps))
        except wasmtime.Trap as trap:
            raise WasmError(f"the engine trapped: {str(trap).splitlines()[-1].strip()}") from trap

    @property
    def __array_interface__(self) -> dict[str, object]:
        buffer = self._memory.get_buffer_ptr(self.store, 0, self.arena_at)
        place = (ctypes.addressof(buffer), False)
        return {"version": 3, "typestr": "<i8", "shape": (self.words,), "data": place}

    def _grow(self, end: int) -> None:
        missing = -(-end // PAGE) - self._memory.size(self.store)
        if missing > 0:
            self._memory.grow(self.store, missing)

    def _function(self, kind: wasmtime.FuncType, name: str) -> wasmtime.Func:
        """One of the few functions a module may import, as C defines it."""

        def fmod(x: float, y: float) -> float:
            return math.fmod(x, y) if math.isfinite(x) and y != 0 else math.nan

        def memset(at: int, byte: int, count: int) -> int:
            self._memory.write(self.store, bytes([byte & 0xFF]) * count, at)
            return at

        def memcpy(at: int, source: int, count: int) -> int:
            self._memory.write(self.store, self._memory.read(self.store, source, source + count), at)
            return at

        bodies: dict[str, Callable[..., Any]] = {
            "fmod": fmod,
            "memset": memset,
            "memcpy": memcpy,
            "memmove": memcpy,
        }
        return wasmtime.Func(self.store, kind, bodies[name])


def _functions(module: wasmtime.Module) -> dict[str, wasmtime.FuncType]:
    kinds = {str(one.name): one.type for one in module.imports}
    return {name: kind for name, kind in kinds.items() if isinstance(kind, wasmtime.FuncType)}


class WasmEngine:
    """`sim.engine.native.NativeEngine` on WebAssembly: arenas in, arenas out.

    An arena that `build` returned lies in the module's own memory, one instance for each, and `run` and
    `reset` work on it in place. Any other int64 array (a copy, a native arena) is copied in and out.
    """

    name = "wasm"

    def __init__(self, path: Path | str | None = None) -> None:
        self.path = Path(path) if path is not None else ENGINE
        if not self.path.exists():
            raise FileNotFoundError(f"{self.path} is missing: run `python -m sim.wasm.compile`")

    def build(self, spec: Words) -> Words:
        """The arena of a spec image.

        Raises
        ------
        WasmError
            If the arena is larger than 64 MB, or the engine refuses the spec by an exception.
        """
        home = Home(self.path, np.ascontiguousarray(spec, np.int64))
        # The engine may need a small arena to find out how large one it needs.
        while (words := home.call(0)) != home.words:
            if words < home.words:
                raise WasmError(f"the engine refuses this spec ({words})")
            home.resize(words)
        return np.asarray(home)

    def run(self, arena: Words, steps: int) -> int:
        """Run at most `steps` instructions; the status, as the entry returns it."""
        if steps < 1:
            raise ValueError(f"steps must be at least 1, not {steps}")
        return self._call(arena, steps)

    def run_until(self, arena: Words, time_ps: int) -> int:
        """Run up to a time, in slices; the status."""
        arena[H_UNTIL] = time_ps
        status = MORE
        while status == MORE:
            status = self.run(arena, SLICE_STEPS)
        return status

    def reset(self, arena: Words) -> None:
        """Forget the statistics so far (the end of the warm-up)."""
        self._call(arena, -1)

    def read(self, arena: Words) -> Words:
        """A copy of the arena as it is now, which later runs leave alone."""
        return np.array(arena, np.int64)

    def _call(self, arena: Words, steps: int) -> int:
        home = arena.base
        if isinstance(home, Home) and len(arena) == home.words:
            return home.call(steps)
        visitor = Home(self.path, NO_SPEC, len(arena))
        inside = np.asarray(visitor)
        inside[:] = arena
        status = visitor.call(steps)
        arena[:] = inside
        return status
