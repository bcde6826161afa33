"""The three hosts of one source agree on every word of the arena, at every slice boundary."""

from __future__ import annotations

import gc
import json
import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.wasm.host import LARGEST_ARENA, WasmEngine, WasmError
from tests.sim.wasm import page, toy
from tests.sim.wasm.conftest import Native

Words = npt.NDArray[np.int64]

WORD = st.integers(-(2**63), 2**63 - 1)
SEED = st.integers(1, 2**32 - 1)


def image(
    cells: int = 50, slope: int = 77_777_777, offset: int = 3, seed: int = 5, until: int = 10_000
) -> Words:
    return np.array([toy.HEADER + cells, slope, offset, seed, until], np.int64)


SPECS = st.builds(image, st.integers(1, 300), WORD, WORD, SEED, st.integers(0, 5_000))
SLICES = st.lists(st.integers(1, 400), min_size=1, max_size=6)


@pytest.fixture(scope="session")
def engine(toy_module: Path) -> WasmEngine:
    return WasmEngine(toy_module)


@settings(max_examples=150, deadline=None)
@given(spec=SPECS, slices=SLICES, reset_after=st.integers(0, 5))
def test_native_and_webassembly_agree_at_every_slice(
    engine: WasmEngine, native: Native, spec: Words, slices: list[int], reset_after: int
) -> None:
    ours, theirs = engine.build(spec), native.build(spec)
    assert ours.tobytes() == theirs.tobytes()
    for index, steps in enumerate(slices):
        assert engine.run(ours, steps) == native.run(theirs, steps)
        if index == reset_after:
            engine.reset(ours)
            native.reset(theirs)
        assert ours.tobytes() == theirs.tobytes()


@settings(max_examples=40, deadline=None)
@given(spec=SPECS, slices=SLICES)
def test_slices_do_not_show(engine: WasmEngine, spec: Words, slices: list[int]) -> None:
    cut, whole = engine.build(spec), engine.build(spec)
    for steps in slices:
        engine.run(cut, steps)
    engine.run(whole, sum(slices))
    assert cut.tobytes() == whole.tobytes()


def test_a_native_arena_goes_on_in_webassembly_and_back(engine: WasmEngine, native: Native) -> None:
    arena, alone = native.build(image()), native.build(image())
    for _ in range(3):
        engine.run(arena, 100)
        native.run(arena, 100)
        native.run(alone, 200)
    assert arena.tobytes() == alone.tobytes()


def test_arenas_of_one_engine_are_apart_and_outlive_it(toy_module: Path) -> None:
    first = WasmEngine(toy_module).build(image(seed=1))
    copy = first.copy()
    engine = WasmEngine(toy_module)
    others = [engine.build(image(seed=seed)) for seed in range(2, 12)]
    for other in others:
        engine.run(other, 500)
    del others
    gc.collect()
    assert first.tobytes() == copy.tobytes()
    engine.run(first, 500)
    engine.run(copy, 500)
    assert first.tobytes() == copy.tobytes()


def test_a_read_is_a_copy(engine: WasmEngine) -> None:
    arena = engine.build(image())
    before = engine.read(arena)
    engine.run(arena, 10)
    assert before.tobytes() != arena.tobytes()


def test_an_arena_of_64_megabytes_fits_and_a_larger_one_is_refused(engine: WasmEngine) -> None:
    assert len(engine.build(image(LARGEST_ARENA - toy.HEADER))) == LARGEST_ARENA
    with pytest.raises(WasmError, match="64 MB"):
        engine.build(image(LARGEST_ARENA - toy.HEADER + 1))


def test_an_exception_in_the_kernel_is_an_error_here(engine: WasmEngine) -> None:
    arena = engine.build(image())
    with pytest.raises(WasmError, match="unreachable"):
        engine._call(arena, -2)


def test_no_steps_are_refused(engine: WasmEngine) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        engine.run(engine.build(image()), 0)


def test_a_missing_module_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"python -m sim\.wasm\.compile"):
        WasmEngine(tmp_path / "none.wasm")


def test_the_page_host_agrees_with_native_and_rebuilds_after_growth(
    node: str, native: Native, toy_module: Path, tmp_path: Path
) -> None:
    slices: list[page.Slice] = [
        (1, None, False),
        (49_999, None, True),
        (50_000, 10**7, False),
        (120_001, None, False),
    ]
    rng = np.random.default_rng(3)
    sizes = (10, 200_000, 50, 1_000_000, 3_000)
    specs = [image(n, int(rng.integers(2**62)), int(rng.integers(99)), 1 + n, 10**6) for n in sizes]
    done = page.in_page(node, toy_module, specs, slices, toy.AT_UNTIL, tmp_path)
    assert set(done["stamp"]) == {"sources", "compiler", "numba", "llvmlite"}
    for spec, answer in zip(specs, done["answers"], strict=True):
        assert answer == page.in_python(native, spec, slices, toy.AT_UNTIL)


def test_the_page_host_says_what_it_refuses_and_goes_on(node: str, toy_module: Path) -> None:
    command = [node, str(page.HERE / "run_refusals.mjs"), str(page.HOST), str(toy_module)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert json.loads(done.stdout) == {
        "early": "Error: there is no arena: build one first",
        "numbers": "TypeError: a spec is a BigInt64Array",
        "large": "RangeError: the arena needs 65 MB, more than 64",
        "after": "Error: there is no arena: build one first",
        "fine": 1,
    }


def test_a_worker_drops_a_run_between_slices_when_another_is_wanted(
    node: str, native: Native, toy_module: Path, tmp_path: Path
) -> None:
    long, short = image(until=2**60), image(seed=9, until=600_000)
    files = []
    for name, spec in (("long", long), ("short", short)):
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps([str(word) for word in spec]))
    command = [
        node,
        str(page.HERE / "run_worker.mjs"),
        str(page.HOST),
        str(page.HERE / "example_worker.js"),
        str(toy_module),
    ]
    done = subprocess.run(
        [*command, *map(str, files)], check=True, capture_output=True, text=True, timeout=60
    )
    first, second = json.loads(done.stdout)
    assert first["id"] == 1
    assert first["cancelled"]
    assert second["id"] == 2
    assert second["status"] == 1
    arena = native.build(short)
    while native.run(arena, 50_000) == 0:
        pass
    digest = 0
    for word in arena.tolist():
        digest = (digest * 31 + word) & (2**64 - 1)
    assert int(second["digest"]) % 2**64 == digest
