"""The pieces of `make bench` work; how fast anything is, is not asserted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from sim import ROOT, scenarios
from sim.engine import tables as T
from sim.engine.native import NativeEngine
from sim.verifier import verify
from sim.wasm import stamp
from sim.wasm.host import WasmEngine
from tests.bench import __main__ as bench
from tests.bench import mix, untraced
from tests.bench.hosts import Chromium, InProcess, Node, Reference
from tests.bench.line import Line, at_least, at_most, verdicts
from tests.bench.turns import Spent, clock, interleave, rate, ratio

STEPS = 5_000
WARM_PS = 1_000_000


def test_a_line_says_whether_its_target_is_met() -> None:
    fast = Line("g", "fast", 21.0, "M/s", at_least(20))
    slow = Line("g", "slow", 31.0, "s", at_most(30))
    lost = Line("g", "lost", None, "s", at_most(30), "no browser")
    free = Line("g", "free", 1.0, "s")
    assert [line.met for line in (fast, slow, lost, free)] == [True, False, False, None]
    assert lost.cells()[-2] == "not measured"
    assert verdicts([fast, slow, free]) == "1 of 2 targets met; not met: g: slow"
    written = json.loads(json.dumps(slow.to_dict()))
    assert written["target"] == {"limit": 30, "sense": "at most"}
    assert written["met"] is False


def test_turns_are_interleaved_and_compared_round_by_round() -> None:
    order: list[str] = []

    def subject(name: str, seconds: float) -> Spent:
        order.append(name)
        return Spent(1_000_000, seconds, seconds / 2)

    got = interleave({"a": lambda: subject("a", 0.5), "b": lambda: subject("b", 1.0)}, rounds=4, warm=1)
    assert order == ["b", "a", "a", "b", "b", "a", "a", "b", "b", "a"]
    assert [len(turns) for turns in got.values()] == [4, 4]
    assert rate(got["a"]).median == pytest.approx(2)
    assert rate(got["a"], "cpu").median == pytest.approx(4)
    assert ratio(got["a"], got["b"]).median == pytest.approx(2)
    assert clock(got["a"]) == "cpu"
    assert clock([Spent(1, 1.0)]) == "wall"


@pytest.mark.parametrize("cpus", mix.CPUS)
def test_the_mix_is_sound_and_runs(cpus: int) -> None:
    verify(mix.spec(cpus))
    host = InProcess(NativeEngine(), mix.image(cpus), WARM_PS)
    assert host.turn(STEPS).steps == STEPS
    assert host.arena[T.H_CPUS] == cpus
    assert host.arena[T.H_STATUS] == T.MORE


@pytest.mark.browser
def test_all_hosts_execute_the_same(browser: Browser) -> None:
    complaint = stamp.complaint()
    assert complaint is None, complaint
    image = scenarios.load("tcp-5.17").image()
    native, wasm = (InProcess(engine, image, WARM_PS) for engine in (NativeEngine(), WasmEngine()))
    with Node(image, WARM_PS) as node, Chromium(browser) as chromium:
        chromium.begin(image, WARM_PS)
        hosts = (native, wasm, node, chromium)
        assert all(host.turn(STEPS).wall > 0 for host in hosts)
        assert {host.now() for host in hosts} == {native.now()}
        assert chromium.replicate(image, WARM_PS, 2 * WARM_PS) > 0


def test_the_reference_takes_turns() -> None:
    reference = Reference(mix.image(2))
    before = reference.now()
    assert reference.turn(500).steps == 500
    assert reference.now() > before


@pytest.mark.parametrize(("package", "differs"), [(untraced.WITHOUT, ["run.py"]), (untraced.SAME, [])])
def test_copies_are_the_engine_but_for_the_ring(tmp_path: Path, package: str, differs: list[str]) -> None:
    untraced.write(tmp_path, package)
    copies = list((tmp_path / package).iterdir())
    assert len(copies) == len(list((ROOT / "engine").glob("*.py")))
    assert [path.name for path in copies if path.read_text() != (ROOT / "engine" / path.name).read_text()] == differs
    with pytest.raises(ValueError, match="but 0"):
        untraced.without_trace("nothing to see")


def test_a_section_that_fails_leaves_its_reason(browser: Browser) -> None:
    def broken(_: Browser) -> list[Line]:
        raise RuntimeError("the ring is bent\nand more")

    lines = bench.measure({"ring": broken, "good": lambda _: [Line("good", "one", 1.0, "s")]}, browser)
    assert [(line.name, line.figure) for line in lines] == [("not measured", None), ("one", 1.0)]
    assert lines[0].note == "RuntimeError: the ring is bent"


def test_every_scenario_is_a_section() -> None:
    assert set(scenarios.names()) < set(bench.sections())
