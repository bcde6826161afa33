"""Rows of the validation that pages share: computed once, never those of another state of the simulation."""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from book.figures import kept, threads
from sim import reported, scenarios, validate

ROW = {"thread": "tcp-5.17", "low": 0.1 + 0.2}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads whose rows were computed."""
    seen: list[str] = []

    def rows(thread: str) -> list[dict[str, Any]]:
        seen.append(thread)
        return [ROW]

    monkeypatch.setattr(validate, "rows", rows)
    return seen


def test_a_second_page_finds_the_rows_of_the_first(asked: list[str], tmp_path: Path) -> None:
    assert kept.rows("tcp-5.17", tmp_path) == kept.rows("tcp-5.17", tmp_path) == [ROW]
    assert asked == ["tcp-5.17"]


def test_another_state_of_the_simulation_finds_nothing_and_leaves_nothing(
    asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.rows("tcp-5.17", tmp_path)
    monkeypatch.setattr(kept, "state", lambda: "another")
    kept.rows("tcp-5.17", tmp_path)
    assert asked == ["tcp-5.17"] * 2
    assert [path.name for path in tmp_path.iterdir()] == ["another"]


def test_a_folder_that_cannot_be_written_costs_time_only(asked: list[str], tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where a folder should be")
    assert kept.rows("tcp-5.17", tmp_path / "taken") == [ROW]


def test_of_two_pages_that_want_the_same_at_once_one_computes(tmp_path: Path) -> None:
    started, computed = threading.Event(), []

    def compute() -> list[dict[str, Any]]:
        computed.append(1)
        started.set()
        time.sleep(0.2)  # what it takes a second page to ask
        return [ROW]

    with ThreadPoolExecutor() as pages:
        first = pages.submit(kept.once, "patch-1", compute, tmp_path)
        assert started.wait(10)
        second = pages.submit(kept.once, "patch-1", compute, tmp_path)
        assert first.result() == second.result() == [ROW]
    assert len(computed) == 1


def test_other_figures_are_kept_by_their_name(tmp_path: Path) -> None:
    first = kept.once("patch-1", lambda: [{"patch": 1}], tmp_path)
    assert kept.once("patch-1", lambda: [{"patch": "another"}], tmp_path) == first == [{"patch": 1}]
    assert kept.once("patch-2", lambda: [{"patch": 2}], tmp_path) == [{"patch": 2}]


@pytest.mark.parametrize("name", ["sim/deep/cost.py", "sim/threads/t.json", "requirements.txt", "constraints.txt"])
def test_whatever_a_row_rests_on_is_in_its_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for label in ("requirements.txt", "constraints.txt", name):
        (tmp_path / label).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / label).write_text("one")
    monkeypatch.setattr(kept, "ROOT", tmp_path)
    monkeypatch.setattr(kept, "REQUIREMENTS", tmp_path / "requirements.txt")
    monkeypatch.setattr(kept, "CONSTRAINTS", tmp_path / "constraints.txt")
    before = kept.state.__wrapped__()
    (tmp_path / name).write_text("two")
    assert kept.state.__wrapped__() != before


def test_every_thread_with_figures_and_a_scenario_is_shown() -> None:
    assert set(kept.threads()) == set(reported.threads()) & set(scenarios.names())
    page = (Path(kept.__file__).parents[1] / "scenarios.md").read_text(encoding="utf-8")
    for thread in kept.threads():
        assert f"(thread-{thread.replace('.', '-')})=" in page


@pytest.mark.parametrize("thread", kept.threads())
def test_a_glance_and_assumptions_name_what_the_scenario_has(thread: str) -> None:
    scenario = scenarios.load(thread)
    parts = {row[0]: str(row[1]) for row in threads.glance(scenario).rows}
    topology = scenario.machine.topology
    words = parts["the receiver"]
    product = math.prod(int(word) for word in words.partition(":")[0].split() if word.isdigit())
    assert words.endswith(f": {topology.cpus} CPUs")
    assert product == topology.cpus
    by_hand = parts["set by hand, with a figure from after the patch in view"]
    assert all(one.knob in by_hand for one in reported.by_hand(thread))
    assert scenario.patches[0] in parts["patches as keys"]
    for name, doc, tried, *_ in threads.assumptions(scenario).rows:
        assert doc == scenario.knob(str(name)).doc
        assert len(str(tried).split(", ")) > 1  # a range over one setting is none


def test_figures_are_quoted_as_the_message_has_them() -> None:
    rows = [{"simulated": None, "unit": figure.unit} for figure in reported.figures("tcp-prequeue")]
    words = threads.words("tcp-prequeue", rows)
    assert words["tcp-prequeue-rate-before"] == "6 Mpps"
    assert words["tcp-prequeue-flows"] == "144 flows"


def test_a_trial_compares_both_arms_on_the_same_seeds() -> None:
    places = {"as in the thread": {}, "one CPU": {"reader_cpu": "same_cpu"}}
    tried = threads.arms(places, {"defer_free": 0}, {"defer_free": 1})
    scenario = scenarios.load("tcp-5.17")
    table = threads.trials(scenario, "gbps", tried, seeds=2)
    assert f"2 runs each, counted from {scenario.warm_ps / 1e9:g} to {scenario.quick_ps / 1e9:g} ms" in table.caption
    gains = [float(str(row[3]).removesuffix(" %")) for row in table.rows]
    assert gains[0] > 10 > 1 > gains[1]
