"""Fits look at before-figures and side facts only, and no constant hides under a patch's key."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from sim import fit, reported, scenarios
from sim.fitted import FILE, records
from sim.path.costs import COSTS

QUICK_PS = 1_900_000_000
#: Settings without any patch under which every part of the path is used.
WITHOUT_PATCHES = (
    {}, {"mtu": 4168, "coalesce_us": 5}, {"rps_cpus": 4}, {"page_recycling": 1}, {"gro_max_segs": 1},
    {"tcp_early_demux": 0}, {"poll": 1}, {"neighbours": 1}, {"link_gbps": 20},
)


@cache
def outcomes(changes: tuple[tuple[str, int], ...]) -> tuple[tuple[int, float], ...]:
    scenario = scenarios.load("tcp-5.17", changes=dict(changes))
    off = dict.fromkeys(scenario.patches, 0)
    runs = (
        scenario.run(replications=1, until_ps=QUICK_PS, **{**off, **knobs}).replications[0]
        for knobs in WITHOUT_PATCHES
    )
    return tuple((r.steps, sum(sum(p.values()) for p in r.profile.values()) + sum(r.metrics.values())) for r in runs)


def figures() -> dict[str, float]:
    return reported.values(fit.THREAD)


@pytest.mark.slow
def test_after_figures_changed_by_half_leave_the_constants_byte_identical():
    changed = {
        name: value if name in {figure for figure, _ in fit.TARGETS.values()} else 1.5 * value
        for name, value in figures().items()
    }
    assert len(changed) > len(fit.TARGETS)
    assert changed != figures()
    assert json.dumps(fit.fit(changed, log=lambda _: None)) == json.dumps(records_of_thread())


def records_of_thread() -> list[dict[str, object]]:
    return [row for row in records() if row["scenario"] == fit.THREAD]


def test_a_fit_reads_no_figure_that_is_predicted():
    roles = {figure.fit or figure.id: figure.role for figure in reported.figures(fit.THREAD)}
    assert {roles[name] for name, _ in fit.TARGETS.values()} <= {"fitted", "input"}


def test_the_committed_constants_state_what_they_were_fitted_on():
    rows = records_of_thread()
    assert [row["constant"] for row in rows] == list(fit.TARGETS)
    for row in rows:
        assert row["fitted_on"], row
        assert row["reported"] == figures()[row["figure"]], row
    assert FILE.read_text(encoding="utf-8").endswith("]\n")


def test_a_missing_figure_is_named():
    with pytest.raises(KeyError, match=fit.TARGETS["copy_fs_per_byte"][0]):
        fit.fit({}, log=lambda _: None)


def used_constants() -> dict[str, int]:
    return dict(scenarios.load("tcp-5.17").spec.constants)


@pytest.mark.parametrize("name", sorted(used_constants()))
def test_every_constant_changes_some_run_without_patches(name: str):
    number = used_constants()[name]
    changes = ((name, number + max(1_000, number // 2)),)
    assert outcomes(changes) != outcomes(())


def test_every_constant_of_the_path_has_a_source_and_an_assumed_one_has_bounds():
    for constant in COSTS.values():
        assert constant.source
        if constant.status == "assumed":
            assert constant.low is not None
            assert constant.high is not None
            assert constant.low <= constant.value <= constant.high


@pytest.mark.parametrize("thread", sorted({str(row["scenario"]) for row in records()}))
def test_writing_a_fit_leaves_other_threads_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, thread: str) -> None:
    copy = tmp_path / "fitted.json"
    monkeypatch.setattr(fit, "FILE", copy)
    before = json.loads(FILE.read_text(encoding="utf-8"))
    fit.write([{**row, "value": 1} for row in before if row["scenario"] == thread])
    after = json.loads(copy.read_text(encoding="utf-8"))
    assert [r for r in after if r["scenario"] != thread] == [r for r in before if r["scenario"] != thread]
    assert {r["value"] for r in after if r["scenario"] == thread} == {1}


def test_scenarios_that_share_a_machine_read_one_set_of_constants() -> None:
    sets: dict[str, dict[str, dict[int, str]]] = {}
    for name in scenarios.names():
        scenario = scenarios.load(name)
        for constant, value in scenario.spec.constants.items():
            sets.setdefault(scenario.machine.name, {}).setdefault(constant, {})[value] = name
    machines = [scenarios.load(name).machine.name for name in scenarios.names()]
    assert len(machines) > len(set(machines))  # some do share one
    several = {(m, c): v for m, constants in sets.items() for c, v in constants.items() if len(v) > 1}
    assert not several


def test_every_fitted_row_names_the_machine_of_its_scenario() -> None:
    for row in records():
        assert row["machine"] == scenarios.load(row["scenario"]).machine.name
