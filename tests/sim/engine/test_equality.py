"""The reference, the native engine, WebAssembly and plain Python give the same integers, slice by slice."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

import sim
from sim.engine import tables as T
from sim.engine.native import NativeEngine
from sim.reference import ReferenceEngine
from sim.verifier import verify_image
from sim.wasm import stamp
from sim.wasm.host import WasmEngine

from . import corpus
from .agreement import Disagreement, advance, check, compare
from .census import Census, missing

CASES = 360
PLAIN_CASES = 6


def engines() -> list[Any]:
    """All compiled engines; a module that is stale is another test's fault."""
    return [NativeEngine(), *([] if stamp.complaint() else [WasmEngine()])]


def test_engines_agree_on_the_corpus_and_everything_occurs_in_it() -> None:
    census = Census()

    @settings(
        max_examples=CASES, deadline=None, derandomize=True, database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example),
    )
    @given(st.randoms(use_true_random=False))
    def agree(random: Random) -> None:
        case = corpus.draw(random)
        census["case"] += 1
        note(case.listing())
        machine = census.watch(ReferenceEngine().build(case.image))
        check(case, engines(), machine)
        census.close(machine)

    with census.of_cpus():
        agree()
    assert census["case"] >= 300
    assert missing(census) == {}


@pytest.mark.parametrize("seed", range(30))
def test_cases_of_the_corpus_are_sound(seed: int) -> None:
    case = corpus.draw(Random(seed))
    verify_image(case.spec, case.image)


@pytest.mark.parametrize("seed", range(6))
def test_slices_change_nothing(seed: int) -> None:
    """One run, and the same in slices of a few instructions: one hash, whatever the slices."""
    case = corpus.draw(Random(seed))
    engine = NativeEngine()
    whole, parts = engine.build(case.image), engine.build(case.image)
    engine.run(whole, 1500)
    random = Random(seed)
    left = 1500
    while left and parts[T.H_STATUS] == T.MORE:
        steps = min(left, random.randint(1, 9))
        engine.run(parts, steps)
        left -= steps
    np.testing.assert_array_equal(whole, parts)


@pytest.mark.parametrize("topology", [(2, 56, 1), (2, 40, 1), (4, 28, 2), (1, 112, 1)], ids=str)
def test_engines_agree_on_wide_machines(topology: tuple[int, int, int]) -> None:
    """More cores than bits in a word of sharers, and sockets that lie on both words."""
    shared_beyond = 0
    for seed in range(4):
        machine = check(corpus.draw(Random(seed), [topology]), engines())
        shared_beyond += sum(core.number >= T.SHARER_BITS for line in machine.lines for core in line.sharers)
    assert shared_beyond > 0


def test_plain_python_gives_the_same_integers() -> None:
    """With the JIT off the engine is ordinary Python on NumPy's integers."""
    program = f"from tests.sim.engine import test_equality as t; print(*map(t.digest, range({PLAIN_CASES})))"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    root = sim.ROOT.parent
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=root, env=environment, check=True, capture_output=True,
        text=True, timeout=120,
    )
    assert done.stdout.split() == [digest(seed) for seed in range(PLAIN_CASES)]


def digest(seed: int) -> str:
    """Hash of the arenas of a case after each of its slices."""
    case = corpus.draw(Random(seed))
    engine = NativeEngine()
    arena = engine.build(case.image)
    total = hashlib.sha256(arena.tobytes())
    for piece in case.slices:
        until = int(arena[T.H_NOW]) + piece.within_ps if piece.within_ps else T.INF
        advance(engine, arena, corpus.Slice(min(piece.steps, 300), 0, piece.reset), until)
        total.update(arena.tobytes())
    return total.hexdigest()


def test_a_difference_is_found_and_named() -> None:
    case = corpus.draw(Random(1))
    arena = NativeEngine().build(case.image)
    other = arena.copy()
    other[arena[T.H_AT_CPU] + T.C_IDLE_SINCE] += 1
    with pytest.raises(Disagreement, match="cpu 0 idle_since: reference 0, other 1"):
        compare(arena, other, "other")


def test_run_and_reset_and_until_are_the_same_three_methods() -> None:
    case = corpus.draw(Random(2))
    reference, native = ReferenceEngine(), NativeEngine()
    machine, arena = reference.build(case.image), native.build(case.image)
    for time in (1_000_000, 5_000_000, 9_000_000):
        assert reference.run_until(machine, time) == native.run_until(arena, time)
        compare(reference.read(machine), arena, "native")
        reference.reset(machine)
        native.reset(arena)
        compare(reference.read(machine), arena, "native")


def test_only_the_engine_holds_compiled_functions() -> None:
    """The key of Numba's cache is a hash of sim/engine, so compiled functions must be nowhere else."""
    compiled = re.compile(r"^\s*@(kernel|njit|jit|numba\.\w*jit|\w+\.vectorize|vectorize|guvectorize)\b", re.MULTILINE)
    outside = [
        str(path.relative_to(sim.ROOT))
        for path in sorted(sim.ROOT.rglob("*.py"))
        if sim.ROOT / "engine" not in path.parents and compiled.search(path.read_text(encoding="utf-8"))
    ]
    assert outside == []
    inside = Path(sim.ROOT / "engine" / "run.py").read_text(encoding="utf-8")
    assert compiled.search(inside), "the pattern finds compiled functions where they are"
