"""The committed engine is that of the sources, asks nothing of a page, gives the native engine's words."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim import scenarios
from sim.engine import tables
from sim.engine.native import NativeEngine
from sim.spec import Spec
from sim.wasm import object as wasm_object
from sim.wasm import stamp
from sim.wasm.compile import compile_module
from sim.wasm.host import WasmEngine
from tests.sim.wasm import page, specs

SEED = st.integers(0, 2**31)
STEPS = st.integers(1, 3_000)
UNTIL = st.none() | st.integers(1, 60_000_000) | st.just(tables.INF)
SLICES = st.lists(st.tuples(STEPS, UNTIL, st.booleans()), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def native() -> NativeEngine:
    return NativeEngine()


@pytest.fixture(scope="module")
def wasm() -> WasmEngine:
    return WasmEngine()


def test_the_committed_module_is_not_stale() -> None:
    assert stamp.complaint() is None


def test_the_engine_imports_nothing() -> None:
    parts = dict(wasm_object.sections(stamp.ENGINE.read_bytes()))
    assert wasm_object.imports(parts[wasm_object.IMPORT]) == []


@settings(max_examples=150, deadline=None)
@given(seed=SEED, slices=SLICES)
def test_native_and_webassembly_agree_at_every_slice(
    native: NativeEngine, wasm: WasmEngine, seed: int, slices: list[page.Slice]
) -> None:
    spec = specs.image(seed)
    theirs, ours = native.build(spec), wasm.build(spec)
    assert ours.tobytes() == theirs.tobytes()
    for steps, until, reset in slices:
        if until is not None:
            ours[tables.H_UNTIL] = theirs[tables.H_UNTIL] = until
        assert wasm.run(ours, steps) == native.run(theirs, steps)
        if reset:
            wasm.reset(ours)
            native.reset(theirs)
        assert ours.tobytes() == theirs.tobytes()


def test_every_status_occurs_and_is_the_same() -> None:
    native, wasm = NativeEngine(), WasmEngine()
    seen = set()
    for seed in range(40):
        spec = specs.image(seed)
        theirs, ours = native.build(spec), wasm.build(spec)
        ours[tables.H_UNTIL] = theirs[tables.H_UNTIL] = 2_000_000 << seed % 2 * 20
        status = native.run(theirs, 5_000)
        assert wasm.run(ours, 5_000) == status
        assert ours.tobytes() == theirs.tobytes()
        seen.add(status)
    assert seen == {tables.MORE, tables.REACHED, tables.DEADLOCK, tables.EXHAUSTED}


def test_a_livelock_is_the_same_result() -> None:
    spec = Spec()
    spec.program.label("agent")
    spec.program.count("turns")
    spec.program.jump("agent")
    spec.spawn_agents("agents", "agent")
    spec.cost(sockets=1, cores_per_socket=1, threads_per_core=1)
    native, wasm = NativeEngine(), WasmEngine()
    theirs, ours = native.build(spec.image()), wasm.build(spec.image())
    assert native.run(theirs, tables.LIVELOCK_STEPS * 2) == tables.LIVELOCK
    assert wasm.run(ours, tables.LIVELOCK_STEPS * 2) == tables.LIVELOCK
    assert ours.tobytes() == theirs.tobytes()


def test_the_page_host_agrees_with_native(node: str, tmp_path: Path) -> None:
    slices: list[page.Slice] = [(7, None, False), (2_000, 9_000_000, True), (60_000, 400_000_000, False)]
    images = [specs.image(seed) for seed in range(25)]
    done = page.in_page(node, stamp.ENGINE, images, slices, tables.H_UNTIL, tmp_path)
    assert done["stamp"] == stamp.read(stamp.ENGINE.read_bytes())
    for spec, answer in zip(images, done["answers"], strict=True):
        assert answer == page.in_python(NativeEngine(), spec, slices, tables.H_UNTIL)


@pytest.mark.parametrize("name", scenarios.names())
def test_the_hosts_agree_on_every_scenario(
    name: str, native: NativeEngine, wasm: WasmEngine, node: str, tmp_path: Path
) -> None:
    spec = scenarios.load(name).image(seed=7)
    slices: list[page.Slice] = [(1_000, None, False), (120_000, 1_000_000_000, True), (80_000, None, False)]
    expected = page.in_python(native, spec, slices, tables.H_UNTIL)
    assert page.in_python(wasm, spec, slices, tables.H_UNTIL) == expected
    assert page.in_page(node, stamp.ENGINE, [spec], slices, tables.H_UNTIL, tmp_path)["answers"] == [expected]


def test_an_arena_for_112_cpus_and_10000_flows_fits(wasm: WasmEngine) -> None:
    spec = Spec()
    flows = spec.domain("flows", 10_000)
    lines = spec.struct("sock", flows, {"lock": 0}, 8)
    spec.spinlocks("lock", lines, "lock")
    spec.queue("receive", flows, spec.domain("skbs", 60_000))
    spec.program.label("thread")
    spec.program.work(1_000)
    spec.program.jump("thread")
    spec.spawn_threads("threads", "thread", 10_000, 0, 1, 112, 1)
    spec.cost(sockets=2, cores_per_socket=28, threads_per_core=2, smt_permille=1_000)
    arena = wasm.build(spec.image())
    assert arena.nbytes < 64 << 20
    arena[tables.H_UNTIL] = 1_000_000
    assert wasm.run(arena, 1_000_000) == tables.REACHED
    assert arena[tables.H_STEPS] >= 112 * 900


def test_running_until_a_time_is_running_in_slices(native: NativeEngine, wasm: WasmEngine) -> None:
    theirs, ours = native.build(specs.image(0)), wasm.build(specs.image(0))
    assert wasm.run_until(ours, 20_000_000) == native.run_until(theirs, 20_000_000) == tables.REACHED
    assert ours.tobytes() == theirs.tobytes()


@pytest.mark.slow
def test_no_index_leaves_its_array_in_sound_specs(tmp_path: Path) -> None:
    compile_module(tmp_path / "checked.wasm", checked=True)
    engine = WasmEngine(tmp_path / "checked.wasm")
    for seed in range(500):
        arena = engine.build(specs.image(seed))
        engine.run(arena, 3_000)
        engine.reset(arena)
        engine.run(arena, 3_000)


@pytest.mark.slow
def test_the_rebuilt_module_gives_the_same_outputs(tmp_path: Path, wasm: WasmEngine) -> None:
    rebuilt = tmp_path / "engine.wasm"
    compile_module(rebuilt)
    committed = stamp.ENGINE.read_bytes()
    made_with = stamp.read(committed)
    if all(made_with[name] == version(name) for name in ("numba", "llvmlite")):
        assert rebuilt.read_bytes() == committed
    slices: list[page.Slice] = [(2_000, 9_000_000, True), (3_000, tables.INF, False)]
    for seed in range(60):
        spec = specs.image(seed)
        again = page.in_python(WasmEngine(rebuilt), spec, slices, tables.H_UNTIL)
        assert again == page.in_python(wasm, spec, slices, tables.H_UNTIL)
