"""Reported figures: every row says where it stands and how it is read, and a wrong row is refused with its name."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from sim import fit, reported, scenarios
from sim.reported import Figure, FigureError, Reading
from sim.result import Replication, Result
from sim.scenarios import Scenario

ROWS = reported.figures("tcp-5.17")
DOCUMENT: dict[str, Any] = json.loads((reported.FOLDER / "tcp-5.17.json").read_text(encoding="utf-8"))


def replication(**metrics: float) -> Replication:
    profile = {"reader": {"copy": 80.0, "free": 5.0, "put": 2.0}}
    return Replication(1, metrics, dict.fromkeys(metrics, 0.5), {"reader": 90.0}, profile, 1, "reached")


def by_id(name: str) -> Figure:
    return next(row for row in ROWS if row.id == name)


def test_the_thread_of_5_17_states_at_least_thirty_figures() -> None:
    assert len(ROWS) >= 30
    assert {row.role for row in ROWS} == set(reported.ROLES)


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.id)
def test_a_row_stands_in_a_message_and_reads_as_words(row: Figure) -> None:
    assert row.source.url.startswith("https://lore.kernel.org/")
    assert row.source.who
    assert row.source.when.startswith("2021-11-1")
    assert row.figure
    assert row.unit
    assert not row.note or row.note.endswith(".")


@pytest.mark.parametrize("row", [r for r in ROWS if r.reading], ids=lambda r: r.id)
def test_the_scenario_takes_every_setting_of_a_row(tcp: Scenario, row: Figure) -> None:
    for knobs in (row.knobs, row.before or {}, *row.settings()):
        tcp.settings(**knobs)


@pytest.mark.parametrize("row", [r for r in ROWS if r.reading], ids=lambda r: r.id)
def test_a_run_answers_every_reading(after: Result, row: Figure) -> None:
    estimate = row.read(after, after if row.before else None)
    assert estimate.low < estimate.high
    assert estimate.unit == row.unit


def test_what_is_predicted_of_the_patched_run_carries_its_assumption() -> None:
    for row in ROWS:
        if row.role == "predicted" and row.kind in ("rate", "profile"):
            assert set(row.assume) == {"recv_size_bytes"}


def test_each_fitted_figure_is_a_target_of_the_fit_and_no_after_rate_is() -> None:
    fitted = {row.fit for row in ROWS if row.role == "fitted"}
    assert fitted == {figure for figure, _ in fit.TARGETS.values()}
    assert fitted <= set(reported.values("tcp-5.17"))
    assert by_id("rate-after-1500").role == "dependent"
    assert by_id("rate-after-4096").role == "predicted"


def test_a_reading_is_a_line_in_its_term() -> None:
    run = replication(gbps=50.0, mpps=5.0)
    assert Reading("metric:gbps").value(run) == 50.0
    assert Reading("metric:gbps", over="metric:mpps", scale=125).value(run) == 1250.0
    assert Reading("metric:mpps", scale=2.0, offset=3.0).value(run) == 13.0
    assert Reading("cpu:reader").value(run) == 90.0
    assert Reading("cpu:*").value(run) == 90.0
    assert Reading("profile:reader:free+put+absent").value(run) == 7.0
    assert Reading("metric:gbps", over="metric:mpps", scale=125).resolution(run) == pytest.approx(12.5)


def test_a_reading_may_be_a_product_and_what_a_metric_leaves_of_a_hundred() -> None:
    run = replication(late=30.0)
    assert Reading("rest:late").value(run) == 70.0
    assert Reading("profile:reader:copy", times="metric:late", scale=0.01).value(run) == pytest.approx(24.0)
    assert Reading("profile:reader:copy", times="rest:late", scale=0.01).value(run) == pytest.approx(56.0)
    assert Reading("cpu:reader", times="rest:late").resolution(run) == pytest.approx(45.0)


def test_the_parts_of_a_sum_add_up_to_it() -> None:
    """What rollover's program and its eight ksoftirqd spin is the simulated sum, not the reported one."""
    rows = {row.id: row for row in reported.figures("packet-rollover")}
    scenario = scenarios.load("packet-rollover")
    run = scenario.run(replications=1, until_ps=scenario.quick_ps, **rows["spin-before"].knobs)
    one, rest, every = (
        rows[name].read(run).mean for name in ("spin-before-ksoftirqd", "spin-before-program", "spin-before")
    )
    assert rest + 8 * one == pytest.approx(every)
    assert sum(row.reported for name, row in rows.items() if name.startswith("spin-before-ksoftirqd-")) == (
        pytest.approx(8 * rows["spin-before-ksoftirqd"].reported, abs=0.05)
    )


def test_a_quotient_over_nothing_is_nothing() -> None:
    assert Reading("metric:gbps", over="metric:mpps").value(replication(gbps=1.0, mpps=0.0)) == 0.0


@pytest.mark.parametrize(
    ("term", "words"),
    [("metric:gpbs", "gpbs"), ("cpu:disk", "disk"), ("profile:disk:copy", "disk"), ("rate:x", "is no term")],
)
def test_a_reading_that_no_run_answers_says_so(term: str, words: str) -> None:
    with pytest.raises(FigureError, match=words):
        Reading(term).value(replication(gbps=1.0))


def test_a_direction_is_the_change_in_percent() -> None:
    row = by_id("gain-1500")

    def run(gbps: float) -> Result:
        made = [replication(gbps=gbps * (1 + 0.001 * k), mpps=1.0) for k in range(3)]
        return Result("tcp-5.17", {}, 1, "native", tuple(made), {"gbps": "Gbit/s"})

    assert row.read(run(66.0), run(55.0)).mean == pytest.approx(20.0)
    assert row.before_of({"mtu": 1500, "defer_free": 1, "recv_size_bytes": 65536}) == {
        "mtu": 1500, "defer_free": 0, "recv_size_bytes": 65536
    }


def test_a_range_runs_over_every_combination_of_assumptions() -> None:
    document = copy.deepcopy(DOCUMENT)
    document["assumptions"]["reads"] = {"recv_size_bytes": [65536, 131072], "rcvbuf": [1 << 20, 1 << 21, 1 << 22]}
    row = next(r for r in reported.parse(document) if r.id == "rate-after-4096")
    assert len(row.settings()) == 6
    assert all(setting["mtu"] == 4168 for setting in row.settings())


def test_a_row_for_a_page_says_where_a_plain_result_holds_the_number() -> None:
    assert by_id("rate-after-1500").to_dict()["metric"] == "gbps"
    assert by_id("copy").to_dict()["symbol"] == "copy_user_enhanced_fast_string"
    assert by_id("copy").to_dict()["cpu"] == "reader"
    assert by_id("reader-1500").to_dict()["cpu"] == "reader"
    scaled = by_id("wire-1500").to_dict()
    assert (scaled["metric"], scaled["cpu"], scaled["symbol"]) == (None, None, None)
    assert json.loads(json.dumps([row.to_dict() for row in ROWS]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"role": "guessed"}, "role 'guessed' is none of"),
        ({"kind": "mood"}, "kind 'mood' is none of"),
        ({"setting": "nowhere"}, "'nowhere' is not among the settings"),
        ({"source": "hearsay"}, "'hearsay' is not among the sources"),
        ({"colour": "red"}, "'colour' is not a key"),
        ({"before": "before-1500"}, "a direction, and nothing else"),
        ({"role": "fitted"}, "names what is fitted on it"),
        ({"id": "link"}, "two figures are called 'link'"),
    ],
)
def test_a_wrong_row_is_refused_with_its_name(change: dict[str, Any], words: str) -> None:
    document = copy.deepcopy(DOCUMENT)
    row = next(r for r in document["figures"] if r["id"] == "rate-after-1500")
    row.update(change)
    with pytest.raises(FigureError, match=words):
        reported.parse(document)


@pytest.mark.parametrize("key", ["figure", "unit", "reported"])
def test_a_row_that_lacks_something_is_refused(key: str) -> None:
    document = copy.deepcopy(DOCUMENT)
    del document["figures"][1][key]
    with pytest.raises(FigureError, match=f"rate-after-1500: lacks '{key}'"):
        reported.parse(document)


def test_an_unknown_thread_is_told_with_those_there_are() -> None:
    with pytest.raises(FigureError, match=r"there are .*tcp-5\.17"):
        reported.load("tcp-4.20")


BY_HAND = [(thread, one) for thread in reported.threads() for one in reported.by_hand(thread)]


@pytest.mark.parametrize(("thread", "one"), BY_HAND, ids=lambda x: x if isinstance(x, str) else x.knob)
def test_a_knob_that_was_set_by_hand_says_so_and_what_was_in_view(thread: str, one: reported.ByHand) -> None:
    knob = scenarios.load(thread).knob(one.knob)
    assert any(word in knob.doc for word in ("No source", "not say", "chosen", "by hand"))
    assert one.in_view.role in ("dependent", "input")
    assert any(row.knobs in one.runs for row in reported.figures(thread))


@pytest.mark.parametrize(("thread", "one"), BY_HAND, ids=lambda x: x if isinstance(x, str) else x.knob)
def test_what_rests_on_such_a_knob_in_the_patched_runs_is_no_prediction(thread: str, one: reported.ByHand) -> None:
    """A figure of those runs may be predicted only if the knob does not move it."""
    scenario = scenarios.load(thread)
    for row in reported.figures(thread):
        if row.role != "predicted" or row.knobs not in one.runs:
            continue
        found = [
            row.read(scenario.run(replications=1, until_ps=scenario.quick_ps, **{**row.knobs, one.knob: value})).mean
            for value in row.assume[one.knob]
        ]
        assert found[0] == pytest.approx(found[1], rel=1e-3), row.id
